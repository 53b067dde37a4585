//! `max`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "max",
    receiver: Kinds::NUMBER,
    params: &[Param::new("other", Kinds::NUMBER)],
    result: ResultType::Join,
    doc: "The receiver if it is larger, otherwise the argument.",
    examples: &[(r#"9.max(4)"#, r#"9"#), (r#"1.max(0.5)"#, r#"1.0"#)],
    call: |_, cells, _| {
        let Some(numbers) = joined(cells) else { return Ok(Answer::Null) };
        let (value, other) = (numbers.get(0), numbers.get(1));
        Ok(if less(other, value) { value } else { other })
    },
    ..Function::BASE
};
