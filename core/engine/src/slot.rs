//! Slots: the rows of an output that are held for readers whose turn has not come.
//!
//! A slot takes batches in the order of effects, in memory or, when the budget asks, on disk. A reader opens a scan over
//! everything that was held so far; the last one takes it along. Rows, origins, levels and the beginnings of files come back
//! in the order in which they were held.

use std::collections::HashMap;
use std::sync::Arc;

use clinker_memory::spill::{SpillError, SpillFile, SpillReader, SpillWriter};
use clinker_memory::{Reservation, priority};
use clinker_plan::{CompiledPlan, Input, NodeId};
use clinker_record::stored::{self, LevelTable};
use clinker_record::{Batch, SchemaRef};

use crate::RunError;
use crate::destinations::SourceFileAt;
use crate::operators::sort::spill_failed;
use crate::runtime::Runtime;

/// Rows on their way into a slot.
pub(crate) struct SlotInput {
    pub from: Input,
    pub rows: Batch,
}

/// What is held, in order.
#[derive(Clone)]
pub(crate) enum Entry {
    /// A file of a Source began.
    Opened(SourceFileAt),
    Rows(Batch),
}

/// The slots of a run, by the output whose rows they hold.
pub(crate) struct Slots {
    slots: HashMap<(NodeId, usize), Slot>,
}

struct Slot {
    node: Arc<str>,
    schema: SchemaRef,
    compress: bool,
    /// Readers whose turn has not come.
    readers: usize,
    /// What was held before the rows below; shared with the scans of earlier readers.
    segments: Vec<Arc<Segment>>,
    held: Vec<Entry>,
    /// Small batches at the end of `held`, and their rows.
    loose: (usize, usize),
    rows: u64,
    memory: Reservation,
}

/// A part of what a slot holds.
enum Segment {
    Memory(Vec<Entry>, Reservation),
    Spilled(SpillFile, LevelTable),
}

/// Bytes of the origin of a row of its own.
const ORIGIN: usize = 32;
/// What a frame of a spilled slot begins with.
const ROWS: u8 = b'r';
const OPENED: u8 = b'o';

impl Slots {
    /// Empty slots for every output that is held for a reader. An output that merely waits for its turn has none.
    pub(crate) fn new(runtime: &Runtime<'_>) -> Self {
        let plan = runtime.plan;
        let mut slots: HashMap<(NodeId, usize), Slot> = HashMap::new();
        for (_, _, input) in waiting(plan) {
            let node = &plan.nodes[input.node];
            let slot = slots.entry((input.node, input.port)).or_insert_with(|| Slot {
                node: Arc::clone(&node.name),
                schema: Arc::clone(&node.schema),
                compress: runtime.compresses(node.schema.columns.len()),
                readers: 0,
                segments: Vec::new(),
                held: Vec::new(),
                loose: (0, 0),
                rows: 0,
                memory: runtime.budget.reserve_spillable("slot", priority::SLOT),
            });
            slot.readers += 1;
        }
        Self { slots }
    }

    /// Takes rows.
    pub(crate) fn push(&mut self, runtime: &Runtime<'_>, input: SlotInput) -> Result<(), RunError> {
        let slot = self.slot(input.from)?;
        slot.rows += input.rows.rows as u64;
        slot.push_rows(runtime, input.rows);
        Ok(())
    }

    /// A file began whose rows come next.
    pub(crate) fn open_file(&mut self, from: Input, at: SourceFileAt) -> Result<(), RunError> {
        let slot = self.slot(from)?;
        slot.loose = (0, 0);
        slot.held.push(Entry::Opened(at));
        Ok(())
    }

    /// Spills what is asked to leave memory.
    pub(crate) fn relieve(&mut self, runtime: &Runtime<'_>) -> Result<(), RunError> {
        let mut ports: Vec<(NodeId, usize)> = self.slots.keys().copied().collect();
        ports.sort_unstable();
        for port in ports {
            if let Some(slot) = self.slots.get_mut(&port)
                && slot.memory.is_asked_to_spill()
            {
                slot.spill(runtime).map_err(|error| spill_failed(&slot.node, error))?;
            }
        }
        Ok(())
    }

