//! A unit: one Source and the tree of row-wise nodes below it, run by all workers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use clinker_cxl::{RunContext, TooLarge};
use clinker_plan::{CompiledPlan, Input, MergeMode, NodeId, Operator, Port};
use clinker_record::Batch;

use crate::apply::{Applier, OpenOutput};
use crate::block::{BlockResult, Written};
use crate::error::exit;
use crate::interleave::{Piece, Puller};
use crate::operators::merge::merge;
use crate::operators::route::route;
use crate::operators::sink::SinkOperator;
use crate::operators::sort::{Part as SortedPart, Sorted, spill_failed};
use crate::operators::source::{BlockWork, Body, SourceReader, Work, admit_block};
use crate::operators::transform::transform;
use crate::runtime::{Runtime, sources_above};
use crate::sequencer::{Effects, Sequencer};
use crate::{CancelToken, RunError};

/// The nodes that the rows of one origin pass: a Source, or a Merge that takes its inputs in turns.
pub(crate) struct Unit<'u, 'p> {
    origin: NodeId,
    /// The nodes below it, in plan order.
    below: Vec<NodeId>,
    sinks: Vec<&'u SinkOperator<'p>>,
}

/// The order of effects of a run.
type Order<'a, 'u, 'p> = Sequencer<'a, BlockResult, UnitEffects<'u, 'p>>;

/// The effects of a unit: what had to wait for its turn is done, then everything is applied.
struct UnitEffects<'u, 'p> {
    runtime: &'u Runtime<'p>,
    unit: &'u Unit<'u, 'p>,
    applier: &'u mut Applier<'p>,
}

impl Effects<BlockResult> for UnitEffects<'_, '_> {
    fn apply(&mut self, mut result: BlockResult) -> Result<(), RunError> {
        if let Some(batch) = result.oversized.take() {
            self.apply_in_pieces(batch, &mut result)?;
        }
        self.settle_and_apply(result)
    }
}

impl UnitEffects<'_, '_> {
    fn settle_and_apply(&mut self, mut result: BlockResult) -> Result<(), RunError> {
        if !result.opened.is_empty() {
            // The next file begins: what was sorted for the one before it is written first.
            for node in self.applier.destinations.sinks_per_file(self.applier.current_source) {
                self.drain(node)?;
            }
        }
        self.applier.open_files(&mut result)?;
        let mut outputs = Vec::new();
        let mut settled = false;
        for mut output in std::mem::take(&mut result.outputs) {
            let sink = self.unit.sinks.iter().find(|sink| sink.node == output.node);
            if let (Some(sink), Some(batch)) = (sink, output.waiting.take()) {
                settled = true;
                if sink.writes_rows() {
                    let Some(OpenOutput::One(output)) = &mut self.applier.outputs.open[sink.node] else {
                        return Err(RunError::internal("a format without an encoder has an output in several files"));
                    };
                    outputs.extend(sink.write(self.runtime, &batch, output, &mut result)?);
                } else {
                    outputs.extend(sink.settle(self.runtime, &batch, &mut result));
                }
            } else {
                outputs.push(output);
            }
        }
        for log in std::mem::take(&mut result.logs) {
            if let Operator::Transform(plan) = &self.runtime.plan.nodes[log.node].operator {
                log.events(self.runtime, plan, &mut self.applier.logged[log.node], &mut result.events);
                settled = true;
            }
        }
        result.outputs = outputs;
        if settled {
            result.sort();
        }
        self.applier.apply_block(result)
    }

    /// Writes what a Sink has put in order.
    fn drain(&mut self, node: NodeId) -> Result<(), RunError> {
        let Some(sink) = self.unit.sinks.iter().find(|sink| sink.node == node) else { return Ok(()) };
        let next = sink.sorter(self.runtime);
        let Some(sorter) = std::mem::replace(&mut self.applier.sorters[node], next) else { return Ok(()) };
        let failed = |error| spill_failed(&self.runtime.plan.nodes[node].name, error);
        let mut sorted = sorter.finish().map_err(failed)?;
        while let Some(part) = sorted.next().map_err(failed)? {
            if self.runtime.cancel.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            self.settle_and_apply(encoded(self.runtime, sink, part))?;
        }
        Ok(())
    }

