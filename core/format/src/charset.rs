//! Character sets: names, strict decoding with offsets, encoding that says which character is lacking.
//!
//! All tables are built in. Nothing is ever replaced: a byte that means nothing is reported, and so is a character
//! that a set cannot hold.

mod tables;
#[cfg(test)]
mod tests;

use clinker_record::text::RawRow;

use crate::Fault;
use tables::{CP037, CP037_BYTES, CP500, CP500_BYTES, CP1047, CP1047_BYTES, UNASSIGNED, WINDOWS_1252_HIGH};

/// A character set whose byte order is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    /// UTF-8.
    Utf8,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// The 128 characters of ASCII.
    UsAscii,
    /// ISO 8859-1: byte equals character.
    Latin1,
    /// Windows code page 1252.
    Windows1252,
    /// EBCDIC, USA and Canada.
    Cp037,
    /// EBCDIC, international.
    Cp500,
    /// EBCDIC, open systems.
    Cp1047,
}

/// A character set as an option names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// A set whose bytes are known from its name.
    Known(Charset),
    /// `utf-16`: the byte order is in the file's mark.
    Utf16,
}

/// Bytes that mean nothing in a character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undecodable {
    /// Offset of the first of them.
    pub offset: usize,
    /// How many they are.
    pub len: usize,
}

/// What the first bytes of a file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The character set of the file.
    pub charset: Charset,
    /// Bytes of the byte-order mark, to be passed over.
    pub mark: usize,
}

/// The most bytes that [`Encoding::open`] looks at.
pub const OPENING_BYTES: usize = 4;

impl Encoding {
    /// The encoding of a name, which is compared without case, `-`, `_` and space.
    pub fn parse(name: &str) -> Option<Encoding> {
        let plain: String =
            name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).map(|c| c.to_ascii_lowercase()).collect();
        Some(match plain.as_str() {
            "utf8" => Encoding::Known(Charset::Utf8),
            "utf16" => Encoding::Utf16,
            "utf16le" => Encoding::Known(Charset::Utf16Le),
            "utf16be" => Encoding::Known(Charset::Utf16Be),
            "usascii" => Encoding::Known(Charset::UsAscii),
            "iso88591" | "latin1" | "l1" => Encoding::Known(Charset::Latin1),
            "windows1252" | "cp1252" => Encoding::Known(Charset::Windows1252),
            "cp037" | "ibm037" => Encoding::Known(Charset::Cp037),
            "cp500" | "ibm500" => Encoding::Known(Charset::Cp500),
            "cp1047" | "ibm1047" => Encoding::Known(Charset::Cp1047),
            _ => return None,
        })
    }

    /// The name that documentation uses.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Known(charset) => charset.name(),
            Encoding::Utf16 => "utf-16",
        }
    }

    /// The character set that output is written in: `utf-16` is written low byte first.
    pub fn for_output(self) -> Charset {
        match self {
            Encoding::Known(charset) => charset,
            Encoding::Utf16 => Charset::Utf16Le,
        }
    }

    /// The byte-order mark that output begins with.
    pub fn output_mark(self) -> &'static [u8] {
        match self {
            Encoding::Utf16 => b"\xFF\xFE",
            Encoding::Known(_) => b"",
        }
    }

    /// Decides the character set of a file from its first [`OPENING_BYTES`] bytes (fewer only when it has fewer).
    ///
    /// Under `utf-8` a mark of UTF-16 decides for UTF-16. Under the one-byte sets a mark is data.
    ///
    /// # Errors
    /// E402: a UTF-32 mark, `utf-16` without a mark, a mark of the other byte order.
    pub fn open(self, first: &[u8]) -> Result<Opening, Fault> {
        let marked = match first {
            [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => Some("utf-32"),
            [0xFF, 0xFE, ..] => Some("utf-16le"),
            [0xFE, 0xFF, ..] => Some("utf-16be"),
            _ => None,
        };
        let plain = |charset| Ok(Opening { charset, mark: 0 });
        let wide = |charset| Ok(Opening { charset, mark: 2 });
        match (self, marked) {
            (
                Encoding::Known(Charset::Utf8 | Charset::Utf16Le | Charset::Utf16Be) | Encoding::Utf16,
                Some("utf-32"),
            ) => Err(unaccepted("the file begins with a UTF-32 byte-order mark; UTF-32 is not accepted".into(), None)),
            (Encoding::Known(Charset::Utf8) | Encoding::Utf16, Some("utf-16le")) => wide(Charset::Utf16Le),
            (Encoding::Known(Charset::Utf8) | Encoding::Utf16, Some("utf-16be")) => wide(Charset::Utf16Be),
            (Encoding::Known(Charset::Utf8), _) => {
                Ok(Opening { charset: Charset::Utf8, mark: if first.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 } })
            }
            (Encoding::Utf16, _) if first.is_empty() => plain(Charset::Utf16Le),
            (Encoding::Utf16, _) => Err(unaccepted(
                "encoding `utf-16` needs a byte-order mark and the file has none".into(),
                Some("name the byte order: `utf-16le` or `utf-16be`".into()),
            )),
            (Encoding::Known(charset @ (Charset::Utf16Le | Charset::Utf16Be)), Some(found)) => {
                if found == charset.name() {
                    return wide(charset);
                }
                let reason = format!("encoding is `{}` and the file's byte-order mark says {found}", charset.name());
                Err(unaccepted(reason, Some(format!("set `encoding: {found}` or `encoding: utf-16`"))))
            }
            (Encoding::Known(charset), _) => plain(charset),
        }
    }
}

