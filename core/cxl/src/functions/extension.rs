//! `extension`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "extension",
    receiver: Kinds::TEXT,
    result: ResultType::Fixed(Base::String),
    doc: "What follows the last dot of the file name; null without one.",
    examples: &[(r#""grid.csv".extension()"#, r#""csv""#), (r#""grid".extension()"#, r#"null"#)],
    call: |_, cells, _| {
        let Cell::Text(text) = cells[0] else { return Ok(Answer::Null) };
        let found = file_name(text).and_then(|name| split_name(text, name).1);
        Ok(found.map_or(Answer::Null, |(start, end)| Answer::Slice(start, end)))
    },
    ..Function::BASE
};
