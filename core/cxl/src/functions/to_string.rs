//! `to_string`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "to_string",
    receiver: Kinds::ANY,
    result: ResultType::Fixed(Base::String),
    doc: "The text form of the value.",
    examples: &[
        (r#"12.5.to_string()"#, r#""12.5""#),
        (r#"61.0.to_string()"#, r#""61""#),
        (r#""7.10".to_decimal().to_string()"#, r#""7.10""#),
        (r#"#2031-08-09#.to_string()"#, r#""2031-08-09""#),
    ],
    call: |_, cells, out| text_form(cells[0], out),
    ..Function::BASE
};
