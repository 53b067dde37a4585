//! `to_int`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "to_int",
    receiver: Kinds::ANY,
    result: ResultType::Fixed(Base::Int),
    doc: "Converts an Int; a Float or Decimal truncated toward zero if in range; a Bool as 1 or 0; text of digits with an optional sign. Everything else fails.",
    examples: &[
        (r#"6.9.to_int()"#, r#"6"#),
        (r#""6.9".to_int()"#, r#"✗ conversion_failed"#),
        (r#"true.to_int()"#, r#"1"#),
    ],
    call: |_, cells, _| to_int(cells[0]).ok_or_else(|| faults::conversion(cells[0], "Int")),
    ..Function::BASE
};
