//! `length`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "length",
    receiver: Kinds::TEXT.or(Kinds::ARRAY),
    result: ResultType::Fixed(Base::Int),
    doc: "The number of characters of a text, or of elements of an array.",
    examples: &[(r#""naïve".length()"#, r#"5"#), (r#""".length()"#, r#"0"#), (r#"[null, null].length()"#, r#"2"#)],
    call: |_, cells, _| match cells[0] {
        Cell::Text(text) if text.is_ascii() => Ok(Answer::Int(text.len() as i64)),
        Cell::Text(text) => Ok(Answer::Int(text.chars().count() as i64)),
        Cell::Array(items) => Ok(Answer::Int(items.len() as i64)),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
