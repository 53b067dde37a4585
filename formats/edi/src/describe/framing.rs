//! `framing`, `charset`, `columns` and `limits`.

use std::sync::Arc;

use serde_json::Value;

use super::table::{Faults, Table};
use crate::dialect::{
    CharsetRule, Columns, Condition, EscapeStyle, Framing, Role, Source, SourcePlace, Test, Trailing, Unless,
};
use crate::reader::charset_named;

/// The words for roles.
pub(super) const ROLES: [(&str, Role); 7] = [
    ("element", Role::Element),
    ("terminator", Role::Terminator),
    ("component", Role::Component),
    ("subcomponent", Role::Subcomponent),
    ("repetition", Role::Repetition),
    ("release", Role::Release),
    ("tag", Role::Tag),
];

/// The largest fixed header or service segment.
const MOST_HEADER_BYTES: u64 = 65_536;

pub(super) fn framing(table: &Table<'_>, framing: &mut Framing) {
    if let Some(start) = table.texts("start") {
        framing.start = start;
    }
    if let Some(bytes) = table.number("header_bytes", 1, MOST_HEADER_BYTES) {
        framing.header_bytes = usize::try_from(bytes).ok();
    }
    if let Some(service) = table.table("service") {
        let tag = service.required("tag");
        let bytes = service.number("bytes", 1, MOST_HEADER_BYTES);
        if bytes.is_none() && !service.has("bytes") {
            service.faults.add(&service.at("bytes"), "the key is missing");
        }
        framing.service = bytes.and_then(|bytes| usize::try_from(bytes).ok()).map(|bytes| (tag, bytes));
        service.finish();
    }
    if let Some(delimiters) = table.table("delimiters") {
        for (name, value) in delimiters.entries() {
            let path = delimiters.at(name);
            let Some((_, role)) = ROLES.iter().find(|(word, _)| *word == name) else {
                delimiters.faults.add(&path, "the role is unknown");
                continue;
            };
            let sources = sources(value, &path, delimiters.faults);
            match framing.delimiters.iter_mut().find(|(known, _)| known == role) {
                Some((_, known)) => *known = sources,
                None => framing.delimiters.push((*role, sources)),
            }
        }
    }
    if let Some(width) = table.number("tag_width", 1, 64) {
        framing.tag_width = usize::try_from(width).ok();
    }
    if let Some(tags) = table.texts("self_describing") {
        framing.self_describing = tags;
    }
    if let Some(style) = escape(table) {
        framing.escape = style;
    }
    if let Some(data) = table.word("line_breaks", &[("padding", false), ("data", true)]) {
        framing.line_breaks_are_data = data;
    }
    if let Some(optional) = table.word("last_terminator", &[("required", false), ("optional", true)]) {
        framing.last_terminator_optional = optional;
    }
    if let Some(tags) = table.texts("redeclare") {
        framing.redeclare = tags;
    }
    table.finish();
}

fn escape(table: &Table<'_>) -> Option<EscapeStyle> {
    match table.value("escape")? {
        Value::String(word) if word == "none" => Some(EscapeStyle::None),
        Value::String(word) if word == "release" => Some(EscapeStyle::Release),
        value @ Value::Object(_) => {
            let table = Table::of(value, table.at("escape"), table.faults);
            let names = table.table("sequence");
            if names.is_none() {
                table.faults.add(&table.at("sequence"), "the key is missing");
            }
            let hex = table.text("hex");
            table.finish();
            let mut meanings = Vec::new();
            for (name, value) in names.iter().flat_map(Table::entries) {
                match ROLES.iter().find(|(word, _)| value.as_str() == Some(word)) {
                    Some((_, role)) => meanings.push((Arc::from(name), *role)),
                    None => table.faults.add(&format!("{}.sequence.{name}", table.path()), "a role was expected"),
                }
            }
            Some(EscapeStyle::Sequence { names: meanings, hex })
        }
        _ => {
            table.faults.add(&table.at("escape"), "`none`, `release` or a map with `sequence` was expected");
            None
        }
    }
}

fn sources(value: &Value, path: &str, faults: &Faults) -> Vec<Source> {
    let Some(list) = value.as_array() else {
        faults.add(path, "a list of sources was expected");
        return Vec::new();
    };
    let one = |(at, value)| source(value, format!("{path}[{at}]"), faults);
    list.iter().enumerate().filter_map(one).collect()
}

