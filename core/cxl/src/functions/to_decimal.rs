//! `to_decimal`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "to_decimal",
    receiver: Kinds::ANY,
    result: ResultType::Fixed(Base::Decimal),
    doc: "Converts a Decimal; an Int; a Float by its exact value; text of a number with optional sign, fraction and exponent. Everything else fails.",
    examples: &[
        (r#""3.10".to_decimal()"#, r#"3.10"#),
        (r#""1.10e1".to_decimal()"#, r#"11.0"#),
        (r#"0.5.to_decimal()"#, r#"0.5"#),
        (r#"0.1.to_decimal()"#, r#"0.1000000000000000055511151231"#),
    ],
    call: |_, cells, _| to_decimal(cells[0]).ok_or_else(|| faults::conversion(cells[0], "Decimal")),
    ..Function::BASE
};
