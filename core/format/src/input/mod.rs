//! Host-owned input: which files, undoing compression, bytes for cutters.

mod blocks;
#[cfg(test)]
mod blocks_tests;
mod compression;
#[cfg(test)]
mod compression_tests;
mod discovery;
#[cfg(test)]
mod discovery_tests;

pub use blocks::{BlockInput, Lender};
pub use compression::{Compression, InputFault, WholeFile, open_stream};
pub use discovery::{DiscoveryFault, FileOrder, FileSelection, FoundFile, NoMatch, SortBy};
