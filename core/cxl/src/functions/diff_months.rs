//! `diff_months`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "diff_months",
    receiver: Kinds::DATE,
    params: &[Param::new("other", Kinds::DATE)],
    result: ResultType::Fixed(Base::Int),
    doc: "Whole months from `other` to the receiver: the most that can be added to `other` without passing the receiver, or the negated converse.",
    examples: &[
        (r#"#2028-02-29#.diff_months(#2028-01-31#)"#, r#"1"#),
        (r#"#2031-01-01#.diff_months(#2031-03-15#)"#, r#"-2"#),
    ],
    call: |_, cells, _| match (day_of(cells[0]), day_of(cells[1])) {
        (Some(day), Some(other)) => Ok(Answer::Int(diff_months(day, other))),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
