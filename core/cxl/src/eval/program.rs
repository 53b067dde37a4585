//! Programs and expressions over a batch.

use std::rc::Rc;
use std::sync::Arc;

use arrow_array::{Array, BooleanArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use clinker_diagnostics::Span;
use clinker_events::Level;
use clinker_record::{Batch, Category, Column, Failure, Kind, Value};

use super::budget::Budget;
use super::cell::{Cell, holds_nan};
use super::evaluate;
use super::faults::{self, Faults};
use super::frame::Frame;
use super::log::Log;
use super::logic::{Truth, truth};
use super::row;
use super::vector::Vector;
use crate::ir::{Body, Node, Output, Step};
use crate::outcome::{ErrorKind, EvalError, Outcome, TooLarge, Verdicts};
use crate::run::RunContext;

/// Runs a program over all rows of a batch.
pub(crate) fn run_program(body: &Body, batch: &Batch, run: &RunContext, budget: &Budget) -> Result<Outcome, TooLarge> {
    let log = Log::new(run.log_level);
    let mut state = State {
        frame: Frame::whole(batch, run, (budget, &log), body.slots),
        faults: Faults::default(),
        failures: Vec::new(),
        filtered: 0,
    };
    for step in &body.steps {
        state.step(step);
        if budget.is_exceeded() {
            return Err(TooLarge);
        }
    }
    state.drop_failed();
    let column = |output: &Output| output_column(state.frame.slot(output.slot), output.ty.kind, &state.frame);
    let columns = body.outputs.iter().map(column).collect::<Result<_, _>>()?;
    let mut failures = std::mem::take(&mut state.failures);
    failures.sort_by_key(|(failure, _)| failure.row);
    let (failures, spans) = failures.into_iter().unzip();
    let kept = state.frame.batch_rows().map(|rows| rows.to_vec());
    let filtered = state.filtered;
    drop(state);
    Ok(Outcome { kept, filtered, failures, spans, events: log.into_events(), columns })
}

/// A vector as a column. Values of any types are written out as text, one value for all rows included.
fn output_column(vector: Vector, kind: Kind, frame: &Frame<'_>) -> Result<Column, TooLarge> {
    let written = match &vector {
        Vector::Column(_) | Vector::Dynamic(_) => 0,
        Vector::Scalar(value) => frame.rows.saturating_mul(Cell::of(value).bytes()),
        Vector::Values(values) => values.iter().map(|value| Cell::of(value).bytes()).sum(),
    };
    if !frame.budget.charge(written) {
        return Err(TooLarge);
    }
    Ok(vector.into_column(kind, frame.rows))
}

/// Where a program stands: the rows left, and what became of the others.
struct State<'b> {
    frame: Rc<Frame<'b>>,
    /// Failed rows that are still in the frame.
    faults: Faults,
    failures: Vec<(Failure, Span)>,
    filtered: u64,
}

impl State<'_> {
    fn step(&mut self, step: &Step) {
        let before = self.faults.list().len();
        match step {
            Step::Let { slot, value } => {
                let vector = self.value(value);
                self.frame.bind(*slot, vector);
                self.record(before, None);
            }
            Step::Emit { slot, field, value } => {
                let vector = self.value(value);
                refuse_nan(&vector, value, self.frame.rows, &mut self.faults);
                self.frame.bind(*slot, vector);
                self.record(before, Some(field));
            }
            Step::Discard(value) => {
                self.value(value);
                self.record(before, None);
            }
            Step::Trace { level, guard, message } => {
                if self.frame.log.wants(*level) {
                    row::trace(&self.frame, (*level, guard.as_ref(), message), &self.faults);
                }
            }
            Step::Filter(condition) => {
                let yes = self.truth(condition).yes;
                self.record(before, None);
                if yes.count_set_bits() < self.frame.rows || !self.faults.is_empty() {
                    let kept: Rc<[u32]> = yes.set_indices_u32().filter(|row| !self.faults.has(*row)).collect();
                    self.filtered += (self.frame.rows - self.faults.list().len() - kept.len()) as u64;
                    self.keep(kept);
                }
            }
        }
    }

    /// The values of an expression. One that logs is evaluated row by row, so that nothing is logged behind a failure.
    fn value(&mut self, node: &Node) -> Vector {
        if self.frame.log.wants(Level::Trace) && node.logs() {
            row::evaluate(&self.frame, node, &mut self.faults)
        } else {
            evaluate(&self.frame, node, &mut self.faults)
        }
    }

    fn truth(&mut self, condition: &Node) -> Truth {
        if self.frame.log.wants(Level::Trace) && condition.logs() {
            let vector = row::evaluate(&self.frame, condition, &mut self.faults);
            Truth::of(&vector, self.frame.rows, condition.span, &mut self.faults)
        } else {
            truth(&self.frame, condition, &mut self.faults)
        }
    }

    /// Turns the faults of a statement into failures.
    fn record(&mut self, before: usize, field: Option<&Arc<str>>) {
        for (row, error) in &self.faults.list()[before..] {
            self.failures.push((failure(&self.frame, *row, error, field), error.span));
        }
    }

    fn keep(&mut self, kept: Rc<[u32]>) {
        if kept.len() < self.frame.rows {
            self.frame = self.frame.select(kept);
        }
        self.faults = Faults::default();
    }

    fn drop_failed(&mut self) {
        if !self.faults.is_empty() {
            let kept = (0..self.frame.rows as u32).filter(|row| !self.faults.has(*row)).collect();
            self.keep(kept);
        }
    }
}

