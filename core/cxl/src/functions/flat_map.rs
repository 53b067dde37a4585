//! `flat_map`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "flat_map",
    receiver: Kinds::ARRAY,
    result: ResultType::Fixed(Base::Array),
    closure: Some(ClosureMethod::FlatMap),
    doc: "The results of the closure for each element, an array giving its elements one by one and null nothing.",
    examples: &[
        (r#"[1, 2].flat_map(it => [it, it])"#, r#"[1, 1, 2, 2]"#),
        (r#"[1, null, 2].flat_map(it => it)"#, r#"[1, 2]"#),
    ],
    ..Function::BASE
};
