//! `split` of a Sink: its output as several files.

use std::sync::Arc;

use clinker_cxl::ScopeColumn;
use clinker_diagnostics::{Span, suggestion};
use clinker_format::WriteCapabilities;

use crate::decode::{self, Fields, Key, Shape, optional};
use crate::faults::{Fault, Faults};
use crate::model::{OversizeGroup, SplitPlan};

/// What the files are called when the document does not say.
const NAMING: &str = "{stem}_{seq:04}.{ext}";
/// Widest number in a file name.
const WIDEST: usize = 20;

pub(super) const SPLIT: &[Key] = &[
    optional("max_records", Shape::Integer(1), "a file takes no more records once it has this many"),
    optional("max_bytes", Shape::Integer(1), "a file takes no more records once it has this many bytes"),
    optional("group_key", Shape::Text, "the column at whose change of value a file may end"),
    optional("naming", Shape::Text, "the names of the files, made of `{stem}`, `{ext}` and one `{seq:W}`"),
    optional("repeat_header", Shape::Bool, "whether each file has the names of the columns"),
    optional("oversize_group", Shape::Word(&["warn", "error", "allow"]), "what a group above the threshold means"),
];

/// A `split` as authored.
pub(crate) struct SplitOutput {
    max_records: Option<u64>,
    max_bytes: Option<u64>,
    group_key: Option<(Arc<str>, Span)>,
    naming: Arc<str>,
    repeat_header: bool,
    oversize_group: OversizeGroup,
}

/// Reads the key. The outer `None` says that it is there and wrong.
pub(crate) fn read(
    name: &str,
    sink: &Fields<'_>,
    format: Option<(&str, &WriteCapabilities)>,
    faults: &mut Faults,
) -> Option<Option<SplitOutput>> {
    let Some(node) = sink.node("split") else { return Some(None) };
    let fields = decode::fields(node, "`split`", SPLIT, faults)?;
    let mut fine = true;
    if let Some((format, writes)) = format {
        fine &= possible(name, sink, &fields, format, writes, faults);
    }
    let threshold = |key: &str| fields.integer(key).and_then(|value| u64::try_from(value).ok());
    let (max_records, max_bytes) = (threshold("max_records"), threshold("max_bytes"));
    let given = ["max_records", "max_bytes"].iter().any(|key| node.get(key).is_some());
    if !given {
        let fault = Fault::new("E000", node.span, format!("sink `{name}`: `split` has no threshold"));
        faults.push(fault.help("add `max_records` or `max_bytes`"));
        fine = false;
    }
    let naming = fields.text("naming").map_or_else(|| Arc::from(NAMING), Arc::clone);
    if let Err(wrong) = check_naming(&naming) {
        let span = fields.node("naming").map_or(node.span, |node| node.span);
        let fault = Fault::new("E367", span, format!("sink `{name}`: `naming` {wrong}"));
        faults.push(fault.help(format!("write for example `{NAMING}`")));
        fine = false;
    }
    // A key of the wrong shape was reported, and is not among the fields.
    fine &= SPLIT.iter().all(|key| fields.node(key.name).is_some() == node.get(key.name).is_some());
    fine.then(|| {
        Some(SplitOutput {
            max_records,
            max_bytes,
            group_key: fields
                .text("group_key")
                .zip(fields.node("group_key"))
                .map(|(key, at)| (Arc::clone(key), at.span)),
            naming,
            repeat_header: fields.bool("repeat_header").unwrap_or(true),
            oversize_group: match fields.text("oversize_group").map(|word| &**word) {
                Some("error") => OversizeGroup::Error,
                Some("allow") => OversizeGroup::Allow,
                _ => OversizeGroup::Warn,
            },
        })
    })
}

/// Whether the format can be divided, and has what is to be repeated.
fn possible(
    name: &str,
    sink: &Fields<'_>,
    fields: &Fields<'_>,
    format: &str,
    writes: &WriteCapabilities,
    faults: &mut Faults,
) -> bool {
    if let Some(code) = writes.no_split {
        let span = sink.entry("split").map_or(fields.span, |entry| entry.key_span);
        let message = format!("sink `{name}`: an output of format `{format}` cannot be split");
        faults.push(Fault::new(code, span, message).help("leave `split` out"));
        return false;
    }
    match fields.entry("repeat_header").filter(|_| !writes.header) {
        Some(entry) => {
            faults.error("E000", entry.key_span, format!("format `{format}` does not read `repeat_header`"));
            false
        }
        None => true,
    }
}

/// What is wrong with the names of the files.
fn check_naming(naming: &str) -> Result<(), String> {
    if naming.contains(['/', '\\']) || naming.chars().any(char::is_control) {
        return Err("names a file, not a path: it has a separator or a control character".to_string());
    }
    let mut numbers = 0;
    let mut rest = naming;
    while let Some(at) = rest.find(['{', '}']) {
        let inside = rest[at..].strip_prefix('{').and_then(|inside| inside.split_once('}'));
        let Some((placeholder, after)) = inside else { return Err("has a brace that belongs to nothing".to_string()) };
        match placeholder.strip_prefix("seq:") {
            Some(width) => {
                let digits = !width.is_empty() && width.len() <= 3 && width.bytes().all(|byte| byte.is_ascii_digit());
                let width = width.parse::<usize>().ok().filter(|_| digits);
                if !width.is_some_and(|width| (1..=WIDEST).contains(&width)) {
                    return Err(format!("has `{{{placeholder}}}`; the width must be 1 to {WIDEST}"));
                }
                numbers += 1;
            }
            None if matches!(placeholder, "stem" | "ext") => {}
            None => return Err(format!("has the unknown placeholder `{{{placeholder}}}`")),
        }
        rest = after;
    }
    match numbers {
        1 => Ok(()),
        0 => Err("has no `{seq:W}`".to_string()),
        _ => Err("has `{seq:W}` more than once".to_string()),
    }
}

impl SplitOutput {
    /// Binds it to the columns of the Sink's input.
    pub fn bind(&self, name: &str, columns: &[ScopeColumn], faults: &mut Faults) -> Option<SplitPlan> {
        let group_key = match &self.group_key {
            None => None,
            Some((key, span)) => {
                let found = columns.iter().position(|(column, _, _)| column == key);
                if found.is_none() {
                    let names = || columns.iter().map(|(column, _, _)| &**column);
                    let help = suggestion(key, names())
                        .unwrap_or_else(|| format!("the columns are {}", names().collect::<Vec<_>>().join(", ")));
                    let message = format!("sink `{name}`: `group_key` names `{key}`, which is no incoming column");
                    faults.push(Fault::new("E000", *span, message).help(help));
                }
                Some(found?)
            }
        };
        Some(SplitPlan {
            max_records: self.max_records,
            max_bytes: self.max_bytes,
            group_key,
            naming: Arc::clone(&self.naming),
            repeat_header: self.repeat_header,
            oversize_group: self.oversize_group,
        })
    }
}
