//! `trim_start`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "trim_start",
    receiver: Kinds::TEXT,
    result: ResultType::Fixed(Base::String),
    doc: "The text without leading Unicode white space.",
    examples: &[(r#""  ore ".trim_start()"#, r#""ore ""#)],
    call: |_, cells, _| {
        let Cell::Text(text) = cells[0] else { return Ok(Answer::Null) };
        Ok(Answer::Slice(text.len() - text.trim_start().len(), text.len()))
    },
    kernel: Some(|array| Some(map_part(array, |text| text.trim_start()))),
    ..Function::BASE
};