fn unaccepted(reason: String, help: Option<String>) -> Fault {
    Fault::Corruption { code: "E402", line: 1, offset: 0, reason, help }
}

impl Charset {
    /// The name that documentation uses.
    pub fn name(self) -> &'static str {
        match self {
            Charset::Utf8 => "utf-8",
            Charset::Utf16Le => "utf-16le",
            Charset::Utf16Be => "utf-16be",
            Charset::UsAscii => "us-ascii",
            Charset::Latin1 => "iso-8859-1",
            Charset::Windows1252 => "windows-1252",
            Charset::Cp037 => "cp037",
            Charset::Cp500 => "cp500",
            Charset::Cp1047 => "cp1047",
        }
    }

    /// Bytes of a code unit: what delimiters, quotes and line ends are compared as.
    pub fn unit(self) -> usize {
        match self {
            Charset::Utf16Le | Charset::Utf16Be => 2,
            _ => 1,
        }
    }

    /// Whether bytes below 80 are ASCII and stand for nothing else.
    pub fn continues_ascii(self) -> bool {
        matches!(self, Charset::Utf8 | Charset::UsAscii | Charset::Latin1 | Charset::Windows1252)
    }

    /// Whether there are characters it cannot hold.
    pub fn is_partial(self) -> bool {
        !matches!(self, Charset::Utf8 | Charset::Utf16Le | Charset::Utf16Be)
    }

    /// Whether it is one of the EBCDIC pages, in which 15 is a line feed on read as well as 25.
    pub fn is_ebcdic(self) -> bool {
        matches!(self, Charset::Cp037 | Charset::Cp500 | Charset::Cp1047)
    }

    fn page(self) -> Option<(&'static [u8; 256], &'static [u8; 256])> {
        match self {
            Charset::Cp037 => Some((&CP037, &CP037_BYTES)),
            Charset::Cp500 => Some((&CP500, &CP500_BYTES)),
            Charset::Cp1047 => Some((&CP1047, &CP1047_BYTES)),
            _ => None,
        }
    }

    /// The byte that stands for an ASCII character; in UTF-16 the low byte of its unit.
    pub fn ascii_byte(self, ascii: u8) -> u8 {
        self.page().map_or(ascii, |(_, bytes)| bytes[usize::from(ascii)])
    }

    /// Appends the text of `bytes` as UTF-8.
    ///
    /// # Errors
    /// The first bytes that mean nothing; `out` then holds the text before them.
    pub fn decode(self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Undecodable> {
        match self {
            Charset::Utf8 => {
                let valid = match std::str::from_utf8(bytes) {
                    Ok(_) => bytes.len(),
                    Err(error) => error.valid_up_to(),
                };
                out.extend_from_slice(&bytes[..valid]);
                if valid < bytes.len() { Err(undecodable_utf8(bytes, valid)) } else { Ok(()) }
            }
            Charset::Utf16Le | Charset::Utf16Be => self.decode_wide(bytes, out),
            _ => self.decode_narrow(bytes, out),
        }
    }

    fn decode_narrow(self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Undecodable> {
        out.reserve(bytes.len());
        for (offset, byte) in bytes.iter().enumerate() {
            match self.char_of(*byte) {
                Some(char) => push_char(char, out),
                None => return Err(Undecodable { offset, len: 1 }),
            }
        }
        Ok(())
    }

    fn char_of(self, byte: u8) -> Option<char> {
        match self {
            Charset::UsAscii => byte.is_ascii().then_some(char::from(byte)),
            Charset::Windows1252 if (0x80..0xA0).contains(&byte) => match WINDOWS_1252_HIGH[usize::from(byte - 0x80)] {
                UNASSIGNED => None,
                unit => char::from_u32(u32::from(unit)),
            },
            _ => Some(char::from(self.page().map_or(byte, |(chars, _)| chars[usize::from(byte)]))),
        }
    }

    fn wide_unit(self, pair: [u8; 2]) -> u16 {
        if self == Charset::Utf16Be { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
    }

    fn decode_wide(self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Undecodable> {
        out.reserve(bytes.len());
        let (pairs, rest) = bytes.as_chunks::<2>();
        let mut offset = 0;
        for decoded in char::decode_utf16(pairs.iter().map(|pair| self.wide_unit(*pair))) {
            match decoded {
                Ok(char) => {
                    push_char(char, out);
                    offset += 2 * char.len_utf16();
                }
                Err(_) => return Err(Undecodable { offset, len: 2 }),
            }
        }
        if rest.is_empty() { Ok(()) } else { Err(Undecodable { offset, len: 1 }) }
    }

    /// The first bytes that mean nothing, if there are any.
    pub fn first_undecodable(self, bytes: &[u8]) -> Option<Undecodable> {
        match self {
            Charset::Utf8 => std::str::from_utf8(bytes).err().map(|error| undecodable_utf8(bytes, error.valid_up_to())),
            Charset::Latin1 | Charset::Cp037 | Charset::Cp500 | Charset::Cp1047 => None,
            Charset::UsAscii | Charset::Windows1252 => {
                bytes.iter().position(|byte| self.char_of(*byte).is_none()).map(|offset| Undecodable { offset, len: 1 })
            }
            Charset::Utf16Le | Charset::Utf16Be => self.decode_wide(bytes, &mut Vec::new()).err(),
        }
    }

    /// The text of a row that was rejected for its structure: each byte that does not decode is written `\xNN`, and
    /// in a text that holds such an escape a backslash of the row itself is doubled, so that the bytes can be rebuilt.
    pub fn raw_text(self, bytes: &[u8]) -> String {
        let mut row = RawRow::new();
        let mut rest = bytes;
        loop {
            let mut decoded = Vec::new();
            let failed = self.decode(rest, &mut decoded).err();
            row.push_text(std::str::from_utf8(&decoded).expect("decoding gives text"));
            let Some(Undecodable { offset, len }) = failed else { return row.finish() };
            for byte in &rest[offset..offset + len] {
                row.push_byte(*byte);
            }
            rest = &rest[offset + len..];
        }
    }

    /// Appends the bytes of `text`.
    ///
    /// # Errors
    /// The first character that this set cannot hold; `out` then holds the bytes of those before it.
    pub fn encode(self, text: &str, out: &mut Vec<u8>) -> Result<(), char> {
        match self {
            Charset::Utf8 => out.extend_from_slice(text.as_bytes()),
            Charset::Utf16Le => text.encode_utf16().for_each(|unit| out.extend_from_slice(&unit.to_le_bytes())),
            Charset::Utf16Be => text.encode_utf16().for_each(|unit| out.extend_from_slice(&unit.to_be_bytes())),
            _ => {
                for char in text.chars() {
                    out.push(self.byte_of(char).ok_or(char)?);
                }
            }
        }
        Ok(())
    }

    fn byte_of(self, char: char) -> Option<u8> {
        let code = u32::from(char);
        match self {
            Charset::UsAscii => u8::try_from(code).ok().filter(u8::is_ascii),
            Charset::Windows1252 => match u8::try_from(code) {
                Ok(byte) if !(0x80..0xA0).contains(&byte) => Some(byte),
                _ => WINDOWS_1252_HIGH
                    .iter()
                    .position(|unit| *unit != UNASSIGNED && u32::from(*unit) == code)
                    .and_then(|at| u8::try_from(at + 0x80).ok()),
            },
            _ => {
                let low = u8::try_from(code).ok()?;
                Some(self.page().map_or(low, |(_, bytes)| bytes[usize::from(low)]))
            }
        }
    }
}

fn undecodable_utf8(bytes: &[u8], offset: usize) -> Undecodable {
    let error = std::str::from_utf8(&bytes[offset..]).expect_err("the text ends at this offset");
    Undecodable { offset, len: error.error_len().unwrap_or(bytes.len() - offset) }
}

#[inline]
fn push_char(char: char, out: &mut Vec<u8>) {
    if char.is_ascii() {
        out.push(char as u8);
    } else {
        let mut buffer = [0; 4];
        out.extend_from_slice(char.encode_utf8(&mut buffer).as_bytes());
    }
}
