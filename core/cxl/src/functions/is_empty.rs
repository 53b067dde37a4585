//! `is_empty`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "is_empty",
    receiver: Kinds::ANY,
    result: ResultType::Fixed(Base::Bool),
    doc: "Whether the value is null, the empty text or the empty array.",
    examples: &[
        (r#""".is_empty()"#, r#"true"#),
        (r#"0.is_empty()"#, r#"false"#),
        (r#"null.is_empty()"#, r#"true"#),
        (r#"[].is_empty()"#, r#"true"#),
        (r#"{}.is_empty()"#, r#"false"#),
    ],
    call: |_, cells, _| {
        Ok(Answer::Bool(match cells[0] {
            Cell::Null => true,
            Cell::Text(text) => text.is_empty(),
            Cell::Array(items) => items.is_empty(),
            _ => false,
        }))
    },
    sees_null: true,
    ..Function::BASE
};
