//! A file system that fails, or kills the process, at a chosen call.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clinker_publish::{OsStorage, RawFile, Storage};

/// What happens at the chosen call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The disk is full, from that call on.
    Full,
    /// The device reports an error, once.
    Broken,
    /// The process is gone.
    Kill,
    /// A write takes only half of the bytes, once.
    Short,
}

/// Counts calls that change the file system and injects a fault at one of them.
pub struct FaultyStorage {
    fault: Fault,
    at: u64,
    calls: Arc<AtomicU64>,
}

impl FaultyStorage {
    /// The fault strikes at call number `at`, counted from 0.
    pub fn new(fault: Fault, at: u64) -> Arc<Self> {
        Arc::new(Self { fault, at, calls: Arc::new(AtomicU64::new(0)) })
    }

    /// Calls made so far.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    fn step(&self) -> io::Result<()> {
        step(self.fault, self.at, &self.calls).map(|_| ())
    }
}

/// Whether this call is to be cut short.
fn step(fault: Fault, at: u64, calls: &AtomicU64) -> io::Result<bool> {
    let call = calls.fetch_add(1, Ordering::SeqCst);
    match fault {
        Fault::Full if call >= at => Err(io::ErrorKind::StorageFull.into()),
        Fault::Broken if call == at => Err(io::Error::from_raw_os_error(5)),
        Fault::Kill if call == at => std::process::abort(),
        Fault::Short if call == at => Ok(true),
        _ => Ok(false),
    }
}

struct FaultyFile {
    inner: Arc<dyn RawFile>,
    fault: Fault,
    at: u64,
    calls: Arc<AtomicU64>,
}

impl RawFile for FaultyFile {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let short = step(self.fault, self.at, &self.calls)?;
        let len = if short { bytes.len().div_ceil(2) } else { bytes.len() };
        self.inner.write(&bytes[..len])
    }

    fn sync(&self) -> io::Result<()> {
        step(self.fault, self.at, &self.calls)?;
        self.inner.sync()
    }
}

impl Storage for FaultyStorage {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        OsStorage.create_dir(path)
    }

    fn create_new(&self, path: &Path) -> io::Result<Arc<dyn RawFile>> {
        self.step()?;
        let inner = OsStorage.create_new(path)?;
        Ok(Arc::new(FaultyFile { inner, fault: self.fault, at: self.at, calls: Arc::clone(&self.calls) }))
    }

    fn lock(&self, path: &Path, content: &str) -> io::Result<Option<File>> {
        self.step()?;
        OsStorage.lock(path, content)
    }

    fn rename(&self, from: &Path, to: &Path, replace: bool) -> io::Result<()> {
        self.step()?;
        OsStorage.rename(from, to, replace)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        OsStorage.sync_dir(path)
    }

    // Removing needs no space and is what cleaning up relies on: only a kill strikes here.
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        if self.fault == Fault::Kill {
            self.step()?;
        }
        OsStorage.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        if self.fault == Fault::Kill {
            self.step()?;
        }
        OsStorage.remove_dir(path)
    }
}
