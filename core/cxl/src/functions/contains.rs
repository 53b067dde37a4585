//! `contains`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "contains",
    receiver: Kinds::TEXT,
    params: &[Param::new("s", Kinds::TEXT)],
    result: ResultType::Fixed(Base::Bool),
    doc: "Whether `s` occurs in the text, literally.",
    examples: &[(r#""a.b".contains(".")"#, r#"true"#), (r#""ab".contains(".")"#, r#"false"#)],
    call: |_, cells, _| match (cells[0], cells[1]) {
        (Cell::Text(text), Cell::Text(s)) => Ok(Answer::Bool(text.contains(s))),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
