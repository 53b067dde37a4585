//! The examples of the specification, written back.

use std::sync::Arc;

use clinker_record::Level;

use super::support::{Row, harbour, open, row, text, write, x12};

pub const ISA: &str =
    "ISA*00*          *00*          *ZZ*NORTHWIND      *ZZ*LAKESIDE       *260115*0930*^*00501*000000417*0*T*>";
pub const GS: &str = "GS*SH*NORTHWIND*LAKESIDE*20260115*0930*88*X*005010";
pub const DELIMS: &str = "*>~^";

/// The levels of the X12 example: interchange, group, set.
pub fn levels() -> (Arc<Level>, Arc<Level>, Arc<Level>) {
    let interchange = open(0, None, "isa", ISA, DELIMS, "lf");
    let group = open(1, Some(&interchange), "functional_group", GS, DELIMS, "lf");
    let set = open(2, Some(&group), "transaction_set", "ST*856*0001", DELIMS, "lf");
    (interchange, group, set)
}

pub fn echoes() -> Vec<(&'static str, clinker_format::OptionValue)> {
    vec![("interchange_from_doc", text("isa")), ("group_header_from_doc", text("functional_group"))]
}

pub fn x12_rows() -> Vec<Row> {
    let (_, _, set) = levels();
    let in_set = |cells: &str| row(Some(&set), &format!("set_ref=0001 set_type=856 {cells}"));
    vec![
        in_set("seg_id=ST e01=856 e02=0001"),
        in_set("seg_id=BSN e01=00 e02=SHP771 e03=20260115 e04=0930"),
        in_set("seg_id=HL e01=1 e03=S"),
    ]
}

#[test]
fn formats_8_6_the_example_is_written_back_byte_for_byte() {
    let expected = format!(
        "{ISA}~\n{GS}~\nST*856*0001~\nBSN*00*SHP771*20260115*0930~\nHL*1**S~\nSE*4*0001~\nGE*1*88~\nIEA*1*000000417~\n"
    );
    assert_eq!(write(&x12(), &echoes(), &x12_rows()), expected);
}

#[test]
fn formats_8_6_a_dropped_row_changes_the_count_and_nothing_else() {
    let mut rows = x12_rows();
    rows.pop();
    let expected =
        format!("{ISA}~\n{GS}~\nST*856*0001~\nBSN*00*SHP771*20260115*0930~\nSE*3*0001~\nGE*1*88~\nIEA*1*000000417~\n");
    assert_eq!(write(&x12(), &echoes(), &rows), expected);
}

fn harbour_rows() -> Vec<Row> {
    let batch = open(0, None, "batch", "HDR=B9|OSLO", "|=\n\\", "");
    let shipment = |number: &str| open(1, Some(&batch), "shipment", &format!("SHP={number}"), "|=\n\\", "");
    let (one, two) = (shipment("S1"), shipment("S2"));
    vec![
        row(Some(&one), "seg_id=SHP ship_no=S1 e01=S1 e02=north|east"),
        row(Some(&one), "seg_id=WGT ship_no=S1 e01=12.5"),
        row(Some(&two), "seg_id=SHP ship_no=S2 e01=S2"),
        row(Some(&two), "seg_id=WGT ship_no=S2 e01=7.25"),
    ]
}

fn batch_echo() -> Vec<(&'static str, clinker_format::OptionValue)> {
    vec![("batch_header_from_doc", text("batch"))]
}

#[test]
fn formats_15_7_the_private_dialect_is_written_back_byte_for_byte() {
    let expected = "HDR=B9|OSLO\nSHP=S1|north\\|east\nWGT=12.5\nSHP=S2\nWGT=7.25\nTRL=2|19.75|B9\n";
    assert_eq!(write(&harbour(), &batch_echo(), &harbour_rows()), expected);
}

#[test]
fn formats_15_7_its_totals_count_what_is_written() {
    let rows = &harbour_rows()[..2];
    let expected = "HDR=B9|OSLO\nSHP=S1|north\\|east\nWGT=12.5\nTRL=1|12.5|B9\n";
    assert_eq!(write(&harbour(), &batch_echo(), rows), expected);
}

#[test]
fn formats_7_8_without_a_record_nothing_is_written() {
    assert_eq!(write(&x12(), &echoes(), &[]), "");
    assert_eq!(write(&harbour(), &batch_echo(), &[]), "");
    // Segments that the writer makes itself are no records.
    let (_, _, set) = levels();
    let service: Vec<Row> =
        ["ISA", "GS", "SE", "GE", "IEA"].iter().map(|tag| row(Some(&set), &format!("seg_id={tag}"))).collect();
    assert_eq!(write(&x12(), &echoes(), &service), "");
}

#[test]
fn formats_7_8_service_segments_of_the_stream_are_not_written() {
    let (_, _, set) = levels();
    let mut rows = x12_rows();
    rows.insert(0, row(Some(&set), "seg_id=GS e01=XX"));
    rows.push(row(Some(&set), "seg_id=SE e01=99 other=1"));
    assert_eq!(write(&x12(), &echoes(), &rows), write(&x12(), &echoes(), &x12_rows()));
}
