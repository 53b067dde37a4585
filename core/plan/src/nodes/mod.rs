//! Nodes as authored: their keys, checked without looking at other nodes.

pub(crate) mod columns;
pub(crate) mod cxl;
mod expand;
pub(crate) mod log;
pub(crate) mod merge;
pub(crate) mod names;
pub(crate) mod options;
pub(crate) mod order;
pub(crate) mod route;
pub(crate) mod sections;
pub(crate) mod segments;
pub(crate) mod selection;
pub(crate) mod sink;
pub(crate) mod source;
pub(crate) mod split;
pub(crate) mod transform;
pub(crate) mod values;

use std::sync::Arc;

use clinker_diagnostics::{Span, nearest};

use crate::context::Context;
use crate::decode::{self, ANY, Fields, Key, Shape, optional, required};
use crate::faults::{Fault, Faults};
use crate::yaml::{Node, NodeKind};

pub(crate) use merge::MergeDraft;
pub(crate) use route::RouteDraft;
pub(crate) use sink::SinkDraft;
pub(crate) use source::SourceDraft;
pub(crate) use transform::TransformDraft;

/// A node with its own keys checked.
pub(crate) struct Draft<'a> {
    pub name: Arc<str>,
    pub name_span: Span,
    /// The references it reads, in authored order.
    pub inputs: Vec<(Arc<str>, Span)>,
    pub kind: Kind<'a>,
}

/// What the node does.
pub(crate) enum Kind<'a> {
    Source(Box<SourceDraft>),
    Transform(Box<TransformDraft<'a>>),
    Route(Box<RouteDraft<'a>>),
    Merge(MergeDraft),
    Sink(Box<SinkDraft<'a>>),
    /// A node that cannot be bound: of a type that is not available, or with keys that were refused.
    Broken,
}

impl Kind<'_> {
    /// Whether other nodes may read it, as far as that is known.
    pub fn has_output(&self) -> bool {
        !matches!(self, Kind::Sink(_))
    }
}

/// Node types of the language.
const TYPES: [&str; 11] = [
    "source",
    "transform",
    "sink",
    "route",
    "merge",
    "combine",
    "aggregate",
    "reshape",
    "cull",
    "envelope",
    "composition",
];

/// A node type that this version runs.
pub(crate) struct NodeType {
    /// Its word.
    pub word: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

/// Node types that this version runs.
pub(crate) const BUILT: [NodeType; 5] = [
    NodeType { word: "source", keys: &[TYPE, NAME, settings(source::CONFIG), DESCRIPTION, NOTES] },
    NodeType { word: "transform", keys: &[TYPE, NAME, INPUT, settings(transform::CONFIG), DESCRIPTION, NOTES] },
    NodeType { word: "route", keys: &[TYPE, NAME, INPUT, settings(route::CONFIG), DESCRIPTION, NOTES] },
    NodeType { word: "merge", keys: &[TYPE, NAME, INPUTS, MERGE_CONFIG, DESCRIPTION, NOTES] },
    NodeType { word: "sink", keys: &[TYPE, NAME, INPUT, settings(sink::CONFIG), DESCRIPTION, NOTES] },
];

const TYPE: Key = required("type", Shape::Text, "the node type");
const NAME: Key = required("name", Shape::Text, "the node's name");
const INPUT: Key = required("input", Shape::Text, "the node it reads");
const INPUTS: Key = required("inputs", Shape::Texts, "the nodes it reads, in order");
const MERGE_CONFIG: Key = optional("config", Shape::Map(merge::CONFIG), "settings of the type");
const DESCRIPTION: Key = optional("description", ANY, "a remark");
const NOTES: Key = optional("_notes", ANY, "remarks");

const fn settings(keys: &'static [Key]) -> Key {
    required("config", Shape::Map(keys), "settings of the type")
}

/// The words of [`BUILT`], for messages.
fn built() -> String {
    BUILT.map(|built| built.word).join(", ")
}

/// Reads one node. `None` when it has no name to refer to it by.
pub(crate) fn read<'a>(node: &'a Node, context: &mut Context<'_>, faults: &mut Faults) -> Option<Draft<'a>> {
    let Some((word, span)) = node.get("type").and_then(|entry| Some((entry.value.text()?, entry.value.span))) else {
        typeless(node, faults);
        return broken(node);
    };
    let Some(NodeType { word, keys }) = BUILT.iter().find(|built| built.word == &**word) else {
        return refused(node, word, span, faults);
    };
    let fields = decode::fields(node, &format!("a {word}"), keys, faults)?;
    let name = Arc::clone(fields.text("name")?);
    let name_span = fields.node("name")?.span;
    let kind = kind(word, &name, &fields, context, faults).unwrap_or(Kind::Broken);
    let inputs = match *word {
        "source" => Vec::new(),
        "merge" => several_inputs(node),
        _ => one_input(node),
    };
    Some(Draft { name, name_span, inputs, kind })
}

/// What a node does. `None` when its keys do not say so.
fn kind<'a>(
    word: &str,
    name: &str,
    fields: &Fields<'a>,
    context: &mut Context<'_>,
    faults: &mut Faults,
) -> Option<Kind<'a>> {
    if word == "merge" {
        if let Some([]) = fields.items("inputs") {
            let span = fields.node("inputs").map_or(fields.span, |node| node.span);
            let fault = Fault::new("E000", span, format!("merge `{name}` has no input"));
            faults.push(fault.help("list at least one node: `inputs: [ a, b ]`"));
        }
        return merge::read(fields.node("config"), faults).map(Kind::Merge);
    }
    let config = fields.node("config")?;
    match word {
        "source" => source::read(name, config, context, faults).map(|draft| Kind::Source(Box::new(draft))),
        "transform" => transform::read(config, faults).map(|draft| Kind::Transform(Box::new(draft))),
        "route" => route::read(name, config, faults).map(|draft| Kind::Route(Box::new(draft))),
        _ => sink::read(name, config, context, faults).map(|draft| Kind::Sink(Box::new(draft))),
    }
}