    /// A scan over what is held for a reader. The last reader takes it along.
    pub(crate) fn open(&mut self, runtime: &Runtime<'_>, from: Input) -> Result<Scan, RunError> {
        let slot = self.slot(from)?;
        if slot.readers == 0 {
            return Err(RunError::internal(format!("the rows of `{}` were read more often than planned", slot.node)));
        }
        slot.readers -= 1;
        slot.seal(runtime);
        let segments = if slot.readers == 0 { std::mem::take(&mut slot.segments) } else { slot.segments.clone() };
        let (schema, node, rows) = (Arc::clone(&slot.schema), Arc::clone(&slot.node), slot.rows);
        if slot.readers == 0 {
            self.slots.remove(&(from.node, from.port));
        }
        Ok(Scan { node, schema, rows, segments: segments.into_iter(), current: None })
    }

    /// Nothing may be left at the end of a run.
    pub(crate) fn check_empty(&self) -> Result<(), RunError> {
        match self.slots.values().next() {
            None => Ok(()),
            Some(slot) => Err(RunError::internal(format!("the rows held of `{}` were not read", slot.node))),
        }
    }

    fn slot(&mut self, from: Input) -> Result<&mut Slot, RunError> {
        self.slots.get_mut(&(from.node, from.port)).ok_or_else(|| {
            let (node, port) = (from.node, from.port);
            RunError::internal(format!("no slot for port {port} of node {node}; the input was not treated as empty"))
        })
    }
}

/// Inputs whose rows are held in fact.
pub(crate) fn waiting(plan: &CompiledPlan) -> impl Iterator<Item = (NodeId, usize, Input)> + '_ {
    plan.held_edges().filter(|(reader, at, _)| !plan.is_deferred(*reader, *at))
}

impl Slot {
    fn push_rows(&mut self, runtime: &Runtime<'_>, rows: Batch) {
        if rows.rows == 0 {
            return;
        }
        self.memory.resize(self.memory.bytes() + bytes(&rows));
        let bound = runtime.bound.rows.max(1);
        if rows.rows * 2 > bound {
            self.loose = (0, 0);
            self.held.push(Entry::Rows(rows));
            return;
        }
        self.loose = (self.loose.0 + 1, self.loose.1 + rows.rows);
        self.held.push(Entry::Rows(rows));
        if self.loose.1 * 2 > bound {
            self.join();
        }
    }

    /// Makes one batch of the small ones at the end.
    fn join(&mut self) {
        let (batches, _) = std::mem::take(&mut self.loose);
        if batches < 2 {
            return;
        }
        let small = self.held.split_off(self.held.len() - batches);
        let small: Vec<Batch> = small.into_iter().filter_map(Entry::into_rows).collect();
        let before: u64 = small.iter().map(bytes).sum();
        let joined = Batch::concat(Arc::clone(&self.schema), &small).compact();
        self.memory.resize((self.memory.bytes() + bytes(&joined)).saturating_sub(before));
        self.held.push(Entry::Rows(joined));
    }

    /// What is in memory becomes a segment that scans can share.
    fn seal(&mut self, runtime: &Runtime<'_>) {
        self.join();
        if !self.held.is_empty() {
            // Rows that are read leave as they are read; they are not asked for.
            let memory = runtime.budget.reserve("slot scan", self.memory.bytes());
            self.memory.resize(0);
            self.segments.push(Arc::new(Segment::Memory(std::mem::take(&mut self.held), memory)));
        }
    }

    fn spill(&mut self, runtime: &Runtime<'_>) -> Result<(), SpillError> {
        self.join();
        let mut writer = runtime.spill.create(&self.node, self.compress)?;
        let mut levels = LevelTable::default();
        let mut frame = Vec::new();
        for entry in std::mem::take(&mut self.held) {
            store(&entry, &mut levels, &mut frame, &mut writer)?;
        }
        self.segments.push(Arc::new(Segment::Spilled(writer.finish()?, levels)));
        self.memory.resize(0);
        Ok(())
    }
}

fn bytes(rows: &Batch) -> u64 {
    (rows.memory_size() + rows.rows * ORIGIN) as u64
}

