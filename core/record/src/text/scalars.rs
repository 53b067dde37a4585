//! Single values as text.

use crate::datetime::{Clock, NANOS_PER_SECOND, civil, clock, date_of};
use crate::{Decimal, Value, json};

/// `true` or `false`.
#[inline]
pub fn append_bool(value: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

/// Decimal digits, with `-` where negative.
#[inline]
pub fn append_int(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Digits at the decimal's own scale.
#[inline]
pub fn append_decimal(value: Decimal, out: &mut Vec<u8>) {
    value.append_to(out);
}

/// The shortest digits that read back to the same number: never an exponent, no `.0`; `-0`, `inf`, `-inf`, `NaN`.
#[inline]
pub fn append_float(value: f64, out: &mut Vec<u8>) {
    if !value.is_finite() {
        out.extend_from_slice(non_finite(value).as_bytes());
        return;
    }
    let magnitude = value.abs();
    if magnitude < CENTS_LIMIT {
        // The number that two decimals write, if it is this one. With at most 15 digits no other decimal of that length
        // reads back to the same number, so these digits are the shortest.
        let cents = (magnitude * 100.0 + 0.5) as u64;
        if cents as f64 / 100.0 == magnitude {
            append_cents(value.is_sign_negative(), cents, out);
            return;
        }
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value).as_bytes();
    // Between these, no exponent is printed.
    if (1e-4..1e15).contains(&magnitude) {
        out.extend_from_slice(text.strip_suffix(b".0").unwrap_or(text));
    } else {
        Digits::of(text).append_positional(out);
    }
}

/// Below it, a number of two decimals has at most 15 digits.
const CENTS_LIMIT: f64 = 1e13;

/// A number of hundredths, without zeros at the end of its fraction.
#[inline]
fn append_cents(negative: bool, cents: u64, out: &mut Vec<u8>) {
    let (whole, fraction) = (cents / 100, (cents % 100) as u32);
    if negative {
        out.push(b'-');
    }
    out.extend_from_slice(itoa::Buffer::new().format(whole).as_bytes());
    let [tenths, hundredths] = two(fraction);
    match fraction {
        0 => {}
        _ if hundredths == b'0' => out.extend_from_slice(&[b'.', tenths]),
        _ => out.extend_from_slice(&[b'.', tenths, hundredths]),
    }
}

/// The JSON number of a finite float, which always shows that it is one: `61.0`, `0.00001`, `1e+16`, `2.5e-7`. A NaN or
/// an infinity is a JSON string.
pub fn append_json_float(value: f64, out: &mut Vec<u8>) {
    if !value.is_finite() {
        out.push(b'"');
        out.extend_from_slice(non_finite(value).as_bytes());
        out.push(b'"');
        return;
    }
    let mut buffer = zmij::Buffer::new();
    let digits = Digits::of(buffer.format_finite(value).as_bytes());
    if value == 0.0 || (1e-5..1e16).contains(&value.abs()) {
        let before = out.len();
        digits.append_positional(out);
        if !out[before..].contains(&b'.') {
            out.extend_from_slice(b".0");
        }
    } else {
        digits.append_exponent(out);
    }
}

fn non_finite(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "inf"
    } else {
        "-inf"
    }
}

/// A number as `0.d1d2d3... * 10^point`, without zeros at either end.
struct Digits {
    negative: bool,
    digits: [u8; 24],
    len: usize,
    point: i32,
}

impl Digits {
    /// Takes apart `-123.45e-6` and the like.
    fn of(text: &[u8]) -> Digits {
        let mut found = Digits { negative: false, digits: [b'0'; 24], len: 0, point: 0 };
        let mut after_point = false;
        for (at, byte) in text.iter().enumerate() {
            match byte {
                b'-' => found.negative = true,
                b'.' => after_point = true,
                b'e' => {
                    let exponent = std::str::from_utf8(&text[at + 1..]).ok().and_then(|text| text.parse::<i32>().ok());
                    found.point += exponent.expect("a printed float has a small exponent");
                    break;
                }
                b'0' if found.len == 0 => found.point -= i32::from(after_point),
                digit => {
                    // A printed float has at most 17 digits and, below 1e16 or so, a few zeros.
                    found.digits[found.len] = *digit;
                    found.len += 1;
                    found.point += i32::from(!after_point);
                }
            }
        }
        while found.len > 0 && found.digits[found.len - 1] == b'0' {
            found.len -= 1;
        }
        found
    }

    fn append_positional(&self, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
        let digits = &self.digits[..self.len];
        if digits.is_empty() {
            out.push(b'0');
        } else if self.point <= 0 {
            out.extend_from_slice(b"0.");
            out.resize(out.len() + self.point.unsigned_abs() as usize, b'0');
            out.extend_from_slice(digits);
        } else if self.point as usize >= self.len {
            out.extend_from_slice(digits);
            out.resize(out.len() + self.point as usize - self.len, b'0');
        } else {
            let (whole, fraction) = digits.split_at(self.point as usize);
            out.extend_from_slice(whole);
            out.push(b'.');
            out.extend_from_slice(fraction);
        }
    }

    fn append_exponent(&self, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
        out.push(self.digits[0]);
        if self.len > 1 {
            out.push(b'.');
            out.extend_from_slice(&self.digits[1..self.len]);
        }
        let exponent = self.point - 1;
        out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
        append_int(i64::from(exponent.abs()), out);
    }
}

/// Two digits of a number below 100.
#[inline]
fn two(value: u32) -> [u8; 2] {
    [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8]
}

/// `YYYY-MM-DD`.
#[inline]
pub fn append_date(date: i32, out: &mut Vec<u8>) {
    let day = civil(date);
    let ([a, b], [c, d]) = (two(day.year as u32 / 100), two(day.year as u32 % 100));
    let ([e, f], [g, h]) = (two(day.month), two(day.day));
    out.extend_from_slice(&[a, b, c, d, b'-', e, f, b'-', g, h]);
}

/// `YYYY-MM-DDTHH:MM:SS`, then `.` and the fewest of 3, 6 or 9 digits that hold a fraction that is not zero.
#[inline]
pub fn append_date_time(nanos: i128, out: &mut Vec<u8>) {
    let time = append_seconds(nanos, out);
    if time.nanos != 0 {
        let digits = if time.nanos.is_multiple_of(1_000_000) {
            3
        } else if time.nanos.is_multiple_of(1_000) {
            6
        } else {
            9
        };
        append_fraction(time.nanos, digits, out);
    }
}

/// The RFC 3339 form in UTC with exactly `digits` digits after the seconds, 0 to 9: `2031-08-09T06:05:00.250Z`.
pub fn append_rfc3339(nanos: i128, digits: usize, out: &mut Vec<u8>) {
    let time = append_seconds(nanos, out);
    if digits > 0 {
        append_fraction(time.nanos, digits.min(9), out);
    }
    out.push(b'Z');
}

fn append_seconds(nanos: i128, out: &mut Vec<u8>) -> Clock {
    append_date(date_of(nanos), out);
    let time = clock(nanos);
    let ([a, b], [c, d], [e, f]) = (two(time.hour), two(time.minute), two(time.second));
    out.extend_from_slice(&[b'T', a, b, b':', c, d, b':', e, f]);
    time
}

fn append_fraction(nanos: u32, digits: usize, out: &mut Vec<u8>) {
    let mut rest = nanos;
    let mut text = [b'0'; 9];
    for place in text.iter_mut().rev() {
        *place = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    debug_assert!(i128::from(nanos) < NANOS_PER_SECOND);
    out.push(b'.');
    out.extend_from_slice(&text[..digits]);
}

/// The text of a CSV or dead-letter cell: null is empty, arrays and maps are compact JSON.
pub fn append_cell(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Array(_) | Value::Map(_) => json::append_compact(value, out),
        scalar => append_text_form(scalar, out),
    }
}

/// [`append_cell`] as a string of its own.
pub fn cell(value: &Value) -> String {
    into_string(|out| append_cell(value, out))
}

/// The text form of CXL (`cxl.md` 4.3).
pub fn append_text_form(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => {}
        Value::Bool(value) => append_bool(*value, out),
        Value::Int(value) => append_int(*value, out),
        Value::Float(value) => append_float(*value, out),
        Value::Decimal(value) => append_decimal(*value, out),
        Value::String(value) => out.extend_from_slice(value.as_bytes()),
        Value::Date(value) => append_date(*value, out),
        Value::DateTime(value) => append_date_time(*value, out),
        Value::Array(elements) => {
            out.push(b'[');
            for (at, element) in elements.iter().enumerate() {
                out.extend_from_slice(if at == 0 { b"" } else { b", " });
                append_text_form(element, out);
            }
            out.push(b']');
        }
        Value::Map(entries) => {
            out.push(b'{');
            for (at, (key, value)) in entries.iter().enumerate() {
                out.extend_from_slice(if at == 0 { b"" } else { b", " });
                out.extend_from_slice(key.as_bytes());
                out.extend_from_slice(b": ");
                append_text_form(value, out);
            }
            out.push(b'}');
        }
    }
}

/// [`append_text_form`] as a string of its own.
pub fn text_form(value: &Value) -> String {
    into_string(|out| append_text_form(value, out))
}

pub(crate) fn into_string(append: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    append(&mut out);
    String::from_utf8(out).expect("text forms are UTF-8")
}
