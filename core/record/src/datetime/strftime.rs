//! Compiled `%` formats (`cxl.md` 22): what a format means. Writing is in `format`, reading in `parse`.

use super::calendar::date_of;
use super::{Clock, format, parse};

/// A compiled `%` format, for reading and writing.
#[derive(Clone, Debug, PartialEq)]
pub struct DateFormat {
    source: String,
    pub(super) items: Vec<Item>,
}

/// One piece of a format.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// Text that stands for itself.
    Literal(String),
    /// White space: written as it is, read as any run of white space.
    Space(String),
    /// A number.
    Number(Number, Pad),
    /// A name.
    Name(Name),
    /// A fraction of a second.
    Fraction(Fraction),
}

/// Numeric fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Year,
    YearOfCentury,
    Month,
    Day,
    DayOfYear,
    WeekdayFromMonday,
    WeekdayFromSunday,
    Hour,
    Hour12,
    Minute,
    Second,
    Nanos,
    IsoYear,
    IsoYearOfCentury,
    IsoWeek,
    WeekFromSunday,
    WeekFromMonday,
}

impl Number {
    /// The full number of digits.
    pub(super) fn width(self) -> usize {
        match self {
            Number::Year | Number::IsoYear => 4,
            Number::DayOfYear => 3,
            Number::WeekdayFromMonday | Number::WeekdayFromSunday => 1,
            Number::Nanos => 9,
            _ => 2,
        }
    }

    /// The values that can be read.
    pub(super) fn range(self) -> std::ops::RangeInclusive<u32> {
        match self {
            Number::Year => 1..=9999,
            Number::IsoYear => 0..=9999,
            Number::YearOfCentury | Number::IsoYearOfCentury => 0..=99,
            Number::Month | Number::Hour12 => 1..=12,
            Number::Day => 1..=31,
            Number::DayOfYear => 1..=366,
            Number::WeekdayFromMonday => 1..=7,
            Number::WeekdayFromSunday => 0..=6,
            Number::Hour => 0..=23,
            Number::Minute | Number::Second => 0..=59,
            Number::Nanos => 0..=999_999_999,
            Number::IsoWeek => 1..=53,
            Number::WeekFromSunday | Number::WeekFromMonday => 0..=53,
        }
    }
}

/// How a number narrower than its field is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pad {
    None,
    Space,
    Zero,
}

/// Fields of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Month,
    ShortMonth,
    Weekday,
    ShortWeekday,
    /// `AM`, `PM`.
    Upper,
    /// `am`, `pm`.
    Lower,
}

/// Fractions of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fraction {
    /// Nothing for zero, else `.` and 3, 6 or 9 digits.
    Shortest,
    /// That many digits.
    Digits(usize),
    /// `.` and that many digits.
    PointAndDigits(usize),
}

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

impl DateFormat {
    /// Compiles a format; the error says which specifier is wrong.
    pub fn compile(source: &str) -> Result<DateFormat, String> {
        let mut items = Vec::new();
        let mut rest = source.chars();
        while let Some(next) = rest.next() {
            if next == '%' {
                specifier(&mut rest, &mut items)?;
            } else {
                push_char(&mut items, next);
            }
        }
        Ok(DateFormat { source: source.to_owned(), items })
    }

    /// The format as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The day that the whole text says in this format. Time fields are checked and ignored.
    pub fn parse_date(&self, text: &str) -> Option<i32> {
        parse::fields(&self.items, text)?.date()
    }

    /// The day and time, in nanoseconds since 1970-01-01T00:00:00, that the whole text says in this format.
    pub fn parse_date_time(&self, text: &str) -> Option<i128> {
        let fields = parse::fields(&self.items, text)?;
        Some(super::date_time(fields.date()?, fields.clock()?))
    }

    /// Appends a date-time, in nanoseconds since 1970-01-01T00:00:00.
    pub fn format(&self, nanos: i128, out: &mut String) {
        format::append(&self.items, date_of(nanos), super::clock(nanos), out);
    }

    /// Appends a date, as midnight.
    pub fn format_date(&self, date: i32, out: &mut String) {
        format::append(&self.items, date, Clock::default(), out);
    }
}

