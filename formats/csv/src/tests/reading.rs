//! Reading: statements of formats.md 1.6, 1.9 and 2, and troubles seen in the wild.

use std::io::{self, Cursor, Read};

use clinker_format::OptionValue;
use clinker_format::input::InputFault;

use super::support::*;

const NO_HEADER: (&str, OptionValue) = ("has_header", OptionValue::Bool(false));

fn rows(data: &str) -> Vec<Vec<String>> {
    let outcome = read(&[], data.as_bytes());
    assert_eq!(outcome.fault, None, "{}", outcome.reason);
    assert_eq!(outcome.rejected, []);
    outcome.rows.into_iter().map(|(_, cells)| cells).collect()
}

#[test]
fn formats_2_2_records_end_at_lf_cr_or_crlf() {
    for data in ["a,b\n1,2\n3,4\n", "a,b\r1,2\r3,4\r", "a,b\r\n1,2\r\n3,4\r\n", "a,b\n1,2\r3,4"] {
        assert_eq!(rows(data), [["1", "2"], ["3", "4"]], "{data:?}");
    }
}

#[test]
fn csv_08_cr_only_line_ends() {
    let outcome = read(&[], b"id,city\r1,Ume\r2,Kiruna\r");
    assert_eq!(outcome.columns, ["id", "city"]);
    assert_eq!(outcome.cells(), [["1", "Ume"], ["2", "Kiruna"]]);
}

#[test]
fn csv_14_a_last_row_without_terminator_is_a_row() {
    assert_eq!(rows("id,v\n1,a\n2,b"), [["1", "a"], ["2", "b"]]);
    assert_eq!(rows("id,v\n1,"), [["1", ""]]);
    assert_eq!(rows("id,v\n1,\"\""), [["1", ""]]);
}

#[test]
fn formats_2_2_lines_without_bytes_are_skipped() {
    assert_eq!(rows("\n\r\n\ra,b\n\n\n1,2\r\n\r\n\r3,4\n\n"), [["1", "2"], ["3", "4"]]);
}

#[test]
fn formats_2_2_one_empty_quoted_cell_is_a_record() {
    assert_eq!(rows("a\n\"\"\n\nx\n"), [[""], ["x"]]);
}

#[test]
fn formats_2_2_quoted_cells_hold_delimiters_and_line_breaks() {
    assert_eq!(rows("a,b\n\"x,\r\ny\",\"\"\"q\"\"\"\n"), [["x,\r\ny", "\"q\""]]);
}

#[test]
fn formats_2_2_bytes_behind_the_closing_quote_are_literal() {
    assert_eq!(rows("a,b\n\"x\"y\"z\",\"\"w\n"), [["xy\"z\"", "w"]]);
    assert_eq!(rows("a,b\n\"x\" ,1\n"), [["x ", "1"]]);
}

#[test]
fn formats_2_2_a_quote_inside_a_bare_cell_is_literal() {
    assert_eq!(rows("a,b\n5\" pipe,x\"\"y\n3,\\\n"), [["5\" pipe", "x\"\"y"], ["3", "\\"]]);
}

#[test]
fn formats_2_2_open_quote_at_end_is_e421() {
    let outcome = read(&[], b"a,b\n1,2\n\n3,x\n4,\"open\n5,6\n");
    assert_eq!(outcome.cells(), [["1", "2"], ["3", "x"]]);
    assert_eq!(outcome.fault, Some(("E421", 5, 15)));
    assert!(outcome.reason.contains("cell 2"), "{}", outcome.reason);
    let outcome = read(&[], b"a,b\n\"x\"\"y\",\"p\"\"\n\"\"q");
    assert_eq!(outcome.fault, Some(("E421", 2, 11)));
}

#[test]
fn formats_2_2_open_quote_in_the_header_is_e421() {
    assert_eq!(read(&[], b"a,\"b\n1,2\n").fault, Some(("E421", 1, 2)));
}

