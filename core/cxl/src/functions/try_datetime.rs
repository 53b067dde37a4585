//! `try_datetime`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "try_datetime",
    receiver: Kinds::ANY,
    params: &[Param::optional("fmt", Kinds::TEXT)],
    result: ResultType::Fixed(Base::DateTime),
    doc: "As `to_datetime`, with null for what it refuses.",
    examples: &[(r#""6:05".try_datetime()"#, r#"null"#)],
    call: |call, cells, _| Ok(to_datetime(call, cells).unwrap_or(Answer::Null)),
    prepares: Some((Prepare::DateFormat, 0)),
    ..Function::BASE
};
