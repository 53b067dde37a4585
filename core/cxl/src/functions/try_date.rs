//! `try_date`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "try_date",
    receiver: Kinds::ANY,
    params: &[Param::optional("fmt", Kinds::TEXT)],
    result: ResultType::Fixed(Base::Date),
    doc: "As `to_date`, with null for what it refuses.",
    examples: &[(r#""soon".try_date()"#, r#"null"#), (r#""2031-02-29".try_date()"#, r#"null"#)],
    call: |call, cells, _| Ok(to_date(call, cells).unwrap_or(Answer::Null)),
    prepares: Some((Prepare::DateFormat, 0)),
    ..Function::BASE
};
