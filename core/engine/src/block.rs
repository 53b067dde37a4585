//! What a worker makes of one block, waiting for its turn.

use std::collections::VecDeque;
use std::sync::Arc;

use clinker_diagnostics::Diagnostic;
use clinker_events::Level;
use clinker_format::Encoded;
use clinker_memory::{Budget, Reservation};
use clinker_plan::{Node, NodeId};
use clinker_record::{Batch, Category};

use crate::destinations::SourceFileAt;
use crate::operators::sort::Keyed;
use crate::operators::transform::log::PendingLog;
use crate::slot::SlotInput;
use crate::{Books, RunError};

/// A failure of one row, rendered, in front of its place in the order.
pub(crate) struct PendingFailure {
    /// Position of the row in the block: the first part of its place.
    pub row: u32,
    /// The failing node: the second part.
    pub node: NodeId,
    /// Position of the Source of the row.
    pub source: u16,
    /// Ordinal of the row among all rows of its Source.
    pub ordinal: u64,
    /// A value that its declared type does not admit.
    pub typed: bool,
    /// Category.
    pub category: Category,
    /// The dead letter without id and time, in [`BlockResult::letters`]; empty when none is written.
    pub letter: std::ops::Range<usize>,
    /// Set when the run ends here.
    pub stop: Option<RunError>,
}

/// A file that was read whole before any of its rows goes on.
#[derive(Clone, Debug)]
pub(crate) struct Population {
    pub source: u16,
    /// Ordinal of its last row among all rows of its Source.
    pub ordinal: u64,
    /// Rows with a value that its declared type does not admit.
    pub typed: u64,
}

/// At this place the turn of a Source's rows has come up to an ordinal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub place: u32,
    pub source: u16,
    pub ordinal: u64,
}

/// A log event at its row.
pub(crate) struct PendingEvent {
    pub row: u32,
    pub node: NodeId,
    pub level: Level,
    pub text: String,
}

/// The group keys of consecutive records.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// For each record whether its key differs from that of the record before it; unknown for the first one.
    changes: Vec<bool>,
    first: Option<Vec<u8>>,
    last: Option<Vec<u8>>,
}

impl Keys {
    /// Adds the key of the next record: its text, none for null.
    pub(crate) fn push(&mut self, key: Option<Vec<u8>>) {
        if self.changes.is_empty() {
            self.first = key.clone();
        }
        self.changes.push(self.last != key);
        self.last = key;
    }

    pub(crate) fn len(&self) -> usize {
        self.changes.len()
    }

    pub(crate) fn changes(&self, record: usize) -> bool {
        self.changes[record]
    }

    pub(crate) fn first(&self) -> Option<&[u8]> {
        self.first.as_deref()
    }

    pub(crate) fn last(&self) -> Option<&[u8]> {
        self.last.as_deref()
    }
}

/// Bytes for one Sink.
pub(crate) struct SinkBytes {
    pub node: NodeId,
    pub encoded: Encoded,
    /// The columns of the records.
    pub names: Arc<[Arc<str>]>,
    /// Keys of the records, for an output that is split by groups.
    pub keys: Option<Keys>,
    /// Rows that are encoded when their turn comes, because they bring a new column.
    pub waiting: Option<Batch>,
}

/// Rows on their way into the sort of a Sink.
pub(crate) struct SortInput {
    pub node: NodeId,
    pub rows: Keyed,
}

