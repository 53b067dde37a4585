//! `type: source`.

use std::sync::Arc;

use clinker_diagnostics::suggestion;
use clinker_format::input::{Compression, FileSelection};
use clinker_format::{InputField, Options, ReadCapabilities, ReadFactory, ReadRequest};
use clinker_record::cast::{AdmitRule, SplitRule};

use crate::context::Context;
use crate::decode::{self, ANY, Fields, Key, Shape, gone, later, optional, required};
use crate::faults::{Fault, Faults};
use crate::model::{OnUnmapped, SourceColumn};
use crate::nodes::columns::{self, ColumnDraft};
use crate::nodes::expand::{self, Expansion};
use crate::nodes::options::{self, Direction};
use crate::nodes::selection;
use crate::nodes::split::{self, SplitDraft};
use crate::yaml::{Node, NodeKind};

/// A Source as authored.
pub(crate) struct SourceDraft {
    /// Its columns, when the schema is usable, whatever else is wrong.
    pub columns: Option<Vec<ColumnDraft>>,
    /// Whether records may carry undeclared fields.
    pub widened: bool,
    /// Whether an undeclared field may hold an array.
    pub undeclared_arrays: bool,
    /// Stem of the input path, for `{source_name}`; none for a Source that may read several.
    pub stem: Option<String>,
    /// Everything a reader needs, when nothing is wrong.
    pub parts: Option<SourceParts>,
}

/// What becomes the plan of a Source.
pub(crate) struct SourceParts {
    pub label: Arc<str>,
    pub files: FileSelection,
    pub compression: Compression,
    pub format: &'static str,
    pub reader: Arc<dyn ReadFactory>,
    pub columns: Vec<SourceColumn>,
    pub on_unmapped: OnUnmapped,
    /// Whether a record may become several rows, or none.
    pub expands: bool,
    /// The most rows that a record may become.
    pub max_rows: Option<u64>,
}

const ON_UNMAPPED: &[Key] =
    &[required("mode", Shape::Word(&["auto_widen", "drop", "reject"]), "what happens to undeclared fields")];

pub(super) const CONFIG: &[Key] = &[
    required("name", Shape::Text, "a label for lineage and metrics, normally the node name"),
    required("type", Shape::Text, "the format"),
    optional("transport", Shape::Any(&[Shape::Word(&["file"])]), "where bytes come from"),
    optional("path", Shape::Text, "one file"),
    optional("paths", Shape::Texts, "these files"),
    optional("glob", Shape::Text, "files by pattern"),
    optional("regex", Shape::Text, "files by regular expression"),
    optional("exclude", Shape::Texts, "patterns of files that are not read"),
    optional("modified_after", Shape::Text, "oldest modification time"),
    optional("modified_before", Shape::Text, "newest modification time"),
    optional("min_size", Shape::Any(&[Shape::Integer(0), Shape::Text]), "smallest size"),
    optional("max_size", Shape::Any(&[Shape::Integer(0), Shape::Text]), "largest size"),
    optional("files", Shape::Map(selection::FILES), "order and choice of the files found"),
    optional("schema", columns::SCHEMA, "the declared columns"),
    optional("options", Shape::Any(&[Shape::Open]), "options of the format"),
    optional("compression", Shape::Words(&Compression::WORDS), "how the files are compressed"),
    optional("on_unmapped", Shape::Map(ON_UNMAPPED), "what happens to undeclared fields"),
    optional("split_values", Shape::List(&split::SPLIT_ITEM), "cells that hold several values"),
    optional("split_to_rows", Shape::List(&expand::ITEM), "fields of which each occurrence becomes a row"),
    optional(
        "max_output_rows_per_input",
        Shape::Integer(i64::MIN),
        "the most rows of one record under `split_to_rows`",
    ),
    later("correlation_key", &[]),
    optional("sort_order", Shape::List(&ANY), "declared order of each file"),
    optional("on_unsorted", Shape::Word(&["warn", "error"]), "what a file out of order means"),
    later("watermark", &[]),
    later("envelope", &[]),
    later("dlq_granularity", &["record"]),
    later("resource", &[]),
    gone("array_paths", "E360", "use `split_to_rows`, `split_values` or `multiple: true`"),
];

