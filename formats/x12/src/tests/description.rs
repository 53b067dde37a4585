//! The same dialect, described.

use clinker_edi::{Dialect, DialectFormat};
use serde_json::{Value, json};

use super::samples::*;
use super::support::*;

/// What a description of X12 says.
fn description() -> Value {
    json!({
        "dialect": "x12",
        "version": 1,
        "framing": {
            "start": ["ISA"],
            "header_bytes": 106,
            "delimiters": {
                "element": [{ "byte": 3 }],
                "component": [{ "byte": 104 }],
                "terminator": [{ "byte": 105 }],
                "repetition": [{
                    "element": 11,
                    "when": [{ "header": "ISA", "element": 12, "at_least": "00402" }],
                    "unless": "alnum"
                }]
            }
        },
        "columns": { "tag_pattern": "[A-Za-z][A-Za-z0-9]{1,2}" },
        "levels": [
            { "name": "interchange", "open": "ISA", "close": "IEA", "file": true },
            { "name": "functional_group", "section_option": "group_section", "open": "GS", "close": "GE",
              "columns": [{ "name": "group_ref", "element": 6, "option": "emit_group_ref" }] },
            { "name": "transaction_set", "section_option": "set_section", "open": "ST", "close": "SE",
              "columns": [{ "name": "set_ref", "element": 2 }, { "name": "set_type", "element": 1 }] }
        ],
        "counts": [
            { "at": "SE", "element": 1, "of": "segments" },
            { "at": "GE", "element": 1, "of": "transaction_set" },
            { "at": "IEA", "element": 1, "of": "functional_group" }
        ],
        "references": [
            { "at": "SE", "element": 2, "of": "ST", "of_element": 2 },
            { "at": "GE", "element": 2, "of": "GS", "of_element": 6 },
            { "at": "IEA", "element": 2, "of": "ISA", "of_element": 13 }
        ],
        "allow_outside": [
            { "tag": "TA1", "in": "interchange" }, { "tag": "TA3", "in": "interchange" },
            { "tag": "ISB", "in": "interchange" }, { "tag": "ISE", "in": "interchange" }
        ],
        "binary": [
            { "tag": "BIN", "length_element": 1, "data_element": 2 },
            { "tag": "BDS", "length_element": 2, "data_element": 3 }
        ],
        "writer": {
            "headers": {
                "interchange": {
                    "literal": "interchange", "echo": "interchange_from_doc", "required": true,
                    "widths": [2, 10, 2, 10, 2, 15, 2, 15, 6, 4, 1, 5, 9, 1, 1, 1], "zero_padded": [9, 10, 13]
                },
                "functional_group": {
                    "literal": "group_header", "echo": "group_header_from_doc", "required": true,
                    "set": { "6": "key" }, "elements": 8
                }
            },
            "open": { "1": "type", "2": "key", "3": "record" },
            "anonymous": { "width": 4 },
            "defaults": { "element": "*", "repetition": "^", "component": ":", "terminator": "~" },
            "escape": ["element", "terminator"],
            "type_option": "set_type"
        }
    })
}

fn base(name: &str) -> Option<Dialect> {
    (name == "x12").then(crate::x12)
}

/// The description without its name: another one may not take it.
fn described(description: &Value) -> Dialect {
    Dialect::from_description(description, &base).unwrap_or_else(|faults| panic!("{faults:#?}"))
}

#[test]
fn formats_15_6_x12_can_be_described() {
    assert_eq!(format!("{:#?}", described(&description())), format!("{:#?}", crate::x12()));
    // A dialect that says nothing of its own is its base.
    let based = described(&json!({ "dialect": "x12", "version": 1, "base": "x12" }));
    assert_eq!(format!("{based:#?}"), format!("{:#?}", crate::x12()));
}

