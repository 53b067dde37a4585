use clinker_diagnostics::Span;

use super::*;

fn read(text: &str) -> Document {
    match Document::read("p.yaml", text.as_bytes(), None) {
        Ok(document) => document,
        Err(error) => panic!("{error:?}"),
    }
}

fn fault(text: &str) -> (String, usize) {
    let faults = faults(Document::read("p.yaml", text.as_bytes(), Some(&|_| None)));
    (faults[0].message.clone(), faults[0].span.start)
}

fn faults(read: Result<Document, Unreadable>) -> Vec<Fault> {
    match read {
        Ok(document) => document.faults,
        Err(Unreadable::Text(_, faults)) => faults,
        Err(Unreadable::Bytes(message)) => vec![Fault::new("E000", Span::default(), message)],
    }
}

/// The text that stands at the place of `needle` of the scalar under `key`.
fn found(text: &str, key: &str, needle: &str) -> String {
    let document = read(text);
    let node = &document.root.get(key).expect("the key is there").value;
    let content = node.text().expect("it is text").to_string();
    let start = content.find(needle).unwrap_or_else(|| panic!("{needle:?} is not in {content:?}"));
    let place = document.place.inside(node, Span::new(start, start + needle.len()));
    let place = document.place.authored(place);
    text[place.start..place.end].to_string()
}

#[test]
fn pipeline_7_4_plain_scalars_follow_the_core_schema() {
    let cases = [
        ("y", Core::Text),
        ("no", Core::Text),
        ("on", Core::Text),
        ("true", Core::Bool(true)),
        ("False", Core::Bool(false)),
        ("~", Core::Null),
        ("", Core::Null),
        ("012", Core::Int(12)),
        ("-7", Core::Int(-7)),
        ("0x1F", Core::Int(31)),
        ("0o17", Core::Int(15)),
        ("99999999999999999999", Core::HugeInt),
        ("1.5", Core::Float(1.5)),
        (".5", Core::Float(0.5)),
        ("5.", Core::Float(5.0)),
        ("1e3", Core::Float(1000.0)),
        ("-.inf", Core::Float(f64::NEG_INFINITY)),
        ("1_000", Core::Text),
        ("+", Core::Text),
        (".", Core::Text),
        ("1.2.3", Core::Text),
        ("2024-01-01", Core::Text),
    ];
    for (text, core) in cases {
        assert_eq!(Core::of_plain(text), core, "{text}");
    }
}

#[test]
fn pipeline_1_1_a_duplicate_key_is_refused_at_its_second_place() {
    assert_eq!(fault("a: 1\nb: 2\na: 3\n"), ("duplicate key `a`".to_string(), 10));
}

#[test]
fn pipeline_1_2_a_stream_of_two_documents_is_refused() {
    let (message, at) = fault("a: 1\n---\nb: 2\n");
    assert!(message.contains("second YAML document"), "{message}");
    assert_eq!(at, 5);
}

#[test]
fn pipeline_1_2_depth_is_bounded() {
    let deep = |levels: usize| {
        let mut text = String::from("a: ");
        text.push_str(&"[".repeat(levels));
        text.push_str(&"]".repeat(levels));
        text
    };
    assert!(Document::read("p", deep(100).as_bytes(), None).is_ok());
    assert!(fault(&deep(300)).0.contains("deeper") || fault(&deep(300)).0.contains("recursion"));
    let block: String = (0..300).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    assert!(fault(&block).0.contains("deeper than 256"));
}

#[test]
fn pipeline_1_2_aliases_are_counted_before_they_are_expanded() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = level - 1;
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", vec![format!("*a{before}"); 10].join(", ")));
    }
    assert!(fault(&bomb).0.contains("more than 100000 YAML nodes"));
}

#[test]
fn pipeline_1_2_an_alias_gives_the_anchored_node() {
    let document = read("a: &x { k: v }\nb: *x\n");
    let node = &document.root.get("b").expect("b").value;
    assert_eq!(node.get("k").and_then(|entry| entry.value.text()).map(|text| &**text), Some("v"));
    assert!(fault("a: &x [*x]\n").0.contains("inside the node"));
}

