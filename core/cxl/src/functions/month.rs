//! `month`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "month",
    receiver: Kinds::DATE,
    result: ResultType::Fixed(Base::Int),
    doc: "The month, 1 to 12.",
    examples: &[(r#"#2031-08-09#.month()"#, r#"8"#)],
    call: |_, cells, _| Ok(day_of(cells[0]).map_or(Answer::Null, |day| Answer::Int(i64::from(civil(day).month)))),
    ..Function::BASE
};
