//! `to_bool`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "to_bool",
    receiver: Kinds::ANY,
    result: ResultType::Fixed(Base::Bool),
    doc: "Converts a Bool; an Int, 0 being false; the texts `true`, `1`, `yes`, `false`, `0`, `no` in any case. Everything else fails.",
    examples: &[
        (r#""Yes".to_bool()"#, r#"true"#),
        (r#"2.to_bool()"#, r#"true"#),
        (r#""on".to_bool()"#, r#"✗ conversion_failed"#),
    ],
    call: |_, cells, _| to_bool(cells[0]).ok_or_else(|| faults::conversion(cells[0], "Bool")),
    ..Function::BASE
};
