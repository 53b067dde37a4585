//! Differential tests: the format against the oracle and against the `csv` crate, on seeded small inputs.

use clinker_format::OptionValue;
use clinker_format::charset::Charset;

use super::oracle;
use super::support::*;

/// A small generator of pseudo-random numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

const PIECES: [&[u8]; 16] = [
    b",",
    b",",
    b"\n",
    b"\r\n",
    b"\r",
    b"\"",
    b"\"",
    b"\"\"",
    b"a",
    b"bc",
    b"\xC3\xA9",
    b" ",
    b"0",
    b"\",\"",
    b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    b"\"q\"\"q\"",
];

/// Mostly well-formed rows, with some damage.
fn input(random: &mut Random) -> Vec<u8> {
    let mut data = Vec::new();
    let width = 1 + random.below(4);
    for _ in 0..random.below(12) {
        for cell in 0..width {
            if cell > 0 {
                data.push(b',');
            }
            match random.below(6) {
                0 => data.extend_from_slice(b"\"a,\"\"b\n\""),
                1 => data.extend_from_slice(b"\"\""),
                2 => {}
                _ => data.extend((0..random.below(20)).map(|_| b'a' + (random.next() % 26) as u8)),
            }
        }
        data.extend_from_slice(random.pick(&[b"\n".as_slice(), b"\n", b"\r\n", b"\r", b"\n\n"]));
    }
    for _ in 0..random.below(4) {
        let at = random.below(data.len() + 1);
        match random.below(3) {
            0 if at < data.len() => {
                data.remove(at);
            }
            1 if at < data.len() => data[at] = random.next() as u8,
            _ => {
                let piece = random.pick(&PIECES);
                data.splice(at..at, piece.iter().copied());
            }
        }
    }
    data
}

/// What the rules of 2.2 and 1.9 make of the records, without a header.
fn expected(data: &[u8]) -> Outcome {
    let parsed = oracle::parse(data, b',', b'"');
    let mut outcome = Outcome::default();
    let declared = ["a".to_owned(), "b".to_owned()];
    // A first row that is never closed has no width.
    let width = parsed.records.first().map_or(if parsed.open_quote.is_some() { 2 } else { 0 }, |row| row.cells.len());
    outcome.columns = (0..width).map(|at| declared.get(at).cloned().unwrap_or(format!("col_{at}"))).collect();
    for (row, record) in parsed.records.iter().enumerate() {
        let row = row as u64 + 1;
        let bytes = &data[record.start..record.end];
        let bad = std::str::from_utf8(bytes).err().map(|error| (record.start + error.valid_up_to()) as u64);
        if record.cells.len() == width && bad.is_none() {
            let text = |cell: &Vec<u8>| String::from_utf8(cell.clone()).unwrap();
            outcome.rows.push((row, record.cells.iter().map(text).collect()));
            continue;
        }
        let (code, offset) =
            if record.cells.len() == width { ("E420", bad.unwrap()) } else { ("E423", record.start as u64) };
        let raw = clinker_record::text::raw_row(bytes);
        outcome.rejected.push(Rejected { row, code, line: record.line, offset, reason: String::new(), raw });
    }
    outcome.fault = parsed.open_quote.map(|(offset, line)| ("E421", line, offset as u64));
    outcome
}

#[test]
fn formats_2_2_agrees_with_the_oracle_in_every_weather() {
    let factory = reader(&[("has_header", OptionValue::Bool(false))], &["a", "b"]).unwrap();
    let mut random = Random(1);
    for round in 0..20_000 {
        let mut data = input(&mut random);
        // Marks have their own tests.
        while data.starts_with(b"\xEF\xBB\xBF") || data.starts_with(b"\xFF\xFE") || data.starts_with(b"\xFE\xFF") {
            data.remove(0);
        }
        let expected = expected(&data);
        let weather = Weather {
            chunk: *random.pick(&[&1, &7, &4096, &(1 << 20)]),
            rows: *random.pick(&[&1, &2, &1024]),
            bytes: *random.pick(&[&1, &100, &(1 << 20)]),
            backwards: random.below(2) == 0,
        };
        let mut found = read_with(&*factory, &data, weather);
        found.rejected.iter_mut().for_each(|rejected| rejected.reason.clear());
        found.reason.clear();
        assert_eq!(found, expected, "round {round} {weather:?} {:?}", String::from_utf8_lossy(&data));
    }
}

#[test]
fn formats_2_2_agrees_with_the_csv_crate_on_well_formed_input() {
    let factory = reader(&[("has_header", OptionValue::Bool(false))], &[]).unwrap();
    let mut random = Random(2);
    for round in 0..5_000 {
        let mut data = Vec::new();
        let mut writer = csv::WriterBuilder::new()
            .terminator(*random.pick(&[&csv::Terminator::CRLF, &csv::Terminator::Any(b'\n')]))
            .quote_style(*random.pick(&[&csv::QuoteStyle::Necessary, &csv::QuoteStyle::Always]))
            .from_writer(&mut data);
        let width = 1 + random.below(5);
        let mut rows = Vec::new();
        for _ in 0..random.below(40) {
            let row: Vec<String> = (0..width)
                .map(|_| {
                    let pieces = ["", "x", "a,b", "\"", "\r\n", "\n", "\u{E9}", "long text without anything special"];
                    (0..random.below(4)).map(|_| random.pick(&pieces)).collect()
                })
                .collect();
            writer.write_record(&row).unwrap();
            rows.push(row);
        }
        drop(writer);
        let outcome = read_with(&*factory, &data, Weather { rows: 7, chunk: 64, ..FAIR });
        assert_eq!(outcome.fault, None);
        assert_eq!(outcome.cells(), rows, "round {round} {:?}", String::from_utf8_lossy(&data));
    }
}

