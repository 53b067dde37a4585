//! Rows that a Source rejects: for their form, with their raw text; for a value, with all cells as they were read.

use std::sync::Arc;

use clinker_dlq::{Cause, ColumnMap, Detail, Frame, Layout, Letter, double_quotes};
use clinker_format::{Fault, Overrun, RejectedRow};
use clinker_plan::{NodeId, SourceColumn, Strategy};
use clinker_record::cast::{self, CellFailure, Cells, E126Lines};
use clinker_record::{Category, Origin, Undeclared, json};

use super::places::{Place, Places};
use super::reader::BlockWork;
use crate::RunError;
use crate::block::{BlockResult, PendingFailure};
use crate::error::exit;
use crate::runtime::Runtime;

/// What the rejections of one block have in common.
pub(crate) struct Rejections<'a> {
    pub runtime: &'a Runtime<'a>,
    pub node: NodeId,
    pub work: &'a BlockWork,
    pub places: &'a Places,
}

/// What a fault of a format means for the run.
pub(crate) fn source_fault(place: &str, fault: Fault) -> RunError {
    match fault {
        Fault::Io(error) => RunError::uncoded(exit::INFRASTRUCTURE, format!("{place}: cannot be read: {error}"))
            .help("check that the file exists, is a regular file and may be read; nothing was published"),
        Fault::Corruption { code, line, offset, reason, help } => {
            let error = RunError::coded(exit::INFRASTRUCTURE, code, data_error(place, line, offset, &reason));
            match help {
                Some(help) => error.help(help),
                None => error,
            }
        }
        Fault::Violation { code, line, offset, reason } => {
            RunError::coded(exit::INFRASTRUCTURE, code, data_error(place, line, offset, &reason))
                .help("correct the file, or have it sent again; nothing was published")
        }
        Fault::Contract { reason } => RunError::contract(&format!("{place}: {reason}")),
    }
}

/// The text of a data error: place, physical line, byte offset, and what was expected and found.
pub(crate) fn data_error(place: &str, line: u64, offset: u64, reason: &str) -> String {
    if line == 0 {
        format!("{place}, byte {offset}: {reason}")
    } else {
        format!("{place}, line {line}, byte {offset}: {reason}")
    }
}

impl Rejections<'_> {
    /// `$source.row` of a record.
    fn source_row(&self, at: Place) -> u64 {
        self.work.block.first_row + u64::from(at.record)
    }

    fn shown(&self) -> Arc<str> {
        let source = &self.runtime.context.sources[usize::from(self.runtime.source(self.node).index)];
        Arc::clone(&source.files[self.work.file as usize].shown)
    }

    /// Source and file, for messages.
    pub(crate) fn place(&self) -> String {
        format!("source `{}`, file {}", self.name(), self.shown())
    }

    fn name(&self) -> &Arc<str> {
        &self.runtime.plan.nodes[self.node].name
    }

    /// What the letters of rows that fail for the same have in common.
    fn frame(&self, layout: &Layout, field: &str, category: Category) -> Frame {
        let node = &self.runtime.plan.nodes[self.node];
        let (source_file, source_name) = (&*self.shown(), &**self.name());
        layout.frame(&Cause { source_file, source_name, field, category, stage: &node.stage, route: "" })
    }

    /// Adds a failure; its letter is rendered by `letter` when one is written.
    fn push(
        &self,
        out: &mut BlockResult,
        at: Place,
        category: Category,
        stop: Option<RunError>,
        letter: impl FnOnce(&Layout, &ColumnMap, &mut Vec<u8>),
    ) {
        let start = out.letters.len();
        let letters = self.runtime.letters.as_ref().filter(|_| stop.is_none());
        let index = self.runtime.source(self.node).index;
        if let Some((layout, map)) = letters.and_then(|letters| letters.format(index, self.node)) {
            letter(layout, map, &mut out.letters);
        }
        out.books.nodes[self.node].reject(category, 1);
        let letter = start..out.letters.len();
        let typed = !matches!(category, Category::StructuralValidation | Category::ExpansionLimitExceeded);
        let ordinal = self.work.first_ordinal + u64::from(at.record);
        let node = self.node;
        out.failures.push(PendingFailure {
            row: at.place,
            node,
            source: index,
            ordinal,
            typed,
            category,
            letter,
            stop,
        });
    }
}

