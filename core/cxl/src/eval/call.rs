//! Method calls: the row form of a function driven over columns.

use std::rc::Rc;

use arrow_array::StringViewArray;
use arrow_buffer::Buffer;
use clinker_record::{Column, Value};

use super::branch::{Piece, Selected, assemble};
use super::budget::MAX_DEPTH;
use super::cell::{Cell, SLOT};
use super::evaluate;
use super::faults::{self, Faults};
use super::frame::Frame;
use super::text_builder::TextBuilder;
use super::vector::{Builder, Vector, text_value};
use crate::check::types::Base;
use crate::functions::{Answer, Call, Function, Kinds, Prepared, int_of};
use crate::ir::Node;
use crate::outcome::EvalError;

/// A function with its compiled argument.
type Callee<'n> = (&'static Function, &'n Prepared);

/// A method call. Arguments are not evaluated for the rows whose receiver is null.
pub(super) fn call(
    frame: &Rc<Frame<'_>>,
    callee: (&&'static Function, &Prepared),
    operands: &[Node],
    whole: &Node,
    faults: &mut Faults,
) -> Vector {
    let callee: Callee<'_> = (callee.0, callee.1);
    let (receiver, args) = operands.split_first().expect("a call has a receiver");
    let receiver = evaluate(frame, receiver, faults);
    if receiver.is_all_null() && !callee.0.sees_null {
        return Vector::NULL;
    }
    let lazy = !callee.0.sees_null && !args.iter().all(Node::is_free);
    let nulls = if lazy { receiver.validity(frame.rows) } else { None };
    let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else {
        let mut values = vec![receiver];
        values.extend(args.iter().map(|arg| evaluate(frame, arg, faults)));
        return rows_of(callee, &values, frame, whole, faults);
    };
    let present: Rc<[u32]> = nulls.inner().set_indices_u32().collect();
    let mut selected = Selected::new(frame, &present);
    let mut values = vec![receiver.take(&present)];
    values.extend(args.iter().map(|arg| evaluate(&selected.frame, arg, &mut selected.faults)));
    let vector = rows_of(callee, &values, &selected.frame, whole, &mut selected.faults);
    selected.report(faults);
    let rows = present.iter().zip(0..).map(|(&row, at)| (row, at)).collect();
    assemble(vec![Piece { vector, rows }], whole.ty.base, frame)
}

/// The function over all rows of its operands.
fn rows_of(callee: Callee<'_>, operands: &[Vector], frame: &Frame<'_>, whole: &Node, faults: &mut Faults) -> Vector {
    let (function, prepared) = callee;
    let budget = frame.budget;
    let mut call = Call::new(function, prepared);
    if operands.iter().all(|operand| matches!(operand, Vector::Scalar(_))) {
        return once(function, &mut call, operands, frame, whole, faults);
    }
    if let (Some(kernel), [Vector::Column(Column::Text(source))]) = (function.kernel, operands)
        && let Some(array) = kernel(source)
    {
        let within = budget.charge(new_bytes(source, &array));
        return if within { Vector::Column(Column::Text(array)) } else { Vector::NULL };
    }
    let mut text = String::new();
    let mut cells: Vec<Cell<'_>> = Vec::with_capacity(operands.len());
    let mut output = Output::new(whole.ty.base, &operands[0], frame.rows);
    for row in 0..frame.rows {
        cells.clear();
        cells.extend(operands.iter().map(|operand| operand.cell(row)));
        text.clear();
        match answer(function, &mut call, &mut cells, &mut text) {
            Ok(Answer::Built) => match built(&mut call, frame, row) {
                Ok(value) => output.push_value(value),
                Err(_) if budget.is_exceeded() => return Vector::NULL,
                Err(error) => {
                    output.push_value(Value::Null);
                    faults.at(row, whole.span, error);
                }
            },
            Ok(answer) => {
                if !budget.charge(output.cost(answer, &cells, &text)) {
                    return Vector::NULL;
                }
                output.push(answer, &cells, &text, row);
            }
            Err(error) => {
                if !budget.charge(error.bytes()) {
                    return Vector::NULL;
                }
                output.push(Answer::Null, &cells, &text, row);
                faults.at(row, whole.span, error);
            }
        }
    }
    output.finish()
}

/// One call for all rows, whose operands are the same.
fn once(
    function: &Function,
    call: &mut Call<'_>,
    operands: &[Vector],
    frame: &Frame<'_>,
    whole: &Node,
    faults: &mut Faults,
) -> Vector {
    let mut text = String::new();
    let mut cells: Vec<Cell<'_>> = operands.iter().map(|operand| operand.cell(0)).collect();
    match answer(function, call, &mut cells, &mut text) {
        Ok(Answer::Built) => {
            let value = call.take_built();
            if frame.budget.charge(Cell::of(&value).bytes()) { Vector::Scalar(value) } else { Vector::NULL }
        }
        Ok(answer) => Vector::Scalar(to_value(answer, &cells, &text)),
        Err(error) => {
            if frame.budget.charge(frame.rows.saturating_mul(error.bytes())) {
                faults.all(frame.rows, whole.span, &error);
            }
            Vector::NULL
        }
    }
}

/// The array or map that a call has built for a row of a frame.
pub(super) fn built(call: &mut Call<'_>, frame: &Frame<'_>, row: usize) -> Result<Value, EvalError> {
    let value = call.take_built();
    let cell = Cell::of(&value);
    frame.budget.build(frame.batch_row(row as u32), SLOT + cell.bytes())?;
    if cell.depth() > MAX_DEPTH { Err(faults::construction_depth()) } else { Ok(value) }
}

/// Bytes of the buffers that a result does not share with its source.
fn new_bytes(source: &StringViewArray, result: &StringViewArray) -> usize {
    let is_shared = |buffer: &Buffer| source.data_buffers().iter().any(|own| own.as_ptr() == buffer.as_ptr());
    result.data_buffers().iter().filter(|buffer| !is_shared(buffer)).map(Buffer::len).sum()
}

/// One row: null and unsuitable operands give null, unless the function wants to see them.
#[inline]
pub(super) fn answer<'a>(
    function: &Function,
    call: &mut Call<'_>,
    cells: &mut [Cell<'a>],
    text: &mut String,
) -> Result<Answer, EvalError> {
    if !function.sees_null && !function.receiver.holds(cells[0]) {
        return Ok(Answer::Null);
    }
    if !function.sees_any_argument {
        for (index, cell) in cells[1..].iter_mut().enumerate() {
            let accepts = function.param(index).accepts;
            if accepts.holds(*cell) {
                continue;
            }
            let truncated = match (*cell, accepts == Kinds::INT) {
                (Cell::Float(value), true) => int_of(value.trunc()),
                (Cell::Decimal(value), true) => value.to_i64(),
                _ => None,
            };
            match truncated {
                Some(value) => *cell = Cell::Int(value),
                None => return Ok(Answer::Null),
            }
        }
    }
    (function.call)(call, cells, text)
}

fn to_cell<'a>(answer: Answer, cells: &[Cell<'a>], text: &'a str) -> Cell<'a> {
    match answer {
        Answer::Null | Answer::Built => Cell::Null,
        Answer::Bool(value) => Cell::Bool(value),
        Answer::Int(value) => Cell::Int(value),
        Answer::Float(value) => Cell::Float(value),
        Answer::Decimal(value) => Cell::Decimal(value),
        Answer::Date(value) => Cell::Date(value),
        Answer::DateTime(value) => Cell::DateTime(value),
        Answer::Text => Cell::Text(text),
        Answer::Slice(start, end) => match cells[0] {
            Cell::Text(receiver) => Cell::Text(&receiver[start..end]),
            _ => Cell::Null,
        },
        Answer::Operand(index) => cells[index],
    }
}

