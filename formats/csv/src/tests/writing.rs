//! Writing: statements of formats.md 1.6, 1.12 and 2.3.

use std::sync::Arc;

use clinker_format::{Encoded, JoinConflict, JoinRule, OptionValue, WriteFault};
use clinker_record::{Category, Column, Decimal, Kind, Value};

use super::fuzz::Random;
use super::support::*;

fn texts(cells: &[&str]) -> Column {
    Column::from_values(Kind::String, &cells.iter().map(|cell| string(cell)).collect::<Vec<_>>())
}

fn string(text: &str) -> Value {
    Value::String(text.into())
}

fn written(given: &[(&'static str, OptionValue)], header: bool, names: &[&str], columns: &[Column]) -> Vec<u8> {
    let factory = writer(given, header, &[]).unwrap();
    let (bytes, encoded) = write(&*factory, names, columns).unwrap();
    assert_eq!(encoded.refused, []);
    bytes
}

fn as_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn formats_2_3_header_and_rows_end_with_the_terminator() {
    let columns = [texts(&["1", "3"]), texts(&["2", "4"])];
    assert_eq!(as_text(&written(&[], true, &["a", "b"], &columns)), "a,b\n1,2\n3,4\n");
    assert_eq!(as_text(&written(&[], false, &["a", "b"], &columns)), "1,2\n3,4\n");
    let given = [("line_ending", text("crlf"))];
    assert_eq!(as_text(&written(&given, true, &["a", "b"], &columns)), "a,b\r\n1,2\r\n3,4\r\n");
}

#[test]
fn formats_2_3_the_header_is_written_even_if_no_row_follows() {
    assert_eq!(as_text(&written(&[], true, &["a", "b"], &[])), "a,b\n");
    assert_eq!(as_text(&written(&[("encoding", text("utf-16"))], false, &["a", "b"], &[])), "");
}

#[test]
fn formats_2_3_necessary_quotes_only_what_needs_it() {
    let cells =
        ["plain", "a,b", "q\"q", "cr\r", "lf\n", " blank ", "", "x;y", "'", "a text of more than sixteen, bytes"];
    let expected = "plain\n\"a,b\"\n\"q\"\"q\"\n\"cr\r\"\n\"lf\n\"\n blank \n\"\"\nx;y\n'\n\"a text of more than sixteen, bytes\"\n";
    assert_eq!(as_text(&written(&[], false, &["a"], &[texts(&cells)])), expected);
}

#[test]
fn formats_2_3_specials_are_found_at_every_place_of_a_cell() {
    for len in 1..50 {
        for at in 0..len {
            let mut cell = "x".repeat(len);
            cell.replace_range(at..=at, ",");
            let expected = format!("\"{cell}\"\n");
            assert_eq!(as_text(&written(&[], false, &["a"], &[texts(&[&cell])])), expected);
        }
    }
}

#[test]
fn formats_2_3_always_quotes_every_cell() {
    let columns = [texts(&["a\"", ""]), Column::from_values(Kind::Int, &[Value::Int(-1), Value::Null])];
    let given = [("quoting", text("always"))];
    assert_eq!(as_text(&written(&given, true, &["x", "y"], &columns)), "\"x\",\"y\"\n\"a\"\"\",\"-1\"\n\"\",\"\"\n");
}

#[test]
fn csv_16_a_lone_empty_cell_is_quoted() {
    assert_eq!(as_text(&written(&[], true, &["code"], &[texts(&["A", "", "C"])])), "code\nA\n\"\"\nC\n");
    assert_eq!(as_text(&written(&[], true, &["code"], &[Column::Null(1)])), "code\n\"\"\n");
    assert_eq!(as_text(&written(&[], true, &["a", "b"], &[Column::Null(1), texts(&[""])])), "a,b\n,\n");
}

#[test]
fn formats_1_12_scalars_have_their_csv_form() {
    let columns = [
        Column::from_values(Kind::Bool, &[Value::Bool(true)]),
        Column::from_values(Kind::Int, &[Value::Int(i64::MIN)]),
        Column::from_values(Kind::Float, &[Value::Float(1e16)]),
        Column::from_values(Kind::Decimal, &[Value::Decimal(Decimal::parse_literal(b"2.50").unwrap())]),
        Column::from_values(Kind::Date, &[Value::Date(0)]),
        Column::from_values(Kind::DateTime, &[Value::DateTime(1_500_000_000)]),
        Column::from_values(Kind::Any, &[Value::Date(1)]),
    ];
    let bytes = written(&[], false, &["a", "b", "c", "d", "e", "f", "g"], &columns);
    let expected = "true,-9223372036854775808,10000000000000000,2.50,1970-01-01,1970-01-01T00:00:01.500,1970-01-02\n";
    assert_eq!(as_text(&bytes), expected);
}

#[test]
fn formats_2_3_scalars_are_quoted_when_they_hold_the_delimiter() {
    let columns = [
        Column::from_values(Kind::Int, &[Value::Int(-5)]),
        Column::from_values(Kind::Float, &[Value::Float(-0.5)]),
        Column::from_values(Kind::Date, &[Value::Date(0)]),
    ];
    let given = [("delimiter", text("-"))];
    assert_eq!(as_text(&written(&given, false, &["a", "b", "c"], &columns)), "\"-5\"-\"-0.5\"-\"1970-01-01\"\n");
    let given = [("quote_char", text("1"))];
    assert_eq!(as_text(&written(&given, false, &["a", "b", "c"], &columns)), "-5,-0.5,111970-011-0111\n");
}

#[test]
fn formats_2_3_the_first_cell_of_the_output_hides_a_mark() {
    let columns = [texts(&["\u{FEFF}x", "\u{FEFF}y"]), texts(&["1", "2"])];
    let bytes = written(&[], false, &["a", "b"], &columns);
    assert_eq!(as_text(&bytes), "\"\u{FEFF}x\",1\n\u{FEFF}y,2\n");
    assert_eq!(as_text(&written(&[], true, &["\u{FEFF}a", "b"], &[])), "\"\u{FEFF}a\",b\n");
    assert_eq!(as_text(&written(&[], false, &["a"], &[texts(&["\u{FEFF}"])])), "\"\u{FEFF}\"\n");
    let quoted = written(&[], false, &["a", "b"], &[texts(&["\u{FEFF},"]), texts(&["1"])]);
    assert_eq!(as_text(&quoted), "\"\u{FEFF},\",1\n");
}

#[test]
fn formats_1_6_output_reads_back_whatever_it_begins_with() {
    for encoding in ["utf-8", "utf-16", "utf-16le", "utf-16be"] {
        for cell in ["\u{FEFF}x", "\u{FFFE}x", "\0\u{FEFF}", "\0x", "\u{FEFF}", "x\u{FEFF}", "\u{1F600}"] {
            let given = [("encoding", text(encoding))];
            let bytes = written(&given, false, &["a"], &[texts(&[cell, "\u{FEFF}z"])]);
            let factory =
                reader(&[("encoding", text(encoding)), ("has_header", OptionValue::Bool(false))], &[]).unwrap();
            let outcome = read_with(&*factory, &bytes, FAIR);
            assert_eq!(outcome.cells(), [[cell], ["\u{FEFF}z"]], "{encoding} {cell:?} {}", outcome.reason);
        }
    }
}

#[test]
fn formats_1_6_utf_16_is_written_with_its_mark_and_the_named_orders_without() {
    let columns = [texts(&["\u{E9}"])];
    let write = |encoding| written(&[("encoding", text(encoding))], true, &["a"], &columns);
    assert_eq!(write("utf-16"), b"\xFF\xFEa\0\n\0\xE9\0\n\0");
    assert_eq!(write("utf-16le"), b"a\0\n\0\xE9\0\n\0");
    assert_eq!(write("utf-16be"), b"\0a\0\n\0\xE9\0\n");
    assert_eq!(write("latin1"), b"a\n\xE9\n");
    assert_eq!(write("cp037"), b"\x81\x25\x51\x25");
}

#[test]
fn formats_1_6_every_encoding_reproduces_cells() {
    let mut random = Random(7);
    for encoding in ["utf-8", "utf-16", "utf-16be", "latin1", "cp1252", "cp037", "cp500", "cp1047"] {
        let all = if encoding == "cp1252" { "a\u{20AC}\u{E9}" } else { "a\u{85}\u{E9}" };
        let pieces = [",", "\"", "\r", "\n", "x", "longer plain text", all];
        for _ in 0..200 {
            let rows = 1 + random.below(5);
            let columns: Vec<Vec<String>> = (0..1 + random.below(3))
                .map(|_| (0..rows).map(|_| (0..random.below(4)).map(|_| random.pick(&pieces)).collect()).collect())
                .collect();
            let names: Vec<String> = (0..columns.len()).map(|at| format!("n{at}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let as_columns: Vec<Column> =
                columns.iter().map(|cells| texts(&cells.iter().map(String::as_str).collect::<Vec<_>>())).collect();
            let bytes = written(&[("encoding", text(encoding))], true, &names, &as_columns);
            let factory = reader(&[("encoding", text(encoding))], &[]).unwrap();
            let outcome = read_with(&*factory, &bytes, Weather { chunk: 5, rows: 2, ..FAIR });
            assert_eq!(outcome.columns, names, "{encoding}");
            let expected: Vec<Vec<&str>> =
                (0..rows).map(|row| columns.iter().map(|cells| cells[row].as_str()).collect()).collect();
            assert_eq!(outcome.cells(), expected, "{encoding}");
        }
    }
}

#[test]
fn formats_2_3_a_lacking_character_refuses_its_record_as_e443() {
    let factory = writer(&[("encoding", text("latin1"))], true, &[]).unwrap();
    assert!(factory.may_lack_characters());
    let columns = [texts(&["a", "b", "c"]), texts(&["1", "5 \u{20AC},", "3"])];
    let (bytes, encoded) = write(&*factory, &["x", "y"], &columns).unwrap();
    assert_eq!(bytes, b"x,y\na,1\nc,3\n");
    let [refused] = &encoded.refused[..] else { panic!("{:?}", encoded.refused) };
    assert_eq!((refused.row, refused.code, &*refused.column, refused.value.as_str()), (1, "E443", "y", "5 \u{20AC},"));
    assert_eq!(refused.category, Some(Category::TypeCoercionFailure));
    assert!(refused.reason.contains("U+20AC"), "{}", refused.reason);
    assert_eq!(encoded.ends, [4, 8]);
}

#[test]
fn formats_2_3_a_lacking_character_in_a_column_name_is_a_write_failure() {
    let factory = writer(&[("encoding", text("latin1"))], true, &[]).unwrap();
    let error = write(&*factory, &["x", "\u{20AC}"], &[]).unwrap_err();
    let fault = WriteFault::of(&error).unwrap();
    assert_eq!((fault.code, &*fault.column), ("E443", "\u{20AC}"));
}

#[test]
fn formats_1_12_a_number_that_is_not_finite_ends_writing_with_e443() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let values = [Value::Float(1.5), Value::Null, Value::Float(bad), Value::Float(2.0)];
        for kind in [Kind::Float, Kind::Any] {
            let (bytes, encoded) =
                write(&*writer(&[], false, &[]).unwrap(), &["x"], &[Column::from_values(kind, &values)]).unwrap();
            assert_eq!(as_text(&bytes), "1.5\n\"\"\n");
            assert_eq!(encoded.refused.len(), 1);
            let refused = &encoded.refused[0];
            assert_eq!((refused.row, refused.code, refused.category), (2, "E443", None));
        }
    }
}

fn rule(delimiter: &str, on_conflict: JoinConflict) -> JoinRule {
    JoinRule { field: "tags".into(), delimiter: delimiter.into(), on_conflict, escape: "\\".into() }
}

fn joined(rules: &[JoinRule], values: &[Value]) -> (String, Encoded) {
    let column = Column::from_values(Kind::Array, values);
    let factory = writer(&[], false, rules).unwrap();
    let columns = [texts(&vec!["r"; values.len()]), column];
    let (bytes, encoded) = write(&*factory, &["id", "tags"], &columns).unwrap();
    (as_text(&bytes).to_owned(), encoded)
}

fn array(values: &[&str]) -> Value {
    Value::Array(values.iter().map(|value| string(value)).collect())
}

#[test]
fn formats_2_3_arrays_are_joined_with_a_semicolon_by_default() {
    let mixed = Value::Array(vec![Value::Int(1), Value::Null, Value::Bool(false)]);
    let (text, _) = joined(&[], &[array(&["a", "b"]), array(&["a"]), array(&[]), array(&[""]), mixed, Value::Null]);
    assert_eq!(text, "r,a;b\nr,a\nr,\nr,\nr,1;;false\nr,\n");
}

#[test]
fn formats_2_3_a_value_with_the_delimiter_is_e442() {
    let rules = [rule("+", JoinConflict::Error)];
    let (text, encoded) = joined(&rules, &[array(&["a", "b"]), array(&["dry+cut", "x"]), array(&["c"])]);
    assert_eq!(text, "r,a+b\nr,c\n");
    let refused = &encoded.refused[0];
    assert_eq!((refused.row, refused.code, &*refused.column, refused.value.as_str()), (1, "E442", "tags", "dry+cut"));
    assert_eq!(refused.category, Some(Category::MultiValueJoinCollision));
}

#[test]
fn formats_2_3_escape_puts_the_escape_before_delimiters_and_escapes() {
    let rules = [rule("/", JoinConflict::Escape)];
    let (text, _) = joined(&rules, &[array(&["a/b", "c\\", "d"])]);
    assert_eq!(text, "r,a\\/b/c\\\\/d\n");
}

#[test]
fn formats_2_3_encode_json_writes_the_whole_array() {
    let rules = [rule("; ", JoinConflict::EncodeJson)];
    let nested = Value::Array(vec![Value::Int(1), Value::Array(vec![Value::Null])]);
    let (text, _) = joined(&rules, &[array(&["a"]), nested, array(&[])]);
    assert_eq!(text, "r,\"[\"\"a\"\"]\"\nr,\"[1,[null]]\"\nr,\n");
}

#[test]
fn formats_1_12_maps_and_nested_arrays_are_e440_and_end_writing() {
    let nested = Value::Array(vec![array(&["x"])]);
    let map = Value::Map(vec![(Arc::from("k"), Value::Int(1))]);
    for bad in [nested, map] {
        let column = Column::from_values(Kind::Any, &[string("ok"), bad, string("never")]);
        let (bytes, encoded) = write(&*writer(&[], false, &[]).unwrap(), &["x"], &[column]).unwrap();
        assert_eq!(as_text(&bytes), "ok\n");
        assert_eq!(encoded.refused.len(), 1);
        assert_eq!((encoded.refused[0].code, encoded.refused[0].category), ("E440", None));
        assert!(encoded.refused[0].reason.contains("csv"));
    }
}

#[test]
fn formats_1_10_bad_join_rules_are_e362() {
    let mut same = rule("\\", JoinConflict::Escape);
    same.field = "other".into();
    let mut long = rule("/", JoinConflict::Escape);
    long.escape = "ab".into();
    for rules in [
        vec![rule("", JoinConflict::EncodeJson)],
        vec![rule("ab", JoinConflict::Error)],
        vec![same],
        vec![long],
        vec![rule(";", JoinConflict::Error), rule(",", JoinConflict::Error)],
    ] {
        let faults = writer(&[], true, &rules).err().unwrap();
        assert_eq!(faults.iter().map(|fault| fault.code).collect::<Vec<_>>(), ["E362"], "{rules:?}");
    }
    assert!(writer(&[], true, &[rule("; ", JoinConflict::EncodeJson)]).is_ok());
}

#[test]
fn formats_2_3_round_trip_reproduces_the_bytes() {
    let mut random = Random(11);
    for _ in 0..500 {
        let width = 1 + random.below(4);
        let mut data = (0..width).map(|at| format!("c{at}")).collect::<Vec<_>>().join(",") + "\n";
        for _ in 0..random.below(20) {
            let cells: Vec<&str> = (0..width)
                .map(|_| random.pick(&["x", "\u{E9}", "\"a,b\"", "\"\"\"q\"\"\"", "\"l\r\nf\"", "mid\u{FEFF}"]))
                .collect();
            data.push_str(&cells.join(","));
            data.push('\n');
        }
        let outcome = read(&[], data.as_bytes());
        let columns: Vec<Column> =
            (0..width).map(|at| texts(&outcome.cells().iter().map(|cells| cells[at]).collect::<Vec<_>>())).collect();
        let names: Vec<&str> = outcome.columns.iter().map(String::as_str).collect();
        assert_eq!(as_text(&written(&[], true, &names, &columns)), data);
    }
}

#[test]
fn formats_2_3_agrees_with_the_csv_crate() {
    let mut random = Random(21);
    let pieces = ["", "x", ",", ";", "\"", "\r", "\n", "\u{E9}", "7", "a rather long text, with a comma", "plain text"];
    for round in 0..2_000 {
        let (rows, width) = (1 + random.below(8), 1 + random.below(4));
        let (crlf, always) = (random.below(2) == 0, random.below(2) == 0);
        let delimiter = *random.pick(&[&b',', &b';', &b'-']);
        let cells: Vec<Vec<String>> = (0..rows)
            .map(|_| (0..width).map(|_| (0..random.below(5)).map(|_| random.pick(&pieces)).collect()).collect())
            .collect();
        let numbers: Vec<i64> = (0..rows).map(|_| random.next() as i64 % 1000).collect();
        let mut plain = Vec::new();
        let mut writer = csv::WriterBuilder::new()
            .delimiter(delimiter)
            .terminator(if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') })
            .quote_style(if always { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary })
            .from_writer(&mut plain);
        for (texts, number) in cells.iter().zip(&numbers) {
            writer.write_record(texts.iter().cloned().chain([number.to_string()])).unwrap();
        }
        drop(writer);
        let mut columns: Vec<Column> =
            (0..width).map(|at| texts(&cells.iter().map(|row| row[at].as_str()).collect::<Vec<_>>())).collect();
        columns.push(Column::from_values(Kind::Int, &numbers.iter().map(|at| Value::Int(*at)).collect::<Vec<_>>()));
        let given = [
            ("delimiter", text(std::str::from_utf8(&[delimiter]).unwrap())),
            ("line_ending", text(if crlf { "crlf" } else { "lf" })),
            ("quoting", text(if always { "always" } else { "necessary" })),
        ];
        let names = vec!["n"; width + 1];
        assert_eq!(as_text(&written(&given, false, &names, &columns)), as_text(&plain), "round {round}");
    }
}
