//! `ends_with`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "ends_with",
    receiver: Kinds::TEXT,
    params: &[Param::new("s", Kinds::TEXT)],
    result: ResultType::Fixed(Base::Bool),
    doc: "Whether the text ends with `s`.",
    examples: &[(r#""KX-19".ends_with("20")"#, r#"false"#), (r#""KX-19".ends_with("19")"#, r#"true"#)],
    call: |_, cells, _| match (cells[0], cells[1]) {
        (Cell::Text(text), Cell::Text(s)) => Ok(Answer::Bool(text.ends_with(s))),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
