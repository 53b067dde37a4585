//! Opening files and cutting them into blocks of whole records.

use std::io;
use std::sync::Arc;

use clinker_format::charset::OPENING_BYTES;
use clinker_format::input::BlockInput;
use clinker_format::{Block, BlockBound, Cutter, Fault, FileIdentity, OpenFile, ReadFactory, Vocabulary};

use crate::decoder::CsvDecoder;
use crate::framing::{Class, Framing};
use crate::header;
use crate::lexer::{Lexer, Marks, STEP, State};
use crate::spec::ReaderSpec;

/// The most bytes a block is filled to, whatever the caller asks: positions in a block take 31 bits.
const MAX_BLOCK_BYTES: usize = 256 << 20;

/// Opens csv files.
pub struct CsvReader {
    /// The bound options.
    pub spec: ReaderSpec,
    /// Input names of the declared columns, in order.
    pub declared: Vec<Arc<str>>,
}

impl ReadFactory for CsvReader {
    /// A flat file has no sections: whatever is read of them is null.
    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::Open
    }

    fn open(&self, _file: &FileIdentity, input: &mut BlockInput) -> Result<OpenFile, Fault> {
        while input.window().len() < OPENING_BYTES {
            match input.grow() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    // It is reported behind the rows that were read.
                    input.defer(error);
                    break;
                }
            }
        }
        let first = &input.window()[..input.window().len().min(OPENING_BYTES)];
        let opening = self.spec.encoding.open(first)?;
        input.take(opening.mark);
        let framing = Framing::new(opening.charset, self.spec.delimiter, self.spec.quote);
        let mut cutter = CsvCutter::new(framing, self.spec.max_record_bytes);
        let columns =
            if self.spec.has_header { self.header(&mut cutter, input)? } else { self.first_row(&cutter, input)? };
        let decoder = Arc::new(CsvDecoder::new(framing, columns.len(), self.spec.has_header));
        Ok(OpenFile { columns, named_by_file: self.spec.has_header, cutter: Box::new(cutter), decoder })
    }
}

impl CsvReader {
    /// Consumes the header row and gives its names.
    fn header(&self, cutter: &mut CsvCutter, input: &mut BlockInput) -> Result<Vec<Arc<str>>, Fault> {
        let was_empty = input.window().is_empty() && !input.grow()?;
        match cutter.cut(input, ONE_RECORD)? {
            Some(block) => {
                cutter.next_row = 1;
                cutter.header = Some(header::place(&cutter.framing, &block));
                header::names(&cutter.framing, &block)
            }
            None if was_empty => Ok(Vec::new()),
            None => Err(Fault::Corruption {
                code: "E422",
                line: 1,
                offset: 0,
                reason: "a header row was expected, but the file holds only blank lines".into(),
                help: None,
            }),
        }
    }

    /// Names the columns by position; the first row says how many there are and stays in the input.
    fn first_row(&self, cutter: &CsvCutter, input: &mut BlockInput) -> Result<Vec<Arc<str>>, Fault> {
        let width = match cutter.find(input, ONE_RECORD) {
            Ok(Some(found)) => header::width(&cutter.framing, &input.window()[..found.len]),
            Ok(None) => 0,
            Err(Stop::Input(error)) => return Err(error.into()),
            // A fault in the body is reported in its place; until then the declaration is all there is.
            Err(Stop::Framing(_)) => self.declared.len(),
        };
        let named = |index: usize| self.declared.get(index).cloned().unwrap_or_else(|| format!("col_{index}").into());
        Ok((0..width).map(named).collect())
    }
}

const ONE_RECORD: BlockBound = BlockBound { rows: 1, bytes: 1 };

/// Cuts at row ends that stand outside quotes.
pub struct CsvCutter {
    framing: Framing,
    max_record_bytes: usize,
    next_row: u64,
    next_line: u64,
    /// Physical line and byte offset of the header row.
    header: Option<(u64, u64)>,
}

/// A block that was found at the front of the window.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    len: usize,
    rows: usize,
}

/// Why no block was found.
enum Stop {
    Input(io::Error),
    Framing(Fault),
}

impl From<Stop> for Fault {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Input(error) => error.into(),
            Stop::Framing(fault) => fault,
        }
    }
}

impl CsvCutter {
    fn new(framing: Framing, max_record_bytes: usize) -> Self {
        Self { framing, max_record_bytes, next_row: 1, next_line: 1, header: None }
    }

