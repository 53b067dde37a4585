//! Lines on standard error: reports and log events, with the progress bar out of the way.

use std::sync::{Arc, Mutex};

use clinker_diagnostics::render::{Style, render};
use clinker_diagnostics::{Diagnostic, Severity};
use clinker_events::{Level, Subscriber};
use indicatif::ProgressBar;
use tracing::Dispatch;
use tracing_subscriber::fmt::MakeWriter;

use crate::Stream;
use crate::flags::LogLevel;

/// Standard error of one command.
#[derive(Clone)]
pub struct Console {
    stream: Stream,
    level: LogLevel,
    log: Dispatch,
    bar: Arc<Mutex<Option<ProgressBar>>>,
}

impl Console {
    /// A console that shows events up to a level.
    pub fn new(stream: Stream, level: LogLevel) -> Self {
        let bar = Arc::new(Mutex::new(None));
        let lines = Lines { stream: stream.clone(), bar: Arc::clone(&bar) };
        let log = tracing_subscriber::fmt()
            .with_writer(lines)
            .with_ansi(stream.is_terminal())
            .with_max_level(max_level(level))
            .without_time()
            .with_target(false)
            .finish();
        Self { stream, level, log: Dispatch::new(log), bar }
    }

    /// Lines printed from now on appear above this bar.
    pub fn attach(&self, bar: Option<ProgressBar>) {
        *self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = bar;
    }

    /// Prints a line as it is, if its level is shown.
    pub fn line(&self, level: Level, text: &str) {
        if self.wants(level) {
            self.print(&format!("{text}\n"));
        }
    }

    /// Prints a report.
    pub fn report(&self, diagnostic: &Diagnostic) {
        let wanted = match diagnostic.severity {
            Severity::Error => true,
            Severity::Warning => self.wants(Level::Warn),
            Severity::Note => self.wants(Level::Info),
        };
        if wanted {
            let style = Style { color: self.stream.is_terminal(), width: 120 };
            self.print(&render(diagnostic, style));
        }
    }

    /// Prints reports in order.
    pub fn reports(&self, diagnostics: &[Diagnostic]) {
        for diagnostic in diagnostics {
            self.report(diagnostic);
        }
    }

    fn print(&self, text: &str) {
        print_above(&self.bar, || self.stream.write(text));
    }
}

fn print_above(bar: &Mutex<Option<ProgressBar>>, print: impl FnOnce()) {
    match &*bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

fn max_level(level: LogLevel) -> tracing::Level {
    match level {
        LogLevel::Error => tracing::Level::ERROR,
        LogLevel::Warn => tracing::Level::WARN,
        LogLevel::Info => tracing::Level::INFO,
        LogLevel::Debug => tracing::Level::DEBUG,
        LogLevel::Trace => tracing::Level::TRACE,
    }
}

impl Subscriber for Console {
    fn wants(&self, level: Level) -> bool {
        let needed = match level {
            Level::Error => LogLevel::Error,
            Level::Warn => LogLevel::Warn,
            Level::Info => LogLevel::Info,
            Level::Debug => LogLevel::Debug,
            Level::Trace => LogLevel::Trace,
        };
        needed <= self.level
    }

    fn event(&self, level: Level, text: &str) {
        // Events come from any thread; the dispatcher of this command is set for just this one event.
        tracing::dispatcher::with_default(&self.log, || match level {
            Level::Error => tracing::error!("{text}"),
            Level::Warn => tracing::warn!("{text}"),
            Level::Info => tracing::info!("{text}"),
            Level::Debug => tracing::debug!("{text}"),
            Level::Trace => tracing::trace!("{text}"),
        });
    }
}

/// Log lines on their way to the stream.
#[derive(Clone)]
struct Lines {
    stream: Stream,
    bar: Arc<Mutex<Option<ProgressBar>>>,
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Lines;

    fn make_writer(&'a self) -> Lines {
        self.clone()
    }
}

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        print_above(&self.bar, || {
            // A reader of standard error that went away must not stop the run.
            let _ = self.stream.try_write(bytes);
        });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
