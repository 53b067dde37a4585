//! Publication: outputs appear whole or not at all.
//!
//! Each artifact of a run is written into the run's attempt directory beside its destination. When everything is
//! complete, the files are synchronised, then renamed onto their final names one by one. Nothing else renames a final.
//! [`Attempt`] holds the protocol, [`storage`] the file system calls it makes (replaceable, so that a full disk or a
//! kill can be tried at each of them), [`staged`] the file that is being written.

pub mod attempt;
mod error;
mod names;
mod reservation;
pub mod staged;
pub mod storage;

pub use attempt::{ArtifactKind, Attempt, CollisionPolicy, Published, Restaged};
pub use error::PublishError;
pub use staged::StagedFile;
pub use storage::{OsStorage, RawFile, Storage};
