//! Evaluation: column kernels over frames.
//!
//! [`evaluate`] evaluates one typed expression for all rows of a frame. A kernel computes every row first and looks for
//! the failed ones only if there is one. A failed row keeps a meaningless value; its first reason is in the faults,
//! where later ones change nothing. What makes or opens arrays and maps is evaluated row by row ([`row`]).

mod arithmetic;
mod branch;
mod budget;
mod call;
mod cell;
mod compare;
mod document;
pub(crate) mod faults;
mod frame;
mod log;
mod logic;
mod program;
mod row;
mod system;
mod text_builder;
mod vector;

#[cfg(test)]
mod budget_tests;
#[cfg(test)]
mod container_tests;
#[cfg(test)]
mod document_tests;
#[cfg(test)]
mod log_tests;
#[cfg(test)]
pub(crate) mod oracle;
#[cfg(test)]
mod oracle_containers;
#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod tests;

use std::rc::Rc;

pub(crate) use budget::{Budget, check_built};
pub(crate) use cell::{Cell, SLOT, check_text};
pub(crate) use program::{run_condition, run_expression, run_program};
pub(crate) use text_builder::TextBuilder;

use crate::ir::{Node, NodeKind};
use clinker_record::Value;
use faults::Faults;
use frame::Frame;
use vector::Vector;

/// The values of an expression for the rows of a frame.
fn evaluate(frame: &Rc<Frame<'_>>, node: &Node, faults: &mut Faults) -> Vector {
    let (rows, span) = (frame.rows, node.span);
    if frame.budget.is_exceeded() {
        return Vector::NULL;
    }
    match &node.kind {
        NodeKind::Literal(value) => Vector::Scalar(value.clone()),
        NodeKind::Column(index) => frame.column(*index),
        NodeKind::Slot(slot) => frame.slot(*slot),
        NodeKind::Now => Vector::Scalar(Value::DateTime(frame.run.now)),
        NodeKind::System(value) => system::value(frame, *value),
        NodeKind::Document(path) => document::value(frame, path),
        NodeKind::Negate(inner) => {
            let inner = evaluate(frame, inner, faults);
            arithmetic::negate(&inner, rows, span, faults)
        }
        NodeKind::Widen(base, inner) => arithmetic::widen(&evaluate(frame, inner, faults), *base, rows),
        NodeKind::Arithmetic { first, rest } => {
            let mut value = evaluate(frame, first, faults);
            for (op, _, operand) in rest {
                let right = evaluate(frame, operand, faults);
                value = arithmetic::binary(*op, (&value, &right), frame, first.span.to(operand.span), faults);
            }
            value
        }
        NodeKind::Compare { op, left, right } => {
            let left = evaluate(frame, left, faults);
            let right = evaluate(frame, right, faults);
            compare::compare(*op, &left, &right, rows, span, faults)
        }
        NodeKind::Not(_) | NodeKind::And(_) | NodeKind::Or(_) => logic::truth(frame, node, faults).into_vector(),
        NodeKind::Coalesce(operands) => branch::coalesce(frame, operands, node.ty.base, faults),
        NodeKind::If { branches, otherwise } => branch::if_else(frame, branches, otherwise, node.ty.base, faults),
        NodeKind::Match { subject: None, arms, otherwise } => {
            branch::if_else(frame, arms, otherwise, node.ty.base, faults)
        }
        NodeKind::Match { subject: Some(subject), arms, otherwise } => {
            branch::match_value(frame, subject, (arms, otherwise), node.ty.base, faults)
        }
        NodeKind::Call { function, operands, prepared } => {
            call::call(frame, (function, prepared), operands, node, faults)
        }
        // A program that logs and whose log is wanted is evaluated row by row altogether.
        NodeKind::Debug { inner, label } if label.as_ref().is_none_or(|label| label.is_text()) => {
            evaluate(frame, inner, faults)
        }
        NodeKind::Debug { .. }
        | NodeKind::Bound(_)
        | NodeKind::Array(_)
        | NodeKind::Map(_)
        | NodeKind::Comprehension { .. }
        | NodeKind::Index { .. }
        | NodeKind::Member { .. }
        | NodeKind::Closure { .. } => row::evaluate(frame, node, faults),
    }
}