/// Everything one block causes, to be applied in input order.
pub(crate) struct BlockResult {
    /// Files that were opened before this block, in order.
    pub opened: Vec<SourceFileAt>,
    /// Files of which everything was read before this block: their counts.
    pub populations: Vec<Population>,
    /// What is to be noted about files that ended before it.
    pub notes: Vec<Diagnostic>,
    pub failures: Vec<PendingFailure>,
    /// Text of dead letters.
    pub letters: Vec<u8>,
    pub events: Vec<PendingEvent>,
    /// Records that log directives count.
    pub logs: Vec<PendingLog>,
    pub outputs: Vec<SinkBytes>,
    /// Rows that a Sink orders before it writes them.
    pub sorts: Vec<SortInput>,
    /// Rows that are held for a reader whose turn has not come.
    pub slots: Vec<SlotInput>,
    pub books: Books,
    /// Whose turn comes where, in the order of their places: what has been read when a row fails is counted by them. Rows
    /// that went nowhere have had their turn, too.
    pub turns: VecDeque<Turn>,
    /// Which source rows have an output row.
    pub written: Written,
    /// Ends the run behind everything above.
    pub fault: Option<RunError>,
    /// Admitted rows that are too large to go on together: they do so in pieces when their turn comes.
    pub oversized: Option<Batch>,
    /// The memory of the block.
    pub memory: Option<Reservation>,
}

impl BlockResult {
    /// Adds what a part of the block caused.
    pub(crate) fn absorb(&mut self, part: BlockResult) {
        if self.letters.is_empty() {
            self.letters = part.letters;
            self.failures.extend(part.failures);
        } else {
            for mut failure in part.failures {
                failure.letter = self.copy_letter(&part.letters[failure.letter.clone()]);
                self.failures.push(failure);
            }
        }
        self.events.extend(part.events);
        self.notes.extend(part.notes);
        self.logs.extend(part.logs);
        self.outputs.extend(part.outputs);
        self.sorts.extend(part.sorts);
        self.slots.extend(part.slots);
        self.books.add(&part.books);
        self.written.absorb(part.written);
    }

    /// Moves the failures of rows up to `row` into another result.
    pub(crate) fn hand_failures(&mut self, row: u32, part: &mut BlockResult) {
        let later = self.failures.iter().position(|failure| failure.row > row).unwrap_or(self.failures.len());
        for mut failure in self.failures.drain(..later) {
            failure.letter = part.copy_letter(&self.letters[failure.letter.clone()]);
            part.failures.push(failure);
        }
    }

    /// Moves the failures and turns up to a place into another result.
    pub(crate) fn hand_over(&mut self, place: u32, part: &mut BlockResult) {
        self.hand_failures(place, part);
        part.turns.extend(std::iter::from_fn(|| self.next_turn(place)));
    }

    /// Takes the first turn, if it is not behind a place.
    pub(crate) fn next_turn(&mut self, place: u32) -> Option<Turn> {
        self.turns.front().is_some_and(|turn| turn.place <= place).then(|| self.turns.pop_front()).flatten()
    }

    fn copy_letter(&mut self, text: &[u8]) -> std::ops::Range<usize> {
        let start = self.letters.len();
        self.letters.extend_from_slice(text);
        start..self.letters.len()
    }

    /// The order of dead letters: rows as they were read, then the stages of a row in plan order.
    pub(crate) fn sort(&mut self) {
        self.failures.sort_by_key(|failure| (failure.row, failure.node));
        self.events.sort_by_key(|event| (event.row, event.node));
    }

    pub(crate) fn new(nodes: &[Node], opened: Vec<SourceFileAt>) -> Self {
        Self {
            opened,
            populations: Vec::new(),
            notes: Vec::new(),
            failures: Vec::new(),
            letters: Vec::new(),
            events: Vec::new(),
            logs: Vec::new(),
            outputs: Vec::new(),
            sorts: Vec::new(),
            slots: Vec::new(),
            books: Books::new(nodes),
            turns: VecDeque::new(),
            written: Written::default(),
            fault: None,
            oversized: None,
            memory: None,
        }
    }
}

/// Which source rows of a block have an output row.
pub(crate) enum Written {
    /// Each row of the block stems from a record of its own and goes to one Sink: it is enough to count them.
    Counted(u64),
    /// Several Sinks may write a row: which places of the block have been written.
    Places(Vec<bool>),
    /// Rows of one record may be written by several blocks: Source and ordinal of each written row.
    Rows(Vec<(u16, u64)>),
}

