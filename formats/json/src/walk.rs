//! JSON text in pieces of any size: exact bracket counting, and the full grammar for what is passed over unseen.

use crate::scan::{MAX_DEPTH, plain_len};

/// Counts containers byte by byte; strings are known from everything else, nothing is checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Balance {
    depth: usize,
    in_string: bool,
    escape: bool,
}

impl Balance {
    /// Takes the next byte; whether it closes the outermost container.
    #[inline]
    pub fn step(&mut self, byte: u8) -> bool {
        if self.in_string {
            if self.escape {
                self.escape = false;
            } else if byte == b'\\' {
                self.escape = true;
            } else if byte == b'"' {
                self.in_string = false;
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }

    /// Takes bytes from `at` on; behind the byte that closes the outermost container, if one does.
    pub fn run(&mut self, data: &[u8], at: &mut usize) -> bool {
        while let Some(byte) = data.get(*at) {
            if self.in_string && !self.escape {
                match memchr::memchr2(b'"', b'\\', &data[*at..]) {
                    Some(len) => *at += len,
                    None => {
                        *at = data.len();
                        return false;
                    }
                }
                let special = data[*at];
                *at += 1;
                self.step(special);
                continue;
            }
            *at += 1;
            if self.step(*byte) {
                return true;
            }
        }
        false
    }
}

/// What is wrong in text that is passed over.
#[derive(Debug)]
pub struct Broken {
    /// The code.
    pub code: &'static str,
    /// What was expected, or what is wrong.
    pub reason: &'static str,
}

/// What a [`Walker`] stops for.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// All bytes were taken.
    More,
    /// A key of the watched container is complete: [`Walker::key`].
    Key,
    /// A value of the watched container begins with the next byte.
    Value(u8),
    /// The watched container was closed.
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A value is expected.
    Value,
    /// A value or `]`.
    FirstValue,
    /// A key.
    Key,
    /// A key or `}`.
    FirstKey,
    Colon,
    /// `,` or the end of the container.
    Behind,
    String,
    Escape,
    /// Digits that are left, the code so far, and whether it must be the second half of a pair.
    Hex(u8, u16, bool),
    /// The second half of a pair must follow: its backslash, then its `u`.
    High,
    HighEscape,
    /// Bytes that are left of a character, and the bounds of the next one.
    Utf8(u8, u8, u8),
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
    /// What is left of `null`, `true` or `false`.
    Word(&'static [u8]),
}

/// Checks JSON text that arrives in pieces and reports what happens in the container that is watched.
#[derive(Debug)]
pub struct Walker {
    state: State,
    /// A bit for each open container, the innermost one lowest: whether it is an object.
    objects: u128,
    depth: usize,
    /// The depth whose keys, values and end are reported.
    watched: usize,
    is_key: bool,
    key: Vec<u8>,
    /// The most bytes that are kept of a key; a longer one equals nothing that is looked for.
    key_limit: usize,
    /// Whether the value that begins here was reported.
    reported: bool,
}

impl Walker {
    /// A walker behind the `{` of the outermost object, which is watched.
    pub fn new(key_limit: usize) -> Self {
        Self {
            state: State::FirstKey,
            objects: 1,
            depth: 1,
            watched: 1,
            is_key: false,
            key: Vec::new(),
            key_limit,
            reported: false,
        }
    }

    /// The key of the last [`Event::Key`], as it is written; `None` when it is too long to be looked for.
    pub fn key(&self) -> Option<&[u8]> {
        (self.key.len() <= self.key_limit).then_some(&self.key)
    }

    /// Passes over the first byte of a container that is watched from now on.
    pub fn enter(&mut self, object: bool) {
        self.push(object);
        self.watched = self.depth;
    }

    /// The watched container was closed elsewhere; the one around it is watched.
    pub fn leave(&mut self) {
        self.pop();
        self.watched = self.depth;
    }

    /// Depth of the watched container.
    pub fn watched(&self) -> usize {
        self.watched
    }

    fn push(&mut self, object: bool) {
        self.depth += 1;
        self.objects = self.objects << 1 | u128::from(object);
        self.state = if object { State::FirstKey } else { State::FirstValue };
        self.reported = false;
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
        self.behind();
    }

    fn behind(&mut self) {
        self.state = State::Behind;
        self.reported = false;
    }

    /// Takes bytes from `at` on until something is to be reported.
    ///
    /// # Errors
    /// What breaks the grammar; `at` is behind the byte that does.
    pub fn run(&mut self, data: &[u8], at: &mut usize) -> Result<Event, Broken> {
        while let Some(byte) = data.get(*at) {
            if self.state == State::Value && !self.reported && self.depth == self.watched && !is_blank(*byte) {
                self.reported = true;
                return Ok(Event::Value(*byte));
            }
            if self.state == State::String && !self.collects() {
                let plain = plain_ascii_len(data, *at);
                if plain > 0 {
                    *at += plain;
                    continue;
                }
            }
            *at += 1;
            if let Some(event) = self.step(*byte)? {
                return Ok(event);
            }
        }
        Ok(Event::More)
    }

    /// Whether the bytes of a string are kept.
    fn collects(&self) -> bool {
        self.is_key && self.depth == self.watched
    }

    fn step(&mut self, byte: u8) -> Result<Option<Event>, Broken> {
        if self.collects() && self.in_string() && self.key.len() <= self.key_limit {
            self.key.push(byte);
        }
        match self.state {
            State::Value | State::FirstValue | State::Key | State::FirstKey | State::Colon | State::Behind
                if is_blank(byte) => {}
            State::FirstValue if byte == b']' => return Ok(self.close()),
            State::FirstKey if byte == b'}' => return Ok(self.close()),
            State::Value | State::FirstValue => self.value(byte)?,
            State::Key | State::FirstKey if byte == b'"' => {
                self.is_key = true;
                self.key.clear();
                self.state = State::String;
            }
            State::Key | State::FirstKey => return Err(expected("expected a key in double quotes")),
            State::Colon if byte == b':' => {
                self.state = State::Value;
                self.reported = false;
            }
            State::Colon => return Err(expected("expected `:`")),
            State::Behind => return self.behind_value(byte),
            State::Minus
            | State::Zero
            | State::Integer
            | State::Point
            | State::Fraction
            | State::Exponent
            | State::ExponentSign
            | State::ExponentDigits => return self.number(byte),
            State::Word(rest) => match rest {
                [next, rest @ ..] if *next == byte => {
                    self.state = State::Word(rest);
                    if rest.is_empty() {
                        self.behind();
                    }
                }
                _ => return Err(expected("expected a value")),
            },
            _ => return self.string(byte),
        }
        Ok(None)
    }

    fn in_string(&self) -> bool {
        matches!(
            self.state,
            State::String | State::Escape | State::Hex(..) | State::High | State::HighEscape | State::Utf8(..)
        )
    }

    fn value(&mut self, byte: u8) -> Result<(), Broken> {
        match byte {
            b'{' | b'[' if self.depth == MAX_DEPTH => {
                return Err(Broken { code: "E426", reason: "arrays and objects nest deeper than 127 levels" });
            }
            b'{' | b'[' => self.push(byte == b'{'),
            b'"' => {
                self.is_key = false;
                self.state = State::String;
            }
            b'-' => self.state = State::Minus,
            b'0' => self.state = State::Zero,
            b'1'..=b'9' => self.state = State::Integer,
            b'n' => self.state = State::Word(b"ull"),
            b't' => self.state = State::Word(b"rue"),
            b'f' => self.state = State::Word(b"alse"),
            _ => return Err(expected("expected a value")),
        }
        Ok(())
    }

    fn close(&mut self) -> Option<Event> {
        let watched = self.depth == self.watched;
        self.pop();
        if watched {
            self.watched = self.depth;
        }
        watched.then_some(Event::Close)
    }

    fn behind_value(&mut self, byte: u8) -> Result<Option<Event>, Broken> {
        let is_object = self.objects & 1 == 1;
        match byte {
            b',' => {
                self.state = if is_object { State::Key } else { State::Value };
                self.reported = !is_object;
                Ok(None)
            }
            b'}' if is_object => Ok(self.close()),
            b']' if !is_object => Ok(self.close()),
            _ if is_object => Err(expected("expected `,` or `}`")),
            _ => Err(expected("expected `,` or `]`")),
        }
    }

    fn number(&mut self, byte: u8) -> Result<Option<Event>, Broken> {
        self.state = match (self.state, byte) {
            (State::Minus, b'0') => State::Zero,
            (State::Minus, b'1'..=b'9') | (State::Integer, b'0'..=b'9') => State::Integer,
            (State::Zero, b'0'..=b'9') => return Err(expected("a number has leading zeros")),
            (State::Zero | State::Integer, b'.') => State::Point,
            (State::Point | State::Fraction, b'0'..=b'9') => State::Fraction,
            (State::Zero | State::Integer | State::Fraction, b'e' | b'E') => State::Exponent,
            (State::Exponent, b'+' | b'-') => State::ExponentSign,
            (State::Exponent | State::ExponentSign | State::ExponentDigits, b'0'..=b'9') => State::ExponentDigits,
            (State::Zero | State::Integer | State::Fraction | State::ExponentDigits, _) => {
                self.behind();
                return self.step(byte);
            }
            _ => return Err(expected("expected a digit")),
        };
        Ok(None)
    }

    fn string(&mut self, byte: u8) -> Result<Option<Event>, Broken> {
        let lone = || expected("a surrogate escape stands without its other half");
        self.state = match (self.state, byte) {
            (State::String, b'"') => return Ok(self.end_string()),
            (State::String, b'\\') => State::Escape,
            (State::String, 0..=31) => {
                return Err(expected("a control character stands in a string without an escape"));
            }
            (State::String, byte) => character(byte)?,
            (State::Escape, b'u') => State::Hex(4, 0, false),
            (State::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => State::String,
            (State::Escape, _) => return Err(expected("an unknown escape stands in a string")),
            (State::High, b'\\') => State::HighEscape,
            (State::HighEscape, b'u') => State::Hex(4, 0, true),
            (State::Hex(left, code, low), byte) => {
                let digit = char::from(byte).to_digit(16);
                let digit = digit.ok_or_else(|| expected("an escape `\\u` needs four hexadecimal digits"))?;
                let code = code << 4 | digit as u16;
                match (left, code, low) {
                    (1, 0xDC00..0xE000, true) => State::String,
                    (1, _, true) | (1, 0xDC00..0xE000, false) => return Err(lone()),
                    (1, 0xD800..0xDC00, false) => State::High,
                    (1, _, false) => State::String,
                    _ => State::Hex(left - 1, code, low),
                }
            }
            (State::Utf8(left, low, high), byte) if (low..=high).contains(&byte) => {
                if left == 1 {
                    State::String
                } else {
                    State::Utf8(left - 1, 0x80, 0xBF)
                }
            }
            (State::Utf8(..), _) => return Err(undecodable()),
            _ => return Err(lone()),
        };
        Ok(None)
    }

    fn end_string(&mut self) -> Option<Event> {
        if !self.is_key {
            self.behind();
            return None;
        }
        self.state = State::Colon;
        let watched = self.collects();
        self.is_key = false;
        if watched && self.key.last() == Some(&b'"') && self.key.len() <= self.key_limit {
            self.key.pop();
        }
        watched.then_some(Event::Key)
    }
}

/// The state behind the first byte of a character.
fn character(byte: u8) -> Result<State, Broken> {
    Ok(match byte {
        0..0x80 => State::String,
        0xC2..=0xDF => State::Utf8(1, 0x80, 0xBF),
        0xE0 => State::Utf8(2, 0xA0, 0xBF),
        0xED => State::Utf8(2, 0x80, 0x9F),
        0xE1..=0xEF => State::Utf8(2, 0x80, 0xBF),
        0xF0 => State::Utf8(3, 0x90, 0xBF),
        0xF1..=0xF3 => State::Utf8(3, 0x80, 0xBF),
        0xF4 => State::Utf8(3, 0x80, 0x8F),
        _ => return Err(undecodable()),
    })
}

/// How many bytes from `at` on are ASCII that stands in a string as it is.
fn plain_ascii_len(data: &[u8], at: usize) -> usize {
    let plain = &data[at..at + plain_len(data, at)];
    if plain.is_ascii() { plain.len() } else { plain.iter().take_while(|byte| byte.is_ascii()).count() }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn expected(reason: &'static str) -> Broken {
    Broken { code: "E422", reason }
}

fn undecodable() -> Broken {
    Broken { code: "E420", reason: "not valid utf-8" }
}
