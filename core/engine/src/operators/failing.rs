//! A row that fails below its Source: its record is the one the failing node received.

use std::sync::Arc;

use clinker_diagnostics::Quote;
use clinker_dlq::{Cause, Detail, Frame, Layout, Letter};
use clinker_plan::{Node, NodeId, Strategy};
use clinker_record::text::CellWriter;
use clinker_record::{Batch, Category, Failure};

use crate::RunError;
use crate::block::{BlockResult, PendingFailure};
use crate::runtime::Runtime;

/// Characters of an expression that a message quotes.
const MOST_QUOTED: usize = 80;

/// What a failure does when the run may not go on past it.
pub(crate) struct StopAs {
    /// Exit code of its class.
    pub exit: u8,
    /// Diagnostic code, if the failure has one.
    pub code: Option<&'static str>,
    /// It ends the run under either strategy.
    pub always: bool,
}

/// Adds failures of `node`, whose input is `batch`.
pub(crate) fn fail_rows(
    runtime: &Runtime<'_>,
    node: NodeId,
    batch: &Batch,
    failures: &[Failure],
    stop_as: &StopAs,
    out: &mut BlockResult,
) {
    fail_evaluations(runtime, node, batch, failures, &|_| None, stop_as, out);
}

/// As [`fail_rows`], for failures of expressions: `quote` gives the expression of a failure by its position.
pub(crate) fn fail_evaluations(
    runtime: &Runtime<'_>,
    node: NodeId,
    batch: &Batch,
    failures: &[Failure],
    quote: &dyn Fn(usize) -> Option<Quote>,
    stop_as: &StopAs,
    out: &mut BlockResult,
) {
    if failures.is_empty() {
        return;
    }
    let stage = &runtime.plan.nodes[node].stage;
    let stops = stop_as.always || runtime.strategy == Strategy::FailFast;
    let writers: Vec<CellWriter<'_>> = match &runtime.letters {
        Some(_) if !stops => batch.columns.iter().map(CellWriter::new).collect(),
        _ => Vec::new(),
    };
    let mut last = None;
    for (at, failure) in failures.iter().enumerate() {
        let row = failure.row as usize;
        let (run, distance) = batch.origin.locate(row);
        let source = &runtime.context.sources[usize::from(run.source)];
        let shown = &source.files[run.file as usize].shown;
        let start = out.letters.len();
        let format = runtime.letters.as_ref().filter(|_| !stops).and_then(|letters| letters.format(run.source, node));
        if let Some((layout, map)) = format {
            let cause = Cause {
                source_file: shown,
                source_name: &source.name,
                field: failure.field.as_deref().unwrap_or(""),
                category: failure.category,
                stage,
                route: &runtime.plan.nodes[node].route,
            };
            let letter = Letter {
                frame: frame(&mut last, layout, (run.source, run.file), failure, &cause),
                source_row: run.row + distance,
                value: failure.value.as_deref().unwrap_or(""),
                detail: Detail::Text(&failure.detail),
            };
            let cell = |at: usize, text: &mut Vec<u8>| writers[at].append(row, text);
            layout.render(&letter, map, cell, &mut out.letters);
        }
        let stop =
            stops.then(|| stop(stop_as, &runtime.plan.nodes[node], shown, run.row + distance, failure, quote(at)));
        out.books.nodes[node].reject(failure.category, 1);
        out.failures.push(PendingFailure {
            row: batch.origin.block_row(row),
            node,
            source: run.source,
            ordinal: run.ordinal + distance,
            typed: false,
            category: failure.category,
            letter: start..out.letters.len(),
            stop,
        });
    }
}

/// A frame and what it was made for.
struct Known {
    /// The Source and file of the row.
    file: (u16, u32),
    category: Category,
    field: Option<Arc<str>>,
    frame: Frame,
}

/// The frame of a failure of one node. Often it is that of the last one.
fn frame<'k>(
    last: &'k mut Option<Known>,
    layout: &Layout,
    file: (u16, u32),
    failure: &Failure,
    cause: &Cause<'_>,
) -> &'k Frame {
    let Failure { category, field, .. } = failure;
    let same = |known: &Known| (known.file, known.category, &known.field) == (file, *category, field);
    let known = last.take().filter(same);
    let make = || Known { file, category: *category, field: field.clone(), frame: layout.frame(cause) };
    &last.insert(known.unwrap_or_else(make)).frame
}

/// The report of the failure that ends a run: node, expression, file and row, each once.
fn stop(stop_as: &StopAs, node: &Node, shown: &str, row: u64, failure: &Failure, quote: Option<Quote>) -> RunError {
    let detail = &failure.detail;
    let place = match &failure.field {
        Some(field) if failure.category == Category::ValidationFailure => format!("row {row}, field `{field}`"),
        _ => format!("row {row}"),
    };
    // Details of evaluations begin with their row already.
    let place = if detail.starts_with(&format!("row {row}: ")) { String::new() } else { format!(", {place}") };
    let (expression, label) = quote.map_or_else(Default::default, |quote| (excerpt(&quote.text), quote.label));
    // A check without a name of its own is named by its text.
    let expression = if expression.is_empty() || detail.contains(&*expression) {
        String::new()
    } else if failure.category == Category::ValidationFailure {
        format!(": `{expression}`")
    } else {
        format!(" in `{expression}`")
    };
    // Some stages are the same at every node.
    let stage = if node.stage.contains(&*node.name) {
        node.stage.to_string()
    } else {
        format!("{} of `{}`", node.stage, node.name)
    };
    let message = format!("{stage}: {detail}{expression} (file {shown}{place})");
    let error = match stop_as.code {
        Some(code) => RunError::coded(stop_as.exit, code, message),
        None => RunError::uncoded(stop_as.exit, message),
    };
    let error = error.labelled(label);
    if stop_as.always {
        return error;
    }
    error.help("fix the record, or set `error_handling: { strategy: continue, dlq: { path: … } }` to keep it aside")
}

/// An expression on one line, cut where it is long.
fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST_QUOTED) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
