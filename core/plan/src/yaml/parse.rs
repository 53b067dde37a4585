//! From parser events to the tree, under the budgets.

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::sync::Arc;

use clinker_diagnostics::Span;
use saphyr_parser::{Event, Parser, ScalarStyle, Span as EventSpan, Tag};

use super::tree::{Entry, Node, NodeKind, Scalar, Style};
use crate::faults::Fault;

/// Deepest nesting.
const MAX_DEPTH: usize = 256;
/// Most nodes, keys included, after the expansion of aliases.
const MAX_NODES: usize = 100_000;

/// Parses one document. An empty one is a null scalar. Repeated keys leave the tree usable and are given beside it.
pub(crate) fn parse(text: &str) -> Result<(Node, Vec<Fault>), Vec<Fault>> {
    let index = CharIndex::new(text);
    let mut builder = Builder::new(text, &index);
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => {
                if let Err(fault) = builder.take(event, span) {
                    builder.faults.push(fault);
                    return Err(builder.faults);
                }
            }
            Err(error) => {
                let at = index.byte(text, error.marker().index());
                let message = format!("the document is not valid YAML: {}", error.info());
                builder.faults.push(fault(Span::new(at, at + 1), message).help(syntax_help(error.info())));
                return Err(builder.faults);
            }
        }
    }
    let empty = Scalar { text: Arc::from(""), style: Style::Plain, forced_text: false };
    let root = builder.root.unwrap_or(Node { span: Span::default(), kind: NodeKind::Scalar(empty) });
    Ok((root, builder.faults))
}

/// Byte offsets of character positions, by a checkpoint every 256 characters.
struct CharIndex {
    ascii: bool,
    checkpoints: Vec<usize>,
}

impl CharIndex {
    const STEP: usize = 256;

    fn new(text: &str) -> Self {
        let ascii = text.is_ascii();
        let checkpoints =
            if ascii { Vec::new() } else { text.char_indices().step_by(Self::STEP).map(|(byte, _)| byte).collect() };
        Self { ascii, checkpoints }
    }

    fn byte(&self, text: &str, char_index: usize) -> usize {
        if self.ascii {
            return char_index.min(text.len());
        }
        let Some(start) = self.checkpoints.get(char_index / Self::STEP) else { return text.len() };
        let rest = &text[*start..];
        rest.char_indices().nth(char_index % Self::STEP).map_or(text.len(), |(byte, _)| start + byte)
    }
}

/// A collection that is being filled.
enum Open {
    List {
        start: Span,
        anchor: usize,
        items: Vec<Node>,
        nodes: usize,
    },
    Map {
        start: Span,
        anchor: usize,
        entries: Vec<Entry>,
        seen: HashMap<Arc<str>, Span>,
        key: Option<(Arc<str>, Span)>,
        nodes: usize,
    },
}

struct Builder<'a> {
    text: &'a str,
    index: &'a CharIndex,
    open: Vec<Open>,
    /// Finished anchored nodes and how many nodes each holds.
    anchors: HashMap<usize, (Node, usize)>,
    root: Option<Node>,
    documents: usize,
    nodes: usize,
    faults: Vec<Fault>,
}

impl<'a> Builder<'a> {
    fn new(text: &'a str, index: &'a CharIndex) -> Self {
        Builder {
            text,
            index,
            open: Vec::new(),
            anchors: HashMap::new(),
            root: None,
            documents: 0,
            nodes: 0,
            faults: Vec::new(),
        }
    }

    fn span(&self, span: EventSpan) -> Span {
        let start = self.index.byte(self.text, span.start.index());
        Span::new(start, self.index.byte(self.text, span.end.index()).max(start))
    }

