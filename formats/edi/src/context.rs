//! What a decoder must know of a block beside its bytes.

use std::sync::Arc;

use crate::text::TextRules;

/// The context of a block.
#[derive(Debug)]
pub(crate) struct BlockContext {
    /// Separators and character set.
    pub text: Arc<TextRules>,
    /// Where segments that are no records begin, ascending.
    pub skipped: Vec<u32>,
    /// Segments with length-counted data, ascending.
    pub binaries: Vec<BinarySpan>,
    /// Values of the key columns, from a row on.
    pub keys: Vec<KeyRun>,
}

/// A segment with length-counted data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BinarySpan {
    /// Its first byte.
    pub start: u32,
    /// Its terminator.
    pub end: u32,
    /// Its rule.
    pub rule: u8,
}

/// Rows that share the values of the key columns.
#[derive(Clone, Debug)]
pub(crate) struct KeyRun {
    /// The first of them.
    pub row: u32,
    /// One value a key column.
    pub values: Arc<[Option<Arc<str>>]>,
}
