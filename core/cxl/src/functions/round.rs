//! `round`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "round",
    receiver: Kinds::NUMBER,
    params: &[Param::optional("n", Kinds::INT)],
    result: ResultType::Rounded,
    doc: "The number at `n` decimal places, 0 unless given. A Float or an Int is rounded half away from zero in binary64, a negative `n` rounds to tens and hundreds; a Decimal is rounded half to even and is unchanged when it has no more places.",
    examples: &[
        (r#"7.125.round(2)"#, r#"7.13"#),
        (r#"5.round()"#, r#"5.0"#),
        (r#"1287.round(-2)"#, r#"1300.0"#),
        (r#""7.125".to_decimal().round(2)"#, r#"7.12"#),
    ],
    call: |_, cells, _| {
        let places = cells.get(1).copied().unwrap_or(Cell::Int(0));
        Ok(round(cells[0], places))
    },
    ..Function::BASE
};
