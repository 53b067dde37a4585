//! `try_float`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "try_float",
    receiver: Kinds::ANY,
    result: ResultType::Fixed(Base::Float),
    doc: "As `to_float`, with null for what it refuses.",
    examples: &[(r#""N/A".try_float()"#, r#"null"#), (r#"".5".try_float()"#, r#"0.5"#)],
    call: |_, cells, _| Ok(to_float(cells[0]).unwrap_or(Answer::Null)),
    ..Function::BASE
};
