//! Elements: positions, parts, escapes, separators of several inputs, line breaks.

use clinker_format::OptionValue;
use clinker_record::Level;
use std::sync::Arc;

use super::examples::{GS, ISA, echoes, levels};
use super::options::isa;
use super::support::{Row, open, refusal, released, row, text, texts, write, write_in, x12};

fn line(output: &str, tag: &str) -> String {
    output.lines().find(|line| line.starts_with(tag)).unwrap().to_owned()
}

fn written(cells: &str) -> String {
    let (_, group, _) = levels();
    let given = row(Some(&group), &format!("seg_id=BSN set_ref=1 set_type=856 {cells}"));
    line(&write(&x12(), &echoes(), &[given]), "BSN")
}

#[test]
fn formats_7_8_elements_run_to_the_highest_that_is_not_empty() {
    assert_eq!(written("e03=c e01=a"), "BSN*a**c~");
    assert_eq!(written("e01=a e02= e09="), "BSN*a~");
    assert_eq!(written(""), "BSN~");
    assert_eq!(written("e100=z"), format!("BSN{}z~", "*".repeat(100)));
}

#[test]
fn formats_7_5_parts_are_joined() {
    assert_eq!(written("e02_c1=a e02_c3=c e03=x"), "BSN**a>>c*x~");
    assert_eq!(written("e01_r2_c2=d e01_r1_c1=a e01_r1_c9="), "BSN*a^>d~");
    assert_eq!(written("e01_r3=x"), "BSN*^^x~");
    assert_eq!(written("e01=a e02_c1= e02_c2="), "BSN*a~");
    let (_, group, _) = levels();
    let bad = row(Some(&group), "seg_id=BSN set_ref=1 set_type=856 e01_c1=a>b");
    assert_eq!(refusal(&x12(), &echoes(), &[bad]).1.code, "E443");
}

#[test]
fn formats_7_5_e443_parts_without_a_separator() {
    let old = ISA.replace("*^*00501*", "*U*00401*");
    let interchange = open(0, None, "isa", &old, "*>~ ", "lf");
    let group = open(1, Some(&interchange), "functional_group", GS, "*>~ ", "lf");
    let cells = "seg_id=BSN set_ref=1 set_type=856 e01_r1=a e01_r2=b";
    let (_, refused) = refusal(&x12(), &echoes(), &[row(Some(&group), cells)]);
    assert_eq!((refused.code, &*refused.column), ("E443", "e01_r2"));
    assert!(refused.reason.contains("repetition separator"), "{}", refused.reason);
}

fn unb(una: &str) -> Arc<Level> {
    let (component, element) = (&una[..1], &una[1..2]);
    let raw = format!("UNB{element}UNOC{component}3{element}A{element}B{element}260115{component}0930{element}IC042");
    open(0, None, "ub", &raw, una, "lf")
}

fn message(level: &Arc<Level>, text: &str) -> Row {
    row(Some(level), "seg_id=NAD msg_ref=M1 msg_type=X").text("e01", text)
}

fn echo(wire: bool) -> Vec<(&'static str, OptionValue)> {
    let mode = if wire { "wire" } else { "decoded" };
    vec![("interchange_from_doc", super::support::text("ub")), ("element_text", super::support::text(mode))]
}

const USUAL: &str = ":+? '";

#[test]
fn formats_9_6_decoded_text_is_released_and_structure_passes() {
    let level = unb(USUAL);
    let output = write(&released(), &echo(false), &[message(&level, "L'A+B?C:D")]);
    assert_eq!(line(&output, "NAD"), "NAD+L?'A?+B??C:D'");
    // The parts of a composite hold no structure.
    let parts = row(Some(&level), "seg_id=NAD msg_ref=M1 msg_type=X e01_c1=A:B e01_c2=C");
    assert_eq!(line(&write(&released(), &echo(false), &[parts]), "NAD"), "NAD+A?:B:C'");
}

#[test]
fn formats_7_4_wire_text_passes_unchanged_or_is_refused() {
    let level = unb(USUAL);
    let output = write(&released(), &echo(true), &[message(&level, "A?:B:C?x??")]);
    assert_eq!(line(&output, "NAD"), "NAD+A?:B:C?x??'");
    for bad in ["A+B", "A'B", "A?", "A???"] {
        let (_, refused) = refusal(&released(), &echo(true), &[message(&level, bad)]);
        assert_eq!((refused.code, &*refused.column), ("E443", "e01"), "{bad}");
    }
}

#[test]
fn formats_7_4_wire_text_of_other_separators_is_translated() {
    let level = unb("|~!^#");
    let literal = [
        ("interchange", texts(&["UNOC:3", "A", "B", "260115:0930", "IC042"])),
        ("element_text", super::support::text("wire")),
    ];
    let output = |text: &str| line(&write(&released(), &literal, &[message(&level, text)]), "NAD");
    assert_eq!(output("A|B"), "NAD+A:B'");
    assert_eq!(output("A!|B"), "NAD+A|B'");
    assert_eq!(output("9:30+x!!"), "NAD+9?:30?+x!'");
    let (_, refused) = refusal(&released(), &literal, &[message(&level, "A^B")]);
    assert_eq!(refused.code, "E443");
    assert!(refused.reason.contains("repetition separator"), "{}", refused.reason);
}

