//! Where the segments and elements of a block are: 64 bytes at a time.

use memchr::memchr;
use wide::u8x16;

use crate::context::BlockContext;
use crate::dialect::Dialect;
use crate::segment::Shape;

/// Bytes looked at in one step.
const STEP: usize = 64;

/// A row: where it begins, and its first boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowAt {
    pub start: u32,
    /// Position in [`Index::ends`] of the end of its tag. The ends of its elements follow.
    pub first: u32,
}

/// The structure of a block.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Where tags and elements end.
    pub ends: Vec<u32>,
    /// The rows; behind the last one stands where the boundaries end.
    pub rows: Vec<RowAt>,
    /// Segments that are no rows: how many rows stand in front of each.
    pub skipped: Vec<u32>,
}

impl Index {
    /// The structure of the segments of a block.
    pub(crate) fn of(dialect: &Dialect, context: &BlockContext, data: &[u8], expected_rows: usize) -> Index {
        let mark = context.text.literal_mark();
        let mut builder = Builder {
            data,
            element: context.text.delimiters.element,
            terminator: context.text.delimiters.terminator,
            mark,
            breaks_are_data: dialect.framing.line_breaks_are_data,
            skipped: &context.skipped,
            literal_until: 0,
            start: 0,
            first: 0,
            index: Index {
                ends: Vec::with_capacity(data.len() / 5 + 64),
                rows: Vec::with_capacity(expected_rows + 1),
                skipped: Vec::with_capacity(context.skipped.len()),
            },
        };
        let delimiters = &context.text.delimiters;
        let plain =
            delimiters.tag == delimiters.element && dialect.framing.tag_width.is_none() && context.binaries.is_empty();
        if plain {
            builder.run(mark.filter(|mark| memchr(*mark, data).is_some()));
        } else {
            builder.one_by_one(dialect, context);
        }
        builder.finish()
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len() - 1
    }

    /// Number of elements of a row.
    pub(crate) fn width(&self, row: usize) -> usize {
        (self.rows[row + 1].first - self.rows[row].first - 1) as usize
    }

    /// The bytes of a row without its terminator.
    pub(crate) fn segment(&self, row: usize) -> std::ops::Range<usize> {
        let end = self.ends[self.rows[row + 1].first as usize - 1];
        self.rows[row].start as usize..end as usize
    }

    /// The segments in front of a row in its block.
    pub(crate) fn lines_before(&self, row: usize) -> u64 {
        let others = self.skipped.partition_point(|before| *before as usize <= row);
        (row + others) as u64
    }
}

struct Builder<'a> {
    data: &'a [u8],
    element: u8,
    terminator: u8,
    mark: Option<u8>,
    breaks_are_data: bool,
    skipped: &'a [u32],
    /// Bytes in front of this position are literal.
    literal_until: usize,
    /// Where the open segment begins.
    start: usize,
    /// Its first boundary.
    first: u32,
    index: Index,
}