#[test]
fn formats_2_2_another_width_rejects_that_row_alone() {
    let outcome = read(&[], b"a,b\n1,2\n3\n4,5,6\n7,8\n");
    assert_eq!(outcome.rows, [(1, vec!["1".into(), "2".into()]), (4, vec!["7".into(), "8".into()])]);
    let [short, long] = &outcome.rejected[..] else { panic!("{:?}", outcome.rejected) };
    assert_eq!((short.row, short.code, short.line, short.offset, short.raw.as_str()), (2, "E423", 3, 8, "3"));
    assert_eq!(short.reason, "the row has 1 cell, the header has 2");
    assert_eq!((long.row, long.code, long.line, long.offset, long.raw.as_str()), (3, "E423", 4, 10, "4,5,6"));
}

#[test]
fn csv_12_a_byte_that_does_not_decode_rejects_its_row() {
    let outcome = read(&[], b"id,town\n1,Malm\xF6\n2,Lund\n");
    assert_eq!(outcome.cells(), [["2", "Lund"]]);
    let [bad] = &outcome.rejected[..] else { panic!("{:?}", outcome.rejected) };
    assert_eq!((bad.row, bad.code, bad.line, bad.offset, bad.raw.as_str()), (1, "E420", 2, 14, "1,Malm\\xF6"));
    assert!(bad.reason.contains("F6") && bad.reason.contains("14"), "{}", bad.reason);
}

#[test]
fn formats_1_9_the_offset_of_a_bad_byte_is_given_also_when_the_width_is_wrong() {
    let outcome = read(&[], b"a,b\n1,2,\xFFx\\\n");
    let [bad] = &outcome.rejected[..] else { panic!("{:?}", outcome.rejected) };
    assert_eq!((bad.code, bad.offset, bad.raw.as_str()), ("E423", 4, "1,2,\\xFFx\\\\"));
    assert!(bad.reason.contains("3 cells") && bad.reason.contains("offset 8"), "{}", bad.reason);
}

#[test]
fn formats_1_6_a_bad_byte_moves_no_boundary() {
    let outcome = read(&[], b"a,b\n1,\xE2\n2,\xE2\x82\"\n3,4\n\"\xC3\",5\n");
    assert_eq!(outcome.cells(), [["3", "4"]]);
    assert_eq!(
        outcome.rejected.iter().map(|bad| (bad.row, bad.code)).collect::<Vec<_>>(),
        [(1, "E420"), (2, "E420"), (4, "E420")]
    );
}

#[test]
fn csv_18_control_z_is_data() {
    let outcome = read(&[], b"id,v\r\n1,left\x1Aright\r\n2,b\r\n\x1A");
    assert_eq!(outcome.cells(), [["1", "left\u{1A}right"], ["2", "b"]]);
    let [bad] = &outcome.rejected[..] else { panic!("{:?}", outcome.rejected) };
    assert_eq!((bad.row, bad.code, bad.line, bad.raw.as_str()), (3, "E423", 4, "\u{1A}"));
}

#[test]
fn csv_19_a_line_break_inside_a_header_cell() {
    let outcome = read(&[], b"id,\"net\namount\",city\n1,5,Oslo\n2,6\n");
    assert_eq!(outcome.columns, ["id", "net\namount", "city"]);
    assert_eq!(outcome.cells(), [["1", "5", "Oslo"]]);
    assert_eq!((outcome.rejected[0].line, outcome.rejected[0].row), (4, 2));
}

#[test]
fn csv_07_duplicate_header_names_are_e422_with_both_positions() {
    let outcome = read(&[], b"id,amount,amount\n1,2,3\n");
    assert_eq!(outcome.fault, Some(("E422", 1, 10)));
    assert!(outcome.reason.contains("columns 2 and 3") && outcome.reason.contains("`amount`"), "{}", outcome.reason);
    assert_eq!(outcome.rows, []);
}

