//! The sort: rows with their keys, held in memory or in sorted runs on disk, and given back in order.
//!
//! Workers make [`Keyed`] rows, in any order; a [`Sorter`] takes them in the order of the input. When it has to give
//! memory back it sorts what it holds and writes it as one run. At the end the runs are merged, at most so many at once.
//! Equal keys keep the order in which they arrived, whether or not anything was spilled: rows are compared by key, then by
//! arrival, and runs by their number.

mod merge;
mod order;
mod run;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use clinker_memory::spill::{SpillDirectory, SpillError};
use clinker_memory::{Budget, Reservation};
use clinker_plan::{SortKey, SortKeyFrom};
use clinker_record::key::{self, KeyField, Keys, Unordered};
use clinker_record::stored::LevelTable;
use clinker_record::{Batch, Column, SchemaRef};

use crate::RunError;
use crate::error::exit;

use merge::Merge;
use order::{Place, order};
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

/// Rows that become one batch.
const CHUNK: usize = 64 << 10;
/// Bytes of the origin of a row of its own.
const ORIGIN: usize = 32;

/// Makes the columns of the key of a batch.
pub(crate) type KeyColumns = dyn Fn(&Batch) -> Vec<Column> + Send + Sync;

/// What rows are sorted by, and where they wait.
pub(crate) struct Sorting {
    pub schema: SchemaRef,
    pub fields: Vec<KeyField>,
    /// Makes the columns of the key of a batch.
    pub columns: Arc<KeyColumns>,
    pub budget: Arc<Budget>,
    pub spill: Arc<SpillDirectory>,
    /// Whose rows they are, for reports.
    pub stage: Arc<str>,
    /// Rows of a batch that is given back or stored.
    pub rows: usize,
    /// Bytes of one, about.
    pub bytes: usize,
    /// Threads that order rows.
    pub threads: usize,
    /// Whether runs are compressed.
    pub compress: bool,
}

/// Takes rows in order of arrival.
pub(crate) struct Sorter {
    sorting: Sorting,
    /// Batches of about the same size, then those that came since.
    held: Vec<Keyed>,
    joined: usize,
    /// Rows of the latter.
    loose: usize,
    memory: Reservation,
    runs: Vec<Run>,
    levels: LevelTable,
}

/// Rows in order.
pub(crate) enum Sorted {
    /// All of them are in memory: so many a batch, from that one on.
    Held { held: Arc<Held>, rows: usize, at: usize },
    /// They are on disk.
    Merged(Box<Merge>),
}

/// Rows in memory with their order.
pub(crate) struct Held {
    schema: SchemaRef,
    batches: Vec<Batch>,
    order: Vec<Place>,
    _memory: Reservation,
}

impl Sorter {
    pub(crate) fn new(sorting: Sorting, holder: &'static str, priority: u8) -> Self {
        let memory = sorting.budget.reserve_spillable(holder, priority);
        Self { sorting, held: Vec::new(), joined: 0, loose: 0, memory, runs: Vec::new(), levels: LevelTable::default() }
    }

    /// Takes rows. Memory is given back when the budget asks for it.
    pub(crate) fn push(&mut self, keyed: Keyed) -> Result<(), SpillError> {
        if keyed.batch.rows == 0 {
            return Ok(());
        }
        self.memory.resize(self.memory.bytes() + keyed.bytes() as u64);
        self.loose += keyed.batch.rows;
        self.held.push(keyed);
        if self.loose >= CHUNK {
            self.join();
        }
        self.relieve()
    }

    /// Gives memory back when the budget asks for it.
    pub(crate) fn relieve(&mut self) -> Result<(), SpillError> {
        if self.memory.is_asked_to_spill() { self.spill() } else { Ok(()) }
    }

    /// Makes one batch of those that came since the last time: rows are picked faster from a few large batches.
    fn join(&mut self) {
        let loose = self.held.split_off(self.joined);
        if let [_, _, ..] = &loose[..] {
            let mut keys = Keys::default();
            loose.iter().for_each(|keyed| keys.append(&keyed.keys));
            let batches: Vec<Batch> = loose.into_iter().map(|keyed| keyed.batch).collect();
            let batch = Batch::concat(Arc::clone(&self.sorting.schema), &batches).compact();
            self.held.push(Keyed { batch, keys });
        } else {
            self.held.extend(loose);
        }
        (self.joined, self.loose) = (self.held.len(), 0);
        self.memory.resize(self.held.iter().map(|keyed| keyed.bytes() as u64).sum());
    }

    /// Writes what is held as a sorted run.
    fn spill(&mut self) -> Result<(), SpillError> {
        self.join();
        let order = order(&self.held, self.sorting.threads);
        let mut writer = RunWriter::new(&self.sorting)?;
        let batches: Vec<Batch> = std::mem::take(&mut self.held).into_iter().map(|keyed| keyed.batch).collect();
        let rows = self.sorting.rows_of(&batches);
        for part in order.chunks(rows) {
            writer.write(&gathered(&self.sorting.schema, &batches, part), &mut self.levels)?;
        }
        self.runs.push(writer.finish()?);
        drop(batches);
        self.joined = 0;
        self.memory.resize(0);
        Ok(())
    }

    /// All rows in order.
    pub(crate) fn finish(mut self) -> Result<Sorted, SpillError> {
        if self.runs.is_empty() {
            self.join();
            let order = order(&self.held, self.sorting.threads);
            let batches = self.held.into_iter().map(|keyed| keyed.batch).collect();
            let rows = self.sorting.rows.max(1);
            let held = Held { schema: self.sorting.schema, batches, order, _memory: self.memory };
            return Ok(Sorted::Held { held: Arc::new(held), rows, at: 0 });
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

/// Rows that come next. What of it can be done by any worker is left to [`Part::rows`].
pub(crate) enum Part {
    Ready(Batch),
    Held(Arc<Held>, Range<usize>),
}

impl Part {
    /// Ordinal of the last row among all rows of its Source.
    pub(crate) fn last_ordinal(&self) -> u64 {
        let ordinal = |batch: &Batch, row: usize| {
            let (run, distance) = batch.origin.locate(row);
            run.ordinal + distance
        };
        match self {
            Part::Ready(batch) => batch.rows.checked_sub(1).map_or(0, |last| ordinal(batch, last)),
            Part::Held(held, places) => {
                let place = &held.order[places.end - 1];
                ordinal(&held.batches[place.batch as usize], place.row as usize)
            }
        }
    }

    /// The rows.
    pub(crate) fn rows(self) -> Batch {
        match self {
            Part::Ready(batch) => batch,
            Part::Held(held, places) => gathered(&held.schema, &held.batches, &held.order[places]),
        }
    }
}

impl Sorted {
    /// The next rows.
    pub(crate) fn next(&mut self) -> Result<Option<Part>, SpillError> {
        match self {
            Sorted::Merged(merge) => Ok(merge.next()?.map(Part::Ready)),
            Sorted::Held { held, rows, at } => {
                let places = *at..(*at + *rows).min(held.order.len());
                *at = places.end;
                Ok((!places.is_empty()).then(|| Part::Held(Arc::clone(held), places)))
            }
        }
    }
}

/// The columns of a key.
pub(crate) fn key_columns(keys: &[SortKey], batch: &Batch) -> Vec<Column> {
    let column = |key: &SortKey| match &key.from {
        SortKeyFrom::Column(at) => batch.columns[*at].clone(),
        SortKeyFrom::Widened(name) => {
            let field = batch.widened.field(name);
            field.map_or(Column::Null(batch.rows), |field| field.column.clone())
        }
    };
    keys.iter().map(column).collect()
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
