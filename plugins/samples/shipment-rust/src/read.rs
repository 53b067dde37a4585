//! Reading: the cutter finds whole lines and checks the envelope, the decoder splits them into cells.

use std::sync::Arc;

use clinker_plugin_sdk::arrow_array::StringArray;
use clinker_plugin_sdk::{
    Block, BlockBound, BlockData, Cutter, Decoded, Decoder, Fault, FileIdentity, Input, LevelEvent, LevelOpen,
    LevelSpec, Mark, OpenFile, ReadFactory, RejectedRow, RowText, Vocabulary,
};

use crate::WRONG_COUNT;

/// Bytes of a line at most.
const LONGEST_LINE: usize = 64 << 10;

pub struct Reader;

impl ReadFactory for Reader {
    fn open(&self, _file: &FileIdentity, input: &mut Input) -> Result<OpenFile, Fault> {
        let Some(line) = line(input, 0)? else { return Err(corrupt("E421", 1, 0, "the file is empty")) };
        let header = String::from_utf8_lossy(&input.window()[..line.text]).into_owned();
        let Some(batch) = header.strip_prefix("HDR|") else {
            return Err(corrupt("E422", 1, 0, "the first line is no header: `HDR|` was expected"));
        };
        let cutter = Cut { batch: batch.to_owned(), line: 2, count: 0, opened: false, closed: false };
        input.take(line.whole);
        Ok(OpenFile {
            columns: vec!["id".into(), "weight".into()],
            named_by_file: false,
            header_place: None,
            cutter: Box::new(cutter),
            decoder: Arc::new(Cells),
        })
    }

    fn levels(&self) -> Vec<LevelSpec> {
        vec![LevelSpec { name: "batch".into(), section: "batch".into(), fields: None, new_frame: false, file: true }]
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::Open
    }
}

/// A line in the window: bytes of its text, and with its line feed.
struct Line {
    text: usize,
    whole: usize,
}

/// The line that begins at `from`, with more input if it takes more; `None` at the end of the file.
fn line(input: &mut Input, from: usize) -> Result<Option<Line>, Fault> {
    loop {
        let rest = &input.window()[from..];
        if let Some(text) = rest.iter().position(|byte| *byte == b'\n') {
            return Ok(Some(Line { text, whole: text + 1 }));
        }
        if rest.len() > LONGEST_LINE {
            let offset = input.offset() + from as u64;
            return Err(corrupt("E426", 0, offset, "a line is longer than 65536 bytes"));
        }
        if !input.grow()? {
            let text = input.window().len() - from;
            return Ok((text > 0).then_some(Line { text, whole: text }));
        }
    }
}

fn corrupt(code: &str, line: u64, offset: u64, reason: &str) -> Fault {
    Fault::Corruption { code: code.into(), line, offset, reason: reason.into(), help: None }
}

/// What is known of a file while it is cut.
struct Cut {
    batch: String,
    /// Number of the next line.
    line: u64,
    count: u64,
    opened: bool,
    closed: bool,
}

impl Cutter for Cut {
    fn cut(&mut self, input: &mut Input, bound: BlockBound) -> Result<Option<Block>, Fault> {
        let mut block = Block { first_line: self.line, ..Block::default() };
        if !self.opened {
            self.opened = true;
            let fields = vec![("batch".to_owned(), self.batch.clone())];
            let open = LevelOpen { level: 0, fields, keys: Vec::new(), line: 1, offset: 0 };
            block.marks.push(Mark { row: 0, event: LevelEvent::Open(open) });
        }
        while (block.rows as usize) < bound.rows && (block.rows == 0 || block.len < bound.bytes) {
            let Some(line) = line(input, block.len)? else { break };
            if self.closed {
                return Err(corrupt("E425", self.line, input.offset(), "something stands behind the trailer"));
            }
            let text = &input.window()[block.len..block.len + line.text];
            if text.starts_with(b"TRL|") {
                break;
            }
            block.len += line.whole;
            block.rows += 1;
            self.line += 1;
        }
        self.count += u64::from(block.rows);
        if block.rows > 0 || !block.marks.is_empty() {
            block.offset = input.take(block.len);
            return Ok(Some(block));
        }
        if self.closed {
            return Ok(None);
        }
        self.trailer(input)?;
        // No rows, but the level closes.
        let mark = Mark { row: 0, event: LevelEvent::Close };
        Ok(Some(Block { offset: input.offset(), first_line: self.line, marks: vec![mark], ..Block::default() }))
    }
}

