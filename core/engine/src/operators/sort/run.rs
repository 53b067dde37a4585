//! Sorted runs on disk.

use clinker_memory::spill::{SpillError, SpillFile, SpillReader, SpillWriter};
use clinker_record::stored::{self, LevelTable};
use clinker_record::{Batch, SchemaRef};

use super::{Keyed, Sorting};

/// A sorted run.
pub(super) struct Run {
    file: SpillFile,
}

/// A run that is written.
pub(super) struct RunWriter {
    writer: SpillWriter,
    bytes: Vec<u8>,
}

impl RunWriter {
    pub(super) fn new(sorting: &Sorting) -> Result<Self, SpillError> {
        Ok(Self { writer: sorting.spill.create(&sorting.stage, sorting.compress)?, bytes: Vec::new() })
    }

    /// Appends rows, which follow all rows before them.
    pub(super) fn write(&mut self, batch: &Batch, levels: &mut LevelTable) -> Result<(), SpillError> {
        self.bytes.clear();
        stored::store(&batch.clone().compact(), levels, &mut self.bytes)
            .map_err(|error| self.writer.corrupt(&error.to_string()))?;
        self.writer.frame(&self.bytes)
    }

    pub(super) fn finish(self) -> Result<Run, SpillError> {
        Ok(Run { file: self.writer.finish()? })
    }
}

/// A run that is read, batch by batch.
pub(super) struct RunReader {
    reader: SpillReader,
    schema: SchemaRef,
    bytes: Vec<u8>,
    /// The file disappears when its reader does.
    _run: Run,
}

impl RunReader {
    pub(super) fn open(run: Run, sorting: &Sorting) -> Result<Self, SpillError> {
        let reader = run.file.open()?;
        Ok(Self { reader, schema: SchemaRef::clone(&sorting.schema), bytes: Vec::new(), _run: run })
    }

    /// The next rows with their keys.
    pub(super) fn next(&mut self, sorting: &Sorting, levels: &LevelTable) -> Result<Option<Keyed>, SpillError> {
        if !self.reader.frame(&mut self.bytes)? {
            return Ok(None);
        }
        let restored = stored::restore(&self.schema, levels, &self.bytes);
        let batch = restored.map_err(|error| self.reader.corrupt(&error.to_string()))?;
        let columns = (sorting.columns)(&batch);
        let keyed = Keyed::of_own(batch, &sorting.fields, &columns);
        keyed.map(Some).map_err(|_| self.reader.corrupt("a value has lost its order"))
    }
}
