//! Reading a file as an engine would, in pieces of any size, and keeping everything that was said.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clinker_format::input::BlockInput;
use clinker_format::{
    Block, BlockBound, Decoded, Fault, FileIdentity, Format, LevelEvent, LevelSpec, OpenFile, ReadFactory, ReadRequest,
};
use clinker_record::cast::untyped_column;
use clinker_record::{Column, Level, Section, Value};

use crate::corpus::{Sample, options};

/// How a file is handed over and cut.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// Bytes read at once.
    pub chunk: usize,
    /// Rows of a block.
    pub rows: usize,
    /// Bytes of a block.
    pub bytes: usize,
}

pub const FAIR: Weather = Weather { chunk: 1 << 20, rows: 1024, bytes: 1 << 20 };

/// A row, with the levels around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub number: u64,
    /// Name and text of each field that it has.
    pub cells: Vec<(Arc<str>, String)>,
    /// The kinds and ordinals of its levels, innermost first.
    pub levels: String,
}

/// What ended the reading.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    Complete,
    Fault { code: String, document: bool, offset: u64, reason: String },
}

/// A rejected row.
#[derive(Clone, Debug, PartialEq)]
pub struct Reject {
    pub number: u64,
    pub code: &'static str,
    pub offset: u64,
    pub raw: String,
}

/// Everything that was said about a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub rows: Vec<Row>,
    pub rejected: Vec<Reject>,
    pub end: End,
    /// Level opens and closes with the number of the row behind them.
    pub marks: Vec<(u64, String)>,
    pub notes: Vec<(&'static str, u64)>,
}

/// A file while it is read.
pub struct Session {
    pub input: BlockInput,
    pub open: OpenFile,
    pub levels: Vec<LevelSpec>,
}

/// Why a file could not be followed: the format broke a rule of the contract.
pub type Breach = String;

/// Binds the reader of a sample.
pub fn bind(format: &dyn Format, sample: &Sample) -> Result<Arc<dyn ReadFactory>, Breach> {
    let options = options(&sample.options);
    let request = ReadRequest {
        options: &options,
        fields: &[],
        undeclared: true,
        refuse_undeclared: false,
        expand: &[],
        max_rows: None,
    };
    format.bind_reader(&request).map_err(|faults| format!("{}: the options are refused: {faults:?}", sample.name))
}

/// Bytes handed over in pieces, counted.
struct Pieces<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Pieces<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Opens a stream. A fault at opening is a fault of the file; `read` counts the bytes that were taken.
pub fn open(
    factory: &dyn ReadFactory,
    stream: impl Read + Send + 'static,
    weather: Weather,
    read: &Arc<AtomicU64>,
) -> Result<Session, Fault> {
    let pieces = Pieces { inner: stream, read: Arc::clone(read) };
    let mut input = BlockInput::new(Box::new(pieces)).with_chunk(weather.chunk);
    let identity = FileIdentity { source: "corpus".into(), shown: "sample".into() };
    let open = factory.open(&identity, &mut input)?;
    Ok(Session { input, open, levels: factory.levels().to_vec() })
}

/// The end that a fault is.
pub fn ended(fault: Fault) -> Result<End, Breach> {
    match fault {
        Fault::Corruption { code, offset, reason, .. } => {
            Ok(End::Fault { code: code.to_owned(), document: false, offset, reason })
        }
        Fault::Violation { code, offset, reason, .. } => {
            Ok(End::Fault { code: code.to_owned(), document: true, offset, reason })
        }
        Fault::Contract { reason } => Err(format!("the contract was broken: {reason}")),
        Fault::Io(error) => Err(format!("an I/O failure was reported although the stream has none: {error}")),
    }
}

