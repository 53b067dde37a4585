//! Every linked format passes the kit.

use clinker_conformance::{Bad, Corpus, Endless, Outcome, Sample, Tamper, check};
use clinker_edi::{Dialect, DialectFormat};
use clinker_format::{Format, OptionValue, Registry};
use serde_json::json;
use {clinker_csv as _, clinker_json as _, clinker_x12 as _};

/// Damaged inputs of each format.
const MUTATIONS: u32 = 100_000;

fn format(name: &str) -> &'static dyn Format {
    Registry::built_in().find(name).expect("the format is linked")
}

fn text(value: &str) -> OptionValue {
    OptionValue::Text(value.to_owned())
}

fn sample(name: &str, options: &[(&'static str, OptionValue)], bytes: &[u8], rows: u64) -> Sample {
    Sample { name: name.to_owned(), options: options.to_vec(), bytes: bytes.to_vec(), rows, ..Sample::default() }
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

const ISA: &str =
    "ISA*00*          *00*          *ZZ*NORTHWIND      *ZZ*LAKESIDE       *260115*0930*^*00501*000000417*0*T*>~\n";

/// An interchange with the segments of two groups, three sets and binary data.
fn interchange() -> Vec<u8> {
    let sets = "GS*SH*NORTHWIND*LAKESIDE*20260115*0930*88*X*005010~\nST*856*0001~\nBSN*00*SHP771*20260115*0930~\nHL*1**S~\n\
                BIN*5*A~B*C~\nSE*5*0001~\nST*856*0002~\nREF*ZZ*A>B^C~\nSE*3*0002~\nGE*2*88~\n\
                GS*PO*NORTHWIND*LAKESIDE*20260115*0930*89*X*005010~\nST*850*0001~\nSE*2*0001~\nGE*1*89~\nIEA*2*000000417~\n";
    format!("{ISA}{sets}").into_bytes()
}

/// The place of a text in the interchange, and the byte behind `skip` more.
fn at(bytes: &[u8], text: &str, skip: usize) -> usize {
    let start = bytes.windows(text.len()).position(|window| window == text.as_bytes()).expect("it is there");
    start + skip
}

fn x12_corpus(write: Option<Vec<(&'static str, OptionValue)>>) -> Corpus {
    let whole = interchange();
    let plain = |name: &str, bytes: &[u8], rows| sample(name, &[], bytes, rows);
    let with = |from: &str, to: &str| String::from_utf8_lossy(&whole).replacen(from, to, 1).into_bytes();
    let bad = |name: &str, bytes: Vec<u8>, rows, code| Bad { sample: plain(name, &bytes, rows), code, bounded: false };
    let tamper = |text: &str, skip, byte, code| Tamper { sample: 0, at: at(&whole, text, skip), byte, code };
    let many = format!("{ISA}IEA*0*000000417~\n{}", ISA.replace('*', "|").replace('~', "!") + "IEA|0|000000417!\n");
    Corpus {
        valid: vec![
            Sample { round_trip: true, ..plain("two groups", &whole, 7) },
            plain("no group", format!("{ISA}IEA*0*000000417~").as_bytes(), 0),
            plain("acknowledgement", with("GS*SH", "TA1*000000801*250313*1200*A*000~\nGS*SH").as_slice(), 8),
            Sample { several: true, ..sample("two interchanges", &[("envelopes", text("many"))], many.as_bytes(), 0) },
        ],
        invalid: vec![
            bad("a missing trailer of a set", with("SE*5*0001~\n", ""), 4, "E425"),
            bad("a count of a group", with("GE*2*88", "GE*3*88"), 6, "E428"),
            bad("a reference of the interchange", with("IEA*2*000000417", "IEA*2*000000418"), 7, "E424"),
            bad("a lower-case count", with("SE*5*0001", "SE*x*0001"), 4, "E422"),
            bad("too many elements", with("HL*1**S", &format!("HL{}", "*x".repeat(40))), 2, "E423"),
        ],
        endless: Some(Endless {
            options: Vec::new(),
            head: format!("{ISA}GS*SH*A*B*20260115*0930*88*X*005010~ST*856*0001~REF*").into_bytes(),
            body: b"x".to_vec(),
            limit: 65_536,
        }),
        tampers: vec![
            tamper("SE*5*0001", 3, b'6', "E428"),
            tamper("SE*5*0001", 8, b'2', "E424"),
            tamper("SE*3*0002", 3, b'2', "E428"),
            tamper("GE*2*88", 3, b'1', "E428"),
            tamper("GE*2*88", 6, b'9', "E424"),
            tamper("IEA*2*", 4, b'3', "E428"),
            tamper("IEA*2*", 14, b'8', "E424"),
        ],
        write,
    }
}

#[test]
fn formats_15_10_x12_conforms() {
    let echo = vec![("interchange_from_doc", text("interchange")), ("group_header_from_doc", text("functional_group"))];
    let mut corpus = x12_corpus(None);
    passes(format("x12"), &corpus);
    // Several interchanges are no output of one file, and those without a set write nothing.
    corpus.valid.truncate(1);
    corpus.write = Some(echo);
    passes(format("x12"), &corpus);
}

/// The private dialect of the sample folder.
fn harbour() -> DialectFormat {
    let description = json!({
        "dialect": "harbour",
        "version": 1,
        "framing": {
            "start": ["HDR"],
            "delimiters": {
                "element": [{ "literal": "|" }],
                "tag": [{ "literal": "=" }],
                "terminator": [{ "literal": "\n" }],
                "release": [{ "literal": "\\" }],
            },
            "escape": "release",
        },
        "columns": { "prefix": "e", "max": 12, "tag_pattern": "[A-Z]{3}" },
        "levels": [
            { "name": "batch", "open": "HDR", "close": "TRL", "file": true },
            { "name": "shipment", "open": "SHP", "frame": "new", "columns": [{ "name": "ship_no", "element": 1 }] },
        ],
        "counts": [
            { "at": "TRL", "element": 1, "of": "shipment", "within": "batch" },
            { "at": "TRL", "element": 2, "of": { "sum": { "segment": "WGT", "element": 1 } }, "within": "batch" },
        ],
        "references": [{ "at": "TRL", "element": 3, "of": "HDR", "of_element": 1 }],
        "writer": {
            "headers": {
                "batch": { "literal": "batch_header", "echo": "batch_header_from_doc", "required": true },
            },
            "open": { "1": "key", "2": "record" },
            "newline": false,
        },
    });
    let dialect = Dialect::from_description(&description, &|_| None).unwrap_or_else(|faults| panic!("{faults:#?}"));
    DialectFormat::new(dialect, "Shipping notices.")
}

#[test]
fn formats_15_10_a_dialect_without_code_conforms() {
    let whole = b"HDR=B9|OSLO\nSHP=S1|north\\|east\nWGT=12.5\nSHP=S2\nWGT=7.25\nTRL=2|19.75|B9\n";
    let plain = |name: &str, bytes: &[u8], rows| sample(name, &[], bytes, rows);
    let with = |from: &str, to: &str| String::from_utf8_lossy(whole).replacen(from, to, 1).into_bytes();
    let bad = |name: &str, bytes: Vec<u8>, rows, code| Bad { sample: plain(name, &bytes, rows), code, bounded: false };
    let tamper = |text: &str, skip, byte, code| Tamper { sample: 0, at: at(whole, text, skip), byte, code };
    let corpus = Corpus {
        valid: vec![
            Sample { round_trip: true, ..plain("two shipments", whole, 4) },
            plain("released line break", b"HDR=B1\nSHP=S1|two\\\nlines\nTRL=1|0|B1\n", 1),
        ],
        invalid: vec![
            bad("a count", with("TRL=2", "TRL=3"), 4, "E428"),
            bad("a sum", with("19.75", "19.76"), 4, "E428"),
            bad("a reference", with("19.75|B9", "19.75|B8"), 4, "E424"),
            bad("a missing trailer", with("TRL=2|19.75|B9\n", ""), 4, "E421"),
            bad("a weight before the first shipment", with("SHP=S1", "WGT=1\nSHP=S1"), 0, "E425"),
        ],
        endless: Some(Endless {
            options: Vec::new(),
            head: b"HDR=B9\nSHP=".to_vec(),
            body: b"x\\\n".to_vec(),
            limit: 65_536,
        }),
        tampers: vec![
            tamper("TRL=2", 4, b'1', "E428"),
            tamper("19.75|", 0, b'2', "E428"),
            tamper("19.75|B9", 7, b'8', "E424"),
        ],
        write: Some(vec![("batch_header_from_doc", text("batch"))]),
    };
    passes(&harbour(), &corpus);
}
