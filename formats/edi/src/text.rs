//! Elements from wire to text: release characters, escape sequences, character sets (formats.md 7.4, 9.2, 10.3).

use std::sync::Arc;

use clinker_format::charset::{Charset, Undecodable};
use memchr::memchr;

use crate::delimiters::Delimiters;
use crate::dialect::{Dialect, EscapeStyle, Role};

/// How the elements of one interchange become text.
#[derive(Clone, Debug)]
pub(crate) struct TextRules {
    dialect: Arc<Dialect>,
    pub delimiters: Delimiters,
    pub charset: Charset,
}

/// What an escape sequence stands for.
enum Sequence {
    Separator(u8, Role),
    Bytes(Vec<u8>),
    Verbatim,
}

impl TextRules {
    pub(crate) fn new(dialect: Arc<Dialect>, delimiters: Delimiters, charset: Charset) -> Self {
        Self { dialect, delimiters, charset }
    }

    /// The character that makes the next byte literal.
    pub(crate) fn literal_mark(&self) -> Option<u8> {
        self.delimiters.release.filter(|_| self.dialect.framing.escape == EscapeStyle::Release)
    }

    /// The character without which the wire form of an element is its text.
    pub(crate) fn escape_mark(&self) -> Option<u8> {
        self.delimiters.release.filter(|_| self.dialect.framing.escape != EscapeStyle::None)
    }

    /// Appends the text of an element: `decoded` without its escapes, else as on the wire.
    ///
    /// # Errors
    /// Bytes that mean nothing in the character set. Their offset is that in the element unless an escape wrote them.
    pub(crate) fn append(&self, element: &[u8], decoded: bool, out: &mut Vec<u8>) -> Result<(), Undecodable> {
        let mark = self.escape_mark().filter(|_| decoded).filter(|mark| memchr(*mark, element).is_some());
        let Some(mark) = mark else { return self.charset.decode(element, out) };
        // Bytes on the wire are judged where they stand; those that escapes write behind them.
        self.charset.decode(element, &mut Vec::new())?;
        let mut bytes = Vec::with_capacity(element.len());
        if self.literal_mark().is_some() {
            released(element, mark, &mut bytes);
        } else {
            self.sequences(element, mark, |piece| match piece {
                Piece::Plain(text) => bytes.extend_from_slice(text),
                Piece::Sequence(_, Sequence::Separator(byte, _)) => bytes.push(byte),
                Piece::Sequence(_, Sequence::Bytes(named)) => bytes.extend_from_slice(&named),
                Piece::Sequence(wire, Sequence::Verbatim) => bytes.extend_from_slice(wire),
            });
        }
        let whole = self.charset.decode(&bytes, out);
        whole.map_err(|_| Undecodable { offset: memchr(mark, element).unwrap_or(0), len: 1 })
    }

    /// Escaped component, subcomponent and repetition separators in a segment: they cannot be written again (W402).
    pub(crate) fn lost_separators(&self, segment: &[u8]) -> u64 {
        let Some(mark) = self.escape_mark() else { return 0 };
        let mut lost = 0;
        if self.literal_mark().is_none() {
            for element in segment.split(|byte| *byte == self.delimiters.element) {
                self.sequences(element, mark, |piece| {
                    let structure = [Role::Component, Role::Subcomponent, Role::Repetition];
                    if let Piece::Sequence(_, Sequence::Separator(_, role)) = piece {
                        lost += u64::from(structure.contains(&role));
                    }
                });
            }
            return lost;
        }
        let separators = [self.delimiters.component, self.delimiters.subcomponent, self.delimiters.repetition];
        let mut at = 0;
        while let Some(found) = memchr(mark, &segment[at..]) {
            let literal = segment.get(at + found + 1).copied();
            lost += u64::from(literal.is_some() && separators.contains(&literal));
            at = (at + found + 2).min(segment.len());
        }
        lost
    }

    /// Whether an element has an escape that writes bytes of its own.
    pub(crate) fn writes_bytes(&self) -> bool {
        matches!(&self.dialect.framing.escape, EscapeStyle::Sequence { hex: Some(_), .. })
    }

    fn sequences<'a>(&self, element: &'a [u8], mark: u8, mut each: impl FnMut(Piece<'a>)) {
        let mut at = 0;
        while let Some(open) = memchr(mark, &element[at..]) {
            let open = at + open;
            let Some(close) = memchr(mark, &element[open + 1..]) else { break };
            let close = open + 1 + close;
            each(Piece::Plain(&element[at..open]));
            each(Piece::Sequence(&element[open..=close], self.sequence(&element[open + 1..close])));
            at = close + 1;
        }
        each(Piece::Plain(&element[at..]));
    }

    fn sequence(&self, name: &[u8]) -> Sequence {
        let EscapeStyle::Sequence { names, hex } = &self.dialect.framing.escape else { return Sequence::Verbatim };
        if let Some((_, role)) = names.iter().find(|(known, _)| known.as_bytes() == name) {
            return self.delimiters.of(*role).map_or(Sequence::Verbatim, |byte| Sequence::Separator(byte, *role));
        }
        let digits = hex.as_ref().and_then(|hex| name.strip_prefix(hex.as_bytes()));
        digits.and_then(hexadecimal).map_or(Sequence::Verbatim, Sequence::Bytes)
    }
}

enum Piece<'a> {
    Plain(&'a [u8]),
    Sequence(&'a [u8], Sequence),
}

/// The bytes of hexadecimal pairs; none when the digits are not all such pairs.
fn hexadecimal(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_chunks::<2>();
    if pairs.is_empty() || !rest.is_empty() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    pairs.iter().map(|[high, low]| u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()).collect()
}

/// Appends an element without the characters that make the next one literal.
fn released(element: &[u8], mark: u8, out: &mut Vec<u8>) {
    let mut rest = element;
    while let Some(at) = memchr(mark, rest) {
        out.extend_from_slice(&rest[..at]);
        out.extend(rest.get(at + 1));
        rest = &rest[(at + 2).min(rest.len())..];
    }
    out.extend_from_slice(rest);
}

/// The parts of an element between unreleased separators.
pub(crate) fn parts<'a>(element: &'a [u8], separator: Option<u8>, literal_mark: Option<u8>) -> Parts<'a> {
    Parts { rest: Some(element), separator, literal_mark }
}

/// See [`parts`].
pub(crate) struct Parts<'a> {
    rest: Option<&'a [u8]>,
    separator: Option<u8>,
    literal_mark: Option<u8>,
}

impl<'a> Iterator for Parts<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let end = self.separator.and_then(|separator| find_bare(rest, separator, self.literal_mark));
        let Some(end) = end else {
            self.rest = None;
            return Some(rest);
        };
        self.rest = Some(&rest[end + 1..]);
        Some(&rest[..end])
    }
}

/// The first `wanted` byte that no literal mark stands in front of.
pub(crate) fn find_bare(bytes: &[u8], wanted: u8, literal_mark: Option<u8>) -> Option<usize> {
    let Some(mark) = literal_mark else { return memchr(wanted, bytes) };
    let mut at = 0;
    loop {
        let found = at + memchr::memchr2(wanted, mark, bytes.get(at..)?)?;
        if bytes[found] == wanted {
            return Some(found);
        }
        at = found + 2;
    }
}