/// Reads a file to its end.
pub fn read(factory: &dyn ReadFactory, bytes: &[u8], weather: Weather) -> Result<Reading, Breach> {
    let mut reading =
        Reading { rows: Vec::new(), rejected: Vec::new(), end: End::Complete, marks: Vec::new(), notes: Vec::new() };
    let count = Arc::new(AtomicU64::new(0));
    let mut session = match open(factory, io::Cursor::new(bytes.to_vec()), weather, &count) {
        Ok(session) => session,
        Err(fault) => return Ok(Reading { end: ended(fault)?, ..reading }),
    };
    let mut stack = Stack::default();
    let bound = BlockBound { rows: weather.rows, bytes: weather.bytes };
    let mut next_row = 1;
    loop {
        match session.open.cutter.cut(&mut session.input, bound) {
            Ok(Some(block)) => {
                check_block(&block, &mut next_row, session.input.offset(), weather)?;
                if let Some(fault) = take_block(&session, &block, &mut stack, &mut reading)? {
                    reading.end = ended(fault)?;
                    return Ok(reading);
                }
            }
            Ok(None) => break,
            Err(fault) => {
                reading.end = ended(fault)?;
                return Ok(reading);
            }
        }
    }
    if let Some(level) = &stack.innermost {
        return Err(format!("the file ended although level {} is open", level.kind));
    }
    if count.load(Ordering::Relaxed) != bytes.len() as u64 || session.input.offset() != bytes.len() as u64 {
        return Err(format!("the end was reported with {} of {} bytes consumed", session.input.offset(), bytes.len()));
    }
    reading.notes = session.open.cutter.notes().into_iter().map(|note| (note.code, note.count)).collect();
    Ok(reading)
}

fn check_block(block: &Block, next_row: &mut u64, consumed: u64, weather: Weather) -> Result<(), Breach> {
    let end = block.offset + block.data.len() as u64;
    if end > consumed {
        return Err(format!("a block ends at byte {end}, but only {consumed} bytes were taken"));
    }
    if block.first_row != *next_row {
        return Err(format!("a block begins with row {}, the next row is {next_row}", block.first_row));
    }
    if block.rows as usize > weather.rows.max(1) {
        return Err(format!("a block has {} rows, at most {} were asked for", block.rows, weather.rows));
    }
    *next_row += u64::from(block.rows);
    Ok(())
}

/// The levels that are open.
#[derive(Default)]
pub struct Stack {
    pub innermost: Option<Arc<Level>>,
    counts: Vec<Vec<u64>>,
}

impl Stack {
    /// Follows a mark.
    pub fn follow(&mut self, specs: &[LevelSpec], event: &LevelEvent) -> Result<String, Breach> {
        match event {
            LevelEvent::Open(open) => {
                let spec = specs
                    .get(usize::from(open.level))
                    .ok_or_else(|| format!("level {} was opened; the format declares {}", open.level, specs.len()))?;
                if self.counts.is_empty() {
                    self.counts.push(vec![0; specs.len()]);
                }
                let counts = self.counts.last_mut().ok_or("no level is open")?;
                counts[usize::from(open.level)] += 1;
                let text = |text: &Arc<str>| Value::String(Arc::clone(text));
                let fields = open.fields.iter().map(|(name, value)| (Arc::clone(name), text(value))).collect();
                let level = Level {
                    kind: open.level,
                    ordinal: counts[usize::from(open.level)],
                    frame: spec.frame,
                    parent: self.innermost.take(),
                    sections: vec![Section { name: Arc::clone(&spec.section), fields, keys: open.keys.clone() }],
                };
                self.innermost = Some(Arc::new(level));
                self.counts.push(vec![0; specs.len()]);
                Ok(format!("open {} {:?}", spec.name, open.fields))
            }
            LevelEvent::Close => {
                let level = self.innermost.take().ok_or("a level was closed although none is open")?;
                self.counts.pop();
                self.innermost = level.parent.clone();
                Ok(format!("close {}", level.kind))
            }
        }
    }
}

/// Columns of a decoded block: names with their cells.
pub fn columns(open: &OpenFile, decoded: &Decoded, wanted: &[usize]) -> Vec<(Arc<str>, Column)> {
    let named = wanted.iter().map(|at| Arc::clone(&open.columns[*at])).zip(&decoded.cells);
    let own = decoded.undeclared.iter().map(|(name, cells)| (Arc::clone(name), cells));
    named.chain(own).map(|(name, cells)| (name, untyped_column(cells))).collect()
}

