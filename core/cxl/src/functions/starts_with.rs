//! `starts_with`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "starts_with",
    receiver: Kinds::TEXT,
    params: &[Param::new("s", Kinds::TEXT)],
    result: ResultType::Fixed(Base::Bool),
    doc: "Whether the text begins with `s`. The empty text begins every text.",
    examples: &[(r#""KX-19".starts_with("KX")"#, r#"true"#), (r#""KX-19".starts_with("")"#, r#"true"#)],
    call: |_, cells, _| match (cells[0], cells[1]) {
        (Cell::Text(text), Cell::Text(s)) => Ok(Answer::Bool(text.starts_with(s))),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
