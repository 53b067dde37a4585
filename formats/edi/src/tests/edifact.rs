//! A description in the manner of EDIFACT: service segment, release character, repertoire by header, groups all or none.

use clinker_format::{OptionValue, ReadFactory};
use serde_json::{Value, json};

use super::support::*;
use crate::Dialect;

fn description() -> Value {
    let control = json!([{ "header": "UNB", "element": 1, "matches": "^UNO[A-Z]\u{1F}" }]);
    let service = |byte: u8, usual: &str, control_byte: &str| json!([{ "service_byte": byte }, { "literal": control_byte, "when": control }, { "literal": usual }]);
    json!({
        "dialect": "trade",
        "version": 1,
        "framing": {
            "start": ["UNB"],
            "service": { "tag": "UNA", "bytes": 9 },
            "delimiters": {
                "component": service(3, ":", "\u{1F}"),
                "element": service(4, "+", "\u{1D}"),
                "release": [{ "service_byte": 6, "unless": "space" }, { "literal": "?" }],
                "repetition": [
                    { "service_byte": 7, "unless": "space" },
                    { "literal": "*", "when": [{ "header": "UNB", "element": 1, "component": 2, "equals": "4" }] }
                ],
                "terminator": service(8, "'", "\u{1C}")
            },
            "escape": "release"
        },
        "charset": { "element": { "header": "UNB", "element": 1, "component": 1,
            "map": { "UNOA": "us-ascii", "UNOB": "us-ascii", "UNOC": "iso-8859-1", "UNOY": "utf-8" } } },
        "columns": { "tag_pattern": "[A-Z]{3}" },
        "levels": [
            { "name": "interchange", "open": "UNB", "close": "UNZ", "file": true },
            { "name": "functional_group", "section_option": "group_section", "open": "UNG", "close": "UNE",
              "optional": "all_or_none" },
            { "name": "message", "open": "UNH", "close": "UNT",
              "columns": [{ "name": "msg_ref", "element": 1 }, { "name": "msg_type", "element": 2 }] }
        ],
        "counts": [
            { "at": "UNT", "element": 1, "of": "segments" },
            { "at": "UNE", "element": 1, "of": "message" },
            { "at": "UNZ", "element": 1, "of": ["functional_group", "message"] }
        ],
        "references": [
            { "at": "UNT", "element": 2, "of": "UNH", "of_element": 1 },
            { "at": "UNE", "element": 2, "of": "UNG", "of_element": 5 },
            { "at": "UNZ", "element": 2, "of": "UNB", "candidates": [
                { "elements": [5, 6], "when": [{ "header": "UNB", "element": 4, "empty": true }] },
                { "elements": [6], "when": [
                    { "header": "UNB", "element": 4, "matches": "^([0-9]{6}|[0-9]{8})$" },
                    { "header": "UNB", "element": 5, "matches": "^([0-9]{4}|[0-9]{6})$" } ] },
                { "elements": [5] }
            ] }
        ],
        "forbid": [{ "tag": "UNO", "text": "associated objects are not read" }]
    })
}

