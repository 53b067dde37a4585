//! `values`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "values",
    receiver: Kinds::MAP,
    result: ResultType::Fixed(Base::Array),
    doc: "The values of the map, in its order.",
    examples: &[(r#"{a: 1, b: null}.values()"#, r#"[1, null]"#)],
    call: |call, cells, _| {
        let Cell::Map(entries) = cells[0] else { return Ok(Answer::Null) };
        Ok(call.build(Value::Array(entries.iter().map(|(_, value)| value.clone()).collect())))
    },
    ..Function::BASE
};
