//! Writing: typed columns go to the encoder of the format.

use std::io;
use std::sync::Arc;

use clinker_format as host;
use clinker_plugin_sdk::{
    Category, ColumnRun, ColumnSet, Encoded, Encoder, JoinConflict, JoinRule, OutputColumn, OutputRows, RefusedRow,
    WriteFactory, WriteFault, Writer,
};
use clinker_record::{Column, Kind, Origin};

pub struct Output(pub Arc<dyn host::WriteFactory>);

pub fn join(rule: &JoinRule) -> host::JoinRule {
    host::JoinRule {
        field: Arc::clone(&rule.field),
        delimiter: rule.delimiter.clone(),
        on_conflict: match rule.on_conflict {
            JoinConflict::Error => host::JoinConflict::Error,
            JoinConflict::Escape => host::JoinConflict::Escape,
            JoinConflict::EncodeJson => host::JoinConflict::EncodeJson,
        },
        escape: rule.escape.clone(),
    }
}

fn column(column: &OutputColumn) -> Column {
    match column {
        OutputColumn::Text(array) => Column::Text(array.clone()),
        OutputColumn::Null(rows) => Column::Null(*rows),
        OutputColumn::Bool(array) => Column::Bool(array.clone()),
        OutputColumn::Int(array) => Column::Int(array.clone()),
        OutputColumn::Float(array) => Column::Float(array.clone()),
        OutputColumn::Decimal(array) => Column::Decimal(array.clone()),
        OutputColumn::Date(array) => Column::Date(array.clone()),
        OutputColumn::DateTime(array) => Column::DateTime(array.clone()),
        OutputColumn::Dynamic(kind, array) => {
            Column::Dynamic(Kind::from_word(kind).unwrap_or(Kind::Any), array.clone())
        }
    }
}

fn category(category: clinker_record::Category) -> Category {
    match category {
        clinker_record::Category::MultiValueJoinCollision => Category::MultiValueJoinCollision,
        clinker_record::Category::StructuralValidation => Category::StructuralValidation,
        _ => Category::TypeCoercionFailure,
    }
}

/// A fault of the writer's content crosses as one; every other failure as it is.
fn passed(result: io::Result<()>) -> io::Result<()> {
    result.map_err(|error| match host::WriteFault::of(&error) {
        Some(fault) => {
            let (column, reason) = (Arc::clone(&fault.column), fault.reason.clone());
            WriteFault { code: fault.code.to_owned(), column, reason }.into()
        }
        None => error,
    })
}

impl WriteFactory for Output {
    fn encoder(&self) -> Option<Arc<dyn Encoder>> {
        self.0.encoder().map(|encoder| Arc::new(Rows(encoder)) as Arc<dyn Encoder>)
    }

    fn writer(&self, header: bool) -> Box<dyn Writer> {
        let writer = if header { self.0.writer() } else { self.0.writer_without_header() };
        Box::new(Framing { writer, begun: false })
    }

    fn typed_columns(&self) -> bool {
        true
    }

    fn may_lack_characters(&self) -> bool {
        self.0.may_lack_characters()
    }

    fn column_set(&self) -> ColumnSet {
        match self.0.column_set() {
            host::ColumnSet::Union => ColumnSet::Union,
            host::ColumnSet::EachRecord => ColumnSet::EachRecord,
        }
    }

    fn complete(
        &self,
        written: &mut dyn io::Read,
        runs: &[ColumnRun],
        names: &[Arc<str>],
        header: bool,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let run = |run: &ColumnRun| host::ColumnRun { records: run.records, columns: run.columns };
        let runs: Vec<host::ColumnRun> = runs.iter().map(run).collect();
        passed(self.0.complete(written, &runs, names, header, out))
    }
}

struct Rows(Arc<dyn host::Encoder>);

impl Encoder for Rows {
    fn encode(&self, rows: &OutputRows, out: &mut Encoded) {
        let columns: Vec<Column> = rows.columns.iter().map(column).collect();
        // The memory that was made for the rows is used by the format.
        let (bytes, ends) = (std::mem::take(&mut out.bytes), std::mem::take(&mut out.ends));
        let (mut encoded, origin) = (host::Encoded { bytes, ends, refused: Vec::new() }, Origin::none());
        let given = host::OutputRows { names: &rows.names, columns: &columns, rows: rows.rows, origin: &origin };
        self.0.encode(&given, &mut encoded);
        let refused = |row: host::RefusedRow| RefusedRow {
            row: row.row,
            code: row.code.to_owned(),
            category: row.category.map(category),
            column: row.column,
            value: row.value,
            reason: row.reason,
        };
        out.bytes = encoded.bytes;
        out.ends = encoded.ends;
        out.refused = encoded.refused.into_iter().map(refused).collect();
    }
}

struct Framing {
    writer: Box<dyn host::Writer>,
    /// Whether records were written.
    begun: bool,
}

impl Writer for Framing {
    fn columns(&mut self, names: &[Arc<str>], out: &mut dyn io::Write) -> io::Result<()> {
        passed(self.writer.columns(names, out))
    }

    fn records(&mut self, bytes: &[u8], ends: &[u32], out: &mut dyn io::Write) -> io::Result<()> {
        if self.begun {
            // Behind the first ones csv writes records as they are: no copy is made for it.
            return out.write_all(bytes);
        }
        self.begun = !bytes.is_empty();
        let encoded = host::Encoded { bytes: bytes.to_vec(), ends: ends.to_vec(), refused: Vec::new() };
        passed(self.writer.records(&encoded, out))
    }

    fn finish(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        passed(self.writer.finish(out))
    }
}
