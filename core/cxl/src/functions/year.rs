//! `year`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "year",
    receiver: Kinds::DATE,
    result: ResultType::Fixed(Base::Int),
    doc: "The year.",
    examples: &[(r#"#2031-08-09#.year()"#, r#"2031"#)],
    call: |_, cells, _| Ok(day_of(cells[0]).map_or(Answer::Null, |day| Answer::Int(i64::from(civil(day).year)))),
    ..Function::BASE
};
