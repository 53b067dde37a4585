//! `left`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "left",
    receiver: Kinds::TEXT,
    params: &[Param::new("n", Kinds::INT)],
    result: ResultType::Fixed(Base::String),
    doc: "The first characters of the text, at most `n`.",
    examples: &[
        (r#""turbine".left(4)"#, r#""turb""#),
        (r#""naïve".left(3)"#, r#""naï""#),
        (r#""ab".left(9)"#, r#""ab""#),
    ],
    call: |_, cells, _| match (cells[0], cells[1]) {
        (Cell::Text(text), Cell::Int(n)) if n >= 0 => Ok(Answer::Slice(0, char_offset(text, n))),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