/// Rows whose form is wrong.
pub(crate) fn reject_structural(context: &Rejections<'_>, rejected: &[RejectedRow], out: &mut BlockResult) {
    for rejected in rejected {
        reject_form(context, rejected, context.places.of_rejected(rejected.row), out);
    }
}

fn reject_form(context: &Rejections<'_>, rejected: &RejectedRow, at: Place, out: &mut BlockResult) {
    let columns = context.runtime.source(context.node).columns.len();
    let detail = data_error(&context.place(), rejected.line, rejected.offset, &rejected.reason);
    let stop = (context.runtime.strategy == Strategy::FailFast)
        .then(|| RunError::coded(exit::INFRASTRUCTURE, rejected.code, detail.clone()).help(SET_CONTINUE));
    context.push(out, at, Category::StructuralValidation, stop, |layout, map, text| {
        let frame = context.frame(layout, "", Category::StructuralValidation);
        let detail = format!("{} {detail}", rejected.code);
        let detail = Detail::Text(&detail);
        let letter = Letter { frame: &frame, source_row: context.source_row(at), value: "", detail };
        let raw = |cell: usize, text: &mut Vec<u8>| {
            if cell == columns {
                text.extend_from_slice(rejected.raw.as_bytes());
            }
        };
        layout.render(&letter, map, raw, text);
    });
}

/// Records that would be too many rows: `declared` and `undeclared` are their cells as they were read.
pub(crate) fn reject_overruns(
    context: &Rejections<'_>,
    overruns: &[Overrun],
    declared: &[Cells],
    undeclared: &Undeclared,
    out: &mut BlockResult,
) {
    let category = Category::ExpansionLimitExceeded;
    let source = context.runtime.source(context.node);
    let limit = source.max_rows.unwrap_or(u64::MAX);
    for (row, overrun) in overruns.iter().enumerate() {
        let reason = format!("the record becomes more rows than `max_output_rows_per_input` allows ({limit})");
        let detail = data_error(&context.place(), overrun.line, overrun.offset, &reason);
        let stop = (context.runtime.strategy == Strategy::FailFast)
            .then(|| RunError::coded(exit::INFRASTRUCTURE, "E426", detail.clone()).help(RAISE_LIMIT));
        let at = context.places.of_rejected(overrun.row);
        context.push(out, at, category, stop, |layout, map, text| {
            let frame = context.frame(layout, "", category);
            let detail = format!("E426 {detail}");
            let detail = Detail::Text(&detail);
            let letter = Letter { frame: &frame, source_row: context.source_row(at), value: "", detail };
            layout.render(&letter, map, original(&source.columns, declared, undeclared, row), text);
        });
    }
}

/// The cells of a row as they were read.
fn original<'a>(
    columns: &'a [SourceColumn],
    declared: &'a [Cells],
    undeclared: &'a Undeclared,
    row: usize,
) -> impl FnMut(usize, &mut Vec<u8>) + 'a {
    move |cell, text| {
        if cell < columns.len() {
            cast::append_original(&columns[cell].rule, &declared[cell], row, text);
        } else {
            push_undeclared(undeclared, row, text);
        }
    }
}

/// A row whose form turned out wrong in one of its cells: it is kept as its raw text, like any other of wrong form.
fn broken_cell(
    context: &Rejections<'_>,
    failure: &CellFailure,
    column: &str,
    block_row: u32,
) -> Result<RejectedRow, RunError> {
    let row = context.work.decoder.try_row_text(&context.work.block, block_row);
    let row = row.map_err(|fault| source_fault(&context.place(), fault))?;
    Ok(RejectedRow {
        row: block_row,
        code: "E422",
        line: row.line,
        offset: row.offset,
        reason: format!("column `{column}`: {}", failure.reason),
        raw: row.raw,
    })
}

const RAISE_LIMIT: &str = "raise `max_output_rows_per_input`, or set `error_handling: { strategy: continue, dlq: { path: … } }` to keep such \
     records aside";
