//! What records look like, and what cannot be written.

use std::sync::Arc;

use clinker_format::{OptionValue, WriteFault};
use clinker_record::{Column, Decimal, Kind, Origin, Value};

use super::support::{FAIR, Random, lines, read_in, reader, text, write, writer};

fn ints(values: &[i64]) -> Column {
    Column::from_values(Kind::Int, &values.iter().map(|value| Value::Int(*value)).collect::<Vec<_>>())
}

fn texts(values: &[Option<&str>]) -> Column {
    let value = |value: &Option<&str>| value.map_or(Value::Null, |text| Value::String(text.into()));
    Column::from_values(Kind::String, &values.iter().map(value).collect::<Vec<_>>())
}

fn any(values: Vec<Value>) -> Column {
    Column::from_values(Kind::Any, &values)
}

/// One line with one value.
fn line(value: Value) -> Result<String, (&'static str, String)> {
    let kind = match &value {
        Value::Float(_) => Kind::Float,
        Value::Decimal(_) => Kind::Decimal,
        Value::Date(_) => Kind::Date,
        Value::DateTime(_) => Kind::DateTime,
        Value::Bool(_) => Kind::Bool,
        _ => Kind::Any,
    };
    let column = Column::from_values(kind, &[value]);
    let written = write(&*writer(&lines(), false), &[("v", column)], 9);
    written.map_err(|encoded| (encoded.refused[0].code, encoded.refused[0].reason.clone()))
}

/// Why a column set is refused.
fn conflict(names: &[&str]) -> (String, String) {
    let names: Vec<Arc<str>> = names.iter().map(|name| Arc::from(*name)).collect();
    let error = writer(&lines(), false).writer().columns(&names, &mut Vec::new()).expect_err("a conflict");
    let fault = WriteFault::of(&error).expect("a fault of the format");
    assert_eq!(fault.code, "E448");
    (fault.column.to_string(), fault.reason.clone())
}

#[test]
fn formats_5_6_arrays_and_lines_stand_as_specified() {
    let columns = [("a", ints(&[1, 2, 3])), ("b", texts(&[Some("x"), None, Some("")]))];
    for batch in [1, 2, 9] {
        assert_eq!(
            write(&*writer(&[], false), &columns, batch).expect("written"),
            "[\n{\"a\":1,\"b\":\"x\"},\n{\"a\":2},\n{\"a\":3,\"b\":\"\"}\n]\n"
        );
        assert_eq!(
            write(&*writer(&lines(), false), &columns, batch).expect("written"),
            "{\"a\":1,\"b\":\"x\"}\n{\"a\":2}\n{\"a\":3,\"b\":\"\"}\n"
        );
    }
    assert_eq!(write(&*writer(&[], false), &[("a", ints(&[]))], 1).expect("written"), "[]\n");
    assert_eq!(write(&*writer(&lines(), false), &[("a", ints(&[]))], 1).expect("written"), "");
}

#[test]
fn formats_5_6_nulls_are_omitted_or_preserved_with_their_containers() {
    let columns = [("a.x", texts(&[None, Some("t")])), ("b", Column::Null(2)), ("a.y.z", texts(&[None, None]))];
    assert_eq!(write(&*writer(&lines(), false), &columns, 9).expect("written"), "{}\n{\"a\":{\"x\":\"t\"}}\n");
    assert_eq!(
        write(&*writer(&lines(), true), &columns, 9).expect("written"),
        "{\"a\":{\"x\":null,\"y\":{\"z\":null}},\"b\":null}\n{\"a\":{\"x\":\"t\",\"y\":{\"z\":null}},\"b\":null}\n"
    );
    let value = Value::Array(vec![Value::Null, Value::Map(vec![("k".into(), Value::Null)]), Value::Map(vec![])]);
    assert_eq!(line(value).expect("written"), "{\"v\":[null,{\"k\":null},{}]}\n");
}

#[test]
fn formats_1_11_columns_are_grouped_where_their_prefix_first_appears() {
    let one = |value| ints(&[value]);
    let columns = [
        ("a.b.c", one(1)),
        ("d", one(2)),
        ("a.e", one(3)),
        ("a.b.f", one(4)),
        ("g\\.h\\[0\\\\", one(5)),
        ("..", one(6)),
    ];
    assert_eq!(
        write(&*writer(&lines(), false), &columns, 9).expect("written"),
        "{\"a\":{\"b\":{\"c\":1,\"f\":4},\"e\":3},\"d\":2,\"g.h[0\\\\\":5,\"\":{\"\":{\"\":6}}}\n"
    );
}

