//! `add_months`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "add_months",
    receiver: Kinds::DATE,
    params: &[Param::new("n", Kinds::INT)],
    result: ResultType::Receiver,
    doc: "The date `n` months later, or earlier, the day clamped to the last of its month; null outside the years 1 to 9999.",
    examples: &[(r#"#2031-10-31#.add_months(-1)"#, r#"2031-09-30"#)],
    call: |_, cells, _| match cells[1] {
        Cell::Int(n) => Ok(moved(cells[0], |day| add_months(day, n))),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
