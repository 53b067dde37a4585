//! A Merge that takes its inputs in turns. The part of the graph above it is pulled, one piece at a time, by one thread;
//! what it yields goes down like the block of a Source.
//!
//! A [`Piece`] is a batch with everything that happened on the way to it. Its rows and its failures have places in one
//! numbering, so that each failure stays directly before the next row of its own input, however the inputs are mixed.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use clinker_plan::{Input, MergeMode, MergePlan, NodeId, Operator};
use clinker_record::{Batch, Column, Origin, Undeclared};

use crate::RunError;
use crate::block::{BlockResult, PendingFailure, Turn};
use crate::operators::merge::merge;
use crate::operators::route::route;
use crate::operators::source::{Body, SourceReader, admit_block};
use crate::operators::transform::transform;
use crate::runtime::Runtime;

/// A batch and what happened on the way to it; places of failures are block rows of its origin.
pub(crate) struct Piece {
    pub batch: Batch,
    pub result: BlockResult,
}

/// Pulls pieces through the nodes above a Merge.
pub(crate) struct Puller<'a> {
    runtime: &'a Runtime<'a>,
    readers: HashMap<NodeId, SourceReader<'a>>,
    /// The input of a concat Merge that is being read.
    concats: HashMap<NodeId, usize>,
    mixers: HashMap<NodeId, Mixer>,
    /// Input that is too large for a node at once.
    rest: HashMap<NodeId, VecDeque<Piece>>,
}

/// The state of a Merge that takes turns.
struct Mixer {
    inputs: Vec<Queue>,
    /// The input whose turn it is.
    at: usize,
    /// Rows left of its turn.
    left: usize,
}

/// What is at hand of one input.
#[derive(Default)]
struct Queue {
    piece: Option<Piece>,
    /// The next row of the piece.
    row: usize,
    ended: bool,
}

impl<'a> Puller<'a> {
    pub(crate) fn new(runtime: &'a Runtime<'a>) -> Self {
        Self { runtime, readers: HashMap::new(), concats: HashMap::new(), mixers: HashMap::new(), rest: HashMap::new() }
    }

    /// The next piece of a node's output; `None` at its end.
    pub(crate) fn pull(&mut self, from: Input) -> Result<Option<Piece>, RunError> {
        let runtime = self.runtime;
        let id = from.node;
        match &runtime.plan.nodes[id].operator {
            Operator::Source(_) => self.read(id),
            Operator::Merge(plan) => match plan.mode {
                MergeMode::Concat => self.concatenated(id, plan),
                MergeMode::Interleave { turn } => self.mixed(id, plan, turn),
            },
            Operator::Transform(_) | Operator::Route(_) => self.through(from),
            Operator::Sink(_) => Err(RunError::internal("a Sink was asked for rows")),
        }
    }

    fn read(&mut self, id: NodeId) -> Result<Option<Piece>, RunError> {
        if self.runtime.cancel.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        let runtime = self.runtime;
        let reader = self.readers.entry(id).or_insert_with(|| SourceReader::new(runtime, id));
        let Some(work) = reader.next() else { return Ok(None) };
        let notes = work.notes;
        match work.body {
            Body::Block(block) => {
                let mut result = BlockResult::new(&runtime.plan.nodes, Vec::new());
                result.notes = notes;
                result.memory = Some(runtime.budget.reserve("block", block.block.data.len() as u64));
                let batch = admit_block(runtime, id, &block, &mut result);
                result.sort();
                Ok(Some(Piece { batch, result }))
            }
            Body::Fault(error) => Err(error),
            Body::End if notes.is_empty() => Ok(None),
            Body::End => {
                // No rows, but something to say: an empty piece carries it.
                let mut result = BlockResult::new(&runtime.plan.nodes, Vec::new());
                result.notes = notes;
                let schema = Arc::clone(&runtime.plan.nodes[id].schema);
                let columns = schema.columns.iter().map(|_| Column::Null(0)).collect();
                let (origin, widened) = (Origin::none(), Undeclared::default());
                Ok(Some(Piece { batch: Batch { schema, columns, rows: 0, origin, widened }, result }))
            }
        }
    }

