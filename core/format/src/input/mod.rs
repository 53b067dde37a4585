//! Host-owned input: which files, undoing compression, bytes for cutters.

mod blocks;

pub use blocks::BlockInput;
