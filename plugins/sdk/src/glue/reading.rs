//! Reading: types to named values and back.

use std::any::Any;
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray, StructArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Fields};
use clinker_plugin_abi::Item;
use clinker_plugin_abi::guest::{Columns, Given, Input, Next, Stop};

use crate::{
    BlockBound, BlockData, Cutter, Decoded, Decoder, Fault, FileIdentity, InputField, LevelEvent, LevelSpec, Mark,
    Note, OpenFile, Options, ReadFactory, ReadRequest, RejectedRow, ShapeRun, Vocabulary,
};

/// What decodes blocks of one file.
pub struct FileDecoder(pub(super) Arc<dyn Decoder>);

/// What goes with a block from the cutter to the decoder.
pub struct Context {
    marks: Arc<[Mark]>,
    context: Option<Arc<dyn Any + Send + Sync>>,
}

fn shared(item: &Item) -> Arc<str> {
    item.text().unwrap_or_default().into()
}

pub(super) fn request(item: &Item) -> ReadRequest {
    let field = |item: &Item| InputField {
        input_name: shared(item.get("input_name")),
        exposed_name: shared(item.get("name")),
        ty: item.get("type").text().unwrap_or("string").to_owned(),
        multiple: item.get("multiple").bool().unwrap_or(false),
    };
    ReadRequest {
        options: Options::new(item.get("options").clone()),
        fields: item.get("fields").items().iter().map(field).collect(),
        undeclared: item.get("undeclared").bool().unwrap_or(false),
        refuse_undeclared: item.get("refuse_undeclared").bool().unwrap_or(false),
    }
}

pub(super) fn identity(item: &Item) -> FileIdentity {
    FileIdentity { source: shared(item.get("source")), shown: shared(item.get("shown")) }
}

pub(super) fn bound(reader: &dyn ReadFactory) -> Item {
    let vocabulary = match reader.vocabulary() {
        Vocabulary::Closed => Item::Null,
        Vocabulary::Open => "open".into(),
        Vocabulary::Positional { prefix, max } => {
            Item::map([("prefix", prefix.into()), ("max", u64::from(max).into())])
        }
    };
    Item::map([
        ("levels", Item::List(reader.levels().into_iter().map(level).collect())),
        ("vocabulary", vocabulary),
        ("generated_columns", reader.generated_columns().map_or(Item::Null, Item::texts)),
    ])
}

fn level(level: LevelSpec) -> Item {
    let field = |(name, ty): (String, String)| Item::map([("name", name.into()), ("type", ty.into())]);
    Item::map([
        ("name", level.name.into()),
        ("section", level.section.into()),
        ("fields", level.fields.map_or(Item::Null, |fields| Item::List(fields.into_iter().map(field).collect()))),
        ("frame", if level.new_frame { "new" } else { "inherit" }.into()),
        ("file", level.file.into()),
    ])
}

pub(super) fn opened(file: &OpenFile) -> Item {
    let (line, offset) = file.header_place.unzip();
    Item::map([
        ("columns", Item::texts(&file.columns)),
        ("named_by_file", file.named_by_file.into()),
        ("header_line", line.into()),
        ("header_offset", offset.into()),
    ])
}

pub(super) fn stop(fault: Fault) -> Stop {
    match fault_item(fault) {
        Item::Null => Stop::Host,
        fault => Stop::Fault(fault),
    }
}

/// Null for a failure of the engine's own.
fn fault_item(fault: Fault) -> Item {
    match fault {
        Fault::Host => Item::Null,
        Fault::Corruption { code, line, offset, reason, help } => Item::map([
            ("kind", "corruption".into()),
            ("code", code.into()),
            ("line", line.into()),
            ("offset", offset.into()),
            ("reason", reason.into()),
            ("help", help.into()),
        ]),
        Fault::Violation { code, line, offset, reason } => Item::map([
            ("kind", "violation".into()),
            ("code", code.into()),
            ("line", line.into()),
            ("offset", offset.into()),
            ("reason", reason.into()),
        ]),
    }
}

fn mark(mark: &Mark) -> Item {
    let open = match &mark.event {
        LevelEvent::Close => Item::Null,
        LevelEvent::Open(open) => {
            let field = |(name, value): &(String, String)| {
                Item::map([("name", name.as_str().into()), ("value", value.as_str().into())])
            };
            let key = |(name, bytes): &(String, Vec<u8>)| {
                Item::map([("name", name.as_str().into()), ("value", Item::Bytes(bytes.clone()))])
            };
            Item::map([
                ("level", u64::from(open.level).into()),
                ("fields", Item::List(open.fields.iter().map(field).collect())),
                ("keys", Item::List(open.keys.iter().map(key).collect())),
                ("line", open.line.into()),
                ("offset", open.offset.into()),
            ])
        }
    };
    Item::map([("row", u64::from(mark.row).into()), ("open", open)])
}

