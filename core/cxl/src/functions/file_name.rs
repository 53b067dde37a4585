//! `file_name`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "file_name",
    receiver: Kinds::TEXT,
    result: ResultType::Fixed(Base::String),
    doc: "The last component of a path; null for none, `.` and `..`.",
    examples: &[(r#""/in/may/grid.tar.gz".file_name()"#, r#""grid.tar.gz""#), (r#""/".file_name()"#, r#"null"#)],
    call: |_, cells, _| {
        let Cell::Text(text) = cells[0] else { return Ok(Answer::Null) };
        let found = file_name(text);
        Ok(found.map_or(Answer::Null, |(start, end)| Answer::Slice(start, end)))
    },
    ..Function::BASE
};
