//! `type_of`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "type_of",
    receiver: Kinds::ANY,
    result: ResultType::Fixed(Base::String),
    doc: "The name of the type of the value.",
    examples: &[
        (r#"null.type_of()"#, r#""Null""#),
        (r#"5.type_of()"#, r#""Int""#),
        (r#"[1].type_of()"#, r#""Array""#),
        (r#"now.type_of()"#, r#""DateTime""#),
    ],
    call: |_, cells, out| {
        out.push_str(cells[0].type_name());
        Ok(Answer::Text)
    },
    sees_null: true,
    ..Function::BASE
};
