//! `try_decimal`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "try_decimal",
    receiver: Kinds::ANY,
    result: ResultType::Fixed(Base::Decimal),
    doc: "As `to_decimal`, with null for what it refuses.",
    examples: &[(r#"true.try_decimal()"#, r#"null"#)],
    call: |_, cells, _| Ok(to_decimal(cells[0]).unwrap_or(Answer::Null)),
    ..Function::BASE
};
