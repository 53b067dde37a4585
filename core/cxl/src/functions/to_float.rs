//! `to_float`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "to_float",
    receiver: Kinds::ANY,
    result: ResultType::Fixed(Base::Float),
    doc: "Converts a Float; an Int; a Decimal; text of a number with optional sign, fraction and exponent, or `inf`, `infinity`, `nan` in any case. Everything else fails.",
    examples: &[(r#""1e3".to_float()"#, r#"1000.0"#), (r#"42.to_float()"#, r#"42.0"#)],
    call: |_, cells, _| to_float(cells[0]).ok_or_else(|| faults::conversion(cells[0], "Float")),
    ..Function::BASE
};
