//! `to_date`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "to_date",
    receiver: Kinds::ANY,
    params: &[Param::optional("fmt", Kinds::TEXT)],
    result: ResultType::Fixed(Base::Date),
    doc: "Converts a Date; a DateTime, its day; text in the format given, or as `YYYY-MM-DD`. Everything else fails.",
    examples: &[
        (r#""09.08.2031".to_date("%d.%m.%Y")"#, r#"2031-08-09"#),
        (r#""9 aug 31".to_date("%d %b %y")"#, r#"2031-08-09"#),
        (r#""2031- 8-9".to_date("%Y-%m-%d")"#, r#"2031-08-09"#),
    ],
    call: |call, cells, _| to_date(call, cells).ok_or_else(|| faults::conversion(cells[0], "Date")),
    prepares: Some((Prepare::DateFormat, 0)),
    ..Function::BASE
};