#[test]
fn formats_15_6_the_described_x12_reads_as_the_built_in_one() {
    let built_in = reader(&[]);
    let other = reader_of(described(&description()), &[]);
    let mut files = vec![
        EXAMPLE.to_owned(),
        interchange(&ORDER),
        interchange(&["BIN*16*AB~CD*EF~GH:IJ^K"]),
        interchange(&ORDER).replacen("GS*", "TA1*1~\nGS*", 1),
        String::new(),
    ];
    let changes =
        [("SE*5", "SE*6"), ("SE*5", "SE*x"), ("GE*1*51", "GE*1*52"), ("IEA*1", "IEA*2"), ("CTT", "GS"), ("CTT", "C")];
    files.extend(changes.map(|(from, to)| interchange(&ORDER).replace(from, to)));
    for file in files {
        assert_eq!(read(&*other, file.as_bytes()), read(&*built_in, file.as_bytes()), "{file}");
    }
}

#[test]
fn formats_15_6_maps_merge_and_lists_replace() {
    let dialect = described(&json!({
        "dialect": "harbour_x12", "version": 1, "base": "x12",
        "columns": { "max": 50 },
        "charset": { "fixed": "iso-8859-1" },
        "limits": { "segment_bytes": 1000, "trailing": "blank" },
        "binary": [],
        "forbid": ["ZZZ", { "tag": "YYY", "text": "it is of another time" }],
        "writer": { "newline": false, "headers": { "functional_group": { "required": false } } }
    }));
    let (built_in, writer) = (crate::x12(), dialect.writer.as_ref().unwrap());
    assert_eq!((&*dialect.name, dialect.columns.max, dialect.segment_bytes), ("harbour_x12", 50, 1000));
    assert_eq!((dialect.binary.len(), dialect.counts.clone(), dialect.forbid.len()), (0, built_in.counts, 2));
    assert!(!writer.newline && !writer.headers[1].required && writer.headers[0].required);
    assert_eq!(writer.headers[1].literal.as_deref(), Some("group_header"));
    let factory = reader_of(dialect.clone(), &[]);
    let outcome = read(&*factory, interchange(&["CTT", "YYY*1"]).as_bytes());
    assert_eq!((outcome.faults()[0].0, outcome.rows().len()), ("E422", 2));
    assert!(outcome.reason().contains("YYY: it is of another time"), "{}", outcome.reason());
    let long = interchange(&[&format!("NTE*{}", "x".repeat(1000))]);
    assert_eq!(read(&*factory, long.as_bytes()).faults()[0].0, "E426");
    assert_eq!(read(&*factory, format!("{EXAMPLE}\u{0}\u{1}\n\u{1A}\u{2}").as_bytes()).faults(), []);
}

/// The dialect of 15.7.
fn harbour() -> Value {
    json!({
        "dialect": "harbour",
        "version": 1,
        "framing": {
            "start": ["HDR"],
            "delimiters": {
                "element": [{ "literal": "|" }],
                "tag": [{ "literal": "=" }],
                "terminator": [{ "literal": "\n" }],
                "release": [{ "literal": "\\" }]
            },
            "escape": "release"
        },
        "columns": { "prefix": "e", "max": 12, "tag_pattern": "[A-Z]{3}" },
        "levels": [
            { "name": "batch", "open": "HDR", "close": "TRL", "file": true },
            { "name": "shipment", "open": "SHP", "frame": "new", "columns": [{ "name": "ship_no", "element": 1 }] }
        ],
        "counts": [
            { "at": "TRL", "element": 1, "of": "shipment", "within": "batch" },
            { "at": "TRL", "element": 2, "of": { "sum": { "segment": "WGT", "element": 1 } }, "within": "batch" }
        ],
        "references": [{ "at": "TRL", "element": 3, "of": "HDR", "of_element": 1 }],
        "writer": {
            "headers": { "batch": { "literal": "batch_header", "echo": "batch_header_from_doc", "required": true } },
            "open": { "1": "key", "2": "record" },
            "newline": false
        }
    })
}