#[test]
fn formats_2_2_header_names_are_not_trimmed_and_compared_exactly() {
    let outcome = read(&[], b" a,a ,A,a\n");
    assert_eq!(outcome.columns, [" a", "a ", "A", "a"]);
}

#[test]
fn formats_2_2_an_empty_file_has_no_columns_and_no_rows() {
    for data in [b"".as_slice(), b"\xEF\xBB\xBF"] {
        assert_eq!(read(&[], data), Outcome::default());
        assert_eq!(read(&[NO_HEADER], data), Outcome::default());
    }
}

#[test]
fn formats_2_2_a_header_row_without_cells_is_e422() {
    assert_eq!(read(&[], b"\n\r\n").fault, Some(("E422", 1, 0)));
}

#[test]
fn formats_1_9_a_header_that_does_not_decode_is_corruption() {
    assert_eq!(read(&[], b"\na,b\xFF\n1,2\n").fault, Some(("E420", 2, 4)));
}

#[test]
fn formats_2_2_without_a_header_columns_bind_by_position() {
    let outcome = read(&[NO_HEADER], b"1,2,3,4\n5,6,7,8\n");
    assert_eq!(outcome.columns, ["a", "b", "col_2", "col_3"]);
    assert_eq!(outcome.cells(), [["1", "2", "3", "4"], ["5", "6", "7", "8"]]);
    assert_eq!(outcome.rows[0].0, 1);
    assert_eq!(read(&[NO_HEADER], b"1\n").columns, ["a"]);
}

#[test]
fn formats_15_3_a_fault_of_the_first_row_waits_for_its_place() {
    let outcome = read(&[NO_HEADER], b"\n1,\"2");
    assert_eq!(outcome.columns, ["a", "b"]);
    assert_eq!(outcome.fault, Some(("E421", 2, 3)));
    let outcome = read(&[NO_HEADER], b"1,\xFF\n2,3\n");
    assert_eq!(outcome.cells(), [["2", "3"]]);
    assert_eq!(outcome.rejected[0].code, "E420");
    let outcome = read(&[NO_HEADER], b"1,2\n3\n");
    assert_eq!(outcome.rejected[0].reason, "the row has 1 cell, the first row has 2");
}

#[test]
fn formats_1_6_one_byte_order_mark_is_removed_and_counted() {
    let outcome = read(&[], b"\xEF\xBB\xBFa,b\n1,2\n3\n");
    assert_eq!(outcome.columns, ["a", "b"]);
    assert_eq!(outcome.rejected[0].offset, 11);
    let outcome = read(&[], b"\xEF\xBB\xBF\xEF\xBB\xBFa,b\n\xEF\xBB\xBF1,2\n");
    assert_eq!(outcome.columns, ["\u{FEFF}a", "b"]);
    assert_eq!(outcome.cells(), [["\u{FEFF}1", "2"]]);
    assert_eq!(read(&[("encoding", text("latin1"))], b"\xEF\xBB\xBFa\n").columns, ["\u{EF}\u{BB}\u{BF}a"]);
}

#[test]
fn formats_2_1_records_above_max_record_bytes_are_e426() {
    for (limit, chunk) in [(5, 1), (5, 4096), (70, 7), (70, 4096), (300, 1), (300, 4096)] {
        let factory = reader(&[("max_record_bytes", OptionValue::Number(limit))], &[]).unwrap();
        let fits = format!("a,b\n1,2\n3,{}", "x".repeat(limit as usize - 2));
        for end in ["\n", "\r\n", ""] {
            let outcome = read_with(&*factory, format!("{fits}{end}").as_bytes(), Weather { chunk, ..FAIR });
            assert_eq!((outcome.fault, outcome.rows.len()), (None, 2), "{limit} {chunk}");
            let outcome = read_with(&*factory, format!("{fits}x{end}").as_bytes(), Weather { chunk, ..FAIR });
            assert_eq!(outcome.fault, Some(("E426", 3, 8)), "{limit} {chunk}");
            assert_eq!(outcome.rows.len(), 1);
            assert!(outcome.reason.contains("max_record_bytes"), "{}", outcome.reason);
        }
    }
}