fn note(note: Note) -> Item {
    Item::map([("code", note.code.into()), ("count", note.count.into()), ("text", note.text.into())])
}

pub(super) fn cut(cutter: &mut dyn Cutter, input: &mut Input, rows: u64, bytes: u64) -> Result<Next<Context>, Stop> {
    let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    let Some(block) = cutter.cut(input, BlockBound { rows: size(rows), bytes: size(bytes) }).map_err(stop)? else {
        let notes: Vec<Item> = cutter.notes().into_iter().map(note).collect();
        return Ok(Next::End(Item::map([("notes", Item::List(notes))])));
    };
    let marks: Arc<[Mark]> = block.marks.into();
    let reply = if marks.is_empty() {
        Item::Null
    } else {
        Item::map([("marks", Item::List(marks.iter().map(mark).collect()))])
    };
    let context =
        (!marks.is_empty() || block.context.is_some()).then(|| Box::new(Context { marks, context: block.context }));
    let (offset, len, first_line) = (block.offset, block.len, block.first_line);
    Ok(Next::Block { offset, len, rows: u64::from(block.rows), first_line, context, reply })
}

fn block_data(given: &Given<'_, Context>) -> Result<BlockData, Stop> {
    Ok(BlockData {
        data: given.data.clone(),
        rows: u32::try_from(given.rows).map_err(|_| Stop::Error("the engine gave a block of too many rows".into()))?,
        first_row: given.first_row,
        first_line: given.first_line,
        offset: given.offset,
        marks: given.context.map_or_else(|| Arc::from([]), |context| Arc::clone(&context.marks)),
        context: given.context.and_then(|context| context.context.clone()),
    })
}

pub(super) fn decode(decoder: &FileDecoder, given: &Given<'_, Context>, wanted: &[usize]) -> Result<Columns, Stop> {
    let Decoded { columns, undeclared, shapes, rows, rejected, fault } = decoder.0.decode(&block_data(given)?, wanted);
    let mut named: Vec<_> = columns.into_iter().map(|column| (Arc::from(""), column)).collect();
    named.extend(undeclared);
    let fault = fault.map_or(Item::Null, |fault| match fault_item(fault) {
        // The engine reads before it decodes; there is no failure of its own to pass on.
        Item::Null => Item::map([]),
        fault => fault,
    });
    let reply = match (&fault, shapes.is_empty()) {
        (Item::Null, true) => Item::Null,
        _ => Item::map([("fault", fault), ("shapes", shape_words(&shapes))]),
    };
    let rejected = if rejected.is_empty() { None } else { Some(rejections(rejected)?) };
    Ok(Columns { columns: named, rows, rejected, reply })
}

fn shape_words(shapes: &[ShapeRun]) -> Item {
    if shapes.is_empty() {
        return Item::Null;
    }
    let words =
        shapes.iter().flat_map(|run| [run.rows, run.fields.len() as u32].into_iter().chain(run.fields.iter().copied()));
    Item::Bytes(words.flat_map(u32::to_le_bytes).collect())
}

/// Rejected rows as a batch.
fn rejections(rows: Vec<RejectedRow>) -> Result<StructArray, Stop> {
    let texts =
        |text: fn(&RejectedRow) -> &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(rows.iter().map(text))) };
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.row))),
        texts(|row| &row.code),
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.line))),
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.offset))),
        texts(|row| &row.reason),
        texts(|row| &row.raw),
    ];
    let fields = Fields::from(vec![
        Field::new("row", DataType::UInt32, false),
        Field::new("code", DataType::Utf8, false),
        Field::new("line", DataType::UInt64, false),
        Field::new("offset", DataType::UInt64, false),
        Field::new("reason", DataType::Utf8, false),
        Field::new("raw", DataType::Utf8, false),
    ]);
    StructArray::try_new(fields, arrays, None).map_err(|error| Stop::Error(error.to_string()))
}

pub(super) fn row_text(decoder: &FileDecoder, given: &Given<'_, Context>, row: u64) -> Result<Item, Stop> {
    let row = u32::try_from(row).map_err(|_| Stop::Error("the engine asked for a row that no block has".into()))?;
    let text = decoder.0.row_text(&block_data(given)?, row);
    Ok(Item::map([("line", text.line.into()), ("offset", text.offset.into()), ("raw", text.raw.into())]))
}
