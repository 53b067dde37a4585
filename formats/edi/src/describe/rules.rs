//! `levels`, `counts`, `references` and the other lists of rules.

use std::sync::Arc;

use clinker_record::{Frame, Kind, Type};
use serde_json::Value;

use super::framing::condition;
use super::table::Table;
use crate::dialect::{BinaryRule, Condition, CountRule, Counted, KeyColumn, LevelRule, Presence, ReferenceRule};

pub(super) fn level(table: &Table<'_>, is_last: bool) -> LevelRule {
    let name = table.required("name");
    let file = table.flag("file").unwrap_or(false);
    let option = table.text("section_option").or_else(|| (!file).then(|| format!("{name}_section").into()));
    if file && table.has("section_option") {
        table.faults.add(&table.at("section_option"), "the sections of the file level are declared in `envelope`");
    }
    let rule = LevelRule {
        section_option: option.filter(|_| !file),
        open: table.required("open"),
        close: table.text("close"),
        file,
        optional: presence(table),
        close_optional: table.flag("close_optional").unwrap_or(false),
        frame: table.word("frame", &[("inherit", Frame::Inherit), ("new", Frame::New)]).unwrap_or(Frame::Inherit),
        emit_open: table.flag("emit_open").unwrap_or(is_last),
        columns: table.tables("columns").unwrap_or_default().iter().map(key_column).collect(),
        fields: fields(table),
        name,
    };
    table.finish();
    rule
}

fn presence(table: &Table<'_>) -> Presence {
    match table.value("optional") {
        None | Some(Value::Bool(false)) => Presence::Required,
        Some(Value::Bool(true)) => Presence::Optional,
        Some(Value::String(word)) if word == "all_or_none" => Presence::AllOrNone,
        Some(_) => {
            table.faults.add(&table.at("optional"), "`true`, `false` or `all_or_none` was expected");
            Presence::Required
        }
    }
}

fn key_column(table: &Table<'_>) -> KeyColumn {
    let column = KeyColumn {
        name: table.required("name"),
        element: table.required_element("element"),
        option: table.text("option"),
    };
    table.finish();
    column
}

fn fields(table: &Table<'_>) -> Option<Vec<(Arc<str>, Type)>> {
    let fields = table.table("fields")?;
    let accepted = [Kind::String, Kind::Int, Kind::Float, Kind::Bool, Kind::Date, Kind::DateTime];
    let mut found = Vec::new();
    for (name, value) in fields.entries() {
        match value.as_str().and_then(Kind::from_word).filter(|kind| accepted.contains(kind)) {
            Some(kind) => found.push((Arc::from(name), Type::plain(kind))),
            None => fields.faults.add(&fields.at(name), "a type of a section field was expected"),
        }
    }
    Some(found)
}

/// The position of a level.
pub(super) fn level_named(levels: &[LevelRule], name: &str) -> Option<u16> {
    levels.iter().position(|level| *level.name == *name).and_then(|at| u16::try_from(at).ok())
}

/// The level that a key names.
fn level_at(table: &Table<'_>, key: &'static str, levels: &[LevelRule]) -> Option<u16> {
    let name = table.text(key)?;
    let level = level_named(levels, &name);
    if level.is_none() {
        table.faults.add(&table.at(key), format!("there is no level `{name}`"));
    }
    level
}

pub(super) fn count(table: &Table<'_>, levels: &[LevelRule]) -> CountRule {
    let rule = CountRule {
        at: table.required("at"),
        element: table.required_element("element"),
        of: counted(table, levels).unwrap_or(Counted::Segments),
        within: level_at(table, "within", levels),
        inclusive: table.flag("inclusive").unwrap_or(true),
        optional: table.flag("optional").unwrap_or(false),
        corruption: table.word("rule", &[("count", false), ("corruption", true)]).unwrap_or(false),
    };
    table.finish();
    // The level that the trailer closes is the default.
    let closed = levels.iter().position(|level| level.close.as_ref() == Some(&rule.at));
    let within = rule.within.filter(|within| Some(usize::from(*within)) != closed);
    CountRule { within, ..rule }
}

