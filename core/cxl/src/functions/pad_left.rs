//! `pad_left`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "pad_left",
    receiver: Kinds::TEXT,
    params: &[Param::new("width", Kinds::INT), Param::optional("pad", Kinds::TEXT)],
    result: ResultType::Fixed(Base::String),
    doc: "The text filled up on the left to `width` characters with the first character of `pad`, a space without one. A text that is as wide is unchanged.",
    examples: &[
        (r#""93".pad_left(5, "0")"#, r#""00093""#),
        (r#""93".pad_left(4)"#, r#""  93""#),
        (r#""93".pad_left(1)"#, r#""93""#),
    ],
    call: |_, cells, out| {
        let Some((text, fill, missing)) = padding(cells)? else { return Ok(Answer::Null) };
        if missing == 0 {
            return Ok(Answer::Operand(0));
        }
        out.extend(std::iter::repeat_n(fill, missing));
        out.push_str(text);
        Ok(Answer::Text)
    },
    ..Function::BASE
};
