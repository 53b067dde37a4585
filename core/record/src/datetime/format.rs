//! Writing by a `%` format.

use std::fmt::Write as _;

use super::calendar::{Civil, Clock, civil, day_of_year, iso_week, weekday_from_monday};
use super::strftime::{Fraction, Item, MONTHS, Name, Number, Pad, WEEKDAYS};

/// Appends a day and a time.
pub(super) fn append(items: &[Item], date: i32, clock: Clock, out: &mut String) {
    let day = civil(date);
    for item in items {
        match item {
            Item::Literal(text) | Item::Space(text) => out.push_str(text),
            Item::Number(number, pad) => append_number(value(*number, date, day, clock), number.width(), *pad, out),
            Item::Name(name) => out.push_str(&self::name(*name, date, day, clock)),
            Item::Fraction(fraction) => append_fraction(*fraction, clock.nanos, out),
        }
    }
}

fn append_number(value: u32, width: usize, pad: Pad, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match pad {
        Pad::None => write!(out, "{value}"),
        Pad::Space => write!(out, "{value:width$}"),
        Pad::Zero => write!(out, "{value:0width$}"),
    };
}

fn value(number: Number, date: i32, day: Civil, clock: Clock) -> u32 {
    match number {
        Number::Year => day.year as u32,
        Number::YearOfCentury => day.year as u32 % 100,
        Number::Month => day.month,
        Number::Day => day.day,
        Number::DayOfYear => day_of_year(date),
        Number::WeekdayFromMonday => weekday_from_monday(date) + 1,
        Number::WeekdayFromSunday => (weekday_from_monday(date) + 1) % 7,
        Number::Hour => clock.hour,
        Number::Hour12 => (clock.hour + 11) % 12 + 1,
        Number::Minute => clock.minute,
        Number::Second => clock.second,
        Number::Nanos => clock.nanos,
        Number::IsoYear => iso_week(date).0 as u32,
        Number::IsoYearOfCentury => iso_week(date).0 as u32 % 100,
        Number::IsoWeek => iso_week(date).1,
        Number::WeekFromSunday => week(date, (weekday_from_monday(date) + 1) % 7),
        Number::WeekFromMonday => week(date, weekday_from_monday(date)),
    }
}

/// The week of the year; the days before the first first day of a week are week 0. `past` counts the days since that
/// first day.
fn week(date: i32, past: u32) -> u32 {
    (day_of_year(date) + 6 - past) / 7
}

fn name(name: Name, date: i32, day: Civil, clock: Clock) -> String {
    let month = MONTHS[day.month as usize - 1];
    let weekday = WEEKDAYS[weekday_from_monday(date) as usize];
    let text = match name {
        Name::Month => month,
        Name::ShortMonth => &month[..3],
        Name::Weekday => weekday,
        Name::ShortWeekday => &weekday[..3],
        Name::Upper => ["AM", "PM"][usize::from(clock.hour >= 12)],
        Name::Lower => ["am", "pm"][usize::from(clock.hour >= 12)],
    };
    text.to_owned()
}

fn append_fraction(fraction: Fraction, nanos: u32, out: &mut String) {
    let digits = match fraction {
        Fraction::Shortest if nanos == 0 => return,
        Fraction::Shortest if nanos.is_multiple_of(1_000_000) => 3,
        Fraction::Shortest if nanos.is_multiple_of(1_000) => 6,
        Fraction::Shortest => 9,
        Fraction::Digits(digits) | Fraction::PointAndDigits(digits) => digits,
    };
    if !matches!(fraction, Fraction::Digits(_)) {
        out.push('.');
    }
    let shown = nanos / 10u32.pow(9 - digits as u32);
    append_number(shown, digits, Pad::Zero, out);
}
