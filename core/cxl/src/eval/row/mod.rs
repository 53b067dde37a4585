//! One row at a time: arrays, maps, access to what they hold, closures.
//!
//! Elements have types of their own and differ in number from row to row, so there is no column to run over. Columns,
//! variables and system values are taken from the frame once; everything below a node of this kind is evaluated value
//! by value, with the row forms that the column kernels must agree with.

mod containers;
mod item;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use clinker_diagnostics::Span;
use clinker_events::Level;
use clinker_record::{Decimal, Value};

use super::cell::{self, Cell};
use super::faults::{self, Faults};
use super::frame::Frame;
use super::vector::{Builder, Vector};
use super::{call, document, system};
use item::{Evaluated, Item, Place};

use crate::check::types::Base;
use crate::document::DocumentPath;
use crate::functions::{Answer, Call, Function, Prepared};
use crate::ir::{Node, NodeKind, SystemValue};
use crate::outcome::EvalError;
use crate::syntax::ast::{ArithmeticOp, CompareOp};

/// The values of an expression for the rows of a frame.
pub(super) fn evaluate(frame: &Rc<Frame<'_>>, node: &Node, faults: &mut Faults) -> Vector {
    let evaluator = Evaluator::new(frame, node);
    let mut builder = Builder::new(node.ty.base, frame.rows);
    for row in 0..frame.rows {
        if faults.has(row as u32) {
            builder.push_value(Value::Null);
            continue;
        }
        match evaluator.eval(node, &Place { row, bound: None }) {
            Ok(item) => {
                let cost = if let Item::Built(..) = item { 0 } else { item.cell().bytes() };
                if !frame.budget.charge(cost) {
                    return Vector::NULL;
                }
                builder.push_value(item.into_value());
            }
            Err(_) if frame.budget.is_exceeded() => return Vector::NULL,
            Err(error) => {
                if !frame.budget.charge(error.bytes()) {
                    return Vector::NULL;
                }
                builder.push_value(Value::Null);
                faults.add(row as u32, error);
            }
        }
    }
    builder.finish()
}

/// Logs a message for the rows whose guard is true. Nothing of it reaches the result, failures included.
pub(super) fn trace(frame: &Rc<Frame<'_>>, (level, guard, message): (Level, Option<&Node>, &Node), faults: &Faults) {
    let mut evaluator = Evaluator::new(frame, message);
    guard.iter().for_each(|guard| evaluator.gather(guard));
    frame.budget.apart(|| {
        for row in (0..frame.rows).filter(|row| !faults.has(*row as u32)) {
            let place = Place { row, bound: None };
            let guarded = guard.map_or(Ok(Some(true)), |guard| evaluator.truth(guard, &place));
            let text = guarded.and_then(|guarded| {
                let wanted = guarded == Some(true);
                wanted.then(|| evaluator.eval(message, &place).map(|item| item.cell().text())).transpose()
            });
            let text = text.unwrap_or_else(|error| Some(format!("<trace error: {}>", error.kind.name())));
            if let Some(text) = text {
                if !frame.budget.charge(text.len()) {
                    return;
                }
                frame.log.event(frame.batch_row(row as u32), level, text);
            }
        }
    });
}

/// The error of a row form, at the expression that raised it.
fn at(span: Span) -> impl Fn(EvalError) -> EvalError {
    move |error| EvalError { span, ..error }
}

/// What the rows of a frame give to one expression.
struct Evaluator<'e> {
    frame: &'e Frame<'e>,
    columns: Vec<Option<Vector>>,
    slots: Vec<Option<Vector>>,
    systems: Vec<(SystemValue, Vector)>,
    documents: Vec<(Arc<DocumentPath>, Vector)>,
    /// Calls that compile an argument while running, by their prepared argument's address: they remember the last one.
    calls: RefCell<HashMap<*const Prepared, Call<'e>>>,
}

