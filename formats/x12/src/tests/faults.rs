//! Files that cannot be read, and where that is said.

use std::io::{self, Cursor, Read};

use clinker_format::OptionValue;

use super::samples::*;
use super::support::*;

/// Code, segment and byte of the only fault, and the rows in front of it.
fn fault(text: &str) -> (&'static str, u64, u64, usize) {
    let outcome = read(&*reader(&[]), text.as_bytes());
    let [(code, line, offset)] = outcome.faults()[..] else { panic!("{text}: {:?}", outcome.events) };
    (code, line, offset, outcome.rows().len())
}

fn at(text: &str, part: &str) -> u64 {
    text.find(part).unwrap() as u64
}

#[test]
fn formats_7_3_e421_e422_files_without_a_header() {
    for (text, code, offset) in [
        ("", "E421", 0),
        ("\r\n\n", "E421", 3),
        ("I", "E421", 0),
        ("\nIS", "E421", 1),
        ("      ", "E422", 0),
        ("ST*850*0001~", "E422", 0),
        ("isa*", "E422", 0),
        ("\u{1A}", "E422", 0),
        (&EXAMPLE[..3], "E421", 0),
        (&EXAMPLE[..105], "E421", 0),
    ] {
        assert_eq!(fault(text), (code, 1, offset, 0), "{text:?}");
    }
    let outcome = read(&*reader(&[]), b"ST*850*0001~");
    assert!(outcome.reason().contains("`ISA` was expected, and `ST*850*0001~` found"), "{}", outcome.reason());
}

#[test]
fn x12_22_x12_26_e422_bad_separators() {
    let good = interchange(&ORDER);
    let with = |place: usize, byte: u8| {
        let mut data = good.clone().into_bytes();
        data[place] = byte;
        let outcome = read(&*reader(&[]), &data);
        assert_eq!(outcome.faults().len(), 1);
        assert_eq!(outcome.faults()[0].0, "E422", "{}", outcome.reason());
        outcome.faults()[0].2
    };
    assert_eq!(with(105, b' '), 105, "the terminator is a blank");
    assert_eq!(with(104, b'*'), 104, "the component separator is the element separator");
    assert_eq!(with(105, b':'), 105);
    assert_eq!(with(105, b'A'), 105);
    assert_eq!(with(3, b'5'), 3);
    assert_eq!(with(105, 0xE9), 105);
    with(82, b':');
    with(82, b' ');
    with(40, 0x80);
}

#[test]
fn formats_8_2_e422_a_header_of_wrong_width() {
    let good = interchange(&ORDER);
    for text in [
        good.replacen("SENDERCO       ", "SENDERCO      ", 1),
        good.replacen("SENDERCO       ", "SENDERCO        ", 1),
        good.replacen("SENDERCO ", "SENDER*O ", 1),
        good.replacen("*0*P*", "*01*P*", 1),
    ] {
        assert_eq!(fault(&text).0, "E422", "{text}");
    }
    // Single elements may be wider and narrower as long as the total holds.
    let shifted = good.replacen("SENDERCO       *ZZ", "SENDERCO      *ZZZ", 1);
    assert_eq!(read(&*reader(&[]), shifted.as_bytes()).faults(), []);
}

#[test]
fn x12_11_e424_references_that_are_not_echoed() {
    let good = interchange(&ORDER);
    for (from, to, line) in [
        ("SE*5*0001", "SE*5*0002", 7),
        ("GE*1*51", "GE*1*52", 8),
        ("IEA*1*000000905", "IEA*1*000000906", 9),
        ("SE*5*0001", "SE*5*1", 7),
        ("SE*5*0001", "SE*5*0001 ", 7),
        ("SE*5*0001", "SE*5", 7),
        ("ST*850*0001", "ST*850", 7),
    ] {
        let text = good.replace(from, to);
        let tag = &text[at(&text, &to[..3]) as usize..][..2];
        let place = if to.starts_with("ST") { at(&text, "SE*5") } else { at(&text, to) };
        assert_eq!(fault(&text), ("E424", line, place, 4), "{tag}");
    }
    let outcome = read(&*reader(&[]), good.replace("GE*1*51", "GE*1*52").as_bytes());
    let reason = outcome.reason();
    assert!(reason.contains("`52`") && reason.contains("`51`") && reason.contains("GE element 2"), "{reason}");
}