#[test]
fn x12_4_cells_of_other_separators_are_translated() {
    let (_, group, _) = levels();
    let header = texts(&["SH", "A", "B", "20260115", "0930", "1", "X", "005010"]);
    let literal = [("interchange", isa()), ("group_header", header)];
    let given = |text: &str| row(Some(&group), "seg_id=SVC set_ref=1 set_type=835").text("e01", text);
    assert_eq!(line(&write(&x12(), &literal, &[given("HC>99213^x")]), "SVC"), "SVC*HC:99213^x~");
    // What was data in the input would be structure here.
    let (_, refused) = refusal(&x12(), &literal, &[given("9:30")]);
    assert_eq!((refused.code, &*refused.column), ("E443", "e01"));
}

#[test]
fn formats_7_8_an_echoed_header_brings_its_separators() {
    let raw = ISA.replace('*', "|");
    let interchange = open(0, None, "isa", &raw, "|>\r^", "lf");
    let group = open(1, Some(&interchange), "functional_group", &GS.replace('*', "|"), "|>\r^", "lf");
    let given = row(Some(&group), "seg_id=BSN set_ref=1 set_type=856 e01=a*b");
    let output = write(&x12(), &echoes(), &[given]);
    assert!(output.starts_with(&format!("{raw}\r\nGS|SH|")), "{output}");
    assert!(output.contains("\r\nBSN|a*b\r\nSE|3|1\r\nGE|1|88\r\n"), "{output}");
}

#[test]
fn formats_7_8_a_group_header_of_other_separators_is_translated() {
    let (_, group, _) = levels();
    let interchange = open(0, None, "isa", &ISA.replace('*', "|"), "|>~^", "lf");
    let mixed = open(1, Some(&interchange), "functional_group", &GS.replace('*', "|"), "|>~^", "lf");
    let given = [("interchange", isa()), ("group_header_from_doc", text("functional_group"))];
    for level in [group, mixed] {
        let output = write(&x12(), &given, &[row(Some(&level), "seg_id=BSN set_ref=1 set_type=856")]);
        assert_eq!(line(&output, "GS"), format!("{GS}~"));
    }
}

#[test]
fn formats_7_1_segment_newline() {
    let (_, group, _) = levels();
    let rows = [row(Some(&group), "seg_id=BSN set_ref=1 set_type=856")];
    let with = |value: OptionValue| write(&x12(), &[&echoes()[..], &[("segment_newline", value)]].concat(), &rows);
    let ends = |output: &str| output.split('~').nth(1).unwrap().split('G').next().unwrap().to_owned();
    assert_eq!(ends(&with(OptionValue::Bool(true))), "\n");
    assert_eq!(ends(&with(text("lf"))), "\n");
    assert_eq!(ends(&with(text("crlf"))), "\r\n");
    assert_eq!(ends(&with(text("none"))), "");
    assert_eq!(ends(&with(OptionValue::Bool(false))), "");
    let unbroken = |newline: OptionValue| {
        let interchange = open(0, None, "isa", ISA, "*>\n^", "");
        let group = open(1, Some(&interchange), "functional_group", GS, "*>\n^", "");
        let rows = [row(Some(&group), "seg_id=BSN set_ref=1 set_type=856")];
        write(&x12(), &[&echoes()[..], &[("segment_newline", newline)]].concat(), &rows)
    };
    for newline in ["none", "lf", "crlf"] {
        assert_eq!(unbroken(text(newline)), with(text("lf")).replace('~', ""), "{newline}");
    }
}

#[test]
fn formats_9_6_the_service_segment_is_written_when_asked_for_or_needed() {
    let first = |una: &str, asked: bool| {
        let level = unb(una);
        let given = [&echo(false)[..], &[("write_una", OptionValue::Bool(asked))]].concat();
        let output = write(&released(), &given, &[message(&level, "x")]);
        output.lines().next().unwrap().to_owned()
    };
    assert_eq!(first(USUAL, false), "UNB+UNOC:3+A+B+260115:0930+IC042'");
    assert_eq!(first(USUAL, true), "UNA:+.? '");
    assert_eq!(first("|~!^#", false), "UNA|~.!^#");
}

#[test]
fn formats_9_6_e443_characters_outside_the_repertoire_of_the_header() {
    let header = |syntax: &str| [("interchange", texts(&[syntax, "A", "B", "260115:0930", "IC042"]))];
    let given = |text: &str| row(None, "seg_id=NAD msg_ref=M1 msg_type=X").text("e01", text);
    let (bytes, refused) = write_in(&released(), &header("UNOC:3"), &[given("Ø")], 1);
    assert_eq!(refused, None);
    assert!(bytes.windows(6).any(|window| window == b"NAD+\xD8'"));
    let (_, refused) = refusal(&released(), &header("UNOA:1"), &[given("Ø")]);
    assert_eq!((refused.code, &*refused.column), ("E443", "e01"));
}