#[test]
fn formats_1_11_names_that_exclude_one_another_are_e448_before_any_byte() {
    let (column, reason) = conflict(&["a", "x", "a.b"]);
    assert_eq!(column, "a.b");
    assert_eq!(
        reason,
        "column `a` holds a value where column `a.b` needs a container; written as `a\\.b`, that name is one key"
    );
    let (column, reason) = conflict(&["a.b.c", "a.b"]);
    assert_eq!(column, "a.b");
    assert!(
        reason.contains("column `a.b` holds a value where column `a.b.c` needs a container; written as `a\\.b\\.c`")
    );
    assert_eq!(conflict(&["a[b", "a\\[b"]).1, "columns `a[b` and `a\\[b` are written under the same path");
    assert!(conflict(&["x\\]"]).1.ends_with("a literal one is written twice: `x\\\\]`"));
    assert!(conflict(&["x\\"]).1.contains("backslash"));
    let deep = vec!["a"; 65].join(".");
    assert!(conflict(&[&deep]).1.starts_with("the name has 65 segments, and 64 are the most"));
    let names: Vec<Arc<str>> = vec![vec!["a"; 64].join(".").into()];
    assert!(writer(&[], false).writer().columns(&names, &mut Vec::new()).is_ok());
    // The encoder may be asked first.
    let encoded = write_unchecked(&["a", "a.b"]);
    assert_eq!(encoded, ("E448", None, "a.b".to_owned()));
}

fn write_unchecked(names: &[&str]) -> (&'static str, Option<clinker_record::Category>, String) {
    let names: Vec<Arc<str>> = names.iter().map(|name| Arc::from(*name)).collect();
    let columns: Vec<Column> = names.iter().map(|_| ints(&[1])).collect();
    let mut encoded = clinker_format::Encoded::default();
    let rows = clinker_format::OutputRows { names: &names, columns: &columns, rows: 1, origin: &Origin::none() };
    writer(&lines(), false).encoder().expect("json has an encoder").encode(&rows, &mut encoded);
    assert!(encoded.bytes.is_empty() && encoded.ends.is_empty());
    let refused = &encoded.refused[0];
    (refused.code, refused.category, refused.column.to_string())
}

#[test]
fn formats_1_12_scalars_are_rendered_as_specified() {
    let float = |value| line(Value::Float(value)).expect("written");
    assert_eq!(float(61.0), "{\"v\":61.0}\n");
    assert_eq!(float(0.00001), "{\"v\":0.00001}\n");
    assert_eq!(float(1e16), "{\"v\":1e+16}\n");
    assert_eq!(float(2.5e-7), "{\"v\":2.5e-7}\n");
    assert_eq!(float(-0.0), "{\"v\":-0.0}\n");
    assert_eq!(float(745.09), "{\"v\":745.09}\n");
    let decimal = Decimal::new(710, 2).expect("fits");
    assert_eq!(line(Value::Decimal(decimal)).expect("written"), "{\"v\":\"7.10\"}\n");
    assert_eq!(line(Value::Date(0)).expect("written"), "{\"v\":\"1970-01-01\"}\n");
    assert_eq!(line(Value::DateTime(250_000_000)).expect("written"), "{\"v\":\"1970-01-01T00:00:00.250\"}\n");
    assert_eq!(line(Value::Bool(true)).expect("written"), "{\"v\":true}\n");
    let nested = Value::Array(vec![Value::Decimal(decimal), Value::Date(0), Value::Float(1.0), Value::Int(1)]);
    assert_eq!(line(nested).expect("written"), "{\"v\":[\"7.10\",\"1970-01-01\",1.0,1]}\n");
}

#[test]
fn formats_5_6_only_quotes_backslashes_and_controls_are_escaped() {
    let value = "\"\\\u{8}\u{c}\n\r\t\u{1}\u{1f}/\u{7f}\u{85}\u{2028}é😀";
    let columns = [("k\"\n", texts(&[Some(value)]))];
    assert_eq!(
        write(&*writer(&lines(), false), &columns, 9).expect("written"),
        "{\"k\\\"\\n\":\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f/\u{7f}\u{85}\u{2028}é😀\"}\n"
    );
}

#[test]
fn formats_5_6_text_of_any_length_is_escaped_wherever_it_must_be() {
    for len in 0..40 {
        for at in 0..=len {
            let mut value = "é".repeat(len / 2) + &"x".repeat(len % 2);
            let place =
                value.char_indices().map(|(place, _)| place).chain([value.len()]).filter(|place| *place <= at).max();
            value.insert(place.unwrap_or(0), ['"', '\\', '\n', '\u{1f}'][at % 4]);
            let written = write(&*writer(&lines(), false), &[("v", texts(&[Some(&value)]))], 9).expect("written");
            let parsed: serde_json::Value = serde_json::from_str(&written).expect("JSON");
            assert_eq!(parsed["v"], value.as_str());
        }
    }
}

