//! `add_years`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "add_years",
    receiver: Kinds::DATE,
    params: &[Param::new("n", Kinds::INT)],
    result: ResultType::Receiver,
    doc: "As `add_months` with twelve times `n`.",
    examples: &[(r#"#2028-02-29#.add_years(1)"#, r#"2029-02-28"#)],
    call: |_, cells, _| match cells[1] {
        Cell::Int(n) => Ok(moved(cells[0], |day| add_months(day, n.checked_mul(12)?))),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
