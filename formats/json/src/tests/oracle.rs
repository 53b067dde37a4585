//! A slow plain reader: serde_json for each JSON text, a recursive walk for names.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_json::error::Category;

/// A JSON value with all members of its objects, repeated ones too.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl fmt::Display for Tree {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Null => out.write_str("null"),
            Tree::Bool(value) => write!(out, "{value}"),
            Tree::Number(value) => write!(out, "{value}"),
            Tree::String(value) => write!(out, "{}", serde_json::Value::from(value.as_str())),
            Tree::Array(elements) => {
                let elements: Vec<String> = elements.iter().map(Tree::to_string).collect();
                write!(out, "[{}]", elements.join(","))
            }
            Tree::Object(members) => {
                let members: Vec<String> =
                    members.iter().map(|(key, value)| format!("{}:{value}", Tree::String(key.clone()))).collect();
                write!(out, "{{{}}}", members.join(","))
            }
        }
    }
}

/// Parses one JSON text.
pub fn tree(text: &str) -> Result<Tree, serde_json::Error> {
    serde_json::from_str(text)
}

struct TreeVisitor;

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Tree, D::Error> {
        from.deserialize_any(TreeVisitor)
    }
}

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Number(Number::from_f64(value).expect("JSON numbers are finite")))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Tree, A::Error> {
        let mut found = Vec::new();
        while let Some(element) = elements.next_element()? {
            found.push(element);
        }
        Ok(Tree::Array(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Tree, A::Error> {
        let mut found = Vec::new();
        while let Some(member) = members.next_entry()? {
            found.push(member);
        }
        Ok(Tree::Object(found))
    }
}

/// What a file gives, as far as the oracle knows it.
#[derive(Debug, Default, PartialEq)]
pub struct Expected {
    /// Fields of each row, in document order.
    pub rows: Vec<(u64, Vec<(String, Tree)>)>,
    pub rejected: Vec<(u64, &'static str)>,
    pub corrupt: bool,
    /// A number is beyond what serde_json reads: nothing can be said.
    pub unknown: bool,
}

/// Reads lines.
pub fn lines(data: &[u8], multiple: &[&str]) -> Expected {
    let mut expected = Expected::default();
    let mut row = 0;
    for (at, line) in data.split(|byte| *byte == b'\n').enumerate() {
        let terminated = at + 1 < data.split(|byte| *byte == b'\n').count();
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            continue;
        }
        row += 1;
        let line = line.strip_prefix(b"\x1e").unwrap_or(line);
        // What is no UTF-8 cannot change where a JSON text ends.
        let parsed = tree(&String::from_utf8_lossy(line));
        let truncated = matches!(&parsed, Err(error) if error.classify() == Category::Eof);
        expected.unknown |= matches!(&parsed, Err(error) if error.to_string().contains("out of range"));
        // serde_json asks for four more bytes before it looks at them.
        let escape = line.iter().rev().take(6).any(|byte| *byte == b'u');
        expected.unknown |= truncated && escape;
        if truncated && !terminated {
            expected.corrupt = true;
            return expected;
        }
        let code = match parsed {
            _ if std::str::from_utf8(line).is_err() => "E420",
            Err(error) if error.to_string().contains("recursion") => "E426",
            Err(_) => "E422",
            Ok(record) => {
                match fields(record, multiple) {
                    Ok(fields) => expected.rows.push((row, fields)),
                    Err(code) => expected.rejected.push((row, code)),
                }
                continue;
            }
        };
        expected.rejected.push((row, code));
    }
    expected
}

/// Reads an array or a sequence.
pub fn elements(data: &[u8], array: bool, multiple: &[&str]) -> Expected {
    let mut expected = Expected::default();
    let (text, valid) = match std::str::from_utf8(data) {
        Ok(text) => (text, true),
        Err(error) => (std::str::from_utf8(&data[..error.valid_up_to()]).expect("valid"), false),
    };
    let blank = |at: usize| text[at..].len() - text[at..].trim_start_matches([' ', '\t', '\r', '\n']).len() + at;
    let mut at = blank(0);
    let finish = |expected: &mut Expected, at: usize| expected.corrupt = !valid || at < text.len();
    if at == text.len() {
        finish(&mut expected, at);
        return expected;
    }
    if array && !text[at..].starts_with('[') {
        expected.corrupt = true;
        return expected;
    }
    at = blank(at + usize::from(array));
    if array && text[at..].starts_with(']') {
        finish(&mut expected, blank(at + 1));
        return expected;
    }
    let mut row = 0;
    while at < text.len() {
        let mut stream = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Tree>();
        row += 1;
        let scalar = !text[at..].starts_with(['{', '[', '"']);
        match stream.next() {
            // A scalar ends only where the next character shows it.
            Some(Ok(_)) if scalar && at + stream.byte_offset() == text.len() && (array || !valid) => break,
            Some(Ok(record)) => match fields(record, multiple) {
                Ok(fields) => expected.rows.push((row, fields)),
                Err(code) => expected.rejected.push((row, code)),
            },
            Some(Err(error)) => {
                expected.unknown |= error.to_string().contains("out of range");
                break;
            }
            None => break,
        }
        at = blank(at + stream.byte_offset());
        if !array {
            continue;
        }
        if text[at..].starts_with(']') {
            finish(&mut expected, blank(at + 1));
            return expected;
        }
        if !text[at..].starts_with(',') {
            break;
        }
        at = blank(at + 1);
    }
    expected.corrupt = array || !valid || at < text.len();
    expected
}

/// The dotted fields of a record.
fn fields(record: Tree, multiple: &[&str]) -> Result<Vec<(String, Tree)>, &'static str> {
    let Tree::Object(members) = record else { return Err("E422") };
    let mut found = Vec::new();
    let mut deep = false;
    dissolve(members, "", 1, &mut found, &mut deep);
    if deep {
        return Err("E426");
    }
    let mut fields: Vec<(String, Vec<Tree>)> = Vec::new();
    let mut repeated = false;
    for (name, found) in found {
        match found {
            Found::AnotherObject => repeated |= !multiple.iter().any(|multiple| is_inside(multiple, &name)),
            Found::ObjectAndValue => repeated |= !multiple.contains(&name.as_str()),
            Found::Value(value) => {
                repeated |= repeats(&value);
                match fields.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, values)) => values.push(value),
                    None => fields.push((name, vec![value])),
                }
            }
        }
    }
    repeated |= fields.iter().any(|(name, values)| values.len() > 1 && !multiple.contains(&name.as_str()));
    if repeated {
        return Err("E427");
    }
    let one = |mut values: Vec<Tree>| if values.len() == 1 { values.remove(0) } else { Tree::Array(values) };
    Ok(fields.into_iter().map(|(name, values)| (name, one(values))).collect())
}

