//! Each code of a write failure. A refused row leaves no byte, and no header either.

use std::sync::Arc;

use clinker_record::{Level, Value};

use super::examples::{DELIMS, GS, ISA, echoes, levels, x12_rows};
use super::support::{Row, level_of, open, refusal, row, text, texts, write, x12};

fn set_row(level: &Arc<Level>, cells: &str) -> Row {
    row(Some(level), &format!("set_ref=1 set_type=856 {cells}"))
}

/// Refuses the first row: nothing is written.
fn refused(bad: Row) -> (&'static str, String, String) {
    let (output, refused) = refusal(&x12(), &echoes(), std::slice::from_ref(&bad));
    assert_eq!(output, "", "a refused row opens nothing");
    // Rows in front of it stay, and it takes nothing of itself with it.
    let mut rows = x12_rows();
    let level = rows[0].level.clone();
    rows.push(Row { level, ..bad });
    let (output, again) = refusal(&x12(), &echoes(), &rows);
    let whole = write(&x12(), &echoes(), &x12_rows());
    assert_eq!(Some(output.as_str()), whole.strip_suffix("SE*4*0001~\nGE*1*88~\nIEA*1*000000417~\n"));
    assert_eq!((again.code, again.row), (refused.code, 3));
    (refused.code, refused.column.to_string(), refused.reason)
}

#[test]
fn formats_1_12_e440_a_structured_value_is_refused() {
    let (_, group, _) = levels();
    let values = [Value::Array(vec![Value::Int(1)]), Value::Map(vec![("a".into(), Value::Int(1))])];
    for value in values {
        let (code, column, reason) = refused(set_row(&group, "seg_id=BSN").with("e02", value));
        assert_eq!((code, column.as_str()), ("E440", "e02"));
        assert!(reason.contains("holds one value"), "{reason}");
    }
}

#[test]
fn formats_1_12_scalars_have_their_form() {
    let (_, group, _) = levels();
    let given = set_row(&group, "seg_id=BSN")
        .with("e01", Value::Bool(true))
        .with("e02", Value::Int(-7))
        .with("e03", Value::Float(0.00001))
        .with("e05", Value::Date(20_468))
        .with("e06", Value::DateTime(1_768_469_400_500_000_000))
        .with("e07", Value::Null);
    let output = write(&x12(), &echoes(), &[given]);
    assert!(output.contains("\nBSN*true*-7*0.00001**2026-01-15*2026-01-15T09:30:00.500~\n"), "{output}");
}

#[test]
fn formats_1_12_e443_no_finite_number() {
    let (_, group, _) = levels();
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let (code, column, _) = refused(set_row(&group, "seg_id=BSN").with("e01", Value::Float(number)));
        assert_eq!((code, column.as_str()), ("E443", "e01"));
    }
}

#[test]
fn x12_5_e443_separators_in_a_cell() {
    let (_, group, _) = levels();
    for bad in ["a*b", "a~b"] {
        let (code, column, reason) = refused(set_row(&group, "seg_id=BSN").text("e01", bad));
        assert_eq!((code, column.as_str()), ("E443", "e01"));
        assert!(reason.contains("has no escape"), "{reason}");
    }
    let (code, column, _) = refused(row(Some(&group), "seg_id=BSN set_type=856").text("set_ref", "0*1"));
    assert_eq!((code, column.as_str()), ("E443", "set_ref"));
    // The others pass.
    let passing = set_row(&group, "seg_id=BSN").text("e01", "a>b^c");
    assert!(write(&x12(), &echoes(), &[passing]).contains("BSN*a>b^c~"));
}

#[test]
fn formats_7_8_e443_tags_that_the_format_forbids() {
    let (_, group, _) = levels();
    for tag in ["ISX", "bsn", "B", "BSNX", "B*N", "1AB"] {
        let (code, column, _) = refused(set_row(&group, "").text("seg_id", tag));
        assert_eq!((code, column.as_str()), ("E443", "seg_id"), "{tag}");
    }
}

#[test]
fn formats_1_6_e443_a_character_that_the_encoding_lacks() {
    let (_, group, _) = levels();
    let given = [&echoes()[..], &[("encoding", text("latin-1"))]].concat();
    let good = set_row(&group, "seg_id=BSN").text("e01", "Ålesund");
    let (output, none) = super::support::write_in(&x12(), &given, std::slice::from_ref(&good), 1);
    assert_eq!(none, None);
    assert!(output.windows(11).any(|bytes| bytes == b"BSN*\xC5lesund"));
    let (_, refused) = refusal(&x12(), &given, &[good, set_row(&group, "seg_id=BSN").text("e01", "Ω")]);
    assert_eq!((refused.code, refused.row), ("E443", 1));
    assert!(refused.reason.contains("iso-8859-1 has no character U+03A9"), "{}", refused.reason);
}

#[test]
fn formats_7_8_e447_a_column_without_a_place() {
    let (_, group, _) = levels();
    for name in ["price", "e7", "e007", "e00", "e1000", "e01_x1", "e01_s1", "e01_c0", "e01_c01", "f01", "e01_c1_r1"] {
        let (code, column, reason) = refused(set_row(&group, "seg_id=BSN").text(name, "1"));
        assert_eq!((code, column.as_str()), ("E447", name));
        assert!(reason.contains("`exclude`") && reason.contains("`mapping`"), "{reason}");
    }
    let ignored = set_row(&group, "seg_id=BSN e01=1").with("price", Value::Null).text("$source.file", "x");
    assert!(write(&x12(), &echoes(), &[ignored]).contains("\nBSN*1~\n"));
}