    /// A piece through a Transform or one branch of a Route.
    fn through(&mut self, from: Input) -> Result<Option<Piece>, RunError> {
        let (runtime, id) = (self.runtime, from.node);
        let node = &runtime.plan.nodes[id];
        let waiting = self.rest.get_mut(&id).and_then(VecDeque::pop_front);
        let Some(mut piece) = (match waiting {
            Some(piece) => Some(piece),
            None => self.pull(node.inputs[0])?,
        }) else {
            return Ok(None);
        };
        let evaluation = runtime.evaluation();
        let mut part = BlockResult::new(&runtime.plan.nodes, Vec::new());
        let passed = match &node.operator {
            Operator::Transform(plan) => transform(runtime, id, plan, &piece.batch, &evaluation, &mut part).map(Some),
            Operator::Route(plan) => {
                route(runtime, id, plan, &piece.batch, &evaluation, &mut part).map(|mut ports| ports[from.port].take())
            }
            _ => return Err(RunError::internal("only Transforms and Routes are passed through")),
        };
        let Ok(batch) = passed else {
            let (first, second) = halves(piece, runtime)?;
            let rest = self.rest.entry(id).or_default();
            rest.push_front(second);
            rest.push_front(first);
            return self.through(from);
        };
        piece.result.absorb(part);
        piece.result.books.nodes[id].rows_in[0] += piece.batch.rows as u64;
        piece.batch = batch.unwrap_or_else(|| piece.batch.take(&[]));
        piece.result.sort();
        Ok(Some(piece))
    }

    fn concatenated(&mut self, id: NodeId, plan: &MergePlan) -> Result<Option<Piece>, RunError> {
        loop {
            let at = *self.concats.entry(id).or_default();
            let Some(input) = self.runtime.plan.nodes[id].inputs.get(at) else { return Ok(None) };
            match self.pull(*input)? {
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
    fn mixed(&mut self, id: NodeId, plan: &MergePlan, turn: usize) -> Result<Option<Piece>, RunError> {
        let inputs = self.runtime.plan.nodes[id].inputs.clone();
        let mut mixer = self.mixers.remove(&id).unwrap_or_else(|| Mixer {
            inputs: inputs.iter().map(|_| Queue::default()).collect(),
            at: 0,
            left: turn,
        });
        let mut mix = Mix::new(self.runtime);
        let outcome = self.fill(&mut mix, &mut mixer, &inputs, plan, (id, turn));
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

    fn fill(
        &mut self,
        mix: &mut Mix,
        mixer: &mut Mixer,
        inputs: &[Input],
        plan: &MergePlan,
        (id, turn): (NodeId, usize),
    ) -> Result<(), RunError> {
        let bound = self.runtime.bound.rows.max(1);
        while mix.rows.len() < bound && mixer.inputs.iter().any(|queue| !queue.ended) {
            let queue = &mut mixer.inputs[mixer.at];
            while !queue.ended && queue.piece.as_ref().is_none_or(|piece| queue.row >= piece.batch.rows) {
                if let Some(mut piece) = queue.piece.take() {
                    // Failures behind the last row wait for the next row of this input: they stand where that one does.
                    mix.place_failures(&mut piece.result, u32::MAX);
                    mix.place_turns(&mut piece.result, u32::MAX, mix.next_place);
                    if let Some(fault) = piece.result.fault.take() {
                        return Err(fault);
                    }
                }
                queue.row = 0;
                match self.pull(inputs[mixer.at])? {
                    None => queue.ended = true,
                    Some(mut piece) => {
                        piece.batch = self.arrived(id, plan, mixer.at, &mut piece);
                        mix.take_events(&mut piece.result);
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
            if mixer.left == 0 || queue.ended {
                mixer.at = (mixer.at + 1) % inputs.len();
                mixer.left = turn;
            }
        }
        Ok(())
    }
}

/// A piece in two, for a node that cannot take it whole.
fn halves(mut piece: Piece, runtime: &Runtime<'_>) -> Result<(Piece, Piece), RunError> {
    let rows = piece.batch.rows as u32;
    if rows < 2 {
        return Err(RunError::internal("a single row is too large to evaluate"));
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
    Ok((piece, second))
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
