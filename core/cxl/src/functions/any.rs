//! `any`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "any",
    receiver: Kinds::ARRAY,
    result: ResultType::Fixed(Base::Bool),
    closure: Some(ClosureMethod::Any),
    doc: "Whether the closure is true for some element; it is not evaluated for those behind the first.",
    examples: &[(r#"[5, 8].any(it => it > 6)"#, r#"true"#), (r#"[].any(it => true)"#, r#"false"#)],
    ..Function::BASE
};
