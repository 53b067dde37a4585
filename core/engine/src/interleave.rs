//! A Merge that takes its inputs in turns. The part of the graph above it is pulled, one piece at a time, by one thread;
//! what it yields goes down like the block of a Source, and what others read of the nodes on the way goes to them as it
//! comes.
//!
//! A [`Piece`] is a batch with everything that happened on the way to it. Its rows and its failures have places in one
//! numbering, so that each failure stays directly before the next row of its own input, however the inputs are mixed.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use clinker_cxl::TooLarge;
use clinker_plan::{Input, MergeMode, MergePlan, NodeId, Operator};
use clinker_record::{Batch, Column, Origin, Undeclared};

use crate::RunError;
use crate::apply::Applier;
use crate::block::{BlockResult, PendingFailure, Turn, Written};
use crate::effects::{UnitEffects, row_too_large};
use crate::feed::{Body, Feed, Work};
use crate::operators::merge::merge;
use crate::operators::route::route;
use crate::operators::source::{admit_block, source_feed};
use crate::operators::transform::transform;
use crate::runtime::Runtime;
use crate::sequencer::Effects;
use crate::slot::Scan;
use crate::unit::Unit;

/// A batch and what happened on the way to it; places of failures are block rows of its origin.
pub(crate) struct Piece {
    pub batch: Batch,
    pub result: BlockResult,
}

/// Pulls pieces through the nodes above a Merge.
pub(crate) struct Puller<'a, 'p> {
    runtime: &'a Runtime<'p>,
    feeds: HashMap<NodeId, Box<dyn Feed + 'a>>,
    /// Inputs that are read from what was held.
    scans: HashMap<(NodeId, usize), Scan>,
    /// What also gets the output of a node.
    sides: HashMap<NodeId, Unit<'a, 'p>>,
    /// The input of a concat Merge that is being read.
    concats: HashMap<NodeId, usize>,
    mixers: HashMap<NodeId, Mixer>,
    /// What is too large for a node at once.
    rest: HashMap<NodeId, VecDeque<Piece>>,
}

/// How a Merge takes its inputs.
#[derive(Clone, Copy)]
enum Turns {
    Fixed(usize),
    Seeded(u64),
}

/// The state of a Merge that takes turns.
struct Mixer {
    inputs: Vec<Queue>,
    /// The input whose turn it is.
    at: usize,
    /// Rows left of its turn.
    left: usize,
    schedule: Schedule,
}

enum Schedule {
    /// So many rows of each, in declared order.
    InTurns { turn: usize },
    /// One row of an input that is drawn, by how many rows each has left.
    Drawn { draw: Draw, rows: Vec<u64> },
}

/// What is at hand of one input.
#[derive(Default)]
struct Queue {
    piece: Option<Piece>,
    /// Whether what the piece brings along has not had its effects.
    is_new: bool,
    /// The next row of the piece.
    row: usize,
    ended: bool,
}

/// Runs everything at and below a Merge that takes its inputs in turns, and the nodes above it with it.
pub(crate) fn run_merge<'p>(
    runtime: &Runtime<'p>,
    merge: NodeId,
    mut puller: Puller<'_, 'p>,
    unit: &Unit<'_, 'p>,
    applier: &mut Applier<'p>,
) -> Result<(), RunError> {
    applier.destinations.check_mixed(merge)?;
    let mut effects = UnitEffects { runtime, unit, applier };
    while let Some(Piece { batch, mut result }) = puller.pull(Input { node: merge, port: 0 })? {
        if runtime.cancel.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        match unit.flow(runtime, batch.clone(), &runtime.evaluation()) {
            Ok(part) => result.absorb(part),
            Err(TooLarge) => result.oversized = Some(batch),
        }
        result.sort();
        effects.apply(result)?;
    }
    Ok(())
}

impl<'a, 'p> Puller<'a, 'p> {
    pub(crate) fn new(runtime: &'a Runtime<'p>) -> Self {
        Self {
            runtime,
            feeds: HashMap::new(),
            scans: HashMap::new(),
            sides: HashMap::new(),
            concats: HashMap::new(),
            mixers: HashMap::new(),
            rest: HashMap::new(),
        }
    }

