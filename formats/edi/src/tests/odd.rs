//! Keys of descriptions that no standard uses: tags of fixed width, line breaks as data, other counts.

use std::io::{Cursor, Read};
use std::sync::Arc;

use clinker_format::ReadFactory;
use serde_json::{Value, json};

use super::support::*;
use crate::Dialect;

fn description() -> Value {
    json!({
        "dialect": "odd",
        "version": 1,
        "framing": {
            "start": ["H0"],
            "delimiters": { "element": [{ "literal": "," }], "terminator": [{ "literal": ";" }] },
            "tag_width": 2,
            "line_breaks": "data"
        },
        "charset": { "fixed": "windows-1252" },
        "columns": { "tag_pattern": "[A-Z][0-9]" },
        "levels": [
            { "name": "file", "open": "H0", "close": "T0", "file": true },
            { "name": "part", "open": "P0", "close": "Q0", "columns": [{ "name": "part", "element": 1 }] }
        ],
        "counts": [
            { "at": "Q0", "element": 1, "of": "segments", "inclusive": false },
            { "at": "Q0", "element": 2, "of": "bytes" },
            { "at": "T0", "element": 1, "of": { "segment": "L0" }, "rule": "corruption" },
            { "at": "T0", "element": 2, "of": { "sum": { "segment": "L0", "element": 2 } }, "optional": true },
            { "at": "T0", "element": 3, "of": "bytes", "inclusive": false, "optional": true }
        ],
        "references": [
            { "at": "Q0", "element": 3, "of": "P0", "of_element": 1, "ignore": ["spaces", "leading_zeros"] },
            { "at": "T0", "element": 4, "of": "H0", "of_element": 1, "optional": true }
        ]
    })
}

fn odd() -> Arc<dyn ReadFactory> {
    let dialect = Dialect::from_description(&description(), &|_| None).unwrap_or_else(|faults| panic!("{faults:#?}"));
    reader_of(dialect, &[])
}

fn outcome(text: &str) -> Outcome {
    read(&*odd(), text.as_bytes())
}

/// Bytes of the part: 6 of `P0007;`, 6 and 8 of the lines, 13 of `Q02,33,  7  ;`.
const PART: &str = "P0007;L0a,1;L0\nb,.5;Q02,33,  7  ;";

fn file(trailer: &str) -> String {
    format!("H0R;{PART}T0{trailer};")
}

#[test]
fn formats_15_6_tags_of_fixed_width_have_no_separator() {
    let found = outcome(&file("2,1.50,33,R"));
    assert_eq!(found.faults(), []);
    assert_eq!(
        found.rows(),
        [
            vec![Some("P0"), Some("007"), Some("007")],
            vec![Some("L0"), Some("007"), Some("a"), Some("1")],
            vec![Some("L0"), Some("007"), Some("\nb"), Some(".5")],
        ]
    );
    assert_eq!(outcome("H0R;X;T00;").faults(), [("E422", 2, 4)]);
    assert_eq!(outcome("H0R;\nP0;T00;").faults(), [("E422", 2, 4)], "a line break is data");
}

#[test]
fn formats_15_6_counts_of_every_kind() {
    let faults = |text: &str| outcome(text).faults().iter().map(|fault| fault.0).collect::<Vec<_>>();
    assert_eq!(faults(&file("2")), Vec::<&str>::new(), "optional counts and references may be missing");
    assert_eq!(faults(&file("2,1.5,34,R")), ["E428"]);
    assert_eq!(faults(&file("2,1.6,33,R")), ["E428"]);
    assert_eq!(faults(&file("2,x,33,R")), ["E422"]);
    assert_eq!(faults(&file("2,1.5,33,S")), ["E424"]);
    assert_eq!(faults(&file("")), ["E422"]);
    let wrong = outcome(&file("3"));
    assert!(matches!(wrong.events.last(), Some(Event::Fault("E428", .., false))), "a rule may say corruption");
    assert_eq!(faults(&file("2").replace("Q02", "Q04")), ["E428"]);
    assert_eq!(faults(&file("2").replace(",33,", ",34,")), ["E428"]);
    assert_eq!(faults(&file("2").replace("  7  ;", "  8  ;")), ["E424"]);
    assert_eq!(faults(&file("2").replace("b,.5", "b,x5")), ["E422"]);
}

#[test]
fn formats_1_6_other_character_sets_of_one_byte() {
    let with = |byte: u8| {
        let mut data = file("2").into_bytes();
        let at = data.iter().position(|byte| *byte == b'a').unwrap();
        data[at] = byte;
        read(&*odd(), &data)
    };
    assert_eq!(with(0x80).rows()[1][2], Some("\u{20AC}"));
    assert_eq!(with(0x81).faults(), [("E420", 3, 12)]);
}

#[test]
fn formats_15_3_padding_of_any_length_is_not_held() {
    let dialect = json!({
        "dialect": "plain", "version": 1,
        "framing": { "start": ["HA"], "delimiters": { "element": [{ "literal": "," }], "terminator": [{ "literal": ";" }] } },
        "levels": [
            { "name": "file", "open": "HA", "close": "TA", "file": true },
            { "name": "part", "open": "PA", "close": "QA" }
        ]
    });
    let dialect = Dialect::from_description(&dialect, &|_| None).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let factory = reader_of(dialect, &[]);
    let padding = |bytes: u64| std::io::repeat(b'\n').take(bytes);
    let text = |text: &str| Cursor::new(text.as_bytes().to_vec());
    let stream = text("HA;PA;BA,1;")
        .chain(padding(3_000_000))
        .chain(text("BA,2;;;;QA;TA;"))
        .chain(padding(3_000_000))
        .chain(text("\u{1A}"));
    let outcome = read_stream(&*factory, Box::new(stream), Weather { chunk: 65_536, rows: 1024, bytes: 10_000 });
    assert_eq!((outcome.faults(), outcome.rows().len()), (vec![], 3));
    assert_eq!(outcome.taken, Some(6_000_026));
}