fn source(value: &Value, path: String, faults: &Faults) -> Option<Source> {
    if value.as_str() == Some("none") {
        return Some(Source { from: SourcePlace::None, when: Vec::new(), unless: None });
    }
    let table = Table::of(value, path, faults);
    let place = |key| table.number(key, 0, MOST_HEADER_BYTES - 1).and_then(|at| usize::try_from(at).ok());
    let named = [
        literal(&table, "literal").map(SourcePlace::Literal),
        place("byte").map(SourcePlace::Byte),
        place("service_byte").map(SourcePlace::ServiceByte),
        table.element("element").map(SourcePlace::Element),
        table.flag("none").filter(|none| *none).map(|_| SourcePlace::None),
    ];
    let conditions = table.tables("when").unwrap_or_default();
    let when = conditions.iter().filter_map(condition).collect();
    let unless = table.word("unless", &[("alnum", Unless::Alnum), ("space", Unless::Space)]);
    table.finish();
    let mut places = named.into_iter().flatten();
    match (places.next(), places.next()) {
        (Some(from), None) => Some(Source { from, when, unless }),
        _ => {
            let wanted = "one of `literal`, `byte`, `service_byte`, `element` and `none` was expected";
            faults.add(table.path(), wanted);
            None
        }
    }
}

/// A separator that is written out.
pub(super) fn literal(table: &Table<'_>, key: &'static str) -> Option<u8> {
    let text = table.text(key)?;
    separator(&text, &table.at(key), table.faults)
}

pub(super) fn separator(text: &str, path: &str, faults: &Faults) -> Option<u8> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && *byte != b' ' && *byte != 0 => Some(*byte),
        _ => {
            faults.add(path, "one ASCII character that is no letter, digit or blank was expected");
            None
        }
    }
}

pub(super) fn condition(table: &Table<'_>) -> Option<Condition> {
    let header = table.required("header");
    let element = table.required_element("element");
    let component = table.element("component");
    let tests = [
        table.text("equals").map(Test::Equals),
        table.text("at_least").map(Test::AtLeast),
        table.pattern("matches").map(Test::Matches),
        table.flag("empty").filter(|empty| *empty).map(|_| Test::Empty),
    ];
    table.finish();
    let mut tests = tests.into_iter().flatten();
    match (tests.next(), tests.next()) {
        (Some(test), None) => Some(Condition { header, element, component, test }),
        _ => {
            table.faults.add(table.path(), "one of `equals`, `at_least`, `matches` and `empty: true` was expected");
            None
        }
    }
}

pub(super) fn charset(table: &Table<'_>) -> Option<CharsetRule> {
    let known = |name: Option<Arc<str>>, key: &str| {
        let name = name?;
        if charset_named(&name).is_none() {
            table.faults.add(&table.at(key), format!("`{name}` is no character set that has separators of ASCII"));
        }
        Some(name)
    };
    let rules = [
        known(table.text("fixed"), "fixed").map(CharsetRule::Fixed),
        known(table.text("option"), "option").map(CharsetRule::Option),
        table.table("element").map(|element| charset_element(&element)),
    ];
    table.finish();
    let mut rules = rules.into_iter().flatten();
    match (rules.next(), rules.next()) {
        (Some(rule), None) => Some(rule),
        _ => {
            table.faults.add(table.path(), "one of `fixed`, `option` and `element` was expected");
            None
        }
    }
}

fn charset_element(table: &Table<'_>) -> CharsetRule {
    let header = table.required("header");
    let element = table.required_element("element");
    let component = table.element("component");
    let mut map = Vec::new();
    let names = table.table("map");
    if names.is_none() {
        table.faults.add(&table.at("map"), "the key is missing");
    }
    for (value, name) in names.iter().flat_map(Table::entries) {
        match name.as_str().filter(|name| charset_named(name).is_some()) {
            Some(name) => map.push((Arc::from(value), Arc::from(name))),
            None => table.faults.add(&format!("{}.map.{value}", table.path()), "a character set was expected"),
        }
    }
    table.finish();
    CharsetRule::Element { header, element, component, map }
}

pub(super) fn columns(table: &Table<'_>, columns: &mut Columns) {
    if let Some(prefix) = table.text("prefix") {
        columns.prefix = prefix;
    }
    if let Some(max) = table.element("max") {
        columns.max = max;
    }
    if let Some(option) = table.text("max_option") {
        columns.max_option = option;
    }
    if let Some(column) = table.text("tag_column") {
        columns.tag_column = column;
    }
    if let Some(pattern) = table.pattern("tag_pattern") {
        columns.tag_pattern = pattern;
    }
    table.finish();
}

/// Largest segment and what may follow the last one.
pub(super) fn limits(table: &Table<'_>, segment_bytes: &mut usize, trailing: &mut Trailing) {
    let most = 64 << 20;
    if let Some(bytes) = table.number("segment_bytes", 16, most).and_then(|bytes| usize::try_from(bytes).ok()) {
        *segment_bytes = bytes;
    }
    if let Some(found) = table.word("trailing", &[("strict", Trailing::Strict), ("blank", Trailing::Blank)]) {
        *trailing = found;
    }
    table.finish();
}