fn trade(given: &[(&'static str, OptionValue)]) -> std::sync::Arc<dyn ReadFactory> {
    let dialect = Dialect::from_description(&description(), &|_| None).unwrap_or_else(|faults| panic!("{faults:#?}"));
    reader_of(dialect, given)
}

/// The example of 9.7.
const EXAMPLE: &str = "UNA:+.? '\nUNB+UNOC:3+NORTHWIND:14+LAKESIDE:14+260115:0930+IC042'\nUNH+M1+DESADV:D:96A:UN'\n\
                       BGM+351+DS-9'\nNAD+SF+++L?'ATELIER 5?+6'\nUNT+4+M1'\nUNZ+1+IC042'\n";

fn faults(text: &str) -> Vec<(&'static str, u64)> {
    read(&*trade(&[]), text.as_bytes()).faults().into_iter().map(|(code, line, _)| (code, line)).collect()
}

#[test]
fn formats_9_7_the_example_reads_as_shown() {
    let outcome = read(&*trade(&[]), EXAMPLE.as_bytes());
    assert_eq!(outcome.faults(), []);
    let key = [Some("M1"), Some("DESADV:D:96A:UN")];
    assert_eq!(
        outcome.rows(),
        [
            vec![Some("UNH"), key[0], key[1], key[0], key[1]],
            vec![Some("BGM"), key[0], key[1], Some("351"), Some("DS-9")],
            vec![Some("NAD"), key[0], key[1], Some("SF"), None, None, Some("L'ATELIER 5+6")],
        ]
    );
    assert_eq!(outcome.taken, Some(EXAMPLE.len() as u64));
    let wire = read(&*trade(&[("element_text", text("wire"))]), EXAMPLE.as_bytes());
    assert_eq!(wire.rows()[2][6], Some("L?'ATELIER 5?+6"));
    let Event::Open { keys, line, offset, .. } = &outcome.events[0] else { panic!("a level") };
    assert_eq!((*line, *offset), (1, 10), "the service segment is none of the interchange");
    assert_eq!(keys[0].1, b"UNB+UNOC:3+NORTHWIND:14+LAKESIDE:14+260115:0930+IC042");
    assert_eq!(keys[1].1, b":+?\0'");
}

#[test]
fn formats_7_4_w402_escaped_separators_are_decoded_and_counted() {
    let text_of = |cell: &str| EXAMPLE.replace("L?'ATELIER 5?+6", cell);
    for (cell, shown, lost) in [
        ("A?:B", "A:B", 1),
        ("A??B", "A?B", 0),
        ("???:", "?:", 1),
        ("?a?\u{E9}", "a\u{E9}", 0),
        ("?:?:??:?+", "::?:+", 2),
    ] {
        let data: Vec<u8> = text_of(cell).chars().map(|char| char as u8).collect();
        let outcome = read(&*trade(&[]), &data);
        assert_eq!((outcome.faults(), outcome.rows()[2][6]), (vec![], Some(shown)), "{cell}");
        let notes = if lost > 0 { vec![("W402", lost)] } else { vec![] };
        assert_eq!(outcome.notes, notes, "{cell}");
        let wire = read(&*trade(&[("element_text", text("wire"))]), &data);
        assert_eq!((wire.rows()[2][6], wire.notes.len()), (Some(cell), 0));
    }
    let ended = &EXAMPLE[..EXAMPLE.find("'ATELIER").unwrap()];
    assert_eq!(faults(ended), [("E421", 4)], "a release character at the end releases nothing");
}

#[test]
fn formats_9_2_where_the_separators_come_from() {
    let plain = EXAMPLE.strip_prefix("UNA:+.? '\n").unwrap();
    assert_eq!(faults(plain), []);
    let keyed = |text: &str| {
        let outcome = read(&*trade(&[]), text.as_bytes());
        let Some(Event::Open { keys, .. }) = outcome.events.first() else { panic!("{}", outcome.reason()) };
        assert_eq!(outcome.faults(), [], "{text:?}");
        keys[1].1.clone()
    };
    assert_eq!(keyed(plain), b":+?\0'");
    assert_eq!(keyed(&plain.replace("UNOC:3", "UNOC:4")), b":+?*'");
    let other = EXAMPLE.replace("UNA:+.? '", "UNA=|.! ~").replace("?'", "").replace("?+", "");
    let body: String = other[9..]
        .chars()
        .map(|c| match c {
            ':' => '=',
            '+' => '|',
            '\'' => '~',
            c => c,
        })
        .collect();
    assert_eq!(keyed(&format!("{}{body}", &other[..9])), b"=|!\0~");
    let none = EXAMPLE.replace("UNA:+.? '", "UNA:+.  '").replace("L?'ATELIER 5?+6", "L?ATELIER");
    assert_eq!(keyed(&none), b":+\0\0'");
    let control: String = plain
        .replace("?'", "")
        .replace("?+", "")
        .chars()
        .map(|c| match c {
            ':' => '\u{1F}',
            '+' => '\u{1D}',
            '\'' => '\u{1C}',
            c => c,
        })
        .collect();
    assert_eq!(keyed(&control)[..2], [0x1F, 0x1D]);
    // Blanks behind the service segment are noted.
    let outcome = read(&*trade(&[]), EXAMPLE.replacen("'\n", "' \n", 1).as_bytes());
    assert_eq!((outcome.faults(), outcome.notes), (vec![], vec![("W405", 1)]));
}

#[test]
fn formats_9_2_e421_e422_bad_service_segments_and_headers() {
    assert_eq!(faults("UNA:+."), [("E421", 1)]);
    assert_eq!(faults("UNA:+.? '"), [("E421", 1)]);
    assert_eq!(faults("UNA:+.? 'UNX+"), [("E422", 1)]);
    assert_eq!(faults("UIB+UNOA:4'"), [("E422", 1)]);
    for una in ["UNA++.? '", "UNAA+.? '", "UNA:+.?1'", "UNA:+.? +", "UNA +.? '"] {
        assert_eq!(faults(&EXAMPLE.replace("UNA:+.? '", una)), [("E422", 1)], "{una}");
    }
}

#[test]
fn formats_9_3_e402_e420_the_header_names_the_repertoire() {
    assert_eq!(faults(&EXAMPLE.replace("UNOC", "UNOD")), [("E402", 1)]);
    assert_eq!(faults(&EXAMPLE.replace("UNOC", "")), [("E402", 1)]);
    let with = |identifier: &str, bytes: &[u8]| {
        let text = EXAMPLE.replace("UNOC", identifier);
        let at = text.find("ATELIER").unwrap();
        let mut data = text.into_bytes();
        data.splice(at..at + 7, bytes.iter().copied());
        let outcome = read(&*trade(&[]), &data);
        let cell = outcome.rows().get(2).and_then(|row| row[6]).unwrap_or_default().to_owned();
        (outcome.faults().first().map(|fault| (fault.0, fault.1)), cell)
    };
    assert_eq!(with("UNOC", b"\xE9"), (None, "L'\u{E9} 5+6".to_owned()));
    assert_eq!(with("UNOY", b"\xC3\xA9"), (None, "L'\u{E9} 5+6".to_owned()));
    assert_eq!(with("UNOY", b"\xE9").0, Some(("E420", 4)));
    assert_eq!(with("UNOA", b"\xE9").0, Some(("E420", 4)));
    let marked = [b"\xEF\xBB\xBF", EXAMPLE.as_bytes()].concat();
    assert_eq!(read(&*trade(&[]), &marked).faults()[0].0, "E422");
}

#[test]
fn formats_9_4_e425_groups_are_all_or_none() {
    let message = |number: u32| format!("UNH+{number}+A:B'BGM+1'UNT+3+{number}'");
    let file = |inside: &str, count: u32| format!("UNB+UNOC:3+A+B+C+R1'{inside}UNZ+{count}+R1'");
    let group = |inside: &str, count: u32| format!("UNG+a+b+c+d+G1'{inside}UNE+{count}+G1'");
    let two = message(1) + &message(2);
    assert_eq!(faults(&file(&two, 2)), []);
    assert_eq!(faults(&file(&group(&two, 2), 1)), [], "groups are counted where there are some");
    assert_eq!(faults(&file("", 0)), []);
    assert_eq!(faults(&file(&(group(&message(1), 1) + &message(2)), 1)), [("E425", 7)]);
    assert_eq!(faults(&file(&(message(1) + &group(&message(2), 1)), 1)), [("E425", 5)]);
    assert_eq!(faults(&file(&group(&two, 3), 1)), [("E428", 9)]);
    assert_eq!(faults(&file(&two, 1)), [("E428", 8)]);
    assert_eq!(faults(&file("UNO+1'", 0)), [("E422", 2)]);
    assert_eq!(faults(&file("UNH+1+A:B'UNH+2+A:B'", 0)), [("E425", 3)]);
}

#[test]
fn formats_9_5_e424_the_interchange_reference() {
    let file = |header: &str, echo: &str| faults(&format!("UNB+UNOC:3+A+B+{header}'UNZ+0{echo}'"));
    assert_eq!(file("260115:0930+R1", "+R1"), []);
    assert_eq!(file("260115:0930+R1", "+R2"), [("E424", 2)]);
    assert_eq!(file("260115:0930+R1", ""), [("E424", 2)]);
    assert_eq!(file("260115+0930+R1", "+R1"), []);
    assert_eq!(file("260115+0930+R1", "+0930"), [("E424", 2)]);
    assert_eq!(file("+R1+R2", "+R2"), []);
    assert_eq!(file("+R1+R2", "+R1"), []);
    assert_eq!(file("+R1+R2", "+R3"), [("E424", 2)]);
    assert_eq!(file("", "+R3"), [], "without a candidate any echo is accepted");
    assert_eq!(file("", ""), []);
    assert_eq!(file("260115:0930+R?+1", "+R?+1"), [], "references are compared decoded");
}

#[test]
fn formats_7_5_released_separators_do_not_split() {
    let mut entry = options(&[("element", text("e04"))]);
    entry.set("components", OptionValue::Number(2));
    let factory = trade(&[("split_elements", OptionValue::Maps(vec![entry]))]);
    let outcome = read(&*factory, EXAMPLE.replace("L?'ATELIER 5?+6", "A?:B:C??").as_bytes());
    assert_eq!(outcome.faults(), []);
    assert_eq!(outcome.rows()[2][6..], [Some("A:B"), Some("C?")]);
}

#[test]
fn formats_15_10_every_proper_prefix_ends_in_a_fault() {
    let text = EXAMPLE.trim_end();
    for len in 0..text.len() {
        let outcome = read(&*trade(&[]), &text.as_bytes()[..len]);
        assert_eq!(outcome.faults().len(), 1, "{len}");
    }
    assert_eq!(faults(text), []);
}