#[test]
fn formats_5_6_pretty_puts_each_member_on_its_own_line() {
    let value = Value::Map(vec![
        ("list".into(), Value::Array(vec![Value::Int(1), Value::String("a,{}[]:\"b".into())])),
        ("none".into(), Value::Array(vec![])),
    ]);
    let columns = [("a.b", ints(&[1, 2])), ("v", any(vec![value, Value::Map(vec![])])), ("z", Column::Null(2))];
    let pretty = [("pretty", OptionValue::Bool(true))];
    let first = "{\n  \"a\": {\n    \"b\": 1\n  },\n  \"v\": {\n    \"list\": [\n      1,\n      \"a,{}[]:\\\"b\"\n    ],\n    \"none\": []\n  }\n}";
    let second = "{\n  \"a\": {\n    \"b\": 2\n  },\n  \"v\": {}\n}";
    assert_eq!(write(&*writer(&pretty, false), &columns, 1).expect("written"), format!("[\n{first},\n{second}\n]\n"));
    let lines = [pretty[0].clone(), ("format", text("ndjson"))];
    assert_eq!(write(&*writer(&lines, false), &columns, 9).expect("written"), format!("{first}\n{second}\n"));
}

#[test]
fn formats_1_12_numbers_that_are_not_finite_stop_the_output_behind_the_records_before() {
    let column = Column::from_values(Kind::Float, &[Value::Float(1.0), Value::Float(f64::NAN), Value::Float(2.0)]);
    let encoded = write(&*writer(&lines(), false), &[("a", ints(&[1, 2, 3])), ("v", column)], 9).expect_err("refused");
    assert_eq!(encoded.bytes, b"{\"a\":1,\"v\":1.0}\n");
    let refused = &encoded.refused[0];
    assert_eq!((refused.row, refused.code, refused.category, &*refused.column), (1, "E443", None, "v"));
    assert_eq!((refused.value.as_str(), refused.reason.as_str()), ("NaN", "the number is not finite: NaN"));
    let inside = Value::Array(vec![Value::Float(f64::NEG_INFINITY)]);
    assert_eq!(line(inside), Err(("E443", "the number is not finite: -inf".into())));
    // A null may stand over any bits.
    let nulls = Column::from_values(Kind::Float, &[Value::Null]);
    assert_eq!(write(&*writer(&lines(), false), &[("v", nulls)], 9).expect("written"), "{}\n");
}

#[test]
fn formats_1_11_map_keys_lose_one_leading_backslash_or_are_e448() {
    let map = |keys: &[&str]| line(Value::Map(keys.iter().map(|key| (Arc::from(*key), Value::Int(1))).collect()));
    assert_eq!(
        map(&["\\@x", "\\#text", "\\\\x", "@y", "a\\b"]).expect("written"),
        "{\"v\":{\"@x\":1,\"#text\":1,\"\\\\x\":1,\"@y\":1,\"a\\\\b\":1}}\n"
    );
    assert_eq!(map(&["\\x"]).expect_err("refused").0, "E448");
    assert_eq!(map(&["\\@x", "@x"]), Err(("E448", "two keys of a map are both written as `@x`".into())));
    let nested = |levels: usize| (0..levels).fold(Value::Int(1), |value, _| Value::Array(vec![value]));
    assert!(line(nested(64)).is_ok());
    assert_eq!(line(nested(65)), Err(("E448", "arrays and maps nest deeper than 64 levels".into())));
}

#[test]
fn formats_5_6_what_is_written_reads_back() {
    let mut random = Random(0x0DDB);
    for round in 0..200 {
        let rows = random.below(5);
        let word = |random: &mut Random| -> String {
            (0..random.below(30)).map(|_| ['a', 'é', '"', '\\', '\n', '\u{1}', '😀', ' '][random.below(8)]).collect()
        };
        let words: Vec<String> = (0..rows).map(|_| word(&mut random)).collect();
        let numbers: Vec<i64> = (0..rows).map(|_| random.next() as i64 >> random.below(64)).collect();
        let floats: Vec<Value> =
            (0..rows).map(|_| Value::Float((random.next() as i64 >> 20) as f64 / 1000.0)).collect();
        let columns = [
            ("n.i", ints(&numbers)),
            ("t", texts(&words.iter().map(|word| Some(word.as_str())).collect::<Vec<_>>())),
            ("n.f", Column::from_values(Kind::Float, &floats)),
        ];
        let given = if round % 2 == 0 { lines() } else { vec![("pretty", OptionValue::Bool(round % 4 == 1))] };
        let written = write(&*writer(&given, false), &columns, 2).expect("written");
        let outcome = read_in(&*reader(&[], &["n.i", "t", "n.f"]), written.as_bytes(), FAIR);
        assert_eq!((outcome.rows.len(), outcome.rejected.len(), outcome.fault), (rows, 0, None));
        for (row, (_, fields)) in outcome.rows.iter().enumerate() {
            let shown: Vec<String> = fields.iter().map(|(_, value)| value.to_string()).collect();
            let Value::Float(float) = floats[row] else { unreachable!("floats") };
            let expected = [
                numbers[row].to_string(),
                serde_json::Value::from(words[row].as_str()).to_string(),
                serde_json::Value::from(float).to_string(),
            ];
            assert_eq!(shown, expected);
        }
    }
}