fn reference(node: &Node) -> Option<(Arc<str>, Span)> {
    node.text().map(|text| (Arc::clone(text), node.span))
}

/// What a node reads by its `input`.
fn one_input(node: &Node) -> Vec<(Arc<str>, Span)> {
    node.get("input").and_then(|entry| reference(&entry.value)).into_iter().collect()
}

/// What a node reads by its `inputs`, as far as the items are text.
fn several_inputs(node: &Node) -> Vec<(Arc<str>, Span)> {
    match node.get("inputs").map(|entry| &entry.value.kind) {
        Some(NodeKind::List(items)) => items.iter().filter_map(reference).collect(),
        _ => Vec::new(),
    }
}

fn typeless(node: &Node, faults: &mut Faults) {
    let message = match node.get("type") {
        Some(entry) => format!("`type` of a node must be text; it is {}", entry.value.word()),
        None if matches!(node.kind, NodeKind::Map(_)) => "a node lacks the key `type`".to_string(),
        None => format!("a node must be a map; it is {}", node.word()),
    };
    faults.push(Fault::new("E000", node.span, message).help(format!("the node types are {}", built())));
}

/// A node of a type that cannot be used.
fn refused<'a>(node: &'a Node, word: &str, span: Span, faults: &mut Faults) -> Option<Draft<'a>> {
    let shown = node.get("name").map_or("?".to_string(), |entry| faults.place().shown(&entry.value));
    if word == "output" {
        let message = format!("node `{shown}`: `type: output` is retired");
        faults.push(Fault::new("E376", span, message).help("write `type: sink`"));
    } else if TYPES.contains(&word) {
        let message = format!("node `{shown}`: node type `{word}` is not available in this version");
        faults.push(Fault::new("E000", span, message).help(format!("this version runs {} nodes", built())));
    } else {
        let help = match nearest(word, TYPES) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the node types are {}", TYPES.join(", ")),
        };
        let message = format!("node `{shown}`: unknown node type `{word}`");
        faults.push(Fault::new("E000", span, message).help(help));
    }
    broken(node)
}

fn broken(node: &Node) -> Option<Draft<'_>> {
    let entry = node.get("name")?;
    let name = Arc::clone(entry.value.text()?);
    let mut inputs = one_input(node);
    inputs.extend(several_inputs(node));
    Some(Draft { name, name_span: entry.value.span, inputs, kind: Kind::Broken })
}
