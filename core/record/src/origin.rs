//! Where the rows of a batch come from.

use std::sync::Arc;

use crate::{Level, LevelRun};

/// A run of consecutive body rows of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginRun {
    /// Position of its first row among the rows of the block that was read.
    pub start: u32,
    /// Index of the Source in the plan's sources.
    pub source: u16,
    /// Index of the file in that Source's file list.
    pub file: u32,
    /// 1-based row number in the file of the first row.
    pub row: u64,
    /// 1-based ordinal over all files of the Source of the first row.
    pub ordinal: u64,
}

/// The origin of each row of a batch: runs over the block that was read, and, once rows were removed, which rows of
/// the block are still here.
#[derive(Clone, Debug)]
pub struct Origin {
    runs: Arc<[OriginRun]>,
    index: Option<Arc<[u32]>>,
    /// The levels around the rows of the block, where its format has any.
    levels: Option<Arc<[LevelRun]>>,
}

impl Origin {
    /// Rows of a block as they were read.
    pub fn block(runs: Arc<[OriginRun]>) -> Self {
        Self { runs, index: None, levels: None }
    }

    /// Rows that come from no file.
    pub fn none() -> Self {
        Self::block(Arc::from([]))
    }

    /// The same rows, inside these levels. The runs count block positions, in order.
    #[must_use]
    pub fn inside(self, levels: Arc<[LevelRun]>) -> Self {
        Self { levels: Some(levels), ..self }
    }

    /// The innermost level around a row; none where the format has no levels.
    pub fn level(&self, row: usize) -> Option<&Arc<Level>> {
        self.level_at(self.block_row(row))
    }

    /// The innermost level around a row of the block.
    pub fn level_at(&self, at: u32) -> Option<&Arc<Level>> {
        let runs = self.levels.as_ref()?;
        let after = runs.partition_point(|run| run.start <= at);
        runs[after.checked_sub(1)?].level.as_ref()
    }

    /// The levels around the rows of the block; none where the format has no levels.
    pub fn levels(&self) -> Option<&Arc<[LevelRun]>> {
        self.levels.as_ref()
    }

    /// The block position of a batch row.
    pub fn block_row(&self, row: usize) -> u32 {
        self.index.as_ref().map_or(row as u32, |index| index[row])
    }

    /// Keeps only the given rows of this batch, in the given order.
    #[must_use]
    pub fn take(&self, rows: &[u32]) -> Self {
        let index = match &self.index {
            None => rows.into(),
            Some(index) => rows.iter().map(|row| index[*row as usize]).collect(),
        };
        Self { runs: Arc::clone(&self.runs), index: Some(index), levels: self.levels.clone() }
    }

    /// The run that a batch row belongs to, and its distance from the run's first row.
    pub fn locate(&self, row: usize) -> (&OriginRun, u64) {
        self.at(self.block_row(row))
    }

    /// The run that a row of the block belongs to, and its distance from the run's first row.
    pub fn at(&self, at: u32) -> (&OriginRun, u64) {
        // Rows that were put together have a run each: then it stands at its own position.
        if let Some(run) = self.runs.get(at as usize).filter(|run| run.start == at) {
            return (run, 0);
        }
        let run = match self.runs.binary_search_by(|run| run.start.cmp(&at)) {
            Ok(found) => &self.runs[found],
            Err(after) => &self.runs[after.max(1) - 1],
        };
        (run, u64::from(at - run.start))
    }

    /// 1-based row number in its file.
    pub fn row_in_file(&self, row: usize) -> u64 {
        let (run, distance) = self.locate(row);
        run.row + distance
    }

    /// The runs of the block.
    pub fn runs(&self) -> &[OriginRun] {
        &self.runs
    }
}
