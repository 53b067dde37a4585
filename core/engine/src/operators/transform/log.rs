//! Log directives of a Transform. They never change a result.
//!
//! Which records are considered depends on how many came before, so a worker only evaluates the conditions; the events
//! are made when the block's turn comes.

use std::fmt::Write;

use clinker_cxl::{LogEvent, RunContext, TooLarge, Verdict};
use clinker_plan::{LogPlan, LogWhen, NodeId, TransformPlan};
use clinker_record::text::{self, CellWriter};
use clinker_record::{Batch, Failure};

use crate::block::{BlockResult, PendingEvent};
use crate::runtime::Runtime;

/// Records of one block at one Transform, waiting to be counted.
pub(crate) struct PendingLog {
    pub node: NodeId,
    batch: Batch,
    /// For each directive of the Transform which rows its condition holds for; `None` for all of them.
    holds: Vec<Option<Vec<bool>>>,
}

/// Keeps what the `per_record` directives of a Transform need of a batch.
pub(super) fn per_record(
    runtime: &Runtime<'_>,
    node: NodeId,
    plan: &TransformPlan,
    batch: &Batch,
    evaluation: &RunContext,
    out: &mut BlockResult,
) -> Result<(), TooLarge> {
    let considered = |log: &LogPlan| log.when == LogWhen::PerRecord && runtime.subscriber.wants(log.level);
    if batch.rows == 0 || !plan.log.iter().any(considered) {
        return Ok(());
    }
    let holds = |log: &LogPlan| {
        let Some(condition) = log.condition.as_ref().filter(|_| considered(log)) else { return Ok(None) };
        let verdicts = condition.evaluate_condition(batch, evaluation, runtime.batch_budget)?;
        // A condition that fails drops its event and nothing else.
        Ok(Some((0..batch.rows as u32).map(|row| verdicts.verdict(row) == Verdict::True).collect()))
    };
    let holds = plan.log.iter().map(holds).collect::<Result<_, _>>()?;
    out.logs.push(PendingLog { node, batch: batch.clone(), holds });
    Ok(())
}

/// What the program itself logged.
pub(super) fn of_program(
    runtime: &Runtime<'_>,
    node: NodeId,
    batch: &Batch,
    events: &[LogEvent],
    out: &mut BlockResult,
) {
    for event in events {
        let row = event.row as usize;
        let mut text = one_line(&event.text);
        push_place(&mut text, runtime, batch, row);
        out.events.push(PendingEvent { row: batch.origin.block_row(row), node, level: event.level, text });
    }
}

/// A text from data on one line: it must not look like an event of its own.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// The `on_error` events of records that failed.
pub(super) fn on_error(
    runtime: &Runtime<'_>,
    node: NodeId,
    plan: &TransformPlan,
    batch: &Batch,
    failures: &[Failure],
    out: &mut BlockResult,
) {
    for log in plan.log.iter().filter(|log| log.when == LogWhen::OnError && runtime.subscriber.wants(log.level)) {
        for failure in failures {
            let row = failure.row as usize;
            out.events.push(PendingEvent {
                row: batch.origin.block_row(row),
                node,
                level: log.level,
                text: event(runtime, node, log, Some((batch, row))),
            });
        }
    }
}

impl PendingLog {
    /// Makes the events of this block; `seen` counts the records of the Transform before it.
    pub(crate) fn events(
        &self,
        runtime: &Runtime<'_>,
        plan: &TransformPlan,
        seen: &mut u64,
        events: &mut Vec<PendingEvent>,
    ) {
        for row in 0..self.batch.rows {
            *seen += 1;
            for (log, holds) in plan.log.iter().zip(&self.holds) {
                let due = log.when == LogWhen::PerRecord
                    && runtime.subscriber.wants(log.level)
                    && seen.is_multiple_of(log.every.max(1))
                    && holds.as_ref().is_none_or(|holds| holds[row]);
                if due {
                    events.push(PendingEvent {
                        row: self.batch.origin.block_row(row),
                        node: self.node,
                        level: log.level,
                        text: event(runtime, self.node, log, Some((&self.batch, row))),
                    });
                }
            }
        }
    }
}

/// Reports the events that stand before or after all records.
pub(crate) fn boundary(runtime: &Runtime<'_>, node: NodeId, plan: &TransformPlan, when: LogWhen) {
    for log in plan.log.iter().filter(|log| log.when == when && runtime.subscriber.wants(log.level)) {
        runtime.subscriber.event(log.level, &event(runtime, node, log, None));
    }
}

/// The line of an event: its message, then its fields.
fn event(runtime: &Runtime<'_>, node: NodeId, log: &LogPlan, record: Option<(&Batch, usize)>) -> String {
    let mut line = format!("{} event={} node={}", log.message, log.name, runtime.plan.nodes[node].name);
    if let Some((batch, row)) = record {
        push_place(&mut line, runtime, batch, row);
        for column in &log.fields {
            let mut cell = Vec::new();
            CellWriter::new(&batch.columns[*column]).append(row, &mut cell);
            push(&mut line, &batch.schema.columns[*column].0, &text::preview_bytes(&cell));
        }
    }
    push(&mut line, "execution_id", &runtime.context.execution_id);
    push(&mut line, "batch_id", &runtime.context.batch_id);
    push(&mut line, "pipeline_name", &runtime.context.pipeline_name);
    line
}

/// Where a row comes from.
fn push_place(line: &mut String, runtime: &Runtime<'_>, batch: &Batch, row: usize) {
    let (run, distance) = batch.origin.locate(row);
    let file = &runtime.context.sources[usize::from(run.source)].files[run.file as usize].shown;
    push(line, "source_file", file);
    push(line, "source_row", &(run.row + distance).to_string());
}

fn push(line: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = if value.contains(' ') || value.is_empty() {
        write!(line, " {name}=\"{value}\"")
    } else {
        write!(line, " {name}={value}")
    };
}
