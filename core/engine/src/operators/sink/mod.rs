//! The Sink's pure half: rows projected and encoded.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use clinker_diagnostics::Diagnostic;
use clinker_format::{Encoded, Encoder, OutputRows, RefusedRow};
use clinker_plan::{NodeId, ProjectedColumn, ProjectedFrom, SinkPlan, WidenedColumns};
use clinker_record::{Batch, Category, Column, Failure, Schema};

use super::failing::{StopAs, fail_rows};
use crate::block::{BlockResult, SinkBytes};
use crate::error::exit;
use crate::runtime::Runtime;

/// A Sink of a unit: its encoder, and its column set once the undeclared fields of the unit's Source are known.
pub(crate) struct SinkOperator<'p> {
    pub node: NodeId,
    plan: &'p SinkPlan,
    encoder: Arc<dyn Encoder>,
    names: OnceLock<Arc<[Arc<str>]>>,
    /// Undeclared fields of the unit's Source, once a batch has shown them.
    undeclared: OnceLock<Vec<Arc<str>>>,
}

impl<'p> SinkOperator<'p> {
    pub(crate) fn new(node: NodeId, plan: &'p SinkPlan) -> Self {
        Self { node, plan, encoder: plan.writer.encoder(), names: OnceLock::new(), undeclared: OnceLock::new() }
    }

    /// Encodes the rows of a batch.
    pub(crate) fn encode(&self, runtime: &Runtime<'_>, batch: &Batch, out: &mut BlockResult) {
        let names = self.names.get_or_init(|| column_set(self.plan, batch));
        self.undeclared.get_or_init(|| batch.widened.iter().map(|side| Arc::clone(&side.name)).collect());
        let columns = self.project(batch, names.len());
        let mut encoded = Encoded::default();
        if batch.rows > 0 {
            self.encoder.encode(&OutputRows { names, columns: &columns, rows: batch.rows }, &mut encoded);
        }
        let refused = std::mem::take(&mut encoded.refused);
        self.refuse(runtime, batch, &refused, out);
        let book = &mut out.books.nodes[self.node];
        book.rows_out[0] += encoded.ends.len() as u64;
        out.outputs.push(SinkBytes { node: self.node, encoded, names: Arc::clone(names) });
    }

    /// What the mapping met that could only be seen while running.
    pub(crate) fn warnings(&self, input: &Schema) -> Vec<Diagnostic> {
        let none = Vec::new();
        let undeclared = self.undeclared.get().unwrap_or(&none);
        let name = &self.plan.label;
        let mut warnings = Vec::new();
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

    fn project(&self, batch: &Batch, width: usize) -> Vec<Column> {
        let mut columns = Vec::with_capacity(width);
        for column in &self.plan.projection.columns {
            columns.push(match &column.from {
                ProjectedFrom::Column(at) => rounded(&batch.columns[*at], column.round).into_owned(),
                ProjectedFrom::Widened(name) => {
                    let side = batch.widened.iter().find(|side| side.name == *name);
                    side.map_or(Column::Null(batch.rows), |side| side.column.clone())
                }
            });
        }
        if let WidenedColumns::Append { except } = &self.plan.projection.widened {
            let listed = &self.plan.projection.columns;
            let appended = batch.widened.iter().filter(|side| is_appended(&side.name, listed, except));
            columns.extend(appended.map(|side| side.column.clone()));
        }
        columns
    }

    fn refuse(&self, runtime: &Runtime<'_>, batch: &Batch, refused: &[RefusedRow], out: &mut BlockResult) {
        for row in refused {
            let failure = Failure {
                row: row.row,
                category: row.category.unwrap_or(Category::TypeCoercionFailure),
                field: Some(Arc::clone(&row.column)),
                value: Some(row.value.clone()),
                detail: format!("column `{}`: {}", row.column, row.reason),
            };
            let stop_as = StopAs { exit: exit::INFRASTRUCTURE, code: Some(row.code), always: row.category.is_none() };
            fail_rows(runtime, self.node, batch, std::slice::from_ref(&failure), &stop_as, out);
        }
    }
}

/// Whether an undeclared field follows the listed columns.
fn is_appended(name: &Arc<str>, listed: &[ProjectedColumn], except: &[Arc<str>]) -> bool {
    !except.contains(name) && !listed.iter().any(|column| column.name == *name)
}

/// The columns a Sink writes, in order.
fn column_set(plan: &SinkPlan, batch: &Batch) -> Arc<[Arc<str>]> {
    let listed = &plan.projection.columns;
    let mut names: Vec<Arc<str>> = listed.iter().map(|column| Arc::clone(&column.name)).collect();
    if let WidenedColumns::Append { except } = &plan.projection.widened {
        let appended = batch.widened.iter().filter(|side| is_appended(&side.name, listed, except));
        names.extend(appended.map(|side| Arc::clone(&side.name)));
    }
    names.into()
}

/// A decimal column rounded half to even, as the Sink's schema asks.
fn rounded(column: &Column, digits: Option<u8>) -> Cow<'_, Column> {
    match (column, digits) {
        (Column::Decimal(_), Some(digits)) => Cow::Owned(clinker_record::decimal::round_column(column, digits)),
        _ => Cow::Borrowed(column),
    }
}
