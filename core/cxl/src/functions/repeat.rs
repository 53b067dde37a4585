//! `repeat`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "repeat",
    receiver: Kinds::TEXT,
    params: &[Param::new("n", Kinds::INT)],
    result: ResultType::Fixed(Base::String),
    doc: "The text `n` times.",
    examples: &[(r#""xo".repeat(2)"#, r#""xoxo""#), (r#""xo".repeat(0)"#, r#""""#), (r#""xo".repeat(-1)"#, r#"null"#)],
    call: |_, cells, out| match (cells[0], cells[1]) {
        (Cell::Text(text), Cell::Int(n)) if n >= 0 => {
            check_text(usize::try_from(n).unwrap_or(usize::MAX).saturating_mul(text.len()))?;
            if !text.is_empty() {
                (0..n).for_each(|_| out.push_str(text));
            }
            Ok(Answer::Text)
        }
        _ => Ok(Answer::Null),
    },
    ..Function::BASE
};