#[test]
fn formats_1_7_the_limit_stops_reading_before_the_record_is_complete() {
    let factory = reader(&[("max_record_bytes", OptionValue::Number(1000))], &[]).unwrap();
    let mut data = b"a\n\"".to_vec();
    data.resize(100_000, b'x');
    let (opened, mut input) = open(&*factory, &data, 64);
    let mut file = opened.unwrap();
    let bound = clinker_format::BlockBound { rows: 10, bytes: 1 << 20 };
    assert!(matches!(
        file.cutter.cut(&mut input, bound),
        Err(clinker_format::Fault::Corruption { code: "E426", line: 2, offset: 2, .. })
    ));
    assert!(input.window().len() < 1100, "{}", input.window().len());
}

#[test]
fn formats_2_1_other_delimiters_and_quotes() {
    let given = [("delimiter", text("\t")), ("quote_char", text("'"))];
    let outcome = read(&given, b"a\tb\n'x\t''y'\t\"z\n");
    assert_eq!(outcome.cells(), [["x\t'y", "\"z"]]);
    let outcome = read(&[("delimiter", text("\0"))], b"a\0b\n1\x002,\n");
    assert_eq!(outcome.cells(), [["1", "2,"]]);
    assert_eq!(read(&[], b"a,b\n\0,x\0y\n").cells(), [["\0", "x\0y"]]);
}

#[test]
fn formats_2_1_bad_separators_are_e401() {
    for given in [
        vec![("delimiter", text(""))],
        vec![("delimiter", text(",,"))],
        vec![("delimiter", text("\u{A7}"))],
        vec![("delimiter", text("\n"))],
        vec![("quote_char", text("\r"))],
        vec![("quote_char", text(","))],
        vec![("delimiter", text(";")), ("quote_char", text(";"))],
    ] {
        let faults = reader(&given, &[]).err().unwrap();
        assert_eq!(faults.iter().map(|fault| fault.code).collect::<Vec<_>>(), ["E401"], "{given:?}");
        let faults = writer(&given, true, &[]).err().unwrap();
        assert_eq!(faults.iter().map(|fault| fault.code).collect::<Vec<_>>(), ["E401"], "{given:?}");
    }
}

#[test]
fn formats_2_1_all_option_faults_are_reported_at_once() {
    let given = [("delimiter", text("")), ("encoding", text("us-ascii")), ("max_record_bytes", OptionValue::Number(0))];
    let codes: Vec<_> = reader(&given, &[]).err().unwrap().into_iter().map(|fault| fault.code).collect();
    assert_eq!(codes, ["E401", "E402", "E403"]);
}

