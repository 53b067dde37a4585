//! `try_int`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "try_int",
    receiver: Kinds::ANY,
    result: ResultType::Fixed(Base::Int),
    doc: "As `to_int`, with null for what it refuses.",
    examples: &[(r#""x".try_int()"#, r#"null"#), (r#""+7".try_int()"#, r#"7"#)],
    call: |_, cells, _| Ok(to_int(cells[0]).unwrap_or(Answer::Null)),
    ..Function::BASE
};
