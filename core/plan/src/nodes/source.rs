//! `type: source`.

use std::sync::Arc;

use clinker_cxl::{DocumentNames, ScopeColumn};
use clinker_diagnostics::{Span, nearest, suggestion};
use clinker_format::input::{Compression, FileSelection};
use clinker_format::{Format, InputField, Options, ReadCapabilities, ReadFactory, ReadRequest};
use clinker_record::cast::{AdmitRule, SplitRule};

use crate::context::Context;
use crate::decode::{self, Fields, Key, Shape, gone, later, optional, required};
use crate::documents::DocumentPlan;
use crate::faults::{Fault, Faults};
use crate::model::{OnUnmapped, SourceColumn, SourceOrder};
use crate::nodes::columns::{self, ColumnDraft, SchemaDraft};
use crate::nodes::expand::{self, Expansion};
use crate::nodes::options::{self, Direction};
use crate::nodes::order;
use crate::nodes::sections::{self, Reading};
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
    /// How many files are listed one by one.
    pub listed: usize,
    /// What `$doc` names below it.
    pub names: DocumentNames,
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
    pub documents: DocumentPlan,
    pub on_unmapped: OnUnmapped,
    /// The order that each file is said to be in.
    pub order: Option<SourceOrder>,
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
    optional("schema", columns::SOURCE_SCHEMA, "the declared columns"),
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
    optional("sort_order", order::ITEMS, "declared order of each file"),
    optional("on_unsorted", Shape::Word(&["warn", "error"]), "what a file out of order means"),
    later("watermark", &[]),
    optional("envelope", Shape::Map(sections::ENVELOPE), "sections of the whole file that programs read"),
    later("dlq_granularity", &["record"]),
    later("resource", &[]),
    gone("array_paths", "E360", "use `split_to_rows`, `split_values` or `multiple: true`"),
];

/// Reads the `config` of a Source.
pub(crate) fn read(name: &str, config: &Node, context: &mut Context<'_>, faults: &mut Faults) -> Option<SourceDraft> {
    let fields = decode::fields(config, "a source's `config`", CONFIG, faults)?;
    let from_files = from_files(&fields, faults);
    let format = fields.node("type").and_then(|node| options::format(node, Direction::Read, &context.formats, faults));
    let schema = match fields.node("schema") {
        Some(node) => columns::schema(node, context, faults),
        None => {
            let message = format!("source `{name}` has no `schema`");
            faults.push(Fault::new("E201", config.span, message).help("add `schema: [ { name: id, type: int } ]`"));
            None
        }
    };
    let generated = matches!(schema, Some(SchemaDraft::Generated(_)));
    let on_unmapped = on_unmapped(&fields, faults);
    let files = if from_files { selection::read(name, &fields, context, faults) } else { None };
    let compression = compression(&fields, faults);
    let reads = format.and_then(|format| format.descriptor().read.as_ref());
    let (columns, bound) = match format.zip(reads) {
        Some((format, reads)) => Binding { name, fields: &fields, format, reads, on_unmapped }.bind(schema, faults),
        None => (schema.and_then(SchemaDraft::columns), None),
    };
    let reading =
        bound.as_ref().zip(reads).map(|(bound, reads)| Reading { format: bound.format, reads, reader: &*bound.reader });
    let documents = sections::read(name, &fields, reading.filter(|_| from_files), context, faults);
    let order = {
        let columns = columns.as_deref().map(scope);
        let nested = bound.as_ref().is_some_and(|bound| !bound.reader.levels().is_empty());
        order::declared(name, &fields, columns.as_deref(), nested, faults)
    };
    let widened = on_unmapped == Some(OnUnmapped::AutoWiden) && !generated && reads.is_none_or(undeclared);
    let undeclared_arrays = widened && reads.is_some_and(|reads| reads.native_arrays);
    let stem = selection::stem(&fields);
    let listed = fields.items("paths").map_or(0, <[Node]>::len);
    let parts = (|| {
        let Bound { format, reader, splits, expansion } = bound?;
        let rules = columns.as_deref()?.iter().map(|column| source_column(column, &splits, context)).collect();
        Some(SourceParts {
            label: Arc::clone(fields.text("name")?),
            files: files?,
            compression: compression?,
            format,
            reader,
            columns: rules,
            documents: documents.plan?,
            on_unmapped: on_unmapped?,
            order: order?,
            expands: !expansion.rules.is_empty(),
            max_rows: expansion.max_rows,
        })
    })();
    Some(SourceDraft { columns, widened, undeclared_arrays, stem, listed, names: documents.names, parts })
}

