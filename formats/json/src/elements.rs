//! Cutting files whose records stand one after another: in an array, in an array inside objects, or in a sequence.

use clinker_format::input::BlockInput;
use clinker_format::{Block, BlockBound, Cutter, Fault};
use memchr::memchr_iter;

use crate::reader::{MAX_BLOCK_BYTES, too_long};
use crate::scan::unescape;
use crate::walk::{Balance, Broken, Event, Walker};

/// What stands around the records of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// One array.
    Array,
    /// Objects inside one another with these keys, then one array.
    Path(Vec<String>),
    /// Nothing: blank space separates them.
    Sequence,
}

impl Frame {
    /// Containers around a record.
    pub fn depth(&self) -> usize {
        match self {
            Frame::Sequence => 0,
            Frame::Array => 1,
            Frame::Path(path) => path.len() + 1,
        }
    }
}

/// How far a file was read.
enum Phase {
    /// In front of the outermost bracket.
    Start,
    /// Inside the objects of the path, in front of the array.
    Seek(Walker),
    /// Among the records.
    Elements(Option<Walker>),
    /// Behind the array, inside the objects of the path.
    Rest(Walker),
    /// Behind everything.
    Trailing,
}

/// What was read last between two records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// The opening bracket.
    First,
    /// A comma.
    Comma,
    /// A record.
    Record,
}

/// What follows blank space and commas.
enum Next {
    /// The window does not tell.
    More,
    /// A record.
    Start,
    /// The bracket that ends the array.
    Close,
    /// Something that cannot stand here.
    Bad(&'static str),
}

/// A record that is read.
#[derive(Clone, Copy)]
struct Record {
    start: usize,
    at: usize,
    kind: RecordKind,
}

#[derive(Clone, Copy)]
enum RecordKind {
    Container(Balance),
    String { escape: bool },
    Scalar,
}

/// Records at the front of the window.
#[derive(Default)]
struct Found {
    len: usize,
    rows: usize,
}

/// Cuts behind records. What stands in them is the decoder's business.
pub struct ElementCutter {
    frame: Frame,
    phase: Phase,
    before: Before,
    limit: usize,
    next_row: u64,
    next_line: u64,
}

impl ElementCutter {
    /// A cutter of records up to `limit` bytes, in front of line `next_line`.
    pub fn new(frame: Frame, limit: usize, next_line: u64) -> Self {
        let phase = if frame == Frame::Sequence { Phase::Elements(None) } else { Phase::Start };
        Self { frame, phase, before: Before::First, limit, next_row: 1, next_line }
    }

    /// Passes over the front of the window.
    fn consume(&mut self, input: &mut BlockInput, len: usize) {
        self.next_line += memchr_iter(b'\n', &input.take(len)).count() as u64;
    }

    /// A fault at the front of the window.
    fn fault(&self, input: &BlockInput, code: &'static str, reason: impl Into<String>) -> Fault {
        Fault::Corruption { code, line: self.next_line, offset: input.offset(), reason: reason.into(), help: None }
    }

    /// Passes over blank space; the byte behind it, `None` at the end of the input.
    fn skip_blank(&mut self, input: &mut BlockInput) -> Result<Option<u8>, Fault> {
        loop {
            let window = input.window();
            let blank = window.iter().take_while(|byte| is_blank(**byte)).count();
            let next = window.get(blank).copied();
            self.consume(input, blank);
            if next.is_some() || !input.grow()? {
                return Ok(next);
            }
        }
    }

    /// The outermost bracket; `false` when the input is empty.
    fn start(&mut self, input: &mut BlockInput) -> Result<bool, Fault> {
        let Some(byte) = self.skip_blank(input)? else { return Ok(false) };
        let (open, what) = if self.frame == Frame::Array { (b'[', "an array") } else { (b'{', "an object") };
        if byte != open {
            let reason = format!("expected {what} of records, found {}", shown(byte));
            return Err(self.fault(input, "E422", reason));
        }
        self.consume(input, 1);
        self.phase = match &self.frame {
            Frame::Path(path) => {
                Phase::Seek(Walker::new(6 * path.iter().map(String::len).max().unwrap_or_default() + 8))
            }
            _ => Phase::Elements(None),
        };
        Ok(true)
    }

    /// Runs a walker up to an event; `None` when the input ends.
    fn walk(&mut self, walker: &mut Walker, input: &mut BlockInput) -> Result<Option<Event>, Fault> {
        loop {
            let mut at = 0;
            let result = walker.run(input.window(), &mut at);
            match result {
                Ok(Event::More) => {
                    self.consume(input, at);
                    if !input.grow()? {
                        return Ok(None);
                    }
                }
                Ok(event) => {
                    self.consume(input, at);
                    return Ok(Some(event));
                }
                Err(Broken { code, reason }) => {
                    let found = input.window()[at - 1];
                    self.consume(input, at - 1);
                    return Err(self.fault(input, code, format!("{reason}, found {}", shown(found))));
                }
            }
        }
    }

