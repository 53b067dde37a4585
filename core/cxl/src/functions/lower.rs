//! `lower`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "lower",
    receiver: Kinds::TEXT,
    result: ResultType::Fixed(Base::String),
    doc: "The text in lower case, by the full Unicode default mapping and no locale.",
    examples: &[(r#""ÅNGA".lower()"#, r#""ånga""#), (r#""KX-19".lower()"#, r#""kx-19""#)],
    call: |_, cells, out| {
        let Cell::Text(text) = cells[0] else { return Ok(Answer::Null) };
        if text.is_ascii() {
            out.push_str(text);
            out.make_ascii_lowercase();
        } else {
            out.push_str(&text.to_lowercase());
            check_text(out.len())?;
        }
        Ok(Answer::Text)
    },
    kernel: Some(|array| map_case(array, |bytes| bytes.make_ascii_lowercase(), |text| text.to_lowercase())),
    ..Function::BASE
};
