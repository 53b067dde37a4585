//! Reading by a `%` format.

use super::calendar::{
    Clock, civil, date_from_civil, day_of_year, in_range, iso_week, iso_year_start, weekday_from_monday,
};
use super::strftime::{Fraction, Item, MONTHS, Name, Number, WEEKDAYS};

/// What a text says, field by field. Fields may repeat one another, but not contradict.
#[derive(Default)]
pub(super) struct Fields {
    year: Option<u32>,
    year_of_century: Option<u32>,
    month: Option<u32>,
    day: Option<u32>,
    day_of_year: Option<u32>,
    /// 0 for Monday.
    weekday: Option<u32>,
    iso_year: Option<u32>,
    iso_year_of_century: Option<u32>,
    iso_week: Option<u32>,
    week_from_sunday: Option<u32>,
    week_from_monday: Option<u32>,
    hour: Option<u32>,
    hour12: Option<u32>,
    afternoon: Option<u32>,
    minute: Option<u32>,
    second: Option<u32>,
    nanos: Option<u32>,
}

/// Reads the whole text.
pub(super) fn fields(items: &[Item], text: &str) -> Option<Fields> {
    let mut fields = Fields::default();
    let mut rest = text;
    for item in items {
        rest = match item {
            Item::Literal(literal) => rest.strip_prefix(literal.as_str())?,
            Item::Space(_) => rest.trim_start(),
            Item::Number(number, _) => {
                let (value, rest) = take_number(rest.trim_start(), number.width())?;
                fields.set_number(*number, value)?;
                rest
            }
            Item::Name(name) => fields.read_name(*name, rest)?,
            Item::Fraction(fraction) => fields.read_fraction(*fraction, rest)?,
        };
    }
    rest.is_empty().then_some(fields)
}

/// One to `width` digits.
fn take_number(text: &str, width: usize) -> Option<(u32, &str)> {
    let digits = text.bytes().take(width).take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    Some((number.parse().ok()?, rest))
}

/// Sets a field, or compares where it is set already.
fn agree(field: &mut Option<u32>, value: u32) -> Option<()> {
    (*field.get_or_insert(value) == value).then_some(())
}

/// Whether a field, if given, has that value.
fn allows(field: Option<u32>, value: u32) -> bool {
    field.is_none_or(|field| field == value)
}

impl Fields {
    fn set_number(&mut self, number: Number, value: u32) -> Option<()> {
        if !number.range().contains(&value) {
            return None;
        }
        let (field, value) = match number {
            Number::Year => (&mut self.year, value),
            Number::YearOfCentury => (&mut self.year_of_century, value),
            Number::Month => (&mut self.month, value),
            Number::Day => (&mut self.day, value),
            Number::DayOfYear => (&mut self.day_of_year, value),
            Number::WeekdayFromMonday => (&mut self.weekday, value - 1),
            Number::WeekdayFromSunday => (&mut self.weekday, (value + 6) % 7),
            Number::Hour => (&mut self.hour, value),
            Number::Hour12 => (&mut self.hour12, value % 12),
            Number::Minute => (&mut self.minute, value),
            Number::Second => (&mut self.second, value),
            Number::Nanos => (&mut self.nanos, value),
            Number::IsoYear => (&mut self.iso_year, value),
            Number::IsoYearOfCentury => (&mut self.iso_year_of_century, value),
            Number::IsoWeek => (&mut self.iso_week, value),
            Number::WeekFromSunday => (&mut self.week_from_sunday, value),
            Number::WeekFromMonday => (&mut self.week_from_monday, value),
        };
        agree(field, value)
    }

