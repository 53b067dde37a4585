//! `substring`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "substring",
    receiver: Kinds::TEXT,
    params: &[Param::new("start", Kinds::INT), Param::optional("len", Kinds::INT)],
    result: ResultType::Fixed(Base::String),
    doc: "The characters from the 0-based position `start`, at most `len` of them if given. Beyond the end there are none; a negative position or length yields null.",
    examples: &[
        (r#""turbine".substring(3, 2)"#, r#""bi""#),
        (r#""turbine".substring(3)"#, r#""bine""#),
        (r#""turbine".substring(9)"#, r#""""#),
        (r#""turbine".substring(-1)"#, r#"null"#),
    ],
    call: |_, cells, _| {
        let (Cell::Text(text), Cell::Int(start)) = (cells[0], cells[1]) else { return Ok(Answer::Null) };
        let len = match cells.get(2) {
            None => i64::MAX,
            Some(Cell::Int(len)) => *len,
            Some(_) => return Ok(Answer::Null),
        };
        if start < 0 || len < 0 {
            return Ok(Answer::Null);
        }
        let from = char_offset(text, start);
        Ok(Answer::Slice(from, from + char_offset(&text[from..], len)))
    },
    ..Function::BASE
};
