//! What rules must not say of each other.

use std::collections::HashSet;
use std::sync::Arc;

use super::table::Faults;
use crate::delimiters::name;
use crate::dialect::{Dialect, EscapeStyle, Role, Source, SourcePlace};

pub(super) fn check(dialect: &Dialect, faults: &Faults) {
    check_framing(dialect, faults);
    check_levels(dialect, faults);
    check_tags(dialect, faults);
    check_elements(dialect, faults);
    check_names(dialect, faults);
}

fn check_framing(dialect: &Dialect, faults: &Faults) {
    let framing = &dialect.framing;
    let has = |role: Role| framing.delimiters.iter().any(|(known, _)| *known == role);
    if framing.start.is_empty() {
        faults.add("framing.start", "a tag that may begin a file is missing");
    }
    for role in [Role::Element, Role::Terminator] {
        if !has(role) {
            faults.add("framing.delimiters", format!("the {} has no source", name(role)));
        }
    }
    if framing.tag_width.is_some() && has(Role::Tag) {
        faults.add("framing.tag_width", "tags of fixed width have no separator behind them");
    }
    if framing.escape != EscapeStyle::None && !has(Role::Release) {
        faults.add("framing.escape", "the role `release` has no source");
    }
    if let Some(bytes) = framing.header_bytes
        && bytes > dialect.segment_bytes
    {
        faults.add("framing.header_bytes", "the header is longer than the largest segment");
    }
    for (role, sources) in &framing.delimiters {
        for source in sources {
            check_source(dialect, *role, source, faults);
        }
    }
    let literals = |sources: &[Source]| -> Vec<SourcePlace> {
        sources.iter().filter(|source| source.when.is_empty()).map(|source| source.from.clone()).collect()
    };
    for (at, (role, sources)) in framing.delimiters.iter().enumerate() {
        for (other, others) in &framing.delimiters[..at] {
            let equal = literals(sources)
                .into_iter()
                .any(|place| place != SourcePlace::None && literals(others).contains(&place));
            if equal {
                let reason = format!("the {} and the {} would be the same", name(*other), name(*role));
                faults.add("framing.delimiters", reason);
            }
        }
    }
}

fn check_source(dialect: &Dialect, role: Role, source: &Source, faults: &Faults) {
    let framing = &dialect.framing;
    match source.from {
        SourcePlace::Byte(at) if framing.header_bytes.is_some_and(|bytes| at >= bytes) => {
            faults.add("framing.delimiters", format!("the {} stands behind the header", name(role)));
        }
        SourcePlace::ServiceByte(at) if framing.service.as_ref().is_none_or(|(_, bytes)| at >= *bytes) => {
            faults.add("framing.delimiters", format!("the {} stands behind the service segment", name(role)));
        }
        _ => {}
    }
    for condition in &source.when {
        if !framing.start.contains(&condition.header) {
            let reason =
                format!("a condition of the {} looks into `{}`, which begins no file", name(role), condition.header);
            faults.add("framing.delimiters", reason);
        }
    }
}

fn check_levels(dialect: &Dialect, faults: &Faults) {
    let levels = &dialect.levels;
    if levels.is_empty() {
        faults.add("levels", "there is no level");
        return;
    }
    let (mut names, mut tags) = (HashSet::new(), HashSet::new());
    for (at, level) in levels.iter().enumerate() {
        let path = |key: &str| format!("levels[{at}].{key}");
        if !names.insert(&level.name) {
            faults.add(&path("name"), format!("the level `{}` is there twice", level.name));
        }
        let own = [("open", Some(&level.open)), ("close", level.close.as_ref())];
        for (key, tag) in own {
            if let Some(tag) = tag
                && !tags.insert(tag)
            {
                faults.add(&path(key), format!("the tag `{tag}` is used twice"));
            }
        }
        if level.file && at > 0 {
            faults.add(&path("file"), "only the first level can be that of the file");
        }
    }
    if !levels.iter().any(|level| level.emit_open) {
        faults.add("levels", "no level has an opener that is a record");
    }
}

