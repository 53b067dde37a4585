//! `trim_end`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "trim_end",
    receiver: Kinds::TEXT,
    result: ResultType::Fixed(Base::String),
    doc: "The text without trailing Unicode white space.",
    examples: &[(r#""  ore ".trim_end()"#, r#""  ore""#)],
    call: |_, cells, _| {
        let Cell::Text(text) = cells[0] else { return Ok(Answer::Null) };
        Ok(Answer::Slice(0, text.trim_end().len()))
    },
    kernel: Some(|array| Some(map_part(array, |text| text.trim_end()))),
    ..Function::BASE
};
