//! `abs`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "abs",
    receiver: Kinds::NUMBER,
    result: ResultType::Number,
    doc: "The magnitude. The smallest integer has none and fails.",
    examples: &[(r#"(-4.5).abs()"#, r#"4.5"#), (r#"(-8).abs()"#, r#"8"#), (r#""-7.10".to_decimal().abs()"#, r#"7.10"#)],
    call: |_, cells, _| match cells[0] {
        Cell::Int(value) => value.checked_abs().map(Answer::Int).ok_or_else(|| faults::overflow("abs")),
        Cell::Float(value) => Ok(Answer::Float(value.abs())),
        Cell::Decimal(value) => Ok(Answer::Decimal(value.abs())),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
