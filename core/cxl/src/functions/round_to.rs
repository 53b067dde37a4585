//! `round_to`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "round_to",
    receiver: Kinds::NUMBER,
    params: &[Param::new("n", Kinds::INT)],
    result: ResultType::Rounded,
    doc: "As `round`, with the number of places required.",
    examples: &[(r#"8.6543.round_to(2)"#, r#"8.65"#)],
    call: |_, cells, _| Ok(round(cells[0], cells[1])),
    ..Function::BASE
};
