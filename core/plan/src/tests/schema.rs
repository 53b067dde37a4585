//! The JSON Schema of the pipeline document.

use serde_json::{Map, Value, json};

use super::*;
use crate::schema::json_schema;
use crate::yaml::{Core, Document, Node, NodeKind};

fn schema() -> Value {
    serde_json::from_str(&json_schema()).expect("JSON")
}

/// A document as JSON.
fn json(node: &Node) -> Value {
    match &node.kind {
        NodeKind::List(items) => items.iter().map(json).collect(),
        NodeKind::Map(entries) => {
            Value::Object(entries.iter().map(|entry| (entry.key.to_string(), json(&entry.value))).collect())
        }
        NodeKind::Scalar(scalar) => match scalar.core() {
            Core::Null => Value::Null,
            Core::Bool(value) => json!(value),
            Core::Int(value) => json!(value),
            Core::HugeInt => json!(1e30),
            Core::Float(value) => json!(value),
            Core::Text => json!(&*scalar.text),
        },
    }
}

/// Whether a value is valid: a plain reading of the keywords that the schema uses, and of no others.
fn valid(value: &Value, schema: &Value, root: &Value) -> bool {
    schema.as_object().expect("a schema is an object").iter().all(|(keyword, wanted)| match keyword.as_str() {
        "$schema" | "title" | "description" | "definitions" | "then" => true,
        "$ref" => valid(value, &root["definitions"]["substituted"], root),
        "type" => match wanted {
            Value::Array(types) => types.iter().any(|wanted| is(value, wanted)),
            wanted => is(value, wanted),
        },
        "enum" => wanted.as_array().expect("values").contains(value),
        "const" => value == wanted,
        "pattern" => value.as_str().is_none_or(|text| {
            let pattern = regex::Regex::new(wanted.as_str().expect("a pattern")).expect("a regular expression");
            pattern.is_match(text)
        }),
        "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().expect("a number")),
        "maximum" => value.as_f64().is_none_or(|number| number <= wanted.as_f64().expect("a number")),
        "required" => value.as_object().is_none_or(|members| {
            wanted.as_array().expect("names").iter().all(|name| members.contains_key(name.as_str().expect("a name")))
        }),
        "properties" => value.as_object().is_none_or(|members| {
            members.iter().all(|(name, member)| wanted.get(name).is_none_or(|wanted| valid(member, wanted, root)))
        }),
        "additionalProperties" => value.as_object().is_none_or(|members| {
            let known = |name: &str| schema["properties"].get(name).is_some();
            members.iter().filter(|(name, _)| !known(name)).all(|(_, member)| match wanted {
                Value::Bool(allowed) => *allowed,
                wanted => valid(member, wanted, root),
            })
        }),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| valid(item, wanted, root))),
        "allOf" => wanted.as_array().expect("schemas").iter().all(|one| valid(value, one, root)),
        "anyOf" => wanted.as_array().expect("schemas").iter().any(|one| valid(value, one, root)),
        "if" => !valid(value, wanted, root) || valid(value, &schema["then"], root),
        other => panic!("`{other}` is not read here"),
    })
}

fn is(value: &Value, wanted: &Value) -> bool {
    match wanted.as_str().expect("a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("`{other}` is no type"),
    }
}

/// Whether the schema takes a document, environment references left as they are.
fn takes(text: &str) -> bool {
    let document = Document::read("p.yaml", text.as_bytes(), None).unwrap_or_else(|_| panic!("no well-formed YAML"));
    let schema = schema();
    valid(&json(&document.root), &schema, &schema)
}

/// All names under `properties`, at any depth.
fn properties(schema: &Value, found: &mut Map<String, Value>) {
    match schema {
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            if let (true, Value::Object(keys)) = (name == "properties", member) {
                found.extend(keys.clone());
            }
            properties(member, found);
        }),
        Value::Array(items) => items.iter().for_each(|item| properties(item, found)),
        _ => {}
    }
}

