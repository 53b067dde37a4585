//! `catch`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "catch",
    receiver: Kinds::ANY,
    params: &[Param::new("fallback", Kinds::ANY)],
    result: ResultType::Receiver,
    doc: "As `??`: the fallback where the receiver is null or its arithmetic fails. The fallback is evaluated only then.",
    examples: &[(r#"null.catch(8)"#, r#"8"#), (r#"(1 % 0).catch(3)"#, r#"3"#)],
    call: |_, cells, _| {
        let missing = matches!(cells[0], Cell::Null);
        Ok(Answer::Operand(usize::from(missing)))
    },
    sees_null: true,
    sees_any_argument: true,
    ..Function::BASE
};