    /// An input is read from what was held for it.
    pub(crate) fn read(&mut self, reader: NodeId, input: usize, scan: Scan) {
        self.scans.insert((reader, input), scan);
    }

    /// What a node puts out also goes to these.
    pub(crate) fn beside(&mut self, node: NodeId, unit: Unit<'a, 'p>) {
        self.sides.insert(node, unit);
    }

    /// Adds what lies beside to the unit below, whose effects are applied together.
    pub(crate) fn extend(&self, unit: &mut Unit<'a, 'p>) {
        let mut sides: Vec<_> = self.sides.iter().collect();
        sides.sort_by_key(|(node, _)| **node);
        for (_, side) in sides {
            unit.sinks.extend(&side.sinks);
            unit.stores.extend(&side.stores);
        }
    }

    /// The next piece of an input; `None` at its end.
    fn pull_input(&mut self, reader: NodeId, at: usize) -> Result<Option<Piece>, RunError> {
        let input = self.runtime.plan.nodes[reader].inputs[at];
        let Some(scan) = self.scans.get_mut(&(reader, at)) else { return self.pull(input) };
        let Some(Work { opened, body, .. }) = Feed::next(scan) else { return Ok(None) };
        let result = BlockResult::new(&self.runtime.plan.nodes, opened);
        match body {
            Body::Rows(batch) => Ok(Some(Piece { batch, result })),
            Body::Fault(error) => Err(error),
            _ => Ok(Some(Piece { batch: self.no_rows(input.node), result })),
        }
    }

    /// The next piece of a node's output; `None` at its end.
    pub(crate) fn pull(&mut self, from: Input) -> Result<Option<Piece>, RunError> {
        loop {
            let Some(piece) = (match self.rest.get_mut(&from.node).and_then(VecDeque::pop_front) {
                Some(piece) => Some(piece),
                None => self.produce(from.node)?,
            }) else {
                return Ok(None);
            };
            match self.pass(from, piece)? {
                Ok(piece) => return Ok(Some(piece)),
                Err(halves) => {
                    let rest = self.rest.entry(from.node).or_default();
                    halves.into_iter().rev().for_each(|half| rest.push_front(half));
                }
            }
        }
    }

    /// What a node makes its output of: for a Transform or Route its input, else the output.
    fn produce(&mut self, id: NodeId) -> Result<Option<Piece>, RunError> {
        match &self.runtime.plan.nodes[id].operator {
            Operator::Source(_) => self.read_source(id),
            Operator::Merge(plan) => match plan.mode {
                MergeMode::Concat => self.concatenated(id, plan),
                MergeMode::Interleave { turn } => self.mixed(id, plan, Turns::Fixed(turn)),
                MergeMode::Seeded { seed } => self.mixed(id, plan, Turns::Seeded(seed)),
            },
            Operator::Transform(_) | Operator::Route(_) => self.pull_input(id, 0),
            Operator::Sink(_) => Err(RunError::internal("a Sink was asked for rows")),
        }
    }

    fn read_source(&mut self, id: NodeId) -> Result<Option<Piece>, RunError> {
        if self.runtime.cancel.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        let runtime = self.runtime;
        let feed = self.feeds.entry(id).or_insert_with(|| source_feed(runtime, id));
        let Some(work) = feed.next() else { return Ok(None) };
        let mut result = BlockResult::new(&runtime.plan.nodes, work.opened);
        result.notes = work.notes;
        let batch = match work.body {
            Body::Block(block) => {
                result.memory = Some(runtime.budget.reserve("block", block.block.data.len() as u64));
                admit_block(runtime, id, &block, &mut result)
            }
            Body::Released(part) => part.into_rows(&mut result).unwrap_or_else(|| self.no_rows(id)),
            Body::Fault(error) => return Err(error),
            // No rows, but something to say: an empty piece carries it.
            _ if !result.opened.is_empty() || !result.notes.is_empty() => self.no_rows(id),
            _ => return Ok(None),
        };
        result.sort();
        Ok(Some(Piece { batch, result }))
    }

    /// No rows of a node.
    fn no_rows(&self, id: NodeId) -> Batch {
        let schema = Arc::clone(&self.runtime.plan.nodes[id].schema);
        let columns = schema.columns.iter().map(|_| Column::Null(0)).collect();
        Batch { schema, columns, rows: 0, origin: Origin::none(), widened: Undeclared::default() }
    }

