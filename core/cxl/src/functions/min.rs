//! `min`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "min",
    receiver: Kinds::NUMBER,
    params: &[Param::new("other", Kinds::NUMBER)],
    result: ResultType::Join,
    doc: "The receiver if it is smaller, otherwise the argument.",
    examples: &[(r#"9.min(4)"#, r#"4"#), (r#"1.min(2.5)"#, r#"1.0"#)],
    call: |_, cells, _| {
        let Some(numbers) = joined(cells) else { return Ok(Answer::Null) };
        let (value, other) = (numbers.get(0), numbers.get(1));
        Ok(if less(value, other) { value } else { other })
    },
    ..Function::BASE
};