#[test]
fn formats_15_10_every_prefix_is_a_shorter_file_a_rejection_or_e421() {
    let data =
        "id,name,note\n1,\u{E9}t\u{E9},\"a\n\"\"b\"\"\"\r\n2,x,\n3,\"y,z\",plain text that is longer\n".as_bytes();
    let factory = reader(&[], &[]).unwrap();
    let whole = read_with(&*factory, data, FAIR);
    for len in 0..data.len() {
        let outcome = read_with(&*factory, &data[..len], Weather { chunk: 7, ..FAIR });
        let complete = outcome.rows.len();
        let known = oracle::parse(&data[..len], b',', b'"').records.len().saturating_sub(1);
        // Nothing is lost in silence: each record that began is a row, a rejection or the fault.
        assert_eq!(complete + outcome.rejected.len(), if outcome.columns.is_empty() { 0 } else { known }, "{len}");
        let last_may_be_cut = complete.saturating_sub(1);
        assert_eq!(outcome.rows[..last_may_be_cut], whole.rows[..last_may_be_cut], "{len}");
    }
}

#[test]
fn formats_15_10_random_bytes_never_panic() {
    let mut random = Random(3);
    let encodings = ["utf-8", "utf-16", "utf-16le", "utf-16be", "latin1", "cp1252", "cp037", "cp500", "cp1047"];
    for _ in 0..3_000 {
        let factory = reader(
            &[
                ("encoding", text(random.pick(&encodings))),
                ("has_header", OptionValue::Bool(random.below(2) == 0)),
                ("max_record_bytes", OptionValue::Number(1 + random.next() % 100)),
            ],
            &["a"],
        )
        .unwrap();
        let data: Vec<u8> = (0..random.below(200))
            .map(|_| *random.pick(&[&b',', &b'\n', &b'\r', &b'"', &0, &0x15, &0x25, &0x6B, &0x7F, &0xFF, &0xD8, &b'a']))
            .collect();
        let calm = read_with(&*factory, &data, FAIR);
        let rough = read_with(&*factory, &data, Weather { chunk: 1, rows: 1, bytes: 1, backwards: true });
        assert_eq!(calm, rough, "{data:?}");
    }
}

#[test]
fn formats_15_10_long_inputs_agree_with_the_oracle() {
    let factory = reader(&[("has_header", OptionValue::Bool(false))], &["a", "b"]).unwrap();
    let mut random = Random(4);
    for _ in 0..300 {
        let mut data = b"a,b\n".to_vec();
        while data.len() < 5_000 {
            data.extend_from_slice(random.pick(&PIECES));
        }
        let expected = expected(&data);
        for rows in [1, 2, 1024] {
            let mut found = read_with(&*factory, &data, Weather { rows, chunk: 333, ..FAIR });
            found.rejected.iter_mut().for_each(|rejected| rejected.reason.clear());
            found.reason.clear();
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn formats_1_6_every_encoding_gives_the_rows_that_utf_8_gives() {
    let bind =
        |encoding| reader(&[("has_header", OptionValue::Bool(false)), ("encoding", text(encoding))], &["a", "b"]);
    let mut random = Random(5);
    let mut compared = 0;
    while compared < 3_000 {
        let Ok(content) = String::from_utf8(input(&mut random)) else { continue };
        if content.starts_with('\u{FEFF}') {
            continue;
        }
        compared += 1;
        let plain = read_with(&*bind("utf-8").unwrap(), content.as_bytes(), FAIR);
        for charset in [Charset::Utf16Le, Charset::Utf16Be, Charset::Latin1, Charset::Cp037, Charset::Cp1047] {
            let mut data = Vec::new();
            if charset.encode(&content, &mut data).is_err() || (charset.is_ebcdic() && content.contains('\u{85}')) {
                continue;
            }
            let weather = Weather { chunk: 7, rows: 2, bytes: 100, backwards: true };
            let other = read_with(&*bind(charset.name()).unwrap(), &data, weather);
            assert_eq!((&other.columns, &other.rows), (&plain.columns, &plain.rows), "{} {content:?}", charset.name());
            let faults = |outcome: &Outcome| outcome.fault.map(|(code, line, _)| (code, line));
            assert_eq!(faults(&other), faults(&plain), "{} {content:?}", charset.name());
            let rejected = |outcome: &Outcome| {
                let facts = outcome.rejected.iter().map(|bad| (bad.row, bad.code, bad.line, bad.raw.clone()));
                facts.collect::<Vec<_>>()
            };
            assert_eq!(rejected(&other), rejected(&plain), "{} {content:?}", charset.name());
        }
    }
}