#[test]
fn formats_7_7_e428_counts_that_are_wrong_and_reading_goes_on() {
    let good = interchange(&ORDER);
    for (from, to, line) in
        [("SE*5", "SE*6", 7), ("GE*1", "GE*2", 8), ("IEA*1", "IEA*0", 9), ("SE*5*0001", "SE*4*0002", 7)]
    {
        let text = good.replace(from, to);
        let outcome = read(&*reader(&[]), text.as_bytes());
        assert_eq!(outcome.faults(), [("E428", line, at(&text, to))]);
        assert!(matches!(
            outcome.events.iter().find(|event| matches!(event, Event::Fault(..))),
            Some(Event::Fault(.., true))
        ));
        assert_eq!(outcome.taken, Some(text.len() as u64), "what follows is read");
        assert_eq!(outcome.rows().len(), 4);
        let closes = outcome.events.iter().filter(|event| **event == Event::Close).count();
        assert_eq!(closes, 3);
    }
    let outcome = read(&*reader(&[]), good.replace("SE*5", "SE*6").as_bytes());
    assert!(outcome.reason().contains("SE element 1 declares 6, counted 5"), "{}", outcome.reason());
    assert!(outcome.reason().contains("transaction_set `0001`"), "{}", outcome.reason());
}

#[test]
fn formats_7_7_e422_counts_that_are_none() {
    let good = interchange(&ORDER);
    for (from, to) in
        [("SE*5", "SE*x"), ("SE*5", "SE*"), ("GE*1", "GE*-1"), ("IEA*1", "IEA*1.0"), ("SE*5*0001", "SE*5x*2")]
    {
        let text = good.replace(from, to);
        assert_eq!((fault(&text).0, fault(&text).2), ("E422", at(&text, to)), "{to}");
    }
}

#[test]
fn formats_8_4_e425_segments_out_of_sequence() {
    let good = interchange(&ORDER);
    let gs = "GS*PO*SENDERCO*RECVRCO*20250314*0915*51*X*005010~\n";
    for (text, place) in [
        (good.replace("CTT*1", "ST*850*0002"), "ST*850*0002"),
        (good.replace("CTT*1", &gs[..gs.len() - 2].replace("*51*", "*52*")), "GS*PO*SENDERCO*RECVRCO*20250314*0915*52"),
        (good.replace("SE*5*0001~\n", ""), "GE*1"),
        (good.replace("GE*1*51~\n", ""), "IEA*1"),
        (good.replace("ST*850*0001~\n", ""), "BEG"),
        (good.replace(gs, ""), "ST*850"),
        (good.replace("GE*1*51~\n", "GE*1*51~\nGE*1*51~\n"), "GE*1*51~\nIEA"),
        (good.replace("SE*5*0001~\n", "SE*5*0001~\nSE*5*0001~\n"), "SE*5*0001~\nGE"),
        (good.replace("SE*5*0001~\n", "SE*5*0001~\nREF*1~\n"), "REF*1"),
        (good.replace("GE*1*51~\n", "GE*1*51~\nTA1*1~\n"), "TA1"),
        (good.replace("GE*1*51~\n", "GE*1*51~\nREF*1~\n"), "REF"),
        (format!("{good}REF*1~"), "REF"),
        (format!("{good}{gs}"), "GS*PO*SENDERCO*RECVRCO*20250314*0915*51*X*005010~\n\u{0}"),
        (format!("{good}\u{1A}\u{1A}"), "\u{1A}\u{1A}"),
        (format!("{good}x"), "x"),
    ] {
        let (code, _, offset, _) = fault(&text);
        let wanted = match place.strip_suffix('\0') {
            Some(last) => text.rfind(last).unwrap() as u64,
            None => at(&text, place) + u64::from(place.starts_with('\u{1A}')),
        };
        assert_eq!((code, offset), ("E425", wanted), "{place:?}");
    }
    let nested = good.replace("CTT*1~\n", &isa('*', "^", "00501", ':', "~\n"));
    for envelopes in ["single", "many"] {
        let outcome = read(&*reader(&[("envelopes", text(envelopes))]), nested.as_bytes());
        assert_eq!(outcome.faults()[0].0, "E425", "{envelopes}");
    }
}

