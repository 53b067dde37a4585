//! The Sink's pure half: rows projected and encoded.

use std::borrow::Cow;
use std::sync::{Arc, RwLock};

use clinker_diagnostics::Diagnostic;
use clinker_format::{ColumnSet, Encoded, Encoder, OutputRows, RefusedRow};
use clinker_plan::{NodeId, ProjectedColumn, ProjectedFrom, SinkPlan, SortKey, SortKeyFrom, WidenedColumns};
use clinker_record::key::{KeyField, Unordered};
use clinker_record::text::CellWriter;
use clinker_record::{Batch, Category, Column, Failure, Schema};

use super::failing::{StopAs, fail_rows};
use super::sort::{Keyed, Sorter, Sorting, key_columns};
use crate::RunError;
use crate::block::{BlockResult, Keys, SinkBytes, SortInput};
use crate::error::exit;
use crate::outputs::Output;
use crate::runtime::Runtime;

/// A Sink of a unit: its encoder, and the columns it has met so far.
pub(crate) struct SinkOperator<'p> {
    pub node: NodeId,
    plan: &'p SinkPlan,
    /// None for a format whose writer takes the rows, one after the other.
    encoder: Option<Arc<dyn Encoder>>,
    /// All records share one set of columns, which undeclared fields extend.
    union: bool,
    /// A file ends after so many bytes: what a record takes depends on the columns that stand before it.
    counts_bytes: bool,
    /// That set, in first-seen order. Extended only in the order of the input; workers take it as they find it, which is
    /// always a beginning of the final one.
    set: RwLock<Arc<[Arc<str>]>>,
    /// Undeclared fields met so far, in any order.
    undeclared: RwLock<Vec<Arc<str>>>,
}

impl<'p> SinkOperator<'p> {
    pub(crate) fn new(node: NodeId, plan: &'p SinkPlan) -> Self {
        let appends = matches!(plan.projection.widened, WidenedColumns::Append { .. });
        Self {
            node,
            plan,
            encoder: plan.writer.encoder(),
            union: appends && plan.writer.column_set() == ColumnSet::Union,
            counts_bytes: plan.split.as_ref().is_some_and(|split| split.max_bytes.is_some()),
            set: RwLock::new(plan.projection.columns.iter().map(|column| Arc::clone(&column.name)).collect()),
            undeclared: RwLock::new(Vec::new()),
        }
    }

    /// Whether it puts its records in an order of its own.
    pub(crate) fn sorts(&self) -> bool {
        !self.plan.sort.is_empty()
    }

    /// An empty sort, for a Sink that has one.
    pub(crate) fn sorter(&self, runtime: &Runtime<'_>) -> Option<Sorter> {
        if !self.sorts() {
            return None;
        }
        let sorting = Sorting {
            schema: Arc::clone(&runtime.plan.nodes[self.node].schema),
            fields: self.plan.sort.iter().map(|key| key.key).collect(),
            columns: {
                let keys = self.plan.sort.clone();
                Arc::new(move |batch| key_columns(&keys, batch))
            },
            budget: Arc::clone(&runtime.budget),
            spill: Arc::clone(&runtime.spill),
            stage: Arc::clone(&runtime.plan.nodes[self.node].name),
            rows: runtime.plan.batch_size,
            bytes: runtime.bound.bytes,
            threads: runtime.threads,
            compress: runtime.compresses(runtime.plan.nodes[self.node].schema.columns.len()),
        };
        Some(Sorter::new(sorting, "sort", clinker_memory::priority::SORT))
    }

    /// Takes the rows of a batch: encodes them, or gives them to the sort.
    pub(crate) fn take(&self, runtime: &Runtime<'_>, batch: Batch, out: &mut BlockResult) {
        if !self.sorts() {
            return self.encode_ordered(runtime, batch, out);
        }
        let batch = self.without_nulls(batch, out);
        let fields: Vec<KeyField> = self.plan.sort.iter().map(|key| key.key).collect();
        let columns = key_columns(&self.plan.sort, &batch);
        match Keyed::new(batch.clone(), &fields, &columns) {
            Ok(rows) => out.sorts.push(SortInput { node: self.node, rows }),
            Err(Unordered { row, field }) => {
                let name = &self.plan.sort[field].name;
                let failure = Failure {
                    row: row as u32,
                    category: Category::TypeCoercionFailure,
                    field: Some(Arc::clone(name)),
                    value: None,
                    detail: format!(
                        "the sort key `{name}` is {}, which has no order",
                        columns[field].value(row).type_name()
                    ),
                };
                let stop_as = StopAs { exit: exit::DATA, code: None, always: true };
                fail_rows(runtime, self.node, &batch, std::slice::from_ref(&failure), &stop_as, out);
            }
        }
    }

