//! `writer`.

use std::sync::Arc;

use serde_json::Value;

use super::framing::{ROLES, separator};
use super::rules::level_named;
use super::table::Table;
use crate::dialect::{Anonymous, HeaderRule, LevelRule, OpenFrom, Role, Service, WriterRules};

/// Rules of a dialect that says nothing of its own.
pub(super) fn defaults(levels: &[LevelRule]) -> WriterRules {
    let silent = levels.iter().enumerate().filter(|(_, level)| !level.emit_open);
    let headers = silent.filter_map(|(at, level)| {
        let literal = format!("{}_header", level.name);
        let echo = format!("{literal}_from_doc");
        Some(HeaderRule {
            literal: Some(literal.into()),
            echo: Some(echo.into()),
            ..header_of(u16::try_from(at).ok()?)
        })
    });
    WriterRules {
        headers: headers.collect(),
        open: Vec::new(),
        anonymous: anonymous(levels),
        defaults: Vec::new(),
        escape: vec![Role::Element, Role::Terminator, Role::Release],
        adopt_delimiters: true,
        service: Service::Never,
        newline: true,
        type_option: None,
    }
}

fn header_of(level: u16) -> HeaderRule {
    HeaderRule {
        level,
        literal: None,
        echo: None,
        required: false,
        widths: Vec::new(),
        zero_padded: Vec::new(),
        set: Vec::new(),
        count: None,
    }
}

/// Levels with a key column are numbered from 1 in the level around them.
pub(super) fn anonymous(levels: &[LevelRule]) -> Vec<Anonymous> {
    let keyed = levels.iter().enumerate().filter(|(_, level)| !level.columns.is_empty() && !level.file);
    let rule = |(at, _): (usize, &LevelRule)| {
        let level = u16::try_from(at).ok()?;
        Some(Anonymous { level, start: 1, width: 1, per: level.saturating_sub(1) })
    };
    keyed.filter_map(rule).collect()
}

pub(super) fn writer(table: &Table<'_>, rules: &mut WriterRules, levels: &[LevelRule]) {
    if let Some(headers) = table.table("headers") {
        for (name, value) in headers.entries() {
            let Some(level) = level_named(levels, name) else {
                headers.faults.add(&headers.at(name), format!("there is no level `{name}`"));
                continue;
            };
            // What is described replaces the names that the level has by default.
            let known = rules.headers.iter().position(|header| header.level == level);
            let mut rule = known.map_or_else(|| header_of(level), |at| rules.headers.remove(at));
            let entry = Table::of(value, headers.at(name), headers.faults);
            header(&entry, &mut rule);
            rules.headers.push(rule);
        }
        rules.headers.sort_by_key(|header| header.level);
    }
    if let Some(open) = table.table("open") {
        let words = [("key", OpenFrom::Key), ("type", OpenFrom::Type), ("record", OpenFrom::Record)];
        rules.open = elements(&open, &words);
    }
    if let Some(numbers) = table.table("anonymous") {
        number(&numbers, rules, levels);
    }
    if let Some(defaults) = table.table("defaults") {
        for (name, value) in defaults.entries() {
            let path = defaults.at(name);
            let role = ROLES.iter().find(|(word, _)| *word == name).map(|(_, role)| *role);
            let byte = separator(value.as_str().unwrap_or_default(), &path, defaults.faults);
            match (role, byte) {
                (Some(role), Some(byte)) => {
                    rules.defaults.retain(|(known, _)| *known != role);
                    rules.defaults.push((role, byte));
                }
                (None, _) => defaults.faults.add(&path, "the role is unknown"),
                (_, None) => {}
            }
        }
    }
    if let Some(words) = table.list("escape") {
        rules.escape = words.into_iter().filter_map(|(path, value)| role(&path, value, table)).collect();
    }
    if let Some(adopt) = table.flag("adopt_delimiters") {
        rules.adopt_delimiters = adopt;
    }
    let services = [("never", Service::Never), ("option", Service::Option), ("when_needed", Service::WhenNeeded)];
    if let Some(service) = table.word("service", &services) {
        rules.service = service;
    }
    if let Some(newline) = table.flag("newline") {
        rules.newline = newline;
    }
    if let Some(option) = table.text("type_option") {
        rules.type_option = Some(option);
    }
    table.finish();
}

fn role(path: &str, value: &Value, table: &Table<'_>) -> Option<Role> {
    let found = ROLES.iter().find(|(word, _)| value.as_str() == Some(word));
    if found.is_none() {
        table.faults.add(path, "a role was expected");
    }
    found.map(|(_, role)| *role)
}

fn header(table: &Table<'_>, rule: &mut HeaderRule) {
    let replaced = |key, known: &Option<Arc<str>>| table.text(key).or_else(|| known.clone());
    rule.literal = replaced("literal", &rule.literal);
    rule.echo = replaced("echo", &rule.echo);
    if let Some(required) = table.flag("required") {
        rule.required = required;
    }
    if let Some(widths) = table.numbers("widths", 65_536) {
        rule.widths = widths.into_iter().filter_map(|width| usize::try_from(width).ok()).collect();
        rule.count = Some(rule.widths.len());
    }
    if let Some(elements) = table.numbers("zero_padded", 999) {
        rule.zero_padded = elements.into_iter().filter_map(|element| u32::try_from(element).ok()).collect();
    }
    if let Some(set) = table.table("set") {
        rule.set = elements(&set, &[("key", OpenFrom::Key), ("count", OpenFrom::Count)]);
    }
    if let Some(count) = table.number("elements", 1, 999) {
        rule.count = usize::try_from(count).ok();
    }
    table.finish();
}

/// A map from element numbers to words.
fn elements(table: &Table<'_>, words: &[(&str, OpenFrom)]) -> Vec<(u32, OpenFrom)> {
    let mut found = Vec::new();
    for (key, value) in table.entries() {
        let number = key.parse::<u32>().ok().filter(|number| (1..=999).contains(number));
        let word = words.iter().find(|(word, _)| value.as_str() == Some(word));
        match (number, word) {
            (Some(number), Some((_, from))) => found.push((number, *from)),
            (None, _) => table.faults.add(&table.at(key), "the number of an element was expected"),
            (_, None) => {
                let listed: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
                table.faults.add(&table.at(key), format!("{} was expected", listed.join(" or ")));
            }
        }
    }
    found
}

/// Numbers the missing keys of the innermost level that has some.
fn number(table: &Table<'_>, rules: &mut WriterRules, levels: &[LevelRule]) {
    let start = table.number("start", 0, u64::MAX);
    let width = table.number("width", 1, 64);
    let per = table.text("per");
    let per = per.and_then(|name| {
        let level = level_named(levels, &name);
        if level.is_none() {
            table.faults.add(&table.at("per"), format!("there is no level `{name}`"));
        }
        level
    });
    table.finish();
    let Some(rule) = rules.anonymous.last_mut() else { return };
    rule.start = start.unwrap_or(rule.start);
    rule.width = width.and_then(|width| usize::try_from(width).ok()).unwrap_or(rule.width);
    rule.per = per.unwrap_or(rule.per);
}
