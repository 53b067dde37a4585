//! Breakers: a run in which too much is rejected is ended. They count in the order of dead letters, and rows that were
//! merely read ahead never count.

use std::sync::Arc;

use clinker_plan::{CompiledPlan, Operator, Rate};

use crate::RunError;
use crate::error::exit;

/// Counts of rows read and rejected, and the ceilings on them.
pub(crate) struct Breakers {
    pipeline: Counts,
    sources: Vec<SourceCounts>,
    type_failures: u64,
    type_error_threshold: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Source rows of blocks that are behind us.
    read: u64,
    /// Dead-letter rows.
    rejected: u64,
    ceiling: Option<Rate>,
}

struct SourceCounts {
    name: Arc<str>,
    counts: Counts,
}

impl Breakers {
    pub(crate) fn new(plan: &CompiledPlan) -> Self {
        let sources = plan.nodes.iter().filter(|node| matches!(node.operator, Operator::Source(_)));
        let rates = plan.failures.source_rates.iter().copied().chain(std::iter::repeat(None));
        Self {
            pipeline: Counts { ceiling: plan.failures.max_rate, ..Counts::default() },
            sources: sources
                .zip(rates)
                .map(|(node, ceiling)| SourceCounts {
                    name: Arc::clone(&node.name),
                    counts: Counts { ceiling, ..Counts::default() },
                })
                .collect(),
            type_failures: 0,
            type_error_threshold: plan.failures.type_error_threshold,
        }
    }

    /// Dead-letter rows of the run.
    pub(crate) fn rejected(&self) -> u64 {
        self.pipeline.rejected
    }

    /// A block of a Source is behind us.
    pub(crate) fn read(&mut self, source: u16, rows: u64) {
        self.pipeline.read += rows;
        self.sources[usize::from(source)].counts.read += rows;
    }

    /// Counts a dead letter of a row that is the `row`-th (from 1) of the block being applied.
    pub(crate) fn count(&mut self, source: u16) {
        self.pipeline.rejected += 1;
        self.sources[usize::from(source)].counts.rejected += 1;
    }

    /// Whether the run ends at that row: after it was counted and written.
    pub(crate) fn check(&mut self, source: u16, row: u64, typed: bool) -> Result<(), RunError> {
        if typed {
            self.type_failures += 1;
            self.check_types(row)?;
        }
        let SourceCounts { name, counts } = &self.sources[usize::from(source)];
        if let Some((rate, max, rejected, read)) = counts.exceeded(row) {
            return Err(RunError::coded(
                exit::DATA,
                "E316",
                format!(
                    "source \"{name}\" DLQ rate {rate:.4} exceeds per_source.{name}.max_rate {max:.4} ({rejected}/{read} records)"
                ),
            )
            .help("look at what this Source delivered; raise its `max_rate` only if so many rejects are acceptable"));
        }
        if let Some((rate, max, rejected, read)) = self.pipeline.exceeded(row) {
            let text = format!("pipeline DLQ rate {rate:.4} exceeds max_rate {max:.4} ({rejected}/{read} records)");
            return Err(RunError::coded(exit::DATA, "E315", text).help(
                "look at the rejected rows; raise `error_handling.dlq.max_rate` only if so many are acceptable",
            ));
        }
        Ok(())
    }

    fn check_types(&self, row: u64) -> Result<(), RunError> {
        let Some(threshold) = self.type_error_threshold else { return Ok(()) };
        let (failures, read) = (self.type_failures, self.pipeline.read + row);
        let rate = failures as f64 / read as f64;
        if rate <= threshold {
            return Ok(());
        }
        let text = format!(
            "declared-type failure rate {rate:.4} exceeds type_error_threshold {threshold} ({failures}/{read} source records)"
        );
        Err(RunError::coded(exit::DATA, "E368", text).help(
            "check the schema against the data; raise `error_handling.type_error_threshold` only if that is right",
        ))
    }
}

impl Counts {
    /// Rate, ceiling, dead letters and rows read, when the ceiling is reached at the `row`-th row of a block.
    fn exceeded(&self, row: u64) -> Option<(f64, f64, u64, u64)> {
        let ceiling = self.ceiling?;
        let read = self.read + row;
        let rate = self.rejected as f64 / read as f64;
        let reached = read >= ceiling.min_records.max(1) && rate >= ceiling.max;
        reached.then_some((rate, ceiling.max, self.rejected, read))
    }
}
