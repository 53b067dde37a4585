//! The bytes that structure a file, as its character set writes them (formats.md 1.6, *Framing*).

use clinker_format::charset::Charset;
use memchr::{memchr, memchr_iter};

/// What a code unit means to the framing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Anything else.
    Other,
    /// Ends a cell outside quotes.
    Delimiter,
    /// Opens, closes or is doubled.
    Quote,
    /// A carriage return.
    Cr,
    /// A line feed.
    Lf,
}

/// Delimiter, quote and line ends in the bytes of one character set.
#[derive(Clone, Copy, Debug)]
pub struct Framing {
    /// The character set of the file.
    pub charset: Charset,
    /// Bytes of a code unit.
    pub unit: usize,
    /// The delimiter's byte; in UTF-16 the low byte of its unit, like the following ones.
    pub delimiter: u8,
    /// The quote's byte.
    pub quote: u8,
    /// Carriage return.
    pub cr: u8,
    /// Line feed.
    pub lf: u8,
    /// The second line feed of EBCDIC; elsewhere the first one again.
    pub next_line: u8,
}

impl Framing {
    /// The framing of ASCII characters in a character set.
    pub fn new(charset: Charset, delimiter: u8, quote: u8) -> Self {
        let lf = charset.ascii_byte(b'\n');
        Self {
            charset,
            unit: charset.unit(),
            delimiter: charset.ascii_byte(delimiter),
            quote: charset.ascii_byte(quote),
            cr: charset.ascii_byte(b'\r'),
            lf,
            next_line: if charset.is_ebcdic() { 0x15 } else { lf },
        }
    }

    /// Whether structure can be seen by comparing single bytes with four values.
    pub fn is_plain(&self) -> bool {
        self.unit == 1 && self.lf == self.next_line
    }

    /// The class of the unit that begins at `at`. A cut-off unit is none of the special ones.
    #[inline]
    pub fn class(&self, data: &[u8], at: usize) -> Class {
        let byte = match self.charset {
            Charset::Utf16Le => match data.get(at..at + 2) {
                Some([byte, 0]) => *byte,
                _ => return Class::Other,
            },
            Charset::Utf16Be => match data.get(at..at + 2) {
                Some([0, byte]) => *byte,
                _ => return Class::Other,
            },
            _ => data[at],
        };
        // The delimiter is compared first and can equal none of the others: options are checked when they are bound.
        if byte == self.delimiter {
            Class::Delimiter
        } else if byte == self.quote {
            Class::Quote
        } else if byte == self.lf || byte == self.next_line {
            Class::Lf
        } else if byte == self.cr {
            Class::Cr
        } else {
            Class::Other
        }
    }

    /// Physical lines that end in `data`. CRLF ends one.
    pub fn lines(&self, data: &[u8]) -> u64 {
        if self.is_plain() && memchr(self.cr, data).is_none() {
            return memchr_iter(self.lf, data).count() as u64;
        }
        let mut lines = 0;
        let mut after_cr = false;
        for at in (0..data.len()).step_by(self.unit) {
            let class = self.class(data, at);
            lines += u64::from(class == Class::Cr || (class == Class::Lf && !after_cr));
            after_cr = class == Class::Cr;
        }
        lines
    }

    /// Appends the cell that stands in `cell` with its opening quote, still encoded: without its quotes, doubled ones
    /// halved, what follows the closing quote appended.
    pub fn unquote(&self, cell: &[u8], out: &mut Vec<u8>) {
        let mut at = self.unit;
        let mut start = at;
        while at < cell.len() {
            if self.class(cell, at) == Class::Quote {
                out.extend_from_slice(&cell[start..at]);
                let next = at + self.unit;
                if next >= cell.len() || self.class(cell, next) != Class::Quote {
                    out.extend_from_slice(&cell[next.min(cell.len())..]);
                    return;
                }
                // The second quote of the pair is copied with what follows it.
                start = next;
                at = next;
            }
            at += self.unit;
        }
        out.extend_from_slice(&cell[start.min(cell.len())..]);
    }
}