    /// Finds the next block without taking it.
    fn find(&self, input: &mut BlockInput, bound: BlockBound) -> Result<Option<Found>, Stop> {
        let bound = BlockBound { rows: bound.rows.max(1), bytes: bound.bytes.min(MAX_BLOCK_BYTES) };
        let mut scan = Scan::new(self.framing, bound, self.max_record_bytes);
        loop {
            match scan.run(input.window(), input.ended()) {
                Progress::More => {}
                Progress::Found(found) => return Ok(Some(found)),
                Progress::End => return self.finish(&scan, input),
                Progress::TooLong => return self.too_long(&scan, input).map(Some),
            }
            // Beyond its limit no more of a record is held than one unit.
            let room =
                (self.max_record_bytes + 2 * self.framing.unit).saturating_sub(input.window().len() - scan.record);
            if let Err(error) = input.grow_at_most(room.max(1)) {
                return self.broken(&mut scan, input, error);
            }
        }
    }

    /// The input failed: the complete records in front of the failure come first.
    fn broken(&self, scan: &mut Scan, input: &mut BlockInput, error: io::Error) -> Result<Option<Found>, Stop> {
        let found = match scan.run(input.window(), true) {
            Progress::Found(found) => found,
            Progress::TooLong => self.too_long(scan, input)?,
            Progress::More | Progress::End if scan.rows > 0 => Found { len: scan.record, rows: scan.rows },
            Progress::More | Progress::End => return Err(Stop::Input(error)),
        };
        input.defer(error);
        Ok(Some(found))
    }

    /// The end of the input, behind the last complete row.
    fn finish(&self, scan: &Scan, input: &mut BlockInput) -> Result<Option<Found>, Stop> {
        let len = input.window().len();
        let cut_off = !len.is_multiple_of(self.framing.unit);
        if scan.lexer.state() == State::Quoted || cut_off {
            if scan.rows > 0 {
                return Ok(Some(Found { len: scan.record, rows: scan.rows }));
            }
            return Err(Stop::Framing(if cut_off {
                self.odd_byte(input)
            } else {
                self.open_quote(input, scan.record)
            }));
        }
        let unterminated = usize::from(scan.lexer.state() != State::RowStart);
        if scan.rows + unterminated > 0 {
            return Ok(Some(Found { len, rows: scan.rows + unterminated }));
        }
        input.take(len);
        Ok(None)
    }

    fn too_long(&self, scan: &Scan, input: &BlockInput) -> Result<Found, Stop> {
        if scan.rows > 0 {
            return Ok(Found { len: scan.record, rows: scan.rows });
        }
        Err(Stop::Framing(Fault::Corruption {
            code: "E426",
            line: self.next_line + self.framing.lines(&input.window()[..scan.record]),
            offset: input.offset() + scan.record as u64,
            reason: format!("the record that begins here is longer than {} bytes", self.max_record_bytes),
            help: Some("raise the option `max_record_bytes`, or look for a quote that is never closed".into()),
        }))
    }

    /// The unterminated quote of the record that begins at `record`.
    fn open_quote(&self, input: &BlockInput, record: usize) -> Fault {
        let data = input.window();
        let (mut opened, mut cell, mut cells) = (record, 1, 1);
        let mut lexer = Lexer::new(self.framing);
        let mut closed = false;
        for at in (record..data.len()).step_by(self.framing.unit) {
            let before = lexer.state();
            let marks = lexer.step_exact(&data[at..at + self.framing.unit]);
            // A quote right behind a quote that closed is the second of a doubled one: the cell goes on.
            if before != State::Quoted && lexer.state() == State::Quoted && !closed {
                (opened, cell) = (at, cells);
            }
            closed = before == State::Quoted && lexer.state() == State::Open;
            cells += usize::from(marks.delimiters != 0);
        }
        Fault::Corruption {
            code: "E421",
            line: self.next_line + self.framing.lines(&data[..opened]),
            offset: input.offset() + opened as u64,
            reason: format!("cell {cell} opens with a quote here and the input ends before the quote that closes it"),
            help: None,
        }
    }

    fn odd_byte(&self, input: &BlockInput) -> Fault {
        let data = input.window();
        let at = data.len() - data.len() % self.framing.unit;
        Fault::Corruption {
            code: "E421",
            line: self.next_line + self.framing.lines(&data[..at]),
            offset: input.offset() + at as u64,
            reason: format!("the input ends in the middle of a {} unit of 2 bytes", self.framing.charset.name()),
            help: None,
        }
    }
}

