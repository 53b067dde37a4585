//! What can go wrong on the way to a final.

use std::io;
use std::path::PathBuf;

/// A failure of publication. None of them leaves half a file under a final name.
#[derive(Debug)]
pub enum PublishError {
    /// The destination could not be written, synchronised or prepared.
    Io {
        /// The final path it concerns.
        destination: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// The operating system's answer.
        error: io::Error,
    },
    /// `if_exists: error`, and the final exists.
    Exists {
        /// The final path.
        destination: PathBuf,
    },
    /// Another run that is alive writes the same final.
    Reserved {
        /// The final path.
        destination: PathBuf,
    },
    /// Two artifacts of the run have one destination.
    Collision {
        /// The final path.
        destination: PathBuf,
        /// The producer that claimed it first.
        first: String,
        /// The other one.
        second: String,
    },
    /// Some finals are visible, others are not.
    Incomplete {
        /// Finals that are visible and synchronised.
        published: Vec<PathBuf>,
        /// Finals that are not.
        unpublished: Vec<PathBuf>,
        /// Why it stopped.
        error: io::Error,
    },
}

impl std::fmt::Display for PublishError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PublishError::Io { destination, doing, error } => {
                write!(out, "{}: cannot {doing}: {error}", destination.display())
            }
            PublishError::Exists { destination } => {
                write!(out, "{}: the file exists and the sink says `if_exists: error`", destination.display())
            }
            PublishError::Reserved { destination } => {
                write!(out, "{}: another run that is still alive writes this file", destination.display())
            }
            PublishError::Collision { destination, first, second } => {
                write!(out, "{}: both {first} and {second} would write this file", destination.display())
            }
            PublishError::Incomplete { published, unpublished, error } => write!(
                out,
                "output publication failed: {error}; visible: {}; not visible: {}",
                list(published),
                list(unpublished)
            ),
        }
    }
}

impl std::error::Error for PublishError {}

fn list(paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return "none".to_owned();
    }
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
