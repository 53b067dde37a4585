//! The text forms that are understood without a format: those of CXL and those of declared columns.

use super::calendar::{Clock, NANOS_PER_SECOND, date_from_civil, date_of, date_time, in_range};

/// The forms of [`parse_default_date`], for messages.
pub const DEFAULT_DATE_FORMS: &str = "%Y-%m-%d, %m/%d/%Y, %Y/%m/%d, %m-%d-%Y";
/// The forms of [`parse_default_date_time`], for messages.
pub const DEFAULT_DATE_TIME_FORMS: &str =
    "RFC 3339, %Y-%m-%dT%H:%M:%S, %Y-%m-%d %H:%M:%S, %m/%d/%Y %H:%M:%S, %m/%d/%Y %H:%M";

/// A date written as exactly `YYYY-MM-DD`.
#[inline]
pub fn parse_iso_date(text: &[u8]) -> Option<i32> {
    let text: &[u8; 10] = text.try_into().ok()?;
    if text[4] != b'-' || text[7] != b'-' {
        return None;
    }
    let digit = |at: usize| u32::from(text[at].wrapping_sub(b'0'));
    let digits = [digit(0), digit(1), digit(2), digit(3), digit(5), digit(6), digit(8), digit(9)];
    if digits.iter().fold(false, |bad, digit| bad | (*digit > 9)) {
        return None;
    }
    let year = digits[0] * 1000 + digits[1] * 100 + digits[2] * 10 + digits[3];
    date_from_civil(year as i32, digits[4] * 10 + digits[5], digits[6] * 10 + digits[7])
}

/// A date-time written as exactly `YYYY-MM-DDTHH:MM:SS`, then perhaps `.` and 1 to 9 digits.
pub fn parse_iso_date_time(text: &[u8]) -> Option<i128> {
    let (date, rest) = text.split_at_checked(10)?;
    let mut cursor = Cursor { text: rest, strict: true };
    let date = parse_iso_date(date)?;
    cursor.byte(b'T')?;
    let clock = cursor.clock(false)?;
    cursor.text.is_empty().then(|| date_time(date, clock))
}

/// A date in one of [`DEFAULT_DATE_FORMS`]. Month and day have one or two digits, the year exactly four: with fewer, a
/// day written `1/2/31` would silently lie in the year 31.
pub fn parse_default_date(text: &[u8]) -> Option<i32> {
    if let Some(date) = parse_iso_date(text) {
        return Some(date);
    }
    let mut cursor = Cursor { text, strict: false };
    let date = cursor.date(true)?;
    cursor.text.is_empty().then_some(date)
}

/// A date-time in one of [`DEFAULT_DATE_TIME_FORMS`], where `.` and 1 to 9 digits may follow the seconds. An offset
/// normalises to UTC.
pub fn parse_default_date_time(text: &[u8]) -> Option<i128> {
    if let Some(nanos) = parse_full(text) {
        return Some(nanos);
    }
    let mut cursor = Cursor { text, strict: false };
    let date = cursor.date(false)?;
    // Only the form with slashes may leave the seconds out, and only the other one may have a `T`.
    let slashes = text.iter().take(3).any(|byte| *byte == b'/');
    let separator = cursor.text.first()?;
    if *separator != b' ' && (slashes || *separator != b'T') {
        return None;
    }
    cursor.text = &cursor.text[1..];
    let clock = cursor.clock(slashes)?;
    cursor.text.is_empty().then(|| date_time(date, clock))
}

/// The commonest form of all, by fixed places: `YYYY-MM-DDTHH:MM:SS`, or with a space.
fn parse_whole_seconds(text: &[u8]) -> Option<i128> {
    let text: &[u8; 19] = text.try_into().ok()?;
    let date = parse_iso_date(&text[..10])?;
    let digit = |at: usize| u32::from(text[at].wrapping_sub(b'0'));
    let digits = [digit(11), digit(12), digit(14), digit(15), digit(17), digit(18)];
    let bad = digits.iter().fold(false, |bad, digit| bad | (*digit > 9));
    if bad || !matches!(text[10], b'T' | b' ') || text[13] != b':' || text[16] != b':' {
        return None;
    }
    let (hour, minute, second) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3], digits[4] * 10 + digits[5]);
    (hour < 24 && minute < 60 && second < 60).then(|| date_time(date, Clock { hour, minute, second, nanos: 0 }))
}

