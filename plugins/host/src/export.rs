//! What plugins are asked, as named values, and rows as Arrow arrays.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::{Array, ArrayRef, NullArray, StringArray};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Fields};
use clinker_format::{JoinConflict, JoinRule, OptionValue, Options, OutputRows, ReadRequest, WriteRequest};
use clinker_plugin_abi::Item;
use clinker_plugin_abi::types::{ArrowArray, ArrowSchema};
use clinker_record::text::{self, CellWriter};
use clinker_record::{Column, Frame, Level, Section, Value};

fn options(options: &Options) -> Item {
    Item::Map(options.iter().map(|(key, value)| (key.to_owned(), option(value))).collect())
}

fn option(value: &OptionValue) -> Item {
    match value {
        OptionValue::Text(text) => text.as_str().into(),
        OptionValue::Bool(value) => (*value).into(),
        OptionValue::Number(number) => (*number).into(),
        OptionValue::Texts(texts) => Item::texts(texts),
        OptionValue::Fields(fields) => {
            let field = |(name, ty): &(String, clinker_record::Type)| {
                Item::map([("name", name.as_str().into()), ("type", ty.to_string().into())])
            };
            Item::List(fields.iter().map(field).collect())
        }
        OptionValue::Map(map) => options(map),
        OptionValue::Maps(maps) => Item::List(maps.iter().map(options).collect()),
    }
}

/// What a format is asked to read.
pub(crate) fn read_request(request: &ReadRequest<'_>) -> Item {
    let field = |field: &clinker_format::InputField| {
        Item::map([
            ("input_name", (&*field.input_name).into()),
            ("name", (&*field.exposed_name).into()),
            ("type", field.ty.to_string().into()),
            ("multiple", field.multiple.into()),
        ])
    };
    Item::map([
        ("options", options(request.options)),
        ("fields", Item::List(request.fields.iter().map(field).collect())),
        ("undeclared", request.undeclared.into()),
        ("refuse_undeclared", request.refuse_undeclared.into()),
    ])
}

/// What a format is asked to write.
pub(crate) fn write_request(request: &WriteRequest<'_>) -> Item {
    let join = |join: &JoinRule| {
        let on_conflict = match join.on_conflict {
            JoinConflict::Error => "error",
            JoinConflict::Escape => "escape",
            JoinConflict::EncodeJson => "encode_json",
        };
        Item::map([
            ("field", (&*join.field).into()),
            ("delimiter", join.delimiter.as_str().into()),
            ("on_conflict", on_conflict.into()),
            ("escape", join.escape.as_str().into()),
        ])
    };
    Item::map([
        ("options", options(request.options)),
        ("header", request.header.into()),
        ("preserve_nulls", request.preserve_nulls.into()),
        ("joins", Item::List(request.joins.iter().map(join).collect())),
    ])
}

/// Rows as an array of structs. With `typed` the columns keep their types; otherwise all are plain strings in the form
/// of text outputs.
///
/// # Errors
/// What arrow says.
pub(crate) fn rows(rows: &OutputRows<'_>, typed: bool) -> Result<(ArrowSchema, ArrowArray), String> {
    let (fields, children): (Vec<Field>, Vec<ArrayData>) =
        rows.names.iter().zip(rows.columns).map(|(name, column)| field(name, column, typed)).unzip();
    let kind = DataType::Struct(Fields::from(fields));
    let data = ArrayData::builder(kind.clone()).len(rows.rows).child_data(children);
    // SAFETY: each column is an array of the engine with as many rows as the batch, under a field of its type.
    let data = unsafe { data.build_unchecked() };
    let schema = FFI_ArrowSchema::try_from(kind).map_err(|error| error.to_string())?;
    Ok((schema.into(), FFI_ArrowArray::new(&data).into()))
}

fn field(name: &Arc<str>, column: &Column, typed: bool) -> (Field, ArrayData) {
    let mut metadata = HashMap::new();
    let mut extension = |word: &str| {
        metadata.insert("ARROW:extension:name".to_owned(), format!("clinker.{word}"));
    };
    let array: ArrayRef = match column {
        column if !typed => Arc::new(texts(column)),
        Column::Null(rows) => Arc::new(NullArray::new(*rows)),
        Column::Bool(array) => Arc::new(array.clone()),
        Column::Int(array) => Arc::new(array.clone()),
        Column::Float(array) => Arc::new(array.clone()),
        Column::Text(array) => Arc::new(array.clone()),
        Column::Date(array) => Arc::new(array.clone()),
        Column::Decimal(array) => {
            extension("decimal");
            Arc::new(array.clone())
        }
        Column::DateTime(array) => {
            extension("date_time");
            Arc::new(array.clone())
        }
        Column::Dynamic(kind, array) => {
            extension(kind.word());
            Arc::new(array.clone())
        }
    };
    (Field::new(&**name, array.data_type().clone(), true).with_metadata(metadata), array.to_data())
}

