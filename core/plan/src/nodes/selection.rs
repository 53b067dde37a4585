//! Which files a Source reads.

use clinker_format::input::{FileOrder, FileSelection, NoMatch, SortBy};

use crate::context::Context;
use crate::decode::{self, Fields, Key, Shape, optional};
use crate::faults::{Fault, Faults};
use crate::paths;
use crate::yaml::{Core, Node, NodeKind};

pub(super) const FILES: &[Key] = &[
    optional("sort_by", Shape::Word(&["name", "created", "modified"]), "the order of the files"),
    optional("sort_order", Shape::Word(&["asc", "desc"]), "the direction of the order"),
    optional("take_first", Shape::Integer(0), "only the first ones"),
    optional("take_last", Shape::Integer(0), "only the last ones"),
    optional("recursive", Shape::Bool, "whether folders are searched too"),
    optional("on_no_match", Shape::Word(&["error", "warn", "skip"]), "what no file means"),
];

/// Reads matcher, filters and order. None when something is wrong, which is reported.
pub(crate) fn read(
    name: &str,
    fields: &Fields<'_>,
    context: &Context<'_>,
    faults: &mut Faults,
) -> Option<FileSelection> {
    let mut fine = true;
    for key in ["path", "glob"] {
        if let Some(node) = fields.node(key) {
            fine &= contained(name, node, context, faults);
        }
    }
    for node in fields.items("paths").unwrap_or_default() {
        fine &= contained(name, node, context, faults);
    }
    let files = order(fields, faults);
    let text = |key: &str| fields.text(key).map(|text| text.to_string());
    let texts = |key: &str| {
        let items = fields.items(key)?.iter();
        Some(items.filter_map(|item| item.text()).map(|text| text.to_string()).collect::<Vec<_>>())
    };
    let selection = FileSelection {
        path: text("path"),
        paths: texts("paths"),
        glob: text("glob"),
        regex: text("regex"),
        exclude: texts("exclude").unwrap_or_default(),
        modified_after: text("modified_after"),
        modified_before: text("modified_before"),
        min_size: size(fields, "min_size"),
        max_size: size(fields, "max_size"),
        files: files?,
    };
    for fault in selection.check() {
        // A matcher of the wrong shape was reported already: it is given, but not among the fields.
        fine = false;
        let span = match fault.code {
            "E211" => fields.span,
            "E218" => fields.node("files").map_or(fields.span, |node| node.span),
            _ => fields.node(fault.key).map_or(fields.span, |node| node.span),
        };
        let message = format!("source `{name}`: {}", fault.message);
        faults.push(Fault::new(fault.code, span, message).maybe_help(fault.help));
    }
    fine.then_some(selection)
}

/// The stem of the input path, of a Source that reads one.
pub(crate) fn stem(fields: &Fields<'_>) -> Option<String> {
    let listed = || match fields.items("paths") {
        Some([one]) => one.text(),
        _ => None,
    };
    fields.text("path").or_else(listed).map(|path| paths::stem(path).to_string())
}

fn contained(name: &str, node: &Node, context: &Context<'_>, faults: &mut Faults) -> bool {
    let Some(path) = node.text() else { return false };
    match paths::check_text(path, context.allow_absolute) {
        Ok(()) => true,
        Err(message) => {
            let fault = Fault::new("E-SEC-001", node.span, format!("source `{name}`: {message}"));
            faults.push(fault.help("name a path below the base directory"));
            false
        }
    }
}

fn order(fields: &Fields<'_>, faults: &mut Faults) -> Option<FileOrder> {
    let Some(node) = fields.node("files") else { return Some(FileOrder::default()) };
    let fields = decode::fields(node, "`files`", FILES, faults)?;
    let word = |key: &str| fields.text(key).map(|word| &**word);
    let count = |key: &str| fields.integer(key).and_then(|count| u64::try_from(count).ok());
    Some(FileOrder {
        sort_by: match word("sort_by") {
            Some("created") => Some(SortBy::Created),
            Some("modified") => Some(SortBy::Modified),
            Some(_) => Some(SortBy::Name),
            None => None,
        },
        descending: word("sort_order") == Some("desc"),
        take_first: count("take_first"),
        take_last: count("take_last"),
        recursive: fields.bool("recursive"),
        on_no_match: match word("on_no_match") {
            Some("warn") => NoMatch::Warn,
            Some("skip") => NoMatch::Skip,
            _ => NoMatch::Error,
        },
    })
}

/// A size as authored. Its own check has a code of its own, so any scalar is passed on.
fn size(fields: &Fields<'_>, key: &str) -> Option<String> {
    match &fields.node(key)?.kind {
        NodeKind::Scalar(scalar) if matches!(scalar.core(), Core::Int(_) | Core::Text) => Some(scalar.text.to_string()),
        _ => Some("?".to_string()),
    }
}
