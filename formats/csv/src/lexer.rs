//! Which delimiters and line ends stand outside quotes: 64 bytes at a time.
//!
//! A quote is special only as the first unit of a cell and inside a quoted cell (formats.md 2.2). Blocks whose quotes
//! are all well placed are resolved without a branch: the parity of the quotes says what lies inside, provided that
//! every quote that opens follows a delimiter, a line end or the quote that closed (then the two are a doubled one).
//! Any other block takes the exact machine.

use wide::u8x16;

use crate::framing::{Class, Framing};

/// Bytes looked at in one step.
pub const STEP: usize = 64;

/// Structure of one step. A unit's bit is that of its first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Delimiters outside quotes.
    pub delimiters: u64,
    /// Line ends outside quotes: CR and LF, both of a pair.
    pub terminators: u64,
    /// Those line ends that end a row: a line end right behind another one, or at the start, ends none.
    pub row_ends: u64,
    /// First units of rows.
    pub row_starts: u64,
    /// Whether any quote character, special or not, stands in the step.
    pub quotes: bool,
}

/// Where the next unit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Behind a line end outside quotes, or at the very start.
    RowStart,
    /// Behind a delimiter, or behind a quote that closes unless another one follows: a quote here (re)opens.
    Open,
    /// In the bare part of a cell.
    Bare,
    /// Inside quotes.
    Quoted,
}

/// The state of reading, from a row's start on.
#[derive(Clone, Copy, Debug)]
pub struct Lexer {
    framing: Framing,
    state: State,
}

impl Lexer {
    /// At the start of a row.
    pub fn new(framing: Framing) -> Self {
        Self { framing, state: State::RowStart }
    }

    /// Where the next unit stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// The structure of the next 64 bytes.
    #[inline]
    pub fn step(&mut self, bytes: &[u8; STEP]) -> Marks {
        if !self.framing.is_plain() {
            return self.step_exact(bytes);
        }
        let masks = Masks::of(bytes, &self.framing);
        let terminators = masks.lf | masks.cr;
        let (inside, may_open) = if masks.quote == 0 {
            (if self.state == State::Quoted { !0 } else { 0 }, masks.delimiter | terminators)
        } else {
            let carried = if self.state == State::Quoted { !0 } else { 0 };
            let inside = prefix_xor(masks.quote) ^ carried;
            let may_open = masks.delimiter | terminators | masks.quote;
            let before = (may_open << 1) | u64::from(matches!(self.state, State::RowStart | State::Open));
            if masks.quote & inside & !before != 0 {
                return self.step_exact(bytes);
            }
            (inside, may_open)
        };
        let terminators = terminators & !inside;
        let after = (terminators << 1) | u64::from(self.state == State::RowStart);
        let last = 1 << (STEP - 1);
        self.state = if inside & last != 0 {
            State::Quoted
        } else if terminators & last != 0 {
            State::RowStart
        } else if may_open & last != 0 {
            State::Open
        } else {
            State::Bare
        };
        Marks {
            delimiters: masks.delimiter & !inside,
            terminators,
            row_ends: terminators & !after,
            row_starts: !terminators & after,
            quotes: masks.quote != 0,
        }
    }

    /// The structure of up to 64 bytes, unit by unit.
    #[cold]
    pub fn step_exact(&mut self, bytes: &[u8]) -> Marks {
        let mut marks = Marks::default();
        for at in (0..bytes.len()).step_by(self.framing.unit) {
            let bit = 1 << at;
            let class = self.framing.class(bytes, at);
            marks.quotes |= class == Class::Quote;
            if self.state == State::Quoted {
                if class == Class::Quote {
                    self.state = State::Open;
                }
                continue;
            }
            let was = self.state;
            match class {
                Class::Cr | Class::Lf => {
                    marks.terminators |= bit;
                    marks.row_ends |= if was == State::RowStart { 0 } else { bit };
                    self.state = State::RowStart;
                    continue;
                }
                Class::Delimiter => {
                    marks.delimiters |= bit;
                    self.state = State::Open;
                }
                Class::Quote if was != State::Bare => self.state = State::Quoted,
                Class::Quote | Class::Other => self.state = State::Bare,
            }
            marks.row_starts |= if was == State::RowStart { bit } else { 0 };
        }
        marks
    }
}

/// Where each special byte stands.
struct Masks {
    delimiter: u64,
    quote: u64,
    lf: u64,
    cr: u64,
}

impl Masks {
    #[inline]
    fn of(bytes: &[u8; STEP], framing: &Framing) -> Self {
        let (lanes, _) = bytes.as_chunks::<16>();
        let lanes = [0, 1, 2, 3].map(|lane| u8x16::new(lanes[lane]));
        let find = |byte: u8| {
            let wanted = u8x16::splat(byte);
            let [a, b, c, d] = lanes.map(|lane| u64::from(lane.simd_eq(wanted).to_bitmask()));
            a | b << 16 | c << 32 | d << 48
        };
        Self {
            delimiter: find(framing.delimiter),
            quote: find(framing.quote),
            lf: find(framing.lf),
            cr: find(framing.cr),
        }
    }
}

/// Each bit becomes the parity of itself and the bits below it.
#[inline]
fn prefix_xor(bits: u64) -> u64 {
    let mut parity = bits;
    for shift in [1, 2, 4, 8, 16, 32] {
        parity ^= parity << shift;
    }
    parity
}
