//! `find`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "find",
    receiver: Kinds::TEXT,
    params: &[Param::new("pattern", Kinds::TEXT)],
    result: ResultType::Fixed(Base::Bool),
    doc: "Whether some part of a text matches the regular expression. With a closure, the first element of an array for which it is true, or null; it is not evaluated for those behind.",
    examples: &[(r#""lot 88b".find("\d{2}")"#, r#"true"#), (r#"[5, 8].find(it => it > 6)"#, r#"8"#)],
    call: |call, cells, _| match (cells[0], cells[1]) {
        (Cell::Text(text), Cell::Text(pattern)) => Ok(Answer::Bool(call.pattern(pattern)?.is_match(text))),
        _ => Ok(Answer::Null),
    },
    closure: Some(ClosureMethod::Find),
    prepares: Some((Prepare::Search, 0)),
    ..Function::BASE
};