pub(super) fn to_value(answer: Answer, cells: &[Cell<'_>], text: &str) -> Value {
    match answer {
        Answer::Text => text_value(text),
        other => to_cell(other, cells, "").to_value(),
    }
}

/// Answers as they come. Parts of a receiver's text are views into its buffers.
enum Output<'r> {
    Built(Builder),
    Shared { builder: TextBuilder, receiver: &'r StringViewArray },
}

impl<'r> Output<'r> {
    fn new(base: Base, receiver: &'r Vector, rows: usize) -> Self {
        match receiver {
            Vector::Column(Column::Text(array)) if base == Base::String => {
                Output::Shared { builder: TextBuilder::sharing(array), receiver: array }
            }
            _ => Output::Built(Builder::new(base, rows)),
        }
    }

    /// Bytes that an answer adds.
    #[inline]
    fn cost(&self, answer: Answer, cells: &[Cell<'_>], text: &str) -> usize {
        match (self, answer) {
            (_, Answer::Text) => text.len(),
            (Output::Built(Builder::Text(_) | Builder::Values(_)), Answer::Slice(..) | Answer::Operand(_)) => {
                to_cell(answer, cells, text).bytes()
            }
            _ => 0,
        }
    }

    #[inline]
    fn push(&mut self, answer: Answer, cells: &[Cell<'_>], text: &str, row: usize) {
        match self {
            Output::Built(builder) => builder.push(to_cell(answer, cells, text)),
            Output::Shared { builder, receiver } => match (answer, cells[0]) {
                (Answer::Text, _) => builder.push(text),
                (Answer::Slice(start, end), Cell::Text(whole)) => {
                    builder.push_part(receiver.views()[row], whole, start, end);
                }
                (Answer::Operand(0), Cell::Text(_)) => builder.push_view(receiver.views()[row]),
                _ => builder.push_null(),
            },
        }
    }

    /// An array or map, or null for one.
    fn push_value(&mut self, value: Value) {
        match self {
            Output::Built(builder) => builder.push_value(value),
            Output::Shared { builder, .. } => builder.push_null(),
        }
    }

    fn finish(self) -> Vector {
        match self {
            Output::Built(builder) => builder.finish(),
            Output::Shared { builder, .. } => Vector::Column(Column::Text(builder.finish())),
        }
    }
}
