//! Spill files: state that left memory for the disk, private to one run.
//!
//! A [`SpillDirectory`] belongs to a run and disappears with it. A [`SpillWriter`] appends frames to one file and becomes
//! a [`SpillFile`], which can be read any number of times and removes itself. A file begins with what it is and whether
//! its frames are compressed; each frame carries its length and a checksum, so that what comes back is what was written
//! or an error, never less.

mod directory;
mod error;
mod file;
#[cfg(test)]
mod tests;
mod volume;

pub use directory::{SpillDirectory, purge_orphans};
pub use error::SpillError;
pub use file::{MAX_FRAME, SpillFile, SpillReader, SpillWriter};
pub use volume::{Volume, volume};