/// Reads the `config` of a Source.
pub(crate) fn read(name: &str, config: &Node, context: &mut Context<'_>, faults: &mut Faults) -> Option<SourceDraft> {
    let fields = decode::fields(config, "a source's `config`", CONFIG, faults)?;
    let from_files = from_files(&fields, faults);
    declared_order(&fields, faults);
    let format = fields.node("type").and_then(|node| options::format(node, Direction::Read, faults));
    let columns = match fields.node("schema") {
        Some(node) => columns::schema(node, context, faults),
        None => {
            let message = format!("source `{name}` has no `schema`");
            faults.push(Fault::new("E201", config.span, message).help("add `schema: [ { name: id, type: int } ]`"));
            None
        }
    };
    let on_unmapped = on_unmapped(&fields, faults);
    let files = if from_files { selection::read(name, &fields, context, faults) } else { None };
    let compression = compression(&fields, faults);
    let reads = format.and_then(|format| format.descriptor().read.as_ref());
    let bound = match (format, reads) {
        (Some(format), Some(reads)) => {
            let format_name = format.descriptor().name;
            let options_node = fields.node("options");
            let given = options::options(options_node, format_name, reads.options, &[], faults);
            let splits = fields
                .items("split_values")
                .map_or_else(Vec::new, |items| split::split_values(items, format_name, reads, faults));
            let matched = columns
                .as_deref()
                .is_some_and(|columns| split::match_columns(name, format_name, &splits, columns, reads, faults));
            let expansion =
                expand::read(&fields, format_name, reads, columns.as_deref().unwrap_or_default(), &splits, faults);
            match (&columns, given, matched, expansion) {
                (Some(columns), Some(given), true, Some(expansion)) => {
                    bind(name, &fields, format, (&given, on_unmapped, &expansion), columns, faults)
                        .map(|reader| (format_name, reader, splits, expansion))
                }
                _ => None,
            }
        }
        _ => None,
    };
    let widened = on_unmapped == Some(OnUnmapped::AutoWiden) && reads.is_none_or(undeclared);
    let undeclared_arrays = widened && reads.is_some_and(|reads| reads.native_arrays);
    let stem = selection::stem(&fields);
    let parts = (|| {
        let (format, reader, splits, expansion) = bound?;
        let rules = columns.as_deref()?.iter().map(|column| source_column(column, &splits, context)).collect();
        Some(SourceParts {
            label: Arc::clone(fields.text("name")?),
            files: files?,
            compression: compression?,
            format,
            reader,
            columns: rules,
            on_unmapped: on_unmapped?,
            expands: !expansion.rules.is_empty(),
            max_rows: expansion.max_rows,
        })
    })();
    Some(SourceDraft { columns, widened, undeclared_arrays, stem, parts })
}

fn undeclared(reads: &ReadCapabilities) -> bool {
    reads.undeclared_fields
}

/// Whether bytes come from files. Another transport is refused.
fn from_files(fields: &Fields<'_>, faults: &mut Faults) -> bool {
    let Some(node) = fields.node("transport") else { return true };
    let kind = node.get("kind").and_then(|entry| entry.value.text());
    match &node.kind {
        NodeKind::Map(_) if kind.is_some_and(|kind| &**kind == "rest") => {
            let fault = Fault::new("E223", node.span, "`transport: { kind: rest }` is not built into this version");
            faults.push(fault.help("read files: leave `transport` out"));
            for entry in ["path", "paths", "glob", "regex"].into_iter().filter_map(|key| fields.entry(key)) {
                let message = format!("`{}` names files, which a `rest` source does not read", entry.key);
                faults.push(Fault::new("E219", entry.key_span, message).help("remove it"));
            }
            false
        }
        _ if node.text().is_some_and(|text| &**text == "file") => true,
        _ => {
            let message = "`transport` must be `file`, or a map with `kind: rest`";
            faults.error("E000", node.span, message);
            true
        }
    }
}

