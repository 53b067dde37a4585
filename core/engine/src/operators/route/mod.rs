//! The Route: each row to the branches whose conditions hold. Pure.

use std::sync::Arc;

use clinker_cxl::{RunContext, TooLarge, Verdict};
use clinker_diagnostics::Span;
use clinker_plan::{NodeId, RoutePlan};
use clinker_record::{Batch, Category, Failure};

use super::failing::{StopAs, fail_evaluations};
use crate::block::BlockResult;
use crate::error::exit;
use crate::runtime::Runtime;

/// What is known of a row while the conditions are asked in order.
enum State {
    /// No condition was true yet.
    Open,
    /// A condition was true.
    Taken,
    /// A condition could not be evaluated: the row takes no branch at all.
    Failed,
}

/// Sends the rows of a batch to the ports of a Route; a port that gets no row has no batch.
///
/// # Errors
/// The failures of conditions report more than a batch may hold: the batch has to come in pieces.
pub(crate) fn route(
    runtime: &Runtime<'_>,
    node: NodeId,
    plan: &RoutePlan,
    batch: &Batch,
    evaluation: &RunContext,
    out: &mut BlockResult,
) -> Result<Vec<Option<Batch>>, TooLarge> {
    let mut states: Vec<State> = (0..batch.rows).map(|_| State::Open).collect();
    let mut ports: Vec<Vec<u32>> = vec![Vec::new(); plan.branches.len() + 1];
    let mut failures: Vec<(Failure, usize, Span)> = Vec::new();
    for (port, (_, condition)) in plan.branches.iter().enumerate() {
        let asked = |state: &State| matches!(state, State::Open) || plan.inclusive && matches!(state, State::Taken);
        if !states.iter().any(asked) {
            break;
        }
        let verdicts = condition.evaluate_condition(batch, evaluation, runtime.batch_budget)?;
        for (row, state) in states.iter_mut().enumerate().filter(|(_, state)| asked(state)) {
            // What is not asked cannot fail: verdicts on other rows are not looked at.
            match verdicts.verdict(row as u32) {
                Verdict::True => {
                    ports[port].push(row as u32);
                    *state = State::Taken;
                }
                Verdict::False | Verdict::Null => {}
                Verdict::Error(error) => {
                    *state = State::Failed;
                    let failure = Failure {
                        row: row as u32,
                        category: Category::TypeCoercionFailure,
                        field: None,
                        value: error.value.clone(),
                        detail: format!("row {}: {error}", batch.origin.row_in_file(row)),
                    };
                    failures.push((failure, port, error.span));
                }
            }
        }
    }
    settle(&states, &mut ports);
    failures.sort_by_key(|(failure, ..)| failure.row);
    let (failures, places): (Vec<Failure>, Vec<_>) =
        failures.into_iter().map(|(failure, port, span)| (failure, (port, span))).unzip();
    let quote = |at: usize| {
        let (port, span) = places[at];
        Some(plan.branches[port].1.origin()?.quote(span, "fails here"))
    };
    let stop_as = StopAs { exit: exit::DATA, code: None, always: false };
    fail_evaluations(runtime, node, batch, &failures, &quote, &stop_as, out);
    let book = &mut out.books.nodes[node];
    book.rows_out = ports.iter().map(|rows| rows.len() as u64).collect();
    book.copied = copies(&ports, &states);
    Ok(ports.iter().map(|rows| branch(runtime, node, batch, rows)).collect())
}

/// Rows without a branch go to the default; failed rows leave the branches they were already sent to.
fn settle(states: &[State], ports: &mut [Vec<u32>]) {
    if states.iter().any(|state| matches!(state, State::Failed)) {
        for rows in ports.iter_mut() {
            rows.retain(|row| !matches!(states[*row as usize], State::Failed));
        }
    }
    if let Some(default) = ports.last_mut() {
        default.extend((0..states.len() as u32).filter(|row| matches!(states[*row as usize], State::Open)));
    }
}

/// Branches beyond the first one of each row.
fn copies(ports: &[Vec<u32>], states: &[State]) -> u64 {
    let sent: usize = ports.iter().map(Vec::len).sum();
    let rows = states.iter().filter(|state| !matches!(state, State::Failed)).count();
    (sent - rows) as u64
}

fn branch(runtime: &Runtime<'_>, node: NodeId, batch: &Batch, rows: &[u32]) -> Option<Batch> {
    if rows.is_empty() {
        return None;
    }
    let mut sent = if rows.len() == batch.rows { batch.clone() } else { batch.take(rows) };
    sent.schema = Arc::clone(&runtime.plan.nodes[node].schema);
    Some(sent)
}