    /// Without the records that lack a value which `null_order: drop` asks for.
    fn without_nulls(&self, batch: Batch, out: &mut BlockResult) -> Batch {
        let keys: Vec<SortKey> = self.plan.sort.iter().filter(|key| key.drops_null).cloned().collect();
        let columns = key_columns(&keys, &batch);
        if columns.iter().all(|column| column.null_count() == 0) {
            return batch;
        }
        let has_all = |row: &u32| columns.iter().all(|column| !column.is_null(*row as usize));
        let kept: Vec<u32> = (0..batch.rows as u32).filter(has_all).collect();
        out.books.nodes[self.node].null_dropped += (batch.rows - kept.len()) as u64;
        batch.take(&kept)
    }

    /// Encodes the rows of a batch that are in their order. Where a column is new, its place in the set depends on what came before: then the
    /// batch waits for its turn.
    pub(crate) fn encode_ordered(&self, runtime: &Runtime<'_>, batch: Batch, out: &mut BlockResult) {
        self.note(&batch);
        if self.encoder.is_none() {
            // What a row becomes depends on those before it: all rows wait for their turn.
            let (encoded, names) = (Encoded::default(), Arc::from([]));
            out.outputs.push(SinkBytes { node: self.node, encoded, names, keys: None, waiting: Some(batch) });
            return;
        }
        if self.union {
            let set = Arc::clone(&self.set.read().expect(UNPOISONED));
            if self.counts_bytes || self.appended(&batch).iter().any(|name| !set.contains(name)) {
                let encoded = Encoded::default();
                out.outputs.push(SinkBytes { node: self.node, encoded, names: set, keys: None, waiting: Some(batch) });
                return;
            }
            self.push(runtime, &set, &batch, out);
            return;
        }
        // Each record has columns of its own; records that agree are encoded together.
        for (rows, fields) in batch.widened.runs(batch.rows) {
            let names = self.own_columns(&batch, &fields);
            if rows.len() == batch.rows {
                self.push(runtime, &names, &batch, out);
            } else {
                let rows: Vec<u32> = rows.map(|row| row as u32).collect();
                self.push(runtime, &names, &batch.take(&rows), out);
            }
        }
    }

    fn push(&self, runtime: &Runtime<'_>, names: &Arc<[Arc<str>]>, batch: &Batch, out: &mut BlockResult) {
        let (encoded, keys) = self.encode_as(runtime, names, batch, self.encoding(), out);
        out.outputs.push(SinkBytes { node: self.node, encoded, names: Arc::clone(names), keys, waiting: None });
    }

    /// The stateless half of the format.
    fn encoding(&self) -> impl FnOnce(&OutputRows<'_>, &mut Encoded) {
        |rows, encoded| {
            if let Some(encoder) = &self.encoder {
                encoder.encode(rows, encoded);
            }
        }
    }

    /// Whether the writer of the output takes the rows itself.
    pub(crate) fn writes_rows(&self) -> bool {
        self.encoder.is_none()
    }

    /// Gives the rows of a batch that waited to the writer of their output. Called in the order of the input.
    pub(crate) fn write(
        &self,
        runtime: &Runtime<'_>,
        batch: &Batch,
        output: &mut Output,
        out: &mut BlockResult,
    ) -> Result<Vec<SinkBytes>, RunError> {
        let mut written = Vec::new();
        for (rows, fields) in batch.widened.runs(batch.rows) {
            let names = self.own_columns(batch, &fields);
            let part = if rows.len() == batch.rows {
                batch.clone()
            } else {
                batch.take(&rows.map(|row| row as u32).collect::<Vec<_>>())
            };
            let writer = output.writer_for(&names)?;
            let encode = |rows: &OutputRows<'_>, encoded: &mut Encoded| writer.rows(rows, encoded);
            let (encoded, keys) = self.encode_as(runtime, &names, &part, encode, out);
            written.push(SinkBytes { node: self.node, encoded, names, keys, waiting: None });
        }
        Ok(written)
    }

