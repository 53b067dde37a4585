//! Valid files.

use clinker_format::{OptionValue, Vocabulary};

use super::samples::*;
use super::support::*;

#[test]
fn formats_8_6_the_example_reads_as_shown() {
    let outcome = read(&*reader(&[]), EXAMPLE.as_bytes());
    assert_eq!(outcome.faults(), []);
    let set = [Some("0001"), Some("856")];
    assert_eq!(
        outcome.rows(),
        [
            vec![Some("ST"), set[0], set[1], Some("856"), Some("0001")],
            vec![Some("BSN"), set[0], set[1], Some("00"), Some("SHP771"), Some("20260115"), Some("0930")],
            vec![Some("HL"), set[0], set[1], Some("1"), None, Some("S")],
        ]
    );
    assert_eq!(outcome.taken, Some(EXAMPLE.len() as u64));
    assert_eq!(outcome.notes, []);
}

#[test]
fn formats_8_3_levels_open_and_close_around_their_rows() {
    let outcome = read(&*reader(&[]), EXAMPLE.as_bytes());
    let shape: Vec<String> = outcome
        .events
        .iter()
        .map(|event| match event {
            Event::Open { level, line, offset, .. } => format!("open {level} line {line} byte {offset}"),
            Event::Close => "close".to_owned(),
            Event::Row(row, cells) => format!("row {row} {}", cells[0].as_deref().unwrap_or_default()),
            Event::Fault(code, ..) => (*code).to_owned(),
        })
        .collect();
    let wanted = [
        "open 0 line 1 byte 0",
        "open 1 line 2 byte 107",
        "open 2 line 3 byte 159",
        "row 1 ST",
        "row 2 BSN",
        "row 3 HL",
        "close",
        "close",
        "close",
    ];
    assert_eq!(shape, wanted);
}

#[test]
fn formats_7_6_headers_give_their_elements_and_engine_keys() {
    let outcome = read(&*reader(&[]), EXAMPLE.as_bytes());
    let Event::Open { fields, keys, .. } = &outcome.events[0] else { panic!("a level") };
    assert_eq!(fields.len(), 16, "all elements are present and not empty");
    assert_eq!(fields[1], ("e02".to_owned(), "          ".to_owned()), "padding is kept");
    assert_eq!(fields[12], ("e13".to_owned(), "000000417".to_owned()));
    let raw = EXAMPLE.split('~').next().unwrap().as_bytes().to_vec();
    let newline = |text: &str| ("$newline", text.as_bytes().to_vec());
    assert_eq!(*keys, [("$raw", raw), ("$delims", b"*>~^".to_vec()), newline("lf")]);
    let Event::Open { fields, keys, .. } = &outcome.events[1] else { panic!("a level") };
    assert_eq!(fields[5], ("e06".to_owned(), "88".to_owned()));
    assert_eq!(keys[0].1, b"GS*SH*NORTHWIND*LAKESIDE*20260115*0930*88*X*005010");
    for (breaks, key) in [("\r\n", "crlf"), ("", ""), ("\n", "lf"), ("\r", "")] {
        let outcome = read(&*reader(&[]), EXAMPLE.replace('\n', breaks).as_bytes());
        let Event::Open { keys, .. } = &outcome.events[0] else { panic!("a level") };
        assert_eq!(keys[2], newline(key), "{breaks:?}");
        assert_eq!(outcome.rows().len(), 3);
    }
}

#[test]
fn formats_8_1_what_the_reader_says_of_itself() {
    let factory = reader(&[("max_elements", OptionValue::Number(2))]);
    assert_eq!(factory.vocabulary(), Vocabulary::Positional { prefix: "e".into(), max: 2 });
    let names = factory.generated_columns().unwrap();
    assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["seg_id", "set_ref", "set_type", "e01", "e02"]);
    let levels: Vec<(String, String, bool)> =
        factory.levels().iter().map(|level| (level.name.to_string(), level.section.to_string(), level.file)).collect();
    let level = |name: &str, file| (name.to_owned(), name.to_owned(), file);
    assert_eq!(levels, [level("interchange", true), level("functional_group", false), level("transaction_set", false)]);
}

#[test]
fn x12_05_a_letter_in_isa11_is_no_separator_before_00402() {
    let text = isa('*', "U", "00401", ':', "~")
        + "GS*PO*S*R*20250314*0915*51*X*004010~ST*850*0001~N1*BY*UNITED SUPPLY UNLTD~SE*3*0001~GE*1*51~IEA*1*000000905~";
    let outcome = read(&*reader(&[]), text.as_bytes());
    assert_eq!(body(&outcome), [["N1", "BY", "UNITED SUPPLY UNLTD"]]);
    let delims = |text: &str| {
        let outcome = read(&*reader(&[]), text.as_bytes());
        let Some(Event::Open { keys, .. }) = outcome.events.first() else { panic!("{}", outcome.reason()) };
        keys[1].1.clone()
    };
    assert_eq!(delims(&text), b"*:~\0");
    assert_eq!(delims(&text.replace("00401*", "00402*").replace("*U*", "*^*")), b"*:~^");
    // A letter means none in later versions, too.
    assert_eq!(delims(&text.replace("00401*", "00501*")), b"*:~\0");
}