    fn read_name<'a>(&mut self, name: Name, text: &'a str) -> Option<&'a str> {
        let strip = |name: &str| {
            let start = text.get(..name.len())?;
            start.eq_ignore_ascii_case(name).then(|| &text[name.len()..])
        };
        let find = |names: &[&str], long: bool| {
            names.iter().enumerate().find_map(|(at, name)| {
                let whole = if long { strip(name) } else { None };
                whole.or_else(|| strip(&name[..3])).map(|rest| (at as u32, rest))
            })
        };
        let ((value, rest), field) = match name {
            Name::Month | Name::ShortMonth => {
                let (month, rest) = find(&MONTHS, name == Name::Month)?;
                ((month + 1, rest), &mut self.month)
            }
            Name::Weekday | Name::ShortWeekday => (find(&WEEKDAYS, name == Name::Weekday)?, &mut self.weekday),
            Name::Upper | Name::Lower => {
                let found = strip("am").map(|rest| (0, rest)).or_else(|| strip("pm").map(|rest| (1, rest)));
                (found?, &mut self.afternoon)
            }
        };
        agree(field, value)?;
        Some(rest)
    }

    fn read_fraction<'a>(&mut self, fraction: Fraction, text: &'a str) -> Option<&'a str> {
        let (digits, exact) = match fraction {
            Fraction::Digits(exact) => (text, Some(exact)),
            Fraction::Shortest | Fraction::PointAndDigits(_) => {
                let Some(digits) = text.strip_prefix('.') else {
                    agree(&mut self.nanos, 0)?;
                    return Some(text);
                };
                (digits, if let Fraction::PointAndDigits(exact) = fraction { Some(exact) } else { None })
            }
        };
        let count = digits.bytes().take(exact.unwrap_or(9)).take_while(u8::is_ascii_digit).count();
        if count == 0 || exact.is_some_and(|exact| count != exact) {
            return None;
        }
        let (value, rest) = take_number(digits, count)?;
        agree(&mut self.nanos, value * 10u32.pow(9 - count as u32))?;
        Some(rest)
    }

    /// The day the fields say, if they say one and all agree with it.
    pub(super) fn date(&self) -> Option<i32> {
        let date = self.candidate().filter(|date| in_range(*date))?;
        let day = civil(date);
        let (iso_year, iso_week) = iso_week(date);
        let weekday = weekday_from_monday(date);
        let from_first = |past: u32| (day_of_year(date) + 6 - past) / 7;
        let agreed = allows(self.year, day.year as u32)
            && allows(self.year_of_century, day.year as u32 % 100)
            && allows(self.month, day.month)
            && allows(self.day, day.day)
            && allows(self.day_of_year, day_of_year(date))
            && allows(self.weekday, weekday)
            && allows(self.iso_year, iso_year as u32)
            && allows(self.iso_year_of_century, iso_year as u32 % 100)
            && allows(self.iso_week, iso_week)
            && allows(self.week_from_sunday, from_first((weekday + 1) % 7))
            && allows(self.week_from_monday, from_first(weekday));
        agreed.then_some(date)
    }

    /// A day from the first combination of fields that suffices.
    fn candidate(&self) -> Option<i32> {
        if let Some(year) = full_year(self.year, self.year_of_century) {
            let january = date_from_civil(year, 1, 1)?;
            if let (Some(month), Some(day)) = (self.month, self.day) {
                return date_from_civil(year, month, day);
            }
            if let Some(day) = self.day_of_year {
                return Some(january + day as i32 - 1);
            }
            if let (Some(week), Some(weekday)) = (self.week_from_monday, self.weekday) {
                return Some(in_week(january, weekday_from_monday(january), week, weekday));
            }
            if let (Some(week), Some(weekday)) = (self.week_from_sunday, self.weekday) {
                let first = (weekday_from_monday(january) + 1) % 7;
                return Some(in_week(january, first, week, (weekday + 1) % 7));
            }
        }
        let year = full_year(self.iso_year, self.iso_year_of_century)?;
        Some(iso_year_start(year) + (self.iso_week? as i32 - 1) * 7 + self.weekday? as i32)
    }

    /// The time of day the fields say.
    pub(super) fn clock(&self) -> Option<Clock> {
        let from_half = || Some(self.hour12? + 12 * self.afternoon?);
        let hour = self.hour.or_else(from_half)?;
        if !allows(self.hour12, hour % 12) || !allows(self.afternoon, hour / 12) {
            return None;
        }
        Some(Clock { hour, minute: self.minute?, second: self.second.unwrap_or(0), nanos: self.nanos.unwrap_or(0) })
    }
}

/// A year from its digits, or from its last two.
fn full_year(year: Option<u32>, of_century: Option<u32>) -> Option<i32> {
    let guess = |short: u32| if short < 70 { 2000 + short } else { 1900 + short };
    year.or_else(|| of_century.map(guess)).map(|year| year as i32)
}

/// The day with that weekday in that week. `first` is the weekday of January 1; both count from the first day of a week.
fn in_week(january: i32, first: u32, week: u32, weekday: u32) -> i32 {
    // Week 1 begins with the first such day; January 1 itself when it is one.
    let week_one = january + ((7 - first) % 7) as i32;
    week_one + (week as i32 - 1) * 7 + weekday as i32
}