/// A format bound to options and columns.
struct Bound {
    format: &'static str,
    reader: Arc<dyn ReadFactory>,
    splits: Vec<SplitDraft>,
    expansion: Expansion,
}

/// What a format is bound with.
struct Binding<'b> {
    name: &'b str,
    fields: &'b Fields<'b>,
    format: &'static dyn Format,
    reads: &'static ReadCapabilities,
    on_unmapped: Option<OnUnmapped>,
}

impl Binding<'_> {
    /// Binds the format. The columns, as far as they are known, and the reader, when nothing is wrong.
    fn bind(&self, schema: Option<SchemaDraft>, faults: &mut Faults) -> (Option<Vec<ColumnDraft>>, Option<Bound>) {
        let Binding { name, fields, format, reads, .. } = *self;
        let format_name = format.descriptor().name;
        let given = options::options(fields.node("options"), format_name, reads.options, &[], faults);
        let columns = match schema {
            Some(SchemaDraft::Generated(span)) if reads.generated_columns => {
                given.as_ref().and_then(|given| self.generated(given, span, faults))
            }
            Some(SchemaDraft::Generated(span)) => {
                columns::refuse_generated(span, faults);
                None
            }
            schema => schema.and_then(SchemaDraft::columns),
        };
        let splits = fields
            .items("split_values")
            .map_or_else(Vec::new, |items| split::split_values(items, format_name, reads, faults));
        let matched = columns
            .as_deref()
            .is_some_and(|columns| split::match_columns(name, format_name, &splits, columns, reads, faults));
        let expansion =
            expand::read(fields, format_name, reads, columns.as_deref().unwrap_or_default(), &splits, faults);
        let bound = match (&columns, given, matched, expansion) {
            (Some(columns), Some(given), true, Some(expansion)) => {
                let reader = self.reader(&given, &expansion, columns, faults);
                reader.filter(|reader| self.supplied(&**reader, columns, faults)).map(|reader| Bound {
                    format: format_name,
                    reader,
                    splits,
                    expansion,
                })
            }
            _ => None,
        };
        (columns, bound)
    }

    /// The columns that the format makes under these options: nullable text.
    fn generated(&self, given: &Options, span: Span, faults: &mut Faults) -> Option<Vec<ColumnDraft>> {
        let reader = self.reader(given, &Expansion::default(), &[], faults)?;
        let Some(names) = reader.generated_columns() else {
            columns::refuse_generated(span, faults);
            return None;
        };
        Some(names.iter().map(|name| ColumnDraft::text(name, span)).collect())
    }

    /// Whether the format can supply each column: one that makes its own columns has no other.
    fn supplied(&self, reader: &dyn ReadFactory, columns: &[ColumnDraft], faults: &mut Faults) -> bool {
        let Some(names) = reader.generated_columns() else { return true };
        let mut fine = true;
        for column in columns.iter().filter(|column| !names.contains(&column.input_name)) {
            fine = false;
            let (input, format) = (&column.input_name, self.format.descriptor().name);
            let message = format!("`{}`: format `{format}` has no field `{input}`", self.name);
            let help = match (nearest(input, names.iter().map(|name| &**name)), &*names) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, [first, .., last]) => format!("its fields are `{first}` to `{last}`: name one in `source_name`"),
                (None, _) => "leave the column out".to_owned(),
            };
            faults.push(Fault::new("E407", column.span, message).help(help));
        }
        fine
    }

    fn reader(
        &self,
        given: &Options,
        expansion: &Expansion,
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
        match self.format.bind_reader(&ReadRequest {
            options: given,
            fields: &inputs,
            undeclared: self.on_unmapped != Some(OnUnmapped::Drop),
            refuse_undeclared: self.on_unmapped == Some(OnUnmapped::Reject),
            expand: &expansion.rules,
            max_rows: expansion.max_rows,
        }) {
            Ok(reader) => Some(reader),
            Err(found) => {
                let fields = self.fields;
                let otherwise = fields.node("options").or(fields.node("type")).map_or(fields.span, |node| node.span);
                options::refuse(found, self.name, fields.node("options"), otherwise, faults);
                None
            }
        }
    }
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
            if let Some(entry) = fields.entry("envelope") {
                let message = "the document of a `rest` source has no sections";
                faults.push(Fault::new("E349", entry.key_span, message).help("remove `envelope`"));
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

/// The columns as texts of other nodes see them.
fn scope(columns: &[ColumnDraft]) -> Vec<ScopeColumn> {
    columns.iter().map(|column| (Arc::clone(&column.name), column.ty, column.multiple)).collect()
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