    /// Goes down the path to the array.
    fn seek(&mut self, mut walker: Walker, input: &mut BlockInput) -> Result<(), Fault> {
        let Frame::Path(path) = self.frame.clone() else { unreachable!("only a path is sought") };
        let mut matched = false;
        loop {
            let Some(event) = self.walk(&mut walker, input)? else {
                return Err(self.fault(input, "E421", "the input ends before the array of records"));
            };
            let level = walker.watched();
            match event {
                Event::More => {}
                Event::Key => matched = is_key(&walker, &path[level - 1]),
                Event::Value(byte) if matched => {
                    matched = false;
                    let last = level == path.len();
                    let (open, what) = if last { (b'[', "an array") } else { (b'{', "an object") };
                    if byte != open {
                        let reason = format!(
                            "`{}` of the `record_path` must hold {what}, found {}",
                            path[..level].join("."),
                            shown(byte)
                        );
                        return Err(self.fault(input, "E422", reason));
                    }
                    self.consume(input, 1);
                    walker.enter(!last);
                    if last {
                        self.phase = Phase::Elements(Some(walker));
                        return Ok(());
                    }
                }
                Event::Value(_) => {}
                Event::Close => {
                    let key = path[..=level].join(".");
                    let reason = format!("an object of the `record_path` ends here without the key `{key}`");
                    return Err(self.fault(input, "E422", reason));
                }
            }
        }
    }

    /// Passes over what follows the array in the objects of the path.
    fn rest(&mut self, mut walker: Walker, input: &mut BlockInput) -> Result<(), Fault> {
        let Frame::Path(path) = self.frame.clone() else { unreachable!("only a path has a rest") };
        while walker.watched() > 0 {
            match self.walk(&mut walker, input)? {
                None => return Err(self.fault(input, "E421", "the input ends inside the object around the records")),
                Some(Event::Key) => {
                    let level = walker.watched();
                    if is_key(&walker, &path[level - 1]) {
                        let key = path[..level].join(".");
                        let reason = format!("the key `{key}` of the `record_path` occurs a second time");
                        return Err(self.fault(input, "E422", reason));
                    }
                }
                Some(_) => {}
            }
        }
        self.phase = Phase::Trailing;
        Ok(())
    }

    /// Blank space and the end of the input.
    fn trailing(&mut self, input: &mut BlockInput) -> Result<(), Fault> {
        match self.skip_blank(input)? {
            None => Ok(()),
            Some(byte) => {
                Err(self.fault(input, "E422", format!("expected the end of the input, found {}", shown(byte))))
            }
        }
    }

    /// What follows in the window from `at` on.
    fn next(&self, before: &mut Before, window: &[u8], at: &mut usize) -> Next {
        let in_array = self.frame != Frame::Sequence;
        while let Some(byte) = window.get(*at) {
            match (*before, byte) {
                (_, byte) if is_blank(*byte) => {}
                (Before::Record, b',') if in_array => *before = Before::Comma,
                (Before::First | Before::Record, b']') if in_array => return Next::Close,
                (Before::Record, _) if in_array => return Next::Bad("expected `,` or `]`"),
                (_, b',' | b']' | b'}' | b':') => return Next::Bad("expected a record"),
                _ => return Next::Start,
            }
            *at += 1;
        }
        Next::More
    }

    /// The next block of records; `None` when the records have ended.
    fn elements(&mut self, input: &mut BlockInput, bound: BlockBound) -> Result<Option<Block>, Fault> {
        loop {
            let (mut before, mut at) = (self.before, 0);
            let next = self.next(&mut before, input.window(), &mut at);
            self.before = before;
            self.consume(input, at);
            match next {
                Next::Start => break,
                Next::Close => {
                    self.consume(input, 1);
                    return Ok(None);
                }
                Next::Bad(reason) => {
                    let found = shown(input.window()[0]);
                    return Err(self.fault(input, "E422", format!("{reason}, found {found}")));
                }
                Next::More if input.ended() && self.frame == Frame::Sequence => return Ok(None),
                Next::More if input.ended() => {
                    return Err(self.fault(input, "E421", "the input ends before the `]` that closes the records"));
                }
                Next::More => {
                    input.grow()?;
                }
            }
        }
        self.records(input, bound).map(Some)
    }

    /// The records at the front of the window.
    fn records(&mut self, input: &mut BlockInput, bound: BlockBound) -> Result<Block, Fault> {
        let mut found = Found::default();
        let mut record = Record::at(input.window(), 0);
        loop {
            let start = record.start;
            let end = record.end(input.window(), input.ended() && self.frame == Frame::Sequence);
            let len = end.unwrap_or(input.window().len()) - start;
            if len > self.limit {
                if found.rows > 0 {
                    break;
                }
                return Err(too_long("record", self.limit, self.next_line, input.offset()));
            }
            let Some(end) = end else {
                if input.ended() && found.rows == 0 {
                    return Err(self.fault(input, "E421", "the input ends inside the record that begins here"));
                }
                if input.ended() || !self.grow(input, &found, self.limit + 1 - len)? {
                    break;
                }
                continue;
            };
            found = Found { len: end, rows: found.rows + 1 };
            if found.rows >= bound.rows.max(1) || found.len >= bound.bytes {
                break;
            }
            match self.following(input, &found, bound)? {
                Some(start) => record = Record::at(input.window(), start),
                None => break,
            }
        }
        Ok(self.take(input, &found))
    }