/// Declared order of the files: checked as far as that is possible without acting on it.
fn declared_order(fields: &Fields<'_>, faults: &mut Faults) {
    match (fields.entry("sort_order"), fields.entry("on_unsorted")) {
        (None, Some(policy)) => {
            let fault = Fault::new("E366", policy.key_span, "`on_unsorted` needs `sort_order`");
            faults.push(fault.help("add `sort_order`, or leave `on_unsorted` out"));
        }
        (Some(order), _) if matches!(&order.value.kind, NodeKind::List(items) if items.is_empty()) => {
            faults.error("E366", order.value.span, "`sort_order` lists no field");
        }
        (Some(order), _) => decode::unavailable("`sort_order`", "a source's `config`", order.key_span, faults),
        (None, None) => {}
    }
}

fn on_unmapped(fields: &Fields<'_>, faults: &mut Faults) -> Option<OnUnmapped> {
    let Some(node) = fields.node("on_unmapped") else { return Some(OnUnmapped::AutoWiden) };
    let fields = decode::fields(node, "`on_unmapped`", ON_UNMAPPED, faults)?;
    match &**fields.text("mode")? {
        "drop" => Some(OnUnmapped::Drop),
        "reject" => Some(OnUnmapped::Reject),
        _ => Some(OnUnmapped::AutoWiden),
    }
}

fn compression(fields: &Fields<'_>, faults: &mut Faults) -> Option<Compression> {
    let Some(node) = fields.node("compression") else { return Some(Compression::Auto) };
    let word = node.text()?;
    let found = Compression::from_word(word);
    if found.is_none() {
        unknown_compression(node, word, "source", &Compression::WORDS, faults);
    }
    found
}

/// Reports a word that names no compression usable on that side.
pub(crate) fn unknown_compression(node: &Node, word: &str, side: &str, words: &[&str], faults: &mut Faults) {
    let shown = faults.place().shown(node);
    let help = suggestion(word, words.iter().copied()).unwrap_or_else(|| format!("write one of {}", words.join(", ")));
    faults.push(Fault::new("E410", node.span, format!("`{shown}` is no compression of a {side}")).help(help));
}

fn bind(
    name: &str,
    fields: &Fields<'_>,
    format: &'static dyn clinker_format::Format,
    (given, on_unmapped, expansion): (&Options, Option<OnUnmapped>, &Expansion),
    columns: &[ColumnDraft],
    faults: &mut Faults,
) -> Option<Arc<dyn ReadFactory>> {
    let inputs: Vec<InputField> = columns
        .iter()
        .map(|column| InputField {
            input_name: Arc::clone(&column.input_name),
            exposed_name: Arc::clone(&column.name),
            ty: column.ty,
            multiple: column.multiple,
        })
        .collect();
    match format.bind_reader(&ReadRequest {
        options: given,
        fields: &inputs,
        undeclared: on_unmapped != Some(OnUnmapped::Drop),
        refuse_undeclared: on_unmapped == Some(OnUnmapped::Reject),
        expand: &expansion.rules,
        max_rows: expansion.max_rows,
    }) {
        Ok(reader) => Some(reader),
        Err(found) => {
            let otherwise = fields.node("options").or(fields.node("type")).map_or(fields.span, |node| node.span);
            options::refuse(found, name, fields.node("options"), otherwise, faults);
            None
        }
    }
}

/// How the cells of a column are admitted.
fn source_column(column: &ColumnDraft, splits: &[SplitDraft], context: &Context<'_>) -> SourceColumn {
    let split = splits.iter().find(|split| split.field == column.input_name).map(|split| SplitRule {
        delimiter: split.delimiter.clone(),
        escape: split.escape.chars().next(),
        json: split.json,
    });
    let formats = column.format.clone().map_or_else(|| context.formats_for(column.ty), |format| vec![format]);
    SourceColumn {
        input_name: Arc::clone(&column.input_name),
        rule: AdmitRule {
            name: Arc::clone(&column.name),
            ty: column.ty,
            multiple: column.multiple,
            split,
            required: column.required,
            default: column.default.clone(),
            enumeration: column.enumeration.clone(),
            coerce: column.coerce,
            formats,
            precision: column.precision,
            scale: column.scale,
        },
    }
}