    /// Whether an undeclared field follows the listed columns.
    fn follows(&self, name: &Arc<str>) -> bool {
        let listed = || self.plan.projection.columns.iter().any(|column| column.name == *name);
        match &self.plan.projection.widened {
            WidenedColumns::Append { except } => !except.contains(name) && !listed(),
            WidenedColumns::None => false,
        }
    }

    /// Undeclared fields of a batch that follow the listed columns, in first-seen order.
    fn appended(&self, batch: &Batch) -> Vec<Arc<str>> {
        let seen = batch.widened.first_seen(batch.rows).into_iter();
        let names = seen.map(|field| Arc::clone(&batch.widened.fields()[field as usize].name));
        names.filter(|name| self.follows(name)).collect()
    }

    /// The listed columns and those undeclared fields.
    fn own_columns(&self, batch: &Batch, fields: &[u32]) -> Arc<[Arc<str>]> {
        let listed = self.plan.projection.columns.iter().map(|column| Arc::clone(&column.name));
        let own = fields.iter().map(|field| Arc::clone(&batch.widened.fields()[*field as usize].name));
        listed.chain(own.filter(|name| self.follows(name))).collect()
    }

    /// Encodes a batch that waited. Called in the order of the input.
    pub(crate) fn settle(&self, runtime: &Runtime<'_>, batch: &Batch, out: &mut BlockResult) -> Vec<SinkBytes> {
        if !self.counts_bytes {
            return vec![self.settle_records(runtime, batch, out)];
        }
        // Each record with the columns known when its turn comes, however many of them came in one batch.
        let mut settled = Vec::new();
        for (rows, _) in batch.widened.runs(batch.rows) {
            let rows: Vec<u32> = rows.map(|row| row as u32).collect();
            settled.push(self.settle_records(runtime, &batch.take(&rows), out));
        }
        settled
    }

    fn settle_records(&self, runtime: &Runtime<'_>, batch: &Batch, out: &mut BlockResult) -> SinkBytes {
        let mut set = self.set.write().expect(UNPOISONED);
        let mut names = set.to_vec();
        for name in self.appended(batch) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        *set = names.into();
        let names = Arc::clone(&set);
        drop(set);
        let (encoded, keys) = self.encode_as(runtime, &names, batch, self.encoding(), out);
        SinkBytes { node: self.node, encoded, names, keys, waiting: None }
    }

