//! From an offset in a scalar's content to its place in the text it was parsed from.
//!
//! The content is aligned with the raw scalar once more, by the rules of its style: block scalars line by line, quoted
//! ones character by character. Only diagnostics ask, so nothing is kept for it while parsing.

use clinker_diagnostics::Span;

use super::tree::{Scalar, Style};

/// A stretch of content that stands unchanged in the text.
struct Run {
    content: usize,
    text: usize,
    len: usize,
}

/// The place of `range` of the content; `None` when content and text cannot be aligned.
pub(crate) fn locate(text: &str, span: Span, scalar: &Scalar, range: Span) -> Option<Span> {
    let raw = text.get(span.start..span.end)?;
    let runs = match scalar.style {
        Style::Plain => by_lines(raw, 0, &scalar.text, str::trim),
        Style::Literal | Style::Folded => block(text, span, &scalar.text),
        Style::Single | Style::Double => quoted(raw, &scalar.text, scalar.style)?,
    };
    let base = if matches!(scalar.style, Style::Literal | Style::Folded) { 0 } else { span.start };
    let at = |offset: usize| {
        let count = runs.partition_point(|run| run.content <= offset);
        let run = &runs[count.checked_sub(1)?];
        Some(base + run.text + (offset - run.content).min(run.len))
    };
    let start = at(range.start)?;
    let end = if range.end > range.start { at(range.end - 1)? + 1 } else { start };
    // An end may have fallen into the middle of a character.
    let end = (end..=text.len()).find(|end| text.is_char_boundary(*end))?;
    Some(Span::new(start, end.max(start)))
}

/// Aligns each raw line with the content after it was stripped by `strip`; only white space may lie between.
fn by_lines(raw: &str, base: usize, content: &str, strip: impl Fn(&str) -> &str) -> Vec<Run> {
    let (mut runs, mut cursor, mut at) = (Vec::new(), 0, base);
    for line in raw.split_inclusive('\n') {
        let body = strip(line.trim_end_matches(['\n', '\r']));
        let offset = at + (body.as_ptr() as usize - line.as_ptr() as usize);
        at += line.len();
        if body.is_empty() {
            continue;
        }
        let skip = content[cursor..].find(body).filter(|skip| content[cursor..cursor + skip].trim().is_empty());
        let Some(skip) = skip else { break };
        cursor += skip;
        runs.push(Run { content: cursor, text: offset, len: body.len() });
        cursor += body.len();
    }
    runs
}

fn block(text: &str, span: Span, content: &str) -> Vec<Run> {
    // The span may begin at the header (`|`, `>-`, a comment) or at the first word of the content.
    let line = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let first = if text[line..span.start].trim().is_empty() && !text[span.start..].starts_with(['|', '>']) {
        line
    } else {
        span.start + text[span.start..].find('\n').map_or(text.len() - span.start, |header| header + 1)
    };
    let raw = &text[first..];
    // What the first line has in front in the text, and no longer has in the content, is the indentation.
    let lead = |text: &str| {
        let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        line.len() - line.trim_start_matches(' ').len()
    };
    let indent = lead(raw).saturating_sub(lead(content));
    by_lines(raw, first, content, |line| {
        let spaces = line.bytes().take(indent).take_while(|byte| *byte == b' ').count();
        &line[spaces..]
    })
}

/// Walks a quoted scalar, folding line breaks and resolving escapes as the parser did.
fn quoted(raw: &str, content: &str, style: Style) -> Option<Vec<Run>> {
    let quote = if style == Style::Single { b'\'' } else { b'"' };
    let bytes = raw.as_bytes();
    let (mut runs, mut at, mut cursor) = (Vec::new(), raw.find(quote as char)? + 1, 0);
    while cursor < content.len() && at < raw.len() {
        let rest = &raw[at..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if matches!(bytes.get(at + blank), Some(b'\n' | b'\r')) {
            let gap = rest.len() - rest.trim_start().len();
            let breaks = rest[..gap].matches('\n').count().max(1);
            runs.push(Run { content: cursor, text: at, len: 0 });
            cursor += if breaks == 1 { 1 } else { breaks - 1 };
            at += gap;
        } else if quote == b'\'' && rest.starts_with("''") {
            runs.push(Run { content: cursor, text: at, len: 1 });
            (at, cursor) = (at + 2, cursor + 1);
        } else if quote == b'"' && rest.starts_with('\\') {
            let (raw_len, content_len) = escape(rest)?;
            runs.push(Run { content: cursor, text: at, len: 0 });
            (at, cursor) = (at + raw_len, cursor + content_len);
        } else {
            let len = rest.chars().next()?.len_utf8();
            if !content.is_char_boundary(cursor) || !content[cursor..].starts_with(&rest[..len]) {
                return None;
            }
            runs.push(Run { content: cursor, text: at, len });
            (at, cursor) = (at + len, cursor + len);
        }
    }
    Some(runs)
}

/// Bytes of an escape in the text, and of what it stands for.
fn escape(rest: &str) -> Option<(usize, usize)> {
    let kind = rest[1..].chars().next()?;
    let hex = match kind {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        '\n' | '\r' => {
            let tail = &rest[1..];
            return Some((1 + tail.len() - tail.trim_start().len(), 0));
        }
        'N' | '_' => return Some((2, 2)),
        'L' | 'P' => return Some((2, 3)),
        _ => return Some((1 + kind.len_utf8(), 1)),
    };
    let code = u32::from_str_radix(rest.get(2..2 + hex)?, 16).ok()?;
    Some((2 + hex, char::from_u32(code)?.len_utf8()))
}