    /// A piece through its node and to everything beside the way; in two when that is too much at once.
    fn pass(&mut self, from: Input, mut piece: Piece) -> Result<Result<Piece, [Piece; 2]>, RunError> {
        let (runtime, id) = (self.runtime, from.node);
        let evaluation = runtime.evaluation();
        let mut part = BlockResult::new(&runtime.plan.nodes, Vec::new());
        let passed = match &runtime.plan.nodes[id].operator {
            Operator::Transform(plan) => {
                transform(runtime, id, plan, &piece.batch, &evaluation, &mut part).map(|batch| vec![Some(batch)])
            }
            Operator::Route(plan) => route(runtime, id, plan, &piece.batch, &evaluation, &mut part),
            _ => Ok(vec![Some(piece.batch.clone())]),
        };
        let ports = passed.and_then(|ports| {
            if let Some(side) = self.sides.get(&id) {
                part.written = Written::new(&piece.batch, side.sinks.len(), runtime.tracks_rows);
                side.flow_ports(runtime, id, ports.clone(), &evaluation, &mut part)?;
            }
            Ok(ports)
        });
        let Ok(mut ports) = ports else { return Ok(Err(halves(piece, runtime)?)) };
        if matches!(runtime.plan.nodes[id].operator, Operator::Transform(_) | Operator::Route(_)) {
            part.books.nodes[id].rows_in[0] += piece.batch.rows as u64;
        }
        piece.result.absorb(part);
        piece.batch = ports[from.port].take().unwrap_or_else(|| piece.batch.take(&[]));
        piece.result.sort();
        Ok(Ok(piece))
    }

    fn concatenated(&mut self, id: NodeId, plan: &MergePlan) -> Result<Option<Piece>, RunError> {
        loop {
            let at = *self.concats.entry(id).or_default();
            if at == self.runtime.plan.nodes[id].inputs.len() {
                return Ok(None);
            }
            match self.pull_input(id, at)? {
                Some(mut piece) => {
                    piece.batch = self.arrived(id, plan, at, &mut piece);
                    return Ok(Some(piece));
                }
                None => {
                    self.concats.insert(id, at + 1);
                }
            }
        }
    }

    /// A batch of an input as a Merge hands it on, counted.
    fn arrived(&self, id: NodeId, plan: &MergePlan, input: usize, piece: &mut Piece) -> Batch {
        let rows = piece.batch.rows as u64;
        let book = &mut piece.result.books.nodes[id];
        book.rows_in[input] += rows;
        book.rows_out[0] += rows;
        merge(self.runtime, id, plan, input, piece.batch.clone())
    }

    /// A batch of rows from all inputs, in turns.
    fn mixed(&mut self, id: NodeId, plan: &MergePlan, turns: Turns) -> Result<Option<Piece>, RunError> {
        let inputs = self.runtime.plan.nodes[id].inputs.len();
        let mut mixer = self.mixers.remove(&id).unwrap_or_else(|| {
            let schedule = match turns {
                Turns::Fixed(turn) => Schedule::InTurns { turn },
                Turns::Seeded(seed) => {
                    let rows = |at| self.scans.get(&(id, at)).map_or(0, Scan::rows);
                    Schedule::Drawn { draw: Draw(seed), rows: (0..inputs).map(rows).collect() }
                }
            };
            Mixer::new(inputs, schedule)
        });
        let mut mix = Mix::new(self.runtime);
        let outcome = self.fill(&mut mix, &mut mixer, plan, id);
        self.mixers.insert(id, mixer);
        match outcome {
            // What was taken before the fault has its effects first; the fault is met again by the next pull.
            Err(error) if mix.is_empty() => Err(error),
            Err(error) => {
                mix.result.fault = Some(error);
                Ok(Some(mix.into_piece(self.runtime, id)))
            }
            Ok(()) if mix.is_empty() => Ok(None),
            Ok(()) => Ok(Some(mix.into_piece(self.runtime, id))),
        }
    }