/// A column as text.
fn texts(column: &Column) -> StringArray {
    let writer = CellWriter::new(column);
    let mut builder = StringBuilder::with_capacity(column.len(), column.len() * 8);
    let mut cell = Vec::new();
    for row in 0..column.len() {
        if column.is_null(row) {
            builder.append_null();
            continue;
        }
        cell.clear();
        writer.append(row, &mut cell);
        // Cells are text: the writer appends UTF-8.
        builder.append_value(String::from_utf8_lossy(&cell));
    }
    builder.finish()
}

/// Tells the levels of a file that is written from each other.
#[derive(Default)]
pub(crate) struct LevelNames {
    known: Vec<(Arc<Level>, u64)>,
    next: u64,
}

impl LevelNames {
    /// The levels around rows, as a map; none when no row has one.
    pub(crate) fn of(&mut self, rows: &OutputRows<'_>) -> Option<Item> {
        rows.origin.levels()?;
        let (mut levels, mut runs): (Vec<(Arc<Level>, Item)>, Vec<Item>) = (Vec::new(), Vec::new());
        let mut last: Option<Option<Arc<Level>>> = None;
        for row in 0..rows.rows {
            let level = rows.origin.level(row);
            let same = last.as_ref().is_some_and(|last| match (last, level) {
                (Some(last), Some(level)) => Arc::ptr_eq(last, level),
                (None, None) => true,
                _ => false,
            });
            if same {
                continue;
            }
            let at = level.map(|level| self.place(level, &mut levels));
            runs.push(Item::map([("start", (row as u64).into()), ("level", at.into())]));
            last = Some(level.cloned());
        }
        // What this batch does not have any more can come back only as a level of its own.
        self.known.retain(|(known, _)| levels.iter().any(|(level, _)| Arc::ptr_eq(known, level)));
        let levels = levels.into_iter().map(|(_, item)| item).collect();
        Some(Item::map([("levels", Item::List(levels)), ("runs", Item::List(runs))]))
    }

    /// The position of a level in the list, with those around it in front of it.
    fn place(&mut self, level: &Arc<Level>, levels: &mut Vec<(Arc<Level>, Item)>) -> u64 {
        let mut chain: Vec<&Arc<Level>> = level.chain().collect();
        chain.reverse();
        let mut parent = None;
        for level in chain {
            let known = levels.iter().position(|(known, _)| Arc::ptr_eq(known, level));
            let at = known.unwrap_or_else(|| {
                levels.push((Arc::clone(level), self.item(level, parent)));
                levels.len() - 1
            });
            parent = Some(at as u64);
        }
        parent.unwrap_or(0)
    }

    fn item(&mut self, level: &Arc<Level>, parent: Option<u64>) -> Item {
        let id = match self.known.iter().find(|(known, _)| Arc::ptr_eq(known, level)) {
            Some((_, id)) => *id,
            None => {
                self.next += 1;
                self.known.push((Arc::clone(level), self.next));
                self.next
            }
        };
        Item::map([
            ("id", id.into()),
            ("kind", u64::from(level.kind).into()),
            ("ordinal", level.ordinal.into()),
            ("frame", if level.frame == Frame::New { "new" } else { "inherit" }.into()),
            ("parent", parent.into()),
            ("sections", Item::List(level.sections.iter().map(section).collect())),
        ])
    }
}

fn section(section: &Section) -> Item {
    let field = |(name, value): &(Arc<str>, Value)| {
        let value = if value.is_null() { Item::Null } else { text::cell(value).into() };
        Item::map([("name", (&**name).into()), ("value", value)])
    };
    let key = |(name, bytes): &(&'static str, Arc<[u8]>)| {
        Item::map([("name", (*name).into()), ("value", Item::Bytes(bytes.to_vec()))])
    };
    Item::map([
        ("name", (&*section.name).into()),
        ("fields", Item::List(section.fields.iter().map(field).collect())),
        ("keys", Item::List(section.keys.iter().map(key).collect())),
    ])
}
