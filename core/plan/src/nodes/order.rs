//! `sort_order`: the fields that records are ordered by.

use std::sync::Arc;

use clinker_cxl::ScopeColumn;
use clinker_diagnostics::{Span, suggestion};
use clinker_record::Kind;
use clinker_record::key::{KeyField, NullOrder};

use crate::decode::{self, Fields, Key, Shape, optional, required};
use crate::faults::{Fault, Faults};
use crate::model::{SortKey, SortKeyFrom};
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

/// Reads a Sink's `sort_order`; an empty order when there is none, `None` when it is wrong.
pub(crate) fn read(name: &str, fields: &Fields<'_>, faults: &mut Faults) -> Option<Vec<OrderField>> {
    let Some(node) = fields.node("sort_order") else { return Some(Vec::new()) };
    let NodeKind::List(items) = &node.kind else { return None };
    if items.is_empty() {
        faults.error("E000", node.span, format!("sink `{name}`: `sort_order` lists no field"));
        return None;
    }
    let mut order: Vec<OrderField> = Vec::with_capacity(items.len());
    for item in items {
        let Some(read) = one(item, faults) else { continue };
        if let Some(first) = order.iter().find(|first| first.field == read.field) {
            let message = format!("sink `{name}`: `sort_order` lists `{}` twice", read.field);
            faults.push(Fault::new("E000", read.span, message).related(first.span));
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
    name: &str,
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
                let message = format!("sink `{name}`: `{}` holds several values, which have no order", field.field);
                faults.push(Fault::new("E200", field.span, message).help("order by a column of single values"));
                continue;
            }
            Some(at) => SortKeyFrom::Column(at),
            None if widened => SortKeyFrom::Widened(Arc::clone(&field.field)),
            None => {
                let names = || columns.iter().map(|(column, _, _)| &**column);
                let message =
                    format!("sink `{name}`: `sort_order` names `{}`, which is no incoming column", field.field);
                let all = || format!("the columns are {}", names().collect::<Vec<_>>().join(", "));
                let help = suggestion(&field.field, names()).unwrap_or_else(all);
                faults.push(Fault::new("E000", field.span, message).help(help));
                continue;
            }
        };
        keys.push(SortKey { name: Arc::clone(&field.field), from, key: field.key, drops_null: field.drops_null });
    }
    (keys.len() == order.len()).then_some(keys)
}
