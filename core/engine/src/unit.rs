//! A unit: one Source and the tree of row-wise nodes below it, run by all workers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use clinker_plan::{CompiledPlan, NodeId, Operator};
use clinker_record::Batch;

use crate::apply::Applier;
use crate::block::BlockResult;
use crate::error::exit;
use crate::operators::sink::SinkOperator;
use crate::operators::source::{BlockWork, Body, SourceReader, Work, admit_block};
use crate::operators::transform::transform;
use crate::runtime::Runtime;
use crate::sequencer::Sequencer;
use crate::{CancelToken, RunError};

/// The nodes of one unit.
struct Unit<'p> {
    source: NodeId,
    /// The nodes below the Source, in plan order.
    below: Vec<NodeId>,
    sinks: Vec<SinkOperator<'p>>,
}

/// The order of effects of a run.
type Order<'a, 'p> = Sequencer<'a, BlockResult, Applier<'p>>;

/// The next block and its place in the order, taken under one lock so that the two cannot differ.
struct Turn<'a> {
    reader: SourceReader<'a>,
    sequence: u64,
}

/// Runs the unit of a Source to its end.
pub(crate) fn run_unit(runtime: &Runtime<'_>, source: NodeId, applier: &mut Applier<'_>) -> Result<(), RunError> {
    let unit = Unit::of(runtime.plan, source);
    applier.begin_unit(source);
    let sequencer = Sequencer::new(applier, runtime.in_flight);
    let turn = Mutex::new(Turn { reader: SourceReader::new(runtime, source), sequence: 0 });
    let work = || {
        // A panic is an engine defect; it must not leave other workers waiting for a result that never comes.
        if catch_unwind(AssertUnwindSafe(|| worker(runtime, &unit, &turn, &sequencer))).is_err() {
            sequencer.end(RunError::internal(format!("a worker of `{}` panicked", runtime.plan.nodes[source].name)));
        }
    };
    if runtime.threads == 1 {
        work();
    } else {
        std::thread::scope(|scope| -> Result<(), RunError> {
            for number in 0..runtime.threads {
                let builder = std::thread::Builder::new().name(format!("worker-{number}"));
                if let Err(error) = builder.spawn_scoped(scope, work) {
                    let error = RunError::uncoded(exit::INFRASTRUCTURE, format!("cannot start a thread: {error}"))
                        .help("raise the limit of threads, or run with `--threads 1`");
                    sequencer.end(error);
                    break;
                }
            }
            Ok(())
        })?;
    }
    sequencer.into_outcome()?;
    for sink in &unit.sinks {
        applier.warnings.extend(sink.warnings(&runtime.plan.nodes[sink.node].schema));
    }
    Ok(())
}

fn worker(runtime: &Runtime<'_>, unit: &Unit<'_>, turn: &Mutex<Turn<'_>>, sequencer: &Order<'_, '_>) {
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

fn stop_when_cancelled(cancel: &CancelToken, sequencer: &Order<'_, '_>) -> bool {
    let cancelled = cancel.is_cancelled();
    if cancelled {
        sequencer.end(RunError::Cancelled);
    }
    cancelled
}

impl<'p> Unit<'p> {
    fn of(plan: &'p CompiledPlan, source: NodeId) -> Self {
        let mut member = vec![false; plan.nodes.len()];
        member[source] = true;
        let mut unit = Unit { source, below: Vec::new(), sinks: Vec::new() };
        for (id, node) in plan.nodes.iter().enumerate() {
            if node.input.is_some_and(|input| member[input]) {
                member[id] = true;
                unit.below.push(id);
                if let Operator::Sink(sink) = &node.operator {
                    unit.sinks.push(SinkOperator::new(id, sink));
                }
            }
        }
        unit
    }

    /// Everything one piece of work causes. Pure: called by any worker, in any order.
    fn process(&self, runtime: &Runtime<'_>, work: Work) -> BlockResult {
        let mut result = BlockResult::new(runtime.plan.nodes.len(), work.opened);
        match work.body {
            Body::Block(block) => self.process_block(runtime, &block, &mut result),
            Body::Fault(error) => result.fault = Some(error),
            Body::End => {}
        }
        // The order of dead letters: rows as they were read, then the stages of a row in plan order.
        result.failures.sort_by_key(|failure| (failure.row, failure.node));
        result.events.sort_by_key(|event| (event.row, event.node));
        result
    }

    fn process_block(&self, runtime: &Runtime<'_>, block: &BlockWork, result: &mut BlockResult) {
        result.memory = Some(runtime.budget.reserve("block", block.block.data.len() as u64));
        let evaluation = runtime.evaluation();
        let plan = runtime.plan;
        let mut batches: Vec<Option<Batch>> = Vec::new();
        batches.resize_with(plan.nodes.len(), || None);
        batches[self.source] = Some(admit_block(runtime, self.source, block, result));
        let mut readers: Vec<usize> = plan.nodes.iter().map(|node| node.consumers.len()).collect();
        let mut written = Written::new(block.block.rows as usize, self.sinks.len());
        for &id in &self.below {
            let Some(input) = plan.nodes[id].input else { continue };
            readers[input] -= 1;
            // The last reader takes the batch, so that it is gone as soon as nobody needs it.
            let batch = if readers[input] == 0 { batches[input].take() } else { batches[input].clone() };
            let Some(batch) = batch else { continue };
            match &plan.nodes[id].operator {
                Operator::Source(_) => {}
                Operator::Transform(transform_plan) => {
                    result.books.nodes[id].rows_in += batch.rows as u64;
                    batches[id] = Some(transform(runtime, id, transform_plan, &batch, &evaluation, result));
                }
                Operator::Sink(_) => {
                    if let Some(sink) = self.sinks.iter().find(|sink| sink.node == id) {
                        let failures = result.failures.len();
                        sink.encode(runtime, &batch, result);
                        let refused = &result.failures[failures..];
                        written.add(&batch, refused.iter().map(|failure| failure.row));
                    }
                }
            }
        }
        result.ok_rows = written.count();
        if let Some(memory) = &mut result.memory {
            let waiting = result.outputs.iter().map(|output| output.encoded.bytes.len()).sum::<usize>();
            memory.resize((block.block.data.len() + waiting + result.letters.len()) as u64);
        }
    }
}

/// Which source rows of a block have an output row. With one Sink they need only be counted.
struct Written {
    sinks: usize,
    rows: Vec<bool>,
    counted: u64,
}

impl Written {
    fn new(rows: usize, sinks: usize) -> Self {
        Self { sinks, rows: if sinks > 1 { vec![false; rows] } else { Vec::new() }, counted: 0 }
    }

    fn add(&mut self, batch: &Batch, refused: impl Iterator<Item = u32>) {
        if self.sinks <= 1 {
            self.counted += (batch.rows - refused.count()) as u64;
            return;
        }
        let refused: Vec<u32> = refused.collect();
        for row in 0..batch.rows {
            let at = batch.origin.block_row(row);
            if !refused.contains(&at) {
                self.rows[at as usize] = true;
            }
        }
    }

    fn count(&self) -> u64 {
        self.counted + self.rows.iter().filter(|row| **row).count() as u64
    }
}
