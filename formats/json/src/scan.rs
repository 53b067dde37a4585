//! JSON tokens by the grammar of RFC 8259, without copying and without recursion.

use std::borrow::Cow;
use std::collections::HashSet;

use wide::u8x16;

/// Containers inside one another that are accepted, the outermost one included.
pub const MAX_DEPTH: usize = 127;
/// Bytes compared at once.
const LANE: usize = 16;
/// An object inside an array with more keys than this has them compared by hash.
const FEW_KEYS: usize = 8;

/// What breaks the grammar, and where.
#[derive(Debug)]
pub struct Flaw {
    /// E422 or E426.
    pub code: &'static str,
    /// Position in the data.
    pub at: usize,
    /// What was expected and found.
    pub reason: Cow<'static, str>,
    /// The text ends here, inside a JSON text.
    pub truncated: bool,
}

/// A token or what is wrong with it. Flaws are rare and boxed.
pub type Scanned<T> = Result<T, Box<Flaw>>;

/// The text between the quotes of a string.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// Position of its first byte.
    pub start: usize,
    /// Position behind its last byte: of the closing quote.
    pub end: usize,
    /// Whether it holds escapes.
    pub escaped: bool,
}

/// A key that occurs twice in one object.
#[derive(Debug)]
pub struct Repeated {
    /// The key, decoded.
    pub key: String,
    /// Position of its second occurrence.
    pub at: usize,
}

/// A position in JSON text.
#[derive(Clone, Copy, Debug)]
pub struct Scanner<'a> {
    /// All of the text; what stands at `end` ends every token.
    pub data: &'a [u8],
    /// The next byte.
    pub at: usize,
    /// Where the text ends: at the end of the data or, in lines, at a line feed.
    pub end: usize,
    /// Whether a line feed is blank space between tokens.
    across_lines: bool,
}

impl<'a> Scanner<'a> {
    /// Scans the line of `data` that begins at `at` and ends at `end`.
    pub fn line(data: &'a [u8], at: usize, end: usize) -> Self {
        Self { data, at, end, across_lines: false }
    }

    /// Scans from `at` to the end of `data`.
    pub fn whole(data: &'a [u8], at: usize) -> Self {
        Self { data, at, end: data.len(), across_lines: true }
    }

