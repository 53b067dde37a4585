//! Dates and date-times: the civil calendar, default text forms and `%` formats.
//!
//! A date is a number of days since 1970-01-01, a date-time a number of nanoseconds since 1970-01-01T00:00:00. Both lie
//! in the years 0001 to 9999 of the proleptic Gregorian calendar.

mod calendar;
mod default_forms;
mod format;
mod parse;
mod strftime;
#[cfg(test)]
mod tests;

pub use calendar::{
    Civil, Clock, MAX_DATE, MIN_DATE, NANOS_PER_DAY, NANOS_PER_SECOND, add_days, add_months, civil, clock,
    date_from_civil, date_of, date_time, day_of_year, days_in_month, diff_months, in_range, iso_week, midnight,
    weekday_from_monday,
};
pub use default_forms::{
    DEFAULT_DATE_FORMS, DEFAULT_DATE_TIME_FORMS, parse_default_date, parse_default_date_time, parse_iso_date,
    parse_iso_date_time,
};
pub use strftime::DateFormat;

/// Appends the RFC 3339 form in UTC with six digits after the seconds.
pub fn append_rfc3339_micros(nanos: i128, out: &mut Vec<u8>) {
    crate::text::append_rfc3339(nanos, 6, out);
}
