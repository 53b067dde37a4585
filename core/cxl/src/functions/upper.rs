//! `upper`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "upper",
    receiver: Kinds::TEXT,
    result: ResultType::Fixed(Base::String),
    doc: "The text in upper case, by the full Unicode default mapping and no locale.",
    examples: &[(r#""straße".upper()"#, r#""STRASSE""#), (r#""Hof 3".upper()"#, r#""HOF 3""#)],
    call: |_, cells, out| {
        let Cell::Text(text) = cells[0] else { return Ok(Answer::Null) };
        if text.is_ascii() {
            out.push_str(text);
            out.make_ascii_uppercase();
        } else {
            out.push_str(&text.to_uppercase());
            check_text(out.len())?;
        }
        Ok(Answer::Text)
    },
    kernel: Some(|array| map_case(array, |bytes| bytes.make_ascii_uppercase(), |text| text.to_uppercase())),
    ..Function::BASE
};
