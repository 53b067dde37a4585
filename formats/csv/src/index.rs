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
            ends: Vec::with_capacity(data.len() / 8 + STEP),
            count: 0,
            starts: Vec::with_capacity(expected_rows + 1),
            cells: Vec::with_capacity(expected_rows + 1),
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

struct Builder<'a> {
    framing: &'a Framing,
    data: &'a [u8],
    ends: Vec<u32>,
    count: usize,
    starts: Vec<u32>,
    cells: Vec<u32>,
    /// Where the open cell begins.
    open: usize,
    /// Whether it begins with a quote that stood in an earlier step.
    open_quoted: bool,
}

impl Builder<'_> {
    #[inline]
    fn place(&mut self, base: usize, marks: Marks) {
        let mut starts = marks.row_starts;
        let structure = marks.delimiters | marks.row_ends;
        let before = self.count;
        let mut row_ends = marks.row_ends;
        while row_ends != 0 {
            let upto = row_ends ^ (row_ends - 1);
            self.cells.push((before + (structure & upto).count_ones() as usize) as u32);
            row_ends &= row_ends - 1;
        }
        while starts != 0 {
            self.starts.push(base as u32 + starts.trailing_zeros());
            starts &= starts - 1;
        }
        if marks.quotes || self.open_quoted {
            self.place_quoted(base, marks);
            return;
        }
        self.place_ends(base, structure);
        self.leave_open(base, marks);
    }

    /// Appends the ends of cells none of which begins with a quote.
    #[inline]
    fn place_ends(&mut self, base: usize, structure: u64) {
        if self.ends.len() < self.count + STEP {
            self.ends.resize((self.count + STEP).max(self.ends.capacity()), 0);
        }
        let slots: &mut [u32; STEP] =
            (&mut self.ends[self.count..self.count + STEP]).try_into().expect("a step has this many slots");
        let mut rest = structure;
        let mut slot = 0;
        while rest != 0 {
            slots[slot % STEP] = base as u32 + rest.trailing_zeros();
            slot += 1;
            rest &= rest - 1;
        }
        self.count += slot;
    }

    /// Appends the ends of cells and looks at how each begins.
    fn place_quoted(&mut self, base: usize, marks: Marks) {
        if self.ends.len() < self.count + STEP {
            self.ends.resize((self.count + STEP).max(self.ends.capacity()), 0);
        }
        let mut rest = marks.delimiters | marks.terminators;
        while rest != 0 {
            let bit = rest & rest.wrapping_neg();
            let at = base + rest.trailing_zeros() as usize;
            if marks.terminators & bit == 0 || marks.row_ends & bit != 0 {
                let quoted = if self.begins_quoted(self.open) { QUOTED } else { 0 };
                self.ends[self.count] = at as u32 | quoted;
                self.count += 1;
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

    fn finish(mut self, state: State) -> Index {
        self.ends.truncate(self.count);
        if state != State::RowStart {
            // The last row has no terminator.
            let quoted = if self.begins_quoted(self.open) { QUOTED } else { 0 };
            self.ends.push(self.data.len() as u32 | quoted);
            self.cells.push(self.ends.len() as u32);
        }
        Index { ends: self.ends, starts: self.starts, cells: self.cells }
    }
}