    fn fill(&mut self, mix: &mut Mix, mixer: &mut Mixer, plan: &MergePlan, id: NodeId) -> Result<(), RunError> {
        let bound = self.runtime.bound.rows.max(1);
        while mix.rows.len() < bound && mixer.inputs.iter().any(|queue| !queue.ended) {
            let queue = &mut mixer.inputs[mixer.at];
            loop {
                if !queue.arrive(mix) {
                    return Ok(());
                }
                if queue.ended || queue.piece.as_ref().is_some_and(|piece| queue.row < piece.batch.rows) {
                    break;
                }
                if let Some(mut piece) = queue.piece.take() {
                    // Failures behind the last row wait for the next row of this input: they stand where that one does.
                    mix.place_failures(&mut piece.result, u32::MAX);
                    mix.place_turns(&mut piece.result, u32::MAX, mix.next_place);
                    if let Some(fault) = piece.result.fault.take() {
                        return Err(fault);
                    }
                }
                queue.row = 0;
                match self.pull_input(id, mixer.at)? {
                    None => queue.ended = true,
                    Some(mut piece) => {
                        piece.batch = self.arrived(id, plan, mixer.at, &mut piece);
                        queue.is_new = true;
                        queue.piece = Some(piece);
                    }
                }
            }
            if let Some(piece) = &mut queue.piece {
                let take = mixer.left.min(piece.batch.rows - queue.row).min(bound - mix.rows.len());
                mix.place_rows(piece, queue.row..queue.row + take);
                queue.row += take;
                mixer.left -= take;
            }
            mixer.next();
        }
        Ok(())
    }
}

impl Mixer {
    fn new(inputs: usize, schedule: Schedule) -> Self {
        let inputs = (0..inputs).map(|_| Queue::default()).collect();
        let mut mixer = Self { inputs, at: 0, left: 0, schedule };
        if let Schedule::InTurns { turn } = mixer.schedule {
            mixer.left = turn;
        }
        mixer.next();
        mixer
    }

    /// Moves on to the next input, when a turn has ended.
    fn next(&mut self) {
        let ended = self.inputs[self.at].ended;
        match &mut self.schedule {
            Schedule::InTurns { turn } if self.left == 0 || ended => {
                self.at = (self.at + 1) % self.inputs.len();
                self.left = *turn;
            }
            Schedule::Drawn { draw, rows } if self.left == 0 || ended => {
                // Each possible order is as likely as any other. Behind the last row every input comes to its end.
                let all: u64 = rows.iter().sum();
                let mut at = draw.below(all);
                let drawn = rows.iter().position(|left| {
                    let here = at < *left;
                    at = at.wrapping_sub(if here { 0 } else { *left });
                    here
                });
                self.at = match drawn {
                    Some(drawn) => {
                        rows[drawn] -= 1;
                        drawn
                    }
                    None => self.inputs.iter().position(|queue| !queue.ended).unwrap_or(0),
                };
                self.left = 1;
            }
            _ => {}
        }
    }
}

impl Queue {
    /// What a new piece brings along has its effects, in front of its rows. `false` when something else has to have its
    /// effects first, because a file begins here.
    fn arrive(&mut self, mix: &mut Mix) -> bool {
        let Some(piece) = self.piece.as_mut().filter(|_| self.is_new) else { return true };
        if !piece.result.opened.is_empty() && !mix.is_empty() {
            return false;
        }
        mix.take_events(&mut piece.result);
        self.is_new = false;
        true
    }
}

/// Numbers that depend on the seed alone (SplitMix64).
struct Draw(u64);

impl Draw {
    /// A number below `end`; 0 when that is 0.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        ((u128::from(mixed) * u128::from(end)) >> 64) as u64
    }
}

/// A piece in two, for a node that cannot take it whole.
fn halves(mut piece: Piece, runtime: &Runtime<'_>) -> Result<[Piece; 2], RunError> {
    let rows = piece.batch.rows as u32;
    if rows < 2 {
        return Err(row_too_large(runtime, &piece.batch));
    }
    let middle = rows / 2;
    let first_rows: Vec<u32> = (0..middle).collect();
    let second = Piece {
        batch: piece.batch.take(&(middle..rows).collect::<Vec<_>>()),
        result: BlockResult::new(&runtime.plan.nodes, Vec::new()),
    };
    let last = piece.batch.origin.block_row(middle as usize - 1);
    let mut result = BlockResult::new(&runtime.plan.nodes, Vec::new());
    piece.result.hand_over(last, &mut result);
    let mut second = second;
    piece.result.hand_over(u32::MAX, &mut second.result);
    piece.result.turns = std::mem::take(&mut result.turns);
    piece.result.absorb(result);
    piece.batch = piece.batch.take(&first_rows);
    Ok([piece, second])
}

