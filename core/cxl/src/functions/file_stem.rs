//! `file_stem`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "file_stem",
    receiver: Kinds::TEXT,
    result: ResultType::Fixed(Base::String),
    doc: "The file name up to its last dot; a leading dot does not count.",
    examples: &[(r#""/in/may/grid.tar.gz".file_stem()"#, r#""grid.tar""#), (r#"".env".file_stem()"#, r#"".env""#)],
    call: |_, cells, _| {
        let Cell::Text(text) = cells[0] else { return Ok(Answer::Null) };
        let found = file_name(text).map(|name| split_name(text, name).0);
        Ok(found.map_or(Answer::Null, |(start, end)| Answer::Slice(start, end)))
    },
    ..Function::BASE
};