    fn take(&mut self, event: Event<'_>, span: EventSpan) -> Result<(), Fault> {
        let span = self.span(span);
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    let message = "a second YAML document begins here; a file holds one document";
                    return Err(fault(span, message).help("keep one document in a file"));
                }
            }
            Event::Alias(anchor) => self.alias(anchor, span)?,
            Event::Scalar(text, style, anchor, tag) => self.scalar(&text, style, anchor, tag.as_deref(), span)?,
            Event::SequenceStart(anchor, tag) => {
                self.collection_tag(tag.as_deref(), "seq", span)?;
                self.enter(Open::List { start: span, anchor, items: Vec::new(), nodes: 1 }, span)?;
            }
            Event::MappingStart(anchor, tag) => {
                self.collection_tag(tag.as_deref(), "map", span)?;
                let (entries, seen) = (Vec::new(), HashMap::new());
                self.enter(Open::Map { start: span, anchor, entries, seen, key: None, nodes: 1 }, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.leave(span)?,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn count(&mut self, nodes: usize, span: Span) -> Result<(), Fault> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            let message = format!("the document has more than {MAX_NODES} YAML nodes, aliases expanded");
            return Err(fault(span, message));
        }
        Ok(())
    }

    fn enter(&mut self, open: Open, span: Span) -> Result<(), Fault> {
        self.count(1, span)?;
        if self.open.len() >= MAX_DEPTH {
            return Err(fault(span, format!("the document nests deeper than {MAX_DEPTH} levels")));
        }
        self.open.push(open);
        Ok(())
    }

    fn leave(&mut self, end: Span) -> Result<(), Fault> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let (start, anchor, kind, nodes) = match open {
            Open::List { start, anchor, items, nodes } => (start, anchor, NodeKind::List(items), nodes),
            Open::Map { start, anchor, entries, nodes, .. } => (start, anchor, NodeKind::Map(entries), nodes),
        };
        // Block collections end where the next token begins: the blanks in between are not theirs.
        let inner = &self.text[start.start..end.end.max(start.start)];
        let span = Span::new(start.start, start.start + inner.trim_end().len());
        self.place(Node { span, kind }, anchor, nodes, end)
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Fault> {
        let Some((node, nodes)) = self.anchors.get(&anchor) else {
            return Err(fault(span, "this alias stands inside the node it refers to"));
        };
        let (nodes, deep) = (*nodes, depth(node));
        if self.open.len() + deep > MAX_DEPTH {
            return Err(fault(span, format!("the document nests deeper than {MAX_DEPTH} levels")));
        }
        // Counted before it is copied, so that a bomb is never expanded.
        self.count(nodes, span)?;
        let node = self.anchors[&anchor].0.clone();
        self.place(node, 0, nodes, span)
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<(), Fault> {
        self.count(1, span)?;
        // The parser counts blanks behind a scalar as its own.
        let span = Span::new(span.start, span.start + self.text[span.start..span.end].trim_end().len());
        let forced_text = match tag {
            None => false,
            Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => true,
            Some(tag) => return Err(refused_tag(tag, span)),
        };
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::Single,
            ScalarStyle::DoubleQuoted => Style::Double,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        let scalar = Scalar { text: Arc::from(text), style, forced_text };
        self.place(Node { span, kind: NodeKind::Scalar(scalar) }, anchor, 1, span)
    }

    fn collection_tag(&self, tag: Option<&Tag>, own: &str, span: Span) -> Result<(), Fault> {
        match tag {
            Some(tag) if !(tag.is_yaml_core_schema() && tag.suffix == own) => Err(refused_tag(tag, span)),
            _ => Ok(()),
        }
    }

    /// Puts a finished node where it belongs: as the root, an item, a key or a value.
    fn place(&mut self, node: Node, anchor: usize, nodes: usize, span: Span) -> Result<(), Fault> {
        if anchor > 0 {
            self.anchors.insert(anchor, (node.clone(), nodes));
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { items, nodes: sum, .. }) => {
                items.push(node);
                *sum += nodes;
            }
            Some(Open::Map { entries, seen, key, nodes: sum, .. }) => {
                *sum += nodes;
                match key.take() {
                    Some((name, key_span)) => {
                        match seen.entry(Arc::clone(&name)) {
                            MapEntry::Occupied(first) => {
                                let repeated = fault(key_span, format!("duplicate key `{name}`")).related(*first.get());
                                self.faults.push(repeated.help("keep one of the two"));
                            }
                            MapEntry::Vacant(place) => drop(place.insert(key_span)),
                        }
                        entries.push(Entry { key: name, key_span, value: node });
                    }
                    None => {
                        let NodeKind::Scalar(scalar) = node.kind else {
                            return Err(fault(span, "a key must be a scalar"));
                        };
                        *key = Some((scalar.text, node.span));
                    }
                }
            }
        }
        Ok(())
    }
}

fn fault(span: Span, message: impl Into<String>) -> Fault {
    Fault::new("E000", span, message)
}

/// The way out of what a parser calls a fault. The words are its own; what they do not tell gets the general advice.
fn syntax_help(info: &str) -> &'static str {
    if info.contains("tab") {
        "indent and separate with spaces; tabs are not allowed there"
    } else if info.contains("recursion") {
        "nest less deeply: no document needs hundreds of levels"
    } else if info.contains("block") || info.contains("simple key") {
        "look at the indentation of this line and of those above: keys of one map, and dashes of one list, begin in the \
         same column"
    } else if info.contains("flow") {
        "close what is open: every `{` needs its `}`, every `[` its `]`, with commas in between; quote texts that hold \
         such characters"
    } else if info.contains("quoted scalar") {
        "close the quotes; inside of double quotes a backslash begins an escape, inside of single ones it does not"
    } else if info.contains("anchor") || info.contains("alias") {
        "a text that begins with `*` or `&` needs quotes; an alias refers to an anchor that stands before it"
    } else {
        "quote texts that hold `: ` or ` #`, or begin with a character that YAML uses itself, such as `{`, `[`, `%`, `@`"
    }
}

fn refused_tag(tag: &Tag, span: Span) -> Fault {
    fault(span, format!("the YAML tag `{tag}` is not accepted")).help("leave the tag out")
}

/// Levels of nesting of a node; a scalar has none.
fn depth(node: &Node) -> usize {
    match &node.kind {
        NodeKind::Scalar(_) => 0,
        NodeKind::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        NodeKind::Map(entries) => 1 + entries.iter().map(|entry| depth(&entry.value)).max().unwrap_or(0),
    }
}