    /// Takes rows through the unit in pieces that fit, and applies each before the next one is made. What the Source
    /// itself rejected takes its place between them.
    fn apply_in_pieces(&mut self, batch: Batch, result: &mut BlockResult) -> Result<(), RunError> {
        let nodes = &self.runtime.plan.nodes;
        let opened = std::mem::take(&mut result.opened);
        self.applier.apply_block(BlockResult::new(nodes, opened))?;
        let evaluation = self.runtime.evaluation();
        let mut pieces = vec![batch];
        while let Some(piece) = pieces.pop() {
            let Some(last) = piece.rows.checked_sub(1) else { continue };
            match self.unit.flow(self.runtime, piece.clone(), &evaluation) {
                Ok(mut part) => {
                    result.hand_over(piece.origin.block_row(last), &mut part);
                    part.sort();
                    self.settle_and_apply(part)?;
                }
                Err(TooLarge) if last == 0 => return Err(RunError::internal("a single row is too large to evaluate")),
                Err(TooLarge) => {
                    let middle = (piece.rows / 2) as u32;
                    pieces.push(piece.take(&(middle..piece.rows as u32).collect::<Vec<_>>()));
                    pieces.push(piece.take(&(0..middle).collect::<Vec<_>>()));
                }
            }
        }
        Ok(())
    }
}

/// The next block and its place in the order, taken under one lock so that the two cannot differ.
struct Turn<'a> {
    reader: SourceReader<'a>,
    sequence: u64,
}

/// Runs the unit of a Source to its end.
pub(crate) fn run_source<'p>(
    runtime: &Runtime<'p>,
    source: NodeId,
    sinks: &[SinkOperator<'p>],
    applier: &mut Applier<'p>,
) -> Result<(), RunError> {
    let unit = Unit::of(runtime.plan, source, sinks);
    applier.begin_unit(source);
    let mut effects = UnitEffects { runtime, unit: &unit, applier };
    let sequencer = Sequencer::new(&mut effects, runtime.in_flight);
    let turn = Mutex::new(Turn { reader: SourceReader::new(runtime, source), sequence: 0 });
    let work = || {
        // A panic is an engine defect; it must not leave other workers waiting for a result that never comes.
        if catch_unwind(AssertUnwindSafe(|| worker(runtime, &unit, &turn, &sequencer))).is_err() {
            sequencer.end(RunError::internal(format!("a worker of `{}` panicked", runtime.plan.nodes[source].name)));
        }
    };
    on_all_threads(runtime, &work, &sequencer);
    sequencer.into_outcome()
}

/// Does the work on every thread of the run.
fn on_all_threads(runtime: &Runtime<'_>, work: &(dyn Fn() + Sync), sequencer: &Order<'_, '_, '_>) {
    if runtime.threads == 1 {
        return work();
    }
    std::thread::scope(|scope| {
        for number in 0..runtime.threads {
            let builder = std::thread::Builder::new().name(format!("worker-{number}"));
            if let Err(error) = builder.spawn_scoped(scope, work) {
                let error = RunError::uncoded(exit::INFRASTRUCTURE, format!("cannot start a thread: {error}"))
                    .help("raise the limit of threads, or run with `--threads 1`");
                sequencer.end(error);
                break;
            }
        }
    });
}

