//! `map`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "map",
    receiver: Kinds::ARRAY,
    result: ResultType::Fixed(Base::Array),
    closure: Some(ClosureMethod::Map),
    doc: "The result of the closure for each element.",
    examples: &[(r#"[5, 8].map(it => it * 10)"#, r#"[50, 80]"#)],
    ..Function::BASE
};