impl Default for Written {
    fn default() -> Self {
        Written::Counted(0)
    }
}

impl Written {
    /// Nothing is written yet of the rows of a batch that goes to so many Sinks; `tracks` says whether rows must be told
    /// apart by where they come from.
    pub(crate) fn new(batch: &Batch, sinks: usize, tracks: bool) -> Self {
        let places = || batch.rows.checked_sub(1).map_or(0, |last| batch.origin.block_row(last) as usize + 1);
        match (tracks, sinks) {
            (true, _) => Written::Rows(Vec::new()),
            (false, 0 | 1) => Written::Counted(0),
            (false, _) => Written::Places(vec![false; places()]),
        }
    }

    /// Adds the rows of a batch, except those at refused places.
    pub(crate) fn add(&mut self, batch: &Batch, refused: impl Iterator<Item = u32>) {
        if let Written::Counted(rows) = self {
            *rows += (batch.rows - refused.count()) as u64;
            return;
        }
        let refused: Vec<u32> = refused.collect();
        for row in 0..batch.rows {
            let at = batch.origin.block_row(row);
            if refused.contains(&at) {
                continue;
            }
            match self {
                Written::Counted(_) => {}
                Written::Places(places) => places[at as usize] = true,
                Written::Rows(rows) => {
                    let (run, distance) = batch.origin.locate(row);
                    rows.push((run.source, run.ordinal + distance));
                }
            }
        }
    }

    /// Adds what a part of the block wrote.
    pub(crate) fn absorb(&mut self, part: Written) {
        match (self, part) {
            (Written::Rows(rows), Written::Rows(more)) => rows.extend(more),
            // A part has all of the block, or nothing was written before it.
            (_, Written::Counted(0)) => {}
            (whole, part) => *whole = part,
        }
    }

    /// How many source rows have an output row for the first time.
    pub(crate) fn count(self, seen: &mut SeenRows) -> u64 {
        match self {
            Written::Counted(rows) => rows,
            Written::Places(places) => places.iter().filter(|written| **written).count() as u64,
            Written::Rows(mut rows) => {
                // Each Sink has added all of its rows.
                rows.sort_unstable();
                rows.dedup();
                rows.iter().filter(|(source, ordinal)| seen.is_new(usize::from(*source), *ordinal)).count() as u64
            }
        }
    }
}

/// The source rows that were counted as written.
pub(crate) enum SeenRows {
    /// Rows come in the order of their Source: the ordinal of the last one of each. The rows of one record may be spread
    /// over several blocks.
    Last(Vec<u64>),
    /// Rows come in any order, because they are sorted or held: a bit for each row of each Source.
    All(Vec<Vec<u64>>, Reservation),
}

impl SeenRows {
    /// Nothing was written yet. `in_order` says whether the rows of a Source are written in their order.
    pub(crate) fn new(sources: usize, in_order: bool, budget: &Arc<Budget>) -> Self {
        match in_order {
            true => SeenRows::Last(vec![0; sources]),
            false => SeenRows::All(vec![Vec::new(); sources], budget.reserve("written rows", 0)),
        }
    }

    fn is_new(&mut self, source: usize, ordinal: u64) -> bool {
        match self {
            SeenRows::Last(last) => std::mem::replace(&mut last[source], ordinal) != ordinal,
            SeenRows::All(rows, memory) => {
                let (word, bit) = ((ordinal / 64) as usize, 1 << (ordinal % 64));
                let bits = &mut rows[source];
                if bits.len() <= word {
                    let before = bits.capacity();
                    bits.resize(word + 1, 0);
                    memory.resize(memory.bytes() + 8 * (bits.capacity() - before) as u64);
                }
                let is_new = bits[word] & bit == 0;
                bits[word] |= bit;
                is_new
            }
        }
    }
}
