//! What may differ between two executions of one plan.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clinker_dlq::{Clock, IdSource};
use clinker_events::{Progress, Subscriber};
use clinker_format::input::WholeFile;
use clinker_publish::Storage;

use crate::CancelToken;

/// Opens input files.
pub trait InputOpener: Send + Sync {
    /// A stream over a file.
    ///
    /// # Errors
    /// Those of the file system.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>>;
    /// How many bytes are read at once; `None` lets the engine choose.
    fn piece(&self) -> Option<usize> {
        None
    }
}

/// The operating system's files.
#[derive(Debug, Default)]
pub struct OsInputs;

impl InputOpener for OsInputs {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // A file that turns out shorter than it was at open was cut while we read it.
        Ok(Box::new(WholeFile::new(file, metadata.len())))
    }
}

/// A bounded preview: nothing is staged or published.
pub struct Preview {
    /// At most this many records of each Source.
    pub records: u64,
    /// Receives the bytes of every Sink, in plan order.
    pub destination: Box<dyn Write + Send>,
}

/// Everything a run is given beside its plan.
pub struct RunEnvelope {
    /// `$pipeline.execution_id`; names the attempt.
    pub execution_id: Arc<str>,
    /// `$pipeline.batch_id`.
    pub batch_id: Arc<str>,
    /// The pipeline document, as the user named it.
    pub pipeline_path: Arc<str>,
    /// Start of the run, nanoseconds since 1970-01-01T00:00:00 UTC.
    pub start_time: i128,
    /// Worker threads, at least 1.
    pub threads: usize,
    /// `if_exists: error` overwrites.
    pub force: bool,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Ids of dead letters.
    pub ids: IdSource,
    /// The file system of outputs.
    pub storage: Arc<dyn Storage>,
    /// The file system of inputs.
    pub inputs: Arc<dyn InputOpener>,
    /// Stops the run.
    pub cancel: CancelToken,
    /// Running totals.
    pub progress: Arc<Progress>,
    /// Takes log events.
    pub subscriber: Arc<dyn Subscriber>,
    /// Resident memory of the process before the run, where it is known.
    pub resident: Option<u64>,
    /// Present for a bounded preview.
    pub preview: Option<Preview>,
    /// The system's temporary directory: where state goes that leaves memory, unless the workspace names another one.
    pub temporary: PathBuf,
}