impl Cut {
    /// Checks the trailer, which is next.
    fn trailer(&mut self, input: &mut Input) -> Result<(), Fault> {
        let offset = input.offset();
        let Some(line) = line(input, 0)? else {
            return Err(corrupt("E421", self.line, offset, "the file ends without a trailer"));
        };
        let text = String::from_utf8_lossy(&input.window()[..line.text]).into_owned();
        let fields: Vec<&str> = text.split('|').collect();
        let [_, count, batch] = fields[..] else {
            return Err(corrupt("E423", self.line, offset, "a trailer has a count and a batch"));
        };
        let Ok(declared) = count.parse::<u64>() else {
            return Err(corrupt("E422", self.line, offset, "the count of the trailer is no number"));
        };
        input.take(line.whole);
        let at = self.line;
        (self.closed, self.line) = (true, self.line + 1);
        if declared != self.count {
            let reason = format!("the trailer declares {declared} shipments, counted {}", self.count);
            return Err(Fault::Violation { code: WRONG_COUNT.into(), line: at, offset, reason });
        }
        if batch != self.batch {
            let reason = format!("the trailer says batch `{batch}`, the header `{}`", self.batch);
            return Err(corrupt("E424", at, offset, &reason));
        }
        Ok(())
    }
}

/// The decoder: any block, on any thread.
struct Cells;

/// A line of a block with its offset in it.
fn lines(block: &BlockData) -> Vec<(usize, &[u8])> {
    let mut at = 0;
    let with_end = block.data.split_inclusive(|byte| *byte == b'\n');
    with_end
        .map(|line| {
            let start = at;
            at += line.len();
            (start, line.strip_suffix(b"\n").unwrap_or(line))
        })
        .collect()
}

/// A line as text. Of one that is none each byte that ASCII does not have is written as `\xNN`.
fn raw(line: &[u8]) -> String {
    let shown = |byte: &u8| if byte.is_ascii() { char::from(*byte).to_string() } else { format!("\\x{byte:02X}") };
    match std::str::from_utf8(line) {
        Ok(text) => text.to_owned(),
        Err(_) => line.iter().map(shown).collect(),
    }
}

impl Decoder for Cells {
    fn decode(&self, block: &BlockData, wanted: &[usize]) -> Decoded {
        let mut columns: [Vec<String>; 2] = Default::default();
        let mut decoded = Decoded::default();
        for (row, (at, line)) in lines(block).into_iter().enumerate() {
            let fields: Option<Vec<&str>> = std::str::from_utf8(line).ok().map(|line| line.split('|').collect());
            match fields.as_deref() {
                Some(["SHP", id, weight]) => {
                    columns[0].push((*id).to_owned());
                    columns[1].push((*weight).to_owned());
                    decoded.rows += 1;
                }
                // The row is rejected, and reading goes on at the next line.
                _ => decoded.rejected.push(RejectedRow {
                    row: row as u32,
                    code: "E423".into(),
                    line: block.first_line + row as u64,
                    offset: block.offset + at as u64,
                    reason: "a shipment is `SHP|id|weight`".into(),
                    raw: raw(line),
                }),
            }
        }
        decoded.columns = wanted.iter().map(|column| StringArray::from(columns[*column].clone()).into()).collect();
        decoded
    }

    fn row_text(&self, block: &BlockData, row: u32) -> RowText {
        let (at, line) = lines(block)[row as usize];
        RowText { line: block.first_line + u64::from(row), offset: block.offset + at as u64, raw: raw(line) }
    }
}