#[test]
fn x12_06_each_interchange_has_its_own_delimiters() {
    let first = interchange(&ORDER);
    let second = isa('|', "!", "00501", '>', "\n")
        + "GS|PO|S|R|20250315|0915|52|X|005010\nST|850|0001\nBEG|00|NE|PO*7002~X||20250315\nSE|3|0001\nGE|1|52\nIEA|1|000000905\n";
    let many = reader(&[("envelopes", text("many"))]);
    let both = format!("{first}{second}");
    let outcome = read(&*many, both.as_bytes());
    assert_eq!(outcome.faults(), []);
    assert_eq!(body(&outcome)[3], ["BEG", "00", "NE", "PO*7002~X", "", "20250315"]);
    let opened = outcome.events.iter().filter(|event| matches!(event, Event::Open { level: 0, .. })).count();
    assert_eq!(opened, 2);
    assert_eq!(outcome.taken, Some(both.len() as u64));
    let single = read(&*reader(&[]), both.as_bytes());
    assert_eq!(single.faults(), [("E425", 10, first.len() as u64)]);
    // What does not begin another interchange is refused in both modes.
    let stray = read(&*many, format!("{first}GS*PO~").as_bytes());
    assert_eq!(stray.faults(), [("E425", 10, first.len() as u64)]);
    let cut = read(&*many, format!("{first}IS").as_bytes());
    assert_eq!(cut.faults(), [("E421", 10, first.len() as u64)]);
}

#[test]
fn x12_12_leading_zeros_and_blanks_in_counts() {
    let text = interchange(&ORDER).replace("SE*5", "SE*00005").replace("GE*1", "GE* 01").replace("IEA*1", "IEA*1 ");
    let outcome = read(&*reader(&[]), text.as_bytes());
    assert_eq!((outcome.faults(), outcome.rows().len()), (vec![], 4));
}

#[test]
fn x12_13_interchange_segments_stand_in_front_of_groups_and_count_nowhere() {
    let text = interchange(&ORDER).replacen("GS*", "TA1*000000801*250313*1200*A*000~\nGS*", 1);
    let outcome = read(&*reader(&[("emit_group_ref", OptionValue::Bool(true))]), text.as_bytes());
    assert_eq!(outcome.faults(), []);
    assert_eq!(outcome.columns[..4], ["seg_id", "set_ref", "set_type", "group_ref"]);
    let rows = outcome.rows();
    assert_eq!(rows[0][..5], [Some("TA1"), None, None, None, Some("000000801")]);
    assert_eq!(rows[1][..4], [Some("ST"), Some("0001"), Some("850"), Some("51")]);
    // Inside of a set the tag is one like any other.
    let inside = read(&*reader(&[]), interchange(&["TA1*1"]).as_bytes());
    assert_eq!(inside.rows()[1][0], Some("TA1"));
}

#[test]
fn x12_19_binary_data_are_taken_by_their_length() {
    let segments = ["BGN*11*A77", "BIN*16*AB~CD*EF~GH:IJ^K", "BDS*ASC*4*~*\n~", "BIN*0*", "BIN*3*~~~*9", "REF*EA*77"];
    let outcome = read(&*reader(&[]), interchange(&segments).as_bytes());
    assert_eq!(outcome.faults(), []);
    let rows = body(&outcome);
    assert_eq!(rows[1], ["BIN", "16", "AB~CD*EF~GH:IJ^K"]);
    assert_eq!(rows[2], ["BDS", "ASC", "4", "~*\n~"]);
    assert_eq!(rows[3], ["BIN", "0"]);
    assert_eq!(rows[4], ["BIN", "3", "~~~", "9"]);
    assert_eq!(rows[5], ["REF", "EA", "77"]);
}

#[test]
fn x12_21_empty_elements_keep_the_places_of_their_neighbours() {
    let outcome = read(&*reader(&[]), interchange(&["N3**SUITE 4", "REF*ZZ***", "SV1*HC:99::A::*5"]).as_bytes());
    assert_eq!(body(&outcome), [vec!["N3", "", "SUITE 4"], vec!["REF", "ZZ"], vec!["SV1", "HC:99::A::", "5"]]);
}

#[test]
fn x12_23_elements_of_the_header_keep_their_padding() {
    let text = interchange(&ORDER).replace("SENDERCO       *ZZ", "A B            *ZZ");
    let outcome = read(&*reader(&[]), text.as_bytes());
    let Event::Open { fields, .. } = &outcome.events[0] else { panic!("a level") };
    assert_eq!(fields[5].1, "A B            ");
}

