//! Environment references in the document text.

use clinker_diagnostics::Span;

use crate::Lookup;
use crate::faults::Fault;

/// One stretch of the substituted text that is not a plain copy.
#[derive(Debug)]
struct Piece {
    /// Where it stands in the substituted text.
    out: Span,
    /// What the author wrote there.
    raw: Span,
    /// Whether it is an inserted value (and not an escaped `$`).
    value: bool,
}

/// From places of the substituted text to places of the authored one.
#[derive(Debug, Default)]
pub(crate) struct SourceMap {
    /// In order; between two of them the texts are equal.
    pieces: Vec<Piece>,
    /// Length of a byte-order mark that was left out in front.
    mark: usize,
    breaks: bool,
}

impl SourceMap {
    /// The authored range. An end inside an inserted value is moved to the end of its reference.
    pub fn authored(&self, span: Span) -> Span {
        let start = self.find(span.start, false);
        Span::new(start, self.find(span.end, true).max(start))
    }

    fn find(&self, at: usize, end: bool) -> usize {
        // The last piece that begins before `at` (an end) or not after it (a start).
        let count = self.pieces.partition_point(|piece| if end { piece.out.start < at } else { piece.out.start <= at });
        let Some(piece) = count.checked_sub(1).map(|index| &self.pieces[index]) else { return at + self.mark };
        match (at < piece.out.end, at == piece.out.end) {
            (true, _) if end => piece.raw.end,
            (true, _) => piece.raw.start,
            (_, true) => piece.raw.end,
            _ => piece.raw.end + (at - piece.out.end),
        }
    }

    /// Whether an inserted value contained a line break.
    pub fn shifts_lines(&self) -> bool {
        self.breaks
    }

    /// Whether an inserted value lies in the range.
    pub fn substituted(&self, span: Span) -> bool {
        self.values(span).next().is_some()
    }

    fn values(&self, span: Span) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(move |piece| {
            piece.value && piece.out.start < span.end.max(span.start + 1) && piece.out.end >= span.start
        })
    }

    /// The message with each value inserted inside `span` written as its reference, where it stands as a word.
    pub fn redacted(&self, text: &str, raw: &str, span: Span, mut message: String) -> String {
        for piece in self.values(span) {
            let value = &text[piece.out.start..piece.out.end];
            message = replaced(&message, value, &raw[piece.raw.start..piece.raw.end]);
        }
        message
    }
}

/// `message` with `value` replaced wherever it is not part of a longer word.
fn replaced(message: &str, value: &str, by: &str) -> String {
    let inner = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let (mut out, mut rest) = (String::with_capacity(message.len()), message);
    while let Some(at) = rest.find(value).filter(|_| !value.is_empty()) {
        let (before, after) = (&rest[..at], &rest[at + value.len()..]);
        let joined_before =
            inner(value.chars().next()) && inner(before.chars().next_back().or(out.chars().next_back()));
        let joined_after = inner(value.chars().next_back()) && inner(after.chars().next());
        out.push_str(before);
        out.push_str(if joined_before || joined_after { value } else { by });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Replaces references; without an environment the text is only freed of a byte-order mark.
pub(crate) fn substitute(raw: &str, env: Option<&Lookup>) -> (String, SourceMap, Vec<Fault>) {
    let body = raw.strip_prefix('\u{feff}').unwrap_or(raw);
    let mut map = SourceMap { mark: raw.len() - body.len(), ..SourceMap::default() };
    let Some(env) = env else { return (body.to_string(), map, Vec::new()) };
    let (mut out, mut faults) = (String::with_capacity(body.len()), Vec::new());
    let mut rest = body;
    while let Some(dollar) = rest.find('$') {
        out.push_str(&rest[..dollar]);
        let at = body.len() - rest.len() + dollar;
        rest = &rest[dollar..];
        let (length, value) = if rest.starts_with("$$") {
            (2, None)
        } else if rest.starts_with("${") {
            match reference(rest, env, at + map.mark) {
                Ok((length, value)) => (length, Some(value)),
                Err((length, message, help)) => {
                    faults.push(Fault::new("E000", Span::new(out.len(), out.len() + length), message).help(help));
                    // The reference stays as it stands, so that the places of later faults are right.
                    out.push_str(&rest[..length]);
                    rest = &rest[length..];
                    continue;
                }
            }
        } else {
            out.push('$');
            rest = &rest[1..];
            continue;
        };
        let raw_span = Span::new(at, at + length).shifted(map.mark);
        let start = out.len();
        map.breaks |= value.as_deref().is_some_and(|value| value.contains(['\n', '\r']));
        out.push_str(value.as_deref().unwrap_or("$"));
        map.pieces.push(Piece { out: Span::new(start, out.len()), raw: raw_span, value: value.is_some() });
        rest = &rest[length..];
    }
    out.push_str(rest);
    (out, map, faults)
}

/// The length of the reference that `rest` begins with, and its value.
fn reference(rest: &str, env: &Lookup, position: usize) -> Result<(usize, String), (usize, String, String)> {
    let escape = || "write `$${` for the characters `${`".to_string();
    let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
    let Some(close) = rest.find('}') else {
        return Err((line.max(2), format!("unterminated reference `{}`", &rest[..line.min(40)]), escape()));
    };
    let inner = &rest[2..close];
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    if !is_name(name) {
        let message = format!("`${{{name}}}` is no environment reference: a name must match [A-Z_][A-Z0-9_]*");
        return Err((close + 1, message, escape()));
    }
    match env(name).or_else(|| default.map(str::to_string)) {
        Some(value) => Ok((close + 1, value)),
        None => Err((
            close + 1,
            format!("undefined environment variable ${{{name}}} at position {position}"),
            format!("set {name}, or give a default: `${{{name}:-text}}`"),
        )),
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}
