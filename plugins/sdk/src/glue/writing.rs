//! Writing: types to named values and back.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Decimal128Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, StringViewArray};
use arrow_schema::{DataType, Field};
use clinker_plugin_abi::Item;
use clinker_plugin_abi::guest::{Asker, Records, Sink, Stop, Written};

use crate::{
    ColumnRun, ColumnSet, Encoded, Encoder, JoinConflict, JoinRule, Level, Levels, Options, OutputColumn, OutputRows,
    RefusedRow, Section, WriteFactory, WriteRequest, Writer,
};

/// Bound writer options.
pub struct Output {
    factory: Arc<dyn WriteFactory>,
    encoder: Option<Arc<dyn Encoder>>,
    /// Bytes of the batch that was encoded last: as much is likely needed again.
    last: AtomicUsize,
}

pub(super) fn request(item: &Item) -> WriteRequest {
    let join = |item: &Item| JoinRule {
        field: item.get("field").text().unwrap_or_default().into(),
        delimiter: item.get("delimiter").text().unwrap_or(";").to_owned(),
        on_conflict: match item.get("on_conflict").text() {
            Some("escape") => JoinConflict::Escape,
            Some("encode_json") => JoinConflict::EncodeJson,
            _ => JoinConflict::Error,
        },
        escape: item.get("escape").text().unwrap_or_default().to_owned(),
    };
    WriteRequest {
        options: Options::new(item.get("options").clone()),
        header: item.get("header").bool().unwrap_or(true),
        preserve_nulls: item.get("preserve_nulls").bool().unwrap_or(false),
        joins: item.get("joins").items().iter().map(join).collect(),
    }
}

pub(super) fn bound(factory: Arc<dyn WriteFactory>) -> (Output, Item) {
    let encoder = factory.encoder();
    let union = factory.column_set() == ColumnSet::Union;
    let warnings = factory.warnings().into_iter().map(crate::OptionFault::into_item).collect();
    let reply = Item::map([
        ("encoder", encoder.is_some().into()),
        ("cells", if factory.typed_columns() { "native" } else { "text" }.into()),
        ("may_lack_characters", factory.may_lack_characters().into()),
        ("column_set", if union { "union" } else { "each_record" }.into()),
        ("warnings", Item::List(warnings)),
    ]);
    (Output { factory, encoder, last: AtomicUsize::new(0) }, reply)
}

impl Output {
    pub(super) fn encode(&self, given: &Written) -> Result<Records, Stop> {
        let Some(encoder) = &self.encoder else { return Err(Stop::Error("the format has no encoder".into())) };
        let rows = rows(given)?;
        let last = self.last.load(Ordering::Relaxed);
        let mut out = Encoded {
            bytes: Vec::with_capacity(last + last / 8),
            ends: Vec::with_capacity(rows.rows),
            refused: Vec::new(),
        };
        encoder.encode(&rows, &mut out);
        self.last.store(out.bytes.len(), Ordering::Relaxed);
        Ok(records(out))
    }

    pub(super) fn writer(&self, header: bool) -> Box<dyn Writer> {
        self.factory.writer(header)
    }

    pub(super) fn complete(&self, request: &Item, host: &Asker) -> io::Result<()> {
        let names: Vec<Arc<str>> =
            request.get("names").items().iter().map(|name| name.text().unwrap_or_default().into()).collect();
        let run = |item: &Item| ColumnRun {
            records: item.get("records").number().unwrap_or(0),
            columns: item.get("columns").number().map_or(0, |columns| columns as usize),
        };
        let runs: Vec<ColumnRun> = request.get("runs").items().iter().map(run).collect();
        let header = request.get("header").bool().unwrap_or(true);
        let (mut written, mut out) = (host.clone(), Sink::new(host.clone()));
        self.factory.complete(&mut written, &runs, &names, header, &mut out)
    }
}