#[test]
fn x12_15_e421_the_end_names_what_is_open() {
    let good = interchange(&ORDER);
    let middle = &good[..good.find("9.25").unwrap()];
    let outcome = read(&*reader(&[]), middle.as_bytes());
    assert_eq!(outcome.faults(), [("E421", 5, at(&good, "PO1"))]);
    for part in ["0001", "51", "000000905", "PO1*1*10*EA*"] {
        assert!(outcome.reason().contains(part), "{}", outcome.reason());
    }
    let clean = &good[..good.find("IEA").unwrap()];
    let outcome = read(&*reader(&[]), clean.as_bytes());
    assert_eq!(outcome.faults(), [("E421", 8, clean.len() as u64)]);
    assert!(outcome.reason().contains("IEA") && outcome.reason().contains("interchange `000000905`"));
    assert!(outcome.reason().contains("opened by segment 1 at byte 0"), "{}", outcome.reason());
}

#[test]
fn formats_7_2_e422_tags_that_are_none() {
    for tag in ["A", "1A", "ABCD", "A B", "\u{E9}A", "A\nB", "AB:1"] {
        let text = interchange(&["CTT*1", &format!("{tag}*1"), "CTT*2"]);
        assert_eq!(fault(&text), ("E422", 5, at(&text, &format!("{tag}*1")), 2), "{tag:?}");
    }
}

#[test]
fn formats_8_3_e422_e420_e426_e421_binary_data_that_are_wrong() {
    for (segment, code) in [
        ("BIN*x*abc", "E422"),
        ("BIN**abc", "E422"),
        ("BIN*-1*abc", "E422"),
        ("BIN", "E422"),
        ("BIN*2*abc", "E422"),
        ("BIN*4*abc", "E422"),
        ("BIN*70000*abc", "E426"),
        ("BIN*99999999999999999999*abc", "E422"),
        ("BIN*18446744073709551615*abc", "E426"),
        ("BIN*60000*abc", "E421"),
        ("BDS*a*x*abc", "E422"),
        ("BDS*a", "E422"),
    ] {
        let text = interchange(&["CTT*1", segment]);
        assert_eq!(fault(&text), (code, 5, at(&text, "CTT*1") + 7, 2), "{segment}");
    }
    let mut data = interchange(&["BIN*2*__"]).into_bytes();
    let place = data.windows(2).position(|pair| pair == b"__").unwrap();
    data[place] = 0xFF;
    assert_eq!(read(&*reader(&[]), &data).faults(), [("E420", 4, place as u64)]);
    let latin = read(&*reader(&[("encoding", text("latin1"))]), &data);
    assert_eq!(body(&latin), [["BIN", "2", "\u{FF}_"]]);
}

#[test]
fn formats_1_6_e420_undecodable_headers_and_trailers() {
    for (part, line) in [("GS*P", 2), ("ST*8", 3), ("SE*5", 7), ("IEA*", 9)] {
        let text = interchange(&ORDER);
        let place = text.find(part).unwrap() + part.find('*').unwrap() + 1;
        let mut data = text.into_bytes();
        // An element in front of the ones that rules ask for.
        data.splice(place..place, *b"\xC3*");
        let outcome = read(&*reader(&[]), &data);
        assert_eq!(outcome.faults()[0], ("E420", line, place as u64), "{part}");
    }
}

