//! `type: sink`.

use std::sync::Arc;

use clinker_diagnostics::Span;
use clinker_format::input::Compression;
use clinker_format::{Format, JoinConflict, JoinRule, WriteCapabilities, WriteFactory, WriteRequest};
use clinker_record::Kind;

use crate::PathTemplate;
use crate::context::Context;
use crate::decode::{self, Fields, Key, Shape, later, optional, required};
use crate::faults::{Fault, Faults};
use crate::model::IfExists;
use crate::nodes::columns::{self, ColumnDraft};
use crate::nodes::options::{self, Direction};
use crate::nodes::order::{self, OrderField};
use crate::nodes::segments::{self, SplitOutput};
use crate::nodes::{source, split};
use crate::paths;
use crate::yaml::{Node, NodeKind};

/// A Sink as authored.
pub(crate) struct SinkDraft<'a> {
    /// Its `config`.
    pub span: Span,
    /// Its path, when that is usable.
    pub path: Option<PathDraft>,
    /// Which columns it writes.
    pub choice: ChoiceDraft<'a>,
    /// What its format can do.
    pub writes: Option<&'static WriteCapabilities>,
    /// `join_values`.
    pub joins: Vec<JoinRule>,
    /// Everything else a writer needs, when nothing is wrong.
    pub parts: Option<SinkParts>,
}

/// A Sink's path.
pub(crate) struct PathDraft {
    pub template: PathTemplate,
    pub span: Span,
}

/// Which columns a Sink writes.
pub(crate) struct ChoiceDraft<'a> {
    pub include_unmapped: bool,
    pub mapping: Option<Vec<MappingItem>>,
    pub mapping_node: Option<&'a Node>,
    pub exclude: Vec<(Arc<str>, Span)>,
    /// Columns of the Sink's own schema.
    pub layout: Vec<ColumnDraft>,
    /// Whether `mapping` and `exclude` could be read.
    pub readable: bool,
}

/// One item of `mapping`.
pub(crate) struct MappingItem {
    pub output: Arc<str>,
    pub column: Arc<str>,
    pub span: Span,
}

/// What becomes the plan of a Sink.
pub(crate) struct SinkParts {
    pub label: Arc<str>,
    pub format: &'static str,
    pub writer: Arc<dyn WriteFactory>,
    pub compression: Compression,
    pub if_exists: IfExists,
    pub split: Option<SplitOutput>,
    pub write_meta: bool,
    pub order: Vec<OrderField>,
}

/// `column`, or `{ output: column }`.
const MAPPING_ITEM: Shape = Shape::Any(&[Shape::Text, Shape::Named(&Shape::Text)]);

pub(super) const CONFIG: &[Key] = &[
    required("name", Shape::Text, "a label for lineage and metrics, normally the node name"),
    required("type", Shape::Text, "the format"),
    required("path", Shape::Text, "where it writes"),
    optional("schema", columns::SCHEMA, "columns with a `scale` that decimals are rounded to"),
    optional("options", Shape::Any(&[Shape::Open]), "options of the format"),
    optional("compression", Shape::Words(&["none", "gzip", "zstd"]), "how the file is compressed"),
    optional("include_unmapped", Shape::Bool, "whether columns that are neither emitted nor mapped are written"),
    optional("include_header", Shape::Bool, "whether names are written"),
    optional("mapping", Shape::Any(&[Shape::List(&MAPPING_ITEM)]), "the columns to write, in order"),
    optional("exclude", Shape::Texts, "columns that are not written"),
    // Flat cells cannot tell a null from an empty text: there is nothing to preserve.
    optional("preserve_nulls", Shape::Bool, "whether formats with optional fields write explicit nulls"),
    optional("join_values", split::JOINS, "how several values are written in a cell"),
    optional("if_exists", Shape::Word(&["overwrite", "error", "unique_suffix"]), "what an existing file means"),
    optional("unique_suffix_width", Shape::Integer(0), "zero padding of the suffix"),
    optional("split", Shape::Map(segments::SPLIT), "the output as several files"),
    optional("write_meta", Shape::Bool, "whether each file gets a sidecar that describes it"),
    // Who a failure condemns matters under a correlation key only, and there is none.
    optional("correlation_fanout_policy", Shape::Word(&["any", "all", "primary"]), "whom a failure condemns"),
    later("include_correlation_keys", &["false"]),
    optional("sort_order", order::ITEMS, "the order of the records"),
    later("reconstruct_envelope", &["false"]),
];

