//! `parent_name`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "parent_name",
    receiver: Kinds::TEXT,
    result: ResultType::Fixed(Base::String),
    doc: "The file name of the parent of a path.",
    examples: &[(r#""/in/may/grid.csv".parent_name()"#, r#""may""#), (r#""grid.csv".parent_name()"#, r#"null"#)],
    call: |_, cells, _| {
        let Cell::Text(text) = cells[0] else { return Ok(Answer::Null) };
        let found = parent(text).and_then(|(start, end)| file_name(&text[start..end]));
        Ok(found.map_or(Answer::Null, |(start, end)| Answer::Slice(start, end)))
    },
    ..Function::BASE
};
