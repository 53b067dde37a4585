//! `reverse`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "reverse",
    receiver: Kinds::TEXT,
    result: ResultType::Fixed(Base::String),
    doc: "The characters of the text in reverse order.",
    examples: &[(r#""abc".reverse()"#, r#""cba""#)],
    call: |_, cells, out| {
        let Cell::Text(text) = cells[0] else { return Ok(Answer::Null) };
        out.extend(text.chars().rev());
        Ok(Answer::Text)
    },
    ..Function::BASE
};