/// Rows as the engine gave them.
pub(super) fn rows(given: &Written) -> Result<OutputRows, Stop> {
    let fields = given.rows.fields();
    let column = |(field, array): (&Arc<Field>, &ArrayRef)| output_column(field, array);
    let columns = fields.iter().zip(given.rows.columns()).map(column).collect::<Result<_, _>>()?;
    Ok(OutputRows {
        names: fields.iter().map(|field| Arc::from(field.name().as_str())).collect(),
        columns,
        rows: given.rows.len(),
        levels: levels(&given.levels),
    })
}

fn output_column(field: &Field, array: &ArrayRef) -> Result<OutputColumn, Stop> {
    let extension = field.metadata().get("ARROW:extension:name").and_then(|name| name.strip_prefix("clinker."));
    Ok(match (array.data_type(), extension) {
        (DataType::Null, _) => OutputColumn::Null(array.len()),
        (DataType::Boolean, _) => OutputColumn::Bool(array.as_boolean().clone()),
        (DataType::Int64, _) => OutputColumn::Int(array.as_primitive::<Int64Type>().clone()),
        (DataType::Float64, _) => OutputColumn::Float(array.as_primitive::<Float64Type>().clone()),
        (DataType::Date32, _) => OutputColumn::Date(array.as_primitive::<Date32Type>().clone()),
        (DataType::FixedSizeBinary(16), _) => OutputColumn::Decimal(array.as_fixed_size_binary().clone()),
        (DataType::Decimal128(..), _) => OutputColumn::DateTime(array.as_primitive::<Decimal128Type>().clone()),
        (DataType::Utf8View, Some(kind)) => OutputColumn::Dynamic(kind.to_owned(), array.as_string_view().clone()),
        (DataType::Utf8View, None) => OutputColumn::Text(array.as_string_view().clone()),
        (DataType::Utf8, None) => OutputColumn::Text(StringViewArray::from(array.as_string::<i32>())),
        (other, _) => return Err(Stop::Error(format!("the engine gave a column of type {other}"))),
    })
}

fn levels(item: &Item) -> Levels {
    let pairs = |items: &Item| -> Vec<(String, Item)> {
        let pair = |item: &Item| (item.get("name").text().unwrap_or_default().to_owned(), item.get("value").clone());
        items.items().iter().map(pair).collect()
    };
    let section = |item: &Item| Section {
        name: item.get("name").text().unwrap_or_default().to_owned(),
        fields: pairs(item.get("fields")),
        keys: pairs(item.get("keys"))
            .into_iter()
            .map(|(name, value)| (name, value.bytes().unwrap_or_default().to_vec()))
            .collect(),
    };
    let level = |item: &Item| Level {
        id: item.get("id").number().unwrap_or(0),
        kind: item.get("kind").number().map_or(0, |kind| kind as u16),
        ordinal: item.get("ordinal").number().unwrap_or(1),
        new_frame: item.get("frame").text() == Some("new"),
        parent: item.get("parent").number().map(|parent| parent as usize),
        sections: item.get("sections").items().iter().map(section).collect(),
    };
    let run = |item: &Item| {
        (item.get("start").number().map_or(0, |start| start as usize), item.get("level").number().map(|at| at as usize))
    };
    Levels {
        levels: item.get("levels").items().iter().map(level).collect(),
        runs: item.get("runs").items().iter().map(run).collect(),
    }
}

/// Encoded records for the engine.
pub(super) fn records(encoded: Encoded) -> Records {
    let Encoded { bytes, ends, refused } = encoded;
    let reply = if refused.is_empty() {
        Item::Null
    } else {
        Item::map([("refused", Item::List(refused.into_iter().map(refusal).collect()))])
    };
    Records { bytes, ends, reply }
}

fn refusal(row: RefusedRow) -> Item {
    Item::map([
        ("row", u64::from(row.row).into()),
        ("code", row.code.into()),
        ("category", row.category.map(|category| category.word()).into()),
        ("column", (&*row.column).into()),
        ("value", row.value.into()),
        ("reason", row.reason.into()),
    ])
}