/// Runs everything at and below a Merge that takes its inputs in turns, and the nodes above it with it.
pub(crate) fn run_interleave<'p>(
    runtime: &Runtime<'p>,
    merge: NodeId,
    sinks: &[SinkOperator<'p>],
    applier: &mut Applier<'p>,
) -> Result<(), RunError> {
    applier.destinations.check_mixed(merge)?;
    let unit = Unit::of(runtime.plan, merge, sinks);
    let mut effects = UnitEffects { runtime, unit: &unit, applier };
    let mut puller = Puller::new(runtime);
    while let Some(Piece { batch, mut result }) = puller.pull(Input { node: merge, port: 0 })? {
        match unit.flow(runtime, batch.clone(), &runtime.evaluation()) {
            Ok(part) => result.absorb(part),
            Err(TooLarge) => result.oversized = Some(batch),
        }
        result.sort();
        effects.apply(result)?;
    }
    Ok(())
}

/// Writes what the Sinks have put in order, in plan order.
pub(crate) fn drain_sorted<'p>(
    runtime: &Runtime<'p>,
    sinks: &[SinkOperator<'p>],
    applier: &mut Applier<'p>,
) -> Result<(), RunError> {
    let unit = Unit { origin: 0, below: Vec::new(), sinks: sinks.iter().collect() };
    for sink in sinks {
        let Some(sorter) = applier.sorters[sink.node].take() else { continue };
        let name = &runtime.plan.nodes[sink.node].name;
        let sorted = sorter.finish().map_err(|error| spill_failed(name, error))?;
        let mut effects = UnitEffects { runtime, unit: &unit, applier };
        let sequencer = Sequencer::new(&mut effects, runtime.in_flight);
        let turn = Mutex::new((sorted, 0));
        let work = || {
            // As for the blocks of a Source: whoever waits for the result of a worker must not wait for ever.
            if catch_unwind(AssertUnwindSafe(|| drain_worker(runtime, sink, &turn, &sequencer))).is_err() {
                sequencer.end(RunError::internal(format!("a worker of `{name}` panicked")));
            }
        };
        on_all_threads(runtime, &work, &sequencer);
        sequencer.into_outcome()?;
    }
    Ok(())
}

/// Takes rows of a sort in turns and encodes them.
fn drain_worker(
    runtime: &Runtime<'_>,
    sink: &SinkOperator<'_>,
    turn: &Mutex<(Sorted, u64)>,
    sequencer: &Order<'_, '_, '_>,
) {
    loop {
        if stop_when_cancelled(&runtime.cancel, sequencer) {
            return;
        }
        let (sequence, part) = {
            let Ok(mut turn) = turn.lock() else { return };
            if !sequencer.admit(turn.1) {
                return;
            }
            match turn.0.next() {
                Ok(None) => return,
                Ok(Some(part)) => {
                    turn.1 += 1;
                    (turn.1 - 1, part)
                }
                Err(error) => {
                    sequencer.end(spill_failed(&runtime.plan.nodes[sink.node].name, error));
                    return;
                }
            }
        };
        sequencer.submit(sequence, encoded(runtime, sink, part));
    }
}

/// Rows of a sort as they go to their output.
fn encoded(runtime: &Runtime<'_>, sink: &SinkOperator<'_>, part: SortedPart) -> BlockResult {
    let batch = part.rows();
    let mut result = BlockResult::new(&runtime.plan.nodes, Vec::new());
    result.written = Written::new(&batch, 1, true);
    sink.encode_ordered(runtime, batch, &mut result);
    result.sort();
    result
}

/// What is run one after the other.
pub(crate) enum Part {
    /// A Source with everything below it.
    Source(NodeId),
    /// A Merge that takes turns, with everything above and below it.
    Interleave(NodeId),
}

