use super::*;
use crate::datetime::{parse_iso_date, parse_iso_date_time};
use crate::testing::Random;
use crate::{Column, Decimal, Kind, Value};

fn float(value: f64) -> String {
    scalars::into_string(|out| append_float(value, out))
}

fn json_float(value: f64) -> String {
    scalars::into_string(|out| append_json_float(value, out))
}

#[test]
fn formats_1_12_floats_are_shortest_digits_without_exponent() {
    for (value, text) in [
        (61.0, "61"),
        (0.0000001, "0.0000001"),
        (-0.0, "-0"),
        (0.0, "0"),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (-2.5, "-2.5"),
        (1e16, "10000000000000000"),
        (1e22, "10000000000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (f64::NAN, "NaN"),
    ] {
        assert_eq!(float(value), text);
    }
    assert_eq!(float(f64::MAX).len(), 309);
    assert_eq!(float(5e-324), format!("0.{}5", "0".repeat(323)));
}

#[test]
fn cxl_4_4_json_floats_show_that_they_are_floats() {
    for (value, text) in [
        (61.0, "61.0"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1e-5, "0.00001"),
        (1e16, "1e+16"),
        (2.5e-7, "2.5e-7"),
        (-1.5e300, "-1.5e+300"),
        (9007199254740993.0, "9007199254740992.0"),
        (0.30000000000000004, "0.30000000000000004"),
        (f64::NAN, "\"NaN\""),
    ] {
        assert_eq!(json_float(value), text);
    }
}

#[test]
fn formats_1_12_float_digits_agree_with_the_standard_library() {
    let mut random = Random::new(31);
    for at in 0..50_000 {
        let value = match at % 4 {
            0 => f64::from_bits(random.next()),
            1 => random.below(1_000_000) as f64 / 100.0,
            2 => random.next() as i64 as f64,
            _ => random.below(1 << 53) as f64 / 2f64.powi(random.below(80) as i32),
        };
        // Display of the standard library is shortest, positional and without `.0` as well. Where two texts are equally
        // short and equally near, it may take the other one.
        let (found, expected) = (float(value), value.to_string());
        assert_eq!(found.len(), expected.len(), "{found} {expected}");
        assert!(found == expected || found.parse() == Ok(value), "{found} {expected}");
        if value.is_finite() {
            assert_eq!(json_float(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }
}

#[test]
fn cxl_4_3_text_forms() {
    let at = |text: &str| Value::DateTime(parse_iso_date_time(text.as_bytes()).unwrap());
    assert_eq!(text_form(&at("2031-08-09T06:05:00.25")), "2031-08-09T06:05:00.250");
    assert_eq!(text_form(&at("2031-08-09T06:05:00")), "2031-08-09T06:05:00");
    assert_eq!(text_form(&at("0001-01-01T00:00:00.00000001")), "0001-01-01T00:00:00.000000010");
    assert_eq!(text_form(&at("1969-12-31T23:59:59.000001")), "1969-12-31T23:59:59.000001");
    assert_eq!(text_form(&Value::Date(parse_iso_date(b"0031-08-09").unwrap())), "0031-08-09");
    assert_eq!(text_form(&Value::Array(vec![Value::Int(4), Value::String("x".into())])), "[4, x]");
    assert_eq!(text_form(&Value::Map(vec![("k".into(), Value::Int(4)), ("n".into(), Value::Null)])), "{k: 4, n: }");
    assert_eq!(text_form(&Value::Int(i64::MIN)), "-9223372036854775808");
    assert_eq!(cell(&Value::Array(vec![Value::Int(4), Value::Null])), "[4,null]");
    let rfc3339 = |nanos, digits| scalars::into_string(|out| append_rfc3339(nanos, digits, out));
    assert_eq!(rfc3339(1_500_000_000, 3), "1970-01-01T00:00:01.500Z");
    assert_eq!(rfc3339(1_500_000_000, 9), "1970-01-01T00:00:01.500000000Z");
    assert_eq!(rfc3339(1_500_000_000, 0), "1970-01-01T00:00:01Z");
}

#[test]
fn formats_1_12_cell_writer_writes_what_single_values_write() {
    let columns = [
        (Kind::Bool, vec![Value::Bool(true), Value::Null, Value::Bool(false)]),
        (Kind::Int, vec![Value::Int(-5), Value::Int(i64::MAX), Value::Null]),
        (Kind::Int, vec![Value::Int(1), Value::Int(2), Value::Int(3)]),
        (Kind::Float, vec![Value::Float(0.5), Value::Null, Value::Float(61.0)]),
        (Kind::Decimal, vec![Value::Decimal(Decimal::new(-5, 3).unwrap()), Value::Null, Value::Null]),
        (Kind::String, vec![Value::String("".into()), Value::Null, Value::String("längerer Text hier".into())]),
        (Kind::Date, vec![Value::Date(0), Value::Null, Value::Date(-719_162)]),
        (Kind::DateTime, vec![Value::DateTime(-1), Value::Null, Value::DateTime(1)]),
        (Kind::Any, vec![Value::String("x".into()), Value::Null, Value::Float(2.0)]),
        (Kind::Array, vec![Value::Array(vec![Value::Null]), Value::Null, Value::Array(vec![])]),
        (Kind::Null, vec![Value::Null, Value::Null, Value::Null]),
    ];
    for (kind, values) in columns {
        let column = Column::from_values(kind, &values);
        for column in [column.clone(), column.slice(1, 2), column.take(&[2, 0])] {
            let writer = CellWriter::new(&column);
            for row in 0..column.len() {
                let mut out = Vec::new();
                writer.append(row, &mut out);
                assert_eq!(String::from_utf8(out).unwrap(), cell(&column.value(row)), "{column:?}");
            }
        }
    }
}

#[test]
fn formats_1_4_preview_escapes_and_never_cuts_an_escape() {
    assert_eq!(preview("a\\\t\n\r"), r"a\\\t\n\r");
    assert_eq!(
        preview("a=\"b'|[]{}<>"),
        r"a\u{003D}\u{0022}b\u{0027}\u{007C}\u{005B}\u{005D}\u{007B}\u{007D}\u{003C}\u{003E}"
    );
    assert_eq!(preview("\0\u{85}\u{202e}\u{2066}é"), r"\u{0000}\u{0085}\u{202E}\u{2066}é");
    assert_eq!(preview_bytes(b"a\xff\xc3z"), r"a\xFF\xC3z");
    assert_eq!(preview(&"x".repeat(256)), "x".repeat(256));
    assert_eq!(preview(&"x".repeat(257)), "x".repeat(253) + "…");
    let cut = preview(&"\u{1}".repeat(100)).into_owned();
    assert_eq!(cut, r"\u{0001}".repeat(31) + "…");
    let mut random = Random::new(33);
    for _ in 0..2_000 {
        let pieces = ["x", "é", "…", "\n", "\\", "\u{1}", "=", "😀"];
        let text: String = (0..random.below(400)).map(|_| *random.pick(&pieces)).collect();
        let shown = preview(&text);
        assert!(shown.len() <= PREVIEW_BYTES);
        if let Some(whole) = shown.strip_suffix('…').filter(|_| !text.ends_with('…')) {
            // What is shown is exactly the preview of some beginning of the text.
            assert!(text.char_indices().any(|(at, _)| preview(&text[..at]) == *whole));
        }
    }
}

#[test]
fn formats_1_9_raw_rows_can_be_rebuilt() {
    assert_eq!(raw_row(br"a\b"), r"a\b");
    assert_eq!(raw_row(b"a\\b\xffc\\d\xe9"), r"a\\b\xFFc\\d\xE9");
    let mut random = Random::new(34);
    for _ in 0..2_000 {
        let bytes: Vec<u8> = (0..random.below(20)).map(|_| *random.pick(b"\\x41\xff\xc3\xa9\x80,\xf0")).collect();
        let text = raw_row(&bytes);
        let rebuilt = if std::str::from_utf8(&bytes).is_ok() { text.into_bytes() } else { unescape(&text) };
        assert_eq!(rebuilt, bytes);
    }
}

fn unescape(text: &str) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'\\', [b'\\', after @ ..]) => {
                out.push(b'\\');
                rest = after;
            }
            (b'\\', [b'x', a, b, after @ ..]) => {
                let hex = [*a, *b];
                out.push(u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap());
                rest = after;
            }
            _ => out.push(*first),
        }
    }
    out
}
