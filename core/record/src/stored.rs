//! Batches as bytes, for state that leaves memory: an Arrow IPC stream with the kinds of its columns.
//!
//! Everything that a row carries comes back: values with the type of each element, undeclared fields with their order,
//! origin, and levels. Levels are kept in a table beside the bytes, once each; a row holds its number there.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow_array::builder::{UInt16Builder, UInt32Builder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Decimal128Type, Float64Type, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Field, Schema as ArrowSchema};

use crate::{Batch, Column, Kind, Level, LevelRun, Origin, OriginRun, SchemaRef, Undeclared, Widened};

/// The levels that stored rows stand in.
#[derive(Debug, Default)]
pub struct LevelTable {
    levels: Vec<Arc<Level>>,
    numbers: HashMap<usize, u32>,
}

impl LevelTable {
    fn number(&mut self, level: &Arc<Level>) -> u32 {
        let next = self.levels.len() as u32;
        *self.numbers.entry(Arc::as_ptr(level) as usize).or_insert_with(|| {
            self.levels.push(Arc::clone(level));
            next
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }
}

/// Bytes that are no stored batch: they were damaged, or their maker is wrong.
#[derive(Debug)]
pub struct NotStored(String);

impl fmt::Display for NotStored {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for NotStored {}

impl From<ArrowError> for NotStored {
    fn from(error: ArrowError) -> Self {
        NotStored(error.to_string())
    }
}

/// Words for the kinds of columns that have no array, or share the array of another kind.
const NULL: &str = "null";
const KIND: &str = "kind";
const WIDENED: &str = "widened";
const SHAPES: &str = "shapes";
/// Columns of the origin: source, file, row, ordinal, level.
const ORIGIN: usize = 5;
const NO_LEVEL: u32 = u32::MAX;

/// Appends a batch to `out`. Text should be the batch's own ([`Batch::compact`]): shared buffers are written whole.
///
/// # Errors
/// Arrow refuses the columns.
pub fn store(batch: &Batch, levels: &mut LevelTable, out: &mut Vec<u8>) -> Result<(), NotStored> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for column in &batch.columns {
        push(String::new(), column, false, &mut fields, &mut arrays);
    }
    for field in batch.widened.fields() {
        push(field.name.to_string(), &field.column, true, &mut fields, &mut arrays);
    }
    let mut metadata = HashMap::new();
    if !batch.widened.fields().is_empty() {
        let runs = batch.widened.runs(batch.rows);
        let runs: Vec<(usize, Vec<u32>)> = runs.into_iter().map(|(rows, shape)| (rows.len(), shape)).collect();
        metadata.insert(SHAPES.to_owned(), shapes_text(&runs));
    }
    for (name, array) in origin_columns(batch, levels) {
        fields.push(Field::new(name, array.data_type().clone(), false));
        arrays.push(array);
    }
    let schema = Arc::new(ArrowSchema::new_with_metadata(fields, metadata));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.rows));
    let record = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)?;
    let mut writer = StreamWriter::try_new(out, &schema)?;
    writer.write(&record)?;
    writer.finish()?;
    Ok(())
}

fn push(name: String, column: &Column, widened: bool, fields: &mut Vec<Field>, arrays: &mut Vec<ArrayRef>) {
    let array = column.to_array();
    let kind = if array.is_none() { NULL } else { column.kind().word() };
    // A column without values costs nothing but its name.
    let array: ArrayRef =
        array.unwrap_or_else(|| arrow_array::new_null_array(&arrow_schema::DataType::Null, column.len()));
    let mut metadata = HashMap::from([(KIND.to_owned(), kind.to_owned())]);
    if widened {
        metadata.insert(WIDENED.to_owned(), String::new());
    }
    fields.push(Field::new(name, array.data_type().clone(), true).with_metadata(metadata));
    arrays.push(array);
}

