//! Breakers: a run in which too much is rejected is ended. They count in the order of dead letters, and rows that were
//! merely read ahead never count.

use std::sync::Arc;

use clinker_plan::{CompiledPlan, Node, Operator, Rate};

use crate::RunError;
use crate::block::Population;
use crate::error::exit;

/// Counts of rows read and rejected, and the ceilings on them.
pub(crate) struct Breakers {
    sources: Vec<SourceCounts>,
    rejected: u64,
    ceiling: Option<Rate>,
    type_failures: u64,
    type_error_threshold: Option<f64>,
}

struct SourceCounts {
    name: Arc<str>,
    /// Rows whose turn has come.
    read: u64,
    /// Dead-letter rows.
    rejected: u64,
    ceiling: Option<Rate>,
}

/// A ceiling that was reached.
struct Reached {
    rate: f64,
    max: f64,
    rejected: u64,
    read: u64,
}

impl Breakers {
    pub(crate) fn new(plan: &CompiledPlan) -> Self {
        let sources = plan.nodes.iter().filter(|node| matches!(node.operator, Operator::Source(_)));
        let rates = plan.failures.source_rates.iter().copied().chain(std::iter::repeat(None));
        let counts = |(node, ceiling): (&Node, Option<Rate>)| SourceCounts {
            name: Arc::clone(&node.name),
            read: 0,
            rejected: 0,
            ceiling,
        };
        Self {
            sources: sources.zip(rates).map(counts).collect(),
            rejected: 0,
            ceiling: plan.failures.max_rate,
            type_failures: 0,
            type_error_threshold: plan.failures.type_error_threshold,
        }
    }

    /// Dead-letter rows of the run.
    pub(crate) fn rejected(&self) -> u64 {
        self.rejected
    }

    /// The turn of a Source's rows has come up to that ordinal.
    pub(crate) fn reach(&mut self, source: u16, ordinal: u64) {
        let read = &mut self.sources[usize::from(source)].read;
        *read = ordinal.max(*read);
    }

    /// Counts a file that was read whole. Its declared-type failures count here, and not again when they are written.
    pub(crate) fn population(&mut self, population: &Population) -> Result<(), RunError> {
        self.reach(population.source, population.ordinal);
        self.type_failures += population.typed;
        if population.typed > 0 { self.check_types() } else { Ok(()) }
    }

    /// Counts a dead letter.
    pub(crate) fn count(&mut self, source: u16) {
        self.rejected += 1;
        self.sources[usize::from(source)].rejected += 1;
    }

    /// Whether the run ends at a dead letter that was counted and written.
    pub(crate) fn check(&mut self, source: u16, typed: bool) -> Result<(), RunError> {
        if typed {
            self.type_failures += 1;
            self.check_types()?;
        }
        let counts = &self.sources[usize::from(source)];
        if let Some(Reached { rate, max, rejected, read }) = reached(counts.ceiling, counts.rejected, counts.read) {
            let name = &counts.name;
            let text = format!(
                "source \"{name}\" DLQ rate {rate:.4} exceeds per_source.{name}.max_rate {max:.4} ({rejected}/{read} records)"
            );
            return Err(RunError::coded(exit::DATA, "E316", text).help(
                "look at what this Source delivered; raise its `max_rate` only if so many rejects are acceptable",
            ));
        }
        if let Some(Reached { rate, max, rejected, read }) = reached(self.ceiling, self.rejected, self.read()) {
            let text = format!("pipeline DLQ rate {rate:.4} exceeds max_rate {max:.4} ({rejected}/{read} records)");
            return Err(RunError::coded(exit::DATA, "E315", text).help(
                "look at the rejected rows; raise `error_handling.dlq.max_rate` only if so many are acceptable",
            ));
        }
        Ok(())
    }

    fn read(&self) -> u64 {
        self.sources.iter().map(|source| source.read).sum()
    }

    fn check_types(&self) -> Result<(), RunError> {
        let Some(threshold) = self.type_error_threshold else { return Ok(()) };
        let (failures, read) = (self.type_failures, self.read());
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

fn reached(ceiling: Option<Rate>, rejected: u64, read: u64) -> Option<Reached> {
    let ceiling = ceiling?;
    let rate = rejected as f64 / read as f64;
    let reached = read >= ceiling.min_records.max(1) && rate >= ceiling.max;
    reached.then_some(Reached { rate, max: ceiling.max, rejected, read })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breakers(pipeline: Option<Rate>, source: Option<Rate>, types: Option<f64>) -> Breakers {
        let counts = |name: &str, ceiling| SourceCounts { name: name.into(), read: 0, rejected: 0, ceiling };
        Breakers {
            sources: vec![counts("meters", source), counts("tariffs", None)],
            rejected: 0,
            ceiling: pipeline,
            type_failures: 0,
            type_error_threshold: types,
        }
    }

    fn code(result: Result<(), RunError>) -> Option<(&'static str, String)> {
        match result {
            Err(RunError::Failed { diagnostic, .. }) => Some((diagnostic.code?, diagnostic.message)),
            _ => None,
        }
    }

    fn fail(breakers: &mut Breakers, source: u16, ordinal: u64, typed: bool) -> Option<(&'static str, String)> {
        breakers.reach(source, ordinal);
        breakers.count(source);
        code(breakers.check(source, typed))
    }

    #[test]
    fn e315_the_ceiling_trips_when_it_is_reached_and_not_before_min_records() {
        let mut breakers = breakers(Some(Rate { max: 0.5, min_records: 4 }), None, None);
        assert_eq!(fail(&mut breakers, 0, 1, false), None, "one of one, but too few were read");
        assert_eq!(fail(&mut breakers, 0, 4, false).expect("two of four").0, "E315");
    }

    #[test]
    fn dlq_42_e316_is_looked_at_before_e315_and_names_the_source() {
        let rate = Rate { max: 0.25, min_records: 0 };
        let mut breakers = breakers(Some(rate), Some(rate), None);
        breakers.reach(1, 3);
        let (code, message) = fail(&mut breakers, 0, 1, false).expect("one of one");
        assert_eq!(code, "E316");
        assert_eq!(
            message,
            "source \"meters\" DLQ rate 1.0000 exceeds per_source.meters.max_rate 0.2500 (1/1 records)"
        );
    }

    #[test]
    fn dlq_43_the_type_threshold_trips_only_above_it_and_counts_typed_failures_alone() {
        let mut breakers = breakers(None, None, Some(0.5));
        assert_eq!(fail(&mut breakers, 0, 1, false), None, "no declared-type failure");
        assert_eq!(fail(&mut breakers, 0, 2, true), None, "equal to the threshold");
        assert_eq!(fail(&mut breakers, 0, 3, true).expect("two of three").0, "E368");
    }

    #[test]
    fn dlq_43_a_threshold_of_zero_trips_on_the_first_type_failure_and_one_never() {
        assert_eq!(fail(&mut breakers(None, None, Some(0.0)), 0, 1000, true).expect("one of many").0, "E368");
        assert_eq!(fail(&mut breakers(None, None, Some(1.0)), 0, 1, true), None);
    }
}
