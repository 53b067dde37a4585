//! What all workers of a run share and nobody changes.

use std::sync::Arc;

use clinker_cxl::{RunContext, SourceContext};
use clinker_dlq::{Clock, ColumnMap, Layout, SOURCE_RECORD};
use clinker_events::Progress;
use clinker_format::BlockBound;
use clinker_memory::Budget;
use clinker_plan::{CompiledPlan, NodeId, Operator, SourcePlan, Strategy};

use crate::envelope::InputOpener;
use crate::liveness::live_columns;
use crate::{CancelToken, RunEnvelope, RunError};

/// Bytes of records a block holds at most, when the budget allows.
const BLOCK_BYTES: usize = 1 << 20;
/// A block costs about this many times its bytes while it is worked on: the text, its columns, its output.
const BLOCK_COST: u64 = 6;

/// The shared, immutable part of a run.
pub(crate) struct Runtime<'p> {
    pub plan: &'p CompiledPlan,
    pub live: Vec<Vec<bool>>,
    pub letters: Option<Letters>,
    pub strategy: Strategy,
    pub context: RunContext,
    pub clock: Arc<dyn Clock>,
    pub progress: Arc<Progress>,
    pub cancel: CancelToken,
    pub inputs: Arc<dyn InputOpener>,
    pub budget: Arc<Budget>,
    pub threads: usize,
    /// Blocks between being cut and being applied.
    pub in_flight: usize,
    pub bound: BlockBound,
    /// Records of each Source that a preview reads.
    pub record_limit: Option<u64>,
}

/// How dead letters are rendered.
pub(crate) struct Letters {
    pub layout: Layout,
    /// For each node where the cells of the records it receives go.
    pub maps: Vec<ColumnMap>,
}

impl<'p> Runtime<'p> {
    pub(crate) fn new(
        plan: &'p CompiledPlan,
        envelope: &RunEnvelope,
        sources: Arc<[SourceContext]>,
    ) -> Result<Self, RunError> {
        let writes_letters = plan.failures.strategy == Strategy::Continue && envelope.preview.is_none();
        let letters = match &plan.dead_letters {
            Some(dead_letters) if writes_letters => Some(Letters::new(plan, Layout::new(dead_letters))?),
            _ => None,
        };
        let budget = Budget::new(plan.memory.limit);
        let (in_flight, bytes) = share(plan.memory.limit, envelope.threads);
        Ok(Self {
            plan,
            live: live_columns(plan, letters.is_some()),
            letters,
            strategy: plan.failures.strategy,
            context: RunContext {
                pipeline_name: Arc::clone(&plan.name),
                execution_id: Arc::clone(&envelope.execution_id),
                batch_id: Arc::clone(&envelope.batch_id),
                start_time: envelope.start_time,
                now: envelope.start_time,
                sources,
            },
            clock: Arc::clone(&envelope.clock),
            progress: Arc::clone(&envelope.progress),
            cancel: envelope.cancel.clone(),
            inputs: Arc::clone(&envelope.inputs),
            budget,
            threads: envelope.threads.max(1),
            in_flight,
            bound: BlockBound { rows: plan.batch_size, bytes },
            record_limit: envelope.preview.as_ref().map(|preview| preview.records),
        })
    }

    /// The context of the evaluations of one block: `now` is sampled here.
    pub(crate) fn evaluation(&self) -> RunContext {
        RunContext { now: self.clock.now(), ..self.context.clone() }
    }

    /// The Source with that index.
    pub(crate) fn source(&self, node: NodeId) -> &'p SourcePlan {
        match &self.plan.nodes[node].operator {
            Operator::Source(source) => source,
            _ => unreachable!("units start at Sources"),
        }
    }
}

/// How many blocks may be in flight, and how many bytes each may have. A small budget gets fewer and smaller ones,
/// which changes speed and nothing else.
fn share(limit: u64, threads: usize) -> (usize, usize) {
    let wanted = 2 * threads.max(1) as u64;
    let room = limit / 4;
    let bytes = (room / (wanted * BLOCK_COST)).clamp(64 << 10, BLOCK_BYTES as u64);
    let blocks = (room / (bytes * BLOCK_COST)).clamp(1, wanted);
    (blocks as usize, bytes as usize)
}

impl Letters {
    fn new(plan: &CompiledPlan, layout: Layout) -> Result<Self, RunError> {
        let mut maps = Vec::with_capacity(plan.nodes.len());
        for (id, node) in plan.nodes.iter().enumerate() {
            let received = plan.nodes[node.input.unwrap_or(id)].schema.columns.iter().map(|(name, _)| &**name);
            let map = match &node.operator {
                Operator::Source(_) => layout.map(received.chain([SOURCE_RECORD])),
                Operator::Transform(_) => layout.map(received),
                Operator::Sink(sink) if sink.refuses_rows => layout.map(received),
                Operator::Sink(_) => layout.map([]),
            };
            maps.push(map.map_err(|column| {
                RunError::internal(format!("node `{}`: column `{column}` is not in the dead-letter header", node.name))
            })?);
        }
        Ok(Self { layout, maps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eng_30_at_most_two_blocks_a_thread_and_fewer_under_a_small_budget() {
        assert_eq!(share(512 << 20, 2), (4, BLOCK_BYTES));
        let (blocks, bytes) = share(16 << 20, 2);
        assert!(blocks <= 4 && (blocks as u64) * (bytes as u64) * BLOCK_COST <= (16 << 20) / 4);
        assert_eq!(share(1 << 20, 8).0, 1, "one block is always allowed");
    }
}
