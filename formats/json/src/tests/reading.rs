//! One object a line: what makes a row, what is rejected, what ends the file.

use std::io::Cursor;

use clinker_format::OptionValue;

use super::support::{FAIR, Failing, Outcome, Weather, lines, read, read_in, read_stream, reader, text, try_reader};

/// Reads lines with declared fields, in every weather.
fn read_lines(fields: &[&str], data: impl AsRef<[u8]>) -> Outcome {
    read(&*reader(&lines(), fields), data.as_ref())
}

/// The one rejected row.
fn rejected(data: impl AsRef<[u8]>) -> (&'static str, u64, String) {
    let outcome = read_lines(&[], data);
    assert_eq!((outcome.rejected.len(), outcome.fault), (1, None), "{outcome:?}");
    let rejected = &outcome.rejected[0];
    (rejected.code, rejected.offset, rejected.reason.clone())
}

#[test]
fn formats_5_3_objects_dissolve_in_document_order() {
    let line = r#"{"b":{"x":1,"y":{"z":"t"}},"a":[{"k":{"l":2}}],"e":{},"n":null,"c.d":false}"#;
    assert_eq!(read_lines(&[], line).shown(), [r#"b.x=1 b.y.z="t" a=[{"k":{"l":2}}] n=null c.d=false"#],);
}

#[test]
fn formats_5_3_each_row_keeps_its_own_order_of_undeclared_fields() {
    let outcome = read_lines(&["id"], "{\"x\":1,\"id\":2,\"y\":3}\n{\"y\":4,\"x\":5}\n{\"z\":6}\n");
    assert_eq!(outcome.shown(), ["id=2 x=1 y=3", "y=4 x=5", "z=6"]);
}

#[test]
fn formats_5_3_a_rejected_row_shows_no_field() {
    let outcome = read_lines(&["id"], "{\"id\":7,\"late\":1,\"late\":2}\n{\"y\":3}\n{\"late\":4,\"id\":5}\n");
    assert_eq!(outcome.shown(), ["y=3", "id=5 late=4"]);
    assert_eq!(outcome.codes(), [(1, "E427")]);
}

#[test]
fn formats_5_2_only_lf_ends_a_line_with_or_without_cr() {
    let outcome = read_lines(&[], "{\"s\":\"a\u{2028}b\u{85}c\"}\r\n \t\r\n{\"s\":\r1}\n\n{\"s\":2}");
    assert_eq!(outcome.shown(), ["s=\"a\u{2028}b\u{85}c\"", "s=1", "s=2"]);
    assert_eq!(outcome.rows.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn formats_5_2_a_record_separator_in_front_of_a_line_is_skipped() {
    let outcome = read_lines(&[], "\x1e{\"a\":1}\n\x1e {\"a\":2}\n \x1e{\"a\":3}\n\x1e\n");
    assert_eq!(outcome.shown(), ["a=1", "a=2"]);
    assert_eq!(outcome.codes(), [(3, "E422"), (4, "E422")]);
    assert_eq!(outcome.rejected[0].raw, " \u{1e}{\"a\":3}");
}

#[test]
fn formats_5_2_a_line_that_is_not_one_object_is_rejected_alone() {
    let data = "{\"a\":1}\n[1]\n{\"a\":1} {\"a\":2}\n\"s\"\n5\nnull\n{\"a\":2}\n";
    let outcome = read_lines(&[], data);
    assert_eq!(outcome.shown(), ["a=1", "a=2"]);
    assert_eq!(outcome.codes(), [2, 3, 4, 5, 6].map(|row| (row, "E422")));
    assert_eq!(outcome.rejected[0].reason, "the line is an array; each line must hold one object");
    assert_eq!(outcome.rejected[1].reason, "expected the end of the line behind the object, found `{`");
    assert_eq!((outcome.rejected[1].line, outcome.rejected[1].offset), (3, 20));
    assert_eq!(outcome.rejected[1].raw, "{\"a\":1} {\"a\":2}");
}

#[test]
fn formats_5_5_the_grammar_of_rfc_8259_is_enforced() {
    let faults = [
        ("{\"a\":NaN}", 5, "expected a value, found `N`"),
        ("{\"a\":01}", 5, "a number has leading zeros"),
        ("{\"a\":+1}", 5, "expected a value, found `+`"),
        ("{\"a\":1.}", 7, "expected a digit, found `}`"),
        ("{\"a\":.5}", 5, "expected a value, found `.`"),
        ("{\"a\":1e}", 7, "expected a digit, found `}`"),
        ("{\"a\":-}", 6, "expected a digit, found `}`"),
        ("{\"a\":1,}", 7, "expected a key in double quotes, found `}`"),
        ("{,}", 1, "expected a key in double quotes, found `,`"),
        ("{\"a\":[1,]}", 8, "expected a value, found `]`"),
        ("{\"a\":[1}", 7, "expected `,` or `]`, found `}`"),
        ("{\"a\" 1}", 5, "expected `:`, found `1`"),
        ("{a:1}", 1, "expected a key in double quotes, found `a`"),
        ("{\"a\":'x'}", 5, "expected a value, found `'`"),
        ("{\"a\":tru}", 5, "expected true, found `}`"),
        ("{\"a\":1 /* no */}", 7, "expected `,` or `}`, found `/`"),
        ("{\"a\":\"x\ty\"}", 7, "a control character stands in a string without an escape"),
        ("{\"a\":\"\\x\"}", 6, "an unknown escape stands in a string"),
        ("{\"a\":\"\\u12G4\"}", 6, "an escape `\\u` needs four hexadecimal digits"),
        ("{\"a\":\"\\ud800\"}", 6, "a surrogate escape stands without its other half"),
        ("{\"a\":\"\\udc00\"}", 6, "a surrogate escape stands without its other half"),
        ("{\"a\":\"\\ud800\\u0041\"}", 6, "a surrogate escape stands without its other half"),
        ("{\"a\":1", 6, "expected `,` or `}`, found the end"),
        ("{\"a\":\"x", 5, "the string that begins here does not end"),
        ("\u{FEFF}{\"a\":1}", 0, "expected a value, found `\u{FEFF}`"),
    ];
    for (line, offset, reason) in faults {
        assert_eq!(rejected(format!("{{}}\n{line}\n")), ("E422", offset + 3, reason.to_owned()), "{line}");
    }
}

#[test]
fn formats_5_5_escapes_are_resolved_in_values_and_keys() {
    let line = r#"{"k\u0065y\n":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}"#;
    let outcome = read_lines(&["key\n"], line);
    let (_, fields) = &outcome.rows[0];
    assert_eq!(fields[0].0, "key\n");
    assert_eq!(fields[0].1, super::oracle::Tree::String("\"\\/\u{8}\u{c}\n\r\té😀".into()));
}

#[test]
fn formats_5_3_two_values_for_one_name_are_e427() {
    for (line, name) in [
        (r#"{"a":{"b":1},"a.b":2}"#, "a.b"),
        (r#"{"a.b":1,"a":{"b":2}}"#, "a.b"),
        (r#"{"a":1,"a":2}"#, "a"),
        (r#"{"a":1,"\u0061":2}"#, "a"),
        (r#"{"a":{"b":1},"a":{"c":2}}"#, "a"),
        (r#"{"a":{},"a":{}}"#, "a"),
        (r#"{"a":1,"a":{"c":2}}"#, "a"),
        (r#"{"a":{"c":2},"a":null}"#, "a"),
        (r#"{"a":[{"k":1,"k":2}]}"#, "a: k"),
        (r#"{"a":[{"k":1,"\u006b":2}]}"#, "a: k"),
    ] {
        let (code, _, reason) = rejected(line);
        assert_eq!(
            (code, reason),
            ("E427", format!("the field `{name}` occurs more than once in the record")),
            "{line}"
        );
    }
}

#[test]
fn formats_5_3_a_broken_line_is_broken_before_it_repeats_anything() {
    assert_eq!(rejected("{\"a\":1,\"a\":2,}\n").0, "E422");
}

#[test]
fn formats_5_3_a_multiple_column_collects_in_document_order() {
    let outcome = read_lines(
        &["*t", "*o.n"],
        "{\"t\":\"x\"}\n{\"t\":\"x\",\"t\":[\"y\"],\"t\":null}\n{\"t\":[1,2]}\n{\"o\":{\"n\":1},\"o.n\":2,\"o\":{\"n\":{}}}\n{}\n",
    );
    assert_eq!(outcome.shown(), ["t=\"x\"", "t=[\"x\",[\"y\"],null]", "t=[1,2]", "o.n=[1,2]", ""]);
}

#[test]
fn formats_1_11_escaped_keys_keep_literal_dots_apart() {
    let mut given = lines();
    given.push(("escape_keys", OptionValue::Bool(true)));
    let factory = reader(&given, &["a\\.b"]);
    let outcome = read(&*factory, br#"{"a.b":1,"a":{"b":2,"c[0]\\":3}}"#);
    assert_eq!(outcome.shown(), [r"a\.b=1 a.b=2 a.c\[0]\\=3"]);
}

fn nested(open: &str, close: &str, levels: usize) -> String {
    format!("{}1{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn formats_1_7_127_containers_are_accepted_and_128_are_not() {
    // The record itself is one of them.
    assert_eq!(read_lines(&[], format!("{{\"a\":{}}}", nested("[", "]", 126))).rows.len(), 1);
    let (code, offset, reason) = rejected(format!("{{\"a\":{}}}", nested("[", "]", 127)));
    assert_eq!((code, offset), ("E426", 131));
    assert_eq!(reason, "arrays and objects nest deeper than 127 levels");
    let deep = format!("{{\"a\":1}}\n{{\"a\":{}}}\n{{\"a\":3}}\n", nested("[", "]", 20_000));
    let outcome = read_in(&*reader(&lines(), &[]), deep.as_bytes(), FAIR);
    assert_eq!((outcome.shown().len(), outcome.codes()), (2, vec![(2, "E426")]));
}

#[test]
fn formats_1_7_64_object_levels_make_a_name_and_65_do_not() {
    let outcome = read_lines(&[], nested("{\"a\":", "}", 64));
    assert_eq!(outcome.rows[0].1[0].0.split('.').count(), 64);
    let (code, _, reason) = rejected(nested("{\"a\":", "}", 65));
    assert_eq!((code, reason.as_str()), ("E426", "objects nest deeper than the 64 levels that make one name"));
    // An array begins a count of its own.
    assert_eq!(read_lines(&[], format!("{{\"v\":[{}]}}", nested("{\"a\":", "}", 70))).rows.len(), 1);
}

#[test]
fn formats_1_9_undecodable_bytes_reject_their_line_and_keep_its_bytes() {
    let outcome = read_lines(&[], b"{\"a\":\"ok\"}\n{\"a\":\"gr\xFCn\\n\"}\r\n{\"a\":\"z\"}\n");
    assert_eq!((outcome.shown().len(), outcome.codes()), (2, vec![(2, "E420")]));
    let rejected = &outcome.rejected[0];
    assert_eq!((rejected.line, rejected.offset, rejected.raw.as_str()), (2, 19, r#"{"a":"gr\xFCn\\n"}"#));
    assert_eq!(rejected.reason, "not valid utf-8 at byte offset 19: FC");
}

#[test]
fn formats_5_2_a_last_line_that_ends_inside_a_text_is_e421() {
    for tail in [
        "{",
        "{\"a",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":[1,",
        "{\"a\":\"\\u00",
        "{\"a\":\"\\ud83d",
        "{\"a\":tr",
        "[1",
        "\"x",
    ] {
        let outcome = read_lines(&[], format!("{{\"a\":1}}\n{tail}"));
        assert_eq!(outcome.shown(), ["a=1"], "{tail}");
        assert!(matches!(outcome.fault, Some(("E421", 2, 8..))), "{tail}: {outcome:?}");
    }
    let outcome = read_lines(&[], b"{\"a\":\"gr\xC3");
    assert!(matches!(outcome.fault, Some(("E421", 1, 5))), "{outcome:?}");
}

#[test]
fn formats_5_2_a_last_line_without_lf_is_a_row_like_any_other() {
    let outcome = read_lines(&[], "{\"a\":1}\n{\"a\":2} ");
    assert_eq!(outcome.shown(), ["a=1", "a=2"]);
    let outcome = read_lines(&[], "{\"a\":1}\n{\"a\":2}}");
    assert_eq!((outcome.codes(), outcome.fault), (vec![(2, "E422")], None));
}

#[test]
fn formats_15_10_every_prefix_ends_in_a_shorter_file_a_rejection_or_e421() {
    let data = "{\"a\":\"x\\u00e9\u{e9}\",\"b\":[{\"k\":-1.5e3}],\"c\":{\"d\":null}}\n{\"a\":true}\n".as_bytes();
    for len in 0..data.len() {
        let outcome = read_in(&*reader(&lines(), &[]), &data[..len], FAIR);
        let complete =
            data[..len].ends_with(b"}\n") || data[..len].ends_with(b"}}") || len == data.len() - 1 || len == 0;
        assert_eq!(outcome.fault.is_none(), complete, "{len}: {outcome:?}");
    }
}

#[test]
fn formats_1_7_a_line_above_max_record_bytes_is_e426_at_its_place() {
    let mut given = lines();
    given.push(("max_record_bytes", OptionValue::Number(8)));
    let factory = reader(&given, &[]);
    let outcome = read(&*factory, b"{\"a\":12}\r\n\n{\"a\":123}\n{\"a\":1}\n");
    assert_eq!((outcome.shown(), outcome.fault), (vec!["a=12".into()], Some(("E426", 3, 11))));
    assert_eq!(outcome.reason, "the line that begins here is longer than 8 bytes");
    let outcome = read(&*factory, b"{\"a\":1}\n{\"a\":123}");
    assert_eq!((outcome.shown().len(), outcome.fault), (1, Some(("E426", 2, 8))));
}

#[test]
fn formats_15_3_rows_in_front_of_a_failing_stream_are_delivered() {
    for given in [lines(), vec![("format", text("array"))], vec![]] {
        let data = if given.is_empty() { "{\n\"a\":1} {\"a\":2} {\"a\":3" } else { "{\"a\":1}\n{\"a\":2}\n{\"a\":3" };
        let data = if given.first().is_some_and(|(_, value)| *value == text("array")) {
            format!("[{}", data.replace('\n', ",\n"))
        } else {
            data.to_owned()
        };
        let factory = reader(&given, &[]);
        for rows in [1, 8] {
            let stream = Failing(Cursor::new(data.clone().into_bytes()));
            let outcome = read_stream(&*factory, Box::new(stream), Weather { rows, ..FAIR });
            assert_eq!(outcome.shown(), ["a=1", "a=2"], "{data}");
            assert_eq!((outcome.fault, outcome.reason.as_str()), (Some(("io", 0, 0)), "the disk is gone"));
        }
    }
}

#[test]
fn formats_1_6_one_mark_is_removed_and_offsets_count_it() {
    let outcome = read_lines(&[], "\u{FEFF}{\"a\":1}\nx\n");
    assert_eq!((outcome.shown(), outcome.rejected[0].offset), (vec!["a=1".into()], 11));
}

#[test]
fn formats_1_6_other_encodings_are_e402_with_the_one_found() {
    for (data, found, by) in [
        (&b"\xFF\xFE{\0"[..], "UTF-16LE", "its byte-order mark"),
        (b"\xFE\xFF\0{", "UTF-16BE", "its byte-order mark"),
        (b"\xFF\xFE\0\0{\0\0\0", "UTF-32LE", "its byte-order mark"),
        (b"\0\0\xFE\xFF\0\0\0{", "UTF-32BE", "its byte-order mark"),
        (b"{\0\"\0", "UTF-16LE", "its zero bytes"),
        (b"\0{\0\"", "UTF-16BE", "its zero bytes"),
        (b"{\0\0\0", "UTF-32LE", "its zero bytes"),
        (b"\0\0\0{", "UTF-32BE", "its zero bytes"),
    ] {
        for given in [lines(), vec![]] {
            let outcome = read(&*reader(&given, &[]), data);
            assert_eq!(outcome.fault, Some(("E402", 1, 0)));
            assert_eq!(outcome.reason, format!("JSON must be UTF-8; by {by} the file is {found}"));
        }
    }
    // Where the first four bytes are not zero, a zero byte is a control character like any other.
    assert_eq!(read_lines(&[], b"{\"a\":\"\0\"}\n{}").codes(), [(1, "E422")]);
}

#[test]
fn formats_15_3_wanted_columns_change_no_diagnostic() {
    use clinker_format::{BlockBound, FileIdentity, input::BlockInput};
    let factory = reader(&lines(), &["a", "b"]);
    let data = b"{\"a\":1,\"b\":2}\n{\"a\":1,\"a\":2}\n{\"b\":x}\n".to_vec();
    let mut input = BlockInput::new(Box::new(Cursor::new(data)));
    let file = FileIdentity { source: "in".into(), shown: "in".into() };
    let mut opened = factory.open(&file, &mut input).expect("opens");
    let block = opened.cutter.cut(&mut input, BlockBound { rows: 9, bytes: 999 }).expect("cuts").expect("a block");
    let decoded = opened.decoder.decode(&block, &[1]);
    assert_eq!((decoded.cells.len(), decoded.rows, decoded.rejected.len()), (1, 1, 2));
    assert_eq!(decoded.accepted, Some(vec![0]));
}

#[test]
fn formats_5_1_options_out_of_range_are_refused() {
    let codes = |given: &[(&'static str, OptionValue)]| -> Vec<(&str, &str, Option<String>)> {
        let Err(faults) = try_reader(given, &[]) else { return Vec::new() };
        faults.into_iter().map(|fault| (fault.key, fault.code, fault.help)).collect()
    };
    let path = |path: &str| codes(&[("record_path", text(path))]);
    assert_eq!(path(""), [("record_path", "E363", None)]);
    assert_eq!(path("$.a.b"), [("record_path", "E363", Some("write `record_path: a.b`".into()))]);
    assert_eq!(path("/a/b"), [("record_path", "E363", Some("write `record_path: a.b`".into()))]);
    assert_eq!(path("a..b"), [("record_path", "E363", Some("write `record_path: a.b`".into()))]);
    assert_eq!(path("."), [("record_path", "E363", None)]);
    assert!(path("$").is_empty() && path("$a.b").is_empty());
    assert_eq!(codes(&[("format", text("object"))])[0].1, "E409");
    assert_eq!(codes(&[("max_record_bytes", OptionValue::Number(0))])[0].1, "E403");
}

/// Reads lines with fields of an exposed name each.
fn read_as(fields: &[(&str, &str)], refuse: bool, data: &str) -> Outcome {
    use clinker_format::{Format, InputField, ReadRequest};
    let fields: Vec<InputField> = fields
        .iter()
        .map(|(read, exposed)| InputField { exposed_name: (*exposed).into(), ..super::support::field(read) })
        .collect();
    let given = super::support::options(&lines());
    let request = ReadRequest {
        options: &given,
        fields: &fields,
        undeclared: true,
        refuse_undeclared: refuse,
        expand: &[],
        max_rows: None,
    };
    read(&*crate::Json.bind_reader(&request).expect("options"), data.as_bytes())
}

#[test]
fn formats_1_5_the_first_undeclared_field_is_e430_at_its_place_where_it_is_refused() {
    let outcome = read_as(&[("a", "a")], true, "{\"a\":1}\n{\"a\":2,\"b\":{\"c\":null}}\n{\"a\":3}\n");
    assert_eq!((outcome.shown(), outcome.fault), (vec!["a=1".into()], Some(("E430", 2, 24))));
    assert_eq!(outcome.reason, "field `b.c` is not declared");
    // A row that is rejected for its form names no field.
    let outcome = read_as(&[("a", "a")], true, "{\"b\":1,}\n{\"b\":1,\"b\":2}\n{\"a\":1}\n");
    assert_eq!((outcome.codes(), outcome.fault), (vec![(1, "E422"), (2, "E427")], None));
}

#[test]
fn formats_1_3_an_alias_that_hides_a_real_field_is_e397() {
    let outcome = read_as(&[("n", "name")], false, "{\"n\":1}\n{\"n\":2,\"name\":3}\n");
    assert_eq!((outcome.shown(), outcome.fault), (vec!["n=1".into()], Some(("E397", 2, 22))));
    // Where another column reads that field, nothing is hidden.
    let outcome = read_as(&[("n", "name"), ("name", "n")], false, "{\"n\":2,\"name\":3}\n");
    assert_eq!((outcome.rows.len(), outcome.fault), (1, None));
}

#[test]
fn formats_5_2_a_key_that_is_expected_does_not_reach_across_its_line() {
    // The key with an escape is expected behind each `{`.
    let outcome = read_lines(&[], "{\"a\\nb\":1}\n{\"a\\nb\":2}\n{\"\n{\"a\\nb\":3}\n{\"k\":1}\n{\"k\n\":2}\n{");
    assert_eq!(outcome.codes(), [(3, "E422"), (6, "E422"), (7, "E422")]);
    assert!(matches!(outcome.fault, Some(("E421", 8, _))));
    assert_eq!(outcome.shown(), ["a\nb=1", "a\nb=2", "a\nb=3", "k=1"]);
}
