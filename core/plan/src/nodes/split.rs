//! `split_values` of a Source and `join_values` of a Sink.

use std::sync::Arc;

use clinker_diagnostics::{Span, suggestion};
use clinker_format::{JoinConflict, JoinRule, ReadCapabilities};

use crate::decode::{self, ANY, Key, Shape, optional, required};
use crate::faults::{Fault, Faults};
use crate::nodes::columns::ColumnDraft;
use crate::yaml::{Node, NodeKind};

/// One `split_values` entry.
#[derive(Clone, Debug)]
pub(crate) struct SplitDraft {
    pub field: Arc<str>,
    pub delimiter: String,
    pub escape: String,
    pub json: bool,
    pub span: Span,
}

/// What an item of `split_values` is.
pub(super) const SPLIT_ITEM: Shape = Shape::Any(&[Shape::Text, Shape::Map(SPLIT)]);
/// What `join_values` takes.
pub(super) const JOINS: Shape = Shape::Any(&[Shape::List(&Shape::Any(&[Shape::Text, Shape::Map(JOIN)]))]);

const SPLIT: &[Key] = &[
    required("field", Shape::Text, "the input field"),
    optional("delimiter", Shape::Text, "put between the values"),
    optional("escape", Shape::Text, "makes the next character literal"),
    optional("json", Shape::Bool, "whether the cell is a JSON array"),
];

/// Reads `split_values`; only well-formed entries are returned.
pub(crate) fn split_values(
    items: &[Node],
    format: &str,
    reads: &ReadCapabilities,
    faults: &mut Faults,
) -> Vec<SplitDraft> {
    let mut splits: Vec<SplitDraft> = Vec::new();
    for item in items {
        if !reads.split_values {
            faults.error("E358", item.span, format!("format `{format}` does not read `split_values`"));
            return Vec::new();
        }
        let Some(split) = split(item, faults) else { continue };
        let problem = if split.field.split('.').any(str::is_empty) {
            Some("has a field path with an empty segment".to_string())
        } else if splits.iter().any(|other| other.field == split.field) {
            Some("names the field a second time".to_string())
        } else if (split.json || !split.escape.is_empty()) && !reads.split_escapes {
            Some(format!("has `escape` or `json`, which format `{format}` does not read"))
        } else {
            unusable(&split).map(str::to_string)
        };
        match problem {
            Some(problem) => {
                faults.error("E358", item.span, format!("the `split_values` entry for `{}` {problem}", split.field));
            }
            None => splits.push(split),
        }
    }
    splits
}

fn split(item: &Node, faults: &mut Faults) -> Option<SplitDraft> {
    let shorthand = |field: &Arc<str>| SplitDraft {
        field: Arc::clone(field),
        delimiter: ";".to_string(),
        escape: String::new(),
        json: false,
        span: item.span,
    };
    if let Some(field) = item.text() {
        return Some(shorthand(field));
    }
    let fields = decode::fields(item, "a `split_values` entry", SPLIT, faults)?;
    let mut split = shorthand(fields.text("field")?);
    if let Some(delimiter) = fields.text("delimiter") {
        split.delimiter = delimiter.to_string();
    }
    if let Some(escape) = fields.text("escape") {
        split.escape = escape.to_string();
    }
    split.json = fields.bool("json").unwrap_or(false);
    Some(split)
}

fn unusable(split: &SplitDraft) -> Option<&'static str> {
    let single = |text: &str| text.chars().count() == 1;
    match (split.json, split.escape.as_str()) {
        (true, "") => None,
        (true, _) => Some("has both `escape` and `json`"),
        (false, _) if split.delimiter.is_empty() => Some("has an empty `delimiter`"),
        (false, "") => None,
        (false, escape) if !single(escape) || !single(&split.delimiter) => {
            Some("needs a `delimiter` and an `escape` of one character each")
        }
        (false, escape) if escape == split.delimiter => Some("has the same character as `delimiter` and `escape`"),
        _ => None,
    }
}

