//! What the tags of a dialect mean, remembered for those that were seen.

use regex::Regex;

use crate::dialect::Dialect;
use crate::validator::RuleValidator;

/// What a tag means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TagInfo {
    pub kind: TagKind,
    /// Position among the rules of length-counted data.
    pub binary: Option<u8>,
    /// Nothing but counting is asked of it inside the innermost level.
    pub plain: bool,
    /// Its first element is never decoded.
    pub self_describing: bool,
    /// It repeats the separators.
    pub redeclares: bool,
}

/// The part a segment plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagKind {
    /// Opens the level; whether it is a record.
    Open(u16, bool),
    /// Closes a level.
    Close,
    /// Anything else.
    Body,
    /// Breaks the pattern of tags.
    Wrong,
}

/// Longest tag that is remembered, in bytes.
const REMEMBERED: usize = 7;
const SLOTS: usize = 64;

/// A tag of at most seven bytes as a number, with its length on top; zero is none.
type Key = u64;

/// The tags that were seen last.
#[derive(Debug)]
pub(crate) struct TagCache {
    slots: [(Key, TagInfo); SLOTS],
    /// Matches whole tags.
    pattern: Regex,
}

impl TagCache {
    pub(crate) fn new(dialect: &Dialect) -> Self {
        let pattern = &dialect.columns.tag_pattern;
        let whole = Regex::new(&format!("\\A(?:{})\\z", pattern.as_str())).unwrap_or_else(|_| pattern.clone());
        let none =
            TagInfo { kind: TagKind::Wrong, binary: None, plain: false, self_describing: false, redeclares: false };
        Self { slots: [(0, none); SLOTS], pattern: whole }
    }

    /// The length of the tag that eight bytes begin with, and what is known of it, when both can be told at once.
    /// `longest` is the length of the segment.
    #[inline]
    pub(crate) fn peek(&self, bytes: [u8; 8], separator: u8, longest: usize) -> Option<(usize, TagInfo)> {
        const ONES: u64 = 0x0101_0101_0101_0101;
        let word = u64::from_le_bytes(bytes);
        let differing = word ^ (ONES * u64::from(separator));
        // The lowest byte that is zero has its high bit set here; bytes above it may be wrong.
        let zeros = differing.wrapping_sub(ONES) & !differing & (ONES << 7);
        let len = (zeros.trailing_zeros() as usize / 8).min(longest);
        if len == 0 || len > REMEMBERED {
            return None;
        }
        let key = key_of(word, len);
        let (known, info) = self.slots[slot(key)];
        (known == key).then_some((len, info))
    }

    /// What a tag means.
    pub(crate) fn info(&mut self, dialect: &Dialect, tag: &[u8]) -> TagInfo {
        let mut word = [0; 8];
        if tag.is_empty() || tag.len() > REMEMBERED {
            return TagInfo::of(dialect, &self.pattern, tag);
        }
        word[..tag.len()].copy_from_slice(tag);
        let key = key_of(u64::from_le_bytes(word), tag.len());
        let slot = &mut self.slots[slot(key)];
        if slot.0 != key {
            *slot = (key, TagInfo::of(dialect, &self.pattern, tag));
        }
        slot.1
    }
}

#[inline]
fn key_of(word: u64, len: usize) -> Key {
    let bits = 8 * len as u32;
    (word & ((1 << bits) - 1)) | (len as u64) << 56
}

#[inline]
fn slot(key: Key) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize % SLOTS
}

impl TagInfo {
    fn of(dialect: &Dialect, pattern: &Regex, tag: &[u8]) -> TagInfo {
        let text = std::str::from_utf8(tag).unwrap_or_default();
        let good = !text.is_empty() && pattern.is_match(text);
        let is = |known: &std::sync::Arc<str>| **known == *text;
        let level = dialect.levels.iter().position(|level| is(&level.open));
        let kind = match level.and_then(|at| u16::try_from(at).ok()) {
            _ if !good => TagKind::Wrong,
            Some(at) => TagKind::Open(at, dialect.levels[usize::from(at)].emit_open),
            None if dialect.levels.iter().any(|level| level.close.as_ref().is_some_and(is)) => TagKind::Close,
            None => TagKind::Body,
        };
        let binary = dialect.binary.iter().position(|rule| is(&rule.tag)).and_then(|at| u8::try_from(at).ok());
        let asked = RuleValidator::watches(dialect, text) || dialect.forbid.iter().any(|(known, _)| is(known));
        let redeclares = dialect.framing.redeclare.iter().any(is);
        TagInfo {
            kind,
            binary,
            plain: kind == TagKind::Body && binary.is_none() && !asked && !redeclares,
            self_describing: dialect.framing.self_describing.iter().any(is),
            redeclares,
        }
    }
}
