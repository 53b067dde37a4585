//! Checks on the output records of a Transform. The first failed `error` check of a record decides.

use std::sync::Arc;

use clinker_cxl::{RunContext, TooLarge, Verdict, Verdicts};
use clinker_diagnostics::{Quote, Span};
use clinker_events::Level;
use clinker_plan::{Check, NodeId, TransformPlan, Validation};
use clinker_record::text::CellWriter;
use clinker_record::{Batch, Category, Column, Failure, json};

use super::super::failing::{StopAs, fail_evaluations};
use crate::block::{BlockResult, PendingEvent};
use crate::error::exit;
use crate::runtime::Runtime;

/// What one check says about one row.
enum Finding {
    Passed,
    Failed,
    /// The check itself could not be evaluated: a failed check of severity `error`, whatever was declared.
    Broken(String, Span),
}

/// A row that failed a check.
#[derive(Clone)]
struct Rejected<'p> {
    failure: Failure,
    check: &'p Check,
    /// The part of the check that could not be evaluated.
    broken: Option<Span>,
}

impl Rejected<'_> {
    /// The check, or the part of it that could not be evaluated.
    fn quote(&self) -> Option<Quote> {
        let Check::Expression(expression) = self.check else { return None };
        let note = if self.broken.is_some() { "fails here" } else { "does not hold" };
        Some(expression.origin()?.quote(self.broken.unwrap_or(expression.span()), note))
    }
}

/// Removes the output rows that fail, and dead-letters the input records they were made from.
#[expect(clippy::too_many_arguments, reason = "the two batches and the way between them belong to one step")]
pub(super) fn validate(
    runtime: &Runtime<'_>,
    node: NodeId,
    plan: &TransformPlan,
    input: &Batch,
    kept: Option<&[u32]>,
    output: Batch,
    evaluation: &RunContext,
    out: &mut BlockResult,
) -> Result<Batch, TooLarge> {
    let mut failed: Vec<Option<Rejected<'_>>> = vec![None; output.rows];
    for validation in &plan.validations {
        check(runtime, node, validation, kept, &output, evaluation, &mut failed, out)?;
    }
    let rejected: Vec<&Rejected<'_>> = failed.iter().flatten().collect();
    let failures: Vec<Failure> = rejected.iter().map(|rejected| rejected.failure.clone()).collect();
    if failures.is_empty() {
        return Ok(output);
    }
    let stop_as = StopAs { exit: exit::DATA, code: None, always: false };
    super::log::on_error(runtime, node, plan, input, &failures, out);
    fail_evaluations(runtime, node, input, &failures, &|at| rejected[at].quote(), &stop_as, out);
    let passing: Vec<u32> = (0..output.rows as u32).filter(|row| failed[*row as usize].is_none()).collect();
    Ok(output.take(&passing))
}

#[expect(clippy::too_many_arguments, reason = "one check, its batch and where its findings go")]
fn check<'p>(
    runtime: &Runtime<'_>,
    node: NodeId,
    validation: &'p Validation,
    kept: Option<&[u32]>,
    output: &Batch,
    evaluation: &RunContext,
    failed: &mut [Option<Rejected<'p>>],
    out: &mut BlockResult,
) -> Result<(), TooLarge> {
    let verdicts = match &validation.check {
        Check::NotEmpty => None,
        Check::Expression(expression) => {
            let verdicts = expression.evaluate_condition(output, evaluation, runtime.batch_budget)?;
            if verdicts.all_true() {
                return Ok(());
            }
            Some(verdicts)
        }
    };
    for row in 0..output.rows {
        // A row that has failed is not checked again.
        if failed[row].is_some() {
            continue;
        }
        let finding = finding(validation, verdicts.as_ref(), output, row);
        let (detail, broken) = match finding {
            Finding::Passed => continue,
            Finding::Failed if validation.warn => {
                let text = format!(
                    "{}: validation `{}`: {} (row {})",
                    runtime.plan.nodes[node].name,
                    validation.name,
                    validation.message,
                    output.origin.row_in_file(row)
                );
                let row = output.origin.block_row(row);
                out.events.push(PendingEvent { row, node, level: Level::Warn, text });
                continue;
            }
            Finding::Failed => (validation.message.to_string(), None),
            Finding::Broken(error, span) => (format!("{}: {error}", validation.message), Some(span)),
        };
        let failure = Failure {
            row: kept.map_or(row as u32, |kept| kept[row]),
            category: Category::ValidationFailure,
            field: validation.field.as_ref().map(|(name, _)| Arc::clone(name)),
            value: validation.field.as_ref().map(|(_, column)| text_of(&output.columns[*column], row)),
            detail,
        };
        failed[row] = Some(Rejected { failure, check: &validation.check, broken });
    }
    Ok(())
}

/// What a check says about a row.
fn finding(validation: &Validation, verdicts: Option<&Verdicts>, output: &Batch, row: usize) -> Finding {
    match (verdicts, &validation.field) {
        (Some(verdicts), _) => match verdicts.verdict(row as u32) {
            Verdict::True => Finding::Passed,
            Verdict::False | Verdict::Null => Finding::Failed,
            Verdict::Error(error) => Finding::Broken(error.to_string(), error.span),
        },
        (None, Some((_, column))) if is_filled(&output.columns[*column], row) => Finding::Passed,
        (None, _) => Finding::Failed,
    }
}

/// Not null, not empty text, not an empty array.
fn is_filled(column: &Column, row: usize) -> bool {
    if column.is_null(row) {
        return false;
    }
    match column {
        Column::Text(texts) => !texts.value(row).is_empty(),
        Column::Dynamic(_, texts) => !json::is_empty_tagged(texts.value(row)),
        _ => true,
    }
}

fn text_of(column: &Column, row: usize) -> String {
    let mut text = Vec::new();
    CellWriter::new(column).append(row, &mut text);
    String::from_utf8(text).expect("cells are written as UTF-8")
}