impl Cutter for CsvCutter {
    fn cut(&mut self, input: &mut BlockInput, bound: BlockBound) -> Result<Option<Block>, Fault> {
        let Some(found) = self.find(input, bound)? else { return Ok(None) };
        let offset = input.offset();
        let data = input.take(found.len);
        let block = Block {
            rows: u32::try_from(found.rows).expect("a block has no more rows than bytes"),
            first_row: self.next_row,
            first_line: self.next_line,
            offset,
            data,
            ..Block::default()
        };
        self.next_row += found.rows as u64;
        self.next_line += self.framing.lines(&block.data);
        Ok(Some(block))
    }

    fn header_place(&self) -> Option<(u64, u64)> {
        self.header
    }
}

/// How far a scan has come.
enum Progress {
    /// The window does not decide; more bytes are needed.
    More,
    /// A block.
    Found(Found),
    /// The window holds the rest of the input and was scanned without reaching the bound.
    End,
    /// The record at [`Scan::record`] crosses the limit.
    TooLong,
}

/// One search for a block, resumable as the window grows.
struct Scan {
    lexer: Lexer,
    framing: Framing,
    bound: BlockBound,
    limit: usize,
    /// Bytes that were scanned.
    at: usize,
    /// Complete rows in them.
    rows: usize,
    /// Where the row that is open begins: behind the last line end outside quotes.
    record: usize,
    /// Behind the line end that reached the bound; a LF may follow its CR.
    reached: Option<usize>,
}

impl Scan {
    fn new(framing: Framing, bound: BlockBound, limit: usize) -> Self {
        Self { lexer: Lexer::new(framing), framing, bound, limit, at: 0, rows: 0, record: 0, reached: None }
    }

    fn run(&mut self, window: &[u8], ended: bool) -> Progress {
        while self.reached.is_none() {
            let rest = &window[self.at..];
            let (marks, len) = if let Some(step) = rest.first_chunk::<STEP>() {
                (self.lexer.step(step), STEP)
            } else {
                // Less than a step is scanned only when no more will follow, or when its record is too long already.
                let whole = rest.len() - rest.len() % self.framing.unit;
                if whole == 0 || (!ended && window.len() - self.record <= self.limit) {
                    return if ended { Progress::End } else { Progress::More };
                }
                (self.lexer.step_exact(&rest[..whole]), whole)
            };
            if self.place(marks, len) {
                return Progress::TooLong;
            }
        }
        self.cut_behind(window, ended)
    }

    /// Counts the rows of a step; `true` when the record at [`Scan::record`] is too long.
    #[inline]
    fn place(&mut self, marks: Marks, len: usize) -> bool {
        let base = self.at;
        let ends = marks.row_ends.count_ones() as usize;
        let close = if marks.terminators == 0 { len } else { marks.terminators.trailing_zeros() as usize };
        if base + close - self.record > self.limit
            || self.limit < STEP
            || self.rows + ends >= self.bound.rows
            || base + STEP >= self.bound.bytes
        {
            return self.place_each(marks, len);
        }
        self.rows += ends;
        self.at = base + len;
        if marks.terminators != 0 {
            self.record = base + (63 - marks.terminators.leading_zeros() as usize) + self.framing.unit;
        }
        false
    }

    /// The same, one line end at a time: near a bound, or when a record may be too long.
    #[cold]
    fn place_each(&mut self, marks: Marks, len: usize) -> bool {
        let mut rest = marks.terminators;
        while rest != 0 {
            let bit = rest.trailing_zeros() as usize;
            let at = self.at + bit;
            if at - self.record > self.limit {
                return true;
            }
            self.record = at + self.framing.unit;
            if marks.row_ends & (1 << bit) != 0 {
                self.rows += 1;
                if self.rows >= self.bound.rows || self.record >= self.bound.bytes {
                    self.reached = Some(self.record);
                    return false;
                }
            }
            rest &= rest - 1;
        }
        self.at += len;
        self.at - self.record > self.limit
    }

    /// Cuts behind the reached line end, with the LF of a CRLF.
    fn cut_behind(&self, window: &[u8], ended: bool) -> Progress {
        let end = self.reached.expect("the bound was reached");
        let unit = self.framing.unit;
        let mut len = end;
        if self.framing.class(window, end - unit) == Class::Cr {
            if window.len() < end + unit && !ended {
                return Progress::More;
            }
            if window.len() >= end + unit && self.framing.class(window, end) == Class::Lf {
                len = end + unit;
            }
        }
        Progress::Found(Found { len, rows: self.rows })
    }
}
