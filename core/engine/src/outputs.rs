//! Where the bytes of Sinks and dead letters go: staged files of the attempt, or a preview.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clinker_format::input::{Compression, open_stream};
use clinker_format::output::OutputStream;
use clinker_format::{ColumnRun, ColumnSet, Encoded, WriteFactory, WriteFault, Writer};
use clinker_plan::{SinkPlan, WidenedColumns};
use clinker_publish::{Attempt, PublishError, StagedFile};

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
    stream: Counted<OutputStream<Target>>,
    writer: Box<dyn Writer>,
    factory: Arc<dyn WriteFactory>,
    compression: Compression,
    /// Whether it begins with the names of its columns, if its format writes them.
    header: bool,
    records: u64,
    /// The columns so far; none before the preamble was written.
    names: Option<Arc<[Arc<str>]>>,
    /// Which records were written with how many of them, for outputs whose columns can grow.
    runs: Vec<ColumnRun>,
}

impl Output {
    /// Starts an output. Where the column set is known its preamble is written at once, also if no row follows.
    pub(crate) fn begin(plan: &SinkPlan, destination: PathBuf, target: Target, header: bool) -> Result<Self, RunError> {
        let failed = |error| write_failed(&destination, error);
        // A preview is for reading, and the outputs of several Sinks stand in it one after the other.
        let compression = match target {
            Target::Memory(_) => Compression::None,
            Target::Staged(_) => plan.compression,
        };
        let stream = Counted { inner: OutputStream::new(target, compression).map_err(failed)?, bytes: 0 };
        let mut output = Self {
            destination: destination.clone(),
            stream,
            writer: if header { plan.writer.writer() } else { plan.writer.writer_without_header() },
            factory: Arc::clone(&plan.writer),
            compression,
            header,
            records: 0,
            names: None,
            runs: Vec::new(),
        };
        if plan.projection.widened == WidenedColumns::None {
            output.columns(plan.projection.columns.iter().map(|column| Arc::clone(&column.name)).collect())?;
        }
        Ok(output)
    }

    fn columns(&mut self, names: Arc<[Arc<str>]>) -> Result<(), RunError> {
        let written = self.writer.columns(&names, &mut self.stream);
        self.names = Some(names);
        written.map_err(|error| write_failed(&self.destination, error))
    }

    /// The writer, for rows with these columns: it has been told of columns before.
    pub(crate) fn writer_for(&mut self, names: &Arc<[Arc<str>]>) -> Result<&mut dyn Writer, RunError> {
        if self.names.is_none() {
            self.columns(Arc::clone(names))?;
        }
        Ok(&mut *self.writer)
    }

    /// Writes encoded records.
    pub(crate) fn records(&mut self, names: &Arc<[Arc<str>]>, encoded: &Encoded) -> Result<(), RunError> {
        if encoded.ends.is_empty() {
            return Ok(());
        }
        match &self.names {
            None => self.columns(Arc::clone(names))?,
            // Only a shared set of columns grows, and then at its end.
            Some(known) if names.len() > known.len() => self.names = Some(Arc::clone(names)),
            Some(_) => {}
        }
        self.records += encoded.ends.len() as u64;
        if self.factory.column_set() == ColumnSet::Union {
            self.note_run(encoded.ends.len() as u64, names.len());
        }
        self.writer.records(encoded, &mut self.stream).map_err(|error| write_failed(&self.destination, error))
    }

    fn note_run(&mut self, records: u64, columns: usize) {
        match self.runs.last_mut() {
            Some(run) if run.columns == columns => run.records += records,
            _ => self.runs.push(ColumnRun { records, columns }),
        }
    }

    /// Bytes written so far, before compression.
    pub(crate) fn bytes(&self) -> u64 {
        self.stream.bytes
    }

    /// Closes the framing.
    pub(crate) fn close(mut self) -> Result<Closed, RunError> {
        let failed = |error| write_failed(&self.destination, error);
        if self.names.is_some() {
            self.writer.finish(&mut self.stream).map_err(failed)?;
        }
        let bytes = self.stream.bytes;
        let target = self.stream.inner.finish().map_err(failed)?;
        Ok(Closed {
            destination: self.destination,
            target: Some(target),
            factory: self.factory,
            compression: self.compression,
            header: self.header,
            records: self.records,
            bytes,
            columns: self.names.map_or(0, |names| names.len()),
            runs: self.runs,
        })
    }
}

