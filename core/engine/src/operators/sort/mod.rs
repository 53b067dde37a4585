//! The sort: rows with their keys, held in memory or in sorted runs on disk, and given back in order.
//!
//! Workers make [`Keyed`] rows, in any order; a [`Sorter`] takes them in the order of the input. When it has to give
//! memory back it sorts what it holds and writes it as one run. At the end the runs are merged, at most so many at once.
//! Equal keys keep the order in which they arrived, whether or not anything was spilled: rows are compared by key, then by
//! arrival, and runs by their number.

mod merge;
mod run;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use clinker_memory::spill::{SpillDirectory, SpillError};
use clinker_memory::{Budget, Reservation};
use clinker_record::key::{self, KeyField, Keys, Unordered};
use clinker_record::stored::LevelTable;
use clinker_record::{Batch, Column, SchemaRef};

use crate::RunError;
use crate::error::exit;

use merge::Merge;
use run::{Run, RunWriter};

/// Most runs that are merged at once.
pub(crate) const FAN_IN: usize = 64;
/// Bytes that the order of a held row takes.
const ORDER: usize = size_of::<Place>();

/// Rows of one batch with their keys.
pub(crate) struct Keyed {
    pub batch: Batch,
    pub keys: Keys,
}

impl Keyed {
    /// Rows with the keys of these columns.
    ///
    /// # Errors
    /// The first value that has no order.
    pub(crate) fn new(batch: Batch, fields: &[KeyField], columns: &[Column]) -> Result<Self, Unordered> {
        Self::of_own(batch.compact(), fields, columns)
    }

    /// As [`Keyed::new`], for rows whose text is their own already.
    fn of_own(batch: Batch, fields: &[KeyField], columns: &[Column]) -> Result<Self, Unordered> {
        let keys = key::encode(fields, &columns.iter().collect::<Vec<_>>(), batch.rows)?;
        Ok(Self { batch, keys })
    }

    fn bytes(&self) -> usize {
        self.batch.memory_size() + self.keys.memory_size() + self.batch.rows * (ORIGIN + ORDER)
    }
}

/// Bytes of the origin of a row of its own.
const ORIGIN: usize = 32;

/// What rows are sorted by, and where they wait.
pub(crate) struct Sorting {
    pub schema: SchemaRef,
    pub fields: Vec<KeyField>,
    /// Makes the columns of the key of a batch.
    pub columns: Arc<dyn Fn(&Batch) -> Vec<Column> + Send + Sync>,
    pub budget: Arc<Budget>,
    pub spill: Arc<SpillDirectory>,
    /// Rows of a batch that is given back or stored.
    pub rows: usize,
    /// Bytes of one, about.
    pub bytes: usize,
    /// Whether runs are compressed.
    pub compress: bool,
}

/// A row by the beginning of its key, its batch and its row there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    prefix: u64,
    batch: u32,
    row: u32,
}

/// Takes rows in order of arrival.
pub(crate) struct Sorter {
    sorting: Sorting,
    held: Vec<Keyed>,
    rows: usize,
    memory: Reservation,
    runs: Vec<Run>,
    levels: LevelTable,
}

/// Rows in order.
pub(crate) enum Sorted {
    /// All of them are in memory.
    Held(Box<Held>),
    /// They are on disk.
    Merged(Box<Merge>),
}

/// Rows in memory with their order.
pub(crate) struct Held {
    sorting: Sorting,
    batches: Vec<Batch>,
    order: Vec<Place>,
    at: usize,
    _memory: Reservation,
}

impl Sorter {
    pub(crate) fn new(sorting: Sorting, holder: &'static str) -> Self {
        let memory = sorting.budget.reserve_spillable(holder);
        Self { sorting, held: Vec::new(), rows: 0, memory, runs: Vec::new(), levels: LevelTable::default() }
    }

    /// Takes rows. Memory is given back when the budget asks for it.
    pub(crate) fn push(&mut self, keyed: Keyed) -> Result<(), SpillError> {
        if keyed.batch.rows == 0 {
            return Ok(());
        }
        self.rows += keyed.batch.rows;
        self.memory.resize(self.memory.bytes() + keyed.bytes() as u64);
        self.held.push(keyed);
        if self.memory.is_asked_to_spill() { self.spill() } else { Ok(()) }
    }

