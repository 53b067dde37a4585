//! What holds of every file: prefixes, changed digits, mutations, another reader of the same bytes.

use super::samples::*;
use super::support::*;

/// A small generator of pseudo-random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// An interchange with what was put into it: for each record its tag, its set and its elements.
type Records = Vec<Vec<Option<String>>>;

fn generate(random: &mut Random) -> (String, Records) {
    let (element, terminator) = *random.pick(&[&('*', "~"), &('|', "\n"), &('+', "'\r\n"), &('*', "~~\n")]);
    let mut text = isa(element, "^", "00501", ':', terminator);
    let mut records = Vec::new();
    let groups = random.below(3);
    for group in 1..=groups {
        let e = element;
        text.push_str(&format!("GS{e}PO{e}A{e}B{e}1{e}2{e}{group}{e}X{e}005010{terminator}"));
        let sets = random.below(4);
        for set in 1..=sets {
            text.push_str(&format!("ST{e}850{e}{set:04}{terminator}"));
            let key = [Some(format!("{set:04}")), Some("850".to_owned())];
            let record = |tag: &str, elements: &[String]| {
                let cells = elements.iter().map(|text| Some(text.clone()).filter(|text| !text.is_empty()));
                let mut row: Vec<_> = std::iter::once(Some(tag.to_owned())).chain(key.clone()).chain(cells).collect();
                while row.last() == Some(&None) {
                    row.pop();
                }
                row
            };
            records.push(record("ST", &["850".to_owned(), format!("{set:04}")]));
            let lines = random.below(6);
            for _ in 0..lines {
                let tag = *random.pick(&[&"N1", &"PO1", &"REF", &"x9"]);
                let elements: Vec<String> = (0..random.below(9))
                    .map(|_| {
                        let pieces =
                            ["", "", "A", "12.50", "a:b^c", "\u{E9}\u{4E2D}", " x ", "long text with nothing in it"];
                        random.pick(&pieces).to_owned()
                    })
                    .collect();
                text.push_str(tag);
                elements.iter().for_each(|text_of| text.push_str(&format!("{e}{text_of}")));
                text.push_str(terminator);
                records.push(record(tag, &elements));
            }
            text.push_str(&format!("SE{e}{}{e}{set:04}{terminator}", lines + 2));
        }
        text.push_str(&format!("GE{e}{sets}{e}{group}{terminator}"));
    }
    text.push_str(&format!("IEA{element}{groups}{element}000000905{terminator}"));
    (text, records)
}

fn weather(random: &mut Random) -> Weather {
    Weather {
        chunk: *random.pick(&[&1, &7, &64, &4096, &(1 << 20)]),
        rows: *random.pick(&[&1, &2, &1024]),
        bytes: *random.pick(&[&1, &100, &(1 << 20)]),
    }
}

#[test]
fn formats_15_10_generated_files_give_what_was_put_into_them() {
    let factory = reader(&[]);
    let mut random = Random(1);
    for round in 0..2_000 {
        let (text, records) = generate(&mut random);
        let weather = weather(&mut random);
        let outcome = read_with(&*factory, text.as_bytes(), weather);
        assert_eq!(outcome.faults(), [], "round {round} {weather:?} {text}");
        let found: Records = outcome
            .rows()
            .into_iter()
            .map(|row| row.into_iter().map(|cell| cell.map(str::to_owned)).collect())
            .collect();
        assert_eq!(found, records, "round {round} {weather:?} {text}");
        assert_eq!(outcome.taken, Some(text.len() as u64));
    }
}

#[test]
fn formats_15_10_every_proper_prefix_ends_in_a_fault() {
    let factory = reader(&[]);
    let segments = ["BEG*00*NE", "BIN*5*~*~*~", "N3**SUITE \u{E9}"];
    for text in [interchange(&segments), EXAMPLE.to_owned(), interchange(&segments).replace("~\n", "~")] {
        let whole = read(&*factory, text.as_bytes());
        assert_eq!(whole.faults(), []);
        let complete = text.trim_end().len();
        for len in 0..complete {
            let outcome = read(&*factory, &text.as_bytes()[..len]);
            let faults = outcome.faults();
            assert_eq!(faults.len(), 1, "{len}");
            // A length that is cut short can state fewer bytes; everything else is an input that ends too early.
            assert_eq!(faults[0].0, "E421", "{len} {}", outcome.reason());
            // What was delivered is the beginning of what the whole file delivers.
            let before = &outcome.events[..outcome.events.len() - 1];
            // The line break behind the header is not known when the input ends in front of it.
            let known = usize::from(len <= 107).min(before.len());
            assert_eq!(before[known..], whole.events[known..before.len()], "{len}");
        }
        assert_eq!(read(&*factory, &text.as_bytes()[..complete]).faults(), []);
    }
}

