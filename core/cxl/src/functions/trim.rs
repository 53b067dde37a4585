//! `trim`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "trim",
    receiver: Kinds::TEXT,
    result: ResultType::Fixed(Base::String),
    doc: "The text without Unicode white space at both ends.",
    examples: &[(r#"" ore\t".trim()"#, r#""ore""#), (r#""ore".trim()"#, r#""ore""#)],
    call: |_, cells, _| {
        let Cell::Text(text) = cells[0] else { return Ok(Answer::Null) };
        let start = text.len() - text.trim_start().len();
        Ok(Answer::Slice(start, start + text.trim().len()))
    },
    kernel: Some(|array| Some(map_part(array, |text| text.trim()))),
    ..Function::BASE
};