/// `row <n>: field '<f>': <message>`.
fn failure(frame: &Frame<'_>, row: u32, error: &EvalError, field: Option<&Arc<str>>) -> Failure {
    let row = frame.batch_row(row);
    let origin = &frame.batch.origin;
    let number = if origin.runs().is_empty() { None } else { Some(origin.row_in_file(row as usize)) };
    let mut detail = number.map(|number| format!("row {number}: ")).unwrap_or_default();
    if let Some(field) = field {
        detail.push_str(&format!("field '{field}': "));
    }
    detail.push_str(&error.message);
    let category =
        if error.kind == ErrorKind::NanInOutput { Category::NanInOutputField } else { Category::TypeCoercionFailure };
    Failure { row, category, field: field.cloned(), value: error.value.clone(), detail }
}

/// An emitted NaN fails its row.
fn refuse_nan(vector: &Vector, value: &Node, rows: usize, faults: &mut Faults) {
    match vector {
        Vector::Scalar(scalar) => {
            if holds_nan(Cell::of(scalar)) {
                faults.all(rows, value.span, &faults::nan());
            }
        }
        Vector::Column(Column::Float(array)) => {
            if array.values().iter().any(|float| float.is_nan()) {
                for row in (0..rows).filter(|row| !array.is_null(*row) && array.value(*row).is_nan()) {
                    faults.at(row, value.span, faults::nan());
                }
            }
        }
        Vector::Column(_) => {}
        Vector::Values(_) | Vector::Dynamic(_) => {
            for row in (0..rows).filter(|row| vector.may_hold_nan(*row) && holds_nan(vector.cell(*row))) {
                faults.at(row, value.span, faults::nan());
            }
        }
    }
}

/// A condition over all rows of a batch.
pub(crate) fn run_condition(
    condition: &Node,
    batch: &Batch,
    run: &RunContext,
    budget: &Budget,
) -> Result<Verdicts, TooLarge> {
    let log = Log::default();
    let frame = Frame::whole(batch, run, (budget, &log), 0);
    let mut faults = Faults::default();
    let truth = truth(&frame, condition, &mut faults);
    if budget.is_exceeded() {
        return Err(TooLarge);
    }
    let mut valid = &truth.yes | &truth.no;
    if !faults.is_empty() {
        let mut bits = BooleanBufferBuilder::new(batch.rows);
        bits.append_buffer(&valid);
        faults.list().iter().for_each(|(row, _)| bits.set_bit(*row as usize, false));
        valid = bits.finish();
    }
    let nulls = Some(NullBuffer::new(valid)).filter(|nulls| nulls.null_count() > 0);
    Ok(Verdicts { values: BooleanArray::new(truth.yes, nulls), errors: by_row(faults) })
}

/// An expression over all rows of a batch; failed rows are null.
pub(crate) fn run_expression(
    expression: &Node,
    batch: &Batch,
    run: &RunContext,
    budget: &Budget,
) -> Result<(Column, Vec<(u32, EvalError)>), TooLarge> {
    let log = Log::default();
    let frame = Frame::whole(batch, run, (budget, &log), 0);
    let mut faults = Faults::default();
    let mut vector = evaluate(&frame, expression, &mut faults);
    if budget.is_exceeded() {
        return Err(TooLarge);
    }
    if !faults.is_empty() {
        let kind = expression.ty.base.kind();
        let column = vector.into_column(kind, batch.rows);
        let values: Vec<Value> = (0..batch.rows as u32)
            .map(|row| if faults.has(row) { Value::Null } else { column.value(row as usize) })
            .collect();
        vector = Vector::from_column(Column::from_values(kind, &values));
    }
    Ok((output_column(vector, expression.ty.base.kind(), &frame)?, by_row(faults)))
}

fn by_row(faults: Faults) -> Vec<(u32, EvalError)> {
    let mut errors = faults.into_list();
    errors.sort_by_key(|(row, _)| *row);
    errors
}
