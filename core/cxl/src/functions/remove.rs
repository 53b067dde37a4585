//! `remove`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "remove",
    receiver: Kinds::ARRAY,
    params: &[Param::new("i", Kinds::INT)],
    result: ResultType::Fixed(Base::Array),
    doc: "The array without the element at position `i`, the first one being 0. A position outside changes nothing.",
    examples: &[
        (r#"["a", "b", "c"].remove(1)"#, r#"["a", "c"]"#),
        (r#"["a"].remove(-1)"#, r#"["a"]"#),
        (r#"["a"].remove(1)"#, r#"["a"]"#),
    ],
    call: |call, cells, _| {
        let (Cell::Array(items), Cell::Int(index)) = (cells[0], cells[1]) else { return Ok(Answer::Null) };
        let mut items = items.to_vec();
        if let Some(index) = usize::try_from(index).ok().filter(|&index| index < items.len()) {
            items.remove(index);
        }
        Ok(call.build(Value::Array(items)))
    },
    ..Function::BASE
};
