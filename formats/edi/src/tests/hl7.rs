//! A description in the manner of HL7: escape sequences, headers that declare their separators, levels without an end.

use clinker_format::{OptionValue, ReadFactory};
use serde_json::{Value, json};

use super::support::*;
use crate::Dialect;

fn description() -> Value {
    json!({
        "dialect": "ward",
        "version": 1,
        "framing": {
            "start": ["FHS", "BHS", "MSH"],
            "delimiters": {
                "element": [{ "byte": 3 }],
                "component": [{ "byte": 4 }],
                "repetition": [{ "byte": 5 }],
                "release": [{ "byte": 6 }],
                "subcomponent": [{ "byte": 7 }],
                "terminator": [{ "literal": "\r" }]
            },
            "escape": { "sequence": { "F": "element", "S": "component", "T": "subcomponent", "R": "repetition",
                                      "E": "release" }, "hex": "X" },
            "self_describing": ["FHS", "BHS", "MSH"],
            "redeclare": ["FHS", "BHS", "MSH"],
            "last_terminator": "optional"
        },
        "columns": { "prefix": "f", "max": 64, "max_option": "max_fields", "tag_pattern": "[A-Z][A-Z0-9]{2}" },
        "split_option": "split_fields",
        "limits": { "segment_bytes": 262_144 },
        "levels": [
            { "name": "file", "open": "FHS", "close": "FTS", "file": true, "optional": true, "close_optional": true },
            { "name": "batch", "open": "BHS", "close": "BTS", "optional": true, "close_optional": true },
            { "name": "transaction_set", "section_option": "message_section", "open": "MSH", "frame": "new",
              "columns": [{ "name": "set_ref", "element": 9 }, { "name": "set_type", "element": 8 }] }
        ],
        "counts": [
            { "at": "BTS", "element": 1, "of": "transaction_set", "optional": true },
            { "at": "FTS", "element": 1, "of": "batch", "optional": true }
        ]
    })
}

