use super::*;
use crate::testing::Random;

fn scalar(random: &mut Random) -> Value {
    match random.below(10) {
        0 => Value::Null,
        1 => Value::Bool(random.below(2) == 0),
        2 => Value::Int(random.next() as i64),
        3 => Value::Int(random.below(100) as i64),
        4 => Value::Float(*random.pick(&[61.0, 0.0, -0.0, 1e16, 2.5e-7, 1e-5, f64::MAX, 5e-324])),
        5 => Value::Float(f64::from_bits(random.next())),
        6 => Value::Decimal(Decimal::new(random.next() as i64 as i128, random.below(29) as u8).unwrap()),
        7 => Value::Date(random.below(2_000_000) as i32 - 700_000),
        8 => Value::DateTime(i128::from(random.next() as i64)),
        _ => Value::String((*random.pick(&["", "a\"b\\", "\u{1}\t\n", "é…", "$date", "12"])).into()),
    }
}

fn value(random: &mut Random, depth: usize) -> Value {
    let size = random.below(4);
    match random.below(4) {
        0 if depth > 0 => Value::Array((0..size).map(|_| value(random, depth - 1)).collect()),
        1 if depth > 0 => {
            let keys = ["$date", "$map", "k", "", "$x", "b\"c"];
            let first = random.below(6) as usize;
            Value::Map((0..size as usize).map(|at| (keys[(first + at) % 6].into(), value(random, depth - 1))).collect())
        }
        _ => scalar(random),
    }
}

/// Equality in which NaN equals itself and the zeros differ.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => {
            left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Map(left), Value::Map(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| left.0 == right.0 && same(&left.1, &right.1))
        }
        _ => left == right,
    }
}

#[test]
fn cxl_4_1_tagged_json_loses_nothing() {
    let mut random = Random::new(21);
    for _ in 0..20_000 {
        let value = value(&mut random, 4);
        let text = to_tagged(&value);
        assert!(same(&from_tagged(&text), &value), "{value:?} {text}");
    }
}

#[test]
fn cxl_4_4_compact_json_is_json() {
    let mut random = Random::new(22);
    for _ in 0..5_000 {
        let value = value(&mut random, 4);
        let text = to_compact(&value);
        serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    let shown = |value| to_compact(&value);
    assert_eq!(shown(Value::Array(vec![Value::String("a".into()), Value::Null])), r#"["a",null]"#);
    assert_eq!(
        shown(Value::Map(vec![("k".into(), Value::Int(1)), ("a".into(), Value::Float(61.0))])),
        r#"{"k":1,"a":61.0}"#
    );
    assert_eq!(shown(Value::Float(f64::NEG_INFINITY)), r#""-inf""#);
    assert_eq!(shown(Value::Decimal(Decimal::new(710, 2).unwrap())), r#""7.10""#);
    let mut out = Vec::new();
    append_texts([Some("a;"), None, Some("")], &mut out);
    assert_eq!(out, br#"["a;",null,""]"#);
}

#[test]
fn formats_5_5_accepts_what_serde_json_accepts() {
    let seeds = [
        r#"[1, -0, 0.5, 1e5, 1.25E-3, "a\u00e9\ud83d\ude00\n", null, true, false, {"k": [], "b": {}}]"#,
        r#"{"a": {"b": [1, 2, {"c": "\\\"\/\b\f"}]}}"#,
        r#"["é", 01, .5, 5., +1, NaN, 'x', nul, "\x", "\ud800", "	"]"#,
    ];
    let mut random = Random::new(23);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..40_000 {
        let seed: Vec<char> = random.pick(&seeds).chars().collect();
        let start = random.below(seed.len() as u64) as usize;
        let end = if random.below(2) == 0 {
            seed.len()
        } else {
            start + random.below((seed.len() - start) as u64 + 1) as usize
        };
        let start = if random.below(3) == 0 { 0 } else { start };
        let mut text: Vec<char> = seed[start..end].to_vec();
        for _ in 0..random.below(3) {
            if !text.is_empty() {
                let at = random.below(text.len() as u64) as usize;
                text[at] = *random.pick(&['[', ']', '{', '}', ',', ':', '"', '\\', '0', '1', 'e', '-', '.', ' ', 'u']);
            }
        }
        let text: String = text.into_iter().collect();
        let expected = serde_json::from_str::<serde_json::Value>(&text);
        let found = parse(&text, 128);
        // The one number form on which they differ: serde_json refuses what overflows a double.
        if expected.as_ref().is_err_and(|error| error.to_string().contains("out of range")) {
            continue;
        }
        // A repeated key is a fault here.
        if found.as_ref().is_err_and(|error| error.message.contains("repeated")) {
            continue;
        }
        assert_eq!(found.is_ok(), expected.is_ok(), "{text} {found:?} {expected:?}");
        if found.is_ok() { accepted += 1 } else { refused += 1 }
    }
    assert!(accepted > 300 && refused > 300, "{accepted} {refused}");
}

#[test]
fn formats_5_5_numbers_keep_their_text_until_typed() {
    let typed = |text: &str| parse(text, 8).unwrap().into_value();
    assert_eq!(typed("9223372036854775807"), Value::Int(i64::MAX));
    assert_eq!(typed("9223372036854775808"), Value::Decimal(Decimal::new(1 << 63, 0).unwrap()));
    assert_eq!(typed(&"9".repeat(40)), Value::String("9".repeat(40).into()));
    assert_eq!(typed("1.10"), Value::Float(1.1));
    assert_eq!(typed("1e400"), Value::String("1e400".into()));
    assert_eq!(typed("-0"), Value::Int(0));
    assert_eq!(parse("1.10", 8), Ok(Json::Number("1.10")));
}

#[test]
fn formats_5_3_depth_and_repeated_keys_are_faults() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(parse(&nested(64), MAX_DEPTH).is_ok());
    assert_eq!(parse(&nested(65), MAX_DEPTH).unwrap_err().offset, 64);
    assert!(parse(r#"{"a":1,"a":2}"#, 8).is_err());
    assert_eq!(parse("[1 2]", 8).unwrap_err().to_string(), "expected ',' or ']' at byte 3");
}