    fn encode_as(
        &self,
        runtime: &Runtime<'_>,
        names: &[Arc<str>],
        batch: &Batch,
        encode: impl FnOnce(&OutputRows<'_>, &mut Encoded),
        out: &mut BlockResult,
    ) -> (Encoded, Option<Keys>) {
        let columns = self.project(batch, names);
        let mut encoded = Encoded::default();
        if batch.rows > 0 {
            let rows = OutputRows { names, columns: &columns, rows: batch.rows, origin: &batch.origin };
            encode(&rows, &mut encoded);
        }
        let refused = std::mem::take(&mut encoded.refused);
        let failures = out.failures.len();
        self.refuse(runtime, batch, &refused, out);
        out.written.add(batch, out.failures[failures..].iter().map(|failure| failure.row));
        out.books.nodes[self.node].rows_out[0] += encoded.ends.len() as u64;
        let keys = self.keys(batch, &refused);
        (encoded, keys)
    }

    /// The group keys of the rows that were encoded.
    fn keys(&self, batch: &Batch, refused: &[RefusedRow]) -> Option<Keys> {
        let column = &batch.columns[self.plan.split.as_ref()?.group_key?];
        let writer = CellWriter::new(column);
        let mut refused = refused.iter().map(|row| row.row as usize).peekable();
        let mut keys = Keys::default();
        for row in 0..batch.rows {
            if refused.next_if_eq(&row).is_none() {
                let mut text = Vec::new();
                writer.append(row, &mut text);
                keys.push((!column.is_null(row)).then_some(text));
            }
        }
        Some(keys)
    }

    /// Remembers which undeclared fields exist.
    fn note(&self, batch: &Batch) {
        let fields = batch.widened.first_seen(batch.rows);
        let mut seen = fields.iter().map(|field| &batch.widened.fields()[*field as usize]);
        let known = |names: &[Arc<str>]| seen.clone().all(|side| names.contains(&side.name));
        if known(&self.undeclared.read().expect(UNPOISONED)) {
            return;
        }
        let mut names = self.undeclared.write().expect(UNPOISONED);
        for side in seen.by_ref() {
            if !names.contains(&side.name) {
                names.push(Arc::clone(&side.name));
            }
        }
    }

    /// What the mapping met that could only be seen while running.
    pub(crate) fn warnings(&self, input: &Schema) -> Vec<Diagnostic> {
        let undeclared = self.undeclared.read().expect(UNPOISONED);
        let name = &self.plan.label;
        let mut warnings = Vec::new();
        for key in &self.plan.sort {
            if matches!(&key.from, SortKeyFrom::Widened(read) if !undeclared.contains(read)) {
                let message = format!("sink `{name}`: no record has a field `{}`, by which it is ordered", key.name);
                warnings.push(Diagnostic::warning("W365", message).help("correct the item of `sort_order`"));
            }
        }
        for ProjectedColumn { name: output, from, .. } in &self.plan.projection.columns {
            let read = match from {
                ProjectedFrom::Widened(read) => read,
                ProjectedFrom::Column(at) => &input.columns[*at].0,
            };
            if matches!(from, ProjectedFrom::Widened(_)) && !undeclared.contains(read) {
                let message = format!("sink `{name}`: no record has a field `{read}`, which is written as `{output}`");
                warnings.push(Diagnostic::warning("W365", message).help("correct the item of `mapping`"));
            }
            if read != output && undeclared.contains(output) && !self.writes_undeclared(output) {
                let message = format!("sink `{name}`: the output name `{output}` displaces the input field `{output}`");
                warnings.push(Diagnostic::warning("W366", message).help("rename one of them, or exclude the field"));
            }
        }
        warnings
    }

    /// Whether an item of the mapping reads that undeclared field.
    fn writes_undeclared(&self, field: &Arc<str>) -> bool {
        let mut columns = self.plan.projection.columns.iter();
        columns.any(|column| matches!(&column.from, ProjectedFrom::Widened(read) if read == field))
    }

    /// The columns `names` of a batch: the listed ones, then undeclared fields.
    fn project(&self, batch: &Batch, names: &[Arc<str>]) -> Vec<Column> {
        let field = |name: &Arc<str>| {
            let side = batch.widened.field(name);
            side.map_or(Column::Null(batch.rows), |side| side.column.clone())
        };
        let listed = self.plan.projection.columns.iter().map(|column| match &column.from {
            ProjectedFrom::Column(at) => rounded(&batch.columns[*at], column.round).into_owned(),
            ProjectedFrom::Widened(name) => field(name),
        });
        listed.chain(names[self.plan.projection.columns.len()..].iter().map(field)).collect()
    }

    fn refuse(&self, runtime: &Runtime<'_>, batch: &Batch, refused: &[RefusedRow], out: &mut BlockResult) {
        for row in refused {
            let failure = Failure {
                row: row.row,
                category: row.category.unwrap_or(Category::TypeCoercionFailure),
                field: Some(Arc::clone(&row.column)),
                value: Some(row.value.clone()),
                detail: match &*row.column {
                    "" => row.reason.clone(),
                    column => format!("column `{column}`: {}", row.reason),
                },
            };
            let class = if row.code == "E468" { exit::CONFIGURATION } else { exit::INFRASTRUCTURE };
            let stop_as = StopAs { exit: class, code: Some(row.code), always: row.category.is_none() };
            fail_rows(runtime, self.node, batch, std::slice::from_ref(&failure), &stop_as, out);
        }
    }
}

const UNPOISONED: &str = "a worker that panics ends the run before others go on";

/// A decimal column rounded half to even, as the Sink's schema asks.
fn rounded(column: &Column, digits: Option<u8>) -> Cow<'_, Column> {
    match (column, digits) {
        (Column::Decimal(_), Some(digits)) => Cow::Owned(clinker_record::decimal::round_column(column, digits)),
        _ => Cow::Borrowed(column),
    }
}
