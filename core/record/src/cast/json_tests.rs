//! JSON cells: the table of `formats.md` 1.4 for native values, with numbers by their literal text (5.5).

use arrow_buffer::Buffer;
use num_bigint::BigInt;

use super::*;
use crate::testing::Random;
use crate::{CellRef, Decimal, JsonKind, Kind, Value};

fn kind_of(json: &str) -> JsonKind {
    match json.as_bytes().first() {
        None => JsonKind::Absent,
        Some(b'n') => JsonKind::Null,
        Some(b't' | b'f') => JsonKind::Bool,
        Some(b'"') => JsonKind::String,
        Some(b'[') => JsonKind::Array,
        _ if json.contains(['.', 'e', 'E']) => JsonKind::Number,
        _ => JsonKind::Integer,
    }
}

/// Cells of JSON texts without escapes; an empty one is absent.
fn cells(texts: &[&str]) -> JsonCells {
    let (mut block, mut refs) = (String::new(), Vec::new());
    let kinds: Vec<JsonKind> = texts.iter().map(|text| kind_of(text)).collect();
    for (text, kind) in texts.iter().zip(&kinds) {
        let inner = if *kind == JsonKind::String { &text[1..text.len() - 1] } else { text };
        refs.push(match kind {
            JsonKind::Absent | JsonKind::Null => CellRef::ABSENT,
            _ => CellRef { offset: block.len() as u32, len: inner.len() as u32 },
        });
        block.push_str(inner);
    }
    let text =
        TextCells { block: Buffer::from_vec(block.into_bytes()), extra: Buffer::from_vec(Vec::<u8>::new()), refs };
    JsonCells { text, kinds }
}

fn admitted(rule: &AdmitRule, texts: &[&str]) -> Vec<Result<Value, String>> {
    let admitted = admit(std::slice::from_ref(rule), &[Cells::Json(cells(texts))], texts.len());
    let mut failures = admitted.failures.into_iter().peekable();
    let row = |row: usize| match failures.next_if(|failure| failure.row as usize == row) {
        Some(failure) => Err(failure.reason),
        None => Ok(admitted.columns[0].value(row)),
    };
    (0..texts.len()).map(row).collect()
}

fn rule(kind: Kind) -> AdmitRule {
    AdmitRule::new("field", Type::nullable(kind))
}

fn one(kind: Kind, json: &str) -> Option<Value> {
    admitted(&rule(kind), &[json]).remove(0).ok()
}

fn decimal(text: &str) -> Value {
    Value::Decimal(Decimal::parse_literal(text.as_bytes()).unwrap())
}

#[test]
fn formats_1_4_native_values_are_admitted_by_their_own_rules() {
    let text = |text: &str| Some(Value::String(text.into()));
    for (kind, json, expected) in [
        (Kind::Int, "5", Some(Value::Int(5))),
        (Kind::Int, "-0", Some(Value::Int(0))),
        (Kind::Int, "5.0", Some(Value::Int(5))),
        (Kind::Int, "1e2", Some(Value::Int(100))),
        (Kind::Int, "1.5", None),
        (Kind::Int, "1e-400", None),
        (Kind::Int, "true", Some(Value::Int(1))),
        (Kind::Int, "\"5\"", Some(Value::Int(5))),
        (Kind::Int, "\"5.0\"", None),
        (Kind::Int, "9223372036854775807", Some(Value::Int(i64::MAX))),
        (Kind::Int, "9223372036854775808", None),
        (Kind::Int, "9223372036854775807.0", Some(Value::Int(i64::MAX))),
        (Kind::Int, "[5]", None),
        (Kind::Float, "0.1", Some(Value::Float(0.1))),
        (Kind::Float, "1e400", None),
        (Kind::Float, "-1e400", None),
        (Kind::Float, "1e-400", Some(Value::Float(0.0))),
        (Kind::Float, "9007199254740992", Some(Value::Float(9007199254740992.0))),
        (Kind::Float, "9007199254740993", None),
        (Kind::Float, "9007199254740993.0", Some(Value::Float(9007199254740992.0))),
        (Kind::Float, "-10000000000000000000000", Some(Value::Float(-1e22))),
        (Kind::Float, "false", Some(Value::Float(0.0))),
        (Kind::Decimal, "0.10", Some(decimal("0.10"))),
        (Kind::Decimal, "12345678901234567890.123456789", Some(decimal("12345678901234567890.123456789"))),
        (Kind::Decimal, "1e2", Some(decimal("100"))),
        (Kind::Decimal, "true", None),
        (Kind::Bool, "7", Some(Value::Bool(true))),
        (Kind::Bool, "0", Some(Value::Bool(false))),
        (Kind::Bool, "0.0", None),
        (Kind::Bool, "\"yes\"", Some(Value::Bool(true))),
        (Kind::String, "\"x\"", text("x")),
        (Kind::String, "\"\"", text("")),
        (Kind::String, "5", None),
        (Kind::String, "true", None),
        (Kind::Date, "\"1970-01-02\"", Some(Value::Date(1))),
        (Kind::Date, "1", None),
        (Kind::Array, "[1,[]]", Some(Value::Array(vec![Value::Int(1), Value::Array(vec![])]))),
        (Kind::Array, "\"[1]\"", None),
        (Kind::Map, "[1]", None),
        (Kind::Any, "12345678901234567890", Some(decimal("12345678901234567890"))),
        (Kind::Any, "1e999", text("1e999")),
        (Kind::Any, "1.50", Some(Value::Float(1.5))),
        (Kind::Int, "null", Some(Value::Null)),
        (Kind::Int, "", Some(Value::Null)),
        (Kind::Int, "\"\"", Some(Value::Null)),
    ] {
        assert_eq!(one(kind, json), expected, "{json} as {kind:?}");
    }
}

