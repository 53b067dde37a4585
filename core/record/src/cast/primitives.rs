//! Numbers and truth values from bytes.

/// An optional sign and ASCII digits within the signed 64-bit range.
#[inline]
pub fn parse_int(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    // 18 digits never leave 64 bits.
    if digits.is_empty() || digits.len() > 18 {
        return parse_long_int(negative, digits);
    }
    let mut value = 0u64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    Some(if negative { -(value as i64) } else { value as i64 })
}

#[cold]
fn parse_long_int(negative: bool, digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut value = 0i128;
    for digit in digits {
        // Leading zeros may go on for ever; a number beyond 64 bits stays beyond.
        value = (value * 10 + i128::from(digit - b'0')).min(1 << 64);
    }
    i64::try_from(if negative { -value } else { value }).ok()
}

/// The powers of ten that binary64 holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// An optional sign, digits with an optional fraction, an optional exponent; the nearest binary64 number, if finite.
#[inline]
pub fn parse_float(text: &[u8]) -> Option<f64> {
    let (negative, body) = match text {
        [b'-', body @ ..] => (true, body),
        [b'+', body @ ..] => (false, body),
        body => (false, body),
    };
    let mut mantissa = 0u64;
    let (mut digits, mut point) = (0usize, None);
    for (at, byte) in body.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            // Wraps beyond 19 digits, where the mantissa is not used.
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            digits += 1;
        } else if *byte == b'.' && point.is_none() {
            point = Some(at);
        } else {
            return parse_any_float(text);
        }
    }
    let fraction = point.map_or(0, |point| body.len() - point - 1);
    if digits == 0 || digits > 19 || mantissa > 1 << 53 || fraction > 22 {
        return parse_any_float(text);
    }
    // Both numbers are exact, so the one division gives the nearest result.
    let magnitude = mantissa as f64 / EXACT_POWERS[fraction];
    Some(if negative { -magnitude } else { magnitude })
}

/// Checks the form, then leaves the digits to the standard library.
#[cold]
fn parse_any_float(text: &[u8]) -> Option<f64> {
    is_float_form(text).then_some(())?;
    let text = std::str::from_utf8(text).expect("the form is ASCII");
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Whether a text has the form of a float, whatever its size.
pub(super) fn is_float_form(text: &[u8]) -> bool {
    let body = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let end = body.iter().position(|byte| matches!(byte, b'e' | b'E'));
    let (number, exponent) = end.map_or((body, None), |end| (&body[..end], Some(&body[end + 1..])));
    let mut parts = number.splitn(2, |byte| *byte == b'.');
    let all_digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let number_is_fine = parts.by_ref().all(all_digits) && number.iter().any(u8::is_ascii_digit);
    number_is_fine
        && exponent.is_none_or(|exponent| {
            let digits = exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
            !digits.is_empty() && all_digits(digits)
        })
}

/// `true` `yes` `1` `on`, `false` `no` `0` `off`, in any case.
#[inline]
pub fn parse_bool(text: &[u8]) -> Option<bool> {
    match text {
        b"true" | b"1" => return Some(true),
        b"false" | b"0" => return Some(false),
        _ => {}
    }
    let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
    if ["true", "yes", "on"].into_iter().any(is) {
        Some(true)
    } else if ["false", "no", "off"].into_iter().any(is) {
        Some(false)
    } else {
        None
    }
}