const HARBOUR: &str = "HDR=B9|OSLO\nSHP=S1|north\\|east\nWGT=12.5\nSHP=S2\nWGT=7.25\nTRL=2|19.75|B9\n";

#[test]
fn formats_15_7_the_private_dialect_reads_as_shown() {
    let factory = reader_of(described(&harbour()), &[]);
    let outcome = read(&*factory, HARBOUR.as_bytes());
    assert_eq!(outcome.faults(), []);
    assert_eq!(outcome.columns[..4], ["seg_id", "ship_no", "e01", "e02"]);
    assert_eq!(
        outcome.rows(),
        [
            vec![Some("SHP"), Some("S1"), Some("S1"), Some("north|east")],
            vec![Some("WGT"), Some("S1"), Some("12.5")],
            vec![Some("SHP"), Some("S2"), Some("S2")],
            vec![Some("WGT"), Some("S2"), Some("7.25")],
        ]
    );
    let shape: Vec<&str> = outcome
        .events
        .iter()
        .map(|event| match event {
            Event::Open { level: 0, .. } => "batch",
            Event::Open { .. } => "shipment",
            Event::Close => "close",
            Event::Row(..) => "row",
            Event::Fault(..) => "fault",
        })
        .collect();
    assert_eq!(shape, ["batch", "shipment", "row", "row", "close", "shipment", "row", "row", "close", "close"]);
    let wire = reader_of(described(&harbour()), &[("element_text", text("wire"))]);
    assert_eq!(read(&*wire, HARBOUR.as_bytes()).rows()[0][3], Some("north\\|east"));
    for (from, to, code) in [
        ("TRL=2", "TRL=3", "E428"),
        ("19.75", "20", "E428"),
        ("19.75", "19.750", ""),
        ("|B9\n", "|B8\n", "E424"),
        ("TRL=2|19.75|B9\n", "", "E421"),
        ("7.25", "7,25", "E422"),
        ("|B9\n", "|B9", "E421"),
        ("|B9\n", "|B9\\", "E421"),
        ("SHP=S2", "TRL=1", "E422"),
    ] {
        let text = match (from, to) {
            ("|B9\n", _) => HARBOUR[..HARBOUR.len() - 4].to_owned() + to,
            _ => HARBOUR.replace(from, to),
        };
        let faults = read(&*factory, text.as_bytes()).faults();
        assert_eq!(faults.first().map_or("", |fault| fault.0), code, "{to}");
    }
}

/// Key and message of each fault.
fn refused(change: impl Fn(&mut Value)) -> Vec<(String, String)> {
    let mut description = harbour();
    change(&mut description);
    let faults = Dialect::from_description(&description, &base).expect_err("a bad description");
    assert!(faults.iter().all(|fault| fault.code == "E411"));
    faults.into_iter().map(|fault| (fault.key, fault.message)).collect()
}

