//! `keys`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "keys",
    receiver: Kinds::MAP,
    result: ResultType::Fixed(Base::Array),
    doc: "The keys of the map, in its order.",
    examples: &[(r#"{a: 1, b: 2}.keys()"#, r#"["a", "b"]"#)],
    call: |call, cells, _| {
        let Cell::Map(entries) = cells[0] else { return Ok(Answer::Null) };
        Ok(call.build(Value::Array(entries.iter().map(|(key, _)| Value::String(key.clone())).collect())))
    },
    ..Function::BASE
};
