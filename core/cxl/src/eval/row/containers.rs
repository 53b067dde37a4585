//! Constructors and closures.

use std::collections::HashSet;
use std::sync::Arc;

use clinker_diagnostics::Span;
use clinker_record::Value;

use super::super::budget::MAX_DEPTH;
use super::super::cell::{Cell, SLOT};
use super::super::faults;
use super::item::{Evaluated, Item, Place};
use super::{Evaluator, at};
use crate::ir::{ClosureMethod, Key, Node};
use crate::outcome::EvalError;
use crate::syntax::logical_key;

impl<'e> Evaluator<'e> {
    /// Charges a part of a container that is constructed.
    fn construct(&self, cost: usize, span: Span, place: &Place<'_>) -> Result<(), EvalError> {
        self.frame.budget.construct(self.batch_row(place), cost).map_err(at(span))
    }

    /// Charges a part of a container that a method builds.
    fn build(&self, value: &Value, span: Span, place: &Place<'_>) -> Result<(), EvalError> {
        let cell = Cell::of(value);
        self.frame.budget.build(self.batch_row(place), SLOT + cell.bytes()).map_err(at(span))?;
        check_depth(cell.depth() + 1, span)
    }

    pub(super) fn array<'a>(&'a self, items: &'e [Node], span: Span, place: &'a Place<'a>) -> Evaluated<'a> {
        let (mut values, mut depth) = (Vec::with_capacity(items.len()), 0);
        for item in items {
            let item = self.eval(item, place)?;
            self.construct(SLOT + item.cost(), span, place)?;
            depth = depth.max(item.depth());
            values.push(item.into_value());
        }
        check_depth(depth + 1, span)?;
        Ok(Item::Built(Value::Array(values), depth + 1))
    }

    pub(super) fn map<'a>(&'a self, entries: &'e [(Key, Node)], span: Span, place: &'a Place<'a>) -> Evaluated<'a> {
        let (mut values, mut depth) = (Vec::with_capacity(entries.len()), 0);
        let mut known = HashSet::new();
        for (key, value) in entries {
            let key = match key {
                // Checked against one another, but not against computed ones, when the program was read.
                Key::Static(key) => Arc::clone(key),
                Key::Computed(node) => self.key(node, place)?,
            };
            let logical = logical_key(&key).expect("a key was checked when it was made");
            if !known.insert(logical.to_owned()) {
                return Err(at(span)(faults::duplicate_key(logical)));
            }
            let value = self.eval(value, place)?;
            self.construct(2 * SLOT + key.len() + value.cost(), span, place)?;
            depth = depth.max(value.depth());
            values.push((key, value.into_value()));
        }
        check_depth(depth + 1, span)?;
        Ok(Item::Built(Value::Map(values), depth + 1))
    }

    fn key(&self, node: &'e Node, place: &Place<'_>) -> Result<Arc<str>, EvalError> {
        let item = self.eval(node, place)?;
        match item.cell() {
            Cell::Text(text) if logical_key(text).is_some() => Ok(text.into()),
            Cell::Text(text) => Err(at(node.span)(faults::invalid_key(text))),
            other => Err(at(node.span)(faults::mismatch("String", other))),
        }
    }

    pub(super) fn comprehension<'a>(
        &'a self,
        source: &'e Node,
        (level, predicate, item): (usize, Option<&'e Node>, &'e Node),
        span: Span,
        place: &'a Place<'a>,
    ) -> Evaluated<'a> {
        let elements = self.eval(source, place)?.elements();
        let elements = elements.map_err(|other| at(source.span)(faults::mismatch("Array", other.cell())))?;
        let (mut values, mut depth) = (Vec::new(), 0);
        for value in elements.slice() {
            self.construct(SLOT, span, place)?;
            let inside = place.with(level, value);
            if let Some(predicate) = predicate {
                match self.eval(predicate, &inside.place())?.cell() {
                    Cell::Bool(true) => {}
                    Cell::Bool(false) => continue,
                    other => return Err(at(predicate.span)(faults::mismatch("Bool", other))),
                }
            }
            let inside = inside.place();
            let item = self.eval(item, &inside)?;
            self.construct(item.cost(), span, place)?;
            depth = depth.max(item.depth());
            values.push(item.into_value());
        }
        check_depth(depth + 1, span)?;
        Ok(Item::Built(Value::Array(values), depth + 1))
    }

    pub(super) fn closure<'a>(
        &'a self,
        method: ClosureMethod,
        receiver: &'e Node,
        (level, body): (usize, &'e Node),
        span: Span,
        place: &'a Place<'a>,
    ) -> Evaluated<'a> {
        let Ok(elements) = self.eval(receiver, place)?.elements() else { return Ok(Item::NULL) };
        let holds =
            |value: &Value| self.truth(body, &place.with(level, value).place()).map(|truth| truth == Some(true));
        let values = match method {
            ClosureMethod::Find => {
                for value in elements.slice() {
                    if holds(value)? {
                        return Ok(Item::Value(value.clone()));
                    }
                }
                return Ok(Item::NULL);
            }
            ClosureMethod::Any => {
                for value in elements.slice() {
                    if holds(value)? {
                        return Ok(Item::Cell(Cell::Bool(true)));
                    }
                }
                return Ok(Item::Cell(Cell::Bool(false)));
            }
            ClosureMethod::Filter => {
                let mut kept = Vec::new();
                for (position, value) in elements.slice().iter().enumerate() {
                    if holds(value)? {
                        self.build(value, span, place)?;
                        kept.push(position);
                    }
                }
                elements.pick(&kept)
            }
            ClosureMethod::Map | ClosureMethod::FlatMap => {
                let results = elements
                    .slice()
                    .iter()
                    .map(|value| self.eval(body, &place.with(level, value).place()).map(Item::into_value));
                self.collected(results, method == ClosureMethod::FlatMap, span, place)?
            }
        };
        Ok(Item::Value(Value::Array(values)))
    }

    /// The results of a closure; when they are spliced, arrays give their elements and null gives nothing.
    fn collected(
        &self,
        results: impl Iterator<Item = Result<Value, EvalError>>,
        spliced: bool,
        span: Span,
        place: &Place<'_>,
    ) -> Result<Vec<Value>, EvalError> {
        let mut values = Vec::new();
        for result in results {
            match result? {
                Value::Null if spliced => {}
                Value::Array(inner) if spliced => {
                    inner.iter().try_for_each(|value| self.build(value, span, place))?;
                    values.extend(inner);
                }
                result => {
                    self.build(&result, span, place)?;
                    values.push(result);
                }
            }
        }
        Ok(values)
    }
}

fn check_depth(depth: usize, span: Span) -> Result<(), EvalError> {
    if depth > MAX_DEPTH { Err(at(span)(faults::construction_depth())) } else { Ok(()) }
}
