//! `split`.

use super::prelude::*;
use crate::eval::SLOT;

pub(super) static FUNCTION: Function = Function {
    name: "split",
    receiver: Kinds::TEXT,
    params: &[Param::new("sep", Kinds::TEXT)],
    result: ResultType::Fixed(Base::Array),
    doc: "The parts of the text between the occurrences of `sep`. An empty `sep` gives each character, between two empty texts.",
    examples: &[
        (r#""p;q;;r".split(";")"#, r#"["p", "q", "", "r"]"#),
        (r#""".split(";")"#, r#"[""]"#),
        (r#""ab".split("")"#, r#"["", "a", "b", ""]"#),
        (r#""".split("")"#, r#"["", ""]"#),
    ],
    call: |call, cells, _| {
        let (Cell::Text(text), Cell::Text(sep)) = (cells[0], cells[1]) else { return Ok(Answer::Null) };
        // The parts are counted first: a small text may have many.
        check_built(text.len() + SLOT * (text.matches(sep).count() + 1))?;
        Ok(call.build(Value::Array(text.split(sep).map(|part| Value::String(part.into())).collect())))
    },
    ..Function::BASE
};