fn origin_columns(batch: &Batch, levels: &mut LevelTable) -> [(&'static str, ArrayRef); ORIGIN] {
    let (mut sources, mut files) = (UInt16Builder::new(), UInt32Builder::new());
    let (mut rows, mut ordinals) = (UInt64Builder::new(), UInt64Builder::new());
    let mut numbers = UInt32Builder::new();
    for row in 0..batch.rows {
        let (run, distance) = batch.origin.locate(row);
        sources.append_value(run.source);
        files.append_value(run.file);
        rows.append_value(run.row + distance);
        ordinals.append_value(run.ordinal + distance);
        numbers.append_value(batch.origin.level(row).map_or(NO_LEVEL, |level| levels.number(level)));
    }
    [
        ("source", Arc::new(sources.finish())),
        ("file", Arc::new(files.finish())),
        ("row", Arc::new(rows.finish())),
        ("ordinal", Arc::new(ordinals.finish())),
        ("level", Arc::new(numbers.finish())),
    ]
}

/// Runs of shapes: `rows:field,field;…`.
fn shapes_text(runs: &[(usize, Vec<u32>)]) -> String {
    let run = |(rows, shape): &(usize, Vec<u32>)| {
        let shape: Vec<String> = shape.iter().map(u32::to_string).collect();
        format!("{rows}:{}", shape.join(","))
    };
    runs.iter().map(run).collect::<Vec<_>>().join(";")
}

fn shapes_of(text: &str) -> Option<Vec<(usize, Vec<u32>)>> {
    let run = |run: &str| {
        let (rows, shape) = run.split_once(':')?;
        let fields = shape.split(',').filter(|field| !field.is_empty());
        Some((rows.parse().ok()?, fields.map(|field| field.parse().ok()).collect::<Option<_>>()?))
    };
    text.split(';').map(run).collect()
}

/// Reads a stored batch back. Its rows stand at places from 0 on.
///
/// # Errors
/// The bytes are none that [`store`] has made with this schema and table.
pub fn restore(schema: &SchemaRef, levels: &LevelTable, bytes: &[u8]) -> Result<Batch, NotStored> {
    let mut reader = StreamReader::try_new(bytes, None)?;
    let record = reader.next().ok_or_else(|| NotStored("no batch follows the schema".to_owned()))??;
    let stored = record.schema();
    let wrong = || NotStored("the columns are not those of the batch".to_owned());
    let own = stored.fields().len().checked_sub(ORIGIN).filter(|own| *own >= schema.columns.len()).ok_or_else(wrong)?;
    let (mut columns, mut widened) = (Vec::with_capacity(schema.columns.len()), Vec::new());
    for (field, array) in stored.fields()[..own].iter().zip(record.columns()) {
        let word = field.metadata().get(KIND).map_or("", String::as_str);
        let column = match (word, Kind::from_word(word)) {
            (NULL, _) => Column::Null(array.len()),
            (_, Some(kind)) => Column::from_array(kind, array).ok_or_else(wrong)?,
            (_, None) => return Err(wrong()),
        };
        match field.metadata().contains_key(WIDENED) {
            true => widened.push(Widened { name: field.name().as_str().into(), column }),
            false => columns.push(column),
        }
    }
    if columns.len() != schema.columns.len() {
        return Err(wrong());
    }
    let widened = match stored.metadata().get(SHAPES) {
        None => Undeclared::default(),
        Some(text) => Undeclared::by_runs(widened, shapes_of(text).ok_or_else(wrong)?),
    };
    let origin = origin(&record.columns()[own..], levels).ok_or_else(wrong)?;
    Ok(Batch { schema: Arc::clone(schema), columns, rows: record.num_rows(), origin, widened })
}

fn origin(columns: &[ArrayRef], levels: &LevelTable) -> Option<Origin> {
    let sources = columns[0].as_primitive_opt::<UInt16Type>()?;
    let files = columns[1].as_primitive_opt::<UInt32Type>()?;
    let rows = columns[2].as_primitive_opt::<UInt64Type>()?;
    let ordinals = columns[3].as_primitive_opt::<UInt64Type>()?;
    let numbers = columns[4].as_primitive_opt::<UInt32Type>()?;
    let run = |row: usize| OriginRun {
        start: row as u32,
        source: sources.value(row),
        file: files.value(row),
        row: rows.value(row),
        ordinal: ordinals.value(row),
    };
    let origin = Origin::block((0..rows.len()).map(run).collect());
    if levels.is_empty() {
        return Some(origin);
    }
    let level = |row: usize| {
        let number = numbers.value(row);
        let level = if number == NO_LEVEL { None } else { Some(Arc::clone(levels.levels.get(number as usize)?)) };
        Some(LevelRun { start: row as u32, level })
    };
    Some(origin.inside((0..rows.len()).map(level).collect::<Option<Vec<_>>>()?.into()))
}

impl Column {
    fn to_array(&self) -> Option<ArrayRef> {
        Some(match self {
            Column::Null(_) => return None,
            Column::Bool(array) => Arc::new(array.clone()),
            Column::Int(array) => Arc::new(array.clone()),
            Column::Float(array) => Arc::new(array.clone()),
            Column::Decimal(array) => Arc::new(array.clone()),
            Column::Text(array) | Column::Dynamic(_, array) => Arc::new(array.clone()),
            Column::Date(array) => Arc::new(array.clone()),
            Column::DateTime(array) => Arc::new(array.clone()),
        })
    }

    fn from_array(kind: Kind, array: &ArrayRef) -> Option<Column> {
        Some(match kind {
            Kind::Null => Column::Null(array.len()),
            Kind::Bool => Column::Bool(array.as_boolean_opt()?.clone()),
            Kind::Int => Column::Int(array.as_primitive_opt::<Int64Type>()?.clone()),
            Kind::Float => Column::Float(array.as_primitive_opt::<Float64Type>()?.clone()),
            Kind::Decimal => Column::Decimal(array.as_fixed_size_binary_opt()?.clone()),
            Kind::String => Column::Text(array.as_string_view_opt()?.clone()),
            Kind::Date => Column::Date(array.as_primitive_opt::<Date32Type>()?.clone()),
            Kind::DateTime => Column::DateTime(array.as_primitive_opt::<Decimal128Type>()?.clone()),
            Kind::Array | Kind::Map | Kind::Any => Column::Dynamic(kind, array.as_string_view_opt()?.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decimal, Frame, Schema, Type, Value};

    fn batch() -> Batch {
        let decimal = |text: &str| Value::Decimal(Decimal::parse_literal(text.as_bytes()).expect("a literal"));
        let values: Vec<(Kind, [Value; 3])> = vec![
            (Kind::Bool, [Value::Bool(true), Value::Null, Value::Bool(false)]),
            (Kind::Int, [Value::Int(i64::MIN), Value::Int(0), Value::Null]),
            (Kind::Float, [Value::Float(-0.0), Value::Float(f64::INFINITY), Value::Null]),
            (Kind::Decimal, [decimal("1.50"), Value::Null, decimal("-79228162514264337593543950335")]),
            (Kind::String, [Value::String("".into()), Value::String("ä text longer than a view".into()), Value::Null]),
            (Kind::Date, [Value::Date(-1), Value::Null, Value::Date(20_000)]),
            (Kind::DateTime, [Value::DateTime(1), Value::DateTime(-1), Value::Null]),
            (Kind::Any, [Value::Array(vec![Value::Date(3), decimal("1.0")]), Value::Null, Value::Int(1)]),
            (Kind::Null, [Value::Null, Value::Null, Value::Null]),
        ];
        let schema =
            Schema { columns: values.iter().map(|(kind, _)| (Arc::from("c"), Type::nullable(*kind))).collect() };
        let columns = values.iter().map(|(kind, values)| Column::from_values(*kind, values)).collect();
        let runs = Arc::from([
            OriginRun { start: 0, source: 0, file: 3, row: 7, ordinal: 70 },
            OriginRun { start: 2, source: 1, file: 0, row: 1, ordinal: 1 },
        ]);
        let level = |kind| Arc::new(Level { kind, ordinal: 1, frame: Frame::New, parent: None, sections: Vec::new() });
        let levels = [LevelRun { start: 0, level: None }, LevelRun { start: 1, level: Some(level(4)) }];
        let field = |name: &str, values: &[Value]| Widened {
            name: name.into(),
            column: Column::from_values(Kind::Any, values),
        };
        let fields = vec![
            field("a", &[Value::Int(1), Value::Null, Value::Null]),
            field("b;,:", &[Value::Null, Value::Bool(true), Value::Null]),
        ];
        let widened = Undeclared::by_runs(fields, [(1, vec![0]), (1, vec![1, 0]), (1, vec![])]);
        let origin = Origin::block(runs).inside(levels.into());
        Batch { schema: Arc::new(schema), columns, rows: 3, origin, widened }
    }

    /// Everything that can be seen of a batch.
    fn seen(batch: &Batch) -> Vec<String> {
        let row = |row: usize| {
            let values: Vec<Value> = batch.columns.iter().map(|column| column.value(row)).collect();
            let own = batch.widened.of_row(row);
            let fields = own.iter().map(|at| &batch.widened.fields()[*at as usize]);
            let fields: Vec<_> = fields.map(|field| (field.name.clone(), field.column.value(row))).collect();
            let (run, distance) = batch.origin.locate(row);
            let level = batch.origin.level(row).map(|level| level.kind);
            let place = (run.source, run.file, run.row + distance, run.ordinal + distance);
            format!("{values:?} {fields:?} {place:?} {level:?}")
        };
        let kinds = batch.columns.iter().map(|column| format!("{:?}", column.kind()));
        kinds.chain((0..batch.rows).map(row)).collect()
    }

    #[test]
    fn eng_9_2_everything_that_a_row_carries_comes_back() {
        let (whole, mut levels, mut bytes) = (batch(), LevelTable::default(), Vec::new());
        store(&whole, &mut levels, &mut bytes).expect("it is stored");
        assert_eq!(seen(&restore(&whole.schema, &levels, &bytes).expect("it comes back")), seen(&whole));
        let part = whole.take(&[2, 0]);
        let mut bytes = Vec::new();
        store(&part, &mut levels, &mut bytes).expect("it is stored");
        assert_eq!(seen(&restore(&part.schema, &levels, &bytes).expect("it comes back")), seen(&part));
        assert_eq!(levels.len(), 1, "each level is kept once");
    }

    #[test]
    fn eng_9_2_bytes_of_another_schema_are_refused() {
        let (whole, mut levels, mut bytes) = (batch(), LevelTable::default(), Vec::new());
        store(&whole, &mut levels, &mut bytes).expect("it is stored");
        let narrow = Arc::new(Schema { columns: whole.schema.columns[..2].to_vec() });
        assert!(restore(&narrow, &levels, &bytes).is_err());
        assert!(restore(&whole.schema, &levels, &bytes[..bytes.len() / 2]).is_err());
        assert!(restore(&whole.schema, &LevelTable::default(), b"nothing").is_err());
    }
}