    /// The next byte.
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.data.get(self.at).copied()
    }

    /// Passes over blank space.
    #[inline]
    pub fn blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' if self.across_lines => self.at += 1,
                _ => return,
            }
        }
    }

    /// Passes over a byte if it is the next one.
    #[inline]
    pub fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Whether the text ends here.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.end
    }

    /// Something else was expected here.
    #[cold]
    pub fn expected(&self, what: &str) -> Box<Flaw> {
        let found = match self.data[self.at.min(self.end)..self.end].utf8_chunks().next() {
            None => "the end".to_owned(),
            Some(chunk) => match chunk.valid().chars().next() {
                Some(char) if char.is_control() || char.is_whitespace() => format!("U+{:04X}", u32::from(char)),
                Some(char) => format!("`{char}`"),
                None => format!("byte {:02X}", chunk.invalid()[0]),
            },
        };
        let truncated = self.is_at_end();
        Box::new(Flaw {
            code: "E422",
            at: self.at,
            reason: format!("expected {what}, found {found}").into(),
            truncated,
        })
    }

    #[cold]
    fn flaw(&self, at: usize, reason: &'static str) -> Box<Flaw> {
        Box::new(Flaw { code: "E422", at, reason: reason.into(), truncated: self.is_at_end() })
    }

    /// Too many containers inside one another.
    #[cold]
    pub fn too_deep(&self) -> Box<Flaw> {
        let reason = format!("arrays and objects nest deeper than {MAX_DEPTH} levels");
        Box::new(Flaw { code: "E426", at: self.at, reason: reason.into(), truncated: false })
    }

    /// The string whose opening quote is the next byte.
    #[inline]
    pub fn string(&mut self) -> Scanned<Text> {
        let start = self.at + 1;
        self.at = start + plain_len(self.data, start);
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Text { start, end: self.at - 1, escaped: false });
        }
        self.escaped_string(start)
    }

    fn escaped_string(&mut self, start: usize) -> Scanned<Text> {
        let mut escaped = false;
        loop {
            self.at += plain_len(self.data, self.at);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Text { start, end: self.at - 1, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                _ if self.is_at_end() => return Err(self.flaw(start - 1, "the string that begins here does not end")),
                _ => return Err(self.flaw(self.at, "a control character stands in a string without an escape")),
            }
        }
    }

    fn escape(&mut self) -> Scanned<()> {
        let at = self.at;
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => {
                let first = self.unicode()?;
                if !(0xD800..0xE000).contains(&first) || first < 0xDC00 && self.second_half()? {
                    return Ok(());
                }
                // Cut off behind its first half, a pair may have gone on.
                let truncated = first < 0xDC00 && self.is_at_end();
                let flaw = self.flaw(at, "a surrogate escape stands without its other half");
                Err(Box::new(Flaw { truncated, ..*flaw }))
            }
            _ if self.is_at_end() => Err(self.flaw(at, "the escape that begins here does not end")),
            _ => Err(self.flaw(at, "an unknown escape stands in a string")),
        }
    }

    /// Passes over the second half of a surrogate pair; `false` in front of anything else.
    fn second_half(&mut self) -> Scanned<bool> {
        if !self.take(b'\\') || self.peek() != Some(b'u') || self.is_at_end() {
            return Ok(false);
        }
        let code = self.unicode()?;
        if (0xDC00..0xE000).contains(&code) {
            return Ok(true);
        }
        // What follows decides nothing any more.
        self.at -= 1;
        Ok(false)
    }

    /// The code unit behind `\`, whose `u` is the next byte.
    fn unicode(&mut self) -> Scanned<u32> {
        let at = self.at - 1;
        self.at += 1;
        let mut code = 0;
        for _ in 0..4 {
            match self.peek().and_then(|byte| char::from(byte).to_digit(16)) {
                Some(digit) => code = code * 16 + digit,
                None => return Err(self.flaw(at, "an escape `\\u` needs four hexadecimal digits")),
            }
            self.at += 1;
        }
        Ok(code)
    }

    /// The number that begins here; whether it is an integer.
    #[inline]
    pub fn number(&mut self) -> Scanned<bool> {
        self.take(b'-');
        match self.peek() {
            Some(b'0') => {
                self.at += 1;
                if matches!(self.peek(), Some(b'0'..=b'9')) {
                    return Err(self.flaw(self.at - 1, "a number has leading zeros"));
                }
            }
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.expected("a digit")),
        }
        match self.peek() {
            Some(b'.' | b'e' | b'E') => self.fraction(),
            _ => Ok(true),
        }
    }

    #[inline]
    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Scanned<()> {
        let from = self.at;
        self.digits();
        if self.at == from { Err(self.expected("a digit")) } else { Ok(()) }
    }

    #[inline]
    fn fraction(&mut self) -> Scanned<bool> {
        if self.take(b'.') {
            self.some_digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.some_digits()?;
        }
        Ok(false)
    }

    /// Passes over one of the literals `null`, `true` and `false`.
    pub fn word(&mut self, word: &'static [u8]) -> Scanned<()> {
        let rest = &self.data[self.at..self.end];
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        let same = rest.iter().zip(word).take_while(|(found, expected)| found == expected).count();
        let mut behind = *self;
        behind.at += same;
        let mut flaw = behind.expected(std::str::from_utf8(word).expect("the words are ASCII"));
        flaw.at = self.at;
        Err(flaw)
    }

    /// Passes over a value that is no container.
    pub fn scalar(&mut self) -> Scanned<()> {
        match self.peek() {
            Some(b'"') => self.string().map(|_| ()),
            Some(b'-' | b'0'..=b'9') => self.number().map(|_| ()),
            Some(b'n') => self.word(b"null"),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            _ => Err(self.expected("a value")),
        }
    }

    /// Passes over a `:` with the blank space around it.
    #[inline]
    pub fn colon(&mut self) -> Scanned<()> {
        self.blanks();
        if !self.take(b':') {
            return Err(self.expected("`:`"));
        }
        self.blanks();
        Ok(())
    }

    /// Passes over any value inside `depth` containers; the first key that an object of it repeats.
    pub fn value(&mut self, depth: usize) -> Scanned<Option<Repeated>> {
        let mut open = Open::default();
        loop {
            match self.peek() {
                Some(byte @ (b'[' | b'{')) => {
                    if depth + open.depth == MAX_DEPTH {
                        return Err(self.too_deep());
                    }
                    open.push(byte == b'{');
                    self.at += 1;
                    self.blanks();
                    match self.peek() {
                        Some(close @ (b']' | b'}')) if (close == b'}') == (byte == b'{') => {}
                        _ if byte == b'{' => {
                            self.key(&mut open)?;
                            continue;
                        }
                        _ => continue,
                    }
                }
                _ => {
                    self.scalar()?;
                    if open.depth == 0 {
                        return Ok(None);
                    }
                    self.blanks();
                }
            }
            if self.behind_value(&mut open)? {
                return Ok(open.repeated);
            }
        }
    }

    /// Behind a value inside a container: closes containers until another value follows; `true` when all are closed.
    fn behind_value(&mut self, open: &mut Open) -> Scanned<bool> {
        loop {
            let is_object = open.is_object();
            match self.peek() {
                Some(b'}') if is_object => open.close_object(self.data),
                Some(b']') if !is_object => open.pop(),
                Some(b',') => {
                    self.at += 1;
                    self.blanks();
                    if is_object {
                        self.key(open)?;
                    }
                    return Ok(false);
                }
                _ => return Err(self.expected(if is_object { "`,` or `}`" } else { "`,` or `]`" })),
            }
            self.at += 1;
            if open.depth == 0 {
                return Ok(true);
            }
            self.blanks();
        }
    }

    fn key(&mut self, open: &mut Open) -> Scanned<()> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a key in double quotes"));
        }
        open.keys.push(self.string()?);
        self.colon()
    }
}

