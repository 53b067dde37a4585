//! Nodes as authored: their keys, checked without looking at other nodes.

pub(crate) mod columns;
pub(crate) mod options;
pub(crate) mod selection;
pub(crate) mod sink;
pub(crate) mod source;
pub(crate) mod split;
pub(crate) mod transform;
pub(crate) mod values;

use std::sync::Arc;

use clinker_diagnostics::{Span, nearest};

use crate::context::Context;
use crate::decode::{self, Key, Shape, optional, required};
use crate::faults::{Fault, Faults};
use crate::yaml::Node;

pub(crate) use sink::SinkDraft;
pub(crate) use source::SourceDraft;
pub(crate) use transform::TransformDraft;

/// A node with its own keys checked.
pub(crate) struct Draft<'a> {
    pub name: Arc<str>,
    pub name_span: Span,
    /// The reference it reads.
    pub input: Option<(Arc<str>, Span)>,
    pub kind: Kind<'a>,
}

/// What the node does.
pub(crate) enum Kind<'a> {
    Source(Box<SourceDraft>),
    Transform(Box<TransformDraft<'a>>),
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

const SOURCE: &[Key] = &[
    required("type", Shape::Text, "the node type"),
    required("name", Shape::Text, "the node's name"),
    required("config", Shape::Map, "settings of the type"),
    optional("description", Shape::Any, "a remark"),
    optional("_notes", Shape::Any, "remarks"),
];

const WITH_INPUT: &[Key] = &[
    required("type", Shape::Text, "the node type"),
    required("name", Shape::Text, "the node's name"),
    required("input", Shape::Text, "the node it reads"),
    required("config", Shape::Map, "settings of the type"),
    optional("description", Shape::Any, "a remark"),
    optional("_notes", Shape::Any, "remarks"),
];

/// Reads one node. `None` when it has no name to refer to it by.
pub(crate) fn read<'a>(node: &'a Node, context: &mut Context<'_>, faults: &mut Faults) -> Option<Draft<'a>> {
    let word = match node.get("type").map(|entry| &entry.value) {
        Some(value) => match value.text() {
            Some(word) if matches!(&**word, "source" | "transform" | "sink") => &**word,
            Some(word) => return refused(node, word, value.span, faults),
            // Reported by the strict read below, as are a missing type and a node that is no map.
            None => "",
        },
        None => "",
    };
    let keys = if word == "source" { SOURCE } else { WITH_INPUT };
    if word.is_empty() {
        typeless(node, faults);
        return broken(node);
    }
    let fields = decode::fields(node, &format!("a {word}"), keys, faults)?;
    let name = Arc::clone(fields.text("name")?);
    let name_span = fields.node("name")?.span;
    let input = fields.text("input").zip(fields.node("input")).map(|(text, node)| (Arc::clone(text), node.span));
    let config = fields.node("config");
    let kind = match (word, config) {
        (_, None) => None,
        ("source", Some(config)) => {
            source::read(&name, config, context, faults).map(|draft| Kind::Source(Box::new(draft)))
        }
        ("transform", Some(config)) => transform::read(config, faults).map(|draft| Kind::Transform(Box::new(draft))),
        (_, Some(config)) => sink::read(&name, config, context, faults).map(|draft| Kind::Sink(Box::new(draft))),
    };
    Some(Draft { name, name_span, input, kind: kind.unwrap_or(Kind::Broken) })
}

fn typeless(node: &Node, faults: &mut Faults) {
    let message = match node.get("type") {
        Some(entry) => format!("`type` of a node must be text; it is {}", entry.value.word()),
        None if matches!(node.kind, crate::yaml::NodeKind::Map(_)) => "a node lacks the key `type`".to_string(),
        None => format!("a node must be a map; it is {}", node.word()),
    };
    faults.push(Fault::new("E000", node.span, message).help("write `type: source`, `type: transform` or `type: sink`"));
}

/// A node of a type that cannot be used.
fn refused<'a>(node: &'a Node, word: &str, span: Span, faults: &mut Faults) -> Option<Draft<'a>> {
    let shown = node.get("name").map_or("?".to_string(), |entry| faults.place().shown(&entry.value));
    if word == "output" {
        let message = format!("node `{shown}`: `type: output` is retired");
        faults.push(Fault::new("E376", span, message).help("write `type: sink`"));
    } else if TYPES.contains(&word) {
        let message = format!("node `{shown}`: node type `{word}` is not available in this version");
        faults.push(Fault::new("E000", span, message).help("this version runs source, transform and sink nodes"));
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
    let input = node.get("input").and_then(|entry| Some((Arc::clone(entry.value.text()?), entry.value.span)));
    Some(Draft { name: Arc::clone(entry.value.text()?), name_span: entry.value.span, input, kind: Kind::Broken })
}