fn check_tags(dialect: &Dialect, faults: &Faults) {
    let closes = |tag: &Arc<str>| dialect.levels.iter().any(|level| level.close.as_ref() == Some(tag));
    let opens = |tag: &Arc<str>| dialect.levels.iter().any(|level| level.open == *tag);
    for (at, rule) in dialect.counts.iter().enumerate() {
        if !closes(&rule.at) {
            faults.add(&format!("counts[{at}].at"), format!("`{}` closes no level", rule.at));
        }
    }
    for (at, rule) in dialect.references.iter().enumerate() {
        if !closes(&rule.at) {
            faults.add(&format!("references[{at}].at"), format!("`{}` closes no level", rule.at));
        }
        if !opens(&rule.of) {
            faults.add(&format!("references[{at}].of"), format!("`{}` opens no level", rule.of));
        }
        for condition in rule.candidates.iter().flat_map(|(_, conditions)| conditions) {
            if condition.header != rule.of {
                let reason = format!("a condition looks into `{}` and not into `{}`", condition.header, rule.of);
                faults.add(&format!("references[{at}].candidates"), reason);
            }
        }
    }
    let special = |tag: &Arc<str>| closes(tag) || opens(tag);
    for (at, (tag, _)) in dialect.allow_outside.iter().enumerate() {
        if special(tag) {
            faults.add(&format!("allow_outside[{at}].tag"), format!("`{tag}` opens or closes a level"));
        }
    }
    for (at, (tag, _)) in dialect.forbid.iter().enumerate() {
        if special(tag) {
            faults.add(&format!("forbid[{at}]"), format!("`{tag}` opens or closes a level"));
        }
    }
    for (at, rule) in dialect.binary.iter().enumerate() {
        if special(&rule.tag) {
            faults.add(&format!("binary[{at}].tag"), format!("`{}` opens or closes a level", rule.tag));
        }
    }
}

fn check_elements(dialect: &Dialect, faults: &Faults) {
    let max = dialect.columns.max;
    let check = |path: String, element: u32| {
        if element > max {
            faults.add(&path, format!("element {element} is above `columns.max`, which is {max}"));
        }
    };
    for (at, level) in dialect.levels.iter().enumerate() {
        for (index, column) in level.columns.iter().enumerate() {
            check(format!("levels[{at}].columns[{index}].element"), column.element);
        }
    }
    for (at, rule) in dialect.counts.iter().enumerate() {
        check(format!("counts[{at}].element"), rule.element);
    }
    for (at, rule) in dialect.references.iter().enumerate() {
        check(format!("references[{at}].element"), rule.element);
        for element in rule.candidates.iter().flat_map(|(elements, _)| elements) {
            check(format!("references[{at}].candidates"), *element);
        }
    }
    for (at, rule) in dialect.binary.iter().enumerate() {
        check(format!("binary[{at}].data_element"), rule.data_element);
    }
}

/// Names of columns, and of options, must be different.
fn check_names(dialect: &Dialect, faults: &Faults) {
    let mut columns = HashSet::from([&dialect.columns.tag_column]);
    for (at, level) in dialect.levels.iter().enumerate() {
        for (index, column) in level.columns.iter().enumerate() {
            if !columns.insert(&column.name) {
                let path = format!("levels[{at}].columns[{index}].name");
                faults.add(&path, format!("the column `{}` is there twice", column.name));
            }
        }
    }
    let fixed = ["element_text", "envelopes", "encoding"].map(Arc::from);
    let sections = dialect.levels.iter().filter_map(|level| level.section_option.clone());
    let switches = dialect.levels.iter().flat_map(|level| &level.columns).filter_map(|column| column.option.clone());
    let own = [dialect.columns.max_option.clone()].into_iter().chain(dialect.split_option.clone());
    let mut options: HashSet<Arc<str>> = HashSet::from(fixed);
    for option in own.chain(sections).chain(switches) {
        if !options.insert(Arc::clone(&option)) {
            faults.add("levels", format!("the option `{option}` is there twice"));
        }
    }
}
