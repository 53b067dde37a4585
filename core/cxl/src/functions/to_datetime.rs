//! `to_datetime`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "to_datetime",
    receiver: Kinds::ANY,
    params: &[Param::optional("fmt", Kinds::TEXT)],
    result: ResultType::Fixed(Base::DateTime),
    doc: "Converts a DateTime; a Date, at midnight; text in the format given, or as `YYYY-MM-DDTHH:MM:SS` with 1 to 9 fraction digits or none. Everything else fails.",
    examples: &[
        (r#""2031-08-09T06:05:00".to_datetime()"#, r#"2031-08-09T06:05:00"#),
        (r#"#2031-08-09#.to_datetime()"#, r#"2031-08-09T00:00:00"#),
    ],
    call: |call, cells, _| to_datetime(call, cells).ok_or_else(|| faults::conversion(cells[0], "DateTime")),
    prepares: Some((Prepare::DateFormat, 0)),
    ..Function::BASE
};
