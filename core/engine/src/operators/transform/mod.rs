//! The Transform: a program, then checks on what it made. Pure.

pub(crate) mod log;
mod validate;

use std::sync::Arc;

use clinker_cxl::{Outcome, RunContext, TooLarge};
use clinker_plan::{NodeId, OutputSource, TransformPlan};
use clinker_record::{Batch, Column};

use super::failing::{StopAs, fail_evaluations};
use crate::block::BlockResult;
use crate::error::exit;
use crate::liveness::validation_reads;
use crate::runtime::Runtime;

/// Runs a Transform over a batch and yields its output rows.
///
/// # Errors
/// The program would build more than a batch may hold: the batch has to come in pieces.
pub(crate) fn transform(
    runtime: &Runtime<'_>,
    node: NodeId,
    plan: &TransformPlan,
    batch: &Batch,
    evaluation: &RunContext,
    out: &mut BlockResult,
) -> Result<Batch, TooLarge> {
    let outcome = plan.program.evaluate_within(batch, evaluation, runtime.batch_budget)?;
    log::of_program(runtime, node, batch, &outcome.events, out);
    log::per_record(runtime, node, plan, batch, evaluation, out)?;
    log::on_error(runtime, node, plan, batch, &outcome.failures, out);
    out.books.nodes[node].filtered += outcome.filtered;
    let stop_as = StopAs { exit: exit::DATA, code: None, always: false };
    let quote = |at: usize| Some(plan.program.origin()?.quote(outcome.spans[at], "fails here"));
    fail_evaluations(runtime, node, batch, &outcome.failures, &quote, &stop_as, out);
    let result = output(runtime, node, plan, batch, &outcome);
    let result = if plan.validations.is_empty() {
        result
    } else {
        validate::validate(runtime, node, plan, batch, outcome.kept.as_deref(), result, evaluation, out)?
    };
    out.books.nodes[node].rows_out[0] += result.rows as u64;
    Ok(result)
}

/// The output rows: carried columns of the rows that were kept, and emitted ones.
fn output(runtime: &Runtime<'_>, node: NodeId, plan: &TransformPlan, batch: &Batch, outcome: &Outcome) -> Batch {
    let rows = outcome.kept.as_ref().map_or(batch.rows, Vec::len);
    let checked = validation_reads(plan);
    let live = &runtime.live[node];
    let columns = plan
        .outputs
        .iter()
        .enumerate()
        .map(|(at, from)| match (from, &outcome.kept) {
            // Nobody below reads it.
            _ if !live[at] && !checked.contains(&at) => Column::Null(rows),
            (OutputSource::Emit(field), _) => outcome.columns[*field].clone(),
            (OutputSource::Input(column), None) => batch.columns[*column].clone(),
            (OutputSource::Input(column), Some(kept)) => batch.columns[*column].take(kept),
        })
        .collect();
    let (origin, widened) = match &outcome.kept {
        None => (batch.origin.clone(), batch.widened.clone()),
        Some(kept) => (batch.origin.take(kept), batch.widened.take(kept)),
    };
    Batch { schema: Arc::clone(&runtime.plan.nodes[node].schema), columns, rows, origin, widened }
}