/// The containers that are open, and the keys of the objects among them.
#[derive(Default)]
struct Open {
    depth: usize,
    /// A bit for each open container, the innermost one lowest: whether it is an object.
    objects: u128,
    keys: Vec<Text>,
    /// Where the keys of each open object begin.
    firsts: Vec<usize>,
    repeated: Option<Repeated>,
}

impl Open {
    fn push(&mut self, object: bool) {
        self.depth += 1;
        self.objects = self.objects << 1 | u128::from(object);
        if object {
            self.firsts.push(self.keys.len());
        }
    }

    fn is_object(&self) -> bool {
        self.objects & 1 == 1
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
    }

    /// Closes an object: its keys must differ.
    fn close_object(&mut self, data: &[u8]) {
        self.pop();
        let first = self.firsts.pop().expect("an object is open");
        if self.repeated.is_none() {
            self.repeated = repeated(data, &self.keys[first..]);
        }
        self.keys.truncate(first);
    }
}

/// The first key that stands among `keys` before.
fn repeated(data: &[u8], keys: &[Text]) -> Option<Repeated> {
    let found = if keys.len() <= FEW_KEYS && !keys.iter().any(|key| key.escaped) {
        let same = |a: &Text, b: &Text| data[a.start..a.end] == data[b.start..b.end];
        keys.iter().enumerate().find(|(at, key)| keys[..*at].iter().any(|before| same(before, key))).map(|(_, key)| key)
    } else {
        let mut seen = HashSet::with_capacity(keys.len());
        keys.iter().find(|key| !seen.insert(decoded(data, **key)))
    };
    let key = found?;
    Some(Repeated { key: decoded(data, *key).into_owned(), at: key.start - 1 })
}

/// The text of a string whose bytes may not be UTF-8: then the row is rejected for that.
fn decoded(data: &[u8], text: Text) -> Cow<'_, str> {
    let bytes = &data[text.start..text.end];
    if !text.escaped {
        return String::from_utf8_lossy(bytes);
    }
    let mut plain = Vec::with_capacity(bytes.len());
    unescape(bytes, &mut plain);
    Cow::Owned(String::from_utf8_lossy(&plain).into_owned())
}

/// Appends the text of a string that was scanned, its escapes resolved.
pub fn unescape(bytes: &[u8], out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let (byte, len) = match rest[at + 1] {
            b'b' => (8, 2),
            b'f' => (12, 2),
            b'n' => (b'\n', 2),
            b'r' => (b'\r', 2),
            b't' => (b'\t', 2),
            b'u' => {
                let (char, len) = escaped_char(&rest[at..]);
                out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[at + len..];
                continue;
            }
            literal => (literal, 2),
        };
        out.push(byte);
        rest = &rest[at + len..];
    }
    out.extend_from_slice(rest);
}

/// The character of a checked escape, and the length of the escape.
fn escaped_char(escape: &[u8]) -> (char, usize) {
    let unit = |from: usize| {
        let digits = &escape[from..from + 4];
        digits.iter().fold(0, |code, digit| code * 16 + char::from(*digit).to_digit(16).unwrap_or(0))
    };
    let first = unit(2);
    let (code, len) = match first {
        0xD800..0xDC00 => (0x10000 + ((first - 0xD800) << 10) + (unit(8) - 0xDC00), 12),
        _ => (first, 6),
    };
    (char::from_u32(code).expect("surrogates stand in pairs"), len)
}

/// How many bytes from `at` on are neither quote nor backslash nor control character.
#[inline]
pub fn plain_len(data: &[u8], at: usize) -> usize {
    let rest = &data[at.min(data.len())..];
    let (lanes, tail) = rest.as_chunks::<LANE>();
    for (place, lane) in lanes.iter().enumerate() {
        let special = special_bits(lane);
        if special != 0 {
            return place * LANE + special.trailing_zeros() as usize;
        }
    }
    let plain = tail.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=31)).count();
    lanes.len() * LANE + plain
}

/// A bit for each byte of a lane that cannot stand in a string as it is.
#[inline]
pub fn special_bits(lane: &[u8; LANE]) -> u32 {
    let bytes = u8x16::new(*lane);
    let control = bytes.min(u8x16::splat(31)).simd_eq(bytes);
    let special = bytes.simd_eq(u8x16::splat(b'"')) | bytes.simd_eq(u8x16::splat(b'\\')) | control;
    special.to_bitmask()
}
