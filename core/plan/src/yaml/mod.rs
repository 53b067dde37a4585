//! YAML with exact places: a tree of our own over parser events.
//!
//! [`Document::read`] substitutes environment references, parses under the budgets and keeps what diagnostics need:
//! the authored text, the map from substituted text back to it, and for each scalar its style, from which an offset
//! in the scalar's content is found again in the file.

mod content;
mod parse;
mod scalar;
mod substitute;
#[cfg(test)]
mod tests;
mod tree;

use std::sync::Arc;

use clinker_diagnostics::{SourceText, Span};

pub(crate) use scalar::Core;
pub(crate) use tree::{Entry, Node, NodeKind, Scalar};

use crate::Lookup;
use crate::faults::Fault;
use substitute::SourceMap;

/// Largest document, checked before parsing.
pub(crate) const MAX_BYTES: usize = 32 << 20;

/// The text a tree was read from, and how to find places of the tree in what its author wrote.
#[derive(Debug)]
pub(crate) struct Place {
    /// The authored text.
    pub source: Arc<SourceText>,
    /// The text that was parsed: after substitution.
    pub text: String,
    map: SourceMap,
}

impl Place {
    /// The authored range of a range of the parsed text.
    pub fn authored(&self, span: Span) -> Span {
        self.map.authored(span)
    }

    /// Whether lines of the parsed text are lines of the authored one, so that a snippet can be trusted.
    pub fn anchored(&self) -> bool {
        !self.map.shifts_lines()
    }

    /// The text of a scalar as its author wrote it, where a substituted value stands in it; else its content.
    pub fn shown(&self, node: &Node) -> String {
        match &node.kind {
            NodeKind::Scalar(scalar) if !self.map.substituted(node.span) => scalar.text.to_string(),
            NodeKind::Scalar(_) => {
                let span = self.authored(node.span);
                self.source.text[span.start..span.end].trim_matches(['"', '\'']).to_string()
            }
            NodeKind::List(_) => "a list".to_string(),
            NodeKind::Map(_) => "a map".to_string(),
        }
    }

    /// `message` with values that were substituted inside `span` written as their references.
    pub fn redacted(&self, span: Span, message: String) -> String {
        self.map.redacted(&self.text, &self.source.text, span, message)
    }

    /// The place in the parsed text of a range of a scalar's content.
    pub fn inside(&self, node: &Node, range: Span) -> Span {
        match &node.kind {
            NodeKind::Scalar(scalar) => content::locate(&self.text, node.span, scalar, range).unwrap_or(node.span),
            _ => node.span,
        }
    }
}

/// A parsed document.
#[derive(Debug)]
pub(crate) struct Document {
    /// Where it came from.
    pub place: Arc<Place>,
    /// Its root node.
    pub root: Node,
    /// What is wrong with it and leaves the tree usable: repeated keys.
    pub faults: Vec<Fault>,
}

/// Why there is no tree.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// It is no text that could be parsed.
    Bytes(String),
    /// Faults at places of the text, in document order.
    Text(Arc<Place>, Vec<Fault>),
}

/// The part of a range that lies on its first line, in whole characters: reports underline one line.
pub(crate) fn clipped(text: &str, span: Span) -> Span {
    let mut start = span.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = span.end.clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    let line = text.as_bytes()[start..end].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    Span::new(start, line.map_or(end, |length| start + length))
}

impl Document {
    /// Reads a document. `env` is given for the pipeline document only: no other text is substituted.
    pub fn read(shown: &str, bytes: &[u8], env: Option<&Lookup>) -> Result<Self, Unreadable> {
        if bytes.len() > MAX_BYTES {
            let message = format!("the document has {} bytes; at most {MAX_BYTES} are read", bytes.len());
            return Err(Unreadable::Bytes(message));
        }
        let raw = std::str::from_utf8(bytes).map_err(|error| {
            Unreadable::Bytes(format!("the document is not UTF-8: byte {} cannot be decoded", error.valid_up_to()))
        })?;
        let source = SourceText::new(shown, raw);
        let (text, map, faults) = substitute::substitute(raw, env);
        let place = Arc::new(Place { source, text, map });
        if !faults.is_empty() {
            return Err(Unreadable::Text(place, faults));
        }
        match parse::parse(&place.text) {
            Ok((root, faults)) => Ok(Document { place, root, faults }),
            Err(faults) => Err(Unreadable::Text(place, faults)),
        }
    }
}
