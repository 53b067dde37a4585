//! `try_bool`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "try_bool",
    receiver: Kinds::ANY,
    result: ResultType::Fixed(Base::Bool),
    doc: "As `to_bool`, with null for what it refuses.",
    examples: &[(r#""on".try_bool()"#, r#"null"#)],
    call: |_, cells, _| Ok(to_bool(cells[0]).unwrap_or(Answer::Null)),
    ..Function::BASE
};
