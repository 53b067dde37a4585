//! What several functions share.

use arrow_array::{Array, StringViewArray};
use clinker_record::Decimal;
use clinker_record::datetime::{date_of, midnight, parse_iso_date, parse_iso_date_time};

use super::function::{Answer, Call};
use crate::eval::{Cell, TextBuilder, check_text};
use crate::outcome::EvalError;

/// The byte offset after `n` characters, or the end.
pub(super) fn char_offset(text: &str, n: i64) -> usize {
    let Ok(n) = usize::try_from(n) else { return if n < 0 { 0 } else { text.len() } };
    if n >= text.len() {
        return text.len();
    }
    if text.is_ascii() {
        return n;
    }
    text.char_indices().nth(n).map_or(text.len(), |(offset, _)| offset)
}

/// Text, fill character and number of missing characters of a padding; nothing when the result is null.
pub(super) fn padding<'a>(cells: &[Cell<'a>]) -> Result<Option<(&'a str, char, usize)>, EvalError> {
    let (Cell::Text(text), Cell::Int(width)) = (cells[0], cells[1]) else { return Ok(None) };
    let fill = match cells.get(2) {
        None => ' ',
        Some(Cell::Text(pad)) => pad.chars().next().unwrap_or(' '),
        Some(_) => return Ok(None),
    };
    let Ok(width) = usize::try_from(width) else { return Ok(None) };
    let missing = width.saturating_sub(text.chars().count());
    check_text(missing.saturating_mul(fill.len_utf8()).saturating_add(text.len()))?;
    Ok(Some((text, fill, missing)))
}

/// A text with its case mapped, over a column. Nothing when a text may become too large.
pub(super) fn map_case(
    array: &StringViewArray,
    ascii: impl Fn(&mut [u8]),
    unicode: impl Fn(&str) -> String,
) -> Option<StringViewArray> {
    let mut builder = TextBuilder::new(array.len());
    for (row, &view) in array.views().iter().enumerate() {
        if array.is_null(row) {
            builder.push_null();
            continue;
        }
        let text = array.value(row);
        if text.is_ascii() {
            builder.push_ascii(view, text, &ascii);
        } else {
            let mapped = unicode(text);
            check_text(mapped.len()).ok()?;
            builder.push(&mapped);
        }
    }
    Some(builder.finish())
}

/// A part of each text, over a column.
pub(super) fn map_part(array: &StringViewArray, part: impl Fn(&str) -> &str) -> StringViewArray {
    let mut builder = TextBuilder::sharing(array);
    for (row, &view) in array.views().iter().enumerate() {
        if array.is_null(row) {
            builder.push_null();
            continue;
        }
        let text = array.value(row);
        let part = part(text);
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        builder.push_part(view, text, start, start + part.len());
    }
    builder.finish()
}

/// The text form as an answer.
pub(super) fn text_form(cell: Cell<'_>, out: &mut String) -> Result<Answer, EvalError> {
    if matches!(cell, Cell::Text(_)) {
        return Ok(Answer::Operand(0));
    }
    cell.append_text(out);
    check_text(out.len())?;
    Ok(Answer::Text)
}

/// The day of a Date or DateTime.
pub(super) fn day_of(cell: Cell<'_>) -> Option<i32> {
    match cell {
        Cell::Date(day) => Some(day),
        Cell::DateTime(nanos) => Some(date_of(nanos)),
        _ => None,
    }
}

/// A Date or DateTime moved to another day, its time of day kept.
pub(super) fn moved(cell: Cell<'_>, to: impl FnOnce(i32) -> Option<i32>) -> Answer {
    let answer = match cell {
        Cell::Date(day) => to(day).map(Answer::Date),
        Cell::DateTime(nanos) => {
            let day = date_of(nanos);
            to(day).map(|moved| Answer::DateTime(nanos - midnight(day) + midnight(moved)))
        }
        _ => None,
    };
    answer.unwrap_or(Answer::Null)
}

/// The integer of a whole float, if it is one of 64 bits.
pub(crate) fn int_of(value: f64) -> Option<i64> {
    let limit = 9_223_372_036_854_775_808.0;
    (value >= -limit && value < limit).then_some(value as i64)
}

/// `x × 10ⁿ` rounded half away from zero, then `÷ 10ⁿ`, all in binary64; half to even for a Decimal.
pub(super) fn round(cell: Cell<'_>, places: Cell<'_>) -> Answer {
    let Cell::Int(places) = places else { return Answer::Null };
    let value = match cell {
        Cell::Int(value) => value as f64,
        Cell::Float(value) => value,
        Cell::Decimal(value) => {
            let places = places.clamp(0, i64::from(Decimal::MAX_SCALE)) as u8;
            return Answer::Decimal(value.round_half_even(places));
        }
        _ => return Answer::Null,
    };
    let power = power_of_ten(places);
    let rounded = (value * power).round() / power;
    Answer::Float(if (value * power).is_finite() && rounded.is_finite() { rounded } else { value })
}

/// The float nearest to a power of ten, the same on every platform.
fn power_of_ten(exponent: i64) -> f64 {
    const EXACT: [f64; 7] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];
    let known = usize::try_from(exponent).ok().and_then(|exponent| EXACT.get(exponent).copied());
    known.unwrap_or_else(|| {
        format!("1e{}", exponent.clamp(-400, 400)).parse().expect("a power of ten is a float literal")
    })
}

/// Numbers of one type.
pub(super) struct Joined([Answer; 3]);

impl Joined {
    /// The number at a position.
    pub(super) fn get(&self, index: usize) -> Answer {
        self.0[index]
    }
}