#[test]
fn formats_1_7_e426_the_limit_of_a_segment() {
    let long = |bytes: usize| interchange(&["CTT*1", &format!("NTE*{}", "x".repeat(bytes - 4))]);
    let outcome = read_with(&*reader(&[]), long(65_536).as_bytes(), FAIR);
    assert_eq!((outcome.faults(), outcome.rows().len()), (vec![], 3));
    let text = long(65_537);
    for weather in [FAIR, Weather { chunk: 4096, rows: 1, bytes: 1 }] {
        let outcome = read_with(&*reader(&[]), text.as_bytes(), weather);
        assert_eq!(outcome.faults(), [("E426", 5, at(&text, "NTE"))]);
        assert_eq!(outcome.rows().len(), 2);
    }
    // Nothing is read behind the limit: the stream has no end.
    let head = interchange(&[]);
    let head = head[..head.find("SE*2").unwrap()].to_owned();
    let endless = Cursor::new(head.clone().into_bytes()).chain(io::repeat(b'x'));
    let outcome = read_stream(&*reader(&[]), Box::new(endless), FAIR);
    assert_eq!(outcome.faults(), [("E426", 4, head.len() as u64)]);
    // When no terminator was seen at all, the declared one may be wrong.
    let wrong = isa('*', "^", "00501", ':', "|") + &"GS*PO~".repeat(20_000);
    let outcome = read_with(&*reader(&[]), wrong.as_bytes(), FAIR);
    assert_eq!(outcome.faults()[0].0, "E426");
    assert!(outcome.reason().contains("may be wrong"), "{}", outcome.reason());
}

#[test]
fn formats_1_7_e423_a_segment_of_ten_thousand_elements() {
    let text = interchange(&["CTT*1", &format!("REF{}", "*1".repeat(10_000))]);
    assert_eq!(fault(&text), ("E423", 5, at(&text, "REF"), 2));
    let given = [("max_elements", OptionValue::Number(999))];
    let many = interchange(&[&format!("REF{}", "*1".repeat(999))]);
    let outcome = read_with(&*reader(&given), many.as_bytes(), FAIR);
    assert_eq!((outcome.faults(), outcome.rows()[1].len()), (vec![], 3 + 999));
}

#[test]
fn formats_1_6_e402_e422_other_byte_order_marks_begin_no_file() {
    for mark in [b"\xFF\xFE".as_slice(), b"\xFE\xFF", b"\xEF\xBB"] {
        let data = [mark, EXAMPLE.as_bytes()].concat();
        assert_eq!(read(&*reader(&[]), &data).faults(), [("E422", 1, 0)]);
    }
    let data = [b"\xEF\xBB\xBF", EXAMPLE.as_bytes()].concat();
    assert_eq!(read(&*reader(&[("encoding", text("latin1"))]), &data).faults(), [("E422", 1, 0)]);
}

/// Gives its bytes, then fails.
struct Failing(Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("the disk is gone")),
            read => Ok(read),
        }
    }
}

#[test]
fn formats_15_3_a_stream_that_fails_is_reported_behind_its_segments() {
    let text = interchange(&ORDER);
    for len in [106, 200, text.find("CTT").unwrap() + 2] {
        for weather in WEATHERS {
            let stream = Failing(Cursor::new(text.as_bytes()[..len].to_vec()));
            let outcome = read_stream(&*reader(&[]), Box::new(stream), weather);
            assert_eq!(outcome.faults(), [("io", 0, 0)], "{weather:?} {len}");
            let segments = text[..len].matches("~\n").count();
            assert_eq!(outcome.rows().len(), segments.saturating_sub(2), "{weather:?} {len}");
        }
    }
}
