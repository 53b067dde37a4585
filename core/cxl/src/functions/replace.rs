//! `replace`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "replace",
    receiver: Kinds::TEXT,
    params: &[Param::new("from", Kinds::TEXT), Param::new("to", Kinds::TEXT)],
    result: ResultType::Fixed(Base::String),
    doc: "Every occurrence of `from` replaced by `to`, from left to right. An empty `from` inserts `to` before every character and at the end.",
    examples: &[(r#""1-2-3".replace("-", "")"#, r#""123""#), (r#""ab".replace("", ".")"#, r#"".a.b.""#)],
    call: |_, cells, out| {
        let (Cell::Text(text), Cell::Text(from), Cell::Text(to)) = (cells[0], cells[1], cells[2]) else {
            return Ok(Answer::Null);
        };
        // The result is measured first: a replacement may multiply the text.
        let count = text.matches(from).count();
        check_text(text.len() - count * from.len() + count.saturating_mul(to.len()))?;
        if count == 0 {
            return Ok(Answer::Operand(0));
        }
        let mut rest = 0;
        for (at, _) in text.match_indices(from) {
            out.push_str(&text[rest..at]);
            out.push_str(to);
            rest = at + from.len();
        }
        out.push_str(&text[rest..]);
        Ok(Answer::Text)
    },
    ..Function::BASE
};