/// Checks that entries and `multiple` columns belong together; returns whether they do.
pub(crate) fn match_columns(
    node: &str,
    format: &str,
    splits: &[SplitDraft],
    columns: &[ColumnDraft],
    reads: &ReadCapabilities,
    faults: &mut Faults,
) -> bool {
    let mut fine = true;
    for split in splits {
        let problem = match columns.iter().find(|column| column.input_name == split.field) {
            Some(column) if column.multiple => continue,
            Some(column) => format!("column `{}` holds one value; declare `multiple: true`", column.name),
            None => match columns.iter().find(|column| column.name == split.field) {
                Some(column) => format!("it names the exposed column; the input field is `{}`", column.input_name),
                None => "no column reads that field".to_string(),
            },
        };
        fine = false;
        let help = suggestion(&split.field, columns.iter().map(|column| &*column.input_name));
        let message = format!("`{node}`: the `split_values` entry for `{}`: {problem}", split.field);
        faults.push(Fault::new("E358", split.span, message).maybe_help(help));
    }
    for column in columns.iter().filter(|column| column.multiple) {
        if reads.native_arrays || reads.split_values && splits.iter().any(|split| split.field == column.input_name) {
            continue;
        }
        fine = false;
        let message =
            format!("`{node}`: column `{}` is `multiple`, which format `{format}` does not supply", column.name);
        let help = match reads.split_values {
            true => format!("add `split_values: [ {} ]`", column.input_name),
            false => "leave `multiple` out".to_string(),
        };
        faults.push(Fault::new("E361", column.span, message).help(help));
    }
    fine
}

const JOIN: &[Key] = &[
    required("field", Shape::Text, "the output column"),
    optional("delimiter", Shape::Text, "put between the values"),
    optional("on_conflict", Shape::Word(&["error", "escape", "encode_json"]), "what a value with the delimiter does"),
    optional("escape", Shape::Text, "put before delimiters under `escape`"),
    optional("repeat_as", ANY, "not read by flat formats"),
    optional("wrap_in", ANY, "not read by flat formats"),
];

/// Reads `join_values` of a format that joins values in a cell.
pub(crate) fn join_values(node: &Node, format: &str, joins: bool, faults: &mut Faults) -> Option<Vec<JoinRule>> {
    let NodeKind::List(items) = &node.kind else {
        faults.error("E000", node.span, format!("`join_values` must be a list; it is {}", node.word()));
        return None;
    };
    if !joins && !items.is_empty() {
        faults.error("E362", node.span, format!("format `{format}` does not read `join_values`"));
        return None;
    }
    let mut rules: Vec<JoinRule> = Vec::new();
    let mut complete = true;
    for item in items {
        let Some(rule) = join(item, format, faults) else {
            complete = false;
            continue;
        };
        let problem = if rules.iter().any(|other| other.field == rule.field) {
            Some("names the column a second time")
        } else {
            ambiguous(&rule)
        };
        match problem {
            Some(problem) => {
                faults.error("E362", item.span, format!("the `join_values` entry for `{}` {problem}", rule.field));
                complete = false;
            }
            None => rules.push(rule),
        }
    }
    complete.then_some(rules)
}

fn join(item: &Node, format: &str, faults: &mut Faults) -> Option<JoinRule> {
    let mut rule = JoinRule {
        field: Arc::from(""),
        delimiter: ";".to_string(),
        on_conflict: JoinConflict::Error,
        escape: "\\".to_string(),
    };
    if let Some(field) = item.text() {
        rule.field = Arc::clone(field);
        return Some(rule);
    }
    let fields = decode::fields(item, "a `join_values` entry", JOIN, faults)?;
    for key in ["repeat_as", "wrap_in"] {
        if let Some(entry) = fields.entry(key) {
            faults.error("E362", entry.key_span, format!("format `{format}` does not read `{key}` of `join_values`"));
            return None;
        }
    }
    rule.field = Arc::clone(fields.text("field")?);
    if let Some(delimiter) = fields.text("delimiter") {
        rule.delimiter = delimiter.to_string();
    }
    if let Some(escape) = fields.text("escape") {
        rule.escape = escape.to_string();
    }
    rule.on_conflict = match fields.text("on_conflict").map(|word| &**word) {
        Some("escape") => JoinConflict::Escape,
        Some("encode_json") => JoinConflict::EncodeJson,
        _ => JoinConflict::Error,
    };
    Some(rule)
}

fn ambiguous(rule: &JoinRule) -> Option<&'static str> {
    let letters = |text: &str| text.chars().count();
    match rule.on_conflict {
        _ if rule.delimiter.is_empty() => Some("has an empty `delimiter`"),
        JoinConflict::EncodeJson => None,
        _ if letters(&rule.delimiter) > 1 => Some("has a `delimiter` longer than one character"),
        JoinConflict::Error => None,
        JoinConflict::Escape if letters(&rule.escape) != 1 => Some("needs an `escape` of one character"),
        JoinConflict::Escape if rule.escape == rule.delimiter => {
            Some("has the same character as `delimiter` and `escape`")
        }
        JoinConflict::Escape => None,
    }
}
