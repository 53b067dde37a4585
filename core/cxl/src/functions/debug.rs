//! `debug`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "debug",
    receiver: Kinds::ANY,
    params: &[Param::optional("label", Kinds::TEXT)],
    result: ResultType::Receiver,
    doc: "The value itself, which is logged at the level `trace` behind its label. It may stand in the program of a Transform only.",
    examples: &[(r#"5.debug("n") + 1"#, r#"6"#), (r#"null.debug()"#, r#"null"#)],
    call: |_, _, _| Ok(Answer::Operand(0)),
    sees_null: true,
    ..Function::BASE
};