fn ward(given: &[(&'static str, OptionValue)]) -> std::sync::Arc<dyn ReadFactory> {
    let dialect = Dialect::from_description(&description(), &|_| None).unwrap_or_else(|faults| panic!("{faults:#?}"));
    reader_of(dialect, given)
}

fn message(number: u32, field: &str) -> String {
    format!("MSH|^~\\&|SEND|FAC|RECV|FAC2|2026||ADT^A01|M{number}|P|2.5\rPID|1||{field}\r")
}

fn outcome(text: &str) -> Outcome {
    read(&*ward(&[]), text.as_bytes())
}

fn faults(text: &str) -> Vec<(&'static str, u64)> {
    outcome(text).faults().into_iter().map(|(code, line, _)| (code, line)).collect()
}

#[test]
fn formats_10_3_the_header_declares_its_separators_and_keeps_them() {
    let outcome = outcome(&message(7, "a"));
    assert_eq!(outcome.faults(), []);
    assert_eq!(outcome.columns[..4], ["seg_id", "set_ref", "set_type", "f01"]);
    let rows = outcome.rows();
    assert_eq!(rows[0][..5], [Some("MSH"), Some("M7"), Some("ADT^A01"), Some("^~\\&"), Some("SEND")]);
    assert_eq!(rows[1][1..], [Some("M7"), Some("ADT^A01"), Some("1"), None, Some("a")]);
    for (text, code) in [("MSH|^~\\^|a\r", "E422"), ("MSH|^A\\&|a\r", "E422"), ("MSH|^~", "E421"), ("MSH|^~|x", "E422")]
    {
        assert_eq!(faults(text), [(code, 1)], "{text:?}");
    }
}

#[test]
fn formats_10_3_escape_sequences() {
    for (wire, shown, lost) in [
        ("a\\F\\b\\E\\", "a|b\\", 0),
        ("\\S\\\\T\\\\R\\", "^&~", 3),
        ("\\X41C3A9\\", "A\u{E9}", 0),
        ("\\X4\\\\XZZ\\\\X\\", "\\X4\\\\XZZ\\\\X\\", 0),
        ("\\.br\\x\\H\\", "\\.br\\x\\H\\", 0),
        ("a\\b", "a\\b", 0),
        ("a\nb", "a\nb", 0),
    ] {
        let found = outcome(&message(1, wire));
        assert_eq!((found.faults(), found.rows()[1].last().copied().flatten()), (vec![], Some(shown)), "{wire}");
        assert_eq!(found.notes, if lost > 0 { vec![("W402", lost)] } else { vec![] }, "{wire}");
        let raw = read(&*ward(&[("element_text", text("wire"))]), message(1, wire).as_bytes());
        assert_eq!(raw.rows()[1].last().copied().flatten(), Some(wire));
    }
    let bad = outcome(&(message(1, "good") + &message(2, "\\XFF\\")));
    assert_eq!(bad.faults().iter().map(|fault| (fault.0, fault.1)).collect::<Vec<_>>(), [("E420", 4)]);
    assert_eq!(bad.rows().len(), 3);
}

#[test]
fn formats_10_4_a_message_ends_where_the_next_header_or_trailer_begins() {
    let head = "FHS|^~\\&|x\rBHS|^~\\&|y\r";
    let text = format!("{head}{}{}BTS|2\rFTS|1\r", message(1, "a"), message(2, "b"));
    let found = outcome(&text);
    assert_eq!(found.faults(), []);
    let shape: String = found
        .events
        .iter()
        .map(|event| match event {
            Event::Open { level, .. } => char::from(b'0' + *level as u8),
            Event::Close => ')',
            Event::Row(..) => '.',
            Event::Fault(..) => '!',
        })
        .collect();
    assert_eq!(shape, "012..)2..)))");
    assert_eq!(faults(&text.replace("BTS|2", "BTS|3")), [("E428", 7)]);
    assert_eq!(faults(&text.replace("BTS|2", "BTS|x")), [("E422", 7)]);
    assert_eq!(faults(&text.replace("BTS|2", "BTS")), []);
    assert_eq!(faults(&text.replace("BTS|2\rFTS|1\r", "")), [], "the closing segments may be missing");
    assert_eq!(faults(&text.replace("BTS|2\r", "")), [("E425", 7)]);
    assert_eq!(faults(&text.replace("FTS|1\r", "FTS|1\rPID|1\r")), [("E425", 9)]);
    assert_eq!(faults(&text.replace("BTS|2\r", "BTS|2\rPID|1\r")), [("E425", 8)]);
    assert_eq!(faults(&(message(1, "a") + head)), [("E425", 3)], "the file header comes first");
    assert_eq!(faults(&(message(1, "a") + "BTS|1\r")), [("E425", 3)]);
    assert_eq!(faults(&(message(1, "a") + "FTS|1\r")), [("E425", 3)]);
}

#[test]
fn formats_10_2_e422_headers_that_disagree() {
    let text = message(1, "a") + &message(2, "b").replace("^~\\&", "^~\\$");
    assert_eq!(faults(&text), [("E422", 3)]);
}

#[test]
fn formats_7_3_the_last_segment_may_lack_its_terminator() {
    let text = message(1, "a");
    let found = outcome(text.trim_end());
    assert_eq!((found.faults(), found.rows().len()), (vec![], 2));
    for end in ["\n", "\r\n\r\n", "\u{1A}", "\n\u{1A}\n"] {
        let found = outcome(&format!("{text}{end}"));
        assert_eq!((found.faults(), found.rows().len()), (vec![], 2), "{end:?}");
    }
    assert_eq!(outcome(&text.replace('\r', "\r\n")).rows().len(), 2);
}

#[test]
fn formats_7_5_repetitions_components_and_subcomponents() {
    let mut entry = options(&[("field", text("f03"))]);
    for (axis, width) in [("components", 2), ("subcomponents", 2), ("repetitions", 2)] {
        entry.set(axis, OptionValue::Number(width));
    }
    let factory = ward(&[("split_fields", OptionValue::Maps(vec![entry.clone()]))]);
    let found = read(&*factory, message(1, "a&b^c~d^\\T\\e&f").as_bytes());
    assert_eq!(found.columns[5..9], ["f03_r1_c1_s1", "f03_r1_c1_s2", "f03_r1_c2_s1", "f03_r1_c2_s2"]);
    assert_eq!(found.faults(), []);
    let cells = [Some("a"), Some("b"), Some("c"), None, Some("d"), None, Some("&e"), Some("f")];
    assert_eq!(found.rows()[1][5..], cells);
    for wire in ["a~b~c", "a^b^c", "a&b&c"] {
        assert_eq!(read(&*factory, message(1, wire).as_bytes()).faults()[0].0, "E423", "{wire}");
    }
    // The separators that a header declares are never split.
    entry.set("field", text("f01"));
    let factory = ward(&[("split_fields", OptionValue::Maps(vec![entry]))]);
    let found = read(&*factory, message(1, "a").as_bytes());
    assert_eq!((found.faults(), found.rows()[0][3]), (vec![], Some("^~\\&")));
}
