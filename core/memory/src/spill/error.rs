//! What can go wrong with spilled state. All of it ends the run.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why state could not be spilled or read back.
#[derive(Debug)]
pub enum SpillError {
    /// More bytes would be on disk at one time than allowed (E320).
    Quota {
        /// The cap in bytes.
        cap: u64,
        /// Bytes that are on disk.
        live: u64,
        /// Bytes that were to be written.
        refused: u64,
    },
    /// The volume is full (E321).
    Full {
        /// The file that was written.
        path: PathBuf,
    },
    /// The spill directory disappeared while the run went on.
    Gone {
        /// The directory.
        path: PathBuf,
    },
    /// What was read back is not what was written.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Any other failure.
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was done.
        doing: &'static str,
        /// The failure.
        error: io::Error,
    },
}

impl SpillError {
    /// A failure of a file or directory by its kind.
    pub(super) fn of(path: &Path, doing: &'static str, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => SpillError::Full { path },
            io::ErrorKind::NotFound => SpillError::Gone { path },
            _ => SpillError::Io { path, doing, error },
        }
    }

    /// The diagnostic code, where there is one.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            SpillError::Quota { .. } => Some("E320"),
            SpillError::Full { .. } => Some("E321"),
            SpillError::Gone { .. } | SpillError::Corrupt { .. } | SpillError::Io { .. } => None,
        }
    }
}

impl fmt::Display for SpillError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpillError::Quota { cap, live, refused } => {
                write!(
                    out,
                    "the spill cap of {cap} bytes is reached: {live} bytes are on disk, {refused} more are needed"
                )
            }
            SpillError::Full { path } => write!(out, "the spill volume is full: {}", path.display()),
            SpillError::Gone { path } => write!(out, "the spill directory is unavailable: {}", path.display()),
            SpillError::Corrupt { path, reason } => write!(out, "spill file {} is damaged: {reason}", path.display()),
            SpillError::Io { path, doing, error } => write!(out, "cannot {doing} {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for SpillError {}
