//! `capture`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "capture",
    receiver: Kinds::TEXT,
    params: &[Param::new("pattern", Kinds::TEXT), Param::optional("group", Kinds::INT)],
    result: ResultType::Fixed(Base::String),
    doc: "The first match of the regular expression, or its group of that number. Null without a match, without such a group, or when the group took no part.",
    examples: &[
        (r#""W44-6".capture("W(\d+)", 1)"#, r#""44""#),
        (r#""W44-6".capture("\d")"#, r#""4""#),
        (r#""W".capture("W(x)?", 1)"#, r#"null"#),
    ],
    call: |call, cells, _| {
        let (Cell::Text(text), Cell::Text(pattern)) = (cells[0], cells[1]) else { return Ok(Answer::Null) };
        let group = match cells.get(2) {
            None => 0,
            Some(Cell::Int(group)) => *group,
            Some(_) => return Ok(Answer::Null),
        };
        let regex = call.pattern(pattern)?;
        let Ok(group) = usize::try_from(group) else { return Ok(Answer::Null) };
        let found = regex.captures(text).and_then(|captures| captures.get(group));
        Ok(found.map_or(Answer::Null, |found| Answer::Slice(found.start(), found.end())))
    },
    prepares: Some((Prepare::Search, 0)),
    ..Function::BASE
};
