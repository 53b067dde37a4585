//! What a Merge makes of the columns of its inputs.

use std::collections::HashMap;
use std::sync::Arc;

use clinker_cxl::{DocumentNames, ScopeColumn, join_types};
use clinker_diagnostics::Span;
use clinker_record::Type;

use crate::faults::{Fault, Faults};
use crate::graph::bind::Shape;

/// An input: what it is called, where that stands, and its columns.
pub(super) struct MergeInput<'a> {
    pub name: &'a str,
    pub span: Span,
    pub shape: &'a Shape,
}

/// The united columns, and where each input has them.
pub(super) struct United {
    pub shape: Shape,
    /// For each input, for each output column, the input's column.
    pub columns: Vec<Vec<usize>>,
}

/// Matches the columns by name, in the order of the first input. What differs is reported.
pub(super) fn unite(merge: &str, inputs: &[MergeInput<'_>], faults: &mut Faults) -> Option<United> {
    let first = inputs.first()?;
    let mut differences = Differences { found: Vec::new(), span: None };
    let mut columns = first.shape.columns.clone();
    let mut positions = vec![(0..columns.len()).collect::<Vec<usize>>()];
    for input in &inputs[1..] {
        positions.push(place(first, input, &mut differences));
    }
    for (input, positions) in inputs.iter().zip(&positions).skip(1) {
        for (column, at) in columns.iter_mut().zip(positions).filter(|(_, at)| **at != usize::MAX) {
            match joined(column, &input.shape.columns[*at]) {
                Some(joined) => *column = joined,
                None => {
                    let (name, theirs) = (&column.0, written(&input.shape.columns[*at]));
                    let before = written(column);
                    differences.add(input, format!("`{name}` is {theirs} in `{}` and {before} before it", input.name));
                }
            }
        }
    }
    if let Some(span) = differences.span {
        let message = format!("merge `{merge}`: its inputs differ: {}", differences.found.join("; "));
        let fault = Fault::new("E391", span, message).related(first.span);
        faults.push(fault.help("give all inputs the same columns, for example with a transform or another schema"));
        return None;
    }
    // What the inputs emitted is no longer told apart.
    let shape = Shape {
        emitted: vec![true; columns.len()],
        columns,
        widened: first.shape.widened,
        undeclared_arrays: inputs.iter().any(|input| input.shape.undeclared_arrays),
        documents: documents(inputs),
    };
    Some(United { shape, columns: positions })
}

/// What differs, and the first input at which something does.
struct Differences {
    found: Vec<String>,
    span: Option<Span>,
}

impl Differences {
    fn add(&mut self, input: &MergeInput<'_>, message: String) {
        self.span = self.span.or(Some(input.span));
        self.found.push(message);
    }
}

/// Where an input has the columns of the first one.
fn place(first: &MergeInput<'_>, input: &MergeInput<'_>, differences: &mut Differences) -> Vec<usize> {
    let columns = &input.shape.columns;
    let by_name: HashMap<&str, usize> = columns.iter().enumerate().map(|(at, column)| (&*column.0, at)).collect();
    let places: Vec<usize> =
        first.shape.columns.iter().map(|column| by_name.get(&*column.0).copied().unwrap_or(usize::MAX)).collect();
    let lacks = |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let wanted = first.shape.columns.iter().zip(&places).filter(|(_, at)| **at == usize::MAX);
    let wanted: Vec<&str> = wanted.map(|(column, _)| &*column.0).collect();
    if !wanted.is_empty() {
        differences.add(input, format!("`{}` lacks {}, which `{}` has", input.name, lacks(wanted), first.name));
    }
    let mut known = vec![false; columns.len()];
    places.iter().filter(|at| **at != usize::MAX).for_each(|at| known[*at] = true);
    let more = columns.iter().zip(&known).filter(|(_, known)| !**known);
    let more: Vec<&str> = more.map(|(column, _)| &*column.0).collect();
    if !more.is_empty() {
        differences.add(input, format!("`{}` has {}, which `{}` lacks", input.name, lacks(more), first.name));
    }
    if first.shape.widened != input.shape.widened {
        let (with, without) = if first.shape.widened { (first, input) } else { (input, first) };
        let message =
            format!("records of `{}` may carry undeclared fields (`on_unmapped: {{ mode: auto_widen }}`)", with.name);
        differences.add(input, format!("{message}, those of `{}` do not", without.name));
    }
    places
}

/// The column that holds the values of both.
fn joined(one: &ScopeColumn, other: &ScopeColumn) -> Option<ScopeColumn> {
    let (name, ty, multiple) = one;
    let (_, other_ty, other_multiple) = other;
    let column = |ty: Type, multiple: bool| (name.clone(), ty, multiple);
    match (multiple, other_multiple) {
        (false, false) => Some(column(join_types(*ty, *other_ty)?, false)),
        // Both hold several values: which ones is not part of an array's type.
        (true, true) => Some(column(Type { kind: ty.kind, nullable: ty.nullable || other_ty.nullable }, true)),
        _ => Some(column(join_types(array(one), array(other))?, false)),
    }
}

/// The type of a column as a batch has it.
fn array((_, ty, multiple): &ScopeColumn) -> Type {
    if *multiple { Type { kind: clinker_record::Kind::Array, nullable: ty.nullable } } else { *ty }
}

fn written(column: &ScopeColumn) -> String {
    format!("`{}`", array(column))
}

/// The documents of all inputs, each Source once.
fn documents(inputs: &[MergeInput<'_>]) -> Vec<Arc<DocumentNames>> {
    let mut documents: Vec<Arc<DocumentNames>> = Vec::new();
    for names in inputs.iter().flat_map(|input| &input.shape.documents) {
        if !documents.iter().any(|known| Arc::ptr_eq(known, names)) {
            documents.push(Arc::clone(names));
        }
    }
    documents
}
