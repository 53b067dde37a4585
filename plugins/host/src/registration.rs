//! Registrations: named values to descriptors, which live as long as the process.

use clinker_format::{Descriptor, Extract, OptionKind, OptionSpec, ReadCapabilities, WriteCapabilities};
use clinker_plugin_abi::Item;

use crate::codes::Codes;
use crate::reading::list;

/// Keeps a text for as long as the process.
pub(crate) fn keep(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// Keeps values for as long as the process.
fn keep_all<T>(values: Vec<T>) -> &'static [T] {
    Box::leak(values.into_boxed_slice())
}

/// How deep options may be nested.
const DEPTH: usize = 4;

/// Capabilities of readers that a plugin can have.
const READ: &[&str] = &[
    "split_values",
    "native_arrays",
    "split_escapes",
    "undeclared_fields",
    "positional_layout",
    "multi_record",
    "generated_columns",
];
/// Capabilities of writers that a plugin can have.
const WRITE: &[&str] = &["header", "join_values", "native_arrays", "one_envelope", "needs_schema", "lossy_charsets"];

/// Reads a registration.
///
/// # Errors
/// The item that breaks its rule.
pub(crate) fn read(item: &Item) -> Result<(&'static Descriptor, Codes), String> {
    let name = item.get("name").text().unwrap_or_default();
    if !is_name(name) {
        return Err(format!("the name {name:?} has not the form `[a-z][a-z0-9_]*`"));
    }
    let of = |fault: String| format!("format `{name}`: {fault}");
    let summary = text(item, "summary").map_err(of)?;
    let read = optional(item, "read", reader).map_err(of)?;
    let write = optional(item, "write", writer).map_err(of)?;
    if read.is_none() && write.is_none() {
        return Err(of("neither `read` nor `write` is there".into()));
    }
    let codes = Codes::read(list(item, "codes").map_err(of)?).map_err(of)?;
    let descriptor = Descriptor { name: keep(name), summary, read, write };
    Ok((Box::leak(Box::new(descriptor)), codes))
}

/// Whether a word may name a format or an option.
fn is_name(name: &str) -> bool {
    name.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
        && name.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
}

fn text(item: &Item, key: &str) -> Result<&'static str, String> {
    match item.get(key).text() {
        Some(text) if !text.is_empty() && !text.contains(['\n', '\r']) => Ok(keep(text)),
        _ => Err(format!("`{key}` is not one line of text")),
    }
}

fn optional<T>(item: &Item, key: &str, read: impl Fn(&Item) -> Result<T, String>) -> Result<Option<T>, String> {
    match item.get(key) {
        Item::Null => Ok(None),
        part @ Item::Map(_) => read(part).map(Some).map_err(|fault| format!("{key}: {fault}")),
        _ => Err(format!("`{key}` is not a map")),
    }
}

