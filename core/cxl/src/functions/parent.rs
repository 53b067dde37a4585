//! `parent`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "parent",
    receiver: Kinds::TEXT,
    result: ResultType::Fixed(Base::String),
    doc: "The path without its last component: the empty text for a lone name, `/` for a name under the root, null for the root and the empty text.",
    examples: &[
        (r#""/in/may/grid.csv".parent()"#, r#""/in/may""#),
        (r#""a".parent()"#, r#""""#),
        (r#""/a".parent()"#, r#""/""#),
        (r#""/".parent()"#, r#"null"#),
    ],
    call: |_, cells, _| {
        let Cell::Text(text) = cells[0] else { return Ok(Answer::Null) };
        let found = parent(text);
        Ok(found.map_or(Answer::Null, |(start, end)| Answer::Slice(start, end)))
    },
    ..Function::BASE
};