#[test]
fn formats_15_6_e411_faults_name_their_key() {
    let set = |path: &'static str, value: Value| {
        move |description: &mut Value| *description.pointer_mut(path).expect("a known key") = value.clone()
    };
    let add = |path: &'static str, key: &'static str, value: Value| {
        move |description: &mut Value| {
            description.pointer_mut(path).unwrap().as_object_mut().unwrap().insert(key.to_owned(), value.clone());
        }
    };
    type Change = Box<dyn Fn(&mut Value)>;
    let changes: Vec<(Change, &str)> = vec![
        (Box::new(set("/dialect", json!("Harbour"))), "dialect"),
        (Box::new(set("/version", json!(2))), "version"),
        (Box::new(add("", "bse", json!(1))), "bse"),
        (Box::new(add("", "base", json!("harbour"))), "base"),
        (Box::new(add("", "validator", json!("none_such"))), "validator"),
        (Box::new(set("/framing", json!(null))), "framing"),
        (Box::new(set("/framing/start", json!("HDR"))), "framing.start"),
        (Box::new(set("/framing/escape", json!("sometimes"))), "framing.escape"),
        (
            Box::new(set("/framing/delimiters/element", json!([{ "literal": "ab" }]))),
            "framing.delimiters.element[0].literal",
        ),
        (
            Box::new(set("/framing/delimiters/element", json!([{ "literal": "A" }]))),
            "framing.delimiters.element[0].literal",
        ),
        (Box::new(set("/framing/delimiters/element", json!([{}]))), "framing.delimiters.element[0]"),
        (Box::new(set("/framing/delimiters/tag", json!([{ "literal": "|" }]))), "framing.delimiters"),
        (Box::new(add("/framing/delimiters", "comma", json!([]))), "framing.delimiters.comma"),
        (Box::new(add("/framing", "tag_width", json!(3))), "framing.tag_width"),
        (Box::new(set("/columns/tag_pattern", json!("["))), "columns.tag_pattern"),
        (Box::new(set("/levels/1/name", json!("batch"))), "counts[0].of"),
        (Box::new(set("/levels/1/open", json!("HDR"))), "levels[1].open"),
        (Box::new(add("/levels/1", "file", json!(true))), "levels[1].file"),
        (Box::new(add("/levels/1", "emit_open", json!(false))), "levels"),
        (Box::new(add("/levels/1", "optional", json!("maybe"))), "levels[1].optional"),
        (Box::new(set("/levels/1/open", json!(null))), "levels[1].open"),
        (Box::new(set("/levels/1/columns/0/element", json!(13))), "levels[1].columns[0].element"),
        (Box::new(set("/levels/1/columns/0/element", json!(0))), "levels[1].columns[0].element"),
        (Box::new(set("/levels/1/columns/0/name", json!("seg_id"))), "levels[1].columns[0].name"),
        (Box::new(set("/counts/0/at", json!("XXX"))), "counts[0].at"),
        (Box::new(set("/counts/0/of", json!("boat"))), "counts[0].of"),
        (Box::new(set("/counts/0/within", json!("boat"))), "counts[0].within"),
        (Box::new(add("/counts/0", "rule", json!("maybe"))), "counts[0].rule"),
        (Box::new(set("/references/0/of", json!("WGT"))), "references[0].of"),
        (Box::new(add("/references/0", "ignore", json!(["dots"]))), "references[0].ignore"),
        (Box::new(add("", "allow_outside", json!([{ "tag": "ABC", "in": "boat" }]))), "allow_outside[0].in"),
        (Box::new(add("", "forbid", json!(["HDR"]))), "forbid[0]"),
        (
            Box::new(add("", "binary", json!([{ "tag": "BIN", "length_element": 2, "data_element": 1 }]))),
            "binary[0].data_element",
        ),
        (Box::new(add("", "charset", json!({ "fixed": "cp037" }))), "charset.fixed"),
        (Box::new(add("", "limits", json!({ "trailing": "any" }))), "limits.trailing"),
        (Box::new(add("/writer/headers", "boat", json!({}))), "writer.headers.boat"),
        (Box::new(set("/writer/open", json!({ "1": "who" }))), "writer.open.1"),
        (Box::new(set("/writer/newline", json!("lf"))), "writer.newline"),
    ];
    for (change, key) in changes {
        let faults = refused(change);
        assert!(faults.iter().any(|(found, _)| found == key), "{key}: {faults:?}");
    }
    let not_a_map = Dialect::from_description(&json!([1]), &base).expect_err("no map");
    assert!(not_a_map.iter().any(|fault| fault.key.is_empty()));
}

#[test]
fn formats_15_6_a_described_dialect_is_a_format() {
    use clinker_format::Format;
    let format = DialectFormat::new(described(&harbour()), "Batches of the harbour.");
    let read = format.descriptor().read.as_ref().unwrap();
    let keys: Vec<&str> = read.options.iter().map(|option| option.key).collect();
    assert_eq!(keys, ["max_elements", "element_text", "envelopes", "encoding", "shipment_section"]);
    assert_eq!(format.descriptor().name, "harbour");
}
