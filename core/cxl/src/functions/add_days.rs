//! `add_days`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "add_days",
    receiver: Kinds::DATE,
    params: &[Param::new("n", Kinds::INT)],
    result: ResultType::Receiver,
    doc: "The date `n` days later, or earlier, at the same time of day; null outside the years 1 to 9999.",
    examples: &[(r#"#2031-02-27#.add_days(3)"#, r#"2031-03-02"#), (r#"#9999-12-31#.add_days(1)"#, r#"null"#)],
    call: |_, cells, _| match cells[1] {
        Cell::Int(n) => Ok(moved(cells[0], |day| add_days(day, n))),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
