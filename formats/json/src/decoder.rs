//! Blocks to columns of cells.

use std::sync::Arc;

use clinker_format::charset::{Charset, Undecodable};
use clinker_format::{Block, Decoded, Decoder, Fault, Overrun, Overruns, RejectedRow, RowText};
use clinker_record::text::{preview_bytes, raw_row};
use memchr::{memchr, memchr_iter};

use crate::elements::ends_scalar;
use crate::keys::{Keys, Refusal};
use crate::rows::{Read, Rows};
use crate::scan::{Flaw, Repeated, Scanner};

/// Begins a line of a JSON text sequence.
pub const RECORD_SEPARATOR: u8 = 0x1E;

/// How the records of a block stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One a line.
    Lines,
    /// One after another, with commas or blank space between them, inside this many containers.
    Elements(usize),
}

/// Reads the records of blocks.
pub struct JsonDecoder {
    /// Names.
    pub keys: Arc<Keys>,
    /// How records stand in blocks.
    pub layout: Layout,
}

/// A record of a block.
struct Place {
    row: u32,
    /// Where it begins.
    start: usize,
    /// Where it ends, without terminator.
    end: usize,
}

/// What came of a record.
enum Outcome {
    /// It is so many rows.
    Accepted(usize),
    /// It begins there and would be too many rows.
    Exceeds(usize),
    Rejected {
        code: &'static str,
        at: usize,
        reason: String,
    },
    Corrupt {
        code: &'static str,
        at: usize,
        reason: String,
        help: Option<String>,
    },
}

impl Decoder for JsonDecoder {
    fn decode(&self, block: &Block, wanted: &[usize]) -> Decoded {
        let data = block.data.as_slice();
        let valid = simdutf8::basic::from_utf8(data).is_ok();
        let mut work = Work {
            block,
            data,
            keys: &self.keys,
            wanted,
            rows: Rows::expanding(data, block.rows as usize, &self.keys, wanted),
            originals: None,
            overruns: Vec::new(),
            dropped: 0,
            accepted: Vec::new(),
            rejected: Vec::new(),
            fault: None,
            lines: Lines { at: 0, line: block.first_line },
        };
        match self.layout {
            Layout::Lines => work.read_lines(valid),
            Layout::Elements(depth) => work.read_elements(depth, valid),
        }
        let all = work.rejected.is_empty() && work.fault.is_none() && self.keys.expand.is_empty();
        let accepted = if all { None } else { Some(work.accepted) };
        let mut decoded = Decoded {
            accepted,
            rejected: work.rejected,
            dropped: work.dropped,
            fault: work.fault,
            ..Decoded::default()
        };
        work.rows.finish(&block.data, wanted, &mut decoded);
        if let Some(originals) = work.originals {
            let mut overruns = Overruns { places: work.overruns, records: Decoded::default() };
            originals.finish(&block.data, wanted, &mut overruns.records);
            decoded.overruns = Some(Box::new(overruns));
        }
        decoded
    }

    fn row_text(&self, block: &Block, row: u32) -> RowText {
        let data = block.data.as_slice();
        let (start, end) = match self.layout {
            Layout::Lines => {
                let mut at = 0;
                let mut lines = std::iter::from_fn(|| next_line(data, &mut at)).filter(|line| !line.is_blank(data));
                let line = lines.nth(row as usize).expect("a row of the block");
                (line.start, line.content_end(data))
            }
            Layout::Elements(depth) => {
                let mut scan = Scanner::whole(data, 0);
                let mut start = 0;
                for _ in 0..=row {
                    skip_separators(&mut scan);
                    start = scan.at;
                    scan.value(depth).expect("a row that was decoded");
                }
                (start, scan.at)
            }
        };
        let line = block.first_line + memchr_iter(b'\n', &data[..start]).count() as u64;
        RowText { line, offset: block.offset + start as u64, raw: raw_row(&data[start..end]) }
    }
}

/// A line of a block, with or without a line feed behind it.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    /// The place of the line feed, or the end of the block.
    end: usize,
    terminated: bool,
}

impl Line {
    fn is_blank(&self, data: &[u8]) -> bool {
        is_blank(&data[self.start..self.end])
    }

    /// Where its text ends: before the CR of a CRLF.
    fn content_end(&self, data: &[u8]) -> usize {
        if self.terminated && data[self.start..self.end].ends_with(b"\r") { self.end - 1 } else { self.end }
    }
}

/// Whether a line holds nothing: it is no row.
pub fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

#[inline]
fn next_line(data: &[u8], at: &mut usize) -> Option<Line> {
    let start = *at;
    let rest = data.get(start..).filter(|rest| !rest.is_empty())?;
    let line = match memchr(b'\n', rest) {
        Some(len) => Line { start, end: start + len, terminated: true },
        None => Line { start, end: data.len(), terminated: false },
    };
    *at = line.end + 1;
    Some(line)
}

