//! The columns a Sink writes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use clinker_cxl::ScopeColumn;
use clinker_diagnostics::{Span, suggestion};
use clinker_record::Kind;

use crate::faults::{Fault, Faults};
use crate::graph::bind::Shape;
use crate::model::{ProjectedColumn, ProjectedFrom, Projection, WidenedColumns};
use crate::nodes::sink::{ChoiceDraft, MappingItem};

/// What a Sink can take columns from.
struct Incoming<'a> {
    columns: &'a [ScopeColumn],
    positions: HashMap<&'a str, usize>,
    /// Whether undeclared fields may be there too.
    widened: bool,
}

/// Chooses, renames and orders the incoming columns. What is wrong is reported. `at` is the Sink's configuration.
pub(crate) fn project(
    name: &str,
    choice: &ChoiceDraft<'_>,
    at: Span,
    input: &Shape,
    faults: &mut Faults,
) -> Option<Projection> {
    if !choice.readable {
        return None;
    }
    // Undeclared fields are there only for a Sink that writes unmapped columns.
    let widened = input.widened && choice.include_unmapped;
    let positions = input.columns.iter().enumerate().map(|(at, (column, _, _))| (&**column, at)).collect();
    let incoming = Incoming { columns: &input.columns, positions, widened };
    let mut fine = unknown_excludes(name, choice, &incoming, faults);
    let mut columns: Vec<ProjectedColumn> = Vec::new();
    for item in choice.mapping.iter().flatten() {
        match mapped(name, item, choice, &incoming, faults) {
            Some(from) => columns.push(ProjectedColumn { name: Arc::clone(&item.output), from, round: None }),
            None => fine = false,
        }
    }
    if choice.include_unmapped || choice.mapping.is_none() {
        let items = || choice.mapping.iter().flatten();
        let read: HashSet<&str> = items().map(|item| &*item.column).collect();
        let outputs: HashMap<&str, &MappingItem> = items().map(|item| (&*item.output, item)).collect();
        let excluded: HashSet<&str> = choice.exclude.iter().map(|(excluded, _)| &**excluded).collect();
        for (at, (column, _, _)) in input.columns.iter().enumerate() {
            let listed = read.contains(&**column) || excluded.contains(&**column);
            if listed || !(choice.include_unmapped || input.emitted[at]) {
                continue;
            }
            if let Some(item) = outputs.get(&**column) {
                displaced(name, item, faults);
                fine = false;
                continue;
            }
            columns.push(ProjectedColumn { name: Arc::clone(column), from: ProjectedFrom::Column(at), round: None });
        }
    }
    if columns.is_empty() && !widened && fine {
        nothing_left(name, choice, at, faults);
        fine = false;
    }
    for column in &mut columns {
        let layout = choice.layout.iter().find(|layout| layout.name == column.name && layout.ty.kind == Kind::Decimal);
        column.round = layout.and_then(|layout| layout.scale);
    }
    let widened = if widened { WidenedColumns::Append { except: except(choice, input) } } else { WidenedColumns::None };
    fine.then_some(Projection { columns, widened })
}

/// Names under which no undeclared field is written: declared, excluded, or mapped already. An undeclared field with
/// the output name of an item is displaced by it.
fn except(choice: &ChoiceDraft<'_>, input: &Shape) -> Vec<Arc<str>> {
    let declared = input.columns.iter().map(|(column, _, _)| Arc::clone(column));
    let excluded = choice.exclude.iter().map(|(column, _)| Arc::clone(column));
    let mapped = choice.mapping.iter().flatten().flat_map(|item| [Arc::clone(&item.column), Arc::clone(&item.output)]);
    let mut seen = HashSet::new();
    declared.chain(excluded).chain(mapped).filter(|name| seen.insert(Arc::clone(name))).collect()
}

fn unknown_excludes(name: &str, choice: &ChoiceDraft<'_>, incoming: &Incoming<'_>, faults: &mut Faults) -> bool {
    let mut fine = true;
    for (excluded, span) in &choice.exclude {
        if !incoming.widened && !incoming.positions.contains_key(&**excluded) {
            fine = false;
            let message = format!("sink `{name}`: `exclude` names `{excluded}`, which is no incoming column");
            faults.push(Fault::new("E364", *span, message).help(near(excluded, incoming.columns)));
        }
    }
    fine
}

fn mapped(
    name: &str,
    item: &MappingItem,
    choice: &ChoiceDraft<'_>,
    incoming: &Incoming<'_>,
    faults: &mut Faults,
) -> Option<ProjectedFrom> {
    if let Some((_, excluded)) = choice.exclude.iter().find(|(excluded, _)| *excluded == item.column) {
        let message = format!("sink `{name}`: `mapping` reads `{}`, which `exclude` drops", item.column);
        faults.push(Fault::new("E364", item.span, message).related(*excluded));
        return None;
    }
    match incoming.positions.get(&*item.column) {
        Some(at) => Some(ProjectedFrom::Column(*at)),
        None if incoming.widened => Some(ProjectedFrom::Widened(Arc::clone(&item.column))),
        None => {
            let message = format!("sink `{name}`: `mapping` reads `{}`, which is no incoming column", item.column);
            faults.push(Fault::new("E365", item.span, message).help(near(&item.column, incoming.columns)));
            None
        }
    }
}

fn displaced(name: &str, item: &MappingItem, faults: &mut Faults) {
    let output = &item.output;
    let message = format!("sink `{name}`: the unlisted column `{output}` would be written under the name of this item");
    faults
        .push(Fault::new("E364", item.span, message).help(format!("list `{output}`, exclude it, or rename the item")));
}

/// An output without a column would hold rows that nobody can tell from blank lines.
fn nothing_left(name: &str, choice: &ChoiceDraft<'_>, at: Span, faults: &mut Faults) {
    let (span, why) = match choice.exclude.first() {
        Some((_, span)) => (*span, "`exclude` drops every column that it would write"),
        None => (at, "`include_unmapped` is false, and the nodes above emit no column"),
    };
    let fault = Fault::new("E364", span, format!("sink `{name}` has no column to write: {why}"));
    faults.push(fault.help("keep or emit a column, or list one in `mapping`"));
}

fn near(word: &str, columns: &[ScopeColumn]) -> String {
    let names = || columns.iter().map(|(column, _, _)| &**column);
    suggestion(word, names()).unwrap_or_else(|| format!("the columns are {}", names().collect::<Vec<_>>().join(", ")))
}
