//! What all workers of a run share and nobody changes.

use std::path::PathBuf;
use std::sync::Arc;

use clinker_cxl::{RunContext, SourceContext};
use clinker_dlq::{Clock, ColumnMap, Layout, SOURCE_RECORD};
use clinker_events::{Level, Progress, Subscriber};
use clinker_format::BlockBound;
use clinker_memory::spill::SpillDirectory;
use clinker_memory::{Budget, Policy};
use clinker_plan::{CompiledPlan, Delivery, MergeMode, NodeId, Operator, SourcePlan, Strategy};

use crate::envelope::InputOpener;
use crate::liveness::live_columns;
use crate::{CancelToken, RunEnvelope, RunError, spill};

/// Bytes of records a block holds at most, when the budget allows.
const BLOCK_BYTES: usize = 1 << 20;
/// A block costs about this many times its bytes while it is worked on: the text, its columns, its output.
const BLOCK_COST: u64 = 6;

/// A program may build this part of the budget for one batch; a batch that needs more comes in pieces.
const BATCH_SHARE: u64 = 16;

/// For each Source, in the order of its index, the paths of its files as the file system has them: a path need not be
/// text, so it is not opened by what is shown of it.
pub(crate) type InputPaths = Arc<[Vec<PathBuf>]>;

/// The shared, immutable part of a run.
pub(crate) struct Runtime<'p> {
    pub plan: &'p CompiledPlan,
    /// Whether rows are told apart by where they come from: several may stem from one record of a Source, or a Sink
    /// gives back later what it was given.
    pub tracks_rows: bool,
    /// Whether rows of a Source may be written in another order than they are read in.
    pub reorders_rows: bool,
    /// Where state goes that leaves memory.
    pub spill: Arc<SpillDirectory>,
    pub live: Vec<Vec<bool>>,
    pub letters: Option<Letters>,
    pub strategy: Strategy,
    /// The pipeline document, as the user named it.
    pub pipeline_path: Arc<str>,
    pub context: RunContext,
    pub clock: Arc<dyn Clock>,
    pub progress: Arc<Progress>,
    pub subscriber: Arc<dyn Subscriber>,
    pub cancel: CancelToken,
    pub inputs: Arc<dyn InputOpener>,
    pub input_paths: InputPaths,
    pub budget: Arc<Budget>,
    pub threads: usize,
    /// Blocks between being cut and being applied.
    pub in_flight: usize,
    pub bound: BlockBound,
    /// Bytes that a program may build for one batch.
    pub batch_budget: usize,
    /// Records of each Source that a preview reads.
    pub record_limit: Option<u64>,
}

/// How dead letters are rendered.
pub(crate) struct Letters {
    files: Vec<LetterFormat>,
    /// For each Source the file its rows go to.
    of_source: Vec<Option<usize>>,
}

/// How the rows of one dead-letter file are rendered.
pub(crate) struct LetterFormat {
    layout: Layout,
    /// For each node where the cells of the records it receives go; none when no such row goes to this file.
    maps: Vec<Option<ColumnMap>>,
}

impl<'p> Runtime<'p> {
    pub(crate) fn new(
        plan: &'p CompiledPlan,
        envelope: &RunEnvelope,
        sources: Arc<[SourceContext]>,
        input_paths: InputPaths,
    ) -> Result<Self, RunError> {
        let writes_letters = plan.failures.strategy == Strategy::Continue && envelope.preview.is_none();
        let letters = if writes_letters { Letters::new(plan)? } else { None };
        let budget = Budget::watching(plan.memory.limit, policy(plan), clinker_memory::resident_bytes);
        let reorders_rows = reorders_rows(plan);
        let (in_flight, bytes) = share(plan.memory.limit, envelope.threads);
        Ok(Self {
            plan,
            tracks_rows: reorders_rows
                || plan.nodes.iter().any(|node| matches!(&node.operator, Operator::Source(source) if source.expands)),
            reorders_rows,
            spill: spill::directory(plan, envelope),
            live: live_columns(plan, letters.is_some()),
            letters,
            strategy: plan.failures.strategy,
            pipeline_path: Arc::clone(&envelope.pipeline_path),
            context: RunContext {
                pipeline_name: Arc::clone(&plan.name),
                execution_id: Arc::clone(&envelope.execution_id),
                batch_id: Arc::clone(&envelope.batch_id),
                start_time: envelope.start_time,
                now: envelope.start_time,
                log_level: log_level(&*envelope.subscriber),
                sources,
            },
            clock: Arc::clone(&envelope.clock),
            progress: Arc::clone(&envelope.progress),
            subscriber: Arc::clone(&envelope.subscriber),
            cancel: envelope.cancel.clone(),
            inputs: Arc::clone(&envelope.inputs),
            input_paths,
            budget,
            threads: envelope.threads.max(1),
            in_flight,
            bound: BlockBound { rows: plan.batch_size, bytes },
            batch_budget: usize::try_from(plan.memory.limit / BATCH_SHARE).unwrap_or(usize::MAX),
            record_limit: envelope.preview.as_ref().map(|preview| preview.records),
        })
    }

