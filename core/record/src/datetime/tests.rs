use super::calendar::iso_year_start;
use super::*;
use crate::testing::Random;

fn day(text: &str) -> i32 {
    parse_iso_date(text.as_bytes()).unwrap_or_else(|| panic!("{text} is a day"))
}

fn shown(date: i32) -> String {
    let Civil { year, month, day } = civil(date);
    format!("{year:04}-{month:02}-{day:02}")
}

fn compile(format: &str) -> DateFormat {
    DateFormat::compile(format).unwrap()
}

#[test]
fn cxl_4_1_every_day_of_the_calendar_in_order() {
    // The oracle counts days one by one, as a wall calendar does.
    let (mut year, mut month, mut day) = (1, 1, 1);
    let (mut yday, mut weekday) = (1, 0);
    for date in MIN_DATE..=MAX_DATE {
        assert_eq!(civil(date), Civil { year, month, day });
        assert_eq!(date_from_civil(year, month, day), Some(date));
        assert_eq!(weekday_from_monday(date), weekday);
        assert_eq!(day_of_year(date), yday);
        weekday = (weekday + 1) % 7;
        (day, yday) = (day + 1, yday + 1);
        if day > days_in_month(year, month) {
            (month, day) = (month + 1, 1);
        }
        if month > 12 {
            (year, month, yday) = (year + 1, 1, 1);
        }
    }
    assert_eq!((year, month, day), (10_000, 1, 1));
}

#[test]
fn formats_1_4_days_that_do_not_exist_are_no_dates() {
    for text in ["2023-02-29", "2024-13-01", "2024-04-31", "2024-00-10", "1900-02-29", "2024-01-00", "0000-01-01"] {
        assert_eq!(parse_iso_date(text.as_bytes()), None, "{text}");
        assert_eq!(parse_default_date(text.as_bytes()), None, "{text}");
    }
    assert_eq!(shown(day("2024-02-29")), "2024-02-29");
    assert_eq!(shown(day("2000-02-29")), "2000-02-29");
    assert_eq!(day("0001-01-01"), MIN_DATE);
    assert_eq!(day("9999-12-31"), MAX_DATE);
}

#[test]
fn formats_1_4_default_date_chain() {
    for (text, date) in [
        ("2031-08-09", "2031-08-09"),
        ("08/09/2031", "2031-08-09"),
        ("2031/08/09", "2031-08-09"),
        ("08-09-2031", "2031-08-09"),
        ("8/9/2031", "2031-08-09"),
        ("2031-8-9", "2031-08-09"),
        ("13/08/2031", ""),
        ("8/9/31", ""),
        ("31-08-09", ""),
        ("20310809", ""),
        ("2031-08/09", ""),
        ("2031.08.09", ""),
        (" 2031-08-09", ""),
        ("2031-08-09 ", ""),
        ("2031- 8-09", ""),
        ("12031-08-09", ""),
        ("2031-08-091", ""),
        ("+2031-08-09", ""),
        ("٢٠٣١-٠٨-٠٩", ""),
        ("", ""),
    ] {
        let found = parse_default_date(text.as_bytes()).map(shown).unwrap_or_default();
        assert_eq!(found, date, "{text}");
    }
}

