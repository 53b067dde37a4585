//! Which cells need quotes, and putting them on.

use clinker_format::charset::Charset;
use wide::u8x16;

use crate::spec::WriterSpec;

/// Bytes compared at once.
const LANE: usize = 16;

/// The quoting rules of an output, on text in UTF-8 (formats.md 2.3).
#[derive(Clone, Debug)]
pub struct Quoting {
    quote: u8,
    always: bool,
    /// Delimiter, quote, CR and LF.
    special: [bool; 256],
    lanes: [u8x16; 4],
    /// In EBCDIC U+0085 is written as a byte that reads as a line end.
    next_line: bool,
    /// Whether numbers, dates and truth values never need quotes.
    plain_scalars: bool,
}

impl Quoting {
    /// The rules of bound options for a character set.
    pub fn new(spec: &WriterSpec, charset: Charset) -> Self {
        let bytes = [spec.delimiter, spec.quote, b'\r', b'\n'];
        let mut special = [false; 256];
        for byte in bytes {
            special[usize::from(byte)] = true;
        }
        let in_scalars = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.:".contains(&byte);
        Self {
            quote: spec.quote,
            always: spec.always,
            special,
            lanes: bytes.map(u8x16::splat),
            next_line: charset.is_ebcdic(),
            plain_scalars: !spec.always && !in_scalars(spec.delimiter) && !in_scalars(spec.quote),
        }
    }

    /// Whether numbers, dates and truth values can be written without a look at their text.
    pub fn plain_scalars(&self) -> bool {
        self.plain_scalars
    }

    /// Whether a cell is written between quotes.
    #[inline]
    pub fn needs(&self, text: &[u8]) -> bool {
        self.always || self.has_special(text) || (self.next_line && has_next_line(text))
    }

    #[inline]
    fn has_special(&self, text: &[u8]) -> bool {
        // Whatever is longer than a lane ends in one that overlaps the lane before it.
        let Some(last) = text.last_chunk::<LANE>() else { return self.short_has_special(text) };
        let (lanes, _) = text.as_chunks::<LANE>();
        lanes.iter().any(|lane| self.lane_has_special(lane)) || self.lane_has_special(last)
    }

    /// A text shorter than a lane fills one by being put there twice, so that no byte is made up.
    #[inline]
    fn short_has_special(&self, text: &[u8]) -> bool {
        let mut lane = [0; LANE];
        if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
            lane[..8].copy_from_slice(first);
            lane[8..].copy_from_slice(last);
        } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
            lane[..4].copy_from_slice(first);
            lane[4..8].copy_from_slice(last);
            lane.copy_within(..8, 8);
        } else {
            return text.iter().any(|byte| self.special[usize::from(*byte)]);
        }
        self.lane_has_special(&lane)
    }

    #[inline]
    fn lane_has_special(&self, lane: &[u8; LANE]) -> bool {
        let lane = u8x16::new(*lane);
        let [a, b, c, d] = self.lanes.map(|special| lane.simd_eq(special));
        ((a | b) | (c | d)).to_bitmask() != 0
    }

    /// Appends a cell, with quotes where they are needed.
    #[inline]
    pub fn append(&self, text: &[u8], out: &mut Vec<u8>) {
        if self.needs(text) {
            self.append_quoted(text, out);
        } else {
            out.extend_from_slice(text);
        }
    }

    /// Appends a cell between quotes, with those inside doubled.
    pub fn append_quoted(&self, text: &[u8], out: &mut Vec<u8>) {
        out.reserve(text.len() + 2);
        out.push(self.quote);
        let mut rest = text;
        while let Some(at) = memchr::memchr(self.quote, rest) {
            out.extend_from_slice(&rest[..=at]);
            out.push(self.quote);
            rest = &rest[at + 1..];
        }
        out.extend_from_slice(rest);
        out.push(self.quote);
    }
}

fn has_next_line(text: &[u8]) -> bool {
    text.windows(2).any(|pair| pair == "\u{85}".as_bytes())
}
