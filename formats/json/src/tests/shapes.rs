//! Arrays, sequences, arrays inside objects, and how the first bytes tell them apart.

use clinker_format::OptionValue;

use super::support::{FAIR, Outcome, read, read_in, reader, text};

fn detected(data: impl AsRef<[u8]>) -> Outcome {
    read(&*reader(&[], &[]), data.as_ref())
}

fn array(data: impl AsRef<[u8]>) -> Outcome {
    read(&*reader(&[("format", text("array"))], &[]), data.as_ref())
}

fn path(path: &str, data: impl AsRef<[u8]>) -> Outcome {
    read(&*reader(&[("format", text("object")), ("record_path", text(path))], &[]), data.as_ref())
}

/// Rows that came in front of a fault, its code and its offset.
fn fault(outcome: &Outcome) -> (usize, &'static str, u64) {
    let (code, _, offset) = outcome.fault.unwrap_or(("none", 0, 0));
    (outcome.rows.len() + outcome.rejected.len(), code, offset)
}

#[test]
fn formats_5_2_the_first_bytes_tell_the_shape() {
    assert_eq!(detected(" \n\t[{\"a\":1}]").shown(), ["a=1"]);
    assert_eq!(detected("\n {\"a\":1}\n{\"a\":2}\n").shown(), ["a=1", "a=2"]);
    assert_eq!(detected("{\n  \"a\": 1\n}\n").shown(), ["a=1"]);
    assert_eq!(detected("{\"a\":1} {\"a\":2}\n{\"a\":3}").shown(), ["a=1", "a=2", "a=3"]);
    assert_eq!(detected("{\"a\":1}").shown(), ["a=1"]);
    assert_eq!(detected(""), Outcome::default());
    assert_eq!(detected(" \r\n\t\n"), Outcome::default());
    // One complete object and something else on its line: lines, the first of which is rejected.
    let outcome = detected("{\"a\":1} x\n{\"a\":2}\n");
    assert_eq!((outcome.shown(), outcome.codes()), (vec!["a=2".into()], vec![(1, "E422")]));
    assert_eq!(fault(&detected("{\"a\":1")), (0, "E421", 0));
    let outcome = detected("\n x");
    assert_eq!(outcome.fault, Some(("E422", 2, 2)));
    assert_eq!(outcome.reason, "JSON input begins with `[` or with an object, found `x`");
    assert_eq!(detected("\x1e{}\n").reason, "JSON input begins with `[` or with an object, found byte 1E");
}

#[test]
fn formats_5_2_elements_stream_and_only_blank_space_follows() {
    assert_eq!(array("[]"), Outcome::default());
    assert_eq!(array(" [ ] \n"), Outcome::default());
    assert_eq!(array(""), Outcome::default());
    assert_eq!(array("[{\"a\":1},\n{\"a\":[\"]\",\"\\\"[\"]} ]\n").shown(), ["a=1", "a=[\"]\",\"\\\"[\"]"]);
    assert_eq!(fault(&array("[{\"a\":1}] x")), (1, "E422", 10));
    assert_eq!(fault(&array("[{\"a\":1}][")), (1, "E422", 9));
    assert_eq!(fault(&array("{\"a\":1}")), (0, "E422", 0));
    assert_eq!(array("{\"a\":1}").reason, "expected an array of records, found `{`");
}

#[test]
fn formats_5_2_separators_of_an_array_are_exact() {
    for (data, at, reason) in [
        ("[{\"a\":1},]", 9, "expected a record, found `]`"),
        ("[,{\"a\":1}]", 1, "expected a record, found `,`"),
        ("[{\"a\":1},,{\"a\":1}]", 9, "expected a record, found `,`"),
        ("[{\"a\":1} {\"a\":1}]", 9, "expected `,` or `]`, found `{`"),
        ("[{\"a\":1}}", 8, "expected `,` or `]`, found `}`"),
    ] {
        let outcome = array(data);
        assert_eq!((outcome.fault, outcome.reason.as_str()), (Some(("E422", 1, at)), reason), "{data}");
    }
}

