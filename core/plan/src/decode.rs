//! Strict maps: each key is declared once, with its shape and what it means; everything else is refused.

use std::sync::Arc;

use clinker_diagnostics::{Span, nearest, suggestion};

use crate::faults::{Fault, Faults};
use crate::yaml::{Core, Entry, Node, NodeKind};

/// The shape a key's value must have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Text.
    Text,
    /// `true` or `false`.
    Bool,
    /// An integer of at least this value.
    Integer(i64),
    /// An integer or a number with a fraction.
    Number,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Text; its reader knows these words.
    Words(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A list. Its reader takes items of this shape.
    List(&'static Shape),
    /// A map with these keys.
    Map(&'static [Key]),
    /// A map from names of the author's choice. Its reader takes values of this shape.
    Named(&'static Shape),
    /// A map; what it holds depends on another key.
    Open,
    /// Anything: its reader checks it, and takes these shapes; none means that it takes whatever is written.
    Any(&'static [Shape]),
}

/// Whatever is written.
pub(crate) const ANY: Shape = Shape::Any(&[]);

/// Whether a key must, may or cannot be given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Need {
    Required,
    Optional,
    /// A key of the language that this version does not act on. Its neutral spellings (what leaving it out means) are
    /// accepted; any other value is refused by name.
    Later(&'static [&'static str]),
    /// A key that was taken out of the language: its code and the way out.
    Gone(&'static str, &'static str),
}

/// One key of a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Key {
    pub name: &'static str,
    pub shape: Shape,
    pub need: Need,
    /// What it is, for messages about it.
    pub doc: &'static str,
}

/// A key that must be given.
pub(crate) const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, shape, need: Need::Required, doc }
}

/// A key that may be given.
pub(crate) const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, shape, need: Need::Optional, doc }
}

/// A key that is not acted on yet.
pub(crate) const fn later(name: &'static str, neutral: &'static [&'static str]) -> Key {
    Key { name, shape: ANY, need: Need::Later(neutral), doc: "" }
}

/// A key that is no longer part of the language.
pub(crate) const fn gone(name: &'static str, code: &'static str, help: &'static str) -> Key {
    Key { name, shape: ANY, need: Need::Gone(code, help), doc: "" }
}

/// The given keys of a map whose values have the declared shapes.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    /// The whole map.
    pub span: Span,
    given: Vec<(&'static str, &'a Entry)>,
}

/// Reads a map. `what` names it in messages. `None` when it is no map at all, which is then reported.
pub(crate) fn fields<'a>(node: &'a Node, what: &str, keys: &'static [Key], faults: &mut Faults) -> Option<Fields<'a>> {
    let NodeKind::Map(entries) = &node.kind else {
        faults.error("E000", node.span, format!("{what} must be a map; it is {}", node.word()));
        return None;
    };
    let mut fields = Fields { span: node.span, given: Vec::new() };
    for entry in entries {
        match keys.iter().find(|key| key.name == &*entry.key) {
            None => unknown_key(entry, what, keys, faults),
            Some(key) => {
                if accept(entry, key, what, faults) {
                    fields.given.push((key.name, entry));
                }
            }
        }
    }
    for key in keys.iter().filter(|key| key.need == Need::Required) {
        if !entries.iter().any(|entry| &*entry.key == key.name) {
            let message = format!("{what} lacks the key `{}`", key.name);
            faults.push(Fault::new("E000", node.span, message).help(format!("add `{}:` ({})", key.name, key.doc)));
        }
    }
    Some(fields)
}

fn unknown_key(entry: &Entry, what: &str, keys: &'static [Key], faults: &mut Faults) {
    let names = keys.iter().filter(|key| !matches!(key.need, Need::Gone(..))).map(|key| key.name);
    let help = match nearest(&entry.key, names.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("the keys of {what} are {}", names.collect::<Vec<_>>().join(", ")),
    };
    faults.push(Fault::new("E000", entry.key_span, format!("unknown key `{}` in {what}", entry.key)).help(help));
}

