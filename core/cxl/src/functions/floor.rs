//! `floor`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "floor",
    receiver: Kinds::NUMBER,
    result: ResultType::Whole,
    doc: "The largest integer not above the number. A Float outside the Int range fails; a Decimal stays one, with scale 0.",
    examples: &[(r#"(-2.1).floor()"#, r#"-3"#), (r#"7.floor()"#, r#"7"#)],
    call: |_, cells, _| match cells[0] {
        Cell::Int(value) => Ok(Answer::Int(value)),
        Cell::Float(value) => int_of(value.floor()).map(Answer::Int).ok_or_else(|| faults::overflow("floor")),
        Cell::Decimal(value) => Ok(Answer::Decimal(value.floor())),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
