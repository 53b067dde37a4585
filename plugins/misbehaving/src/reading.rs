//! Lines as rows of one column, with every lie.

use std::sync::Arc;

use clinker_plugin_sdk::arrow_array::StringArray;
use clinker_plugin_sdk::arrow_buffer::Buffer;
use clinker_plugin_sdk::{
    Block, BlockBound, BlockData, Cutter, Decoded, Decoder, Fault, FileIdentity, Input, LevelEvent, LevelOpen,
    LevelSpec, Mark, OpenFile, ReadFactory, RejectedRow, RowText, TextColumn,
};

pub struct Reader {
    pub how: Arc<str>,
}

impl ReadFactory for Reader {
    fn open(&self, _file: &FileIdentity, _input: &mut Input) -> Result<OpenFile, Fault> {
        assert!(&*self.how != "panic_open", "as asked");
        Ok(OpenFile {
            columns: vec!["a".into(), "b".into()],
            named_by_file: false,
            header_place: None,
            cutter: Box::new(Lines { how: Arc::clone(&self.how), done: false }),
            decoder: Arc::new(Cells { how: Arc::clone(&self.how) }),
        })
    }

    fn levels(&self) -> Vec<LevelSpec> {
        vec![LevelSpec { name: "all".into(), section: "all".into(), fields: None, new_frame: false, file: false }]
    }
}

struct Lines {
    how: Arc<str>,
    done: bool,
}

fn open(row: u32, level: u16) -> Mark {
    Mark { row, event: LevelEvent::Open(LevelOpen { level, line: 1, ..LevelOpen::default() }) }
}

fn close(row: u32) -> Mark {
    Mark { row, event: LevelEvent::Close }
}

impl Cutter for Lines {
    fn cut(&mut self, input: &mut Input, _bound: BlockBound) -> Result<Option<Block>, Fault> {
        match &*self.how {
            "panic_cut" => panic!("as asked"),
            "never" => loop {
                std::thread::park();
            },
            "unknown_code" if self.done => {
                let reason = "made up".to_owned();
                return Err(Fault::Corruption { code: "E-NOBODY-1".into(), line: 1, offset: 0, reason, help: None });
            }
            _ => {}
        }
        while input.grow()? {}
        if self.done {
            return Ok(None);
        }
        self.done = true;
        let (len, rows) = (input.window().len(), input.window().iter().filter(|byte| **byte == b'\n').count() as u32);
        let offset = input.take(len);
        let marks = match &*self.how {
            "crossing_marks" => vec![close(0)],
            "unknown_level" => vec![open(0, 7)],
            "open_level" => vec![open(0, 0)],
            _ => vec![open(0, 0), close(rows)],
        };
        let beyond = if &*self.how == "block_not_given" { 1000 } else { 0 };
        let rows = if &*self.how == "wrong_rows" { rows + 1 } else { rows };
        Ok(Some(Block { offset, len: len + beyond, rows, first_line: 1, marks, context: None }))
    }
}

struct Cells {
    how: Arc<str>,
}

impl Decoder for Cells {
    fn decode(&self, block: &BlockData, wanted: &[usize]) -> Decoded {
        assert!(&*self.how != "panic_decode", "as asked");
        if &*self.how == "abort" {
            std::process::abort();
        }
        let lines: Vec<&[u8]> = block.data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        let rows = lines.len();
        let text = |count: usize| StringArray::from(vec!["x"; count]).into();
        let columns: Vec<TextColumn> = match &*self.how {
            "unequal_columns" => wanted.iter().enumerate().map(|(at, _)| text(rows + at)).collect(),
            // A view of text that nobody has checked.
            "bytes_not_given" => {
                let bytes = Buffer::from(vec![0xFF; 64]);
                let cells = |_: &usize| {
                    TextColumn::of_references(&bytes, &Buffer::from_vec(Vec::<u8>::new()), (0..rows).map(|_| (0, 20)))
                };
                wanted.iter().map(cells).collect()
            }
            _ => wanted.iter().map(|_| text(rows)).collect(),
        };
        let mut decoded = Decoded { columns, rows, ..Decoded::default() };
        if &*self.how == "rejected_beyond" {
            decoded.rejected.push(RejectedRow {
                row: 1000,
                code: "E423".into(),
                line: 1,
                offset: 0,
                reason: "made up".into(),
                raw: String::new(),
            });
        }
        decoded
    }

    fn row_text(&self, _block: &BlockData, _row: u32) -> RowText {
        assert!(&*self.how != "panic_row_text", "as asked");
        RowText { line: 1, offset: 0, raw: String::new() }
    }
}
