//! The surroundings of a command.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use clinker_dlq::{Clock, IdSource, SystemClock};
use clinker_engine::{CancelToken, InputOpener, OsInputs, RunReport};
use clinker_publish::{OsStorage, Storage};

use crate::exit;

/// An output stream that several threads write whole lines to.
#[derive(Clone)]
pub struct Stream {
    inner: Arc<Mutex<dyn Write + Send>>,
    terminal: bool,
}

impl Stream {
    /// A stream over a writer that is no terminal.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self { inner: Arc::new(Mutex::new(writer)), terminal: false }
    }

    /// Whether a person looks at it.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Writes text. A reader that went away is not our failure: there is nobody left to tell.
    pub fn write(&self, text: &str) {
        let _ = self.try_write(text.as_bytes());
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        inner.write_all(bytes)?;
        inner.flush()
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.try_write(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Values of environment variables by name.
pub type Environment = dyn Fn(&str) -> Option<String> + Send + Sync;

/// What a command takes from its surroundings.
pub struct Host {
    /// Requested results.
    pub stdout: Stream,
    /// Everything else.
    pub stderr: Stream,
    /// Environment variables.
    pub env: Arc<Environment>,
    /// This program, for what runs in a process of its own; none runs it in this one.
    pub executable: Option<PathBuf>,
    /// Relative paths of the command line resolve against it.
    pub current_dir: PathBuf,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Makes the generator of ids of one run.
    pub ids: Arc<dyn Fn() -> IdSource + Send + Sync>,
    /// The file system of outputs.
    pub storage: Arc<dyn Storage>,
    /// The file system of inputs.
    pub inputs: Arc<dyn InputOpener>,
    /// Whether SIGINT and SIGTERM are handled.
    pub signals: bool,
    /// Stops a run.
    pub cancel: CancelToken,
    /// Resident memory of the process, where the platform reports it.
    pub resident: Arc<dyn Fn() -> Option<u64> + Send + Sync>,
    /// Is shown the report of each run that completes.
    pub observe: Arc<dyn Fn(&RunReport) + Send + Sync>,
}

impl Host {
    /// Writes a requested result to standard output and gives the exit code. A reader that went away has what it wanted;
    /// after any other failure the result is missing, and that is told.
    pub(crate) fn deliver(&self, text: &str) -> u8 {
        match self.stdout.try_write(text.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.stderr.write(&format!("error: cannot write to standard output: {error}\n"));
                exit::INFRASTRUCTURE
            }
            _ => exit::SUCCESS,
        }
    }

    /// The process's own surroundings.
    pub fn system() -> Self {
        let stderr = io::stderr();
        Self {
            stdout: Stream { terminal: io::stdout().is_terminal(), ..Stream::new(io::stdout()) },
            stderr: Stream { terminal: stderr.is_terminal(), ..Stream::new(stderr) },
            env: Arc::new(|name| std::env::var(name).ok()),
            executable: std::env::current_exe().ok(),
            current_dir: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            clock: Arc::new(SystemClock),
            ids: Arc::new(IdSource::random),
            storage: Arc::new(OsStorage),
            inputs: Arc::new(OsInputs),
            signals: true,
            cancel: CancelToken::default(),
            resident: Arc::new(clinker_memory::resident_bytes),
            observe: Arc::new(|_| {}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn main_with_stdout(kind: io::ErrorKind, args: &[&str]) -> u8 {
        let host = Host {
            stdout: Stream::new(Failing(kind)),
            stderr: Stream::new(io::sink()),
            signals: false,
            ..Host::system()
        };
        crate::main(std::iter::once("clinker").chain(args.iter().copied()).map(Into::into), host)
    }

    #[test]
    fn operations_1_4_a_result_that_cannot_be_written_is_no_success() {
        for args in
            [&["explain", "--list"][..], &["formats"], &["formats", "show", "csv"], &["completions", "bash"], &["man"]]
        {
            assert_eq!(main_with_stdout(io::ErrorKind::StorageFull, args), exit::INFRASTRUCTURE, "{args:?}");
            assert_eq!(main_with_stdout(io::ErrorKind::BrokenPipe, args), exit::SUCCESS, "{args:?}");
        }
    }
}
