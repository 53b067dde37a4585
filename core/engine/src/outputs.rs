//! Where the bytes of Sinks and dead letters go: staged files of the attempt, or a preview.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clinker_format::output::OutputStream;
use clinker_format::{Encoded, WriteFault, Writer};
use clinker_plan::{SinkPlan, WidenedColumns};
use clinker_publish::{PublishError, StagedFile};

use crate::RunError;
use crate::error::exit;

/// What stands behind an output: a staged file, or memory for a preview.
pub(crate) enum Target {
    Staged(StagedFile),
    Memory(Vec<u8>),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Staged(file) => file.write(bytes),
            Target::Memory(memory) => memory.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One output file of a Sink while it is written.
pub(crate) struct Output {
    pub destination: PathBuf,
    stream: OutputStream<Target>,
    writer: Box<dyn Writer>,
    began: bool,
}

impl Output {
    /// Starts an output. Where the column set is known its preamble is written at once, also if no row follows.
    pub(crate) fn begin(plan: &SinkPlan, destination: PathBuf, target: Target) -> Result<Self, RunError> {
        let failed = |error| write_failed(&destination, error);
        let stream = OutputStream::new(target, plan.compression).map_err(failed)?;
        let mut output = Self { destination: destination.clone(), stream, writer: plan.writer.writer(), began: false };
        if plan.projection.widened == WidenedColumns::None {
            let names: Vec<Arc<str>> = plan.projection.columns.iter().map(|column| Arc::clone(&column.name)).collect();
            output.columns(&names)?;
        }
        Ok(output)
    }

    fn columns(&mut self, names: &[Arc<str>]) -> Result<(), RunError> {
        self.began = true;
        self.writer.columns(names, &mut self.stream).map_err(|error| write_failed(&self.destination, error))
    }

    /// Writes encoded records; the column set is fixed by the first ones.
    pub(crate) fn records(&mut self, names: &[Arc<str>], encoded: &Encoded) -> Result<(), RunError> {
        if encoded.ends.is_empty() {
            return Ok(());
        }
        if !self.began {
            self.columns(names)?;
        }
        self.writer.records(encoded, &mut self.stream).map_err(|error| write_failed(&self.destination, error))
    }

    /// Closes the framing and gives the target back.
    pub(crate) fn finish(mut self) -> Result<(PathBuf, Target), RunError> {
        let failed = |error| write_failed(&self.destination, error);
        if self.began {
            self.writer.finish(&mut self.stream).map_err(failed)?;
        }
        let target = self.stream.finish().map_err(failed)?;
        Ok((self.destination, target))
    }
}

/// A destination that could not take its bytes, or content that a format cannot write.
pub(crate) fn write_failed(destination: &Path, error: io::Error) -> RunError {
    if let Some(fault) = WriteFault::of(&error) {
        let message = format!("{}: column `{}`: {}", destination.display(), fault.column, fault.reason);
        return RunError::coded(exit::INFRASTRUCTURE, fault.code, message)
            .help("rename the column with `mapping`, leave it out with `exclude`, or write another `encoding`");
    }
    PublishError::Io { destination: destination.to_owned(), doing: "write it", error }.into()
}

/// Makes staged files durable; how long that took is reported apart.
pub(crate) fn sync_all(files: &mut [(PathBuf, StagedFile)]) -> Result<Duration, RunError> {
    let start = Instant::now();
    for (destination, file) in files.iter_mut() {
        file.sync().map_err(|error| {
            RunError::from(PublishError::Io { destination: destination.clone(), doing: "synchronise it", error })
        })?;
    }
    Ok(start.elapsed())
}