fn is_inside(name: &str, outer: &str) -> bool {
    name == outer || name.starts_with(&format!("{outer}."))
}

/// What a key holds.
enum Found {
    Value(Tree),
    /// The key held an object before, and does again.
    AnotherObject,
    /// One occurrence of the key holds an object, another one does not.
    ObjectAndValue,
}

/// Appends the fields of an object.
fn dissolve(
    members: Vec<(String, Tree)>,
    prefix: &str,
    level: usize,
    found: &mut Vec<(String, Found)>,
    deep: &mut bool,
) {
    *deep |= level > 64;
    // Whether a key held values and objects.
    let mut keys: Vec<(String, bool, bool)> = Vec::new();
    for (key, value) in members {
        let name = if level == 1 { key.clone() } else { format!("{prefix}.{key}") };
        let is_object = matches!(value, Tree::Object(_));
        let at = keys.iter().position(|(known, ..)| *known == key).unwrap_or_else(|| {
            keys.push((key, false, false));
            keys.len() - 1
        });
        let (_, held_value, held_object) = &mut keys[at];
        if if is_object { *held_value } else { *held_object } {
            found.push((name.clone(), Found::ObjectAndValue));
        } else if is_object && *held_object {
            found.push((name.clone(), Found::AnotherObject));
        }
        *held_value |= !is_object;
        *held_object |= is_object;
        match value {
            Tree::Object(members) => dissolve(members, &name, level + 1, found, deep),
            value => found.push((name, Found::Value(value))),
        }
    }
}

/// Whether an object inside a value repeats a key.
fn repeats(value: &Tree) -> bool {
    match value {
        Tree::Array(elements) => elements.iter().any(repeats),
        Tree::Object(members) => {
            let keys: HashSet<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
            keys.len() < members.len() || members.iter().any(|(_, value)| repeats(value))
        }
        _ => false,
    }
}