/// The text of a value, as a test compares it.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => format!("{other:?}"),
    }
}

fn take_block(
    session: &Session,
    block: &Block,
    stack: &mut Stack,
    reading: &mut Reading,
) -> Result<Option<Fault>, Breach> {
    let wanted: Vec<usize> = (0..session.open.columns.len()).collect();
    let decoded = session.open.decoder.decode(block, &wanted);
    check_decoded(block, &decoded, wanted.len())?;
    let columns = columns(&session.open, &decoded, &wanted);
    // The chain of levels of each row of the block.
    let mut chains = Vec::with_capacity(block.rows as usize);
    // What stands behind a fault was not read.
    let read = if decoded.fault.is_some() { (decoded.rows + decoded.rejected.len()) as u32 } else { block.rows };
    let mut marks = block.marks.iter().filter(|mark| decoded.fault.is_none() || mark.row <= read).peekable();
    for row in 0..=read {
        while let Some(mark) = marks.next_if(|mark| mark.row <= row) {
            let shown = stack.follow(&session.levels, &mark.event)?;
            reading.marks.push((block.first_row + u64::from(mark.row), shown));
        }
        let chain = stack.innermost.iter().flat_map(|level| level.chain());
        chains.push(chain.map(|level| format!("{}.{} ", level.kind, level.ordinal)).collect::<String>());
    }
    if marks.next().is_some() {
        return Err("a mark stands behind the rows of its block, or out of order".to_owned());
    }
    for row in 0..decoded.rows {
        let at = decoded.accepted.as_ref().map_or(row as u32, |accepted| accepted[row]);
        // Fields that records name themselves stand in the order of their own record.
        let shape = shape_of(&decoded, row);
        let order = (0..wanted.len()).chain(shape.iter().map(|field| wanted.len() + *field as usize));
        let cells = order.map(|at| (Arc::clone(&columns[at].0), columns[at].1.value(row)));
        let cells = cells.filter(|(_, value)| !value.is_null()).map(|(name, value)| (name, shown(&value)));
        reading.rows.push(Row {
            number: block.first_row + u64::from(at),
            cells: cells.collect(),
            levels: chains[at as usize].clone(),
        });
    }
    for row in &decoded.rejected {
        let number = block.first_row + u64::from(row.row);
        reading.rejected.push(Reject { number, code: row.code, offset: row.offset, raw: row.raw.clone() });
    }
    Ok(decoded.fault)
}

/// The undeclared fields that a row has.
fn shape_of(decoded: &Decoded, row: usize) -> &[u32] {
    let mut end = 0;
    let run = decoded.shapes.iter().find(|run| {
        end += run.rows;
        row < end
    });
    run.map_or(&[], |run| &run.fields)
}

fn check_decoded(block: &Block, decoded: &Decoded, wanted: usize) -> Result<(), Breach> {
    if decoded.cells.len() != wanted {
        return Err(format!("{} columns were decoded, {wanted} were wanted", decoded.cells.len()));
    }
    let mut lengths = decoded.cells.iter().chain(decoded.undeclared.iter().map(|(_, cells)| cells));
    if let Some(wrong) = lengths.find(|cells| cells.len() != decoded.rows) {
        return Err(format!("a column has {} cells, the block {} accepted rows", wrong.len(), decoded.rows));
    }
    let accounted = decoded.rows + decoded.rejected.len();
    if decoded.fault.is_none() && decoded.overruns.is_none() && accounted != block.rows as usize {
        return Err(format!("{accounted} rows were decoded or rejected, the block has {}", block.rows));
    }
    if let Some(accepted) = &decoded.accepted
        && (accepted.len() != decoded.rows || accepted.iter().any(|row| *row >= block.rows))
    {
        return Err("the positions of accepted rows do not fit the block".to_owned());
    }
    Ok(())
}
