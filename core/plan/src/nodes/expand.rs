//! `split_to_rows` of a Source, and `max_output_rows_per_input`.

use std::sync::Arc;

use clinker_format::{ExpandMode, ExpandRule, ReadCapabilities};

use crate::decode::{self, Fields, Key, Shape, optional, required};
use crate::faults::{Fault, Faults};
use crate::nodes::columns::ColumnDraft;
use crate::nodes::split::SplitDraft;
use crate::yaml::Node;

/// How records of a Source become rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expansion {
    pub rules: Vec<ExpandRule>,
    pub max_rows: Option<u64>,
}

/// What an item of `split_to_rows` is.
pub(super) const ITEM: Shape = Shape::Any(&[Shape::Text, Shape::Map(EXPAND)]);

const EXPAND: &[Key] = &[
    required("field", Shape::Text, "the input field"),
    optional("keep_empty", Shape::Bool, "whether a record without an occurrence is one row"),
    optional("mode", Shape::Word(&["extract", "split"]), "where the fields of an occurrence go"),
    optional("position_column", Shape::Text, "receives the 1-based position"),
];

/// Reads both keys; `None` when something is wrong with them, which is then reported.
pub(crate) fn read(
    fields: &Fields<'_>,
    format: &str,
    reads: &ReadCapabilities,
    columns: &[ColumnDraft],
    splits: &[SplitDraft],
    faults: &mut Faults,
) -> Option<Expansion> {
    let items = fields.items("split_to_rows").unwrap_or_default();
    let limit = limit(fields, items.is_empty(), faults);
    let mut rules: Vec<ExpandRule> = Vec::new();
    let mut fine = true;
    for item in items {
        if !reads.split_to_rows {
            faults.error("E358", item.span, format!("format `{format}` does not read `split_to_rows`"));
            return None;
        }
        let Some(rule) = rule(item, faults) else {
            fine = false;
            continue;
        };
        match conflict(&rule, &rules, columns, splits) {
            Some(problem) => {
                let message = format!("the `split_to_rows` entry for `{}` {problem}", rule.field);
                faults.error("E358", item.span, message);
                fine = false;
            }
            None => rules.push(rule),
        }
    }
    let max_rows = limit?;
    fine.then_some(Expansion { rules, max_rows })
}

/// Reads the ceiling; the outer `None` says that it is wrong.
fn limit(fields: &Fields<'_>, unused: bool, faults: &mut Faults) -> Option<Option<u64>> {
    const KEY: &str = "max_output_rows_per_input";
    let Some(entry) = fields.entry(KEY) else { return Some(None) };
    if unused {
        let message = format!("`{KEY}` bounds the rows of `split_to_rows`, which is not given");
        faults.push(Fault::new("E358", entry.key_span, message).help(format!("remove `{KEY}`")));
        return None;
    }
    match fields.integer(KEY).and_then(|most| u64::try_from(most).ok()).filter(|most| *most > 0) {
        Some(most) => Some(Some(most)),
        None => {
            let shown = faults.place().shown(&entry.value);
            let fault = Fault::new("E403", entry.value.span, format!("`{KEY}` must be at least 1; it is `{shown}`"));
            faults.push(fault.help("leave it out for no ceiling"));
            None
        }
    }
}

fn rule(item: &Node, faults: &mut Faults) -> Option<ExpandRule> {
    let shorthand = |field: &Arc<str>| ExpandRule {
        field: Arc::clone(field),
        keep_empty: true,
        mode: ExpandMode::Extract,
        position_column: None,
    };
    if let Some(field) = item.text() {
        return Some(shorthand(field));
    }
    let fields = decode::fields(item, "a `split_to_rows` entry", EXPAND, faults)?;
    // A key that does not fit was reported; what it would have said must not be guessed.
    let given = |key: &str| item.get(key).is_none() || fields.entry(key).is_some();
    let mut rule = shorthand(fields.text("field")?);
    rule.keep_empty = fields.bool("keep_empty").unwrap_or(true);
    if fields.text("mode").is_some_and(|mode| &**mode == "split") {
        rule.mode = ExpandMode::Split;
    }
    rule.position_column = fields.text("position_column").cloned();
    ["keep_empty", "mode", "position_column"].into_iter().all(given).then_some(rule)
}

/// Why a rule cannot stand beside the others.
fn conflict(
    rule: &ExpandRule,
    others: &[ExpandRule],
    columns: &[ColumnDraft],
    splits: &[SplitDraft],
) -> Option<String> {
    if rule.field.split('.').any(str::is_empty) {
        return Some("has a field path with an empty segment".into());
    }
    if rule.position_column.as_ref().is_some_and(|name| name.is_empty()) {
        return Some("has an empty `position_column`".into());
    }
    if let Some(column) = columns.iter().find(|column| column.multiple && column.input_name == rule.field) {
        return Some(format!("names the field of column `{}`, which is `multiple`", column.name));
    }
    if splits.iter().any(|split| split.field == rule.field) {
        return Some("names a field of `split_values`".into());
    }
    for other in others {
        let nests = |outer: &ExpandRule, inner: &ExpandRule| {
            outer.mode == ExpandMode::Extract
                && inner.field.strip_prefix(&*outer.field).is_some_and(|rest| rest.starts_with('.'))
        };
        if other.field == rule.field {
            return Some("names the field a second time".into());
        }
        let extracted = match (nests(other, rule), nests(rule, other)) {
            (true, _) => Some((&other.field, &rule.field)),
            (_, true) => Some((&rule.field, &other.field)),
            _ => None,
        };
        if let Some((outer, inner)) = extracted {
            return Some(format!(
                "nests with the one for `{}`: `mode: extract` takes the fields of `{outer}` to the top level, where \
                 `{inner}` is `{}`",
                other.field,
                &inner[outer.len() + 1..]
            ));
        }
        if rule.position_column.is_some() && rule.position_column == other.position_column {
            return Some(format!("has the `position_column` of the one for `{}`", other.field));
        }
    }
    None
}
