//! The directory of a run, its lock and its quota.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::{SpillError, SpillWriter};

/// What the names of spill directories begin with.
const PREFIX: &str = "clinker-spill-";
/// Its presence makes a directory one of ours; its lock says that the run lives.
const LOCK: &str = ".lock";
/// A directory without a lock may belong to a run that is just starting.
const GRACE: Duration = Duration::from_secs(5);

/// The spill directory of a run. It is made with the first file and removed when it is dropped.
#[derive(Debug)]
pub struct SpillDirectory {
    path: PathBuf,
    cap: Option<u64>,
    live: AtomicU64,
    /// Bytes that each stage has written, in the order in which the stages began.
    stages: std::sync::Mutex<Vec<(Arc<str>, u64)>>,
    next: AtomicU64,
    /// Held as long as the run lives; none before the directory exists.
    lock: std::sync::Mutex<Option<File>>,
}

impl SpillDirectory {
    /// The directory `clinker-spill-<id>` below `parent`. Nothing is created yet.
    pub fn new(parent: &Path, id: &str, cap: Option<u64>) -> Arc<Self> {
        Arc::new(Self {
            path: parent.join(format!("{PREFIX}{id}")),
            cap,
            live: AtomicU64::new(0),
            stages: std::sync::Mutex::default(),
            next: AtomicU64::new(0),
            lock: std::sync::Mutex::new(None),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that are on disk now.
    pub fn live(&self) -> u64 {
        self.live.load(Ordering::Relaxed)
    }

    /// Bytes that were written altogether.
    pub fn written(&self) -> u64 {
        self.stages().iter().map(|(_, bytes)| bytes).sum()
    }

    /// The stages that have spilled, with the bytes that each of them has written.
    pub fn stages(&self) -> Vec<(Arc<str>, u64)> {
        self.stages.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Starts a file of a stage, of which the frames are compressed or not.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(self: &Arc<Self>, stage: &Arc<str>, compress: bool) -> Result<SpillWriter, SpillError> {
        self.ensure().map_err(|error| SpillError::of(&self.path, "create the spill directory", error))?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        SpillWriter::create(Arc::clone(self), Arc::clone(stage), self.path.join(format!("{number:08}.spill")), compress)
    }

    fn ensure(&self) -> io::Result<()> {
        let mut lock = self.lock.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if lock.is_some() {
            return Ok(());
        }
        create_private(&self.path)?;
        let file = File::create_new(self.path.join(LOCK))?;
        file.try_lock().map_err(io::Error::from)?;
        *lock = Some(file);
        Ok(())
    }

    /// Counts bytes before they are written.
    pub(super) fn charge(&self, bytes: u64) -> Result<(), SpillError> {
        let live = self.live.fetch_add(bytes, Ordering::Relaxed);
        match self.cap {
            Some(cap) if live + bytes > cap => {
                self.live.fetch_sub(bytes, Ordering::Relaxed);
                Err(SpillError::Quota { cap, live, refused: bytes })
            }
            _ => Ok(()),
        }
    }

    /// Counts what a stage has written.
    pub(super) fn count(&self, stage: &Arc<str>, bytes: u64) {
        let mut stages = self.stages.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match stages.iter_mut().find(|(known, _)| known == stage) {
            Some((_, written)) => *written += bytes,
            None => stages.push((Arc::clone(stage), bytes)),
        }
    }

    pub(super) fn release(&self, bytes: u64) {
        self.live.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for SpillDirectory {
    fn drop(&mut self) {
        let lock = self.lock.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        if lock.take().is_some() {
            // Nobody is left who could be told; the next run that purges finds what stays.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(unix)]
fn create_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create_private(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Removes the spill directories below `parent` whose runs are dead: their lock is free, and they are older than a grace
/// of five seconds at `now`. Returns how many were removed. A directory that cannot be looked at stays.
pub fn purge_orphans(parent: &Path, now: SystemTime) -> usize {
    let Ok(entries) = fs::read_dir(parent) else { return 0 };
    let ours = |entry: &fs::DirEntry| {
        entry.file_name().to_string_lossy().starts_with(PREFIX) && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    let mut removed = 0;
    for entry in entries.flatten().filter(ours) {
        let old = entry
            .metadata()
            .and_then(|data| data.modified())
            .is_ok_and(|made| now.duration_since(made).is_ok_and(|age| age > GRACE));
        if old && is_orphan(&entry.path()) && fs::remove_dir_all(entry.path()).is_ok() {
            removed += 1;
        }
    }
    removed
}

fn is_orphan(path: &Path) -> bool {
    match File::open(path.join(LOCK)) {
        // A run that died before it made its lock.
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(file) => file.try_lock().is_ok(),
    }
}
