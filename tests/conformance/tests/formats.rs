//! Every linked format passes the kit.

use clinker_conformance::{Bad, Corpus, Endless, Outcome, Sample, check};
use clinker_format::{Format, OptionValue, Registry};
use {clinker_csv as _, clinker_json as _};

/// Damaged inputs of each format.
const MUTATIONS: u32 = 100_000;

fn format(name: &str) -> &'static dyn Format {
    Registry::built_in().find(name).expect("the format is linked")
}

fn text(value: &str) -> OptionValue {
    OptionValue::Text(value.to_owned())
}

fn sample(name: &str, options: &[(&'static str, OptionValue)], bytes: &[u8], rows: u64) -> Sample {
    Sample { name: name.to_owned(), options: options.to_vec(), bytes: bytes.to_vec(), rows, round_trip: false }
}

fn passes(format: &dyn Format, corpus: &Corpus) {
    let failed: Vec<String> = check(format, corpus, MUTATIONS)
        .into_iter()
        .filter_map(|check| match check.outcome {
            Outcome::Failed(seen) => Some(format!("{}: {seen}", check.statement)),
            _ => None,
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn formats_15_10_csv_conforms() {
    let plain = |name: &str, bytes: &[u8], rows| sample(name, &[], bytes, rows);
    let long = [("max_record_bytes", OptionValue::Number(1000))];
    let corpus = Corpus {
        valid: vec![
            Sample { round_trip: true, ..plain("plain", b"a,b\n1,2\n3,4\n", 2) },
            Sample { round_trip: true, ..plain("quoted", b"a,b\n\"x,y\",\"say \"\"hi\"\"\"\n\"two\nlines\",\n", 2) },
            plain("crlf, no last line end", b"a,b,c\r\n1,2,3\r\n\"4\",5,\"\"", 2),
            plain("mark", b"\xEF\xBB\xBFa,b\n\xC3\xA4,\xE2\x82\xAC\n", 1),
            plain("header only", b"a,b\n", 0),
        ],
        invalid: vec![
            Bad { sample: plain("short row", b"a,b\n1,2\n3\n5,6\n", 2), code: "E423", bounded: true },
            Bad { sample: plain("bad byte", b"a,b\n1,2\n3,\xFF\n5,6\n", 2), code: "E420", bounded: true },
            Bad { sample: plain("open quote", b"a,b\n1,2\n\"3,4\n", 1), code: "E421", bounded: false },
        ],
        endless: Some(Endless {
            options: long.to_vec(),
            head: b"a,b\n1,2\n\"".to_vec(),
            body: b"x".to_vec(),
            limit: 1000,
        }),
        tampers: Vec::new(),
        write: Some(Vec::new()),
    };
    passes(format("csv"), &corpus);
    let semicolons = [("delimiter", text(";"))];
    let corpus = Corpus {
        valid: vec![Sample { round_trip: true, ..sample("semicolons", &semicolons, b"a;b\n1,5;2\n", 1) }],
        write: Some(semicolons.to_vec()),
        ..Corpus::default()
    };
    passes(format("csv"), &corpus);
}

#[test]
fn formats_15_10_json_conforms() {
    let lines = [("format", text("ndjson"))];
    let nd = |name: &str, bytes: &[u8], rows| sample(name, &lines, bytes, rows);
    let array = [("format", text("array"))];
    let corpus = Corpus {
        valid: vec![
            Sample { round_trip: true, ..nd("lines", b"{\"a\":1,\"b\":\"x\"}\n{\"a\":2}\n", 2) },
            nd("nested", b"{\"a\":{\"b\":[1,2]},\"c\":\"\\u00e4\"}\r\n\n{\"c\":null}", 2),
        ],
        invalid: vec![
            Bad { sample: nd("bad line", b"{\"a\":1}\n{\"a\":}\n{\"a\":3}\n", 2), code: "E422", bounded: true },
            Bad { sample: nd("two objects", b"{\"a\":1}\n{} {}\n{\"a\":3}\n", 2), code: "E422", bounded: true },
        ],
        endless: Some(Endless {
            options: vec![lines[0].clone(), ("max_record_bytes", OptionValue::Number(1000))],
            head: b"{\"a\":\"".to_vec(),
            body: b"x".to_vec(),
            limit: 1000,
        }),
        tampers: Vec::new(),
        write: Some(lines.to_vec()),
    };
    passes(format("json"), &corpus);
    let corpus = Corpus {
        valid: vec![
            sample("array", &array, b"[{\"a\":1},\n {\"a\":2,\"b\":{\"c\":true}}]", 2),
            sample("empty array", &array, b" [ ] ", 0),
        ],
        invalid: vec![
            Bad { sample: sample("no object", &array, b"[{\"a\":1},7,{\"a\":2}]", 2), code: "E422", bounded: true },
            Bad { sample: sample("cut", &array, b"[{\"a\":1},{\"a\":2}", 2), code: "E421", bounded: false },
        ],
        endless: None,
        tampers: Vec::new(),
        write: Some(array.to_vec()),
    };
    passes(format("json"), &corpus);
}
