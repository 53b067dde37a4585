//! Options, generated columns and split elements.

use clinker_format::{OptionFault, OptionValue, Options};

use super::samples::*;
use super::support::*;
use crate::X12;

fn entry(element: &str, axes: &[(&'static str, u64)]) -> Options {
    let mut entry = options(&[("element", text(element))]);
    axes.iter().for_each(|(key, width)| entry.set(key, OptionValue::Number(*width)));
    entry
}

fn split(entries: &[Options]) -> (&'static str, OptionValue) {
    ("split_elements", OptionValue::Maps(entries.to_vec()))
}

fn faults(given: &[(&'static str, OptionValue)], fields: &[&str]) -> Vec<(&'static str, &'static str)> {
    let Err(faults) = bind(&X12, given, fields) else { return Vec::new() };
    faults.iter().map(|OptionFault { key, code, .. }| (*key, *code)).collect()
}

#[test]
fn formats_7_1_e403_e402_e407_bad_options_and_columns() {
    assert_eq!(faults(&[("max_elements", OptionValue::Number(0))], &[]), [("max_elements", "E403")]);
    assert_eq!(faults(&[("max_elements", OptionValue::Number(1000))], &[]), [("max_elements", "E403")]);
    for name in ["utf-16", "windows-1252", "us-ascii", "cp037", "klingon"] {
        assert_eq!(faults(&[("encoding", text(name))], &[]), [("encoding", "E402")], "{name}");
    }
    assert_eq!(faults(&[], &["seg_id", "set_type", "e32"]), []);
    for name in ["amount", "e33", "e1", "e001", "group_ref"] {
        assert_eq!(faults(&[], &[name]), [("", "E407")], "{name}");
    }
    assert_eq!(faults(&[("emit_group_ref", OptionValue::Bool(true))], &["group_ref"]), []);
}

#[test]
fn formats_7_5_e414_bad_split_declarations() {
    let bad = |entries: &[Options]| faults(&[split(entries)], &[]);
    let two = [("components", 2)];
    for name in ["e1", "f01", "e33", "e00", "seg_id", ""] {
        assert_eq!(bad(&[entry(name, &two)]), [("split_elements", "E414")], "{name}");
    }
    assert_eq!(bad(&[entry("e01", &[("components", 0)])]), [("split_elements", "E414")]);
    assert_eq!(bad(&[entry("e01", &two), entry("e01", &two)]), [("split_elements", "E414")]);
    let wide = [("components", 5_000), ("repetitions", 2)];
    assert_eq!(bad(&[entry("e01", &wide)]), [("split_elements", "E414")]);
    assert_eq!(
        bad(&[entry("e01", &[("components", u64::MAX), ("repetitions", u64::MAX)])]),
        [("split_elements", "E414")]
    );
    assert_eq!(bad(&[entry("e01", &[("components", 9_999)])]), []);
    // The split element is no column any more.
    assert_eq!(faults(&[split(&[entry("e01", &two)])], &["e01"]), [("", "E407")]);
    assert_eq!(faults(&[split(&[entry("e01", &two)])], &["e01_c2"]), []);
}

#[test]
fn formats_7_5_parts_of_composites_are_columns() {
    let given = [split(&[entry("e01", &[("components", 3)]), entry("e02", &[("components", 2), ("repetitions", 2)])])];
    let data = interchange(&["SV1*HC:99*A:B^C:D*x:y", "SV1*:99:*^:Z", "SV1**A", "SV1"]);
    let outcome = read(&*reader(&given), data.as_bytes());
    assert_eq!(outcome.faults(), []);
    let wanted = ["e01_c1", "e01_c2", "e01_c3", "e02_r1_c1", "e02_r1_c2", "e02_r2_c1", "e02_r2_c2", "e03"];
    assert_eq!(outcome.columns[3..11], wanted);
    let rows = outcome.rows();
    let cells = |row: usize| rows[row + 1][3..].to_vec();
    let some = |text| Some(text);
    assert_eq!(cells(0), [some("HC"), some("99"), None, some("A"), some("B"), some("C"), some("D"), some("x:y")]);
    assert_eq!(cells(1), [None, some("99"), None, None, None, None, some("Z")]);
    assert_eq!(cells(2), [None, None, None, some("A")]);
    // ST is split, too: the declaration applies to every segment.
    assert_eq!(rows[0][3..], [some("850"), None, None, some("0001")]);
}

#[test]
fn formats_7_5_e423_more_parts_than_declared() {
    let given = [split(&[entry("e02", &[("components", 2)])])];
    for (segment, found) in
        [("SV1*a*1:2:3", "3 components"), ("SV1*a*1^2", "2 repetitions"), ("SV1*a*::", "3 components")]
    {
        let data = interchange(&["CTT*1", segment, "CTT*2"]);
        let outcome = read(&*reader(&given), data.as_bytes());
        let at = data.find("SV1").unwrap() + 6;
        assert_eq!(outcome.faults(), [("E423", 5, at as u64)]);
        assert!(outcome.reason().contains("SV1 element 2") && outcome.reason().contains(found), "{}", outcome.reason());
        assert_eq!(outcome.rows().len(), 2, "the rows in front of it are delivered");
    }
}

#[test]
fn formats_1_7_e423_the_limit_of_elements() {
    let given = [("max_elements", OptionValue::Number(3))];
    let plain = interchange(&["A1*1*2*3"]).replace("GS*PO*SENDERCO*RECVRCO*20250314*0915*51*X*005010", "GS*PO*S*R");
    let outcome = read(&*reader(&given), plain.replace("GE*1*51", "GE*1*").as_bytes());
    assert_eq!((outcome.faults(), outcome.rows().len()), (vec![], 2), "the interchange header has its own length");
    let wide = plain.replace("A1*1*2*3", "A1*1*2*3*");
    let outcome = read(&*reader(&given), wide.as_bytes());
    assert_eq!(outcome.faults(), [("E423", 4, wide.find("A1").unwrap() as u64)]);
    assert!(outcome.reason().contains("max_elements"), "{}", outcome.reason());
    let header = interchange(&[]);
    assert_eq!(read(&*reader(&given), header.as_bytes()).faults(), [("E423", 2, header.find("GS").unwrap() as u64)]);
}
