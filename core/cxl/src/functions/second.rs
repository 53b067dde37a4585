//! `second`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "second",
    receiver: Kinds::DATE,
    result: ResultType::Fixed(Base::Int),
    doc: "The second, 0 to 59; null for a Date.",
    examples: &[(r#""2031-08-09T06:05:04".to_datetime().second()"#, r#"4"#), (r#"#2031-08-09#.second()"#, r#"null"#)],
    call: |_, cells, _| match cells[0] {
        Cell::DateTime(nanos) => Ok(Answer::Int(i64::from(clock(nanos).second))),
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
