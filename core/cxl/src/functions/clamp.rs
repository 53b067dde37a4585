//! `clamp`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "clamp",
    receiver: Kinds::NUMBER,
    params: &[Param::new("lo", Kinds::NUMBER), Param::new("hi", Kinds::NUMBER)],
    result: ResultType::Join,
    doc: "The number if it lies between the bounds, else the bound; `lo` is tested first.",
    examples: &[(r#"230.clamp(0, 200)"#, r#"200"#), (r#"(-1).clamp(0.5, 2)"#, r#"0.5"#)],
    call: |_, cells, _| {
        let Some(numbers) = joined(cells) else { return Ok(Answer::Null) };
        let (value, lo, hi) = (numbers.get(0), numbers.get(1), numbers.get(2));
        Ok(if less(value, lo) {
            lo
        } else if less(hi, value) {
            hi
        } else {
            value
        })
    },
    ..Function::BASE
};
