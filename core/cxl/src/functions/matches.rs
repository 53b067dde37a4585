//! `matches`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "matches",
    receiver: Kinds::TEXT,
    params: &[Param::new("pattern", Kinds::TEXT)],
    result: ResultType::Fixed(Base::Bool),
    doc: "Whether the whole text matches the regular expression.",
    examples: &[
        (r#""AB12".matches("[A-Z]+\d+")"#, r#"true"#),
        (r#""AB12x".matches("[A-Z]+\d+")"#, r#"false"#),
        (r#""ab".matches("a|ab")"#, r#"true"#),
    ],
    call: |call, cells, _| match (cells[0], cells[1]) {
        (Cell::Text(text), Cell::Text(pattern)) => Ok(Answer::Bool(call.pattern(pattern)?.is_match(text))),
        _ => Ok(Answer::Null),
    },
    prepares: Some((Prepare::Whole, 0)),
    ..Function::BASE
};
