//! `right`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "right",
    receiver: Kinds::TEXT,
    params: &[Param::new("n", Kinds::INT)],
    result: ResultType::Fixed(Base::String),
    doc: "The last characters of the text, at most `n`.",
    examples: &[(r#""turbine".right(3)"#, r#""ine""#), (r#""ab".right(9)"#, r#""ab""#), (r#""ab".right(0)"#, r#""""#)],
    call: |_, cells, _| match (cells[0], cells[1]) {
        (Cell::Text(text), Cell::Int(n)) if n >= 0 => {
            let dropped = (text.chars().count() as i64).saturating_sub(n);
            Ok(Answer::Slice(char_offset(text, dropped), text.len()))
        }
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
