//! JSON Schema of the pipeline document, for editors. It is made from the keys that the document is read with, and from
//! the options that the formats declare.

use clinker_format::{OptionKind, OptionSpec, Registry};
use serde_json::{Map, Value, json};

use crate::decode::{Key, Need, Shape};
use crate::document::ROOT;
use crate::nodes::{self, options::Direction};

/// The schema (draft 7, which editors know best) of pipelines over the formats that are linked, ending in a line break.
pub fn json_schema() -> String {
    let mut schema = Map::new();
    schema.insert("$schema".to_string(), json!("http://json-schema.org/draft-07/schema#"));
    schema.insert("title".to_string(), json!("Clinker pipeline"));
    schema.extend(map(ROOT));
    let mut schema = Value::Object(schema);
    schema["properties"]["nodes"]["items"] = node();
    schema["definitions"] = json!({
        "substituted": {
            "description": "text in which environment variables are replaced before the document is read",
            "type": "string",
            "pattern": "\\$\\{",
        },
    });
    let mut text = serde_json::to_string_pretty(&schema).expect("keys are text and numbers are finite");
    text.push('\n');
    text
}

/// A node: its keys depend on its type.
fn node() -> Value {
    let words: Vec<&str> = nodes::BUILT.iter().map(|built| built.word).collect();
    let cases = nodes::BUILT.iter().map(|built| {
        let mut keys = map(built.keys);
        match built.word {
            "source" => formats(&mut keys, Direction::Read),
            "sink" => formats(&mut keys, Direction::Write),
            _ => {}
        }
        json!({ "if": { "properties": { "type": { "const": built.word } } }, "then": keys })
    });
    json!({
        "type": "object",
        "required": ["type"],
        "properties": { "type": { "enum": words } },
        "allOf": cases.collect::<Vec<_>>(),
    })
}

/// The formats that the `config` of a node can name, each with its options.
fn formats(keys: &mut Map<String, Value>, direction: Direction) {
    let usable: Vec<(&str, &[OptionSpec])> = Registry::built_in()
        .iter()
        .filter_map(|(format, _)| {
            let descriptor = format.descriptor();
            let options = match direction {
                Direction::Read => descriptor.read.as_ref()?.options,
                Direction::Write => descriptor.write.as_ref()?.options,
            };
            Some((descriptor.name, options))
        })
        .collect();
    let config = &mut keys["properties"]["config"];
    let names: Vec<&str> = usable.iter().map(|(name, _)| *name).collect();
    // Dialects and plugins have names of their own.
    let mut word =
        or_substituted(json!({ "anyOf": [{ "enum": names }, { "type": "string", "pattern": "^[a-z][a-z0-9_]*$" }] }));
    word["description"] = config["properties"]["type"]["description"].take();
    config["properties"]["type"] = word;
    let cases = usable.iter().map(|(name, specs)| {
        let options: Map<String, Value> = specs.iter().map(|spec| (spec.key.to_string(), option(spec))).collect();
        let options = json!({ "type": "object", "properties": options, "additionalProperties": false });
        json!({
            "if": { "properties": { "type": { "const": name } }, "required": ["type"] },
            "then": { "properties": { "options": options } },
        })
    });
    config["allOf"] = cases.collect();
}

fn option(spec: &OptionSpec) -> Value {
    let mut schema = match spec.kind {
        OptionKind::Text => json!({ "type": "string" }),
        OptionKind::Bool => or_substituted(json!({ "type": "boolean" })),
        OptionKind::Word(words) => or_substituted(json!({ "enum": words })),
        OptionKind::Size => json!({ "type": ["integer", "string"], "minimum": 0 }),
        OptionKind::Integer { min, max } => {
            or_substituted(json!({ "type": "integer", "minimum": min, "maximum": max }))
        }
        OptionKind::Texts { count } => {
            let mut list = json!({ "type": "array", "items": { "type": "string" } });
            if let Some(count) = count {
                list["minItems"] = json!(count);
                list["maxItems"] = json!(count);
            }
            list
        }
        OptionKind::BoolOr(words) => or_substituted(json!({ "anyOf": [{ "type": "boolean" }, { "enum": words }] })),
        OptionKind::Fields => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        OptionKind::Map(specs) => nested(specs),
        OptionKind::Maps(specs) => json!({ "type": "array", "items": nested(specs) }),
    };
    let default = if spec.default.is_empty() { String::new() } else { format!(" Default: {}", spec.default) };
    schema["description"] = json!(format!("{}{default}", spec.doc));
    schema
}

/// An option that is a map of its own.
fn nested(specs: &[OptionSpec]) -> Value {
    let properties: Map<String, Value> = specs.iter().map(|spec| (spec.key.to_string(), option(spec))).collect();
    let required: Vec<&str> = specs.iter().filter(|spec| spec.required).map(|spec| spec.key).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// A map with these keys and no others.
fn map(keys: &[Key]) -> Map<String, Value> {
    let properties: Map<String, Value> =
        keys.iter().filter_map(|key| Some((key.name.to_string(), property(key)?))).collect();
    let required: Vec<&str> = keys.iter().filter(|key| key.need == Need::Required).map(|key| key.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_string(), json!("object"));
    if !required.is_empty() {
        schema.insert("required".to_string(), json!(required));
    }
    schema.insert("properties".to_string(), Value::Object(properties));
    schema.insert("additionalProperties".to_string(), json!(false));
    schema
}

/// What a key takes; none for one that cannot be given.
fn property(key: &Key) -> Option<Value> {
    match key.need {
        Need::Required | Need::Optional => {
            let mut schema = shape(key.shape);
            schema["description"] = json!(key.doc);
            Some(schema)
        }
        Need::Later([]) | Need::Gone(..) => None,
        Need::Later(neutral) => {
            let values: Vec<Value> =
                neutral.iter().map(|text| serde_json::from_str(text).unwrap_or_else(|_| json!(text))).collect();
            Some(json!({ "enum": values, "description": "not available in this version" }))
        }
    }
}

fn shape(shape: Shape) -> Value {
    match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Bool => or_substituted(json!({ "type": "boolean" })),
        Shape::Integer(i64::MIN) => or_substituted(json!({ "type": "integer" })),
        Shape::Integer(min) => or_substituted(json!({ "type": "integer", "minimum": min })),
        Shape::Number => or_substituted(json!({ "type": "number" })),
        Shape::Word(words) | Shape::Words(words) => or_substituted(json!({ "enum": words })),
        Shape::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Shape::List(item) => json!({ "type": "array", "items": self::shape(*item) }),
        Shape::Map(keys) => Value::Object(map(keys)),
        Shape::Named(value) => json!({ "type": "object", "additionalProperties": self::shape(*value) }),
        Shape::Open => json!({ "type": "object" }),
        Shape::Any([]) => json!({}),
        Shape::Any([one]) => self::shape(*one),
        Shape::Any(shapes) => json!({ "anyOf": shapes.iter().map(|one| self::shape(*one)).collect::<Vec<_>>() }),
    }
}

/// What stands for itself may also come from an environment variable.
fn or_substituted(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "$ref": "#/definitions/substituted" }] })
}