/// The parts of a plan, in the order of their Sources.
pub(crate) fn parts(plan: &CompiledPlan) -> Vec<Part> {
    let takes_turns = |id: &NodeId| match &plan.nodes[*id].operator {
        Operator::Merge(merge) => matches!(merge.mode, MergeMode::Interleave { .. }),
        _ => false,
    };
    let mut parts = Vec::new();
    let mut done: Vec<NodeId> = Vec::new();
    for source in source_order(plan) {
        if done.contains(&source) {
            continue;
        }
        // The lowest such Merge below a Source pulls all that is above it.
        let mut merges = (source..plan.nodes.len()).filter(takes_turns);
        match merges.rfind(|merge| sources_above(plan, *merge).contains(&source)) {
            Some(merge) => {
                done.extend(sources_above(plan, merge));
                parts.push(Part::Interleave(merge));
            }
            None => parts.push(Part::Source(source)),
        }
    }
    parts
}

fn worker(runtime: &Runtime<'_>, unit: &Unit<'_, '_>, turn: &Mutex<Turn<'_>>, sequencer: &Order<'_, '_, '_>) {
    loop {
        if stop_when_cancelled(&runtime.cancel, sequencer) {
            return;
        }
        let (sequence, work) = {
            let Ok(mut turn) = turn.lock() else { return };
            if !sequencer.admit(turn.sequence) {
                return;
            }
            let Some(work) = turn.reader.next() else { return };
            turn.sequence += 1;
            (turn.sequence - 1, work)
        };
        let ended = !matches!(work.body, Body::Block(_));
        sequencer.submit(sequence, unit.process(runtime, work));
        if ended {
            return;
        }
    }
}

fn stop_when_cancelled(cancel: &CancelToken, sequencer: &Order<'_, '_, '_>) -> bool {
    let cancelled = cancel.is_cancelled();
    if cancelled {
        sequencer.end(RunError::Cancelled);
    }
    cancelled
}

/// The Sources in the order in which they are read: plan order, except that the inputs of a Merge come one after the
/// other, as it declares them.
fn source_order(plan: &CompiledPlan) -> Vec<NodeId> {
    let mut order = Vec::new();
    for id in 0..plan.nodes.len() {
        if matches!(plan.nodes[id].operator, Operator::Source(_)) && !order.contains(&id) {
            // The lowest Merge that this Source reaches decides for all Sources above it.
            let is_merge = |node: &NodeId| matches!(plan.nodes[*node].operator, Operator::Merge(_));
            let mut merges = (id..plan.nodes.len()).filter(is_merge);
            let last = merges.rfind(|merge| sources_above(plan, *merge).contains(&id));
            in_declared_order(plan, last.unwrap_or(id), &mut order);
        }
    }
    order
}

/// Adds the Sources above a node, following inputs as they are declared.
fn in_declared_order(plan: &CompiledPlan, node: NodeId, order: &mut Vec<NodeId>) {
    let mut stack = vec![node];
    while let Some(at) = stack.pop() {
        if plan.nodes[at].inputs.is_empty() && !order.contains(&at) {
            order.push(at);
        }
        stack.extend(plan.nodes[at].inputs.iter().rev().map(|input| input.node));
    }
}

