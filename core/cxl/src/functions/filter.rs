//! `filter`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "filter",
    receiver: Kinds::ARRAY,
    result: ResultType::Fixed(Base::Array),
    closure: Some(ClosureMethod::Filter),
    doc: "The elements for which the closure is true.",
    examples: &[(r#"[5, 8, 2].filter(it => it > 4)"#, r#"[5, 8]"#), (r#"[5, null].filter(it => it > 4)"#, r#"[5]"#)],
    ..Function::BASE
};
