//! Dialects as descriptions: a strict tree of keys, read into a [`Dialect`] (formats.md 15.6).

mod checks;
mod framing;
mod rules;
mod table;
mod writer;

use std::sync::Arc;

use clinker_format::LoadFault;
use regex::Regex;
use serde_json::Value;

use crate::dialect::{CharsetRule, Columns, Counted, Dialect, Framing, LevelRule, Role, Trailing};
use table::{Faults, Table};

/// Bytes of a segment, unless the description says otherwise.
const SEGMENT_BYTES: usize = 65_536;

impl Dialect {
    /// Reads a description. `base` gives the dialects that a description may start from: built-in ones, none that was
    /// described itself.
    ///
    /// # Errors
    /// Everything that is wrong with it (E411), each with the path of its key.
    pub fn from_description(
        description: &Value,
        base: &dyn Fn(&str) -> Option<Dialect>,
    ) -> Result<Dialect, Vec<LoadFault>> {
        let faults = Faults::default();
        let table = Table::of(description, String::new(), &faults);
        let dialect = read(&table, base);
        table.finish();
        if faults.is_empty() {
            checks::check(&dialect, &faults);
        }
        if faults.is_empty() { Ok(dialect) } else { Err(faults.into_vec()) }
    }
}

fn read(table: &Table<'_>, base: &dyn Fn(&str) -> Option<Dialect>) -> Dialect {
    let name = table.required("dialect");
    if !is_name(&name) {
        table.faults.add("dialect", "a name of small letters, digits and `_`, a letter first, was expected");
    }
    if !table.has("version") {
        table.faults.add("version", "the key is missing");
    }
    let _ = table.number("version", 1, 1);
    let start = table.text("base").and_then(|wanted| {
        let found = base(&wanted);
        if found.is_none() {
            table.faults.add("base", format!("`{wanted}` is no built-in dialect"));
        }
        found
    });
    let based = start.is_some();
    let mut dialect = start.unwrap_or_else(empty);
    dialect.name = name;
    if !based {
        for key in ["framing", "levels"] {
            if !table.has(key) {
                table.faults.add(key, "the key is missing");
            }
        }
    }
    if let Some(framing) = table.table("framing") {
        framing::framing(&framing, &mut dialect.framing);
    }
    if let Some(charset) = table.table("charset") {
        dialect.charset = framing::charset(&charset).unwrap_or(dialect.charset);
    }
    if let Some(columns) = table.table("columns") {
        framing::columns(&columns, &mut dialect.columns);
    }
    if let Some(limits) = table.table("limits") {
        framing::limits(&limits, &mut dialect.segment_bytes, &mut dialect.trailing);
    }
    read_rules(table, &mut dialect);
    let components = dialect.framing.delimiters.iter().any(|(role, _)| *role == Role::Component);
    let default = dialect.split_option.clone().or_else(|| components.then(|| "split_elements".into()));
    dialect.split_option = table.text("split_option").or(default);
    dialect.sortable = table.flag("sortable").unwrap_or(dialect.sortable);
    if let Some(validator) = table.text("validator") {
        table.faults.add("validator", format!("no validator `{validator}` is registered"));
    }
    if let Some(rules) = table.table("writer") {
        let mut known = dialect.writer.take().unwrap_or_else(|| writer::defaults(&dialect.levels));
        writer::writer(&rules, &mut known, &dialect.levels);
        dialect.writer = Some(known);
    }
    dialect
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// What a description without a base starts from.
fn empty() -> Dialect {
    Dialect {
        name: "".into(),
        framing: Framing::default(),
        charset: CharsetRule::Option("utf-8".into()),
        columns: Columns {
            prefix: "e".into(),
            max: 32,
            max_option: "max_elements".into(),
            tag_column: "seg_id".into(),
            tag_pattern: Regex::new("[A-Za-z][A-Za-z0-9]{1,2}").expect("a pattern of this file"),
        },
        levels: Vec::new(),
        counts: Vec::new(),
        references: Vec::new(),
        allow_outside: Vec::new(),
        forbid: Vec::new(),
        binary: Vec::new(),
        split_option: None,
        sortable: false,
        writer: None,
        segment_bytes: SEGMENT_BYTES,
        trailing: Trailing::Strict,
    }
}

/// The lists: each replaces that of the base.
fn read_rules(table: &Table<'_>, dialect: &mut Dialect) {
    if let Some(tables) = table.tables("levels") {
        let last = tables.len().saturating_sub(1);
        let levels: Vec<LevelRule> =
            tables.iter().enumerate().map(|(at, table)| rules::level(table, at == last)).collect();
        move_to(table, dialect, levels);
    }
    let levels = &dialect.levels;
    if let Some(counts) = table.tables("counts") {
        dialect.counts = counts.iter().map(|table| rules::count(table, levels)).collect();
    }
    if let Some(references) = table.tables("references") {
        dialect.references = references.iter().map(rules::reference).collect();
    }
    if let Some(outside) = table.tables("allow_outside") {
        dialect.allow_outside = outside.iter().filter_map(|table| rules::outside(table, levels)).collect();
    }
    if let Some(tags) = table.list("forbid") {
        dialect.forbid = tags.iter().filter_map(|(path, value)| rules::forbidden(path, value, table)).collect();
    }
    if let Some(binary) = table.tables("binary") {
        dialect.binary = binary.iter().map(rules::binary).collect();
    }
}

/// Gives a dialect other levels. Rules that stay keep the levels that they name.
fn move_to(table: &Table<'_>, dialect: &mut Dialect, levels: Vec<LevelRule>) {
    let old = std::mem::replace(&mut dialect.levels, levels);
    let levels = &dialect.levels;
    let name = |level: u16| old.get(usize::from(level)).map_or_else(|| Arc::from(""), |level| Arc::clone(&level.name));
    let moved = |key: &str, level: u16| {
        let name = name(level);
        let found = rules::level_named(levels, &name);
        if found.is_none() {
            table.faults.add(key, format!("the list of the base names the level `{name}`, which is gone"));
        }
        found.unwrap_or(0)
    };
    if !table.has("counts") {
        for rule in &mut dialect.counts {
            rule.within = rule.within.map(|level| moved("counts", level));
            if let Counted::Levels(kinds) = &mut rule.of {
                kinds.iter_mut().for_each(|level| *level = moved("counts", *level));
            }
        }
    }
    if !table.has("allow_outside") {
        dialect.allow_outside.iter_mut().for_each(|(_, level)| *level = moved("allow_outside", *level));
    }
    if let Some(rules) = &mut dialect.writer {
        // Headers of levels that are gone go with them.
        rules.headers.retain(|header| rules::level_named(levels, &name(header.level)).is_some());
        rules.headers.iter_mut().for_each(|header| header.level = moved("writer", header.level));
        let width = rules.anonymous.last().map(|rule| (rule.start, rule.width));
        rules.anonymous = writer::anonymous(levels);
        if let (Some(rule), Some((start, width))) = (rules.anonymous.last_mut(), width) {
            (rule.start, rule.width) = (start, width);
        }
    }
}
