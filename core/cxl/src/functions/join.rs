//! `join`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "join",
    receiver: Kinds::ARRAY,
    params: &[Param::new("sep", Kinds::TEXT)],
    result: ResultType::Fixed(Base::String),
    doc: "The text forms of the elements of an array with `sep` between them. A null element is empty.",
    examples: &[
        (r#"[2031, 8].join("-")"#, r#""2031-8""#),
        (r#"["q", "r"].join("")"#, r#""qr""#),
        (r#"[1, null].join("/")"#, r#""1/""#),
    ],
    call: |_, cells, out| {
        let (Cell::Array(items), Cell::Text(sep)) = (cells[0], cells[1]) else { return Ok(Answer::Null) };
        for (index, item) in items.iter().enumerate() {
            out.push_str(if index > 0 { sep } else { "" });
            Cell::of(item).append_text(out);
            check_text(out.len())?;
        }
        Ok(Answer::Text)
    },
    ..Function::BASE
};
