//! Where the cells of a block end and its rows begin.

use std::ops::Range;

use crate::framing::{Class, Framing};
use crate::lexer::{Lexer, Marks, STEP, State};

/// Set in a cell's end when the cell begins with a quote. Blocks are far smaller than 2^31 bytes.
const QUOTED: u32 = 1 << 31;

/// The structure of a block, found in one pass.
#[derive(Debug, Default)]
pub struct Index {
    /// Where each cell ends, row after row.
    ends: Vec<u32>,
    /// Where each row begins.
    starts: Vec<u32>,
    /// Number of cells up to the end of each row.
    cells: Vec<u32>,
}

impl Index {
    /// The structure of whole rows.
    pub fn of(framing: &Framing, data: &[u8], expected_rows: usize) -> Self {
        let mut builder = Builder {
            framing,
            data,
            ends: Slots::with_capacity(data.len() / 8),
            starts: Slots::with_capacity(expected_rows),
            cells: Slots::with_capacity(expected_rows),
            open: 0,
            open_quoted: false,
        };
        let mut lexer = Lexer::new(*framing);
        let (steps, tail) = data.as_chunks::<STEP>();
        for (number, step) in steps.iter().enumerate() {
            let marks = lexer.step(step);
            builder.place(number * STEP, marks);
        }
        let marks = lexer.step_exact(tail);
        builder.place(steps.len() * STEP, marks);
        builder.finish(lexer.state())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len()
    }

    /// Where each row begins.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Position in the index of a row's first cell.
    pub fn first_cell(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.cells[row - 1] as usize }
    }

    /// Number of cells of a row.
    pub fn width(&self, row: usize) -> usize {
        self.cells[row] as usize - self.first_cell(row)
    }

    /// The bytes of a row without its terminator.
    pub fn row(&self, row: usize) -> Range<usize> {
        let last = self.ends[self.cells[row] as usize - 1];
        self.starts[row] as usize..(last & !QUOTED) as usize
    }

    /// Whether every row has `width` cells.
    pub fn is_regular(&self, width: usize) -> bool {
        self.ends.len() == width * self.rows()
            && self.cells.iter().enumerate().all(|(row, cells)| *cells as usize == (row + 1) * width)
    }

    /// Start and end of a cell, and whether it begins with a quote. `row_start` is used for a row's first cell.
    #[inline]
    pub fn cell(&self, row_start: u32, cell: usize, unit: usize) -> (usize, usize, bool) {
        let end = self.ends[cell];
        // The end before belongs to an earlier row when it lies in front of this row's start.
        let before = if cell == 0 { 0 } else { (self.ends[cell - 1] & !QUOTED) as usize + unit };
        (before.max(row_start as usize), (end & !QUOTED) as usize, end & QUOTED != 0)
    }
}

/// Numbers that are appended in groups of up to 64, without a check for each.
struct Slots {
    items: Vec<u32>,
    count: usize,
}

impl Slots {
    fn with_capacity(expected: usize) -> Self {
        Self { items: vec![0; expected + STEP], count: 0 }
    }

    /// Room for the numbers of one step.
    #[inline]
    fn room(&mut self) -> &mut [u32; STEP] {
        if self.items.len() < self.count + STEP {
            self.items.resize(2 * self.items.len() + STEP, 0);
        }
        (&mut self.items[self.count..self.count + STEP]).try_into().expect("a step has this many slots")
    }

    /// Appends a number for each set bit. The first `usual` ones are written whether there are so many or not, since a
    /// branch on how many there are could not be foretold.
    #[inline]
    fn append(&mut self, usual: usize, bits: u64, number: impl Fn(u64) -> u32) {
        let room = self.room();
        let mut rest = bits;
        for slot in &mut room[..usual] {
            *slot = number(rest);
            rest &= rest.wrapping_sub(1);
        }
        let mut slot = usual;
        while rest != 0 {
            room[slot % STEP] = number(rest);
            slot += 1;
            rest &= rest - 1;
        }
        self.count += bits.count_ones() as usize;
    }

    fn finish(mut self) -> Vec<u32> {
        self.items.truncate(self.count);
        self.items
    }
}

struct Builder<'a> {
    framing: &'a Framing,
    data: &'a [u8],
    ends: Slots,
    starts: Slots,
    cells: Slots,
    /// Where the open cell begins.
    open: usize,
    /// Whether it begins with a quote that stood in an earlier step.
    open_quoted: bool,
}

impl Builder<'_> {
    #[inline]
    fn place(&mut self, base: usize, marks: Marks) {
        let structure = marks.delimiters | marks.row_ends;
        let before = self.ends.count as u32;
        // Of a row's end: the cells that end up to it.
        self.cells.append(1, marks.row_ends, |rest| before + (structure & (rest ^ rest.wrapping_sub(1))).count_ones());
        let base_position = base as u32;
        self.starts.append(1, marks.row_starts, |rest| base_position + rest.trailing_zeros());
        if marks.quotes || self.open_quoted {
            self.place_quoted(base, marks);
        } else {
            self.ends.append(8, structure, |rest| base_position + rest.trailing_zeros());
            self.leave_open(base, marks);
        }
    }

    /// Appends the ends of cells and looks at how each begins.
    fn place_quoted(&mut self, base: usize, marks: Marks) {
        let mut rest = marks.delimiters | marks.terminators;
        while rest != 0 {
            let bit = rest & rest.wrapping_neg();
            let at = base + rest.trailing_zeros() as usize;
            if marks.terminators & bit == 0 || marks.row_ends & bit != 0 {
                let quoted = if self.begins_quoted(self.open) { QUOTED } else { 0 };
                self.ends.append(1, 1, |_| at as u32 | quoted);
            }
            self.open = at + self.framing.unit;
            rest &= rest - 1;
        }
        self.open_quoted = self.begins_quoted(self.open);
    }

    /// Remembers where the open cell begins after a step without quotes.
    #[inline]
    fn leave_open(&mut self, base: usize, marks: Marks) {
        let boundaries = marks.delimiters | marks.terminators;
        if boundaries != 0 {
            self.open = base + (63 - boundaries.leading_zeros() as usize) + self.framing.unit;
        }
    }

    fn begins_quoted(&self, at: usize) -> bool {
        at < self.data.len() && self.framing.class(self.data, at) == Class::Quote
    }

    fn finish(self, state: State) -> Index {
        let quoted = if self.begins_quoted(self.open) { QUOTED } else { 0 };
        let (mut ends, mut cells) = (self.ends.finish(), self.cells.finish());
        if state != State::RowStart {
            // The last row has no terminator.
            ends.push(self.data.len() as u32 | quoted);
            cells.push(ends.len() as u32);
        }
        Index { ends, starts: self.starts.finish(), cells }
    }
}