impl<'e> Evaluator<'e> {
    fn new(frame: &'e Frame<'e>, node: &Node) -> Evaluator<'e> {
        let mut evaluator = Evaluator {
            frame,
            columns: Vec::new(),
            slots: Vec::new(),
            systems: Vec::new(),
            documents: Vec::new(),
            calls: RefCell::default(),
        };
        evaluator.gather(node);
        evaluator
    }

    /// Takes what an expression reads from the frame.
    fn gather(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::Column(index) => put(&mut self.columns, *index, || self.frame.column(*index)),
            NodeKind::Slot(slot) => put(&mut self.slots, *slot, || self.frame.slot(*slot)),
            NodeKind::System(value) => self.systems.push((*value, system::value(self.frame, *value))),
            NodeKind::Document(path) if self.document(path).is_none() => {
                self.documents.push((Arc::clone(path), document::value(self.frame, path)));
            }
            _ => node.children().into_iter().for_each(|child| self.gather(child)),
        }
    }

    fn charge(&self, bytes: usize) -> Result<(), EvalError> {
        // The error only stops the row: the whole evaluation is given up.
        if self.frame.budget.charge(bytes) { Ok(()) } else { Err(faults::construction_limit(0)) }
    }

    fn batch_row(&self, place: &Place<'_>) -> u32 {
        self.frame.batch_row(place.row as u32)
    }

    /// Its frame is on the stack once for each level of an expression: what needs variables is in functions of its own.
    fn eval<'a>(&'a self, node: &'e Node, place: &'a Place<'a>) -> Evaluated<'a> {
        match &node.kind {
            NodeKind::Literal(_)
            | NodeKind::Column(_)
            | NodeKind::Slot(_)
            | NodeKind::Now
            | NodeKind::System(_)
            | NodeKind::Document(_)
            | NodeKind::Bound(_) => Ok(Item::Cell(self.leaf(node, place))),
            NodeKind::Negate(inner) => self.negate(inner, node.span, place),
            NodeKind::Not(inner) => self.not(inner, place),
            NodeKind::Arithmetic { first, rest } => self.arithmetic(first, rest, place),
            NodeKind::Compare { op, left, right } => self.compare(*op, left, right, node.span, place),
            NodeKind::And(operands) => self.chain(operands, false, place),
            NodeKind::Or(operands) => self.chain(operands, true, place),
            NodeKind::Coalesce(operands) => self.coalesce(operands, place),
            NodeKind::If { branches, otherwise } => self.first_true(branches, otherwise, place),
            NodeKind::Match { subject: None, arms, otherwise } => self.first_true(arms, otherwise, place),
            NodeKind::Match { subject: Some(subject), arms, otherwise } => {
                self.first_equal(subject, arms, otherwise, place)
            }
            NodeKind::Widen(base, inner) => self.widen(*base, inner, place),
            NodeKind::Call { function, operands, prepared } => {
                self.call((function, prepared), operands, node.span, place)
            }
            NodeKind::Debug { inner, label } => self.debug(inner, label.as_deref(), place),
            NodeKind::Array(items) => self.array(items, node.span, place),
            NodeKind::Map(entries) => self.map(entries, node.span, place),
            NodeKind::Comprehension { source, level, predicate, item } => {
                self.comprehension(source, (*level, predicate.as_deref(), item), node.span, place)
            }
            NodeKind::Index { base, index } => self.index(base, index, place),
            NodeKind::Member { base, name } => self.member(base, name, place),
            NodeKind::Closure { method, receiver, level, body } => {
                self.closure(*method, receiver, (*level, body), node.span, place)
            }
        }
    }

    fn leaf<'a>(&'a self, node: &'e Node, place: &'a Place<'a>) -> Cell<'a> {
        match &node.kind {
            NodeKind::Literal(value) => Cell::of(value),
            NodeKind::Column(index) => taken(&self.columns, *index).cell(place.row),
            NodeKind::Slot(slot) => taken(&self.slots, *slot).cell(place.row),
            NodeKind::Now => Cell::DateTime(self.frame.run.now),
            NodeKind::System(value) => self.system(*value).cell(place.row),
            NodeKind::Document(path) => self.document(path).map_or(Cell::Null, |vector| vector.cell(place.row)),
            NodeKind::Bound(level) => place.bound(*level),
            _ => Cell::Null,
        }
    }

    fn negate<'a>(&'a self, inner: &'e Node, span: Span, place: &'a Place<'a>) -> Evaluated<'a> {
        let inner = self.eval(inner, place)?;
        cell::negate(inner.cell()).map(Item::Value).map_err(at(span))
    }

    fn not<'a>(&'a self, inner: &'e Node, place: &'a Place<'a>) -> Evaluated<'a> {
        Ok(Item::Cell(self.truth(inner, place)?.map_or(Cell::Null, |value| Cell::Bool(!value))))
    }

    fn arithmetic<'a>(
        &'a self,
        first: &'e Node,
        rest: &'e [(ArithmeticOp, Span, Node)],
        place: &'a Place<'a>,
    ) -> Evaluated<'a> {
        let mut value = self.eval(first, place)?;
        for (op, _, operand) in rest {
            let right = self.eval(operand, place)?;
            let result = cell::arithmetic(*op, value.cell(), right.cell());
            let result = result.map_err(at(first.span.to(operand.span)))?;
            self.charge(Cell::of(&result).bytes())?;
            value = Item::Value(result);
        }
        Ok(value)
    }

    fn compare<'a>(
        &'a self,
        op: CompareOp,
        left: &'e Node,
        right: &'e Node,
        span: Span,
        place: &'a Place<'a>,
    ) -> Evaluated<'a> {
        let left = self.eval(left, place)?;
        let right = self.eval(right, place)?;
        let result = cell::compare(op, left.cell(), right.cell()).map_err(at(span))?;
        Ok(Item::Cell(result.map_or(Cell::Null, Cell::Bool)))
    }

    /// An Int as Float or Decimal; everything else as it is.
    fn widen<'a>(&'a self, base: Base, inner: &'e Node, place: &'a Place<'a>) -> Evaluated<'a> {
        let inner = self.eval(inner, place)?;
        Ok(match inner.cell() {
            Cell::Int(value) if base == Base::Float => Item::Cell(Cell::Float(value as f64)),
            Cell::Int(value) => Item::Cell(Cell::Decimal(Decimal::from_i64(value))),
            _ => inner,
        })
    }

    fn index<'a>(&'a self, base: &'e Node, index: &'e Node, place: &'a Place<'a>) -> Evaluated<'a> {
        let base = self.eval(base, place)?;
        if base.is_null() {
            return Ok(Item::NULL);
        }
        let index = self.eval(index, place)?;
        Ok(base.inner(|base| base.at(index.cell())))
    }

    fn member<'a>(&'a self, base: &'e Node, name: &str, place: &'a Place<'a>) -> Evaluated<'a> {
        Ok(self.eval(base, place)?.inner(|base| base.entry(name)))
    }

    fn system(&self, value: SystemValue) -> &Vector {
        let known = self.systems.iter().find(|(own, _)| *own == value);
        &known.expect("every system value was gathered").1
    }

    fn document(&self, path: &DocumentPath) -> Option<&Vector> {
        self.documents.iter().find(|(own, _)| **own == *path).map(|(_, vector)| vector)
    }

    fn truth(&self, node: &'e Node, place: &Place<'_>) -> Result<Option<bool>, EvalError> {
        cell::truth(self.eval(node, place)?.cell()).map_err(at(node.span))
    }

    /// `and` stops at false, `or` at true.
    fn chain<'a>(&'a self, operands: &'e [Node], stop: bool, place: &Place<'_>) -> Evaluated<'a> {
        let mut result = Cell::Bool(!stop);
        for operand in operands {
            match self.truth(operand, place)? {
                Some(value) if value == stop => return Ok(Item::Cell(Cell::Bool(stop))),
                Some(_) => {}
                None => result = Cell::Null,
            }
        }
        Ok(Item::Cell(result))
    }

    fn coalesce<'a>(&'a self, operands: &'e [Node], place: &'a Place<'a>) -> Evaluated<'a> {
        let (last, before) = operands.split_last().expect("a chain has operands");
        for operand in before {
            match self.eval(operand, place) {
                Ok(item) if item.is_null() => {}
                Err(error) if error.kind.is_arithmetic() => {}
                other => return other,
            }
        }
        self.eval(last, place)
    }

    fn first_true<'a>(
        &'a self,
        branches: &'e [(Node, Node)],
        otherwise: &'e Node,
        place: &'a Place<'a>,
    ) -> Evaluated<'a> {
        for (condition, then) in branches {
            if self.truth(condition, place)? == Some(true) {
                return self.eval(then, place);
            }
        }
        self.eval(otherwise, place)
    }

    fn first_equal<'a>(
        &'a self,
        subject: &'e Node,
        arms: &'e [(Node, Node)],
        otherwise: &'e Node,
        place: &'a Place<'a>,
    ) -> Evaluated<'a> {
        let subject = self.eval(subject, place)?;
        for (pattern, body) in arms {
            let value = self.eval(pattern, place)?;
            if cell::pattern_equal(subject.cell(), value.cell()).map_err(at(pattern.span))? {
                return self.eval(body, place);
            }
        }
        self.eval(otherwise, place)
    }

    /// A value, logged. A label that is no text makes it null, as a null argument of any method does.
    fn debug<'a>(&'a self, inner: &'e Node, label: Option<&'e Node>, place: &'a Place<'a>) -> Evaluated<'a> {
        let inner = self.eval(inner, place)?;
        let mut text = String::new();
        if let Some(label) = label {
            match self.eval(label, place)?.cell() {
                Cell::Text(label) => text.push_str(&format!("{label}: ")),
                _ => return Ok(Item::NULL),
            }
        }
        if self.frame.log.wants(Level::Trace) {
            inner.cell().append_text(&mut text);
            self.charge(text.len())?;
            self.frame.log.event(self.batch_row(place), Level::Trace, text);
        }
        Ok(inner)
    }

    fn call<'a>(
        &'a self,
        (function, prepared): (&'static Function, &'e Prepared),
        operands: &'e [Node],
        span: Span,
        place: &'a Place<'a>,
    ) -> Evaluated<'a> {
        let (receiver, args) = operands.split_first().expect("a call has a receiver");
        let receiver = self.eval(receiver, place)?;
        if receiver.is_null() && !function.sees_null {
            return Ok(Item::NULL);
        }
        let mut items = vec![receiver];
        for arg in args {
            items.push(self.eval(arg, place)?);
        }
        let remembers = function.prepares.is_some() && matches!(prepared, Prepared::None);
        let known = if remembers { self.calls.borrow_mut().remove(&std::ptr::from_ref(prepared)) } else { None };
        let mut call = known.unwrap_or_else(|| Call::new(function, prepared));
        let mut text = String::new();
        let mut cells: Vec<Cell<'_>> = items.iter().map(Item::cell).collect();
        let answer = call::answer(function, &mut call, &mut cells, &mut text).map_err(at(span));
        let result = match answer? {
            Answer::Built => Item::Value(call::built(&mut call, self.frame, place.row).map_err(at(span))?),
            Answer::Operand(0) => items.swap_remove(0),
            answer => {
                let value = call::to_value(answer, &cells, &text);
                self.charge(Cell::of(&value).bytes())?;
                Item::Value(value)
            }
        };
        if remembers {
            self.calls.borrow_mut().insert(prepared, call);
        }
        Ok(result)
    }
}

/// Something the frame gave before the first row.
fn taken(vectors: &[Option<Vector>], index: usize) -> &Vector {
    vectors[index].as_ref().expect("everything that is read was gathered")
}

fn put(vectors: &mut Vec<Option<Vector>>, index: usize, vector: impl FnOnce() -> Vector) {
    if vectors.len() <= index {
        vectors.resize(index + 1, None);
    }
    vectors[index].get_or_insert_with(vector);
}
