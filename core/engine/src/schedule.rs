//! What runs when: the units of a plan one after the other, and the inputs of each `concat` in their turn.
//!
//! A unit is ready when everything that it reads from slots is complete, and when the turn of every `concat` input has come
//! that it alone feeds. Of those that are ready the first one in source order runs. What it pushes towards an input whose
//! turn has not come is held; when the turn comes, what was held goes down first, and what follows goes straight through.

use clinker_plan::{CompiledPlan, Delivery, HeldBecause, Input, MergeMode, NodeId, Operator};

use crate::RunError;
use crate::apply::Applier;
use crate::effects::UnitEffects;
use crate::feed::run_feed;
use crate::interleave::{Puller, run_merge};
use crate::operators::sink::SinkOperator;
use crate::operators::source::run_source;
use crate::runtime::{Runtime, sources_above};
use crate::slot::waiting;
use crate::unit::{Entrance, Unit, Way};

/// The state of the units of a run.
pub(crate) struct Schedule<'p> {
    plan: &'p CompiledPlan,
    /// What has not run yet, in the order of its first Source.
    pending: Vec<Part>,
    /// For each `concat` the input whose turn it is.
    turns: Vec<usize>,
    /// Nodes whose output is complete.
    done: Vec<bool>,
}

/// What is run at once.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// A Source with what is below it.
    Source(NodeId),
    /// A Merge that takes turns, with what is below it, and the nodes above it that hand it their rows.
    Turns {
        merge: NodeId,
        /// The nodes that it pulls, itself among them.
        nodes: Vec<NodeId>,
        /// The Sources among them.
        sources: Vec<NodeId>,
        /// The outputs that it reads from slots.
        reads: Vec<Input>,
    },
}

/// Runs all units of the plan.
pub(crate) fn run_units<'p>(
    runtime: &Runtime<'p>,
    sinks: &[SinkOperator<'p>],
    applier: &mut Applier<'p>,
) -> Result<(), RunError> {
    let mut schedule = Schedule::new(runtime.plan);
    loop {
        while let Some((merge, at)) = schedule.advance() {
            schedule.drain(runtime, (merge, at), sinks, applier)?;
        }
        let Some(part) = schedule.take_ready() else { break };
        match &part {
            Part::Source(source) => {
                let unit = schedule.unit(Entrance::Output(*source), sinks);
                run_source(runtime, *source, &unit, applier)?;
                schedule.done[*source] = true;
            }
            Part::Turns { merge, nodes, .. } => {
                let puller = schedule.puller(runtime, *merge, sinks, applier)?;
                let mut unit = schedule.unit(Entrance::Output(*merge), sinks);
                puller.extend(&mut unit);
                run_merge(runtime, *merge, puller, &unit, applier)?;
                schedule.finish(nodes);
            }
        }
    }
    match schedule.pending.first() {
        None => applier.slots.check_empty(),
        Some(part) => Err(RunError::internal(format!("no unit can run: {part:?} waits for another one"))),
    }
}

impl<'p> Schedule<'p> {
    fn new(plan: &'p CompiledPlan) -> Self {
        Self { plan, pending: parts(plan), turns: vec![0; plan.nodes.len()], done: vec![false; plan.nodes.len()] }
    }

    /// Nodes were pulled to their end.
    fn finish(&mut self, nodes: &[NodeId]) {
        for node in nodes {
            self.done[*node] = true;
            self.turns[*node] = self.plan.nodes[*node].inputs.len();
        }
    }

    /// How an input gets its rows now.
    fn way(&self, reader: NodeId, at: usize) -> Way {
        match self.plan.nodes[reader].deliveries[at] {
            Delivery::Handoff => Way::Handed,
            Delivery::Held(HeldBecause::LaterInput) if self.turns[reader] == at => Way::Handed,
            Delivery::Held(_) => Way::Held,
        }
    }

    fn unit<'u>(&self, entrance: Entrance, sinks: &'u [SinkOperator<'p>]) -> Unit<'u, 'p> {
        Unit::of(self.plan, entrance, sinks, &|reader, at| self.way(reader, at))
    }

    /// Notes what is complete, and moves the first `concat` on whose input has ended. The input whose turn has come now,
    /// where something was held for it.
    fn advance(&mut self) -> Option<(NodeId, usize)> {
        for (id, node) in self.plan.nodes.iter().enumerate() {
            match &node.operator {
                Operator::Source(_) => {}
                Operator::Merge(merge) => {
                    if merge.mode != MergeMode::Concat {
                        continue;
                    }
                    while self.turns[id] < node.inputs.len() && self.done[node.inputs[self.turns[id]].node] {
                        self.turns[id] += 1;
                        let at = self.turns[id];
                        if at < node.inputs.len() && !self.plan.is_deferred(id, at) {
                            return Some((id, at));
                        }
                    }
                    self.done[id] |= self.turns[id] == node.inputs.len();
                }
                _ => self.done[id] |= node.inputs.iter().all(|input| self.done[input.node]),
            }
        }
        None
    }