/// The capabilities that are named. One that this engine does not know would be required by the plugin if it mattered; one
/// that it knows and that does not cross the boundary is refused.
fn capabilities(item: &Item, known: &[&'static str]) -> Result<Vec<&'static str>, String> {
    let mut found = Vec::new();
    for name in list(item, "capabilities")? {
        let Some(name) = name.text() else { return Err("a capability is not a text".into()) };
        if name == "split_to_rows" {
            return Err("`split_to_rows` is not available to plugins".into());
        }
        found.extend(known.iter().find(|known| **known == name));
    }
    Ok(found)
}

fn reader(item: &Item) -> Result<ReadCapabilities, String> {
    let capabilities = capabilities(item, READ)?;
    let has = |name| capabilities.contains(&name);
    if has("split_escapes") && !has("split_values") {
        return Err("`split_escapes` without `split_values`".into());
    }
    Ok(ReadCapabilities {
        options: options(list(item, "options")?, 0)?,
        split_to_rows: false,
        split_values: has("split_values"),
        native_arrays: has("native_arrays"),
        split_escapes: has("split_escapes"),
        undeclared_fields: has("undeclared_fields"),
        positional_layout: has("positional_layout"),
        multi_record: has("multi_record"),
        extract: extract(item.get("extract"))?,
        generated_columns: has("generated_columns"),
    })
}

fn extract(item: &Item) -> Result<Option<Extract>, String> {
    if *item == Item::Null {
        return Ok(None);
    }
    Ok(Some(match item.get("kind").text() {
        Some("segment") => {
            let tags = texts(item, "tags").map_err(|fault| format!("extract: {fault}"))?;
            if tags.is_empty() {
                return Err("extract: `segment` without `tags`".into());
            }
            Extract::Segment(tags)
        }
        Some("xml_path") => Extract::XmlPath,
        Some("json_pointer") => Extract::JsonPointer,
        Some("record_type") => Extract::RecordType,
        other => return Err(format!("extract: the unknown kind {:?}", other.unwrap_or_default())),
    }))
}

fn writer(item: &Item) -> Result<WriteCapabilities, String> {
    let capabilities = capabilities(item, WRITE)?;
    let has = |name| capabilities.contains(&name);
    let no_split = match item.get("no_split") {
        Item::Null => None,
        Item::Text(code) if is_code(code) => Some(keep(code)),
        _ => return Err("`no_split` is not a code".into()),
    };
    Ok(WriteCapabilities {
        options: options(list(item, "options")?, 0)?,
        header: has("header"),
        join_values: has("join_values"),
        native_arrays: has("native_arrays"),
        no_split,
        one_envelope: has("one_envelope"),
        needs_schema: has("needs_schema"),
        lossy_charsets: has("lossy_charsets"),
    })
}

/// Whether it is a code of the engine, which is what `split:` may be refused with.
fn is_code(code: &str) -> bool {
    code.strip_prefix('E').is_some_and(|number| number.len() == 3 && number.bytes().all(|c| c.is_ascii_digit()))
}

/// A list of texts, which may be missing.
fn texts(map: &Item, key: &str) -> Result<&'static [&'static str], String> {
    let text = |item: &Item| item.text().map(keep).ok_or_else(|| format!("`{key}` holds what is not a text"));
    list(map, key)?.iter().map(text).collect::<Result<_, _>>().map(keep_all)
}

fn options(items: &[Item], depth: usize) -> Result<&'static [OptionSpec], String> {
    if depth == DEPTH {
        return Err(format!("options nested deeper than {DEPTH}"));
    }
    let mut specs: Vec<OptionSpec> = Vec::new();
    for item in items {
        let key = item.get("key").text().unwrap_or_default();
        if !is_name(key) {
            return Err(format!("the option {key:?} has not the form `[a-z][a-z0-9_]*`"));
        }
        if specs.iter().any(|spec| spec.key == key) {
            return Err(format!("option `{key}` twice"));
        }
        specs.push(option(item, key, depth).map_err(|fault| format!("option `{key}`: {fault}"))?);
    }
    Ok(keep_all(specs))
}

fn option(item: &Item, key: &str, depth: usize) -> Result<OptionSpec, String> {
    let number = |key, default: u64| match item.get(key) {
        Item::Null => Ok(default),
        item => item.number().ok_or_else(|| format!("`{key}` is not a number")),
    };
    let words = || {
        let words = texts(item, "values")?;
        if words.is_empty() { Err("no `values`".to_owned()) } else { Ok(words) }
    };
    let kind = match item.get("type").text().unwrap_or_default() {
        "text" => OptionKind::Text,
        "bool" => OptionKind::Bool,
        "word" => OptionKind::Word(words()?),
        "size" => OptionKind::Size,
        "integer" => {
            let (min, max) = (number("min", 0)?, number("max", u64::MAX)?);
            if min > max {
                return Err(format!("the range of {min} to {max} is empty"));
            }
            OptionKind::Integer { min, max }
        }
        "texts" => {
            OptionKind::Texts { count: item.get("count").number().and_then(|count| usize::try_from(count).ok()) }
        }
        "bool_or_word" => OptionKind::BoolOr(words()?),
        "fields" => OptionKind::Fields,
        "map" => OptionKind::Map(options(list(item, "keys")?, depth + 1)?),
        "maps" => OptionKind::Maps(options(list(item, "keys")?, depth + 1)?),
        other => return Err(format!("the unknown type {other:?}")),
    };
    let default = match item.get("default") {
        Item::Null => "",
        default => default.text().ok_or("`default` is not a text")?,
    };
    let required = match item.get("required") {
        Item::Null => false,
        required => required.bool().ok_or("`required` is not a truth value")?,
    };
    if required && !default.is_empty() {
        return Err("required, and yet a default".into());
    }
    check_default(&kind, default)?;
    Ok(OptionSpec { key: keep(key), kind, default: keep(default), required, doc: text(item, "doc")? })
}