/// The names in the key tables of the sources.
fn declared() -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.ends_with("tests") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(path).expect("a source file");
                for call in ["required(", "optional("] {
                    let calls = text.split(call).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'));
                    names.extend(calls.filter_map(|rest| rest.split('"').next()).map(str::to_string));
                }
            }
        }
    }
    names
}

#[test]
fn pipeline_1_1_every_declared_key_is_in_the_schema() {
    let mut found = Map::new();
    properties(&schema(), &mut found);
    let declared = declared();
    assert!(declared.len() > 90, "found {}", declared.len());
    let missing: Vec<_> = declared.iter().filter(|name| !found.contains_key(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn pipeline_1_1_documents_that_compile_are_valid() {
    let more = "\
pipeline:
  name: ${REGION}
  batch_size: ${ROWS:-10}
  memory: { limit: 64M, resume_threshold: 0.5 }
  vars: { a: 1, b: { type: date, default: 2020-01-01 } }
nodes:
  - type: source
    name: a
    config:
      { name: s, type: toy, glob: \"a*\", files: { take_first: 2 }, on_unmapped: { mode: drop }, options: { strict: false, most: 5KB },
        schema: [ { name: x, type: int, default: 3 }, { name: y, type: string, multiple: true } ], split_values: [ y ], dlq_granularity: record }
  - { type: source, name: b, config: { name: s, type: plain, path: b, schema: cols.yaml } }
  - { type: route, name: r, input: a, config: { conditions: { big: \"x > 9\" }, default: rest, mode: inclusive } }
  - { type: merge, name: m, inputs: [ r.big, b ], _notes: [ 1 ] }
  - type: transform
    name: t
    input: m
    config:
      cxl: |
        emit z = x
      validations: [ { field: x, check: not_empty }, { check: \"z > k\", args: { k: 1 } } ]
      log: [ { name: e, level: info, when: per_record, every: 5, message: m } ]
  - { type: sink, name: o, input: t, config: { name: s, type: toy, path: o, mapping: [ x, { c: z } ], join_values: [ y ] } }
error_handling: { strategy: continue, dlq: { path: d, max_rate: 0.5, per_source: { a: { path: e, min_records: 3 } } } }
";
    for text in [FEED, more] {
        assert!(takes(text), "{text}");
    }
}

#[test]
fn pipeline_1_1_what_the_reader_of_keys_refuses_is_not_valid() {
    for (part, by) in [
        ("path: out.toy", "path: out.toy, colour: red"),
        ("path: out.toy", "path: 5"),
        ("path: out.toy", "path: out.toy, include_header: maybe"),
        ("path: out.toy", "path: out.toy, write_meta: 1"),
        ("path: out.toy", "path: out.toy, options: { colour: red }"),
        ("path: out.toy", "path: out.toy, options: { digits: 10 }"),
        ("type: sink", "type: sync"),
        ("type: toy, path: out.toy", "type: to-y, path: out.toy"),
        ("    input: orders\n", ""),
        ("{ name: qty, type: int }", "{ name: qty, typ: int }"),
        ("name: feed }", "name: feed, batch_size: 0 }"),
        ("name: feed }", "name: feed, concurrency: { threads: x } }"),
        ("qty * 2\" }", "qty * 2\", log: [ { name: a, level: loud, when: on_error, message: m } ] }"),
    ] {
        let text = feed(part, by);
        assert!(!takes(&text), "{text}");
        assert!(compile(&text).plan.is_none(), "{text}");
    }
    assert!(!takes(&format!("{FEED}error_handling: {{ strategy: best_effort }}\n")));
    assert!(!takes(&format!("{FEED}extra: 1\n")));
}

#[test]
fn pipeline_1_4_formats_that_are_loaded_are_valid_types() {
    let schema = schema();
    for (word, fits) in [("toy", true), ("harbour", true), ("harbour_2", true), ("Harbour", false), ("a.b", false)] {
        let text = feed("type: toy\n      path: in", &format!("type: {word}\n      path: in"));
        let document = Document::read("p.yaml", text.as_bytes(), None).expect("YAML");
        assert_eq!(valid(&json(&document.root), &schema, &schema), fits, "{word}");
    }
}
