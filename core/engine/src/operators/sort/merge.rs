//! The merge of sorted runs, in passes when there are many.

use std::cmp::Ordering;
use std::sync::Arc;

use clinker_memory::Reservation;
use clinker_memory::spill::SpillError;
use clinker_record::Batch;
use clinker_record::stored::LevelTable;

use super::run::{Run, RunReader, RunWriter};
use super::{FAN_IN, Keyed, Sorting};

/// Rows of several runs in their common order.
pub(crate) struct Merge {
    sorting: Sorting,
    levels: LevelTable,
    heads: Vec<Head>,
    /// Positions of `heads`, as a heap: the run with the smallest next row first.
    heap: Vec<usize>,
    memory: Reservation,
}

/// A run with the batch whose rows are next.
struct Head {
    reader: RunReader,
    current: Keyed,
    row: usize,
    /// Bytes of a row of the current batch, about.
    row_bytes: usize,
}

impl Head {
    fn new(reader: RunReader, current: Keyed) -> Self {
        let row_bytes = row_bytes(&current.batch);
        Self { reader, current, row: 0, row_bytes }
    }

    fn key(&self) -> &[u8] {
        self.current.keys.key(self.row)
    }
}

impl Merge {
    /// Prepares the merge. While there are too many runs, neighbours become one: equal keys keep their order.
    pub(super) fn new(
        mut sorting: Sorting,
        mut runs: Vec<Run>,
        mut levels: LevelTable,
        mut memory: Reservation,
    ) -> Result<Self, SpillError> {
        let fan_in = fan_in(&sorting);
        while runs.len() > fan_in {
            let excess = runs.len() - fan_in;
            // As few runs as necessary, so that the last merge is a full one; a whole pass when that is not enough.
            let size = (excess + 1).min(fan_in);
            let merges = if excess < fan_in { 1 } else { usize::MAX };
            let mut rest = runs.into_iter();
            runs = Vec::new();
            while runs.len() < merges && rest.len() >= size {
                let group: Vec<Run> = rest.by_ref().take(size).collect();
                let run;
                (run, sorting, levels, memory) = Merge::over(sorting, group, levels, memory)?.into_run()?;
                runs.push(run);
            }
            runs.extend(rest);
        }
        Merge::over(sorting, runs, levels, memory)
    }

    /// The merged rows as one run.
    fn into_run(mut self) -> Result<(Run, Sorting, LevelTable, Reservation), SpillError> {
        let mut writer = RunWriter::new(&self.sorting)?;
        let mut levels = std::mem::take(&mut self.levels);
        while let Some(batch) = self.next_with(&levels)? {
            writer.write(&batch, &mut levels)?;
        }
        Ok((writer.finish()?, self.sorting, levels, self.memory))
    }

    fn over(sorting: Sorting, runs: Vec<Run>, levels: LevelTable, memory: Reservation) -> Result<Self, SpillError> {
        let mut merge = Merge { sorting, levels, heads: Vec::new(), heap: Vec::new(), memory };
        for run in runs {
            let mut reader = RunReader::open(run, &merge.sorting)?;
            if let Some(current) = reader.next(&merge.sorting, &merge.levels)? {
                merge.heads.push(Head::new(reader, current));
            }
        }
        merge.heap = (0..merge.heads.len()).collect();
        merge.heap.sort_by(|one, other| merge.heads[*one].key().cmp(merge.heads[*other].key()).then(one.cmp(other)));
        merge.charge();
        Ok(merge)
    }

    /// One batch of each run is in memory.
    fn charge(&mut self) {
        let bytes: usize = self.heads.iter().map(|head| head.current.bytes()).sum();
        self.memory.resize(bytes as u64);
    }

    /// The next rows.
    pub(super) fn next(&mut self) -> Result<Option<Batch>, SpillError> {
        let levels = std::mem::take(&mut self.levels);
        let next = self.next_with(&levels);
        self.levels = levels;
        next
    }

    fn next_with(&mut self, levels: &LevelTable) -> Result<Option<Batch>, SpillError> {
        // Batches that rows were taken from; for each run the position of its current one.
        let mut batches: Vec<Batch> = self.heads.iter().map(|head| head.current.batch.clone()).collect();
        let mut position: Vec<usize> = (0..batches.len()).collect();
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while rows.len() < self.sorting.rows.max(1) && bytes < self.sorting.bytes {
            let Some(&first) = self.heap.first() else { break };
            let head = &mut self.heads[first];
            rows.push((position[first], head.row));
            bytes += head.row_bytes;
            head.row += 1;
            if head.row == head.current.batch.rows {
                match head.reader.next(&self.sorting, levels)? {
                    Some(next) => {
                        position[first] = batches.len();
                        batches.push(next.batch.clone());
                        head.row_bytes = row_bytes(&next.batch);
                        (head.current, head.row) = (next, 0);
                    }
                    None => {
                        self.remove_first();
                        continue;
                    }
                }
            }
            self.settle_first();
        }
        if rows.is_empty() {
            return Ok(None);
        }
        self.charge();
        let order: Vec<u32> = (0..rows.len() as u32).collect();
        Ok(Some(Batch::gather(Arc::clone(&self.sorting.schema), &batches, &rows, &order)))
    }

    fn remove_first(&mut self) {
        self.heap.swap_remove(0);
        self.settle_first();
    }

    /// The first run has moved on: it goes down to its place.
    fn settle_first(&mut self) {
        let mut at = 0;
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let mut smallest = at;
            for child in [left, right] {
                if child < self.heap.len() && self.compare(self.heap[child], self.heap[smallest]).is_lt() {
                    smallest = child;
                }
            }
            if smallest == at {
                return;
            }
            self.heap.swap(at, smallest);
            at = smallest;
        }
    }

    /// Equal keys come from the older run first.
    fn compare(&self, one: usize, other: usize) -> Ordering {
        self.heads[one].key().cmp(self.heads[other].key()).then(one.cmp(&other))
    }
}

fn row_bytes(batch: &Batch) -> usize {
    batch.memory_size() / batch.rows.max(1)
}

/// How many runs may be open at once: each holds a batch and its keys.
fn fan_in(sorting: &Sorting) -> usize {
    let room = sorting.budget.limit() / 4;
    let each = (sorting.bytes as u64).max(1) * 2;
    usize::try_from(room / each).unwrap_or(FAN_IN).clamp(2, FAN_IN)
}
