//! `concat`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "concat",
    receiver: Kinds::TEXT,
    params: &[Param::new("s", Kinds::TEXT)],
    result: ResultType::Fixed(Base::String),
    doc: "The text followed by all arguments. A null argument counts as the empty text.",
    examples: &[(r#""bin".concat("-", null, "4")"#, r#""bin-4""#)],
    call: |_, cells, out| {
        for cell in cells {
            cell.append_text(out);
            check_text(out.len())?;
        }
        Ok(Answer::Text)
    },
    variadic: true,
    sees_any_argument: true,
    ..Function::BASE
};