/// A default must be a value of its own option.
fn check_default(kind: &OptionKind, default: &str) -> Result<(), String> {
    let is_bool = matches!(default, "true" | "false");
    let fits = default.is_empty()
        || match kind {
            OptionKind::Bool => is_bool,
            OptionKind::Word(words) => words.contains(&default),
            OptionKind::BoolOr(words) => is_bool || words.contains(&default),
            OptionKind::Size => clinker_format::parse_size(default).is_some(),
            OptionKind::Integer { min, max } => default.parse().is_ok_and(|value: u64| (*min..=*max).contains(&value)),
            _ => true,
        };
    if fits { Ok(()) } else { Err(format!("the default {default:?} is not {}", kind.wanted())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option_of(entries: Vec<(&str, Item)>) -> Item {
        let mut all = vec![("key".to_owned(), "speed".into()), ("doc".to_owned(), "How fast.".into())];
        all.extend(entries.into_iter().map(|(key, item)| (key.to_owned(), item)));
        Item::Map(all)
    }

    fn format_of(options: Vec<Item>) -> Item {
        let read = Item::map([("options", Item::List(options))]);
        Item::map([("name", "trial".into()), ("summary", "A trial.".into()), ("read", read)])
    }

    #[test]
    fn formats_15_2_e466_names_the_item_that_breaks_its_rule() {
        let fault = |item: &Item| read(item).unwrap_err();
        assert!(fault(&Item::map([("name", "9lives".into())])).contains("9lives"));
        let bare = Item::map([("name", "trial".into()), ("summary", "A trial.".into())]);
        assert!(fault(&bare).contains("`read`"));
        let of = |entries| fault(&format_of(vec![option_of(entries)]));
        assert!(of(vec![("type", "colour".into())]).contains("colour"));
        assert!(of(vec![("type", "word".into())]).contains("`values`"));
        assert!(of(vec![("type", "bool".into()), ("default", "maybe".into())]).contains("maybe"));
        let range = vec![("type", "integer".into()), ("min", 5_u64.into()), ("max", 4_u64.into())];
        assert!(of(range).contains("5 to 4"));
        let required = vec![("type", "text".into()), ("default", "x".into()), ("required", true.into())];
        assert!(of(required).contains("required"));
        let twice = option_of(vec![("type", "text".into())]);
        assert!(fault(&format_of(vec![twice.clone(), twice])).contains("twice"));
    }

    #[test]
    fn formats_15_2_a_registration_becomes_a_descriptor() {
        let item = format_of(vec![option_of(vec![
            ("type", "integer".into()),
            ("max", 9_u64.into()),
            ("default", "3".into()),
        ])]);
        let (descriptor, codes) = read(&item).unwrap();
        assert_eq!((descriptor.name, descriptor.summary), ("trial", "A trial."));
        let options = descriptor.read.as_ref().unwrap().options;
        assert_eq!(options[0].kind, OptionKind::Integer { min: 0, max: 9 });
        assert!(descriptor.write.is_none() && codes.0.is_empty());
    }
}
