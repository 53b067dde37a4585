//! A strict parser of JSON text (RFC 8259) that keeps the literal text of numbers and the order of keys.

use std::collections::HashSet;
use std::fmt;

/// A parsed JSON text.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number, as it was written.
    Number(&'a str),
    /// A string, escapes resolved.
    String(String),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object in document order; no key occurs twice.
    Object(Vec<(String, Json<'a>)>),
}

/// Why a text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Byte of the text where the fault was found.
    pub offset: usize,
    /// What was expected, or what is wrong.
    pub message: &'static str,
}

impl fmt::Display for JsonError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at byte {}", self.message, self.offset)
    }
}

/// Parses one JSON text with at most `max_depth` containers inside one another.
pub fn parse(text: &str, max_depth: usize) -> Result<Json<'_>, JsonError> {
    let mut parser = Parser { text, at: 0, depth: 0, max_depth };
    parser.blanks();
    let value = parser.value()?;
    parser.blanks();
    if parser.at == text.len() { Ok(value) } else { Err(parser.fault("expected the end of the JSON text")) }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    max_depth: usize,
}

impl<'a> Parser<'a> {
    fn fault(&self, message: &'static str) -> JsonError {
        JsonError { offset: self.at, message }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self) -> Result<Json<'a>, JsonError> {
        match self.peek() {
            Some(b'[') => self.nested(Self::array),
            Some(b'{') => self.nested(Self::object),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            _ => {
                let words = [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))];
                let found = words.into_iter().find(|(word, _)| self.text[self.at..].starts_with(word));
                let (word, value) = found.ok_or_else(|| self.fault("expected a JSON value"))?;
                self.at += word.len();
                Ok(value)
            }
        }
    }

    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Result<Json<'a>, JsonError>) -> Result<Json<'a>, JsonError> {
        if self.depth == self.max_depth {
            return Err(self.fault("too many containers inside one another"));
        }
        self.depth += 1;
        self.at += 1;
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Result<Json<'a>, JsonError> {
        let mut elements = Vec::new();
        self.blanks();
        if self.take(b']') {
            return Ok(Json::Array(elements));
        }
        loop {
            self.blanks();
            elements.push(self.value()?);
            self.blanks();
            if self.take(b']') {
                return Ok(Json::Array(elements));
            }
            if !self.take(b',') {
                return Err(self.fault("expected ',' or ']'"));
            }
        }
    }

    fn object(&mut self) -> Result<Json<'a>, JsonError> {
        let mut members = Vec::new();
        let mut keys = HashSet::new();
        self.blanks();
        if self.take(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.fault("expected a key in double quotes"));
            }
            let key = self.string()?;
            if !keys.insert(key.clone()) {
                return Err(self.fault("a key is repeated in one object"));
            }
            self.blanks();
            if !self.take(b':') {
                return Err(self.fault("expected ':'"));
            }
            self.blanks();
            members.push((key, self.value()?));
            self.blanks();
            if self.take(b'}') {
                return Ok(Json::Object(members));
            }
            if !self.take(b',') {
                return Err(self.fault("expected ',' or '}'"));
            }
        }
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == from { Err(self.fault("expected a digit")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<&'a str, JsonError> {
        let from = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(&self.text[from..self.at])
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let from = self.at;
            while self.peek().is_some_and(|byte| byte != b'"' && byte != b'\\' && byte >= b' ') {
                self.at += 1;
            }
            out.push_str(&self.text[from..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return Err(self.fault("a raw control character in a string")),
                None => return Err(self.fault("a string that does not end")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let escaped = match self.peek() {
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return Err(self.fault("an unknown escape in a string")),
        };
        self.at += 1;
        Ok(escaped)
    }

    fn hex(&mut self) -> Result<u32, JsonError> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let value = digits.and_then(|digits| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        let value = value.ok_or_else(|| self.fault("expected four hexadecimal digits"))?;
        self.at += 4;
        Ok(value)
    }

    fn unicode(&mut self) -> Result<char, JsonError> {
        let lone = "a lone surrogate escape in a string";
        let mut code = self.hex()?;
        if (0xd800..0xdc00).contains(&code) {
            if !self.text[self.at..].starts_with("\\u") {
                return Err(self.fault(lone));
            }
            self.at += 2;
            let low = self.hex()?;
            if !(0xdc00..0xe000).contains(&low) {
                return Err(self.fault(lone));
            }
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        char::from_u32(code).ok_or_else(|| self.fault(lone))
    }
}