/// Reads the `config` of a Sink.
pub(crate) fn read<'a>(
    name: &str,
    config: &'a Node,
    context: &mut Context<'_>,
    faults: &mut Faults,
) -> Option<SinkDraft<'a>> {
    let fields = decode::fields(config, "a sink's `config`", CONFIG, faults)?;
    let format = fields.node("type").and_then(|node| options::format(node, Direction::Write, &context.formats, faults));
    let writes = format.and_then(|format| format.descriptor().write.as_ref());
    let if_exists = if_exists(&fields, faults);
    let path = path(name, &fields, if_exists, context, faults);
    let layout = fields.node("schema").and_then(|node| columns::listed(node, context, faults)).unwrap_or_default();
    let joins = join_rules(&fields, format, writes, faults);
    let compression = compression(&fields, faults);
    let writer = match (format, writes, &joins) {
        (Some(format), Some(writes), Some(joins)) => bind(name, &fields, format, writes, joins, faults),
        _ => None,
    };
    let named = format.map(|format| format.descriptor().name).zip(writes);
    let split = segments::read(name, &fields, named, faults);
    let write_meta = fields.bool("write_meta").unwrap_or(false);
    let order = order::read(order::Owner::sink(name), &fields, faults);
    let parts = (|| {
        Some(SinkParts {
            label: Arc::clone(fields.text("name")?),
            format: format?.descriptor().name,
            writer: writer?,
            compression: compression?,
            if_exists,
            split: split?,
            write_meta,
            order: order?,
        })
    })();
    let (mapping, readable) = match fields.node("mapping") {
        None => (None, true),
        Some(node) => {
            let items = mapping(name, node, faults);
            let readable = items.is_some();
            (items, readable)
        }
    };
    let exclude = fields.items("exclude").unwrap_or_default().iter();
    let choice = ChoiceDraft {
        include_unmapped: fields.bool("include_unmapped").unwrap_or(true),
        mapping,
        mapping_node: fields.node("mapping"),
        exclude: exclude.filter_map(|item| Some((Arc::clone(item.text()?), item.span))).collect(),
        layout,
        readable,
    };
    Some(SinkDraft { span: config.span, path, choice, writes, joins: joins.unwrap_or_default(), parts })
}

fn if_exists(fields: &Fields<'_>, faults: &mut Faults) -> IfExists {
    let width = fields.integer("unique_suffix_width").and_then(|width| usize::try_from(width).ok());
    let chosen = match fields.text("if_exists").map(|word| &**word) {
        Some("error") => IfExists::Error,
        Some("unique_suffix") => IfExists::UniqueSuffix { width: width.unwrap_or(0).min(20) },
        _ => IfExists::Overwrite,
    };
    if let (Some(width), Some(node)) = (width, fields.node("unique_suffix_width")) {
        if width > 20 {
            faults.error("E000", node.span, format!("`unique_suffix_width` is {width}; it must be 0 to 20"));
        } else if width > 0 && !matches!(chosen, IfExists::UniqueSuffix { .. }) {
            let message = "`unique_suffix_width` needs `if_exists: unique_suffix`";
            faults.error("E000", node.span, message);
        }
    }
    chosen
}

fn path(
    name: &str,
    fields: &Fields<'_>,
    if_exists: IfExists,
    context: &Context<'_>,
    faults: &mut Faults,
) -> Option<PathDraft> {
    let node = fields.node("path")?;
    let text = node.text()?;
    if let Err(message) = paths::check_text(text, context.allow_absolute) {
        faults.error("E-SEC-001", node.span, format!("sink `{name}`: {message}"));
        return None;
    }
    let template = match PathTemplate::parse(text, context.allow_absolute) {
        Ok(template) => template,
        Err(message) => {
            faults.error("E000", node.span, format!("sink `{name}`: `path`: {message}"));
            return None;
        }
    };
    if template.has_counter() && !matches!(if_exists, IfExists::UniqueSuffix { .. }) {
        let message = format!("sink `{name}`: `{{n}}` in `path` needs `if_exists: unique_suffix`");
        faults.error("E000", node.span, message);
        return None;
    }
    Some(PathDraft { template, span: node.span })
}

fn join_rules(
    fields: &Fields<'_>,
    format: Option<&'static dyn Format>,
    writes: Option<&WriteCapabilities>,
    faults: &mut Faults,
) -> Option<Vec<JoinRule>> {
    match (fields.node("join_values"), format, writes) {
        (None, ..) => Some(Vec::new()),
        (Some(node), Some(format), Some(writes)) => {
            split::join_values(node, format.descriptor().name, writes.join_values, faults)
        }
        _ => None,
    }
}

