//! `format`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "format",
    receiver: Kinds::ANY,
    params: &[Param::new("fmt", Kinds::TEXT)],
    result: ResultType::Fixed(Base::String),
    doc: "The text form of the value. `fmt` is reserved and has no effect.",
    examples: &[(r#"true.format("")"#, r#""true""#)],
    call: |_, cells, out| text_form(cells[0], out),
    ..Function::BASE
};