#[test]
fn formats_15_10_changing_any_count_digit_is_e428_and_any_reference_byte_e424() {
    let factory = reader(&[]);
    let body: Vec<&str> = std::iter::repeat_n("PO1*1*2", 21).collect();
    let text = interchange(&body);
    for trailer in ["SE*23*0001", "GE*1*51", "IEA*1*000000905"] {
        let start = text.find(trailer).unwrap();
        let count = trailer.find('*').unwrap() + 1;
        let reference = trailer.rfind('*').unwrap() + 1;
        for place in (count..reference - 1).chain(reference..trailer.len()) {
            for byte in b'0'..=b'9' {
                let mut data = text.clone().into_bytes();
                if data[start + place] == byte {
                    continue;
                }
                data[start + place] = byte;
                let wanted = if place < reference { "E428" } else { "E424" };
                let found = read_with(&*factory, &data, FAIR).faults();
                assert_eq!(found.iter().map(|fault| (fault.0, fault.2)).collect::<Vec<_>>(), [(wanted, start as u64)]);
            }
        }
    }
    // The reference of the opener, as well.
    for (opener, code) in [("ST*850*0001", "E424"), ("*51*X", "E424"), ("*000000905*", "E424")] {
        let place = text.find(opener).unwrap() + opener.trim_end_matches(['*', 'X']).len() - 1;
        let mut data = text.clone().into_bytes();
        data[place] = b'8';
        assert_eq!(read_with(&*factory, &data, FAIR).faults()[0].0, code, "{opener}");
    }
}

/// Nothing is lost in silence: behind an outcome without a fault all bytes were taken, and every segment counted.
fn check_accounting(data: &[u8], outcome: &Outcome) {
    let faults = outcome.faults();
    let opens = outcome.events.iter().filter(|event| matches!(event, Event::Open { .. })).count();
    let closes = outcome.events.iter().filter(|event| **event == Event::Close).count();
    assert!(closes <= opens);
    let violated = faults.iter().all(|(code, ..)| *code == "E428");
    if !violated {
        assert_eq!(outcome.taken, None);
        return;
    }
    assert_eq!(outcome.taken, Some(data.len() as u64));
    assert_eq!(opens, closes);
    let (terminator, rows) = (data.iter().skip_while(|byte| **byte != b'I').nth(105).copied(), outcome.rows());
    let binary = rows.iter().any(|row| matches!(row[0], Some("BIN" | "BDS")));
    let Some(terminator) = terminator.filter(|_| !binary) else { return };
    let front = data.iter().position(|byte| *byte == b'I').unwrap();
    let padding = |byte: &u8| matches!(byte, b'\r' | b'\n' | b' ' | b'\t' | 0x1A);
    let behind = data[front + 106..].split(|byte| *byte == terminator).filter(|part| !part.iter().all(padding));
    let openers = outcome.events.iter().filter(|event| matches!(event, Event::Open { level: 0 | 1, .. })).count();
    assert_eq!(behind.count() + 1, rows.len() + openers + closes, "{:?}", String::from_utf8_lossy(data));
}

#[test]
fn formats_15_10_mutated_files_never_panic_hang_or_lose_a_byte() {
    let factories = [reader(&[]), reader(&[("encoding", text("latin1")), ("element_text", text("wire"))])];
    let pieces: [&[u8]; 18] = [
        b"~",
        b"*",
        b"\n",
        b"\r",
        b" ",
        b"\x1A",
        b"\xFF",
        b"\xC3\xA9",
        b"ST*1*1~",
        b"SE*1*1~",
        b"GS*1~",
        b"GE*1*1~",
        b"ISA",
        b"BIN*3*",
        b"BDS*a*2*",
        b"TA1*~",
        b"REF*a:b^c~",
        b"IEA*1*000000905~",
    ];
    let mut random = Random(2);
    for round in 0..20_000 {
        let (file, _) = generate(&mut random);
        let mut data = file.into_bytes();
        for _ in 0..1 + random.below(3) {
            let at = random.below(data.len() + 1);
            match random.below(4) {
                0 if at < data.len() => {
                    data.remove(at);
                }
                1 if at < data.len() => data[at] = random.next() as u8,
                2 => data.truncate(at.max(data.len() / 2)),
                _ => {
                    let piece = random.pick(&pieces);
                    data.splice(at..at, piece.iter().copied());
                }
            }
        }
        let factory = &*factories[random.below(2)];
        let calm = read_with(factory, &data, FAIR);
        let weather = weather(&mut random);
        let rough = read_with(factory, &data, weather);
        assert_eq!(calm, rough, "round {round} {weather:?} {:?}", String::from_utf8_lossy(&data));
        check_accounting(&data, &calm);
    }
}

#[test]
fn formats_15_10_random_bytes_never_panic() {
    let factory = reader(&[("envelopes", text("many"))]);
    let mut random = Random(3);
    let bytes = b"ISAGSTE*~:^\n\r 0159BIN\x1A\xFF\xC3\xA9";
    for _ in 0..5_000 {
        let mut data = if random.below(2) == 0 { isa('*', "^", "00501", ':', "~").into_bytes() } else { Vec::new() };
        data.extend((0..random.below(120)).map(|_| bytes[random.below(bytes.len())]));
        let calm = read_with(&*factory, &data, FAIR);
        assert_eq!(calm, read_with(&*factory, &data, Weather { chunk: 1, rows: 1, bytes: 1 }));
    }
}
