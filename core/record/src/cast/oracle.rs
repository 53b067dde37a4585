//! The table of `formats.md` 1.4 written down plainly, one character after the other, with numbers of unlimited size.

use num_bigint::BigInt;

use crate::datetime::{Civil, civil};
use crate::{Decimal, Kind, Value};

/// What a text is as a value of a kind, without formats, scale and precision.
pub(super) fn value(kind: Kind, text: &str) -> Option<Value> {
    match kind {
        Kind::String | Kind::Any => Some(Value::String(text.into())),
        Kind::Int => int(text).map(Value::Int),
        Kind::Float => float(text).map(Value::Float),
        Kind::Decimal => decimal(text).map(Value::Decimal),
        Kind::Bool => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" | "on" => Some(Value::Bool(true)),
            "false" | "no" | "0" | "off" => Some(Value::Bool(false)),
            _ => None,
        },
        Kind::Date => date(text, true).map(Value::Date),
        Kind::DateTime => date_time(text).map(Value::DateTime),
        Kind::Null | Kind::Array | Kind::Map => None,
    }
}

fn unsigned(text: &str) -> (bool, &str) {
    match text.chars().next() {
        Some('-') => (true, &text[1..]),
        Some('+') => (false, &text[1..]),
        _ => (false, text),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|char| char.is_ascii_digit())
}

fn big(negative: bool, digits: &str) -> BigInt {
    let mut value = BigInt::from(0);
    for char in digits.chars() {
        value = value * 10 + char.to_digit(10).unwrap();
    }
    if negative { -value } else { value }
}

fn int(text: &str) -> Option<i64> {
    let (negative, digits) = unsigned(text);
    if !is_digits(digits) {
        return None;
    }
    i64::try_from(big(negative, digits)).ok()
}

fn float(text: &str) -> Option<f64> {
    let (_, body) = unsigned(text);
    let (number, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    if exponent.is_some_and(|exponent| !is_digits(unsigned(exponent).1)) {
        return None;
    }
    let fine = match number.split_once('.') {
        None => is_digits(number),
        Some((whole, fraction)) => {
            (is_digits(whole) || is_digits(fraction))
                && (whole.is_empty() || is_digits(whole))
                && (fraction.is_empty() || is_digits(fraction))
        }
    };
    if !fine {
        return None;
    }
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

fn decimal(text: &str) -> Option<Decimal> {
    let (negative, body) = unsigned(text);
    let (whole, fraction) = match body.split_once('.') {
        Some((whole, fraction)) if is_digits(fraction) => (whole, fraction),
        Some(_) => return None,
        None => (body, ""),
    };
    if !is_digits(whole) || fraction.len() > 28 {
        return None;
    }
    let value = i128::try_from(big(negative, &format!("{whole}{fraction}"))).ok()?;
    Decimal::new(value, fraction.len() as u8)
}

fn field(text: &str, width: std::ops::RangeInclusive<usize>) -> Option<u32> {
    (is_digits(text) && width.contains(&text.len())).then(|| text.parse().unwrap())
}

/// A day, found by looking through the calendar.
fn day(year: u32, month: u32, day: u32) -> Option<i32> {
    let wanted = Civil { year: year as i32, month, day };
    // Days of a year lie within these bounds, whatever the leap years before it.
    let start = (year as i64 - 1970) * 365 - 600;
    let (from, to) = (start.max(-719_162) as i32, (start + 3400).min(2_932_896) as i32);
    (from..=to).find(|date| civil(*date) == wanted)
}

fn date(text: &str, all: bool) -> Option<i32> {
    for (separator, year_first) in
        [('-', true), ('/', false), ('/', true), ('-', false)].into_iter().take(if all { 4 } else { 2 })
    {
        let parts: Vec<&str> = text.split(separator).collect();
        let [a, b, c] = parts[..] else { continue };
        let (year, month, of_month) = if year_first { (a, b, c) } else { (c, a, b) };
        let found = (|| day(field(year, 4..=4)?, field(month, 1..=2)?, field(of_month, 1..=2)?))();
        if found.is_some() {
            return found;
        }
    }
    None
}

fn date_time(text: &str) -> Option<i128> {
    let at = text.find(['T', 't', ' '])?;
    let (date_text, separator, time) = (&text[..at], &text[at..at + 1], &text[at + 1..]);
    let american = date_text.contains('/');
    // RFC 3339 needs full fields; an offset stands behind the seconds.
    let zone = time.find(['Z', 'z', '+', '-']);
    let (time, offset) = match zone {
        None => (time, 0),
        Some(at) => (&time[..at], offset(&time[at..])?),
    };
    let strict = zone.is_some();
    let shape_is_fine =
        if strict { !american && date_text.len() == 10 } else { separator == " " || separator == "T" && !american };
    if !shape_is_fine {
        return None;
    }
    let width = if strict { 2..=2 } else { 1..=2 };
    let (clock, fraction) = match time.split_once('.') {
        Some((clock, fraction)) if (1..=9).contains(&fraction.len()) && is_digits(fraction) => (clock, fraction),
        Some(_) => return None,
        None => (time, ""),
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let (hour, minute, second) = match parts[..] {
        [hour, minute, second] => (hour, minute, second),
        [hour, minute] if american && fraction.is_empty() => (hour, minute, "0"),
        _ => return None,
    };
    let second_width = if second == "0" { 1..=2 } else { width.clone() };
    let (hour, minute) = (field(hour, width.clone())?, field(minute, width)?);
    let second = field(second, second_width)?;
    if strict && parts[2].len() != 2 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let nanos: i128 = format!("{fraction:0<9}").parse().unwrap();
    let seconds = i128::from(date(date_text, false)?) * 86_400 + i128::from(hour * 3600 + minute * 60 + second);
    let utc = (seconds - offset) * 1_000_000_000 + nanos;
    (-719_162 * 86_400_000_000_000..2_932_897 * 86_400_000_000_000).contains(&utc).then_some(utc)
}

fn offset(text: &str) -> Option<i128> {
    if text == "Z" || text == "z" {
        return Some(0);
    }
    let (negative, text) = unsigned(text);
    let (hours, minutes) = text.split_once(':')?;
    let (hours, minutes) = (field(hours, 2..=2)?, field(minutes, 2..=2)?);
    let seconds = i128::from(hours * 3600 + minutes * 60);
    (hours < 24 && minutes < 60).then_some(if negative { -seconds } else { seconds })
}
