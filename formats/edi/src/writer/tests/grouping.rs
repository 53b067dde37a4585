//! Which units a record opens.

use std::sync::Arc;

use clinker_record::Level;

use super::examples::{DELIMS, GS, ISA, echoes, levels};
use super::support::{Row, fields, open, released, row, text, texts, write, x12};

/// The segments of an output, without their terminators.
fn segments(output: &str) -> Vec<String> {
    output.lines().map(|line| line.trim_end_matches(['~', '\'']).to_owned()).collect()
}

/// The tags of an output.
fn shape(output: &str) -> String {
    segments(output).iter().map(|segment| segment.split(['*', '+']).next().unwrap()).collect::<Vec<_>>().join(" ")
}

fn body(level: &Arc<Level>, set: &str) -> Row {
    row(Some(level), &format!("seg_id=BSN set_ref={set} set_type=856 e01=x"))
}

fn group(interchange: &Arc<Level>, reference: &str) -> Arc<Level> {
    let raw = GS.replace("*88*", &format!("*{reference}*"));
    open(1, Some(interchange), "functional_group", &raw, DELIMS, "lf")
}

#[test]
fn x12_5_a_new_set_opens_when_its_reference_changes() {
    let (_, group, _) = levels();
    let output = write(&x12(), &echoes(), &[body(&group, "1"), body(&group, "1"), body(&group, "2")]);
    assert_eq!(
        segments(&output)[2..],
        ["ST*856*1", "BSN*x", "BSN*x", "SE*4*1", "ST*856*2", "BSN*x", "SE*3*2", "GE*2*88", "IEA*1*000000417"]
    );
}

#[test]
fn x12_5_an_st_record_always_opens_a_set() {
    let (interchange, first, _) = levels();
    let second = group(&interchange, "89");
    let st = |level: &Arc<Level>| row(Some(level), "seg_id=ST set_ref=0001 set_type=856 e01=856 e02=0001 e03=005010X");
    let output = write(&x12(), &echoes(), &[st(&first), st(&first), body(&first, "0001"), st(&second)]);
    assert_eq!(shape(&output), "ISA GS ST SE ST BSN SE GE GS ST SE GE IEA");
    assert_eq!(segments(&output)[2], "ST*856*0001*005010X");
    assert_eq!(segments(&output)[7], "GE*2*88");
    assert_eq!(segments(&output)[11], "GE*1*89");
}

#[test]
fn x12_5_an_st_record_takes_its_first_elements_from_the_key_columns() {
    let (_, group, _) = levels();
    let st = row(Some(&group), "seg_id=ST set_ref=7 set_type=810 e01=856 e02=0001 e05=v");
    assert_eq!(segments(&write(&x12(), &echoes(), &[st]))[2..4], ["ST*810*7***v", "SE*2*7"]);
}

#[test]
fn x12_5_groups_follow_the_level_of_the_record() {
    let (interchange, first, _) = levels();
    let (second, third) = (group(&interchange, "89"), group(&interchange, "89"));
    let rows = [body(&first, "1"), body(&second, "1"), body(&second, "1"), body(&third, "1")];
    let output = write(&x12(), &echoes(), &rows);
    assert_eq!(shape(&output), "ISA GS ST BSN SE GE GS ST BSN BSN SE GE GS ST BSN SE GE IEA");
    assert_eq!(segments(&output).last().unwrap(), "IEA*3*000000417");
}

#[test]
fn x12_5_a_group_reference_wins_over_the_one_of_the_echo() {
    let (interchange, first, _) = levels();
    let second = group(&interchange, "89");
    let keyed = |level, reference: &str| body(level, "1").text("group_ref", reference);
    let rows = [keyed(&first, "501"), keyed(&second, "501"), keyed(&second, "502"), keyed(&second, "")];
    let output = write(&x12(), &echoes(), &rows);
    assert_eq!(shape(&output), "ISA GS ST BSN BSN SE GE GS ST BSN BSN SE GE IEA");
    assert_eq!(segments(&output)[1], GS.replace("*88*", "*501*"));
    assert_eq!(segments(&output)[6], "GE*1*501");
    assert_eq!(segments(&output)[7], GS.replace("*88*", "*502*"));
}

#[test]
fn x12_5_neighbouring_groups_with_equal_references_stay_apart() {
    let (interchange, first, _) = levels();
    let second = group(&interchange, "88");
    let keyed = |level| body(level, "1").text("group_ref", "88");
    let output = write(&x12(), &echoes(), &[keyed(&first), keyed(&first), keyed(&second)]);
    assert_eq!(shape(&output), "ISA GS ST BSN BSN SE GE GS ST BSN SE GE IEA");
}