/// Rows and failures of several inputs in their common order.
struct Mix {
    /// Batches that rows were taken from.
    batches: Vec<Batch>,
    /// For each row its batch and its row there.
    rows: Vec<(usize, usize)>,
    /// For each row its place.
    places: Vec<u32>,
    next_place: u32,
    result: BlockResult,
}

impl Mix {
    fn new(runtime: &Runtime<'_>) -> Self {
        let result = BlockResult::new(&runtime.plan.nodes, Vec::new());
        Self { batches: Vec::new(), rows: Vec::new(), places: Vec::new(), next_place: 0, result }
    }

    fn is_empty(&self) -> bool {
        self.next_place == 0 && self.result.turns.is_empty()
    }

    fn place(&mut self) -> u32 {
        self.next_place += 1;
        self.next_place - 1
    }

    /// Books, log events and memory of a piece that arrived.
    fn take_events(&mut self, from: &mut BlockResult) {
        let counted = std::mem::replace(&mut from.books, crate::Books { nodes: Vec::new() });
        self.result.books.add(&counted);
        for mut event in from.events.drain(..) {
            event.row = self.next_place;
            self.result.events.push(event);
        }
        self.result.logs.append(&mut from.logs);
        self.result.notes.append(&mut from.notes);
        self.result.opened.append(&mut from.opened);
        self.result.populations.append(&mut from.populations);
        // What went beside the way here has its effects before its rows come.
        self.result.outputs.append(&mut from.outputs);
        self.result.sorts.append(&mut from.sorts);
        self.result.slots.append(&mut from.slots);
        self.result.written.absorb(std::mem::take(&mut from.written));
        // Counted books alone are an effect, too: a piece of which nothing else is left must not be lost.
        self.next_place = self.next_place.max(1);
    }

    /// Failures up to and with a place of their piece.
    fn place_failures(&mut self, from: &mut BlockResult, up_to: u32) {
        let first = self.result.failures.len();
        from.hand_failures(up_to, &mut self.result);
        for at in first..self.result.failures.len() {
            let place = self.place();
            let failure: &mut PendingFailure = &mut self.result.failures[at];
            let before = std::mem::replace(&mut failure.row, place);
            let turn = Turn { place, source: failure.source, ordinal: failure.ordinal };
            self.place_turns(from, before, place);
            self.result.turns.push_back(turn);
        }
    }

    /// Turns up to and with a place of their piece: all of them come at one place of the mix.
    fn place_turns(&mut self, from: &mut BlockResult, up_to: u32, place: u32) {
        let turns = std::iter::from_fn(|| from.next_turn(up_to));
        self.result.turns.extend(turns.map(|turn| Turn { place, ..turn }));
    }

    fn place_rows(&mut self, piece: &mut Piece, rows: std::ops::Range<usize>) {
        let batch = self.batches.len();
        for row in rows {
            let before = piece.batch.origin.block_row(row);
            if let Some(before) = before.checked_sub(1) {
                self.place_failures(&mut piece.result, before);
            }
            let (run, distance) = piece.batch.origin.locate(row);
            let place = self.place();
            self.place_turns(&mut piece.result, before, place);
            self.result.turns.push_back(Turn { place, source: run.source, ordinal: run.ordinal + distance });
            self.places.push(place);
            self.rows.push((batch, row));
        }
        self.batches.push(piece.batch.clone());
    }

    fn into_piece(mut self, runtime: &Runtime<'_>, id: NodeId) -> Piece {
        let schema = Arc::clone(&runtime.plan.nodes[id].schema);
        let batch = Batch::gather(schema, &self.batches, &self.rows, &self.places);
        self.result.sort();
        Piece { batch, result: self.result }
    }
}
