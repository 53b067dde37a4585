//! The lexer. It reports what is no token and goes on, and drops the newlines that end nothing.

use clinker_diagnostics::Span;

use super::token::{Key, Tok, Token};
use crate::scope::CxlDiagnostic;
use clinker_record::datetime;

/// Two-character operators first, so that the longest one wins.
const PUNCTUATION: [&str; 25] = [
    "==", "!=", ">=", "<=", "??", "=>", "+", "-", "*", "/", "%", ">", "<", "=", "(", ")", "[", "]", "{", "}", ",", ".",
    ":", "$", "_",
];

/// The tokens of a text, ending with [`Tok::End`].
pub(crate) fn lex(text: &str, diagnostics: &mut Vec<CxlDiagnostic>) -> Vec<Token> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), diagnostics, first: true };
    while lexer.at < text.len() {
        lexer.token();
    }
    lexer.push(Tok::End, text.len());
    drop_idle_newlines(lexer.tokens)
}

/// Keeps the newlines that may end a statement or an arm (rules 2 and 3 of continuation), one for each run.
fn drop_idle_newlines(tokens: Vec<Token>) -> Vec<Token> {
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        if token.tok == Tok::Newline {
            let ends = kept.last().is_some_and(|last| last.tok.can_end());
            let next = tokens[index..].iter().find(|next| next.tok != Tok::Newline);
            if !ends || !next.is_some_and(|next| next.tok.can_begin()) {
                continue;
            }
        }
        kept.push(token.clone());
    }
    kept
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    diagnostics: &'a mut Vec<CxlDiagnostic>,
    first: bool,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn push(&mut self, tok: Tok, end: usize) {
        let first = self.first;
        self.first = tok == Tok::Newline;
        self.tokens.push(Token { tok, span: Span::new(self.at, end), first });
        self.at = end;
    }

    fn bad(&mut self, end: usize, message: impl Into<String>, help: Option<&str>) {
        let report = CxlDiagnostic::error("E202", Span::new(self.at, end), message);
        self.diagnostics.push(report.maybe_help(help.map(str::to_owned)));
        self.push(Tok::Bad, end);
    }

    fn token(&mut self) {
        let rest = self.rest();
        let next = rest.chars().next().expect("there is text left");
        match next {
            ' ' | '\t' => self.at += 1,
            '\r' if rest.starts_with("\r\n") => self.push(Tok::Newline, self.at + 2),
            '\n' | '\r' => self.push(Tok::Newline, self.at + 1),
            '#' if rest[1..].starts_with(|next: char| next.is_ascii_digit()) => self.date(),
            '#' => self.at += rest.find(['\n', '\r']).unwrap_or(rest.len()),
            '"' | '\'' => self.string(next),
            '0'..='9' => self.number(),
            'a'..='z' | 'A'..='Z' | '_' => self.word(),
            _ => self.punctuation(next),
        }
    }

    fn word(&mut self) {
        let rest = self.rest();
        let len = rest.find(|next: char| !(next.is_ascii_alphanumeric() || next == '_')).unwrap_or(rest.len());
        let (word, end) = (&rest[..len], self.at + len);
        let member = self.tokens.iter().rev().find(|token| token.tok != Tok::Newline).is_some_and(|t| t.tok.is("."));
        let tok = match Key::from_word(word) {
            _ if word == "_" => Tok::Punct("_"),
            Some(key) if !member => Tok::Key(key),
            _ => Tok::Ident(word.to_owned()),
        };
        self.push(tok, end);
    }

    fn number(&mut self) {
        let rest = self.rest();
        let digits = |text: &str| text.find(|next: char| !next.is_ascii_digit()).unwrap_or(text.len());
        let whole = digits(rest);
        let fraction = rest[whole..].strip_prefix('.').map_or(0, digits);
        if fraction > 0 {
            let end = whole + 1 + fraction;
            let value = rest[..end].parse().expect("digits, a dot and digits are a float");
            return self.push(Tok::Float(value), self.at + end);
        }
        let end = self.at + whole;
        match rest[..whole].parse() {
            Ok(value) => self.push(Tok::Int(value), end),
            Err(_) => {
                let message = format!("the integer `{}` is larger than 9223372036854775807", &rest[..whole]);
                self.bad(
                    end,
                    message,
                    Some("write it with a fraction for a float, or as a string with `.to_decimal()`"),
                );
            }
        }
    }

    fn string(&mut self, quote: char) {
        let mut text = String::new();
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((offset, next)) = chars.next() {
            match next {
                '\n' | '\r' => break,
                '\\' => {
                    let escaped = chars.peek().and_then(|(_, escaped)| unescape(*escaped));
                    if escaped.is_some() {
                        chars.next();
                    }
                    text.push(escaped.unwrap_or('\\'));
                }
                _ if next == quote => {
                    let end = self.at + offset + 1;
                    return self.push(Tok::Text(text), end);
                }
                _ => text.push(next),
            }
        }
        let end = self.at + self.rest().find(['\n', '\r']).unwrap_or(self.rest().len());
        self.bad(
            end,
            "this string has no closing quote on its line",
            Some("write a line break inside a string as `\\n`"),
        );
    }

    fn date(&mut self) {
        let rest = self.rest().as_bytes();
        let shape = |at: usize, byte: u8| match at {
            0 | 11 => byte == b'#',
            5 | 8 => byte == b'-',
            _ => byte.is_ascii_digit(),
        };
        if rest.len() >= 12 && (0..12).all(|at| shape(at, rest[at])) {
            let literal = &self.rest()[1..11];
            match datetime::parse_iso_date(literal.as_bytes()) {
                Some(days) => self.push(Tok::Date(days), self.at + 12),
                None => self.bad(self.at + 12, format!("`{literal}` is not a date of the calendar"), None),
            }
            return;
        }
        let body = &self.rest()[1..];
        let len = body.find(|next: char| !(next.is_ascii_alphanumeric() || next == '-')).unwrap_or(body.len());
        let closed = usize::from(body[len..].starts_with('#'));
        let message = format!("`#{}` is not a date literal", &body[..len + closed]);
        let help = "a date is written `#YYYY-MM-DD#`; a comment that starts with a digit needs a blank after `#`";
        self.bad(self.at + 1 + len + closed, message, Some(help));
    }

    fn punctuation(&mut self, next: char) {
        let rest = self.rest();
        let (at, keyword) = (self.at, "write the keyword instead");
        if rest.starts_with("&&") || rest.starts_with("||") {
            let key = if next == '&' { Key::And } else { Key::Or };
            let message = format!("`{0}{0}` is not an operator: write `{1}`", next, key.word());
            self.diagnostics.push(CxlDiagnostic::error("E202", Span::new(at, at + 2), message).help(keyword));
            return self.push(Tok::Key(key), at + 2);
        }
        if let Some(punct) = PUNCTUATION.iter().find(|punct| rest.starts_with(**punct)) {
            return self.push(Tok::Punct(punct), at + punct.len());
        }
        let (message, len, help) = match next {
            '!' => ("`!` is not an operator: write `not`".to_owned(), 1, Some(keyword)),
            '?' => ("`?` alone is not an operator".to_owned(), 1, Some("`a ?? b` gives `b` where `a` is null")),
            ';' => ("`;` does not end a statement".to_owned(), 1, Some("write each statement on a line of its own")),
            '\u{201c}'..='\u{201e}' | '\u{2018}' | '\u{2019}' => {
                let help = "write strings in plain quotes: `\"…\"` or `'…'`";
                (format!("`{next}` is not a quote that starts a string"), next.len_utf8(), Some(help))
            }
            '&' => ("`&` is not an operator".to_owned(), 1, Some("join texts with `+`, conditions with `and`")),
            letter if letter.is_alphabetic() => {
                // The rest of the word belongs to the same mistake.
                let len = rest.find(|next: char| !(next.is_alphanumeric() || next == '_')).unwrap_or(rest.len());
                let help = "names are made of ASCII letters, digits and `_`; a column of another name gets one in its \
                            schema: `{ name: size, source_name: Größe, … }`";
                (format!("unexpected character `{letter}`: a name cannot hold it"), len, Some(help))
            }
            _ => (format!("unexpected character `{}`", next.escape_debug()), next.len_utf8(), None),
        };
        self.bad(at + len, message, help);
    }
}

fn unescape(escaped: char) -> Option<char> {
    Some(match escaped {
        '\\' => '\\',
        '"' => '"',
        '\'' => '\'',
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        _ => return None,
    })
}
