//! `find`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "find",
    receiver: Kinds::TEXT,
    params: &[Param::new("pattern", Kinds::TEXT)],
    result: ResultType::Fixed(Base::Bool),
    doc: "Whether some part of the text matches the regular expression.",
    examples: &[(r#""lot 88b".find("\d{2}")"#, r#"true"#)],
    call: |call, cells, _| match (cells[0], cells[1]) {
        (Cell::Text(text), Cell::Text(pattern)) => Ok(Answer::Bool(call.pattern(pattern)?.is_match(text))),
        _ => Ok(Answer::Null),
    },
    prepares: Some((Prepare::Search, 0)),
    ..Function::BASE
};
