//! `day`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "day",
    receiver: Kinds::DATE,
    result: ResultType::Fixed(Base::Int),
    doc: "The day of the month, 1 to 31.",
    examples: &[(r#"#2031-08-09#.day()"#, r#"9"#)],
    call: |_, cells, _| Ok(day_of(cells[0]).map_or(Answer::Null, |day| Answer::Int(i64::from(civil(day).day)))),
    ..Function::BASE
};
