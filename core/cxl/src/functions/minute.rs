//! `minute`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "minute",
    receiver: Kinds::DATE,
    result: ResultType::Fixed(Base::Int),
    doc: "The minute, 0 to 59; null for a Date.",
    examples: &[(r#""2031-08-09T06:05:04".to_datetime().minute()"#, r#"5"#)],
    call: |_, cells, _| match cells[0] {
        Cell::DateTime(nanos) => Ok(Answer::Int(i64::from(clock(nanos).minute))),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