#[test]
fn formats_7_5_e447_an_element_and_its_parts() {
    let (_, group, _) = levels();
    let (code, column, _) = refused(set_row(&group, "seg_id=BSN e02=a e02_c2=b"));
    assert_eq!((code, column.as_str()), ("E447", "e02_c2"));
    let (code, column, _) = refused(set_row(&group, "seg_id=BSN e02_c2=b e02_r1_c2=b"));
    assert_eq!((code, column.as_str()), ("E447", "e02_r1_c2"));
}

#[test]
fn formats_7_8_e449_a_record_that_has_no_place() {
    let (_, group, _) = levels();
    let (code, column, _) = refused(row(Some(&group), "set_ref=1 set_type=856 e01=x"));
    assert_eq!((code, column.as_str()), ("E449", "seg_id"));
    let (code, _, _) = refused(set_row(&group, "seg_id= e01=x"));
    assert_eq!(code, "E449");
    // No type for a set.
    let (code, column, reason) = refused(row(Some(&group), "seg_id=BSN set_ref=9 e01=x"));
    assert_eq!((code, column.as_str()), ("E449", "set_type"));
    assert!(reason.contains("option `set_type`"), "{reason}");
    let with_type = [&echoes()[..], &[("set_type", text("810"))]].concat();
    let typed = row(Some(&group), "seg_id=BSN set_ref=9 e01=x");
    assert!(write(&x12(), &with_type, &[typed]).contains("ST*810*9~"));
    // An interchange segment behind a group.
    let mut rows = x12_rows();
    let interchange = Arc::clone(rows[0].level.as_ref().unwrap().root());
    rows.push(row(Some(&interchange), "seg_id=TA1 e01=x"));
    let (_, refused) = refusal(&x12(), &echoes(), &rows);
    assert_eq!(refused.code, "E449");
}

#[test]
fn formats_7_8_e445_a_second_document() {
    let mut rows = x12_rows();
    let set = rows[0].level.clone().unwrap();
    rows.push(set_row(&set, "seg_id=REF e01=x").in_file(1));
    // The outermost level is the document, wherever its rows come from.
    assert!(write(&x12(), &echoes(), &rows).contains("REF*x"));
    let (_, other, _) = levels();
    rows.push(set_row(&other, "seg_id=REF e01=y").in_file(2));
    let (output, refused) = refusal(&x12(), &echoes(), &rows);
    assert_eq!((refused.code, refused.row), ("E445", 4));
    assert!(refused.reason.contains("file 1 of source 1") && refused.reason.contains("file 3 of source 1"));
    assert!(output.ends_with("REF*x~\n"), "{output}");
}

#[test]
fn formats_1_12_e445_rows_of_two_files_without_levels() {
    let header = texts(&["SH", "A", "B", "20260115", "0930", "1", "X", "005010"]);
    let literal = [("interchange", super::options::isa()), ("group_header", header)];
    let plain = |file| row(None, "seg_id=BSN set_ref=1 set_type=856 e01=x").in_file(file);
    assert!(write(&x12(), &literal, &[plain(3), plain(3)]).contains("SE*4*1~"));
    let (_, refused) = refusal(&x12(), &literal, &[plain(3), plain(4)]);
    assert_eq!((refused.code, refused.row), ("E445", 1));
    let loose = plain(0).without_a_file();
    assert!(write(&x12(), &literal, &[loose.clone(), loose]).contains("SE*4*1~"));
}

#[test]
fn formats_7_8_e445_two_echoes_that_differ() {
    let (interchange, group, _) = levels();
    let other = open(1, Some(&interchange), "isa", &ISA.replace("417", "418"), DELIMS, "lf");
    let gs = open(1, Some(&other), "functional_group", GS, DELIMS, "lf");
    let (_, refused) = refusal(&x12(), &echoes(), &[set_row(&group, "seg_id=BSN"), set_row(&gs, "seg_id=BSN")]);
    assert_eq!((refused.code, refused.row), ("E445", 1));
}

#[test]
fn formats_7_8_e446_a_section_that_is_not_there() {
    let (interchange, group, _) = levels();
    let bare = level_of(0, None, vec![]);
    let (_, refused) = refusal(&x12(), &echoes(), &[set_row(&bare, "seg_id=BSN")]);
    assert_eq!((refused.code, &*refused.column), ("E446", "interchange_from_doc"));
    let (output, refused) = refusal(&x12(), &echoes(), &[set_row(&interchange, "seg_id=BSN")]);
    assert_eq!((refused.code, &*refused.column, output.as_str()), ("E446", "group_header_from_doc", ""));
    assert!(refused.reason.contains("`functional_group`"), "{}", refused.reason);
    let (_, refused) = refusal(&x12(), &echoes(), &[row(None, "seg_id=BSN set_ref=1 set_type=856")]);
    assert_eq!(refused.code, "E446");
    // A section of another segment.
    let swapped = [("interchange_from_doc", text("functional_group")), ("group_header_from_doc", text("isa"))];
    let (_, refused) = refusal(&x12(), &swapped, &[set_row(&group, "seg_id=BSN")]);
    assert_eq!(refused.code, "E446");
}

#[test]
fn x12_5_binary_data_have_the_length_that_is_said() {
    let (_, group, _) = levels();
    let data = set_row(&group, "seg_id=BIN e01=5").text("e02", "a~*b\n");
    assert!(write(&x12(), &echoes(), &[data]).contains("\nBIN*5*a~*b\n~\n"));
    for length in ["4", "x", ""] {
        let (code, column, _) = refused(set_row(&group, "seg_id=BIN").text("e01", length).text("e02", "a~*b\n"));
        assert_eq!((code, column.as_str()), ("E443", "e02"), "{length}");
    }
}
