//! A file in the attempt directory while it is being written.

use std::io::{self, Write};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crate::RawFile;

/// Write-back is started each time this many bytes were written.
const WRITE_BACK: u64 = 16 << 20;

/// A staged file. Write-back to the disk is started while the run goes on, by a thread of its own, so that the final
/// synchronisation finds little left to do.
pub struct StagedFile {
    file: Arc<dyn RawFile>,
    written: u64,
    requested: u64,
    write_back: Option<WriteBack>,
}

struct WriteBack {
    requests: SyncSender<()>,
    thread: JoinHandle<()>,
    /// The first failure of a background synchronisation: the system reports each only once.
    failed: Arc<Mutex<Option<io::Error>>>,
}

impl StagedFile {
    pub(crate) fn new(file: Arc<dyn RawFile>) -> Self {
        Self { file, written: 0, requested: 0, write_back: None }
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    fn start_write_back(&mut self) {
        if self.write_back.is_none() {
            self.write_back = WriteBack::start(Arc::clone(&self.file));
        }
        if let Some(running) = &self.write_back {
            match running.requests.try_send(()) {
                // One request waiting is enough: it covers what was written since.
                Ok(()) | Err(TrySendError::Full(())) | Err(TrySendError::Disconnected(())) => {}
            }
        }
        self.requested = self.written;
    }

    /// Makes the content durable.
    ///
    /// # Errors
    /// Those of the file system, also one that the background write-back met.
    pub fn sync(&mut self) -> io::Result<()> {
        if let Some(running) = self.write_back.take() {
            running.stop()?;
        }
        self.file.sync()
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.file.write(bytes)?;
        self.written += taken as u64;
        if self.written - self.requested >= WRITE_BACK {
            self.start_write_back();
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WriteBack {
    fn start(file: Arc<dyn RawFile>) -> Option<Self> {
        let (requests, inbox) = sync_channel::<()>(1);
        let failed = Arc::new(Mutex::new(None));
        let report = Arc::clone(&failed);
        // Without the thread the final synchronisation does all of the work.
        let thread = std::thread::Builder::new()
            .name("write-back".to_owned())
            .spawn(move || {
                while inbox.recv().is_ok() {
                    if let Err(error) = file.sync() {
                        report.lock().expect("a holder of this lock does not panic").get_or_insert(error);
                    }
                }
            })
            .ok()?;
        Some(Self { requests, thread, failed })
    }

    fn stop(self) -> io::Result<()> {
        drop(self.requests);
        if self.thread.join().is_err() {
            return Err(io::Error::other("the write-back thread ended unexpectedly"));
        }
        match self.failed.lock().expect("the thread has ended").take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}