impl<'u, 'p> Unit<'u, 'p> {
    pub(crate) fn of(plan: &'p CompiledPlan, origin: NodeId, sinks: &'u [SinkOperator<'p>]) -> Self {
        let mut member = vec![false; plan.nodes.len()];
        member[origin] = true;
        let mut unit = Unit { origin, below: Vec::new(), sinks: Vec::new() };
        for (id, node) in plan.nodes.iter().enumerate() {
            if node.inputs.iter().any(|input| member[input.node]) {
                member[id] = true;
                unit.below.push(id);
                unit.sinks.extend(sinks.iter().find(|sink| sink.node == id));
            }
        }
        unit
    }

    /// Everything one piece of work causes. Pure: called by any worker, in any order.
    fn process(&self, runtime: &Runtime<'_>, work: Work) -> BlockResult {
        let mut result = BlockResult::new(&runtime.plan.nodes, work.opened);
        result.notes = work.notes;
        match work.body {
            Body::Block(block) => self.process_block(runtime, &block, &mut result),
            Body::Fault(error) => result.fault = Some(error),
            Body::End => {}
        }
        result.sort();
        result
    }

    fn process_block(&self, runtime: &Runtime<'_>, block: &BlockWork, result: &mut BlockResult) {
        result.memory = Some(runtime.budget.reserve("block", block.block.data.len() as u64));
        let admitted = admit_block(runtime, self.origin, block, result);
        match self.flow(runtime, admitted.clone(), &runtime.evaluation()) {
            Ok(part) => result.absorb(part),
            Err(TooLarge) => result.oversized = Some(admitted),
        }
        if let Some(memory) = &mut result.memory {
            let waiting = result.outputs.iter().map(|output| output.encoded.bytes.len()).sum::<usize>();
            memory.resize((block.block.data.len() + waiting + result.letters.len()) as u64);
        }
    }

    /// Admitted rows of one block through all nodes below the Source.
    fn flow(&self, runtime: &Runtime<'_>, admitted: Batch, evaluation: &RunContext) -> Result<BlockResult, TooLarge> {
        let mut part = BlockResult::new(&runtime.plan.nodes, Vec::new());
        part.written = Written::new(&admitted, self.sinks.len(), runtime.tracks_rows);
        let mut flow = Flow::new(runtime.plan);
        flow.put(self.origin, vec![Some(admitted)]);
        for &id in &self.below {
            for (position, input) in runtime.plan.nodes[id].inputs.iter().enumerate() {
                let Some(batch) = flow.take(*input) else { continue };
                part.books.nodes[id].rows_in[position] += batch.rows as u64;
                self.step(runtime, (id, position), batch, evaluation, &mut flow, &mut part)?;
            }
        }
        Ok(part)
    }

    /// One batch through one node.
    fn step(
        &self,
        runtime: &Runtime<'_>,
        (id, position): (NodeId, usize),
        batch: Batch,
        evaluation: &RunContext,
        flow: &mut Flow,
        part: &mut BlockResult,
    ) -> Result<(), TooLarge> {
        match &runtime.plan.nodes[id].operator {
            Operator::Source(_) => {}
            Operator::Transform(plan) => {
                flow.put(id, vec![Some(transform(runtime, id, plan, &batch, evaluation, part)?)]);
            }
            Operator::Route(plan) => flow.put(id, route(runtime, id, plan, &batch, evaluation, part)?),
            Operator::Merge(plan) => {
                let merged = merge(runtime, id, plan, position, batch);
                part.books.nodes[id].rows_out[0] += merged.rows as u64;
                flow.put(id, vec![Some(merged)]);
            }
            Operator::Sink(_) => {
                if let Some(sink) = self.sinks.iter().find(|sink| sink.node == id) {
                    sink.take(runtime, batch, part);
                }
            }
        }
        Ok(())
    }
}

/// The batches of one block on their way down, by port.
struct Flow {
    ports: Vec<Vec<FlowPort>>,
}

struct FlowPort {
    batch: Option<Batch>,
    /// Readers that have not taken it yet.
    readers: usize,
}

impl Flow {
    fn new(plan: &CompiledPlan) -> Self {
        let port = |port: &Port| FlowPort { batch: None, readers: port.consumers.len() };
        Self { ports: plan.nodes.iter().map(|node| node.ports.iter().map(port).collect()).collect() }
    }

    fn put(&mut self, node: NodeId, batches: Vec<Option<Batch>>) {
        for (port, batch) in self.ports[node].iter_mut().zip(batches) {
            port.batch = batch.filter(|_| port.readers > 0);
        }
    }

    /// The batch of a port, for one of its readers. The last one takes it, so that it is gone as soon as nobody needs it.
    fn take(&mut self, input: Input) -> Option<Batch> {
        let port = &mut self.ports[input.node][input.port];
        port.readers = port.readers.saturating_sub(1);
        if port.readers == 0 { port.batch.take() } else { port.batch.clone() }
    }
}
