//! `pad_right`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "pad_right",
    receiver: Kinds::TEXT,
    params: &[Param::new("width", Kinds::INT), Param::optional("pad", Kinds::TEXT)],
    result: ResultType::Fixed(Base::String),
    doc: "The text filled up on the right to `width` characters with the first character of `pad`, a space without one. A text that is as wide is unchanged.",
    examples: &[(r#""93".pad_right(4, ".")"#, r#""93..""#)],
    call: |_, cells, out| {
        let Some((text, fill, missing)) = padding(cells)? else { return Ok(Answer::Null) };
        if missing == 0 {
            return Ok(Answer::Operand(0));
        }
        out.push_str(text);
        out.extend(std::iter::repeat_n(fill, missing));
        Ok(Answer::Text)
    },
    ..Function::BASE
};
