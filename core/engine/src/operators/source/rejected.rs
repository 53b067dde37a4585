//! What a Source rejected of a file that is held: failures with their letters, in file order, in memory or on disk.

use std::collections::VecDeque;
use std::sync::Arc;

use clinker_memory::spill::{SpillDirectory, SpillError, SpillFile, SpillReader};
use clinker_memory::{Reservation, priority};
use clinker_plan::NodeId;
use clinker_record::Category;

use crate::block::PendingFailure;
use crate::runtime::Runtime;

/// Failures in file order with the text of their letters.
#[derive(Default)]
pub(super) struct Chunk {
    pub failures: Vec<PendingFailure>,
    pub letters: Vec<u8>,
}

/// Bytes of a failure that is stored, in front of the letters.
const STORED: usize = 32;

impl Chunk {
    fn bytes(&self) -> u64 {
        (self.failures.len() * size_of::<PendingFailure>() + self.letters.len()) as u64
    }

    /// Adds a failure of another chunk with its letter.
    fn take(&mut self, mut failure: PendingFailure, letters: &[u8]) {
        let start = self.letters.len();
        self.letters.extend_from_slice(&letters[failure.letter.clone()]);
        failure.letter = start..self.letters.len();
        self.failures.push(failure);
    }

    fn store(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&(self.failures.len() as u32).to_le_bytes());
        for failure in &self.failures {
            out.extend_from_slice(&(failure.node as u32).to_le_bytes());
            out.extend_from_slice(&failure.source.to_le_bytes());
            let category = Category::ALL.iter().position(|category| *category == failure.category).unwrap_or(0);
            out.extend_from_slice(&[u8::from(failure.typed), category as u8]);
            out.extend_from_slice(&failure.ordinal.to_le_bytes());
            out.extend_from_slice(&(failure.letter.start as u64).to_le_bytes());
            out.extend_from_slice(&(failure.letter.end as u64).to_le_bytes());
        }
        out.extend_from_slice(&self.letters);
    }

    fn restore(stored: &[u8]) -> Option<Chunk> {
        let (count, rest) = stored.split_first_chunk::<4>()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (failures, letters) = rest.split_at_checked(count.checked_mul(STORED)?)?;
        let failure = |bytes: &[u8]| {
            let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
            Some(PendingFailure {
                row: 0,
                node: u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as NodeId,
                source: u16::from_le_bytes(bytes.get(4..6)?.try_into().ok()?),
                ordinal: number(8)?,
                typed: *bytes.get(6)? != 0,
                category: *Category::ALL.get(usize::from(*bytes.get(7)?))?,
                letter: number(16)? as usize..number(24)? as usize,
                stop: None,
            })
        };
        let failures = failures.chunks_exact(STORED).map(failure).collect::<Option<Vec<_>>>()?;
        let inside = |failure: &PendingFailure| letters.get(failure.letter.clone()).is_some();
        failures.iter().all(inside).then(|| Chunk { failures, letters: letters.to_vec() })
    }
}

/// What was rejected so far.
pub(super) struct Rejected {
    spill: Arc<SpillDirectory>,
    stage: Arc<str>,
    files: VecDeque<SpillFile>,
    held: VecDeque<Chunk>,
    memory: Reservation,
}

impl Rejected {
    pub(super) fn new(runtime: &Runtime<'_>, node: NodeId) -> Self {
        Self {
            spill: Arc::clone(&runtime.spill),
            stage: Arc::clone(&runtime.plan.nodes[node].name),
            files: VecDeque::new(),
            held: VecDeque::new(),
            memory: runtime.budget.reserve_spillable("rejected rows of a file", priority::BARRIER),
        }
    }

    pub(super) fn push(&mut self, chunk: Chunk) {
        if !chunk.failures.is_empty() {
            self.memory.resize(self.memory.bytes() + chunk.bytes());
            self.held.push_back(chunk);
        }
    }

    /// Spills when the budget asks for it.
    pub(super) fn relieve(&mut self) -> Result<(), SpillError> {
        if !self.memory.is_asked_to_spill() {
            return Ok(());
        }
        let mut writer = self.spill.create(&self.stage, true)?;
        let mut frame = Vec::new();
        for chunk in std::mem::take(&mut self.held) {
            chunk.store(&mut frame);
            writer.frame(&frame)?;
        }
        self.files.push_back(writer.finish()?);
        self.memory.resize(0);
        Ok(())
    }

    pub(super) fn scan(self) -> RejectedScan {
        let current = Vec::new().into_iter();
        RejectedScan { from: self, reader: None, letters: Vec::new(), current, next: None }
    }
}

/// Gives back what was rejected, in file order.
pub(super) struct RejectedScan {
    from: Rejected,
    /// The file that is read: it goes with its reader.
    reader: Option<(SpillFile, SpillReader)>,
    letters: Vec<u8>,
    current: std::vec::IntoIter<PendingFailure>,
    next: Option<PendingFailure>,
}

/// Bytes of letters that go on at once, about.
const PART: usize = 1 << 20;

impl RejectedScan {
    /// Failures of rows in front of that ordinal.
    pub(super) fn before(&mut self, ordinal: u64) -> Result<Chunk, SpillError> {
        self.while_true(|failure, _| failure.ordinal < ordinal)
    }

    /// The failures that are left, or as many of them as go on at once.
    pub(super) fn all(&mut self) -> Result<Chunk, SpillError> {
        self.while_true(|_, taken| taken < PART)
    }

    fn while_true(&mut self, goes: impl Fn(&PendingFailure, usize) -> bool) -> Result<Chunk, SpillError> {
        let mut chunk = Chunk::default();
        while self.fill()? {
            let Some(failure) = self.next.take_if(|failure| goes(failure, chunk.letters.len())) else { break };
            chunk.take(failure, &self.letters);
        }
        Ok(chunk)
    }

    /// Whether there is a next failure.
    fn fill(&mut self) -> Result<bool, SpillError> {
        while self.next.is_none() {
            self.next = self.current.next();
            if self.next.is_none() && !self.load()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The next chunk: from disk first, because what is on disk came first.
    fn load(&mut self) -> Result<bool, SpillError> {
        loop {
            if let Some((_, reader)) = &mut self.reader {
                let mut frame = Vec::new();
                if reader.frame(&mut frame)? {
                    let chunk = Chunk::restore(&frame).ok_or_else(|| reader.corrupt("rejected rows cannot be read"))?;
                    self.current(chunk);
                    return Ok(true);
                }
                self.reader = None;
            }
            if let Some(file) = self.from.files.pop_front() {
                let reader = file.open()?;
                self.reader = Some((file, reader));
                continue;
            }
            let Some(chunk) = self.from.held.pop_front() else { return Ok(false) };
            self.from.memory.resize(self.from.memory.bytes().saturating_sub(chunk.bytes()));
            self.current(chunk);
            return Ok(true);
        }
    }

    fn current(&mut self, chunk: Chunk) {
        self.letters = chunk.letters;
        self.current = chunk.failures.into_iter();
    }
}
