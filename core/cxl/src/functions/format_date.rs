//! `format_date`.

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "format_date",
    receiver: Kinds::DATE,
    params: &[Param::new("fmt", Kinds::TEXT)],
    result: ResultType::Fixed(Base::String),
    doc: "The date in a `%` format; a Date counts as midnight.",
    examples: &[
        (r#"#2031-08-09#.format_date("%d %b %Y")"#, r#""09 Aug 2031""#),
        (r#""2031-08-09T06:05:04".to_datetime().format_date("%I:%M %p")"#, r#""06:05 AM""#),
        (r#"#2031-08-09#.format_date("%G-W%V")"#, r#""2031-W32""#),
        (r#""2031-08-09T06:05:04.5".to_datetime().format_date("%S%.f|%6f")"#, r#""04.500|500000""#),
    ],
    call: |call, cells, out| {
        let Cell::Text(format) = cells[1] else { return Ok(Answer::Null) };
        let compiled = call.date_format(format).map_err(|_| faults::conversion(cells[1], "date format"))?;
        match cells[0] {
            Cell::Date(day) => compiled.format_date(day, out),
            Cell::DateTime(nanos) => compiled.format(nanos, out),
            _ => return Ok(Answer::Null),
        }
        check_text(out.len())?;
        Ok(Answer::Text)
    },
    prepares: Some((Prepare::DateFormat, 0)),
    ..Function::BASE
};
