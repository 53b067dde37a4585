//! `diff_days`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "diff_days",
    receiver: Kinds::DATE,
    params: &[Param::new("other", Kinds::DATE)],
    result: ResultType::Fixed(Base::Int),
    doc: "Calendar days from `other` to the receiver; times of day are ignored.",
    examples: &[(r#"#2031-03-01#.diff_days(#2031-01-15#)"#, r#"45"#)],
    call: |_, cells, _| match (day_of(cells[0]), day_of(cells[1])) {
        (Some(day), Some(other)) => Ok(Answer::Int(i64::from(day) - i64::from(other))),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