#[test]
fn formats_8_3_empty_levels_are_legal() {
    let open = isa('*', "^", "00501", ':', "~");
    let none = format!("{open}IEA*0*000000905~");
    let group = format!("{open}GS*PO*S*R*1*2*51*X*005010~GE*0*51~IEA*1*000000905~");
    let set = interchange(&[]);
    for (text, levels, rows) in [(none, 1, 0), (group, 2, 0), (set, 3, 1)] {
        let outcome = read(&*reader(&[]), text.as_bytes());
        let opened = outcome.events.iter().filter(|event| matches!(event, Event::Open { .. })).count();
        assert_eq!((outcome.faults(), opened, outcome.rows().len()), (vec![], levels, rows), "{text}");
    }
}

#[test]
fn formats_7_3_what_may_stand_around_segments() {
    let plain = interchange(&ORDER);
    let rows = read(&*reader(&[]), plain.as_bytes()).rows().len();
    for (text, notes) in [
        (plain.replace("~\n", "~"), vec![]),
        (format!("\r\n\n{plain}"), vec![]),
        (plain.replace("~\n", "~\r\n\r\n"), vec![]),
        (plain.replace("~\n", "~~\n~"), vec![]),
        (plain.replace("CTT", " \t CTT"), vec![("W405", 3)]),
        (format!("{plain} \t\r\n\u{1A}\n "), vec![]),
        (format!("\u{FEFF}{plain}"), vec![]),
    ] {
        let outcome = read(&*reader(&[]), text.as_bytes());
        assert_eq!((outcome.faults(), outcome.rows().len()), (vec![], rows), "{text:?}");
        assert_eq!(outcome.notes, notes, "{text:?}");
        assert_eq!(outcome.taken, Some(text.len() as u64));
    }
}

#[test]
fn formats_8_2_a_terminator_that_is_a_line_break() {
    for terminator in ["\n", "\r", "\r\n"] {
        let text = interchange(&ORDER).replace("~\n", terminator);
        let outcome = read(&*reader(&[]), text.as_bytes());
        assert_eq!((outcome.faults(), outcome.rows().len()), (vec![], 4), "{terminator:?}");
        let Event::Open { keys, .. } = &outcome.events[0] else { panic!("a level") };
        assert_eq!(keys[1].1[2], terminator.as_bytes()[0]);
    }
}

#[test]
fn formats_7_3_line_breaks_and_blanks_inside_of_segments_are_data() {
    let outcome = read(&*reader(&[]), interchange(&["NTE*A\r\nB*\n C "]).as_bytes());
    assert_eq!(body(&outcome), [["NTE", "A\r\nB", "\n C "]]);
}

#[test]
fn formats_7_2_tags_are_emitted_as_written() {
    let outcome = read(&*reader(&[]), interchange(&["ref*1", "Z9", "abc*"]).as_bytes());
    assert_eq!(body(&outcome), [vec!["ref", "1"], vec!["Z9"], vec!["abc"]]);
}

#[test]
fn formats_1_6_encodings() {
    let mut latin = interchange(&["N1*BY*CAF_"]).into_bytes();
    let at = latin.iter().position(|byte| *byte == b'_').unwrap();
    latin[at] = 0xE9;
    for name in ["latin-1", "ISO_8859-1"] {
        let outcome = read(&*reader(&[("encoding", text(name))]), &latin);
        assert_eq!(body(&outcome), [["N1", "BY", "CAF\u{E9}"]]);
    }
    let utf8 = interchange(&["N1*BY*CAF\u{E9}"]);
    assert_eq!(body(&read(&*reader(&[]), utf8.as_bytes())), [["N1", "BY", "CAF\u{E9}"]]);
    assert_eq!(read(&*reader(&[]), &latin).faults(), [("E420", 4, at as u64)]);
}

#[test]
fn formats_8_3_the_rows_of_long_files_are_numbered_on() {
    let mut text = isa('*', "^", "00501", ':', "~");
    text.push_str("GS*PO*S*R*1*2*51*X*005010~");
    let (sets, lines) = (300, 40);
    for set in 1..=sets {
        text.push_str(&format!("ST*850*{set:04}~"));
        (1..=lines).for_each(|line| text.push_str(&format!("PO1*{line}*{set}**A:B~")));
        text.push_str(&format!("SE*{}*{set:04}~", lines + 2));
    }
    text.push_str(&format!("GE*{sets}*51~IEA*1*000000905~"));
    for weather in
        [FAIR, Weather { chunk: 100, rows: 7, bytes: 1 << 20 }, Weather { chunk: 4096, rows: 1024, bytes: 1000 }]
    {
        let outcome = read_with(&*reader(&[]), text.as_bytes(), weather);
        assert_eq!(outcome.faults(), []);
        let mut number = 0;
        for event in &outcome.events {
            let Event::Row(row, cells) = event else { continue };
            number += 1;
            assert_eq!(*row, number);
            let set = format!("{:04}", (number - 1) / (lines + 1) + 1);
            assert_eq!(cells[1].as_deref(), Some(&*set));
        }
        assert_eq!(number, sets * (lines + 1));
    }
}