    /// Whether spilled batches of so many columns are compressed: where nobody has said, when it pays.
    pub(crate) fn compresses(&self, columns: usize) -> bool {
        let pays = columns * 32 * self.plan.batch_size >= 4 << 10 && self.plan.batch_size >= 1024;
        self.plan.spill.compress.unwrap_or(pays)
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

/// Whether rows of a Source may be written in another order than they are read in: they are sorted or held, or written
/// beside the way to a Merge that takes turns.
fn reorders_rows(plan: &CompiledPlan) -> bool {
    plan.nodes.iter().enumerate().any(|(id, node)| match &node.operator {
        Operator::Source(source) => source.order.is_some(),
        Operator::Sink(sink) => !sink.sort.is_empty(),
        Operator::Merge(merge) => (0..node.inputs.len()).any(|at| match node.deliveries[at] {
            Delivery::Handoff => merge.mode != MergeMode::Concat && !plan.is_exclusive(id, at),
            Delivery::Held(_) => !plan.is_deferred(id, at),
        }),
        Operator::Transform(_) | Operator::Route(_) => false,
    })
}

/// Which holder spills first, as the document says.
fn policy(plan: &CompiledPlan) -> Policy {
    if plan.memory.backpressure == "both" { Policy::LargestFirst } else { Policy::Priority }
}

/// The most detailed level that the subscriber wants.
fn log_level(subscriber: &dyn Subscriber) -> Option<Level> {
    let levels = [Level::Trace, Level::Debug, Level::Info, Level::Warn, Level::Error];
    levels.into_iter().find(|level| subscriber.wants(*level))
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
    fn new(plan: &CompiledPlan) -> Result<Option<Self>, RunError> {
        if plan.dead_letters.is_empty() {
            return Ok(None);
        }
        let mut files = Vec::with_capacity(plan.dead_letters.len());
        for file in &plan.dead_letters {
            files.push(LetterFormat::new(plan, Layout::new(file), &file.sources)?);
        }
        let file_of = |name: &Arc<str>| {
            let own = plan.dead_letters.iter().position(|file| !file.fallback && file.sources.contains(name));
            own.or_else(|| plan.dead_letters.iter().position(|file| file.fallback))
        };
        let sources = plan.nodes.iter().filter(|node| matches!(node.operator, Operator::Source(_)));
        Ok(Some(Self { files, of_source: sources.map(|node| file_of(&node.name)).collect() }))
    }

    /// How a row of that Source, received by that node, is rendered; `None` when it is only counted.
    pub(crate) fn format(&self, source: u16, node: NodeId) -> Option<(&Layout, &ColumnMap)> {
        let file = &self.files[self.of_source[usize::from(source)]?];
        Some((&file.layout, file.maps[node].as_ref()?))
    }

    /// For each Source the file its rows go to.
    pub(crate) fn of_sources(&self) -> Vec<Option<usize>> {
        self.of_source.clone()
    }
}

impl LetterFormat {
    fn new(plan: &CompiledPlan, layout: Layout, sources: &[Arc<str>]) -> Result<Self, RunError> {
        let mut maps = Vec::with_capacity(plan.nodes.len());
        for (id, node) in plan.nodes.iter().enumerate() {
            if !sources_above(plan, id).iter().any(|source| sources.contains(&plan.nodes[*source].name)) {
                maps.push(None);
                continue;
            }
            let received = plan.nodes[node.input().unwrap_or(id)].schema.columns.iter().map(|(name, _)| &**name);
            let map = match &node.operator {
                Operator::Source(_) => layout.map(received.chain([SOURCE_RECORD])),
                Operator::Transform(_) | Operator::Route(_) => layout.map(received),
                Operator::Sink(sink) if sink.refuses_rows => layout.map(received),
                Operator::Sink(_) | Operator::Merge(_) => layout.map([]),
            };
            maps.push(Some(map.map_err(|column| {
                RunError::internal(format!("node `{}`: column `{column}` is not in the dead-letter header", node.name))
            })?));
        }
        Ok(Self { layout, maps })
    }
}

/// The Sources that records at a node can come from, in plan order.
pub(crate) fn sources_above(plan: &CompiledPlan, node: NodeId) -> Vec<NodeId> {
    let mut above = vec![false; plan.nodes.len()];
    above[node] = true;
    // Inputs stand before their readers in plan order.
    for id in (0..=node).rev() {
        if above[id] {
            for input in &plan.nodes[id].inputs {
                above[input.node] = true;
            }
        }
    }
    (0..=node).filter(|id| above[*id] && matches!(plan.nodes[*id].operator, Operator::Source(_))).collect()
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