/// The common forms, in one pass: two digits for every field but the year and, for RFC 3339, `Z` or an offset at the end.
fn parse_full(text: &[u8]) -> Option<i128> {
    if let Some(nanos) = parse_whole_seconds(text) {
        return Some(nanos);
    }
    let (date, rest) = text.split_at_checked(10)?;
    let date = parse_iso_date(date)?;
    let [separator @ (b'T' | b't' | b' '), rest @ ..] = rest else {
        return None;
    };
    let mut cursor = Cursor { text: rest, strict: true };
    let clock = cursor.clock(false)?;
    let offset = match cursor.text {
        b"" if *separator != b't' => 0,
        b"Z" | b"z" => 0,
        [sign @ (b'+' | b'-'), rest @ ..] => {
            cursor.text = rest;
            let hours = cursor.number(23)?;
            cursor.byte(b':')?;
            let seconds = i128::from(hours * 3600 + cursor.number(59)? * 60);
            if !cursor.text.is_empty() {
                return None;
            }
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => return None,
    };
    Some(date_time(date, clock) - offset * NANOS_PER_SECOND).filter(|nanos| in_range(date_of(*nanos)))
}

struct Cursor<'a> {
    text: &'a [u8],
    /// Exactly two digits for each field that is not a year, instead of one or two.
    strict: bool,
}

impl Cursor<'_> {
    fn byte(&mut self, expected: u8) -> Option<()> {
        let (first, rest) = self.text.split_first()?;
        self.text = rest;
        (*first == expected).then_some(())
    }

    fn digits(&self) -> usize {
        self.text.iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    fn take(&mut self, digits: usize) -> u32 {
        let (number, rest) = self.text.split_at(digits);
        self.text = rest;
        number.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'))
    }

    /// A field of two digits, at most `limit`.
    fn number(&mut self, limit: u32) -> Option<u32> {
        let digits = self.digits().min(2);
        if digits == 0 || self.strict && digits < 2 {
            return None;
        }
        Some(self.take(digits)).filter(|value| *value <= limit)
    }

    fn year(&mut self) -> Option<i32> {
        (self.digits() >= 4).then(|| self.take(4) as i32)
    }

    /// `%Y-%m-%d` or `%m/%d/%Y`; with `all`, also `%Y/%m/%d` and `%m-%d-%Y`.
    fn date(&mut self, all: bool) -> Option<i32> {
        let digits = self.digits();
        let (year_first, separator) = (digits >= 4, *self.text.get(digits)?);
        if separator != b'-' && separator != b'/' || !all && year_first != (separator == b'-') {
            return None;
        }
        let (year, month, day);
        if year_first {
            year = self.year()?;
            self.byte(separator)?;
            month = self.number(12)?;
            self.byte(separator)?;
            day = self.number(31)?;
        } else {
            month = self.number(12)?;
            self.byte(separator)?;
            day = self.number(31)?;
            self.byte(separator)?;
            year = self.year()?;
        }
        date_from_civil(year, month, day)
    }

    /// `%H:%M:%S` and perhaps a fraction, or, where seconds are optional, `%H:%M` at the end of the text.
    fn clock(&mut self, seconds_optional: bool) -> Option<Clock> {
        let hour = self.number(23)?;
        self.byte(b':')?;
        let minute = self.number(59)?;
        if seconds_optional && self.text.is_empty() {
            return Some(Clock { hour, minute, ..Clock::default() });
        }
        self.byte(b':')?;
        let second = self.number(59)?;
        let mut nanos = 0;
        if let [b'.', rest @ ..] = self.text {
            self.text = rest;
            let digits = self.digits();
            if !(1..=9).contains(&digits) {
                return None;
            }
            nanos = self.take(digits) * 10u32.pow(9 - digits as u32);
        }
        Some(Clock { hour, minute, second, nanos })
    }
}
