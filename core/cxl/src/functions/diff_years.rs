//! `diff_years`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "diff_years",
    receiver: Kinds::DATE,
    params: &[Param::new("other", Kinds::DATE)],
    result: ResultType::Fixed(Base::Int),
    doc: "The months of `diff_months` divided by 12, truncated toward zero.",
    examples: &[(r#"#2031-01-01#.diff_years(#2028-01-02#)"#, r#"2"#)],
    call: |_, cells, _| match (day_of(cells[0]), day_of(cells[1])) {
        (Some(day), Some(other)) => Ok(Answer::Int(diff_months(day, other) / 12)),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
