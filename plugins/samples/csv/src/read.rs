//! Reading: blocks and cells are handed on as they are, without copying text.

use std::io;
use std::sync::Arc;

use clinker_format as host;
use clinker_format::input::BlockInput;
use clinker_plugin_sdk::arrow_buffer::Buffer;
use clinker_plugin_sdk::{
    Block, BlockBound, BlockData, Cutter, Decoded, Decoder, Fault, FileIdentity, HostFailed, Input, InputField,
    OpenFile, ReadFactory, RejectedRow, RowText, TextColumn, Vocabulary,
};
use clinker_record::Type;
use clinker_record::cast::Cells;

pub struct Reader(pub Arc<dyn host::ReadFactory>);

pub fn field(field: &InputField) -> host::InputField {
    host::InputField {
        input_name: Arc::clone(&field.input_name),
        exposed_name: Arc::clone(&field.exposed_name),
        // Cells are text here; the engine gives them their types.
        ty: Type::nullable(clinker_record::Kind::Any),
        multiple: field.multiple,
    }
}

fn fault(fault: host::Fault) -> Fault {
    match fault {
        host::Fault::Corruption { code, line, offset, reason, help } => {
            Fault::Corruption { code: code.to_owned(), line, offset, reason, help }
        }
        host::Fault::Violation { code, line, offset, reason } => {
            Fault::Violation { code: code.to_owned(), line, offset, reason }
        }
        host::Fault::Contract { .. } | host::Fault::Io(_) => Fault::Host,
    }
}

/// The window of the engine as the format sees it, without a copy.
fn lent(input: &Input) -> BlockInput {
    let asker = input.asker();
    let more = move |limit: usize| asker.more(limit).map_err(|failed: HostFailed| io::Error::other(failed));
    BlockInput::lent(input.buffer(), input.offset(), input.ended(), Box::new(more))
}

impl ReadFactory for Reader {
    fn open(&self, file: &FileIdentity, input: &mut Input) -> Result<OpenFile, Fault> {
        let identity = host::FileIdentity { source: Arc::clone(&file.source), shown: Arc::clone(&file.shown) };
        let mut window = lent(input);
        let opened = self.0.open(&identity, &mut window);
        let consumed = input.take_to(window.offset());
        let opened = opened.map_err(fault)?;
        consumed?;
        Ok(OpenFile {
            columns: opened.columns,
            named_by_file: opened.named_by_file,
            header_place: opened.cutter.header_place(),
            cutter: Box::new(Cut(opened.cutter)),
            decoder: Arc::new(Split(opened.decoder)),
        })
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::Open
    }
}

struct Cut(Box<dyn host::Cutter>);

impl Cutter for Cut {
    fn cut(&mut self, input: &mut Input, bound: BlockBound) -> Result<Option<Block>, Fault> {
        let mut window = lent(input);
        let block = self.0.cut(&mut window, host::BlockBound { rows: bound.rows, bytes: bound.bytes });
        input.take_to(window.offset())?;
        let Some(block) = block.map_err(fault)? else { return Ok(None) };
        Ok(Some(Block {
            offset: block.offset,
            len: block.data.len(),
            rows: block.rows,
            first_line: block.first_line,
            ..Block::default()
        }))
    }
}

struct Split(Arc<dyn host::Decoder>);

fn block(data: &BlockData) -> host::Block {
    host::Block {
        data: data.data.clone(),
        rows: data.rows,
        first_row: data.first_row,
        first_line: data.first_line,
        offset: data.offset,
        ..host::Block::default()
    }
}

fn column(cells: Cells) -> TextColumn {
    match cells {
        Cells::Text(cells) => {
            let references = cells.refs.iter().map(|cell| (cell.offset, cell.len));
            TextColumn::of_references(&cells.block, &cells.extra, references)
        }
        // csv has no other cells.
        other => {
            let empty = Buffer::from_vec(Vec::<u8>::new());
            TextColumn::of_references(&empty, &empty, (0..other.len()).map(|_| (0, u32::MAX)))
        }
    }
}

impl Decoder for Split {
    fn decode(&self, data: &BlockData, wanted: &[usize]) -> Decoded {
        let decoded = self.0.decode(&block(data), wanted);
        let rejected = |row: host::RejectedRow| RejectedRow {
            row: row.row,
            code: row.code.to_owned(),
            line: row.line,
            offset: row.offset,
            reason: row.reason,
            raw: row.raw,
        };
        Decoded {
            columns: decoded.cells.into_iter().map(column).collect(),
            rows: decoded.rows,
            rejected: decoded.rejected.into_iter().map(rejected).collect(),
            fault: decoded.fault.map(fault),
            ..Decoded::default()
        }
    }

    fn row_text(&self, data: &BlockData, row: u32) -> RowText {
        let text = self.0.row_text(&block(data), row);
        RowText { line: text.line, offset: text.offset, raw: text.raw }
    }
}