fn counted(table: &Table<'_>, levels: &[LevelRule]) -> Option<Counted> {
    let path = table.at("of");
    let unknown = |name: &str| table.faults.add(&path, format!("there is no level `{name}`"));
    match table.value("of") {
        None => {
            table.faults.add(&path, "the key is missing");
            None
        }
        Some(Value::String(word)) if word == "segments" => Some(Counted::Segments),
        Some(Value::String(word)) if word == "bytes" => Some(Counted::Bytes),
        Some(Value::String(name)) => match level_named(levels, name) {
            Some(level) => Some(Counted::Levels(vec![level])),
            None => {
                unknown(name);
                None
            }
        },
        Some(Value::Array(names)) => {
            let found = names.iter().filter_map(|name| {
                let name = name.as_str().unwrap_or_default();
                let level = level_named(levels, name);
                if level.is_none() {
                    unknown(name);
                }
                level
            });
            Some(Counted::Levels(found.collect()))
        }
        Some(value) => {
            let of = Table::of(value, path, table.faults);
            let tag = of.text("segment").map(Counted::Tag);
            let sum = of.table("sum").map(|sum| {
                let counted =
                    Counted::Sum { segment: sum.required("segment"), element: sum.required_element("element") };
                sum.finish();
                counted
            });
            of.finish();
            if tag.is_some() == sum.is_some() {
                of.faults.add(of.path(), "one of `segment` and `sum` was expected");
            }
            tag.or(sum)
        }
    }
}

pub(super) fn reference(table: &Table<'_>) -> ReferenceRule {
    let short = table.element("of_element").map(|element| vec![(vec![element], Vec::new())]);
    let long = table.tables("candidates").map(|candidates| candidates.iter().map(candidate).collect());
    if short.is_some() == long.is_some() {
        table.faults.add(table.path(), "one of `of_element` and `candidates` was expected");
    }
    let ignored = table.texts("ignore").unwrap_or_default();
    for word in &ignored {
        if !matches!(&**word, "spaces" | "leading_zeros") {
            table.faults.add(&table.at("ignore"), format!("`{word}` is neither `spaces` nor `leading_zeros`"));
        }
    }
    let ignores = |wanted: &str| ignored.iter().any(|word| **word == *wanted);
    let rule = ReferenceRule {
        at: table.required("at"),
        element: table.required_element("element"),
        of: table.required("of"),
        candidates: short.or(long).unwrap_or_default(),
        ignore_spaces: ignores("spaces"),
        ignore_leading_zeros: ignores("leading_zeros"),
        optional: table.flag("optional").unwrap_or(false),
    };
    table.finish();
    rule
}

fn candidate(table: &Table<'_>) -> (Vec<u32>, Vec<Condition>) {
    let elements = table.numbers("elements", 999);
    if elements.is_none() && !table.has("elements") {
        table.faults.add(&table.at("elements"), "the key is missing");
    }
    let elements = elements.unwrap_or_default().into_iter().filter_map(|number| u32::try_from(number).ok());
    let conditions = table.tables("when").unwrap_or_default();
    let rule = (elements.collect(), conditions.iter().filter_map(condition).collect());
    table.finish();
    rule
}

pub(super) fn outside(table: &Table<'_>, levels: &[LevelRule]) -> Option<(Arc<str>, u16)> {
    let tag = table.required("tag");
    if !table.has("in") {
        table.faults.add(&table.at("in"), "the key is missing");
    }
    let level = level_at(table, "in", levels);
    table.finish();
    Some((tag, level?))
}

pub(super) fn binary(table: &Table<'_>) -> BinaryRule {
    let rule = BinaryRule {
        tag: table.required("tag"),
        length_element: table.required_element("length_element"),
        data_element: table.required_element("data_element"),
    };
    table.finish();
    if rule.data_element <= rule.length_element {
        table.faults.add(&table.at("data_element"), "the data stand behind their length");
    }
    rule
}

/// `forbid`: tags, each alone or with the text of its fault.
pub(super) fn forbidden(path: &str, value: &Value, table: &Table<'_>) -> Option<(Arc<str>, Arc<str>)> {
    if let Some(tag) = value.as_str() {
        return Some((tag.into(), "the segment may not occur".into()));
    }
    let entry = Table::of(value, path.to_owned(), table.faults);
    let rule = (entry.required("tag"), entry.text("text").unwrap_or_else(|| "the segment may not occur".into()));
    entry.finish();
    Some(rule)
}