/// An output whose framing is closed.
pub(crate) struct Closed {
    destination: PathBuf,
    /// None once a staged file was made durable and its handle given back.
    target: Option<Target>,
    factory: Arc<dyn WriteFactory>,
    compression: Compression,
    header: bool,
    records: u64,
    bytes: u64,
    /// Columns of its preamble.
    columns: usize,
    runs: Vec<ColumnRun>,
}

impl Closed {
    fn into_complete(self) -> Complete {
        Complete { destination: self.destination, target: self.target, records: self.records, bytes: self.bytes }
    }

    /// Makes a staged file durable and gives its handle back.
    pub(crate) fn settle(&mut self) -> Result<(), RunError> {
        if let Some(Target::Staged(file)) = &mut self.target {
            file.sync().map_err(|error| sync_failed(&self.destination, error))?;
            self.target = None;
        }
        Ok(())
    }

    /// Fills the records up to the columns `names`, where they have fewer.
    pub(crate) fn complete(self, names: &[Arc<str>], attempt: &mut Attempt) -> Result<Complete, RunError> {
        let failed = |error| write_failed(&self.destination, error);
        let is_complete = self.columns == names.len() && self.runs.iter().all(|run| run.columns == names.len());
        if is_complete || self.runs.is_empty() || self.factory.column_set() == ColumnSet::EachRecord {
            return Ok(self.into_complete());
        }
        let target = match &self.target {
            Some(Target::Memory(bytes)) => {
                let mut written: &[u8] = bytes;
                let mut complete = Vec::new();
                self.factory.complete(&mut written, &self.runs, names, self.header, &mut complete).map_err(failed)?;
                Target::Memory(complete)
            }
            _ => {
                let (former, wide) = attempt.restage(&self.destination)?;
                let stored = former.open().map_err(failed)?;
                let mut written = open_stream(stored, self.compression).map_err(|_| failed(unreadable()))?;
                let mut out = OutputStream::new(Target::Staged(wide), self.compression).map_err(failed)?;
                self.factory.complete(&mut *written, &self.runs, names, self.header, &mut out).map_err(failed)?;
                out.finish().map_err(failed)?
            }
        };
        Ok(Complete { target: Some(target), ..self.into_complete() })
    }
}

/// A file of a Sink that is complete.
pub(crate) struct Complete {
    pub destination: PathBuf,
    /// None once a staged file was made durable and its handle given back.
    pub target: Option<Target>,
    pub records: u64,
    /// Bytes before compression.
    pub bytes: u64,
}

/// Counts the bytes that pass.
struct Counted<W> {
    inner: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// What was staged cannot be read back as it was written.
fn unreadable() -> io::Error {
    io::Error::other("what was staged cannot be read back")
}

/// A destination that could not take its bytes, or content that a format cannot write.
pub(crate) fn write_failed(destination: &Path, error: io::Error) -> RunError {
    if let Some(fault) = WriteFault::of(&error) {
        if fault.code == "E468" {
            return RunError::contract(&format!("{}: {}", destination.display(), fault.reason));
        }
        let message = format!("{}: column `{}`: {}", destination.display(), fault.column, fault.reason);
        return RunError::coded(exit::INFRASTRUCTURE, fault.code, message)
            .help("rename the column with `mapping`, leave it out with `exclude`, or write another `encoding`");
    }
    PublishError::Io { destination: destination.to_owned(), doing: "write it", error }.into()
}

fn sync_failed(destination: &Path, error: io::Error) -> RunError {
    PublishError::Io { destination: destination.to_owned(), doing: "synchronise it", error }.into()
}

/// Makes staged files durable; how long that took is reported apart.
pub(crate) fn sync_all(files: &mut [(PathBuf, StagedFile)]) -> Result<Duration, RunError> {
    let start = Instant::now();
    for (destination, file) in files.iter_mut() {
        file.sync().map_err(|error| sync_failed(destination, error))?;
    }
    Ok(start.elapsed())
}