#[test]
fn formats_1_4_missing_values_say_whether_they_are_null_or_absent() {
    let plain = AdmitRule::new("field", Type::plain(Kind::Int));
    let reasons = admitted(&plain, &["null", "", "\"\"", "1"]);
    assert_eq!(reasons[0], Err("the value is null, and int does not admit null".into()));
    assert_eq!(reasons[1], Err("the field is absent, and int does not admit null".into()));
    assert_eq!(reasons[2], Err("empty text is not a valid int".into()));
    assert_eq!(reasons[3], Ok(Value::Int(1)));
    let fallback = AdmitRule { default: Some(Value::Int(7)), ..plain };
    assert_eq!(admitted(&fallback, &["null", "", "1"]), [7, 7, 1].map(|value| Ok(Value::Int(value))));
}

#[test]
fn formats_1_4_a_multiple_column_takes_arrays_and_scalars() {
    let rule = AdmitRule { multiple: true, ..rule(Kind::Decimal) };
    let rows = admitted(&rule, &["[0.10,\"2\",null]", "1.50", "null", "[true]", "[]"]);
    assert_eq!(rows[0], Ok(Value::Array(vec![decimal("0.10"), decimal("2"), Value::Null])));
    assert_eq!(rows[1], Ok(Value::Array(vec![decimal("1.50")])));
    assert_eq!(rows[2], Ok(Value::Null));
    assert_eq!(rows[3], Err("element 1: Bool true is not a valid nullable(decimal)".into()));
    assert_eq!(rows[4], Ok(Value::Array(vec![])));
    let split = SplitRule { delimiter: ";".into(), escape: None, json: false };
    let rule = AdmitRule { multiple: true, split: Some(split), ..super::json_tests::rule(Kind::Int) };
    let ints = |values: &[i64]| Ok(Value::Array(values.iter().map(|value| Value::Int(*value)).collect()));
    assert_eq!(admitted(&rule, &["\"1;2\"", "[\"3;4\",5]", "6"]), [ints(&[1, 2]), ints(&[3, 4, 5]), ints(&[6])]);
}

#[test]
fn formats_1_3_without_coercion_only_native_values_pass() {
    let strict = |kind, json: &str| admitted(&AdmitRule { coerce: false, ..rule(kind) }, &[json]).remove(0).ok();
    assert_eq!(strict(Kind::Int, "5"), Some(Value::Int(5)));
    assert_eq!(strict(Kind::Int, "5.0"), None);
    assert_eq!(strict(Kind::Int, "\"5\""), None);
    assert_eq!(strict(Kind::Float, "5.5"), Some(Value::Float(5.5)));
    assert_eq!(strict(Kind::Float, "5"), None);
    assert_eq!(strict(Kind::Bool, "1"), None);
    assert_eq!(strict(Kind::Decimal, "1.5"), None);
    assert_eq!(strict(Kind::String, "\"x\""), Some(Value::String("x".into())));
}

/// A random number literal of the JSON grammar.
fn literal(random: &mut Random) -> String {
    let mut text = String::from(if random.below(2) == 0 { "-" } else { "" });
    let digits = |random: &mut Random, most: usize| -> String {
        (0..=random.below(most as u64)).map(|_| char::from(b'0' + random.below(10) as u8)).collect()
    };
    let whole = digits(random, 22);
    let whole = whole.trim_start_matches('0');
    text.push_str(if whole.is_empty() { "0" } else { whole });
    if random.below(2) == 0 {
        text.push('.');
        let zeros = random.below(2) == 0;
        text.push_str(&if zeros { "0".repeat(1 + random.below(4) as usize) } else { digits(random, 6) });
    }
    if random.below(3) == 0 {
        text.push_str(["e", "E", "e+", "e-"][random.below(4) as usize]);
        text.push_str(&random.below(25).to_string());
    }
    text
}

