//! A row that fails below its Source: its record is the one the failing node received.

use clinker_dlq::Letter;
use clinker_plan::{NodeId, Strategy};
use clinker_record::text::CellWriter;
use clinker_record::{Batch, Category, Failure};

use crate::RunError;
use crate::block::{BlockResult, PendingFailure};
use crate::runtime::Runtime;

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
    if failures.is_empty() {
        return;
    }
    let stage = &runtime.plan.nodes[node].stage;
    let stops = stop_as.always || runtime.strategy == Strategy::FailFast;
    let writers: Vec<CellWriter<'_>> = match &runtime.letters {
        Some(_) if !stops => batch.columns.iter().map(CellWriter::new).collect(),
        _ => Vec::new(),
    };
    for failure in failures {
        let row = failure.row as usize;
        let (run, distance) = batch.origin.locate(row);
        let source = &runtime.context.sources[usize::from(run.source)];
        let shown = &source.files[run.file as usize].shown;
        let start = out.letters.len();
        let format = runtime.letters.as_ref().filter(|_| !stops).and_then(|letters| letters.format(run.source, node));
        if let Some((layout, map)) = format {
            let letter = Letter {
                source_file: shown,
                source_name: &source.name,
                source_row: run.row + distance,
                field: failure.field.as_deref().unwrap_or(""),
                value: failure.value.as_deref().unwrap_or(""),
                category: failure.category,
                detail: &failure.detail,
                stage,
                route: &runtime.plan.nodes[node].route,
            };
            let cell = |at: usize, text: &mut Vec<u8>| writers[at].append(row, text);
            layout.render(&letter, map, cell, &mut out.letters);
        }
        let stop = stops.then(|| stop(stop_as, stage, shown, run.row + distance, failure));
        out.books.nodes[node].reject(failure.category, 1);
        out.failures.push(PendingFailure {
            row: batch.origin.block_row(row),
            node,
            source: run.source,
            ordinal: run.ordinal + distance,
            turns: None,
            typed: false,
            category: failure.category,
            letter: start..out.letters.len(),
            stop,
        });
    }
}

fn stop(stop_as: &StopAs, stage: &str, shown: &str, row: u64, failure: &Failure) -> RunError {
    let field = match &failure.field {
        Some(field) if failure.category == Category::ValidationFailure => format!(", field `{field}`"),
        _ => String::new(),
    };
    let message = format!("{stage}: {} (file {shown}, row {row}{field})", failure.detail);
    let error = match stop_as.code {
        Some(code) => RunError::coded(stop_as.exit, code, message),
        None => RunError::uncoded(stop_as.exit, message),
    };
    if stop_as.always {
        return error;
    }
    error.help("fix the record, or set `error_handling: { strategy: continue, dlq: { path: … } }` to keep it aside")
}
