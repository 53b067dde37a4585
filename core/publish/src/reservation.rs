//! The hidden sibling that tells other runs that a final is being written.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Storage, names};

/// Held for the life of a writer; a reservation whose lock is free is stale and is taken over at once.
pub(crate) struct Reservation {
    storage: Arc<dyn Storage>,
    path: PathBuf,
    _lock: File,
}

impl Reservation {
    /// Reserves a final; `None` when a run that is alive holds it.
    pub(crate) fn take(storage: &Arc<dyn Storage>, destination: &Path, owner: &str) -> io::Result<Option<Self>> {
        let path = destination.with_file_name(names::reservation(destination.file_name().unwrap_or_default()));
        Ok(storage.lock(&path, owner)?.map(|lock| Self { storage: Arc::clone(storage), path, _lock: lock }))
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // Removed while the lock is held, so that nobody can lock a file that is about to vanish and be believed.
        let _ = self.storage.remove_file(&self.path);
    }
}