fn compression(fields: &Fields<'_>, faults: &mut Faults) -> Option<Compression> {
    let Some(node) = fields.node("compression") else { return Some(Compression::None) };
    // `auto` looks at what is there, and an output is not there yet.
    let words = || Compression::WORDS.into_iter().filter(|word| *word != "auto");
    let word = node.text()?;
    let found = words().find(|known| *known == &**word).and_then(Compression::from_word);
    if found.is_none() {
        source::unknown_compression(node, word, "sink", &words().collect::<Vec<_>>(), faults);
    }
    found
}

fn bind(
    name: &str,
    fields: &Fields<'_>,
    format: &'static dyn Format,
    writes: &'static WriteCapabilities,
    joins: &[JoinRule],
    faults: &mut Faults,
) -> Option<Arc<dyn WriteFactory>> {
    let format_name = format.descriptor().name;
    let given = options::options(fields.node("options"), format_name, writes.options, &["envelope"], faults);
    if let (false, Some(entry)) = (writes.header, fields.entry("include_header")) {
        faults.error("E000", entry.key_span, format!("format `{format_name}` does not read `include_header`"));
    }
    if writes.needs_schema && fields.node("schema").is_none() {
        faults.error("E409", fields.span, format!("sink `{name}`: format `{format_name}` needs a `schema`"));
    }
    let header = fields.bool("include_header").unwrap_or(true);
    let preserve_nulls = fields.bool("preserve_nulls").unwrap_or(false);
    let given = given?;
    let request = WriteRequest { options: &given, header, preserve_nulls, joins };
    let written = fields.node("options");
    let otherwise = written.or(fields.node("type")).map_or(fields.span, |node| node.span);
    match format.bind_writer(&request) {
        Ok(writer) => {
            options::warn(format.writer_warnings(&request), name, written, otherwise, faults);
            Some(writer)
        }
        Err(found) => {
            options::refuse(found, name, written, otherwise, faults);
            None
        }
    }
}

/// Reads `mapping`: a list of `column` or `{ output: column }`.
fn mapping(name: &str, node: &Node, faults: &mut Faults) -> Option<Vec<MappingItem>> {
    let items = match &node.kind {
        NodeKind::List(items) if !items.is_empty() => items,
        NodeKind::List(_) => {
            let fault = Fault::new("E364", node.span, format!("sink `{name}`: `mapping` is empty"));
            faults.push(fault.help("list columns, or leave `mapping` out"));
            return None;
        }
        NodeKind::Map(entries) => {
            let items: Vec<String> = entries
                .iter()
                .map(|entry| format!("{{ {}: {} }}", entry.key, faults.place().shown(&entry.value)))
                .collect();
            let fault = Fault::new("E364", node.span, format!("sink `{name}`: `mapping` must be a list, not a map"));
            faults.push(fault.help(format!("write `mapping: [ {} ]`, the output name on the left", items.join(", "))));
            return None;
        }
        NodeKind::Scalar(_) => {
            let message = format!("sink `{name}`: `mapping` must be a list; it is {}", node.word());
            faults.error("E364", node.span, message);
            return None;
        }
    };
    let mut mapping: Vec<MappingItem> = Vec::with_capacity(items.len());
    let mut complete = true;
    for item in items {
        let Some((output, column)) = mapping_item(item) else {
            let fault = Fault::new("E364", item.span, format!("sink `{name}`: malformed `mapping` item"));
            faults.push(fault.help("write `column` or `{ output: column }`"));
            complete = false;
            continue;
        };
        if let Some(first) = mapping.iter().find(|first| first.output == output) {
            let message = format!("sink `{name}`: `mapping` gives the output name `{output}` twice");
            faults.push(Fault::new("E364", item.span, message).related(first.span));
            complete = false;
        }
        mapping.push(MappingItem { output, column, span: item.span });
    }
    complete.then_some(mapping)
}

fn mapping_item(item: &Node) -> Option<(Arc<str>, Arc<str>)> {
    if let Some(column) = item.text() {
        return Some((Arc::clone(column), Arc::clone(column)));
    }
    match &item.kind {
        NodeKind::Map(entries) if entries.len() == 1 => {
            Some((Arc::clone(&entries[0].key), Arc::clone(entries[0].value.text()?)))
        }
        _ => None,
    }
}

impl SinkDraft<'_> {
    /// Whether a written column of this kind can have a row refused because its values hold the delimiter.
    pub fn may_collide(&self, output: &str, kind: Kind) -> bool {
        let joins = self.writes.is_some_and(|writes| writes.join_values && !writes.native_arrays);
        let rule = self.joins.iter().find(|rule| &*rule.field == output);
        // A column of any type may turn out to hold an array.
        matches!(kind, Kind::Array | Kind::Any)
            && joins
            && rule.is_none_or(|rule| rule.on_conflict == JoinConflict::Error)
    }
}
