//! `unset`.

use super::path;
use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "unset",
    receiver: Kinds::MAP,
    params: &[Param::new("path", Kinds::TEXT)],
    result: ResultType::Fixed(Base::Map),
    doc: "The map without the entry or element at a path such as `a.b[0]`. A path that leads nowhere changes nothing.",
    examples: &[
        (r#"{a: {x: 1, y: 2}}.unset("a.x")"#, r#"{a: {y: 2}}"#),
        (r#"{q: [1, 2]}.unset("q[0]")"#, r#"{q: [2]}"#),
        (r#"{q: 3}.unset("q.r")"#, r#"{q: 3}"#),
    ],
    call: |call, cells, _| {
        let (Cell::Map(entries), Cell::Text(path)) = (cells[0], cells[1]) else { return Ok(Answer::Null) };
        let mut map = Value::Map(entries.to_vec());
        if let Some(steps) = path::steps(path) {
            path::unset(&mut map, &steps);
        }
        Ok(call.build(map))
    },
    ..Function::BASE
};
