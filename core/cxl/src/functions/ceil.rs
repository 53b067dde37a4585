//! `ceil`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "ceil",
    receiver: Kinds::NUMBER,
    result: ResultType::Whole,
    doc: "The smallest integer not below the number. A Float outside the Int range fails; a Decimal stays one, with scale 0.",
    examples: &[(r#"2.1.ceil()"#, r#"3"#), (r#"(-2.1).ceil()"#, r#"-2"#), (r#""2.1".to_decimal().ceil()"#, r#"3"#)],
    call: |_, cells, _| match cells[0] {
        Cell::Int(value) => Ok(Answer::Int(value)),
        Cell::Float(value) => int_of(value.ceil()).map(Answer::Int).ok_or_else(|| faults::overflow("ceil")),
        Cell::Decimal(value) => Ok(Answer::Decimal(value.ceil())),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