fn skip_separators(scan: &mut Scanner<'_>) {
    scan.blanks();
    while scan.take(b',') {
        scan.blanks();
    }
}

/// Physical lines of places that only move forward.
struct Lines {
    at: usize,
    line: u64,
}

impl Lines {
    fn of(&mut self, data: &[u8], at: usize) -> u64 {
        if at >= self.at {
            self.line += memchr_iter(b'\n', &data[self.at..at]).count() as u64;
        } else {
            self.line -= memchr_iter(b'\n', &data[at..self.at]).count() as u64;
        }
        self.at = at;
        self.line
    }
}

/// The decoding of one block.
struct Work<'a> {
    block: &'a Block,
    data: &'a [u8],
    keys: &'a Keys,
    wanted: &'a [usize],
    rows: Rows<'a>,
    /// The records that would be too many rows, as they were read.
    originals: Option<Box<Rows<'a>>>,
    overruns: Vec<Overrun>,
    /// Records that are no row.
    dropped: u64,
    accepted: Vec<u32>,
    rejected: Vec<RejectedRow>,
    fault: Option<Fault>,
    lines: Lines,
}

impl Work<'_> {
    fn read_lines(&mut self, valid: bool) {
        let (data, mut at, mut row) = (self.data, 0, 0);
        while let Some(line) = next_line(data, &mut at) {
            let first = data[line.start];
            if first != b'{' && line.is_blank(data) {
                continue;
            }
            let bad = if valid { None } else { Charset::Utf8.first_undecodable(&data[line.start..line.end]) };
            let outcome = self.read_line(line, bad);
            let place = Place { row, start: line.start, end: line.content_end(data) };
            if self.settle(&place, outcome) {
                return;
            }
            row += 1;
        }
    }

    /// Reads a line that is not blank; `bad` are its first bytes that are no UTF-8, their offset counted from its start.
    #[inline]
    fn read_line(&mut self, line: Line, bad: Option<Undecodable>) -> Outcome {
        let separator = usize::from(self.data[line.start] == RECORD_SEPARATOR);
        let mut scan = Scanner::line(self.data, line.start + separator, line.end);
        scan.blanks();
        let result = if bad.is_some() || scan.peek() != Some(b'{') || scan.is_at_end() {
            self.other_line(&mut scan)
        } else {
            match self.rows.read(&mut scan, 0, true) {
                Ok(read) => return read.into(),
                Err(flaw) => Err(flaw),
            }
        };
        match (result, bad) {
            (Err(flaw), _) if flaw.truncated && !line.terminated => {
                let reason = format!("the input ends inside a JSON text: {}", flaw.reason);
                Outcome::Corrupt { code: "E421", at: flaw.at, reason, help: None }
            }
            (result, Some(bad)) => {
                let reason = self.undecodable(line.start + bad.offset, bad.len);
                let reason = match result {
                    Err(flaw) if flaw.at < line.start + bad.offset => format!("{reason}; {}", flaw.reason),
                    _ => reason,
                };
                Outcome::Rejected { code: "E420", at: line.start + bad.offset, reason }
            }
            (Err(flaw), None) => Outcome::Rejected { code: flaw.code, at: flaw.at, reason: flaw.reason.into_owned() },
            (Ok(kind), None) => {
                let reason = format!("the line is {kind}; each line must hold one object");
                Outcome::Rejected { code: "E422", at: line.start + separator, reason }
            }
        }
    }

    /// A line that makes no row, whatever it holds: one JSON text, of which kind, or what is wrong with it.
    #[cold]
    fn other_line(&self, scan: &mut Scanner<'_>) -> Result<&'static str, Box<Flaw>> {
        let kind = kind_of(scan);
        scan.value(0)?;
        scan.blanks();
        if scan.is_at_end() { Ok(kind) } else { Err(scan.expected("the end of the line")) }
    }

    fn read_elements(&mut self, depth: usize, valid: bool) {
        let data = self.data;
        let bad = if valid { None } else { Charset::Utf8.first_undecodable(data) };
        let mut scan = Scanner::whole(data, 0);
        let mut row = 0;
        loop {
            skip_separators(&mut scan);
            if scan.is_at_end() {
                return;
            }
            let start = scan.at;
            let outcome = self.read_element(&mut scan, depth, bad);
            if self.settle(&Place { row, start, end: scan.at }, outcome) {
                return;
            }
            row += 1;
        }
    }

    #[inline]
    fn read_element(&mut self, scan: &mut Scanner<'_>, depth: usize, bad: Option<Undecodable>) -> Outcome {
        if let Some(bad) = bad {
            // How far the element goes must be known before it becomes a row.
            let mut ahead = *scan;
            let end = ahead.value(depth).map_or_else(|flaw| flaw.at, |_| ahead.at);
            if end > bad.offset {
                return Outcome::Corrupt {
                    code: "E420",
                    at: bad.offset,
                    reason: self.undecodable(bad.offset, bad.len),
                    help: None,
                };
            }
        }
        let result = match scan.peek() {
            Some(b'{') => self.rows.read(scan, depth, false).map(Outcome::from),
            Some(b'[' | b'"') => {
                let outcome = not_an_object(scan);
                scan.value(depth).map(|_| outcome)
            }
            _ => return self.read_literal(scan),
        };
        result.unwrap_or_else(|flaw| Outcome::Corrupt {
            code: flaw.code,
            at: flaw.at,
            reason: flaw.reason.into_owned(),
            help: None,
        })
    }

    /// A record that is a number or a literal, or nothing of the kind.
    fn read_literal(&self, scan: &mut Scanner<'_>) -> Outcome {
        let (start, rest) = (scan.at, &self.data[scan.at..]);
        let end = start + rest.iter().position(|byte| ends_scalar(*byte)).unwrap_or(rest.len());
        let outcome = not_an_object(scan);
        let mut alone = Scanner::whole(&self.data[..end], start);
        scan.at = end;
        if alone.scalar().is_ok() && alone.is_at_end() {
            return outcome;
        }
        let reason = format!("expected a record, found {}", preview_bytes(&self.data[start..end]));
        Outcome::Corrupt { code: "E422", at: start, reason, help: None }
    }

    /// Takes note of what came of a record; `true` when nothing is read behind it.
    #[inline]
    fn settle(&mut self, place: &Place, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Accepted(1) => {
                self.accepted.push(place.row);
                false
            }
            Outcome::Accepted(rows) => {
                self.accepted.extend(std::iter::repeat_n(place.row, rows));
                self.dropped += u64::from(rows == 0);
                false
            }
            Outcome::Exceeds(at) => {
                self.keep_original(place.row, at);
                false
            }
            Outcome::Rejected { code, at, reason } => {
                self.rejected.push(RejectedRow {
                    row: place.row,
                    code,
                    line: self.lines.of(self.data, at),
                    offset: self.block.offset + at as u64,
                    reason,
                    raw: raw_row(&self.data[place.start..place.end]),
                });
                false
            }
            Outcome::Corrupt { code, at, reason, help } => {
                let (line, offset) = (self.lines.of(self.data, at), self.block.offset + at as u64);
                self.fault = Some(Fault::Corruption { code, line, offset, reason, help });
                true
            }
        }
    }

    /// Keeps a record that would be too many rows as it was read.
    #[cold]
    fn keep_original(&mut self, row: u32, at: usize) {
        let originals =
            self.originals.get_or_insert_with(|| Box::new(Rows::of_originals(self.data, self.keys, self.wanted)));
        let read = originals.read(&mut Scanner::whole(self.data, at), 0, false);
        debug_assert!(matches!(read, Ok(Read::Rows(1))), "a record that was read before");
        let (line, offset) = (self.lines.of(self.data, at), self.block.offset + at as u64);
        self.overruns.push(Overrun { row, line, offset });
    }

    fn undecodable(&self, at: usize, len: usize) -> String {
        let mut reason = format!("not valid utf-8 at byte offset {}:", self.block.offset + at as u64);
        for byte in &self.data[at..at + len] {
            reason.push_str(&format!(" {byte:02X}"));
        }
        reason
    }
}

impl From<Read> for Outcome {
    #[inline]
    fn from(read: Read) -> Self {
        match read {
            Read::Rows(rows) => Outcome::Accepted(rows),
            Read::Exceeds(at) => Outcome::Exceeds(at),
            Read::Repeats(Repeated { key, at }) => {
                let reason = format!("the field `{key}` occurs more than once in the record");
                Outcome::Rejected { code: "E427", at, reason }
            }
            Read::Refused(refusal, at) => {
                let Refusal { code, reason, help } = *refusal;
                Outcome::Corrupt { code, at, reason, help: Some(help) }
            }
        }
    }
}

/// The rejection of a record that is complete and no object.
fn not_an_object(scan: &Scanner<'_>) -> Outcome {
    let reason = format!("the record is {}; it must be an object", kind_of(scan));
    Outcome::Rejected { code: "E422", at: scan.at, reason }
}

/// What begins here, in words.
fn kind_of(scan: &Scanner<'_>) -> &'static str {
    match scan.peek() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b'n') => "null",
        Some(b't' | b'f') => "a truth value",
        _ => "a number",
    }
}