    /// Where the record behind the found ones begins; `None` when the block ends in front of it.
    fn following(&self, input: &mut BlockInput, found: &Found, bound: BlockBound) -> Result<Option<usize>, Fault> {
        let (mut before, mut at) = (Before::Record, found.len);
        loop {
            match self.next(&mut before, input.window(), &mut at) {
                Next::Start => return Ok(Some(at)),
                Next::More if !input.ended() && at < bound.bytes && self.grow(input, found, usize::MAX)? => {}
                _ => return Ok(None),
            }
        }
    }

    /// Reads more; `false` when the input fails behind records that were found.
    fn grow(&self, input: &mut BlockInput, found: &Found, room: usize) -> Result<bool, Fault> {
        match input.grow_at_most(room) {
            Ok(_) => Ok(true),
            Err(error) if found.rows == 0 => Err(error.into()),
            Err(error) => {
                input.defer(error);
                Ok(false)
            }
        }
    }

    fn take(&mut self, input: &mut BlockInput, found: &Found) -> Block {
        let (offset, data) = (input.offset(), input.take(found.len));
        let block = Block {
            data,
            rows: found.rows as u32,
            first_row: self.next_row,
            first_line: self.next_line,
            offset,
            ..Block::default()
        };
        self.next_row += found.rows as u64;
        self.next_line += memchr_iter(b'\n', &block.data).count() as u64;
        self.before = Before::Record;
        block
    }
}

impl Cutter for ElementCutter {
    fn cut(&mut self, input: &mut BlockInput, bound: BlockBound) -> Result<Option<Block>, Fault> {
        let bound = BlockBound { rows: bound.rows, bytes: bound.bytes.clamp(1, MAX_BLOCK_BYTES) };
        loop {
            match std::mem::replace(&mut self.phase, Phase::Trailing) {
                Phase::Start => {
                    if !self.start(input)? {
                        return Ok(None);
                    }
                }
                Phase::Seek(walker) => self.seek(walker, input)?,
                Phase::Elements(walker) => match self.elements(input, bound)? {
                    Some(block) => {
                        self.phase = Phase::Elements(walker);
                        return Ok(Some(block));
                    }
                    None => {
                        if let Some(mut walker) = walker {
                            walker.leave();
                            self.phase = Phase::Rest(walker);
                        }
                    }
                },
                Phase::Rest(walker) => self.rest(walker, input)?,
                Phase::Trailing => {
                    self.trailing(input)?;
                    return Ok(None);
                }
            }
        }
    }
}

impl Record {
    /// The record that begins at `start`.
    fn at(window: &[u8], start: usize) -> Self {
        let (kind, at) = match window[start] {
            b'{' | b'[' => (RecordKind::Container(Balance::default()), start),
            b'"' => (RecordKind::String { escape: false }, start + 1),
            _ => (RecordKind::Scalar, start),
        };
        Self { start, at, kind }
    }

    /// Where it ends, if the window tells.
    fn end(&mut self, window: &[u8], ends_with_window: bool) -> Option<usize> {
        match &mut self.kind {
            RecordKind::Container(balance) => balance.run(window, &mut self.at).then_some(self.at),
            RecordKind::String { escape } => {
                while let Some(byte) = window.get(self.at) {
                    self.at += 1;
                    match byte {
                        _ if *escape => *escape = false,
                        b'\\' => *escape = true,
                        b'"' => return Some(self.at),
                        _ => {}
                    }
                }
                None
            }
            RecordKind::Scalar => {
                let rest = &window[self.at..];
                let len = rest.iter().position(|byte| ends_scalar(*byte));
                self.at += len.unwrap_or(rest.len());
                (len.is_some() || ends_with_window).then_some(self.at)
            }
        }
    }
}

/// Whether a number or literal ends in front of this byte.
pub fn ends_scalar(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b',' | b']' | b'}' | b'[' | b'{' | b'"' | b':')
}

fn is_key(walker: &Walker, key: &str) -> bool {
    let Some(written) = walker.key() else { return false };
    let mut plain = Vec::with_capacity(written.len());
    unescape(written, &mut plain);
    plain == key.as_bytes()
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// A byte in words.
pub fn shown(byte: u8) -> String {
    match byte {
        b'!'..=b'~' => format!("`{}`", char::from(byte)),
        byte => format!("byte {byte:02X}"),
    }
}
