//! Cuts files into blocks of whole segments, with the levels that open and close in them.

pub(crate) mod levels;
mod scan;

use std::sync::Arc;

use clinker_format::input::BlockInput;
use clinker_format::{Block, BlockBound, Cutter, Fault, Mark, Note};

use crate::context::{BinarySpan, BlockContext, KeyRun};
use crate::reader::{Bound, Front};
use crate::segment::Elements;
use crate::tags::TagCache;
use crate::text::TextRules;
use crate::validator::RuleValidator;

/// The most bytes a block is filled to, whatever the caller asks: positions in a block take 31 bits.
const MAX_BLOCK_BYTES: usize = 256 << 20;

/// Where the cutter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// In front of a segment of an interchange.
    Body,
    /// Behind the segment that closes one.
    Behind,
    /// The input ended as it should.
    Ended,
    /// It did not.
    Broken,
}

/// What became of an attempt to go on.
enum Step {
    /// More bytes are needed.
    More,
    /// The block is full.
    Full,
    /// The cutter stands elsewhere now.
    Again,
    /// The input ends here, and may.
    End,
}

/// Cuts one file.
pub(crate) struct SegmentCutter {
    bound: Arc<Bound>,
    phase: Phase,
    validator: RuleValidator,
    tags: TagCache,
    text: Arc<TextRules>,
    /// Places and values of the separators in the header, for segments that repeat them.
    declared: Vec<(usize, u8)>,
    /// The next segment is the header of an interchange.
    at_header: bool,
    /// The engine key `$newline`, once the first segment was seen.
    newline: Option<Arc<[u8]>>,
    delims: Arc<[u8]>,
    next_row: u64,
    /// Segments so far.
    segments: u64,
    /// Blanks and tabs between segments.
    blanks: u64,
    /// Escaped separators that were decoded.
    lost: u64,
    /// Offset in the file of the window.
    window_offset: u64,
    /// An end-of-file control was seen.
    end_mark: bool,
    /// Levels that are open, outermost first.
    open: Vec<u16>,
    /// Values of the key columns.
    keys: Vec<Option<Arc<str>>>,
    /// They differ from what the block says last.
    keys_changed: bool,
    /// Memory for the elements of a header or a trailer.
    scratch: Elements,
    /// A fault behind the block that was returned last.
    pending: Option<Fault>,
}

/// A block that is being filled; positions are those in the window.
#[derive(Default)]
struct Work {
    /// Bytes that were looked at.
    at: usize,
    /// Where the last segment ends.
    end: usize,
    rows: usize,
    marks: Vec<Mark>,
    skipped: Vec<u32>,
    binaries: Vec<BinarySpan>,
    keys: Vec<KeyRun>,
    /// Segment ordinal in front of it.
    first_line: u64,
    /// Offset in the file of the window.
    base: u64,
}

impl Work {
    fn has_content(&self) -> bool {
        self.rows > 0 || !self.marks.is_empty()
    }

    fn position(at: usize) -> u32 {
        u32::try_from(at).expect("a block has less than 2^32 bytes")
    }
}

impl SegmentCutter {
    pub(crate) fn new(bound: Arc<Bound>, front: Front) -> Self {
        let validator = RuleValidator::new(Arc::clone(&bound.dialect), bound.many);
        let tags = TagCache::new(&bound.dialect);
        let keys = vec![None; bound.keys.len()];
        let delims = Arc::clone(&front.start.delimiters.key);
        let mut cutter = Self {
            phase: Phase::Body,
            validator,
            tags,
            text: Arc::clone(&front.text),
            declared: Vec::new(),
            at_header: true,
            newline: None,
            delims,
            next_row: 1,
            segments: 0,
            blanks: 0,
            lost: 0,
            window_offset: 0,
            end_mark: false,
            open: Vec::new(),
            keys,
            keys_changed: true,
            scratch: Elements::default(),
            pending: None,
            bound,
        };
        cutter.enter(front);
        cutter
    }

    /// Begins an interchange at its header.
    fn enter(&mut self, front: Front) {
        self.validator.delimiters(&front.start.delimiters);
        self.delims = Arc::clone(&front.start.delimiters.key);
        self.blanks += front.start.blanks;
        self.declared = front.start.declared;
        self.text = front.text;
        self.newline = None;
        self.at_header = true;
        self.phase = Phase::Body;
    }

    /// Fills a block until it is full, or until something ends it.
    fn fill(&mut self, input: &mut BlockInput, bound: BlockBound, work: &mut Work) -> Result<(), Fault> {
        loop {
            let step = match self.phase {
                Phase::Body => self.scan(input.window(), input.ended(), bound, work)?,
                Phase::Behind => self.behind(input.window(), input.ended(), bound, work)?,
                Phase::Ended | Phase::Broken => Step::End,
            };
            match step {
                Step::Full => return Ok(()),
                Step::Again => {}
                Step::End => {
                    self.phase = Phase::Ended;
                    return Ok(());
                }
                Step::More => {
                    if let Err(error) = input.grow() {
                        if work.has_content() {
                            input.defer(error);
                            return Ok(());
                        }
                        return Err(error.into());
                    }
                }
            }
        }
    }

    fn block(&mut self, input: &mut BlockInput, work: Work) -> Block {
        let context = BlockContext {
            text: Arc::clone(&self.text),
            skipped: work.skipped,
            binaries: work.binaries,
            keys: work.keys,
        };
        // What stands behind the last segment is no part of the block.
        let block = Block {
            data: input.take(work.at).slice_with_length(0, work.end),
            rows: Work::position(work.rows),
            first_row: self.next_row,
            first_line: work.first_line + 1,
            offset: work.base,
            marks: work.marks,
            context: Some(Arc::new(context)),
        };
        self.next_row += work.rows as u64;
        block
    }
}

impl Cutter for SegmentCutter {
    fn cut(&mut self, input: &mut BlockInput, bound: BlockBound) -> Result<Option<Block>, Fault> {
        if let Some(fault) = self.pending.take() {
            return Err(fault);
        }
        if self.phase == Phase::Broken {
            return Err(Fault::Contract { reason: "`cut` was called behind the fault that ended the file".into() });
        }
        let bound = BlockBound { rows: bound.rows.max(1), bytes: bound.bytes.clamp(1, MAX_BLOCK_BYTES) };
        loop {
            self.window_offset = input.offset();
            self.keys_changed = true;
            let mut work = Work { first_line: self.segments, base: self.window_offset, ..Work::default() };
            let filled = self.fill(input, bound, &mut work);
            if !matches!(filled, Ok(()) | Err(Fault::Violation { .. })) {
                self.phase = Phase::Broken;
            }
            if work.has_content() {
                self.pending = filled.err();
                return Ok(Some(self.block(input, work)));
            }
            input.take(work.at);
            filled?;
            if self.phase == Phase::Ended {
                return Ok(None);
            }
        }
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.lost > 0 {
            notes.push(Note {
                code: "W402",
                count: self.lost,
                text: "escaped separators inside of elements were decoded; they cannot be written as they were".into(),
            });
        }
        if self.blanks > 0 {
            notes.push(Note {
                code: "W405",
                count: self.blanks,
                text: "blanks and tabs between segments were skipped".into(),
            });
        }
        notes
    }
}
