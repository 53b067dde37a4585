//! `is_null`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "is_null",
    receiver: Kinds::ANY,
    result: ResultType::Fixed(Base::Bool),
    doc: "Whether the value is null.",
    examples: &[(r#"null.is_null()"#, r#"true"#), (r#"0.is_null()"#, r#"false"#)],
    call: |_, cells, _| Ok(Answer::Bool(matches!(cells[0], Cell::Null))),
    sees_null: true,
    ..Function::BASE
};
