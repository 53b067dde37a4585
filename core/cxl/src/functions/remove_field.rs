//! `remove_field`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "remove_field",
    receiver: Kinds::MAP,
    params: &[Param::new("key", Kinds::TEXT)],
    result: ResultType::Fixed(Base::Map),
    doc: "The map without the entry of exactly that key, which is not a path.",
    examples: &[(r#"{a: 1, b: 2}.remove_field("a")"#, r#"{b: 2}"#), (r#"{a: 1}.remove_field("z")"#, r#"{a: 1}"#)],
    call: |call, cells, _| {
        let (Cell::Map(entries), Cell::Text(key)) = (cells[0], cells[1]) else { return Ok(Answer::Null) };
        Ok(call.build(Value::Map(entries.iter().filter(|(own, _)| &**own != key).cloned().collect())))
    },
    ..Function::BASE
};