fn store(
    entry: &Entry,
    levels: &mut LevelTable,
    frame: &mut Vec<u8>,
    writer: &mut SpillWriter,
) -> Result<(), SpillError> {
    frame.clear();
    match entry {
        Entry::Opened(at) => {
            frame.push(OPENED);
            frame.extend_from_slice(&(at.source as u64).to_le_bytes());
            frame.extend_from_slice(&at.file.to_le_bytes());
        }
        Entry::Rows(rows) => {
            frame.push(ROWS);
            stored::store(rows, levels, frame).map_err(|error| writer.corrupt(&error.to_string()))?;
        }
    }
    writer.frame(frame)
}

/// Reads what a slot held.
pub(crate) struct Scan {
    node: Arc<str>,
    schema: SchemaRef,
    rows: u64,
    segments: std::vec::IntoIter<Arc<Segment>>,
    current: Option<Reading>,
}

enum Reading {
    Memory(Arc<Segment>, usize),
    Spilled(Arc<Segment>, Box<SpillReader>, Vec<u8>),
}

impl Scan {
    /// How many rows the slot held when the scan was opened.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The next entry. At most one batch leaves the disk at a time.
    pub(crate) fn next(&mut self) -> Result<Option<Entry>, RunError> {
        self.step().map_err(|error| spill_failed(&self.node, error))
    }

    fn step(&mut self) -> Result<Option<Entry>, SpillError> {
        loop {
            match &mut self.current {
                None => match self.segments.next() {
                    None => return Ok(None),
                    Some(segment) => self.current = Some(Reading::new(segment)?),
                },
                Some(reading) => match reading.next(&self.schema)? {
                    Some(entry) => return Ok(Some(entry)),
                    None => self.current = None,
                },
            }
        }
    }
}

impl Reading {
    fn new(segment: Arc<Segment>) -> Result<Self, SpillError> {
        let reader = match &*segment {
            Segment::Memory(..) => return Ok(Reading::Memory(segment, 0)),
            Segment::Spilled(file, _) => file.open()?,
        };
        Ok(Reading::Spilled(segment, Box::new(reader), Vec::new()))
    }

    fn next(&mut self, schema: &SchemaRef) -> Result<Option<Entry>, SpillError> {
        match self {
            Reading::Memory(segment, at) => {
                *at += 1;
                let at = *at - 1;
                Ok(match Arc::get_mut(segment) {
                    // Nobody else reads it: what was read is let go.
                    Some(Segment::Memory(entries, memory)) => entries.get_mut(at).map(|entry| entry.take(memory)),
                    _ => match &**segment {
                        Segment::Memory(entries, _) => entries.get(at).cloned(),
                        Segment::Spilled(..) => None,
                    },
                })
            }
            Reading::Spilled(segment, reader, frame) => {
                let Segment::Spilled(_, levels) = &**segment else { return Ok(None) };
                if !reader.frame(frame)? {
                    return Ok(None);
                }
                restore(frame, schema, levels, reader).map(Some)
            }
        }
    }
}

impl Entry {
    fn into_rows(self) -> Option<Batch> {
        match self {
            Entry::Rows(rows) => Some(rows),
            Entry::Opened(_) => None,
        }
    }

    /// Takes the rows out, and their bytes from what is reserved.
    fn take(&mut self, memory: &mut Reservation) -> Entry {
        let entry = self.clone();
        if let Entry::Rows(rows) = self {
            memory.resize(memory.bytes().saturating_sub(bytes(rows)));
            *rows = rows.take(&[]);
        }
        entry
    }
}

fn restore(frame: &[u8], schema: &SchemaRef, levels: &LevelTable, reader: &SpillReader) -> Result<Entry, SpillError> {
    match frame.split_first() {
        Some((&ROWS, rows)) => {
            let rows = stored::restore(schema, levels, rows).map_err(|error| reader.corrupt(&error.to_string()))?;
            Ok(Entry::Rows(rows))
        }
        Some((&OPENED, at)) if at.len() == 12 => {
            let (source, file) = at.split_at(8);
            let source = u64::from_le_bytes(source.try_into().unwrap_or_default());
            let file = u32::from_le_bytes(file.try_into().unwrap_or_default());
            Ok(Entry::Opened(SourceFileAt { source: source as usize, file }))
        }
        _ => Err(reader.corrupt("a frame has no known kind")),
    }
}