fn utf16(text: &str, big: bool) -> Vec<u8> {
    text.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

#[test]
fn formats_1_6_utf_16_frames_by_units() {
    // U+2C0A, U+0A2C and U+2222 hold the bytes of delimiter, line feed and quote.
    let body = "a,b\r\n\u{2C0A},\"x\u{A2C}\"\"\r\n\"\n\n\u{2222},\u{1F600}";
    for big in [false, true] {
        let name = if big { "utf-16be" } else { "utf-16le" };
        let plain = utf16(body, big);
        let marked = utf16(&format!("\u{FEFF}{body}"), big);
        for (encoding, data) in [(name, &plain), (name, &marked), ("utf-16", &marked), ("utf-8", &marked)] {
            let factory = reader(&[("encoding", text(encoding))], &[]).unwrap();
            for chunk in [1, 7, 4096] {
                for rows in [1, 1024] {
                    let outcome = read_with(&*factory, data, Weather { chunk, rows, ..FAIR });
                    assert_eq!(outcome.fault, None, "{} {encoding} {big}", outcome.reason);
                    assert_eq!(outcome.columns, ["a", "b"]);
                    assert_eq!(outcome.cells(), [["\u{2C0A}", "x\u{A2C}\"\r\n"], ["\u{2222}", "\u{1F600}"]]);
                }
            }
        }
    }
}

#[test]
fn formats_1_6_utf_16_lone_surrogates_reject_and_an_odd_byte_is_e421() {
    let mut data = utf16("a,b\n1,", false);
    data.extend_from_slice(&[0x00, 0xD8]);
    data.extend(utf16("\n2,3\n4,5", false));
    data.push(b'x');
    let outcome = read(&[("encoding", text("utf-16le"))], &data);
    assert_eq!(outcome.cells(), [["2", "3"]]);
    assert_eq!((outcome.rejected[0].code, outcome.rejected[0].offset), ("E420", 12));
    assert_eq!(outcome.rejected[0].raw, "1,\\x00\\xD8");
    assert_eq!(outcome.fault, Some(("E421", 4, 30)));
}

#[test]
fn formats_1_6_one_byte_sets() {
    let given = [("encoding", text("windows-1252"))];
    let outcome = read(&given, b"a,\xE9\n\x80,\"\x93x\"\"\"\n\x81,y\nplain,row\n");
    assert_eq!(outcome.columns, ["a", "\u{E9}"]);
    assert_eq!(outcome.cells(), [["\u{20AC}", "\u{201C}x\""], ["plain", "row"]]);
    assert_eq!((outcome.rejected[0].code, outcome.rejected[0].raw.as_str()), ("E420", "\\x81,y"));
    let outcome = read(&[("encoding", text("latin1"))], b"a,b\n\x81,\xFF\n");
    assert_eq!(outcome.cells(), [["\u{81}", "\u{FF}"]]);
}

#[test]
fn formats_1_6_ebcdic_has_two_line_feeds() {
    // a,b NEL 1,"2 NEL" LF
    let data = b"\x81\x6B\x82\x15\xF1\x6B\x7F\xF2\x15\x7F\x0D\x25\x15\xF3\x6B\xF4\x25";
    let outcome = read(&[("encoding", text("cp037"))], data);
    assert_eq!(outcome.columns, ["a", "b"]);
    assert_eq!(outcome.cells(), [["1", "2\u{85}"], ["3", "4"]]);
}

#[test]
fn formats_1_6_marks_that_contradict_are_e402_at_open() {
    assert_eq!(read(&[("encoding", text("utf-16"))], &utf16("a,b\n", false)).fault.unwrap().0, "E402");
    let marked = utf16("\u{FEFF}a\n", true);
    assert_eq!(read(&[("encoding", text("utf-16le"))], &marked).fault.unwrap().0, "E402");
    assert_eq!(read(&[], b"\xFF\xFE\0\0a\0\0\0").fault.unwrap().0, "E402");
}

/// A stream that breaks behind its bytes.
struct Broken(Cursor<Vec<u8>>);

impl Read for Broken {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            0 => Err(InputFault { code: "E421", offset: self.0.position(), reason: "cut".into() }.into()),
            bytes => Ok(bytes),
        }
    }
}

#[test]
fn formats_15_3_complete_rows_come_before_the_failure_of_the_stream_and_no_other() {
    for (data, complete) in [("1,2\n3,4\n5,", 2), ("1,2\n3,4\n", 2), ("1,2\r", 1), ("1,2\n\"3", 1), ("1,2", 0), ("", 0)]
    {
        let factory = reader(&[NO_HEADER], &["a", "b"]).unwrap();
        for chunk in [1, 7, 4096] {
            for rows in [1, 1024] {
                let broken = Broken(Cursor::new(data.as_bytes().to_vec()));
                let outcome = read_stream(&*factory, Box::new(broken), Weather { chunk, rows, ..FAIR });
                assert_eq!(outcome.rows.len(), complete, "{data:?} {chunk}");
                assert_eq!(outcome.fault, Some(("E421", 0, data.len() as u64)), "{data:?} {chunk}");
            }
        }
    }
}
