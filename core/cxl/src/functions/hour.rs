//! `hour`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "hour",
    receiver: Kinds::DATE,
    result: ResultType::Fixed(Base::Int),
    doc: "The hour, 0 to 23; null for a Date.",
    examples: &[(r#""2031-08-09T06:05:04".to_datetime().hour()"#, r#"6"#)],
    call: |_, cells, _| match cells[0] {
        Cell::DateTime(nanos) => Ok(Answer::Int(i64::from(clock(nanos).hour))),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