#[test]
fn formats_5_2_a_complete_record_that_is_no_object_is_rejected_alone() {
    let outcome = array("[{\"a\":1}, 5, \"x\\\"]\", null,\n[{\"a\":2}], true, {\"a\":3}]");
    assert_eq!(outcome.shown(), ["a=1", "a=3"]);
    assert_eq!(outcome.codes(), [2, 3, 4, 5, 6].map(|row| (row, "E422")));
    assert_eq!(outcome.rejected[0].reason, "the record is a number; it must be an object");
    assert_eq!((outcome.rejected[3].line, outcome.rejected[3].offset), (2, 27));
    assert_eq!(outcome.rejected[1].raw, "\"x\\\"]\"");
    let outcome = detected("{\n} 5 {\"a\":1}");
    assert_eq!((outcome.shown().len(), outcome.codes()), (2, vec![(2, "E422")]));
}

#[test]
fn formats_1_9_a_repeated_name_rejects_its_element_alone() {
    let outcome = array("[{\"a\":1,\"a\":2},{\"a\":3}]");
    assert_eq!((outcome.shown(), outcome.codes()), (vec!["a=3".into()], vec![(1, "E427")]));
    assert_eq!(outcome.rejected[0].raw, "{\"a\":1,\"a\":2}");
}

#[test]
fn formats_5_2_other_faults_inside_an_element_are_corruption_at_their_place() {
    for (tail, code, at) in [
        ("{\"a\":nope}]", "E422", 14),
        ("{\"a\":1]]", "E422", 15),
        ("[1}]", "E422", 11),
        ("nul]", "E422", 9),
        ("1x]", "E422", 9),
        ("{\"a\":\"\\ud800\"}]", "E422", 15),
    ] {
        let outcome = array(format!("[{{\"a\":1}},{tail}"));
        assert_eq!((outcome.shown(), outcome.fault), (vec!["a=1".into()], Some((code, 1, at))), "{tail}");
    }
    let outcome = array(b"[{\"a\":1},\n{\"a\":\"\xE9\"},{\"a\":2}]");
    assert_eq!((outcome.shown(), outcome.fault), (vec!["a=1".into()], Some(("E420", 2, 16))));
    let deep = format!("[{{\"a\":1}},{{\"a\":{}1{}}}]", "[".repeat(126), "]".repeat(126));
    assert_eq!(fault(&read_in(&*reader(&[], &[]), deep.as_bytes(), FAIR)), (1, "E426", 139));
    // A level less is accepted: array, record, and 125 inside.
    let deep = format!("[{{\"a\":{}1{}}}]", "[".repeat(125), "]".repeat(125));
    assert_eq!(fault(&read_in(&*reader(&[], &[]), deep.as_bytes(), FAIR)), (1, "none", 0));
}

#[test]
fn formats_1_9_truncated_input_is_e421_behind_its_complete_records() {
    for (data, rows, at) in [
        ("[", 0, 1),
        ("[{\"a\":1}", 1, 8),
        ("[{\"a\":1},", 1, 9),
        ("[{\"a\":1},{\"a\":\"", 1, 9),
        ("[{\"a\":1},2", 1, 9),
        ("[\"abc", 0, 1),
    ] {
        assert_eq!(fault(&array(data)), (rows, "E421", at), "{data}");
    }
    assert_eq!(fault(&detected("{\n} {\"a\":1")), (1, "E421", 4));
}

#[test]
fn formats_15_10_no_prefix_of_an_array_or_wrapper_passes_as_a_whole() {
    let data = "{\"m\":{\"r\":[1,{}]},\"d\":{\"x\":\"\\u00e9\",\"jobs\":[{\"id\":1,\"s\":\"]\"},{\"id\":2}],\"y\":-1e3},\"z\":null}";
    for len in 1..data.len() {
        let outcome = read_in(&*reader(&[("record_path", text("d.jobs"))], &[]), &data.as_bytes()[..len], FAIR);
        assert!(outcome.fault.is_some(), "{:?}: {outcome:?}", &data[..len]);
    }
    assert_eq!(path("d.jobs", data).shown(), ["id=1 s=\"]\"", "id=2"]);
}

#[test]
fn formats_5_2_record_path_matches_keys_after_unescaping_and_skips_siblings() {
    let data = r#"{"x":{"a":{"b":[{"no":1}]}},"\u0061":{"k":"b","b":[{"id":1},{"id":2}],"c":[{"id":3}]},"b":[]} "#;
    assert_eq!(path("a.b", data).shown(), ["id=1", "id=2"]);
    assert_eq!(path("$x", "{\"$x\":[{\"id\":1}]}").shown(), ["id=1"]);
    assert_eq!(path("a", ""), Outcome::default());
    assert_eq!(path("a", " \n"), Outcome::default());
}