fn push_char(items: &mut Vec<Item>, char: char) {
    match (items.last_mut(), char.is_whitespace()) {
        (Some(Item::Space(text)), true) | (Some(Item::Literal(text)), false) => text.push(char),
        (_, true) => items.push(Item::Space(char.into())),
        (_, false) => items.push(Item::Literal(char.into())),
    }
}

/// Compiles what follows a `%`.
fn specifier(rest: &mut std::str::Chars<'_>, items: &mut Vec<Item>) -> Result<(), String> {
    let start = rest.as_str();
    let wrong = |end: &str| format!("'%{}' is not a date format specifier", &start[..start.len() - end.len()]);
    let Some(first) = rest.next() else {
        return Err("a date format ends with a lone '%'; write '%%' for a percent sign".to_owned());
    };
    let pad = match first {
        '-' => Some(Pad::None),
        '_' => Some(Pad::Space),
        '0' => Some(Pad::Zero),
        _ => None,
    };
    if let Some(pad) = pad {
        let number = rest.next().and_then(number).ok_or_else(|| wrong(rest.as_str()))?;
        items.push(Item::Number(number.0, pad));
        return Ok(());
    }
    if let Some((number, pad)) = number(first) {
        items.push(Item::Number(number, pad));
        return Ok(());
    }
    let composite = match first {
        'F' => "%Y-%m-%d",
        'D' => "%m/%d/%y",
        'T' => "%H:%M:%S",
        'R' => "%H:%M",
        _ => "",
    };
    if !composite.is_empty() {
        items.extend(DateFormat::compile(composite).expect("a composite is made of known specifiers").items);
        return Ok(());
    }
    let item = match first {
        'B' => Item::Name(Name::Month),
        'b' | 'h' => Item::Name(Name::ShortMonth),
        'A' => Item::Name(Name::Weekday),
        'a' => Item::Name(Name::ShortWeekday),
        'p' => Item::Name(Name::Upper),
        'P' => Item::Name(Name::Lower),
        '.' | '3' | '6' | '9' => Item::Fraction(fraction(first, rest).ok_or_else(|| wrong(rest.as_str()))?),
        'n' | 't' | '%' => {
            push_char(
                items,
                if first == 'n' {
                    '\n'
                } else if first == 't' {
                    '\t'
                } else {
                    '%'
                },
            );
            return Ok(());
        }
        'z' | 'Z' | '+' | 's' => return Err(format!("{}: dates and times have no zone here", wrong(rest.as_str()))),
        _ => return Err(wrong(rest.as_str())),
    };
    items.push(item);
    Ok(())
}

/// The rest of `%.f`, `%3f`, `%.3f`.
fn fraction(first: char, rest: &mut std::str::Chars<'_>) -> Option<Fraction> {
    let digits = |char: char| char.to_digit(10).filter(|digit| [3, 6, 9].contains(digit)).map(|digit| digit as usize);
    let found = if first != '.' {
        Fraction::Digits(digits(first)?)
    } else {
        match rest.next()? {
            'f' => return Some(Fraction::Shortest),
            char => Fraction::PointAndDigits(digits(char)?),
        }
    };
    (rest.next()? == 'f').then_some(found)
}

/// A numeric specifier with the padding it has unless told otherwise.
fn number(letter: char) -> Option<(Number, Pad)> {
    let number = match letter {
        'Y' => Number::Year,
        'y' => Number::YearOfCentury,
        'm' => Number::Month,
        'd' => Number::Day,
        'e' => return Some((Number::Day, Pad::Space)),
        'j' => Number::DayOfYear,
        'u' => Number::WeekdayFromMonday,
        'w' => Number::WeekdayFromSunday,
        'H' => Number::Hour,
        'I' => Number::Hour12,
        'M' => Number::Minute,
        'S' => Number::Second,
        'f' => Number::Nanos,
        'G' => Number::IsoYear,
        'g' => Number::IsoYearOfCentury,
        'V' => Number::IsoWeek,
        'U' => Number::WeekFromSunday,
        'W' => Number::WeekFromMonday,
        _ => return None,
    };
    Some((number, Pad::Zero))
}