#[test]
fn x12_5_missing_references_are_numbered() {
    let (interchange, first, _) = levels();
    let second = group(&interchange, "89");
    let st = |level: &Arc<Level>| row(Some(level), "seg_id=ST set_type=856");
    let body = |level: &Arc<Level>| row(Some(level), "seg_id=BSN set_type=856 e01=x");
    let output = write(&x12(), &echoes(), &[body(&first), body(&first), st(&first), st(&second), body(&second)]);
    let sets: Vec<_> = segments(&output).into_iter().filter(|segment| segment.starts_with("ST")).collect();
    assert_eq!(sets, ["ST*856*0001", "ST*856*0002", "ST*856*0001"]);
    assert!(output.contains("SE*4*0001~"), "{output}");
    let literal = [
        ("interchange_from_doc", text("isa")),
        ("group_header", texts(&["SH", "A", "B", "20260115", "0930", "9999", "X", "005010"])),
    ];
    let output = write(&x12(), &literal, &[body(&first), body(&second), body(&second).text("group_ref", "G7")]);
    let groups: Vec<_> = segments(&output).into_iter().filter(|segment| segment.starts_with('G')).collect();
    let header = |reference: &str| format!("GS*SH*A*B*20260115*0930*{reference}*X*005010");
    assert_eq!(groups, [header("1"), "GE*1*1".into(), header("G7"), "GE*1*G7".into()]);
}

#[test]
fn x12_5_interchange_segments_stand_in_front_of_groups() {
    let (interchange, group, _) = levels();
    let ta1 = row(Some(&interchange), "seg_id=TA1 e01=000000417 e04=A");
    let output = write(&x12(), &echoes(), &[ta1.clone(), body(&group, "1")]);
    assert_eq!(shape(&output), "ISA TA1 GS ST BSN SE GE IEA");
    assert!(output.contains("SE*3*1~"), "{output}");
    assert_eq!(shape(&write(&x12(), &echoes(), &[ta1])), "ISA TA1 IEA");
}

#[test]
fn formats_7_8_rows_without_a_document_join_the_open_envelope() {
    let (_, group, _) = levels();
    let loose = row(None, "seg_id=REF e01=y").without_a_file();
    let output = write(&x12(), &echoes(), &[body(&group, "1"), loose]);
    assert_eq!(shape(&output), "ISA GS ST BSN REF SE GE IEA");
}

#[test]
fn formats_7_8_a_section_without_bytes_is_rebuilt() {
    let parts: Vec<&str> = ISA.split('*').collect();
    let text = |text: &str| clinker_record::Value::String(text.into());
    let names: Vec<String> = (1..=16).map(|number| format!("e{number:02}")).collect();
    let mut elements: Vec<_> =
        names.iter().zip(&parts[1..]).map(|(name, part)| (name.as_str(), text(part.trim_end()))).collect();
    elements[12].1 = clinker_record::Value::Int(417);
    let interchange = fields(0, None, "isa", &elements);
    let gs = [("e01", text("SH")), ("e06", text("88")), ("e08", text("005010")), ("other", text("x"))];
    let group = fields(1, Some(&interchange), "functional_group", &gs);
    let output = write(&x12(), &echoes(), &[body(&group, "1")]);
    assert_eq!(segments(&output)[..2], [ISA.to_owned(), "GS*SH*****88**005010".to_owned()]);
    assert!(output.ends_with("GE*1*88~\nIEA*1*000000417~\n"), "{output}");
}

#[test]
fn formats_9_6_a_group_without_a_header_is_not_written_and_messages_are_numbered() {
    let interchange = open(0, None, "ub", "UNB+UNOC:3+A+B+260115:0930+IC042", ":+? '", "lf");
    let rows = [
        row(Some(&interchange), "seg_id=BGM msg_type=DESADV:D:96A:UN e01=351"),
        row(Some(&interchange), "seg_id=UNH msg_type=DESADV:D:96A:UN"),
    ];
    let output = write(&released(), &[("interchange_from_doc", text("ub"))], &rows);
    assert_eq!(
        segments(&output),
        [
            "UNB+UNOC:3+A+B+260115:0930+IC042",
            "UNH+1+DESADV:D:96A:UN",
            "BGM+351",
            "UNT+3+1",
            "UNH+2+DESADV:D:96A:UN",
            "UNT+2+2",
            "UNZ+2+IC042"
        ]
    );
}

#[test]
fn formats_9_6_groups_follow_levels_where_their_header_is_echoed() {
    let interchange = open(0, None, "ub", "UNB+UNOC:3+A+B+260115:0930+IC042", ":+? '", "lf");
    let group = open(1, Some(&interchange), "functional_group", "UNG+DESADV+A+B+260115:0930+7+UN", ":+? '", "lf");
    let both = [("interchange_from_doc", text("ub")), ("group_header_from_doc", text("functional_group"))];
    let message = |level: &Arc<Level>| row(Some(level), "seg_id=UNH msg_ref=M1 msg_type=X");
    assert_eq!(shape(&write(&released(), &both, &[message(&group)])), "UNB UNG UNH UNT UNE UNZ");
    assert_eq!(shape(&write(&released(), &both, &[message(&interchange)])), "UNB UNH UNT UNZ");
    let (output, refused) = super::support::refusal(&released(), &both, &[message(&interchange), message(&group)]);
    assert_eq!((refused.code, shape(&output).as_str()), ("E449", "UNB UNH"));
}
