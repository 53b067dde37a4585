//! Keys: each is expected where it stood last time, and compared there at once.

use std::collections::HashMap;
use std::sync::Arc;

use super::{NONE, ROOT};
use crate::scan::plain_len;

/// Bytes of a key that are compared at once.
const HEAD: usize = 16;

/// A key at its place in the tree of keys.
pub(super) struct Node {
    pub(super) parent: u32,
    /// The key that followed it last.
    pub(super) next: u32,
    /// Its column, once a value was seen; where records are expanded its name among those of the [`Expansion`].
    pub(super) slot: u32,
    /// The record that it held a value in last.
    pub(super) record: u32,
    /// The record that it held an object in last.
    pub(super) object: u32,
    /// The key.
    pub(super) key: Arc<[u8]>,
    /// The key between quotes, as it is written without escapes; empty where it needs some.
    pub(super) quoted: Box<[u8]>,
    /// Its first bytes, and which bits they are.
    head: u128,
    mask: u128,
    pub(super) children: HashMap<Arc<[u8]>, u32>,
}

impl Node {
    /// A key that was not seen yet.
    pub(super) fn new(parent: u32, key: Arc<[u8]>) -> Node {
        // A key that is written with escapes is looked up each time.
        let plain = plain_len(&key, 0) == key.len();
        let quoted = if plain { [b"\"", &*key, b"\""].concat() } else { Vec::new() };
        let (mut head, mut mask) = ([0; HEAD], [0; HEAD]);
        for (at, byte) in quoted.iter().take(HEAD).enumerate() {
            (head[at], mask[at]) = (*byte, 0xFF);
        }
        Node {
            parent,
            next: ROOT,
            slot: NONE,
            record: 0,
            object: 0,
            key,
            head: u128::from_le_bytes(head),
            mask: u128::from_le_bytes(mask),
            quoted: quoted.into(),
            children: HashMap::new(),
        }
    }

    /// Whether this key stands at the beginning of `rest`. A short one is compared at once.
    #[inline]
    pub(super) fn is_next(&self, rest: &[u8]) -> bool {
        let Some(first) = rest.first_chunk::<HEAD>() else {
            return !self.quoted.is_empty() && rest.starts_with(&self.quoted);
        };
        u128::from_le_bytes(*first) & self.mask == self.head
            && (self.quoted.len() <= HEAD || rest[HEAD..].starts_with(&self.quoted[HEAD..]))
            && self.mask != 0
    }
}
