//! `set`.

use super::path;
use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "set",
    receiver: Kinds::MAP,
    params: &[Param::new("path", Kinds::TEXT), Param::new("v", Kinds::ANY)],
    result: ResultType::Fixed(Base::Map),
    doc: "The map with the value at a path such as `a.b[0]` replaced or added. Missing maps on the way are made. The result is null when the path is malformed, meets a value of another kind, or leads past the end of an array.",
    examples: &[
        (r#"{a: 1}.set("b", 2)"#, r#"{a: 1, b: 2}"#),
        (r#"{}.set("a.b", 7)"#, r#"{a: {b: 7}}"#),
        (r#"{q: [1, 2]}.set("q[1]", 5)"#, r#"{q: [1, 5]}"#),
        (r#"{q: 3}.set("q.r", 5)"#, r#"null"#),
        (r#"{q: 3}.set("q", null)"#, r#"{q: null}"#),
    ],
    call: |call, cells, _| {
        let (Cell::Map(entries), Cell::Text(path)) = (cells[0], cells[1]) else { return Ok(Answer::Null) };
        let Some(steps) = path::steps(path) else { return Ok(Answer::Null) };
        let mut map = Value::Map(entries.to_vec());
        let done = path::set(&mut map, &steps, || cells[2].to_value());
        Ok(if done { call.build(map) } else { Answer::Null })
    },
    sees_any_argument: true,
    ..Function::BASE
};
