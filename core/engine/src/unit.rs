//! A unit: rows of one origin and the tree of row-wise nodes below it, run by all workers.

use clinker_cxl::{RunContext, TooLarge};
use clinker_plan::{CompiledPlan, Input, NodeId, Operator};
use clinker_record::Batch;

use crate::block::{BlockResult, Written};
use crate::feed::{Body, Work};
use crate::operators::merge::merge;
use crate::operators::route::route;
use crate::operators::sink::SinkOperator;
use crate::operators::source::{BlockWork, admit_block};
use crate::operators::transform::transform;
use crate::runtime::Runtime;
use crate::slot::SlotInput;

/// Where the rows of a unit come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// They are the output of a node: of a Source, or of a Merge that takes turns.
    Output(NodeId),
    /// They were held for that input of a node.
    Input(NodeId, usize),
}

/// How an input gets the rows of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// They are handed to it.
    Handed,
    /// They are held until its turn.
    Held,
    /// It takes them by itself.
    Pulled,
}

/// The nodes that rows pass which come in at one place.
pub(crate) struct Unit<'u, 'p> {
    entrance: Entrance,
    /// The inputs that are taken, in plan order.
    steps: Vec<(NodeId, usize)>,
    /// The outputs that are held for others.
    pub stores: Vec<Input>,
    pub sinks: Vec<&'u SinkOperator<'p>>,
    /// For each node, for each of its ports, how often its batch is taken.
    readers: Vec<Vec<usize>>,
}