#[test]
fn formats_5_2_record_path_that_leads_nowhere_is_e422() {
    for (data, at, reason) in [
        ("{}", 2, "an object of the `record_path` ends here without the key `a`"),
        ("{\"a\":{\"c\":1}}", 12, "an object of the `record_path` ends here without the key `a.b`"),
        ("{\"a\":[1]}", 5, "`a` of the `record_path` must hold an object, found `[`"),
        ("{\"a\":{\"b\":{}}}", 10, "`a.b` of the `record_path` must hold an array, found `{`"),
        ("{\"a\":{\"b\":null}}", 10, "`a.b` of the `record_path` must hold an array, found `n`"),
        ("[{\"a\":1}]", 0, "expected an object of records, found `[`"),
    ] {
        let outcome = path("a.b", data);
        assert_eq!((outcome.fault, outcome.reason.as_str()), (Some(("E422", 1, at)), reason), "{data}");
    }
}

#[test]
fn formats_5_5_the_grammar_holds_in_what_is_skipped() {
    for (skipped, code) in [
        ("01", "E422"),
        ("1.", "E422"),
        ("nulL", "E422"),
        ("[1,]", "E422"),
        ("{\"x\":1,}", "E422"),
        ("{\"x\" 1}", "E422"),
        ("\"\\x\"", "E422"),
        ("\"\\ud800\"", "E422"),
        ("\"\\udc00\"", "E422"),
        ("\"\\ud800\\u0041\"", "E422"),
        ("\"\t\"", "E422"),
    ] {
        for data in [format!("{{\"s\":{skipped},\"a\":[{{}}]}}"), format!("{{\"a\":[{{}}],\"s\":{skipped}}}")] {
            let outcome = path("a", &data);
            assert_eq!(outcome.fault.map(|(code, ..)| code), Some(code), "{data}");
        }
    }
    let fine = "{\"s\":[0,-0.5e+3,\"\\ud83d\\ude00\u{1F600}\u{e9}\u{20ac}\",{},[],true,false,null],\"a\":[{}]}";
    assert_eq!(fault(&path("a", fine)), (1, "none", 0));
    for bytes in [&b"\xFF"[..], b"\xC3(", b"\xED\xA0\x80", b"\xF4\x90\x80\x80", b"\xC0\x80", b"\xE9"] {
        let data = [b"{\"s\":\"", bytes, b"\",\"a\":[]}"].concat();
        assert_eq!(path("a", data).fault.map(|(code, ..)| code), Some("E420"), "{bytes:?}");
    }
    let deep = format!("{{\"s\":{}{},\"a\":[]}}", "[".repeat(127), "]".repeat(127));
    assert_eq!(fault(&path("a", deep)).1, "E426");
}

#[test]
fn formats_5_2_a_path_key_that_occurs_again_is_not_passed_over() {
    let outcome = path("a", "{\"a\":[{\"id\":1}],\"a\":[{\"id\":2}]}");
    assert_eq!((outcome.shown().len(), outcome.fault.map(|(code, ..)| code)), (1, Some("E422")));
    assert_eq!(outcome.reason, "the key `a` of the `record_path` occurs a second time");
}

#[test]
fn formats_1_7_a_record_above_max_record_bytes_is_e426_at_its_place() {
    let factory = reader(&[("max_record_bytes", OptionValue::Number(9)), ("format", text("array"))], &[]);
    let outcome = read(&*factory, b"[{\"a\":123},\n {\"a\":1234},{\"a\":5}]");
    assert_eq!((outcome.shown().len(), outcome.fault), (1, Some(("E426", 2, 13))));
    assert_eq!(outcome.reason, "the record that begins here is longer than 9 bytes");
    let outcome = read(&*factory, b"[{\"a\":\"never closed, and on and on");
    assert_eq!(outcome.fault, Some(("E426", 1, 1)));
}

#[test]
fn formats_5_7_the_example_reads_as_it_says() {
    let data = r#"{"meta":{"run":"B7"},"jobs":[{"id":1,"site":{"city":"Oslo"},"tags":["x"]},{"id":2,"site":{"city":null},"tags":"y"}]}"#;
    let factory = reader(&[("record_path", text("jobs"))], &["id", "site.city", "*tags"]);
    assert_eq!(
        read(&*factory, data.as_bytes()).shown(),
        [r#"id=1 site.city="Oslo" tags=["x"]"#, r#"id=2 site.city=null tags="y""#]
    );
}