impl Builder<'_> {
    /// Finds all boundaries. `mark` is the character that makes the next byte literal, if the block has any.
    fn run(&mut self, mark: Option<u8>) {
        self.skip_padding(0);
        let (steps, tail) = self.data.as_chunks::<STEP>();
        for (number, step) in steps.iter().enumerate() {
            self.step(number * STEP, step, mark);
        }
        let mut last = [self.filler(); STEP];
        last[..tail.len()].copy_from_slice(tail);
        self.step(steps.len() * STEP, &last, mark);
        if self.start < self.data.len() {
            // The last segment has no terminator.
            self.end_segment(self.data.len());
        }
    }

    /// A byte without meaning.
    fn filler(&self) -> u8 {
        (b'a'..=b'z').find(|byte| *byte != self.element && *byte != self.terminator).unwrap_or(b'a')
    }

    #[inline]
    fn step(&mut self, base: usize, bytes: &[u8; STEP], mark: Option<u8>) {
        let (lanes, _) = bytes.as_chunks::<16>();
        let lanes = [0, 1, 2, 3].map(|lane| u8x16::new(lanes[lane]));
        let find = |byte: u8| {
            let wanted = u8x16::splat(byte);
            let [a, b, c, d] = lanes.map(|lane| u64::from(lane.simd_eq(wanted).to_bitmask()));
            a | b << 16 | c << 32 | d << 48
        };
        let terminators = find(self.terminator);
        let mut rest = find(self.element) | terminators;
        if let Some(mark) = mark {
            let marks = find(mark);
            if marks != 0 || self.literal_until > base {
                return self.step_with_marks(base, rest, terminators, marks);
            }
        }
        while rest != 0 {
            let bit = rest & rest.wrapping_neg();
            let at = base + rest.trailing_zeros() as usize;
            if terminators & bit != 0 {
                self.end_segment(at);
            } else {
                self.index.ends.push(at as u32);
            }
            rest &= rest - 1;
        }
    }

    #[cold]
    fn step_with_marks(&mut self, base: usize, structure: u64, terminators: u64, marks: u64) {
        let mut rest = structure | marks;
        while rest != 0 {
            let bit = rest & rest.wrapping_neg();
            let at = base + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            if at < self.literal_until {
                continue;
            }
            if marks & bit != 0 {
                self.literal_until = at + 2;
            } else if terminators & bit != 0 {
                self.end_segment(at);
            } else {
                self.index.ends.push(at as u32);
            }
        }
    }

    #[inline]
    fn end_segment(&mut self, at: usize) {
        if at > self.start {
            if self.index.skipped.len() < self.skipped.len()
                && self.skipped[self.index.skipped.len()] as usize == self.start
            {
                self.index.skipped.push(self.index.rows.len() as u32);
                self.index.ends.truncate(self.first as usize);
            } else {
                self.index.ends.push(at as u32);
                self.index.rows.push(RowAt { start: self.start as u32, first: self.first });
                self.first = self.index.ends.len() as u32;
            }
        }
        self.skip_padding(at + 1);
    }

    /// The next segment begins behind what may stand between segments.
    #[inline]
    fn skip_padding(&mut self, from: usize) {
        let mut at = from;
        while let Some(byte) = self.data.get(at) {
            match byte {
                b'!'.. => break,
                b'\r' | b'\n' if !self.breaks_are_data => {}
                b' ' | b'\t' => {}
                _ => break,
            }
            if *byte == self.terminator {
                break;
            }
            at += 1;
        }
        self.start = at;
    }

    /// The same for segments whose structure is not only separators.
    fn one_by_one(&mut self, dialect: &Dialect, context: &BlockContext) {
        let text = &context.text;
        let shape = Shape { dialect, delimiters: &text.delimiters, literal_mark: self.mark };
        let mut binaries = context.binaries.iter().peekable();
        self.skip_padding(0);
        while self.start < self.data.len() {
            let start = self.start;
            let span = binaries.next_if(|span| span.start as usize == start);
            let rest = &self.data[start..];
            let len = match span {
                Some(span) => span.end as usize - start,
                None => crate::text::find_bare(rest, self.terminator, self.mark).unwrap_or(rest.len()),
            };
            let segment = &rest[..len];
            let rule = span.and_then(|span| dialect.binary.get(usize::from(span.rule)));
            let tag = shape.tag_len(segment);
            if tag < len {
                self.index.ends.push((start + tag) as u32);
            }
            let ends = &mut self.index.ends;
            shape.elements(segment, rule, |_, end| {
                if end < len {
                    ends.push((start + end) as u32);
                }
            });
            self.end_segment(start + len);
        }
    }

    fn finish(mut self) -> Index {
        let first = self.index.ends.len() as u32;
        self.index.rows.push(RowAt { start: self.data.len() as u32, first });
        self.index
    }
}
