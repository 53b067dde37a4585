//! Input text inside messages and dead letters.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The most bytes a preview takes.
pub const PREVIEW_BYTES: usize = 256;
const ELLIPSIS: &str = "…";

/// One line of at most [`PREVIEW_BYTES`] bytes in which everything that could be taken for structure, or that moves the
/// cursor, is an escape. A shortened preview ends in `…`.
pub fn preview(text: &str) -> Cow<'_, str> {
    // Most values are short and have nothing to escape.
    let plain = |byte: u8| {
        matches!(byte, b' '..=b'~') & !b"\\[]{}<>\"'=|".iter().fold(false, |any, special| any | (byte == *special))
    };
    if text.len() <= PREVIEW_BYTES && text.bytes().fold(true, |all, byte| all & plain(byte)) {
        return text.into();
    }
    preview_bytes(text.as_bytes()).into()
}

/// [`preview`] of bytes that may not be text: each byte that is none is written as `\xHH`.
pub fn preview_bytes(bytes: &[u8]) -> String {
    let mut out = String::new();
    // Where to cut if what follows does not fit: the last end of a piece that leaves room for the ellipsis.
    let mut cut = 0;
    for chunk in bytes.utf8_chunks() {
        let text = chunk.valid().chars().map(Piece::Char);
        for piece in text.chain(chunk.invalid().iter().map(|byte| Piece::Byte(*byte))) {
            piece.append(&mut out);
            if out.len() > PREVIEW_BYTES {
                out.truncate(cut);
                out.push_str(ELLIPSIS);
                return out;
            }
            if out.len() <= PREVIEW_BYTES - ELLIPSIS.len() {
                cut = out.len();
            }
        }
    }
    out
}

enum Piece {
    Char(char),
    Byte(u8),
}

impl Piece {
    fn append(self, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self {
            Piece::Byte(byte) => write!(out, "\\x{byte:02X}"),
            Piece::Char('\\') => out.write_str("\\\\"),
            Piece::Char('\t') => out.write_str("\\t"),
            Piece::Char('\n') => out.write_str("\\n"),
            Piece::Char('\r') => out.write_str("\\r"),
            Piece::Char(char) if is_escaped(char) => write!(out, "\\u{{{:04X}}}", char as u32),
            Piece::Char(char) => out.write_char(char),
        };
    }
}

fn is_escaped(char: char) -> bool {
    matches!(char,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '[' | ']' | '{' | '}' | '<' | '>' | '"' | '\'' | '=' | '|')
}

/// The text of a row rejected for its structure: what decodes as it is, each byte that does not as `\xNN`. Where there
/// is such an escape, a backslash of the row itself is doubled, so that the bytes can be rebuilt.
#[derive(Debug, Default)]
pub struct RawRow {
    text: String,
    /// Whether a byte was escaped, and backslashes are doubled.
    escaped: bool,
}

impl RawRow {
    /// An empty row.
    pub fn new() -> RawRow {
        RawRow::default()
    }

    /// Adds decoded text.
    pub fn push_text(&mut self, text: &str) {
        if self.escaped {
            self.text.push_str(&text.replace('\\', "\\\\"));
        } else {
            self.text.push_str(text);
        }
    }

    /// Adds a byte that does not decode.
    pub fn push_byte(&mut self, byte: u8) {
        if !self.escaped {
            self.escaped = true;
            if self.text.contains('\\') {
                self.text = self.text.replace('\\', "\\\\");
            }
        }
        // Writing to a string cannot fail.
        let _ = write!(self.text, "\\x{byte:02X}");
    }

    /// The finished text.
    pub fn finish(self) -> String {
        self.text
    }
}

/// [`RawRow`] of a row in UTF-8.
pub fn raw_row(bytes: &[u8]) -> String {
    let mut row = RawRow::new();
    for chunk in bytes.utf8_chunks() {
        row.push_text(chunk.valid());
        chunk.invalid().iter().for_each(|byte| row.push_byte(*byte));
    }
    row.finish()
}
