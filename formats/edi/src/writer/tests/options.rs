//! The options of a dialect, and literal headers.

use std::sync::Arc;

use clinker_format::{OptionKind, OptionValue, WriteFault, WriteRequest};

use super::support::{Given, faults, harbour, options, released, row, text, texts, write, x12};
use crate::writer::{bind_writer, writer_options};

const LITERAL: [&str; 16] =
    ["00", "", "00", "", "ZZ", "NORTHWIND", "ZZ", "LAKESIDE", "260115", "930", "^", "00501", "417", "0", "T", ":"];

/// A literal interchange header.
pub fn isa() -> OptionValue {
    texts(&LITERAL)
}

fn gs() -> OptionValue {
    texts(&["SH", "A", "B", "20260115", "0930", "1", "X", "005010"])
}

fn codes(given: Given<'_>) -> Vec<(&'static str, &'static str)> {
    faults(x12(), given).iter().map(|fault| (fault.code, fault.key)).collect()
}

#[test]
fn formats_8_1_a_literal_interchange_is_padded_to_106_bytes() {
    let given = [("interchange", isa()), ("group_header", gs())];
    let output = write(&x12(), &given, &[row(None, "seg_id=BSN set_ref=1 set_type=856")]);
    let header = output.lines().next().unwrap();
    assert_eq!(
        header,
        "ISA*00*          *00*          *ZZ*NORTHWIND      *ZZ*LAKESIDE       *260115*0930*^*00501*000000417*0*T*:~"
    );
    assert_eq!(header.len(), 106);
    assert!(output.ends_with("IEA*1*000000417~\n"));
}

#[test]
fn x12_5_the_literal_says_which_separators_stand_inside_elements() {
    let with = |at: &[(usize, &str)], cells: &str| {
        let mut literal = LITERAL;
        for (at, text) in at {
            literal[*at] = text;
        }
        let given = [("interchange", texts(&literal)), ("group_header", gs())];
        let (bytes, refused) =
            super::support::write_in(&x12(), &given, &[row(None, &format!("seg_id=BSN set_type=856 {cells}"))], 1);
        refused.map_or_else(
            || String::from_utf8(bytes).unwrap().lines().nth(3).unwrap().to_owned(),
            |refused| refused.code.to_owned(),
        )
    };
    assert_eq!(with(&[], "e01_c2=a e02_r2=b"), "BSN*:a*^b~");
    assert_eq!(with(&[(15, ">"), (10, "!")], "e01_c2=a e02_r2=b"), "BSN*>a*!b~");
    // Before version 00402 there is no repetition.
    assert_eq!(with(&[(11, "00401")], "e02_r2=b"), "E443");
    assert_eq!(with(&[(10, "U")], "e02_r2=b"), "E443");
}

#[test]
fn formats_7_8_the_literal_wins_over_the_echo() {
    let given = [
        ("interchange", isa()),
        ("interchange_from_doc", text("isa")),
        ("group_header", gs()),
        ("group_header_from_doc", text("functional_group")),
    ];
    let (_, group, _) = super::examples::levels();
    let output = write(&x12(), &given, &[row(Some(&group), "seg_id=BSN set_ref=1 set_type=856")]);
    assert!(output.contains("*T*:~\nGS*SH*A*B*20260115*0930*1*X*005010~\n"), "{output}");
}

#[test]
fn formats_8_1_e409_a_header_must_come_from_somewhere() {
    assert_eq!(codes(&[]), [("E409", "interchange"), ("E409", "group_header")]);
    assert_eq!(codes(&[("interchange", isa())]), [("E409", "group_header")]);
    assert_eq!(codes(&[("group_header_from_doc", text("g"))]), [("E409", "interchange")]);
    assert_eq!(faults(harbour(), &[])[0].code, "E409");
    assert_eq!(codes(&[("interchange_from_doc", text("i")), ("group_header", gs())]), []);
}

#[test]
fn formats_8_1_e403_the_shape_of_literals() {
    let with = |at: usize, text: &str| {
        let mut literal = LITERAL;
        literal[at] = text;
        codes(&[("interchange", texts(&literal)), ("group_header", gs())])
    };
    assert_eq!(with(0, "00"), []);
    let wrong = [("E403", "interchange")];
    for (at, text) in [(5, "SIXTEEN CHARACTERS"), (15, ":;"), (15, ""), (15, "^"), (15, "A"), (5, "Ø")] {
        assert_eq!(with(at, text), wrong, "element {} is {text:?}", at + 1);
    }
    assert_eq!(codes(&[("interchange", texts(&LITERAL[..15])), ("group_header", gs())]), wrong);
    assert_eq!(codes(&[("interchange", isa()), ("group_header", texts(&["SH"]))]), [("E403", "group_header")]);
    assert_eq!(faults(harbour(), &[("batch_header", texts(&[]))])[0].code, "E403");
}

#[test]
fn formats_1_6_e402_encodings() {
    let with = |name: &str| codes(&[("interchange", isa()), ("group_header", gs()), ("encoding", text(name))]);
    for name in ["utf-8", "UTF8", "iso-8859-1", "Latin_1", "l1"] {
        assert_eq!(with(name), [], "{name}");
    }
    for name in ["windows-1252", "utf-16", "us-ascii", "cp037", "", "klingon"] {
        assert_eq!(with(name), [("E402", "encoding")], "{name}");
    }
}

#[test]
fn formats_7_8_e443_a_literal_that_cannot_be_written_is_found_at_open() {
    let mut literal = LITERAL;
    literal[5] = "NORTH*WIND";
    let options = options(&[("interchange", texts(&literal)), ("group_header", gs())]);
    let request = WriteRequest { options: &options, header: true, preserve_nulls: false, joins: &[] };
    let factory = bind_writer(&Arc::new(x12()), &request).unwrap();
    let error = factory.writer().columns(&[], &mut Vec::new()).unwrap_err();
    let fault = WriteFault::of(&error).unwrap();
    assert_eq!((fault.code, &*fault.column), ("E443", "interchange"));
    // Where there is an escape, data are escaped and composites stay.
    let given = [("interchange", texts(&["UNOC:3", "A+B", "C?", "260115:0930", "I'1"]))];
    let output = write(&released(), &given, &[row(None, "seg_id=BGM msg_ref=1 msg_type=X")]);
    assert!(output.starts_with("UNB+UNOC:3+A?+B+C??+260115:0930+I?'1'\n"), "{output}");
    assert!(output.ends_with("UNZ+1+I?'1'\n"), "{output}");
}

#[test]
fn formats_15_6_the_options_of_a_dialect() {
    let keys = |specs: &'static [clinker_format::OptionSpec]| specs.iter().map(|spec| spec.key).collect::<Vec<_>>();
    assert_eq!(
        keys(writer_options(&x12())),
        [
            "interchange",
            "interchange_from_doc",
            "group_header",
            "group_header_from_doc",
            "set_type",
            "encoding",
            "element_text",
            "segment_newline"
        ]
    );
    assert_eq!(
        keys(writer_options(&harbour())),
        ["batch_header", "batch_header_from_doc", "encoding", "element_text", "segment_newline"]
    );
    assert!(keys(writer_options(&released())).contains(&"write_una"));
    assert_eq!(writer_options(&x12())[0].kind, OptionKind::Texts { count: Some(16) });
    assert_eq!(writer_options(&harbour()).last().unwrap().default, "false");
    let mut read_only = harbour();
    read_only.writer = None;
    assert_eq!(keys(writer_options(&read_only)), Vec::<&str>::new());
    assert_eq!(faults(read_only, &[])[0].code, "E400");
}