/// Whether the entry is given to the reader of the map.
fn accept(entry: &Entry, key: &Key, what: &str, faults: &mut Faults) -> bool {
    match key.need {
        Need::Gone(code, help) => {
            let message = format!("`{}` is not a key of {what}", key.name);
            faults.push(Fault::new(code, entry.key_span, message).help(help));
            false
        }
        Need::Later(neutral) => {
            if !neutral.contains(&spelling(&entry.value)) {
                unavailable(&format!("`{}`", key.name), what, entry.key_span, faults);
            }
            false
        }
        Need::Required | Need::Optional => match misfit(&entry.value, key.shape) {
            None => true,
            Some(wanted) => {
                let found = match (key.shape, entry.value.text()) {
                    (Shape::Word(_), Some(_)) => format!("`{}`", faults.place().shown(&entry.value)),
                    // "must be an integer of at least 1; it is an integer" would help nobody.
                    (Shape::Integer(_), _) if matches!(entry.value.core(), Some(Core::Int(_) | Core::HugeInt)) => {
                        format!("`{}`", faults.place().shown(&entry.value))
                    }
                    _ => entry.value.word().to_string(),
                };
                let message = format!("`{}` of {what} must be {wanted}; it is {found}", key.name);
                let mut fault = Fault::new("E000", entry.value.span, message);
                if matches!(key.shape, Shape::Text | Shape::Words(_))
                    && entry.value.core().is_some_and(|core| core != Core::Null)
                {
                    let shown = faults.place().shown(&entry.value);
                    fault = fault.help(format!("quote it: `{}: \"{shown}\"`", key.name));
                } else if let Some(help) = word_help(&entry.value, key.shape) {
                    fault = fault.help(help);
                }
                faults.push(fault);
                false
            }
        },
    }
}

/// Refuses a part of the language that this version does not act on.
pub(crate) fn unavailable(thing: &str, what: &str, span: Span, faults: &mut Faults) {
    let message = format!("{thing} of {what} is not available in this version");
    faults.push(Fault::new("E000", span, message).help("leave it out; nothing is read and then ignored"));
}

/// How a value would be spelled among the neutral spellings.
fn spelling(node: &Node) -> &str {
    match &node.kind {
        NodeKind::Scalar(scalar) => &scalar.text,
        NodeKind::List(items) if items.is_empty() => "[]",
        NodeKind::Map(entries) if entries.is_empty() => "{}",
        _ => "\0",
    }
}

/// What the shape asks for, when the value does not have it.
fn misfit(node: &Node, shape: Shape) -> Option<String> {
    let fits = match shape {
        Shape::Any(_) => true,
        Shape::Text | Shape::Words(_) => node.text().is_some(),
        Shape::Bool => matches!(node.core(), Some(Core::Bool(_))),
        Shape::Number => matches!(node.core(), Some(Core::Int(_) | Core::Float(_))),
        Shape::Integer(min) => matches!(node.core(), Some(Core::Int(value)) if value >= min),
        Shape::Word(words) => node.text().is_some_and(|text| words.contains(&&**text)),
        Shape::Map(_) | Shape::Named(_) | Shape::Open => matches!(node.kind, NodeKind::Map(_)),
        Shape::List(_) => matches!(node.kind, NodeKind::List(_)),
        Shape::Texts => matches!(&node.kind, NodeKind::List(items) if items.iter().all(|item| item.text().is_some())),
    };
    (!fits).then(|| match shape {
        Shape::Text | Shape::Words(_) => "text".to_string(),
        Shape::Bool => "`true` or `false`".to_string(),
        Shape::Number => "a number".to_string(),
        Shape::Integer(i64::MIN) => "an integer".to_string(),
        Shape::Integer(min) => format!("an integer of at least {min}"),
        Shape::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Shape::Map(_) | Shape::Named(_) | Shape::Open => "a map".to_string(),
        Shape::List(_) => "a list".to_string(),
        Shape::Texts => "a list of texts".to_string(),
        Shape::Any(_) => "a value".to_string(),
    })
}

fn word_help(node: &Node, shape: Shape) -> Option<String> {
    let (Shape::Word(words), Some(text)) = (shape, node.text()) else { return None };
    suggestion(text, words.iter().copied()).or_else(|| Some(format!("write one of {}", words.join(", "))))
}

impl<'a> Fields<'a> {
    /// No keys at all.
    pub fn empty(span: Span) -> Fields<'a> {
        Fields { span, given: Vec::new() }
    }

    /// The entry of a key that was given with its declared shape.
    pub fn entry(&self, name: &str) -> Option<&'a Entry> {
        self.given.iter().find(|(given, _)| *given == name).map(|(_, entry)| *entry)
    }

    /// Its value.
    pub fn node(&self, name: &str) -> Option<&'a Node> {
        self.entry(name).map(|entry| &entry.value)
    }

    /// Text, or a word.
    pub fn text(&self, name: &str) -> Option<&'a Arc<str>> {
        self.node(name)?.text()
    }

    /// A switch.
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.node(name)?.core()? {
            Core::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// An integer.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.node(name)?.core()? {
            Core::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn items(&self, name: &str) -> Option<&'a [Node]> {
        match &self.node(name)?.kind {
            NodeKind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a map.
    pub fn entries(&self, name: &str) -> Option<&'a [Entry]> {
        match &self.node(name)?.kind {
            NodeKind::Map(entries) => Some(entries),
            _ => None,
        }
    }
}