/// Two or three numbers in the type they join to; nothing when a Decimal meets a Float.
pub(super) fn joined(cells: &[Cell<'_>]) -> Option<Joined> {
    let float = cells.iter().any(|cell| matches!(cell, Cell::Float(_)));
    let decimal = cells.iter().any(|cell| matches!(cell, Cell::Decimal(_)));
    let mut numbers = [Answer::Null; 3];
    for (number, cell) in numbers.iter_mut().zip(cells) {
        *number = match *cell {
            Cell::Int(value) if float && !decimal => Answer::Float(value as f64),
            Cell::Int(value) if decimal && !float => Answer::Decimal(Decimal::from_i64(value)),
            Cell::Int(value) if !float => Answer::Int(value),
            Cell::Float(value) if !decimal => Answer::Float(value),
            Cell::Decimal(value) if !float => Answer::Decimal(value),
            _ => return None,
        };
    }
    Some(Joined(numbers))
}

/// Whether a number is less than another of its type.
pub(super) fn less(left: Answer, right: Answer) -> bool {
    match (left, right) {
        (Answer::Int(left), Answer::Int(right)) => left < right,
        (Answer::Float(left), Answer::Float(right)) => left < right,
        (Answer::Decimal(left), Answer::Decimal(right)) => left.numeric_cmp(right).is_lt(),
        _ => false,
    }
}

pub(super) fn to_int(cell: Cell<'_>) -> Option<Answer> {
    match cell {
        Cell::Int(value) => Some(value),
        Cell::Float(value) => int_of(value.trunc()),
        Cell::Decimal(value) => value.to_i64(),
        Cell::Bool(value) => Some(i64::from(value)),
        // The grammar of `parse` is the one wanted: an optional sign and ASCII digits.
        Cell::Text(text) => text.parse().ok(),
        _ => None,
    }
    .map(Answer::Int)
}

pub(super) fn to_float(cell: Cell<'_>) -> Option<Answer> {
    match cell {
        Cell::Float(value) => Some(value),
        Cell::Int(value) => Some(value as f64),
        Cell::Decimal(value) => Some(value.to_f64()),
        // The grammar of `parse` is the one wanted, the names of the special values in any case included.
        Cell::Text(text) => text.parse().ok(),
        _ => None,
    }
    .map(Answer::Float)
}

pub(super) fn to_decimal(cell: Cell<'_>) -> Option<Answer> {
    match cell {
        Cell::Decimal(value) => Some(value),
        Cell::Int(value) => Some(Decimal::from_i64(value)),
        Cell::Float(value) => Decimal::from_f64(value),
        Cell::Text(text) => Decimal::parse_cxl(text),
        _ => None,
    }
    .map(Answer::Decimal)
}

pub(super) fn to_bool(cell: Cell<'_>) -> Option<Answer> {
    let any_of = |text: &str, words: [&str; 3]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match cell {
        Cell::Bool(value) => Some(value),
        Cell::Int(value) => Some(value != 0),
        Cell::Text(text) if any_of(text, ["true", "1", "yes"]) => Some(true),
        Cell::Text(text) if any_of(text, ["false", "0", "no"]) => Some(false),
        _ => None,
    }
    .map(Answer::Bool)
}

pub(super) fn to_date(call: &mut Call<'_>, cells: &[Cell<'_>]) -> Option<Answer> {
    match (cells[0], cells.get(1)) {
        (Cell::Date(day), _) => Some(day),
        (Cell::DateTime(nanos), _) => Some(date_of(nanos)),
        (Cell::Text(text), Some(Cell::Text(format))) => call.date_format(format).ok()?.parse_date(text),
        (Cell::Text(text), None) => parse_iso_date(text.as_bytes()),
        _ => None,
    }
    .map(Answer::Date)
}

pub(super) fn to_datetime(call: &mut Call<'_>, cells: &[Cell<'_>]) -> Option<Answer> {
    match (cells[0], cells.get(1)) {
        (Cell::DateTime(nanos), _) => Some(nanos),
        (Cell::Date(day), _) => Some(midnight(day)),
        (Cell::Text(text), Some(Cell::Text(format))) => call.date_format(format).ok()?.parse_date_time(text),
        (Cell::Text(text), None) => parse_iso_date_time(text.as_bytes()),
        _ => None,
    }
    .map(Answer::DateTime)
}

/// The bytes of the last component of a path that is neither `.` nor `..`.
pub(super) fn file_name(path: &str) -> Option<(usize, usize)> {
    let (start, end) = last_component(path)?;
    (!matches!(&path[start..end], "." | "..")).then_some((start, end))
}

/// The last component, slashes and skipped `.` components after it ignored.
fn last_component(path: &str) -> Option<(usize, usize)> {
    let mut end = path.len();
    loop {
        end = path[..end].trim_end_matches('/').len();
        let start = path[..end].rfind('/').map_or(0, |slash| slash + 1);
        if start == end {
            return None;
        }
        if start > 0 && &path[start..end] == "." {
            end = start;
            continue;
        }
        return Some((start, end));
    }
}

/// Stem and extension of a file name.
pub(super) fn split_name(path: &str, (start, end): (usize, usize)) -> ((usize, usize), Option<(usize, usize)>) {
    match path[start..end].rfind('.') {
        None | Some(0) => ((start, end), None),
        Some(dot) => ((start, start + dot), Some((start + dot + 1, end))),
    }
}

/// The bytes of a path without its last component.
pub(super) fn parent(path: &str) -> Option<(usize, usize)> {
    let (start, _) = last_component(path)?;
    let mut end = start;
    loop {
        let trimmed = path[..end].trim_end_matches('/').len();
        if trimmed == 0 {
            // Only slashes are left: the root, if the path had one.
            return Some((0, usize::from(start > 0)));
        }
        if !path[..trimmed].ends_with("/.") {
            return Some((0, trimmed));
        }
        end = trimmed - 1;
    }
}
