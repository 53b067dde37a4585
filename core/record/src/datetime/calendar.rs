//! The proleptic Gregorian calendar in whole numbers.

/// Nanoseconds of a second.
pub const NANOS_PER_SECOND: i128 = 1_000_000_000;
/// Nanoseconds of a day.
pub const NANOS_PER_DAY: i128 = 86_400 * NANOS_PER_SECOND;
/// 0001-01-01.
pub const MIN_DATE: i32 = -719_162;
/// 9999-12-31.
pub const MAX_DATE: i32 = 2_932_896;

/// A day as year, month and day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Civil {
    /// 1 to 9999.
    pub year: i32,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
}

/// A time of day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Clock {
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
    /// 0 to 59.
    pub second: u32,
    /// 0 to 999,999,999.
    pub nanos: u32,
}

/// Whether a date lies in the years 0001 to 9999.
pub fn in_range(date: i32) -> bool {
    (MIN_DATE..=MAX_DATE).contains(&date)
}

fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The number of days of a month, 1 to 12.
pub fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The date of a year, month and day, if there is such a day in the years 0001 to 9999.
///
/// Dates of a feed come in random order, so that a branch on month or day would often be predicted wrongly: there is one
/// branch, on whether all is valid.
#[inline]
pub fn date_from_civil(year: i32, month: u32, day: u32) -> Option<i32> {
    const LAST: [u32; 16] = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0, 0, 0];
    let leap = (year % 4 == 0) & ((year % 25 != 0) | (year % 16 == 0));
    let last = LAST[(month & 15) as usize] + u32::from((month == 2) & leap);
    let year_is_fine = (year as u32).wrapping_sub(1) < 9999;
    if !(year_is_fine & (month < 16) & (day.wrapping_sub(1) < last)) {
        return None;
    }
    // Counted from March 1, so that the leap day is the last of its year.
    let early = month <= 2;
    let year = year - i32::from(early);
    let month = month + if early { 9 } else { 0 } - if early { 0 } else { 3 };
    let of_year = ((153 * month + 2) / 5 + day - 1) as i32;
    Some(year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468)
}

/// Year, month and day of a date.
///
/// The days are counted from 0000-03-01, so that the leap day is the last of its year; the method is that of
/// "Euclidean affine functions and their application to calendar algorithms" (Neri and Schneider, 2022).
#[inline]
pub fn civil(date: i32) -> Civil {
    let days = (date + 719_468) as u32;
    let century_part = 4 * days + 3;
    let century = century_part / 146_097;
    let year_part = (century_part % 146_097) | 3;
    let product = 2_939_745 * u64::from(year_part);
    let year_of_century = (product >> 32) as u32;
    let day_of_year = (product as u32) / 2_939_745 / 4;
    let month_part = 2141 * day_of_year + 197_913;
    let (month, day) = (month_part >> 16, (month_part & 0xffff) / 2141 + 1);
    let after_december = day_of_year >= 306;
    Civil {
        year: (100 * century + year_of_century) as i32 + i32::from(after_december),
        month: if after_december { month - 12 } else { month },
        day,
    }
}

/// The day of the year, 1 to 366.
pub fn day_of_year(date: i32) -> u32 {
    let first = date_from_civil(civil(date).year, 1, 1).expect("January has a first day");
    (date - first) as u32 + 1
}

/// The weekday, 0 for Monday to 6 for Sunday.
pub fn weekday_from_monday(date: i32) -> u32 {
    // 1970-01-01 was a Thursday.
    (date + 3).rem_euclid(7) as u32
}

/// ISO week-year and ISO week, 1 to 53. The week-year is 0 or 10000 for a few days at the ends of the calendar.
pub fn iso_week(date: i32) -> (i32, u32) {
    let year = civil(date).year;
    if date >= iso_year_start(year + 1) {
        return (year + 1, 1);
    }
    let start = iso_year_start(year);
    if date >= start {
        return (year, (date - start) as u32 / 7 + 1);
    }
    (year - 1, (date - iso_year_start(year - 1)) as u32 / 7 + 1)
}

/// The Monday of the week that holds January 4, for the years 0 to 10000.
pub(super) fn iso_year_start(year: i32) -> i32 {
    let january_4 = match year {
        0 => MIN_DATE - 366 + 3,
        10_000 => MAX_DATE + 4,
        _ => date_from_civil(year, 1, 4).expect("January has a fourth day"),
    };
    january_4 - weekday_from_monday(january_4) as i32
}

/// The day of a date-time.
#[inline]
pub fn date_of(nanos: i128) -> i32 {
    split(nanos).0
}

/// The time of day of a date-time.
#[inline]
pub fn clock(nanos: i128) -> Clock {
    let of_day = split(nanos).1;
    let (seconds, nanos) = (of_day / 1_000_000_000, of_day % 1_000_000_000);
    Clock {
        hour: (seconds / 3600) as u32,
        minute: (seconds / 60 % 60) as u32,
        second: (seconds % 60) as u32,
        nanos: nanos as u32,
    }
}

/// The day, and the nanoseconds of the day. The years 1678 to 2261 need no wide division.
#[inline]
fn split(nanos: i128) -> (i32, u64) {
    const DAY: i64 = NANOS_PER_DAY as i64;
    match i64::try_from(nanos) {
        Ok(nanos) => (nanos.div_euclid(DAY) as i32, nanos.rem_euclid(DAY) as u64),
        Err(_) => (nanos.div_euclid(NANOS_PER_DAY) as i32, nanos.rem_euclid(NANOS_PER_DAY) as u64),
    }
}

/// A day at midnight.
pub fn midnight(date: i32) -> i128 {
    i128::from(date) * NANOS_PER_DAY
}

/// A day at a time.
pub fn date_time(date: i32, clock: Clock) -> i128 {
    let seconds = i64::from(date) * 86_400 + i64::from(clock.hour * 3600 + clock.minute * 60 + clock.second);
    i128::from(seconds) * NANOS_PER_SECOND + i128::from(clock.nanos)
}

/// The date some days later, or earlier, if it stays in range.
pub fn add_days(date: i32, days: i64) -> Option<i32> {
    let moved = i64::from(date).checked_add(days)?;
    i32::try_from(moved).ok().filter(|date| in_range(*date))
}

/// The date some months later, or earlier, the day clamped to the last of the month, if it stays in range.
pub fn add_months(date: i32, months: i64) -> Option<i32> {
    let Civil { year, month, day } = civil(date);
    let moved = i64::from(year * 12 + month as i32 - 1).checked_add(months)?;
    let year = i32::try_from(moved.div_euclid(12)).ok().filter(|year| (1..=9999).contains(year))?;
    let month = moved.rem_euclid(12) as u32 + 1;
    date_from_civil(year, month, day.min(days_in_month(year, month)))
}

/// Whole months from `other` to `date`: the largest m ≥ 0 with `add_months(other, m) <= date`, or the negated converse
/// when `date` is the earlier one.
pub fn diff_months(date: i32, other: i32) -> i64 {
    if date < other {
        return -diff_months(other, date);
    }
    let (to, from) = (civil(date), civil(other));
    let months = i64::from((to.year - from.year) * 12 + to.month as i32 - from.month as i32);
    // The day that `other` is clamped to in the month of `date` may still lie ahead.
    let reached = add_months(other, months).is_some_and(|reached| reached <= date);
    months - i64::from(!reached)
}