    /// Takes what was held for an input down.
    fn drain(
        &self,
        runtime: &Runtime<'p>,
        (merge, at): (NodeId, usize),
        sinks: &[SinkOperator<'p>],
        applier: &mut Applier<'p>,
    ) -> Result<(), RunError> {
        let mut scan = applier.slots.open(runtime, self.plan.nodes[merge].inputs[at])?;
        let unit = self.unit(Entrance::Input(merge, at), sinks);
        let mut effects = UnitEffects { runtime, unit: &unit, applier };
        let process = |work| unit.process(runtime, work);
        run_feed(runtime, &self.plan.nodes[merge].name, &mut scan, &process, &mut effects)
    }

    /// The first unit that is ready.
    fn take_ready(&mut self) -> Option<Part> {
        let ready = self.pending.iter().position(|part| self.is_ready(part))?;
        Some(self.pending.remove(ready))
    }

    fn is_ready(&self, part: &Part) -> bool {
        match part {
            Part::Source(source) => self.has_turn(*source, self.plan.nodes.len()),
            Part::Turns { merge, sources, reads, .. } => {
                reads.iter().all(|input| self.done[input.node])
                    && sources.iter().all(|source| self.has_turn(*source, *merge))
                    && (!sources.is_empty() || self.has_turn(*merge, self.plan.nodes.len()))
            }
        }
    }

    /// Whether the turn of every input has come that a node leads to and that it alone feeds. Inputs up to a Merge that
    /// pulls them are none: it comes to them by itself.
    fn has_turn(&self, node: NodeId, pulled_by: NodeId) -> bool {
        self.plan.held_edges().filter(|(reader, at, _)| self.plan.is_deferred(*reader, *at)).all(
            |(reader, at, input)| {
                let pulled = pulled_by < self.plan.nodes.len() && reaches(self.plan, reader, pulled_by);
                pulled || !reaches(self.plan, node, input.node) || self.turns[reader] == at
            },
        )
    }

    /// What pulls the rows of a Merge that takes turns.
    fn puller<'a>(
        &self,
        runtime: &'a Runtime<'p>,
        merge: NodeId,
        sinks: &'a [SinkOperator<'p>],
        applier: &mut Applier<'p>,
    ) -> Result<Puller<'a, 'p>, RunError> {
        let mut puller = Puller::new(runtime);
        let above = pulled(self.plan, merge);
        for (id, at) in above.inputs {
            let input = self.plan.nodes[id].inputs[at];
            if self.plan.nodes[id].deliveries[at] != Delivery::Handoff && !self.plan.is_deferred(id, at) {
                puller.read(id, at, applier.slots.open(runtime, input)?);
                continue;
            }
            // Other readers of what is pulled get it as it comes.
            let side = Unit::of(self.plan, Entrance::Output(input.node), sinks, &|reader, position| {
                let pulled = (reader, position) == (id, at);
                if pulled { Way::Pulled } else { self.way(reader, position) }
            });
            if !side.is_empty() {
                puller.beside(input.node, side);
            }
        }
        Ok(puller)
    }
}

/// What a Merge that takes turns pulls.
struct Pulled {
    nodes: Vec<NodeId>,
    /// All inputs of these nodes.
    inputs: Vec<(NodeId, usize)>,
}

fn pulled(plan: &CompiledPlan, merge: NodeId) -> Pulled {
    let (mut nodes, mut inputs) = (vec![merge], Vec::new());
    let mut next = 0;
    while let Some(id) = nodes.get(next).copied() {
        next += 1;
        for (at, input) in plan.nodes[id].inputs.iter().enumerate() {
            inputs.push((id, at));
            let handed = plan.nodes[id].deliveries[at] == Delivery::Handoff || plan.is_deferred(id, at);
            if handed && !nodes.contains(&input.node) {
                nodes.push(input.node);
            }
        }
    }
    Pulled { nodes, inputs }
}

/// The units of a plan, in the order of their Sources; a unit without one stands where its Merge does.
fn parts(plan: &CompiledPlan) -> Vec<Part> {
    // The lowest Merge that pulls decides for those above it.
    let mut turns: Vec<(Part, Vec<NodeId>)> = Vec::new();
    let mut taken: Vec<NodeId> = Vec::new();
    for merge in (0..plan.nodes.len()).rev().filter(|id| takes_turns(plan, *id) && !plan.nodes[*id].inputs.is_empty()) {
        if taken.contains(&merge) {
            continue;
        }
        let above = pulled(plan, merge);
        let sources: Vec<NodeId> = above.nodes.iter().copied().filter(|id| plan.nodes[*id].inputs.is_empty()).collect();
        let reads = waiting(plan).filter(|(id, at, _)| above.inputs.contains(&(*id, *at)));
        let reads: Vec<Input> = reads.map(|(_, _, input)| input).collect();
        taken.extend(&above.nodes);
        let firsts = if sources.is_empty() { sources_above(plan, merge) } else { sources.clone() };
        turns.push((Part::Turns { merge, nodes: above.nodes, sources, reads }, firsts));
    }
    turns.reverse();
    let mut parts = Vec::new();
    let order = source_order(plan);
    for source in &order {
        if !taken.contains(source) {
            parts.push(Part::Source(*source));
        }
        // A unit stands where the first of its Sources is; one that only reads what is held, behind the last of them.
        turns.retain(|(part, firsts)| {
            let Part::Turns { sources, .. } = part else { return true };
            let here = match sources.is_empty() {
                false => firsts.contains(source),
                true => firsts.iter().all(|first| position(&order, *first) <= position(&order, *source)),
            };
            if here {
                parts.push(part.clone());
            }
            !here
        });
    }
    parts
}

fn position(order: &[NodeId], node: NodeId) -> usize {
    order.iter().position(|at| *at == node).unwrap_or(order.len())
}

fn takes_turns(plan: &CompiledPlan, id: NodeId) -> bool {
    matches!(&plan.nodes[id].operator, Operator::Merge(merge) if merge.mode != MergeMode::Concat)
}

/// Whether a node is another one or above it.
fn reaches(plan: &CompiledPlan, from: NodeId, to: NodeId) -> bool {
    let mut above = vec![to];
    let mut next = 0;
    while let Some(id) = above.get(next).copied() {
        if id == from {
            return true;
        }
        next += 1;
        let inputs = plan.nodes[id].inputs.iter().map(|input| input.node);
        let new: Vec<NodeId> = inputs.filter(|input| !above.contains(input)).collect();
        above.extend(new);
    }
    false
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