    /// Writes what is held as a sorted run.
    fn spill(&mut self) -> Result<(), SpillError> {
        let order = order(&self.held);
        let mut writer = RunWriter::new(&self.sorting)?;
        let batches: Vec<Batch> = std::mem::take(&mut self.held).into_iter().map(|keyed| keyed.batch).collect();
        let rows = self.sorting.rows_of(&batches);
        for part in order.chunks(rows) {
            writer.write(&gathered(&self.sorting.schema, &batches, part), &mut self.levels)?;
        }
        self.runs.push(writer.finish()?);
        drop(batches);
        self.rows = 0;
        self.memory.resize(0);
        Ok(())
    }

    /// All rows in order.
    pub(crate) fn finish(mut self) -> Result<Sorted, SpillError> {
        if self.runs.is_empty() {
            let order = order(&self.held);
            let batches = self.held.into_iter().map(|keyed| keyed.batch).collect();
            let held = Held { sorting: self.sorting, batches, order, at: 0, _memory: self.memory };
            return Ok(Sorted::Held(Box::new(held)));
        }
        if !self.held.is_empty() {
            self.spill()?;
        }
        let merge = Merge::new(self.sorting, self.runs, self.levels, self.memory)?;
        Ok(Sorted::Merged(Box::new(merge)))
    }
}

impl Sorting {
    /// How many rows of such batches make a batch.
    fn rows_of(&self, batches: &[Batch]) -> usize {
        let (rows, bytes) =
            batches.iter().fold((0, 0), |(rows, bytes), batch| (rows + batch.rows, bytes + batch.memory_size()));
        let fit = self.bytes * rows / bytes.max(1);
        fit.clamp(1, self.rows.max(1))
    }
}

impl Sorted {
    /// The next rows.
    pub(crate) fn next(&mut self) -> Result<Option<Batch>, SpillError> {
        match self {
            Sorted::Held(held) => Ok(held.next()),
            Sorted::Merged(merge) => merge.next(),
        }
    }
}

impl Held {
    fn next(&mut self) -> Option<Batch> {
        let end = (self.at + self.sorting.rows.max(1)).min(self.order.len());
        if self.at == end {
            return None;
        }
        let batch = gathered(&self.sorting.schema, &self.batches, &self.order[self.at..end]);
        self.at = end;
        Some(batch)
    }
}

/// The rows of these places as a batch. Only the batches that are needed take part: rows that are near to each other
/// often stem from a few.
fn gathered(schema: &SchemaRef, batches: &[Batch], places: &[Place]) -> Batch {
    let mut used: Vec<u32> = places.iter().map(|place| place.batch).collect();
    used.sort_unstable();
    used.dedup();
    let own: Vec<Batch> = used.iter().map(|batch| batches[*batch as usize].clone()).collect();
    let mut position = vec![0; batches.len()];
    used.iter().enumerate().for_each(|(at, batch)| position[*batch as usize] = at);
    let rows: Vec<(usize, usize)> =
        places.iter().map(|place| (position[place.batch as usize], place.row as usize)).collect();
    let order: Vec<u32> = (0..places.len() as u32).collect();
    Batch::gather(Arc::clone(schema), &own, &rows, &order)
}

/// The order of rows: by key, then by arrival.
fn order(held: &[Keyed]) -> Vec<Place> {
    let mut order = Vec::with_capacity(held.iter().map(|keyed| keyed.batch.rows).sum());
    for (batch, keyed) in held.iter().enumerate() {
        let place = |row: usize| Place { prefix: keyed.keys.prefix(row), batch: batch as u32, row: row as u32 };
        order.extend((0..keyed.batch.rows).map(place));
    }
    let key = |place: &Place| held[place.batch as usize].keys.key(place.row as usize);
    order.sort_unstable_by(|one, other| {
        let by_prefix = one.prefix.cmp(&other.prefix);
        by_prefix
            .then_with(|| key(one).cmp(key(other)))
            .then_with(|| (one.batch, one.row).cmp(&(other.batch, other.row)))
    });
    order
}

/// What a failure of spilled state means for the run.
pub(crate) fn spill_failed(node: &str, error: SpillError) -> RunError {
    let message = format!("node `{node}`: {error}");
    match error.code() {
        Some("E320") => RunError::coded(exit::INFRASTRUCTURE, "E320", message)
            .help("raise `storage.spill.disk_cap_bytes`, or the memory limit; nothing was published"),
        Some("E321") => RunError::coded(exit::INFRASTRUCTURE, "E321", message)
            .help("free space, or name a larger volume with `storage.spill.dir`; nothing was published"),
        _ => RunError::uncoded(exit::INFRASTRUCTURE, message).help("run again; nothing was published"),
    }
}