#[test]
fn formats_1_4_default_date_time_chain() {
    let utc = |text: &str| parse_iso_date_time(text.as_bytes()).unwrap();
    for (text, same) in [
        ("2031-08-09T06:05:04", "2031-08-09T06:05:04"),
        ("2031-08-09 06:05:04", "2031-08-09T06:05:04"),
        ("2031-08-09 06:05:04.123456789", "2031-08-09T06:05:04.123456789"),
        ("08/09/2031 06:05:04.5", "2031-08-09T06:05:04.5"),
        ("08/09/2031 06:05", "2031-08-09T06:05:00"),
        ("2031-08-09T06:05:04Z", "2031-08-09T06:05:04"),
        ("2031-08-09T06:05:04.25+02:00", "2031-08-09T04:05:04.25"),
        ("2031-08-09T23:05:04-05:30", "2031-08-10T04:35:04"),
    ] {
        assert_eq!(parse_default_date_time(text.as_bytes()), Some(utc(same)), "{text}");
    }
    for text in [
        "2031-08-09 06:05",
        "2031-08-09T06:05",
        "2031-08-09",
        "08/09/2031T06:05:04",
        "2031/08/09 06:05:04",
        "2031-08-09T06:05:60",
        "2031-08-09T24:00:00",
        "2031-08-09T06:05:04.",
        "2031-08-09T06:05:04.1234567890",
        "2031-08-09T06:05:04+25:00",
        "2031-08-09T06:05:04+02",
        "2031-08-09T06:05:04 Z",
        " 2031-08-09T06:05:04",
        "2031-08-09T06:05:04 ",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
    ] {
        assert_eq!(parse_default_date_time(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn cxl_10_8_default_date_time_has_full_fields_and_no_zone() {
    assert!(parse_iso_date_time(b"2031-08-09T06:05:00").is_some());
    for text in ["2031-08-09T6:05:00", "2031-08-09 06:05:00", "2031-08-09T06:05:00Z", "6:05", "2031-08-09"] {
        assert_eq!(parse_iso_date_time(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn cxl_10_5_months_are_clamped_and_counted() {
    let months = |text: &str, months| add_months(day(text), months).map(shown).unwrap_or_default();
    assert_eq!(months("2031-10-31", -1), "2031-09-30");
    assert_eq!(months("2028-02-29", 12), "2029-02-28");
    assert_eq!(months("9999-12-31", 1), "");
    assert_eq!(months("0001-01-01", -1), "");
    assert_eq!(months("2031-10-31", i64::MAX), "");
    assert_eq!(add_days(day("2031-02-27"), 3).map(shown).unwrap(), "2031-03-02");
    assert_eq!(add_days(MAX_DATE, 1), None);
    assert_eq!(add_days(0, i64::MIN), None);
    assert_eq!(diff_months(day("2028-02-29"), day("2028-01-31")), 1);
    assert_eq!(diff_months(day("2031-01-01"), day("2031-03-15")), -2);
    let mut random = Random::new(3);
    for _ in 0..5_000 {
        let from = MIN_DATE + random.below(3_000_000) as i32;
        let to = from + random.below(4_000) as i32;
        if to > MAX_DATE {
            continue;
        }
        let slow = (0..).take_while(|months| add_months(from, *months).is_some_and(|date| date <= to)).last().unwrap();
        assert_eq!(diff_months(to, from), slow, "{} {}", shown(to), shown(from));
    }
}

#[test]
fn cxl_22_writing() {
    let at = parse_iso_date_time(b"2031-08-09T06:05:04.5").unwrap();
    let written = |format: &str| {
        let mut out = String::new();
        compile(format).format(at, &mut out);
        out
    };
    for (format, text) in [
        ("%I:%M %p", "06:05 AM"),
        ("%G-W%V", "2031-W32"),
        ("%S%.f|%6f", "04.500|500000"),
        ("%f %3f %.3f %9f", "500000000 500 .500 500000000"),
        ("%F %D %T %R", "2031-08-09 08/09/31 06:05:04 06:05"),
        ("%A %a %B %b %h", "Saturday Sat August Aug Aug"),
        ("%e|%-d|%_d|%0d|%_m|%-j|%j", " 9|9| 9|09| 8|221|221"),
        ("%u%w %U %W %y %g %P", "66 31 31 31 31 am"),
        ("%n%t%%é", "\n\t%é"),
        ("%d %b %Y", "09 Aug 2031"),
    ] {
        assert_eq!(written(format), text, "{format}");
    }
    let mut out = String::new();
    compile("%S%.f").format(0, &mut out);
    assert_eq!(out, "00");
}

#[test]
fn cxl_22_unknown_specifiers_are_named() {
    for format in ["%z", "%Z", "%+", "%s", "%Q", "%-B", "%.4f", "%4f", "%.f%", "%-", "%C", "%_%", "%.3"] {
        let error = DateFormat::compile(format).unwrap_err();
        assert!(error.contains('%'), "{format}: {error}");
    }
    assert_eq!(DateFormat::compile("%d.%Q.%Y").unwrap_err(), "'%Q' is not a date format specifier");
}

#[test]
fn cxl_22_reading_dates() {
    for (format, text, date) in [
        ("%d.%m.%Y", "09.08.2031", "2031-08-09"),
        ("%d %b %y", "9 aug 31", "2031-08-09"),
        ("%d %b %y", "9 aug 70", "1970-08-09"),
        ("%Y-%m-%d", "2031- 8-9", "2031-08-09"),
        ("%Y-%m-%d", "31-8-9", "0031-08-09"),
        ("%d %B %Y", "09  AUGUST 2031", "2031-08-09"),
        ("%d %B %Y", "09Aug2031", "2031-08-09"),
        ("%d %b %Y", "09 August 2031", ""),
        ("%A %d %b %Y", "Sat 9 Aug 2031", "2031-08-09"),
        ("%A %d %b %Y", "Sunday 9 Aug 2031", ""),
        ("%Y %j", "2031 221", "2031-08-09"),
        ("%Y %j", "2031 366", ""),
        ("%G-W%V-%u", "2031-W32-6", "2031-08-09"),
        ("%G-W%V-%u", "2031-W53-6", ""),
        ("%Y %U %w", "2031 31 6", "2031-08-09"),
        ("%Y %W %u", "2031 31 6", "2031-08-09"),
        ("%Y %W %u", "2031 0 1", ""),
        ("%Y-%m-%d %H:%M", "2031-08-09 23:59", "2031-08-09"),
        ("%Y-%m-%d %H", "2031-08-09 24", ""),
        ("%Y-%m-%d %y", "2031-08-09 32", ""),
        ("%Y-%m", "2031-08", ""),
        ("%Y-%m-%d", "2031-08-09 ", ""),
        ("%Y-%m-%d", "2031-02-29", ""),
        ("%Y%m%d", "20310809", "2031-08-09"),
        ("%d%%%m%%%Y", "9%8%2031", "2031-08-09"),
    ] {
        assert_eq!(compile(format).parse_date(text).map(shown).unwrap_or_default(), date, "{format} {text}");
    }
}

#[test]
fn cxl_22_reading_date_times() {
    let read = |format: &str, text: &str| compile(format).parse_date_time(text);
    let iso = |text: &str| parse_iso_date_time(text.as_bytes());
    assert_eq!(read("%F %H:%M", "2031-08-09 06:05"), iso("2031-08-09T06:05:00"));
    assert_eq!(read("%F %I:%M %p", "2031-08-09 12:05 am"), iso("2031-08-09T00:05:00"));
    assert_eq!(read("%F %I:%M%P", "2031-08-09 1:05PM"), iso("2031-08-09T13:05:00"));
    assert_eq!(read("%F %I:%M", "2031-08-09 1:05"), None);
    assert_eq!(read("%F", "2031-08-09"), None);
    assert_eq!(read("%F %H %p", "2031-08-09 13 am"), None);
    assert_eq!(read("%F %T", "2031-08-09 06:05:60"), None);
    assert_eq!(read("%F %T.%f", "2031-08-09 06:05:04.5"), iso("2031-08-09T06:05:04.000000005"));
    assert_eq!(read("%F %T%.f", "2031-08-09 06:05:04.5"), iso("2031-08-09T06:05:04.5"));
    assert_eq!(read("%F %T%.f", "2031-08-09 06:05:04"), iso("2031-08-09T06:05:04"));
    assert_eq!(read("%F %T.%3f", "2031-08-09 06:05:04.250"), iso("2031-08-09T06:05:04.25"));
    assert_eq!(read("%F %T.%3f", "2031-08-09 06:05:04.25"), None);
    assert_eq!(read("%F %T%.3f", "2031-08-09 06:05:04.250"), iso("2031-08-09T06:05:04.25"));
    assert_eq!(read("%F %T%.3f", "2031-08-09 06:05:04.2"), None);
}

#[test]
fn cxl_22_what_a_full_format_writes_it_reads() {
    let formats = [
        "%Y-%m-%dT%H:%M:%S.%f",
        "%A, %d %B %Y %I:%M:%S %p%.9f",
        "%G %V %u %H.%M.%S.%9f",
        "%j/%Y %T.%9f %a",
        "%U %w %Y %T.%9f",
        "%W %u %Y %T.%9f",
    ]
    .map(compile);
    let mut random = Random::new(5);
    for _ in 0..5_000 {
        let date = MIN_DATE + random.below((MAX_DATE - MIN_DATE + 1) as u64) as i32;
        let nanos = midnight(date) + i128::from(random.below(86_400_000_000_000));
        for format in &formats {
            let mut text = String::new();
            format.format(nanos, &mut text);
            assert_eq!(format.parse_date_time(&text), Some(nanos), "{} {text}", format.source());
        }
    }
}

#[test]
fn cxl_22_iso_years_start_on_a_monday() {
    for year in 0..=10_000 {
        assert_eq!(weekday_from_monday(iso_year_start(year)), 0);
    }
    assert_eq!(iso_week(day("2027-01-01")), (2026, 53));
    assert_eq!(iso_week(day("2024-12-30")), (2025, 1));
}