#[test]
fn dia_3_spans_are_bytes_even_behind_other_scripts() {
    let text = "note: \"Größe und ١٢\"\nüber: [é, wort]\n";
    assert_eq!(found(text, "note", "und"), "und");
    let document = read(text);
    let entry = document.root.get("über").expect("key");
    assert_eq!(&text[entry.key_span.start..entry.key_span.end], "über");
    let NodeKind::List(items) = &entry.value.kind else { panic!("a list") };
    assert_eq!(&text[items[1].span.start..items[1].span.end], "wort");
}

#[test]
fn dia_3_content_is_found_in_every_scalar_style() {
    let literal = "cxl: |\n    emit a = b\n      emit größe = c\n\n    emit d = wrong\nz: 1\n";
    assert_eq!(found(literal, "cxl", "wrong"), "wrong");
    assert_eq!(found(literal, "cxl", "größe"), "größe");
    assert_eq!(found("cxl: |2-  # note\n     x wrong\n", "cxl", "wrong"), "wrong");
    assert_eq!(found("cxl: >\n  emit a\n  wrong = b\n\n  other\n", "cxl", "wrong"), "wrong");
    assert_eq!(found("cxl: >\n  emit a\n  wrong = b\n\n  other\n", "cxl", "other"), "other");
    assert_eq!(found("cxl: emit a = wrong\n", "cxl", "wrong"), "wrong");
    assert_eq!(found("cxl: emit a\n  = wrong\n", "cxl", "wrong"), "wrong");
    assert_eq!(found("cxl: 'it''s ''wrong'' here'\n", "cxl", "wrong"), "wrong");
    assert_eq!(found("cxl: \"emit a\\n\\u00e4 \\\"wrong\\\"\"\n", "cxl", "wrong"), "wrong");
    assert_eq!(found("cxl: \"emit a\n   and\n\n   wrong\"\n", "cxl", "wrong"), "wrong");
    assert_eq!(found("cxl: \"emit a \\\n   wrong\"\n", "cxl", "wrong"), "wrong");
    assert_eq!(found("cxl: |\r\n  emit a\r\n  emit wrong\r\nz: 1\r\n", "cxl", "wrong"), "wrong");
}

#[test]
fn pipeline_2_references_are_replaced_and_escaped() {
    let env = |name: &str| (name == "REGION").then(|| "coast".to_string());
    let text =
        "name: tide_${REGION}\ndesk: \"${DESK:-night}\"\ntag: \"$${REGION}\"\ncxl: emit a = $vars.x\nno: ${N:-}\n";
    let document = Document::read("p", text.as_bytes(), Some(&env)).expect("it reads");
    let value = |key: &str| document.root.get(key).expect("key").value.clone();
    assert_eq!(value("name").text().map(|text| &**text), Some("tide_coast"));
    assert_eq!(value("desk").text().map(|text| &**text), Some("night"));
    assert_eq!(value("tag").text().map(|text| &**text), Some("${REGION}"));
    assert_eq!(value("cxl").text().map(|text| &**text), Some("emit a = $vars.x"));
    assert!(value("no").is_null());
    let span = document.place.authored(value("cxl").span);
    assert_eq!(&text[span.start..span.end], "emit a = $vars.x");
    assert_eq!(document.place.shown(&value("name")), "tide_${REGION}");
    assert_eq!(document.place.shown(&value("cxl")), "emit a = $vars.x");
}

#[test]
fn pipeline_2_an_undefined_reference_names_its_byte() {
    let (message, _) = fault("pipeline: { name: ${NOPE} }\nb: ${ALSO}\n");
    assert_eq!(message, "undefined environment variable ${NOPE} at position 18");
    assert_eq!(faults(Document::read("p", b"a: ${A}\nb: ${B}\n", Some(&|_| None))).len(), 2);
    assert!(fault("a: ${lower}").0.contains("[A-Z_][A-Z0-9_]*"));
    assert!(fault("a: ${OPEN\n").0.contains("unterminated"));
}

#[test]
fn pipeline_2_a_value_with_a_line_break_takes_the_snippets_away() {
    let env = |_: &str| Some("x\nb: 2".to_string());
    let document = Document::read("p", b"a: ${V}\n", Some(&env)).expect("it reads");
    assert!(!document.place.anchored());
}

#[test]
fn pipeline_1_2_a_large_document_and_other_encodings_are_refused() {
    assert!(Document::read("p", &vec![b' '; MAX_BYTES + 1], None).is_err());
    assert!(faults(Document::read("p", b"a: \xff\n", None))[0].message.contains("byte 3"));
    assert!(read("\u{feff}a: 1\n").root.get("a").is_some());
}