const SET_CONTINUE: &str =
    "fix the row, or set `error_handling: { strategy: continue, dlq: { path: … } }` to keep such rows aside";

/// Rows with a value that does not fit its declared type.
pub(crate) fn reject_typed(
    context: &Rejections<'_>,
    declared: &[Cells],
    undeclared: &Undeclared,
    origin: &Origin,
    failures: &[CellFailure],
    out: &mut BlockResult,
) {
    if failures.is_empty() {
        return;
    }
    let shown = context.shown();
    let columns = &context.runtime.source(context.node).columns;
    let mut known: Vec<Option<Alike>> = columns.iter().map(|_| None).collect();
    for failure in failures {
        let row = failure.row as usize;
        let at = Place {
            place: origin.block_row(row),
            record: (origin.row_in_file(row) - context.work.block.first_row) as u32,
        };
        let rule = &columns[failure.column].rule;
        if failure.structural {
            match broken_cell(context, failure, &rule.name, at.record) {
                Ok(rejected) => reject_form(context, &rejected, at, out),
                // The format broke the contract: that ends the run whatever the strategy.
                Err(stop) => context.push(out, at, Category::StructuralValidation, Some(stop), |_, _, _| {}),
            }
            continue;
        }
        let value = cast::original_text(rule, &declared[failure.column], row);
        let (value, reason) = (value.as_deref(), &*failure.reason);
        let lines = |put: Put| E126Lines::new(context.name(), &shown, failure.column + 1, &rule.name, rule.ty, put);
        let stop = type_stop(context.runtime, || {
            let mut line = Vec::new();
            lines(append).append(context.source_row(at), value, reason, &mut line);
            String::from_utf8_lossy(&line).into_owned()
        });
        context.push(out, at, failure.category, stop, |layout, map, text| {
            let category = failure.category;
            let make =
                || Alike { category, frame: context.frame(layout, &rule.name, category), lines: lines(double_quotes) };
            let known = &mut known[failure.column];
            let alike = known.take().filter(|alike| alike.category == category).unwrap_or_else(make);
            let Alike { frame, lines, .. } = known.insert(alike);
            let source_row = context.source_row(at);
            let line = |text: &mut Vec<u8>| lines.append(source_row, value, reason, text);
            let letter = Letter { frame, source_row, value: value.unwrap_or(""), detail: Detail::Doubled(&line) };
            layout.render(&letter, map, original(columns, declared, undeclared, row), text);
        });
    }
}

type Put = fn(&str, &mut Vec<u8>);

fn append(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
}

/// What the failures of a column have in common.
struct Alike {
    category: Category,
    frame: Frame,
    lines: E126Lines<Put>,
}

/// Whether a declared-type failure ends the run, and how.
fn type_stop(runtime: &Runtime<'_>, line: impl FnOnce() -> String) -> Option<RunError> {
    if runtime.strategy == Strategy::Continue && runtime.plan.failures.has_dlq_block {
        return None;
    }
    let line = line();
    let message = line.strip_prefix("[E126] ").unwrap_or(&line);
    if runtime.strategy == Strategy::FailFast {
        return Some(RunError::coded(exit::INFRASTRUCTURE, "E126", message).help(SET_CONTINUE));
    }
    let message =
        format!("{message}; `strategy: continue` goes on past such rows only with an `error_handling.dlq` block");
    Some(RunError::coded(exit::CONFIGURATION, "E126", message).help(
        "add `dlq: { path: rejects.csv }` under `error_handling` (or `dlq: {}` to count rejected rows without keeping \
         them)",
    ))
}

/// The undeclared fields of a row as one compact JSON object in input order; nothing when it has none.
fn push_undeclared(undeclared: &Undeclared, row: usize, out: &mut Vec<u8>) {
    let fields = undeclared.of_row(row);
    for (at, field) in fields.iter().enumerate() {
        let field = &undeclared.fields()[*field as usize];
        out.push(if at == 0 { b'{' } else { b',' });
        json::push_string(&field.name, out);
        out.push(b':');
        json::append_compact(&field.column.value(row), out);
    }
    if !fields.is_empty() {
        out.push(b'}');
    }
}
