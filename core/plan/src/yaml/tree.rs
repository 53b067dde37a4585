//! The tree: nodes with their places in the parsed text.

use std::sync::Arc;

use clinker_diagnostics::Span;

use super::scalar::Core;

/// How a scalar was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Single,
    Double,
    Literal,
    Folded,
}

/// A scalar.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    /// Its content.
    pub text: Arc<str>,
    /// How it was written.
    pub style: Style,
    /// Whether it is text whatever it looks like (`!!str`).
    pub forced_text: bool,
}

impl Scalar {
    /// What it is by the core schema.
    pub fn core(&self) -> Core {
        if self.style == Style::Plain && !self.forced_text { Core::of_plain(&self.text) } else { Core::Text }
    }
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: Arc<str>,
    pub key_span: Span,
    pub value: Node,
}

/// What a node is.
#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A node with its place in the parsed text.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub span: Span,
    pub kind: NodeKind,
}

impl Node {
    /// The text of a scalar that is text.
    pub fn text(&self) -> Option<&Arc<str>> {
        match &self.kind {
            NodeKind::Scalar(scalar) if scalar.core() == Core::Text => Some(&scalar.text),
            _ => None,
        }
    }

    /// What a scalar is.
    pub fn core(&self) -> Option<Core> {
        match &self.kind {
            NodeKind::Scalar(scalar) => Some(scalar.core()),
            _ => None,
        }
    }

    /// Whether it is a null scalar.
    pub fn is_null(&self) -> bool {
        self.core() == Some(Core::Null)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        match &self.kind {
            NodeKind::Map(entries) => entries.iter().find(|entry| &*entry.key == key),
            _ => None,
        }
    }

    /// The word messages use.
    pub fn word(&self) -> &'static str {
        match &self.kind {
            NodeKind::Scalar(scalar) => scalar.core().word(),
            NodeKind::List(_) => "a list",
            NodeKind::Map(_) => "a map",
        }
    }
}
