//! Runs whole commands in this process, as a user would, with everything around them replaceable.
//!
//! A case is a folder: `pipeline.yaml`, inputs, and `expected/` with the outputs, standard error and exit code. It is run
//! in several [`Weather`]s, and every byte must agree in all of them. Clock and ids are fixed, so dead letters are
//! compared byte for byte too.

pub mod case;
pub mod faults;
pub mod weather;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use clinker_cli::{Host, Stream};
use clinker_dlq::{Clock, IdSource};
use clinker_engine::{CancelToken, InputOpener, OsInputs, RunReport};
use clinker_publish::{OsStorage, Storage};

/// A folder of its own that vanishes with the value.
pub struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    /// An empty folder.
    ///
    /// # Panics
    /// When the system has no room for one.
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary folder can be made") }
    }

    /// A folder with the content of another one, its `expected` folder left out.
    pub fn copy_of(source: &Path) -> Self {
        let scratch = Self::new();
        copy_into(source, scratch.path());
        scratch
    }

    /// Where it is, links resolved.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folders can be made");
        std::fs::write(path, content).expect("the file can be written");
        self
    }

    /// Makes a folder.
    pub fn folder(&self, name: &str) -> &Self {
        std::fs::create_dir_all(self.path().join(name)).expect("the folder can be made");
        self
    }

    /// The content of a file, if it is there.
    pub fn read(&self, name: &str) -> Option<String> {
        std::fs::read(self.path().join(name)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Every file below, by relative path, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        list_into(self.path(), self.path(), &mut files);
        files.sort();
        files
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

/// Every file below a folder, by path relative to `root`.
pub fn list_into(root: &Path, dir: &Path, files: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            list_into(root, &path, files);
        } else {
            let relative = path.strip_prefix(root).expect("listed below the root");
            files.push(relative.to_string_lossy().into_owned());
        }
    }
}

fn copy_into(source: &Path, target: &Path) {
    std::fs::create_dir_all(target).expect("folders can be made");
    for entry in std::fs::read_dir(source).expect("the case folder can be listed").flatten() {
        let (from, to) = (entry.path(), target.join(entry.file_name()));
        if entry.file_name() == "expected" {
            continue;
        }
        if from.is_dir() {
            copy_into(&from, &to);
        } else {
            std::fs::copy(&from, &to).expect("case files can be copied");
        }
    }
}

/// What a command left behind.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code.
    pub exit: u8,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A command line to run.
pub struct Command {
    args: Vec<OsString>,
    dir: PathBuf,
    /// The file system of outputs.
    pub storage: Arc<dyn Storage>,
    /// The file system of inputs.
    pub inputs: Arc<dyn InputOpener>,
    /// Environment variables.
    pub env: Vec<(String, String)>,
    /// Stops the run.
    pub cancel: CancelToken,
    /// Seed of execution and dead-letter ids: two runs of one test that may meet need different ones.
    pub seed: u64,
    /// Bytes the process is said to hold when the run starts; none where a system does not tell.
    pub resident: Option<u64>,
}

impl Command {
    /// `clinker <args>` in a folder.
    pub fn new(dir: &Path, args: &[&str]) -> Self {
        let args = std::iter::once("clinker").chain(args.iter().copied()).map(OsString::from).collect();
        Self {
            args,
            dir: dir.to_owned(),
            storage: Arc::new(OsStorage),
            inputs: Arc::new(OsInputs),
            env: Vec::new(),
            cancel: CancelToken::default(),
            seed: 7,
            resident: None,
        }
    }

    /// Runs it in this process.
    pub fn run(self) -> Outcome {
        let (stdout, stderr) = (Captured::default(), Captured::default());
        let (env, seed, resident) = (self.env.clone(), self.seed, self.resident);
        let host = Host {
            stdout: Stream::new(stdout.clone()),
            stderr: Stream::new(stderr.clone()),
            env: Arc::new(move |name| env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())),
            executable: None,
            current_dir: self.dir,
            clock: Arc::new(FixedClock),
            ids: Arc::new(move || IdSource::seeded(seed)),
            storage: self.storage,
            inputs: self.inputs,
            signals: false,
            cancel: self.cancel,
            resident: Arc::new(move || resident),
            observe: Arc::new(check_books),
        };
        let exit = clinker_cli::main(self.args, host);
        Outcome { exit, stdout: stdout.text(), stderr: stderr.text() }
    }
}

/// Runs `clinker <args>` in a folder.
pub fn clinker(dir: &Path, args: &[&str]) -> Outcome {
    Command::new(dir, args).run()
}

/// The books of every run that completes in a test: each node and each count of the report agrees.
fn check_books(report: &RunReport) {
    let mut rejected = 0;
    for book in &report.books.nodes {
        assert_eq!(
            book.total_in() + book.added(),
            book.total_out() + book.filtered + book.null_dropped + book.rejected_total() + book.empty,
            "a node does not balance: {book:?}"
        );
        rejected += book.rejected_total();
    }
    assert_eq!(rejected, report.rejected, "every rejected row is one dead letter");
    let categories: u64 = report.categories.iter().map(|(_, rows)| rows).sum();
    assert_eq!(categories, report.rejected, "every dead letter has a category");
    assert!(report.ok <= report.total, "a source row counts once, however often it is written");
}

/// Noon of a day that no test depends on.
struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> i128 {
        1_927_281_600_000_000_000
    }
}

/// A stream kept in memory.
#[derive(Clone, Default)]
pub struct Captured {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Captured {
    /// What was written.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().expect("writers do not panic")).into_owned()
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.lock().expect("writers do not panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Inputs that arrive a few bytes at a time, with interruptions in between.
pub struct Pieces {
    /// At most this many bytes a read.
    pub bytes: usize,
}

impl InputOpener for Pieces {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Piecewise { inner: OsInputs.open(path)?, bytes: self.bytes, reads: 0 }))
    }

    fn piece(&self) -> Option<usize> {
        Some(self.bytes)
    }
}

struct Piecewise {
    inner: Box<dyn Read + Send>,
    bytes: usize,
    reads: usize,
}

impl Read for Piecewise {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        if self.reads.is_multiple_of(5) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = buffer.len().min(self.bytes);
        self.inner.read(&mut buffer[..len])
    }
}