/// The integer that a literal is exactly, by unlimited arithmetic.
fn exact_int(literal: &str) -> Option<BigInt> {
    let (mantissa, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: BigInt = format!("{whole}{fraction}").parse().unwrap();
    let scale = fraction.len() as i64 - exponent.trim_start_matches('+').parse::<i64>().unwrap();
    let power = BigInt::from(10).pow(scale.unsigned_abs() as u32);
    if scale <= 0 {
        return Some(digits * power);
    }
    (&digits % &power == BigInt::from(0)).then(|| digits / power)
}

#[test]
fn formats_5_5_ints_are_exact_by_their_literal_text() {
    let mut random = Random::new(5);
    for _ in 0..20_000 {
        let literal = literal(&mut random);
        let exact = exact_int(&literal);
        // More digits than a decimal holds are given up only beyond what 64 bits hold.
        let expected = exact.and_then(|value| i64::try_from(value).ok()).map(Value::Int);
        let found = one(Kind::Int, &literal);
        let long = literal.chars().filter(char::is_ascii_digit).count() > 27;
        assert!(found == expected || (long && found.is_none()), "{literal}: {found:?} instead of {expected:?}");
    }
}

#[test]
fn formats_1_4_columns_of_one_kind_agree_with_single_cells() {
    const POOLS: [&[&str]; 7] = [
        &["1", "-5", "9223372036854775808", "0"],
        &["1.5", "1e400", "-0.0", "9007199254740993"],
        &["\"x\"", "\"\"", "\"7\"", "\"2031-08-09\""],
        &["true", "false"],
        &["[1]", "[]", "[\"x\",null]"],
        &["null", ""],
        &["1", "2.5", "\"x\"", "true", "[1]", "null", ""],
    ];
    let kinds = [
        Kind::Int,
        Kind::Float,
        Kind::Decimal,
        Kind::Bool,
        Kind::String,
        Kind::Date,
        Kind::DateTime,
        Kind::Array,
        Kind::Map,
        Kind::Any,
        Kind::Null,
    ];
    let mut random = Random::new(7);
    for round in 0..4000 {
        let pool = POOLS[round % POOLS.len()];
        let pick = |random: &mut Random| {
            let pool = if random.below(8) == 0 { POOLS[5] } else { pool };
            pool[random.below(pool.len() as u64) as usize]
        };
        let texts: Vec<&str> = (0..random.below(6)).map(|_| pick(&mut random)).collect();
        let kind = kinds[random.below(kinds.len() as u64) as usize];
        let ty = if random.below(2) == 0 { Type::plain(kind) } else { Type::nullable(kind) };
        let rule = AdmitRule {
            multiple: random.below(5) == 0,
            coerce: random.below(5) != 0,
            required: random.below(5) == 0,
            scale: (random.below(4) == 0).then_some(1),
            precision: (random.below(4) == 0).then_some(2),
            ..AdmitRule::new("field", ty)
        };
        let column = cells(&texts);
        let rows = admitted(&rule, &texts);
        for (row, found) in rows.into_iter().enumerate() {
            let single = admit_cell(&rule, Cell::json(&column, row)).map_err(Rejection::into_reason);
            assert_eq!(found, single, "{} of {texts:?} as {rule:?}", texts[row]);
        }
    }
}

#[test]
fn formats_5_5_untyped_columns_have_the_values_of_their_cells() {
    let check = |texts: &[&str], kind: Kind| {
        let column = untyped_column(&Cells::Json(cells(texts)));
        assert_eq!(column.kind(), kind, "{texts:?}");
        for (row, text) in texts.iter().enumerate() {
            let expected = admit_cell(&rule(Kind::Any), Cell::json(&cells(texts), row)).unwrap();
            assert_eq!(column.value(row), expected, "{text} of {texts:?}");
        }
    };
    check(&["1", "", "-2", "null"], Kind::Int);
    check(&["1", "9223372036854775808"], Kind::Any);
    check(&["1.5", "1e3", "null"], Kind::Float);
    check(&["1.5", "1e999"], Kind::Any);
    check(&["1", "1.5"], Kind::Any);
    check(&["\"x\"", "null", "\"a long text that no view holds in itself\""], Kind::String);
    check(&["true", "", "false"], Kind::Bool);
    check(&["[1,\"x\"]", "[]", "null"], Kind::Array);
    check(&["null", ""], Kind::Null);
    check(&["[1]", "\"x\"", "12345678901234567890"], Kind::Any);
}

#[test]
fn dlq_8_3_rejected_cells_stand_as_they_were_read() {
    let column = Cells::Json(cells(&["1.50", "\"x\"", "", "null", "[1.0,{\"k\": 2}]", "true"]));
    let original = |row| original_text(&rule(Kind::Int), &column, row);
    let expected = [Some("1.50"), Some("x"), None, None, Some("[1.0,{\"k\":2}]"), Some("true")];
    for (row, expected) in expected.into_iter().enumerate() {
        assert_eq!(original(row).as_deref(), expected);
    }
}
