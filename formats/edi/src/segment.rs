//! One segment: its tag and its elements on the wire.

use crate::delimiters::Delimiters;
use crate::dialect::{BinaryRule, Dialect};
use crate::text::find_bare;

/// The elements of a header or a trailer as text, in one piece of memory that is used again.
#[derive(Debug, Default)]
pub(crate) struct Elements {
    text: String,
    ends: Vec<usize>,
}

impl Elements {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Takes the elements that `write` appends: each as bytes, with its end.
    pub(crate) fn fill(&mut self, write: impl FnOnce(&mut Vec<u8>, &mut Vec<usize>)) {
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        self.ends.clear();
        write(&mut bytes, &mut self.ends);
        // What does not decode is a fault of the caller's; its text is not used.
        self.text = String::from_utf8(bytes).unwrap_or_default();
    }

    /// Takes these elements.
    pub(crate) fn copy(&mut self, elements: &[&str]) {
        self.clear();
        for element in elements {
            self.text.push_str(element);
            self.ends.push(self.text.len());
        }
    }

    /// Element `index`, counted from 0; empty behind the last one.
    pub(crate) fn get(&self, index: usize) -> &str {
        let Some(end) = self.ends.get(index) else { return "" };
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(start..*end).unwrap_or_default()
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Calls `use_them` with all elements as a slice.
    pub(crate) fn as_slice<R>(&self, use_them: impl FnOnce(&[&str]) -> R) -> R {
        // Most headers have few elements.
        let mut few = [""; 32];
        if self.len() > few.len() {
            return use_them(&self.iter().collect::<Vec<_>>());
        }
        few.iter_mut().zip(self.iter()).for_each(|(slot, element)| *slot = element);
        use_them(&few[..self.len()])
    }
}

/// Where the parts of a segment are: everything but its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape<'a> {
    pub dialect: &'a Dialect,
    pub delimiters: &'a Delimiters,
    /// The character that makes the next byte literal.
    pub literal_mark: Option<u8>,
}

impl Shape<'_> {
    /// Length of the tag of a segment that is given without its terminator.
    pub(crate) fn tag_len(&self, segment: &[u8]) -> usize {
        match self.dialect.framing.tag_width {
            Some(width) => width.min(segment.len()),
            None => memchr::memchr(self.delimiters.tag, segment).unwrap_or(segment.len()),
        }
    }

    /// Bytes between tag and first element.
    pub(crate) fn gap(&self) -> usize {
        usize::from(self.dialect.framing.tag_width.is_none())
    }

    /// Calls `each` with the bounds of each element of a segment without terminator. `binary` is the rule of its tag.
    pub(crate) fn elements(&self, segment: &[u8], binary: Option<&BinaryRule>, mut each: impl FnMut(usize, usize)) {
        let tag = self.tag_len(segment);
        if tag == segment.len() {
            return;
        }
        let mut at = tag + self.gap();
        let mut number = 1;
        let mut length = None;
        loop {
            let rest = &segment[at.min(segment.len())..];
            let counted =
                binary.filter(|rule| rule.data_element == number).and(length).filter(|len| *len <= rest.len());
            let end = match counted {
                // The data end where the length says; what follows is a separator, or nothing.
                Some(len) => at + len,
                None => at + find_bare(rest, self.delimiters.element, self.literal_mark).unwrap_or(rest.len()),
            };
            if binary.is_some_and(|rule| rule.length_element == number) {
                length = parse_length(&segment[at..end]);
            }
            each(at, end);
            if end >= segment.len() {
                return;
            }
            at = end + 1;
            number += 1;
        }
    }
}

/// A number of bytes: decimal digits.
pub(crate) fn parse_length(text: &[u8]) -> Option<usize> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}