impl<'u, 'p> Unit<'u, 'p> {
    /// The unit below an entrance. `way` tells how each input gets its rows.
    pub(crate) fn of(
        plan: &'p CompiledPlan,
        entrance: Entrance,
        sinks: &'u [SinkOperator<'p>],
        way: &dyn Fn(NodeId, usize) -> Way,
    ) -> Self {
        let readers = plan.nodes.iter().map(|node| vec![0; node.ports.len()]).collect();
        let mut unit = Unit { entrance, steps: Vec::new(), stores: Vec::new(), sinks: Vec::new(), readers };
        let mut member = vec![false; plan.nodes.len()];
        let (Entrance::Output(first) | Entrance::Input(first, _)) = entrance;
        member[first] = true;
        for (id, node) in plan.nodes.iter().enumerate() {
            for (at, input) in node.inputs.iter().enumerate() {
                if !member[input.node] || id == first {
                    continue;
                }
                match way(id, at) {
                    Way::Handed => {
                        member[id] = true;
                        unit.steps.push((id, at));
                        unit.readers[input.node][input.port] += 1;
                    }
                    Way::Held if !unit.stores.contains(input) => {
                        unit.stores.push(*input);
                        unit.readers[input.node][input.port] += 1;
                    }
                    Way::Held | Way::Pulled => {}
                }
            }
            unit.sinks.extend(sinks.iter().find(|sink| sink.node == id && member[id]));
        }
        unit
    }

    /// A unit of nothing but Sinks, to write what they have put in order.
    pub(crate) fn of_sinks(sinks: &'u [SinkOperator<'p>]) -> Self {
        let sinks = sinks.iter().collect();
        Unit { entrance: Entrance::Output(0), steps: Vec::new(), stores: Vec::new(), sinks, readers: Vec::new() }
    }

    /// Whether nothing is below.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.stores.is_empty()
    }

    /// Everything one piece of work causes. Pure: called by any worker, in any order.
    pub(crate) fn process(&self, runtime: &Runtime<'_>, work: Work) -> BlockResult {
        let mut result = BlockResult::new(&runtime.plan.nodes, work.opened);
        result.notes = work.notes;
        match work.body {
            Body::Block(block) => self.process_block(runtime, &block, &mut result),
            Body::Rows(rows) => self.process_rows(runtime, rows, &mut result),
            Body::Sorted(part) => self.process_rows(runtime, part.rows(), &mut result),
            Body::Released(part) => {
                if let Some(rows) = part.into_rows(&mut result) {
                    self.process_rows(runtime, rows, &mut result);
                }
            }
            Body::Fault(error) => result.fault = Some(error),
            Body::End => {}
        }
        result.sort();
        result
    }

    fn process_block(&self, runtime: &Runtime<'_>, block: &BlockWork, result: &mut BlockResult) {
        let Entrance::Output(source) = self.entrance else { return };
        result.memory = Some(runtime.budget.reserve("block", block.block.data.len() as u64));
        let admitted = admit_block(runtime, source, block, result);
        self.process_rows(runtime, admitted, result);
        if let Some(memory) = &mut result.memory {
            let waiting = result.outputs.iter().map(|output| output.encoded.bytes.len()).sum::<usize>();
            memory.resize((block.block.data.len() + waiting + result.letters.len()) as u64);
        }
    }

    fn process_rows(&self, runtime: &Runtime<'_>, rows: Batch, result: &mut BlockResult) {
        match self.flow(runtime, rows.clone(), &runtime.evaluation()) {
            Ok(part) => result.absorb(part),
            Err(TooLarge) => result.oversized = Some(rows),
        }
    }

    /// Rows that come in through all nodes of the unit.
    pub(crate) fn flow(
        &self,
        runtime: &Runtime<'_>,
        rows: Batch,
        evaluation: &RunContext,
    ) -> Result<BlockResult, TooLarge> {
        let mut part = BlockResult::new(&runtime.plan.nodes, Vec::new());
        part.written = Written::new(&rows, self.sinks.len(), runtime.tracks_rows);
        let mut flow = Flow::new(&self.readers);
        match self.entrance {
            Entrance::Output(id) => flow.put(id, vec![Some(rows)]),
            Entrance::Input(id, at) => {
                part.books.nodes[id].rows_in[at] += rows.rows as u64;
                self.step(runtime, (id, at), rows, evaluation, &mut flow, &mut part)?;
            }
        }
        self.descend(runtime, flow, evaluation, &mut part)?;
        Ok(part)
    }

    /// The rows that a node has put out, by port, through all nodes below it.
    pub(crate) fn flow_ports(
        &self,
        runtime: &Runtime<'_>,
        node: NodeId,
        ports: Vec<Option<Batch>>,
        evaluation: &RunContext,
        part: &mut BlockResult,
    ) -> Result<(), TooLarge> {
        let mut flow = Flow::new(&self.readers);
        flow.put(node, ports);
        self.descend(runtime, flow, evaluation, part)
    }

    fn descend(
        &self,
        runtime: &Runtime<'_>,
        mut flow: Flow,
        evaluation: &RunContext,
        part: &mut BlockResult,
    ) -> Result<(), TooLarge> {
        for (id, at) in &self.steps {
            let Some(batch) = flow.take(runtime.plan.nodes[*id].inputs[*at]) else { continue };
            part.books.nodes[*id].rows_in[*at] += batch.rows as u64;
            self.step(runtime, (*id, *at), batch, evaluation, &mut flow, part)?;
        }
        for from in &self.stores {
            if let Some(rows) = flow.take(*from).filter(|batch| batch.rows > 0) {
                part.slots.push(SlotInput { from: *from, rows: rows.compact() });
            }
        }
        Ok(())
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

/// Rows of a sort as they go to their output.
pub(crate) fn encoded(runtime: &Runtime<'_>, sink: &SinkOperator<'_>, rows: Batch) -> BlockResult {
    let mut result = BlockResult::new(&runtime.plan.nodes, Vec::new());
    result.written = Written::new(&rows, 1, true);
    sink.encode_ordered(runtime, rows, &mut result);
    result.sort();
    result
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
    fn new(readers: &[Vec<usize>]) -> Self {
        let port = |readers: &usize| FlowPort { batch: None, readers: *readers };
        Self { ports: readers.iter().map(|ports| ports.iter().map(port).collect()).collect() }
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
