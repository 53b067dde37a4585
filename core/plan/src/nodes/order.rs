//! `sort_order`: the fields that records are ordered by.

use std::sync::Arc;

use clinker_cxl::ScopeColumn;
use clinker_diagnostics::{Span, suggestion};
use clinker_record::Kind;
use clinker_record::key::{KeyField, NullOrder};

use crate::decode::{self, Fields, Key, Shape, optional, required};
use crate::faults::{Fault, Faults};
use crate::model::{SortKey, SortKeyFrom, SourceOrder};
use crate::yaml::{Node, NodeKind};

const ITEM: &[Key] = &[
    required("field", Shape::Text, "the field"),
    optional("order", Shape::Word(&["asc", "desc"]), "the direction"),
    optional("null_order", Shape::Word(&["first", "last", "drop"]), "where nulls stand, or that their records go"),
];

/// The items of the list.
pub(super) const ITEMS: Shape = Shape::List(&Shape::Any(&[Shape::Text, Shape::Map(ITEM)]));

/// One field of an order, as authored.
#[derive(Debug)]
pub(crate) struct OrderField {
    pub field: Arc<str>,
    pub span: Span,
    pub key: KeyField,
    /// Records without a value go.
    pub drops_null: bool,
}

/// Whose order it is, and the code of its faults.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'a> {
    kind: &'static str,
    name: &'a str,
    code: &'static str,
}

impl<'a> Owner<'a> {
    pub(crate) fn sink(name: &'a str) -> Self {
        Self { kind: "sink", name, code: "E000" }
    }

    pub(crate) fn source(name: &'a str) -> Self {
        Self { kind: "source", name, code: "E366" }
    }
}

impl std::fmt::Display for Owner<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} `{}`", self.kind, self.name)
    }
}

/// Reads `sort_order`; an empty order when there is none, `None` when it is wrong.
pub(crate) fn read(owner: Owner<'_>, fields: &Fields<'_>, faults: &mut Faults) -> Option<Vec<OrderField>> {
    let Some(node) = fields.node("sort_order") else { return Some(Vec::new()) };
    let NodeKind::List(items) = &node.kind else { return None };
    if items.is_empty() {
        let fault = Fault::new(owner.code, node.span, format!("{owner}: `sort_order` lists no field"));
        faults.push(fault.help("name the fields, the first one first, or leave it out"));
        return None;
    }
    let mut order: Vec<OrderField> = Vec::with_capacity(items.len());
    for item in items {
        let Some(read) = one(item, faults) else { continue };
        if let Some(first) = order.iter().find(|first| first.field == read.field) {
            let message = format!("{owner}: `sort_order` lists `{}` twice", read.field);
            faults.push(Fault::new(owner.code, read.span, message).related(first.span).help("list it once"));
        }
        order.push(read);
    }
    (order.len() == items.len()).then_some(order)
}

fn one(item: &Node, faults: &mut Faults) -> Option<OrderField> {
    let ascending = KeyField { descending: false, nulls: NullOrder::Last };
    if let Some(field) = item.text() {
        return Some(OrderField { field: Arc::clone(field), span: item.span, key: ascending, drops_null: false });
    }
    let fields = decode::fields(item, "an item of `sort_order`", ITEM, faults)?;
    let field = fields.node("field")?;
    let word = |key: &str| fields.text(key).map(|word| &**word);
    let nulls = if word("null_order") == Some("first") { NullOrder::First } else { NullOrder::Last };
    Some(OrderField {
        field: Arc::clone(field.text()?),
        span: field.span,
        key: KeyField { descending: word("order") == Some("desc"), nulls },
        drops_null: word("null_order") == Some("drop"),
    })
}

/// Meets the fields with the incoming columns.
pub(crate) fn bind(
    owner: Owner<'_>,
    order: &[OrderField],
    columns: &[ScopeColumn],
    widened: bool,
    faults: &mut Faults,
) -> Option<Vec<SortKey>> {
    let mut keys = Vec::with_capacity(order.len());
    for field in order {
        let found = columns.iter().position(|(column, _, _)| *column == field.field);
        let from = match found {
            Some(at) if columns[at].2 || matches!(columns[at].1.kind, Kind::Array | Kind::Map) => {
                let message = format!("{owner}: `{}` holds several values, which have no order", field.field);
                faults.push(Fault::new("E200", field.span, message).help("order by a column of single values"));
                continue;
            }
            Some(at) => SortKeyFrom::Column(at),
            None if widened => SortKeyFrom::Widened(Arc::clone(&field.field)),
            None => {
                let names = || columns.iter().map(|(column, _, _)| &**column);
                let message = format!("{owner}: `sort_order` names `{}`, which is no incoming column", field.field);
                let all = || format!("the columns are {}", names().collect::<Vec<_>>().join(", "));
                let help = suggestion(&field.field, names()).unwrap_or_else(all);
                faults.push(Fault::new(owner.code, field.span, message).help(help));
                continue;
            }
        };
        keys.push(SortKey { name: Arc::clone(&field.field), from, key: field.key, drops_null: field.drops_null });
    }
    (keys.len() == order.len()).then_some(keys)
}

/// Reads what a Source says of the order of its files, and meets it with its columns. None when it is wrong.
pub(crate) fn declared(
    name: &str,
    fields: &Fields<'_>,
    columns: Option<&[ScopeColumn]>,
    nested: bool,
    faults: &mut Faults,
) -> Option<Option<SourceOrder>> {
    let owner = Owner::source(name);
    let Some(entry) = fields.entry("sort_order") else {
        let Some(policy) = fields.entry("on_unsorted") else { return Some(None) };
        let fault = Fault::new("E366", policy.key_span, "`on_unsorted` needs `sort_order`");
        faults.push(fault.help("add `sort_order`, or leave `on_unsorted` out"));
        return None;
    };
    let order = read(owner, fields, faults)?;
    let mut dropping = order.iter().filter(|field| field.drops_null).peekable();
    if dropping.peek().is_some() {
        for field in dropping {
            let message = format!("{owner}: `null_order: drop` of `{}` would lose records of a source", field.field);
            faults.push(Fault::new("E366", field.span, message).help("write `first` or `last`"));
        }
        return None;
    }
    if nested {
        let message = format!("{owner}: records inside nested or repeated envelopes have no order of their own");
        faults
            .push(Fault::new("E366", entry.key_span, message).help("leave `sort_order` out; a sink can order records"));
        return None;
    }
    let keys = bind(owner, &order, columns?, false, faults)?;
    let refuses = fields.text("on_unsorted").is_some_and(|word| &**word == "error");
    Some(Some(SourceOrder { keys, refuses }))
}
