//! One row at a time: arrays, maps, access to what they hold, closures.
//!
//! Elements have types of their own and differ in number from row to row, so there is no column to run over. Columns,
//! variables and system values are taken from the frame once; everything below a node of this kind is evaluated value
//! by value, with the row forms that the column kernels must agree with.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use clinker_diagnostics::Span;
use clinker_record::{Decimal, Value};

use super::budget::MAX_DEPTH;
use super::cell::{self, Cell, SLOT};
use super::faults::{self, Faults};
use super::frame::Frame;
use super::vector::{Builder, Vector};
use super::{call, system};
use crate::check::types::Base;
use crate::functions::{Answer, Call, Function, Prepared};
use crate::ir::{ClosureMethod, Key, Node, NodeKind, SystemValue};
use crate::outcome::EvalError;
use crate::syntax::ast::{ArithmeticOp, CompareOp};
use crate::syntax::logical_key;

/// The values of an expression for the rows of a frame.
pub(super) fn evaluate(frame: &Rc<Frame<'_>>, node: &Node, faults: &mut Faults) -> Vector {
    let evaluator = Evaluator::new(frame, node);
    let mut builder = Builder::new(node.ty.base, frame.rows);
    for row in 0..frame.rows {
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

/// A value on its way up.
enum Item<'a> {
    /// Where it lies.
    Cell(Cell<'a>),
    Value(Value),
    /// Made by a constructor of this expression, so its cost is paid; with the containers inside one another.
    Built(Value, usize),
}

impl<'a> Item<'a> {
    /// What lies inside a value; it is copied out of one that does not last.
    fn inner(self, get: impl Fn(Cell<'_>) -> Cell<'_>) -> Item<'a> {
        match self {
            Item::Cell(cell) => Item::Cell(get(cell)),
            Item::Value(value) | Item::Built(value, _) => Item::Value(get(Cell::of(&value)).to_value()),
        }
    }

    /// The elements of an array; anything else as it was.
    fn elements(self) -> Result<Elements<'a>, Item<'a>> {
        match self {
            Item::Cell(Cell::Array(values)) => Ok(Elements::Borrowed(values)),
            Item::Value(Value::Array(values)) | Item::Built(Value::Array(values), _) => Ok(Elements::Owned(values)),
            other => Err(other),
        }
    }
}

impl Item<'_> {
    const NULL: Item<'static> = Item::Cell(Cell::Null);

    fn cell(&self) -> Cell<'_> {
        match self {
            Item::Cell(cell) => *cell,
            Item::Value(value) | Item::Built(value, _) => Cell::of(value),
        }
    }

    fn into_value(self) -> Value {
        match self {
            Item::Cell(cell) => cell.to_value(),
            Item::Value(value) | Item::Built(value, _) => value,
        }
    }

    fn is_null(&self) -> bool {
        matches!(self.cell(), Cell::Null)
    }

    fn depth(&self) -> usize {
        match self {
            Item::Built(_, depth) => *depth,
            other => other.cell().depth(),
        }
    }

    /// What placing it in a container costs beside its slot.
    fn cost(&self) -> usize {
        if let Item::Built(..) = self { 0 } else { self.cell().bytes() }
    }
}

type Evaluated<'a> = Result<Item<'a>, EvalError>;

/// A row, and the elements bound around a place, innermost first.
struct Place<'p> {
    row: usize,
    bound: Option<&'p Bound<'p>>,
}

struct Bound<'p> {
    level: usize,
    value: &'p Value,
    outer: Option<&'p Bound<'p>>,
}

/// A place inside another one, where one more element is bound.
struct Inside<'p> {
    row: usize,
    bound: Bound<'p>,
}

impl<'p> Place<'p> {
    /// The element of a binder.
    fn bound(&self, level: usize) -> Cell<'p> {
        let mut at = self.bound;
        while let Some(bound) = at {
            if bound.level == level {
                return Cell::of(bound.value);
            }
            at = bound.outer;
        }
        unreachable!("a binder is visible only where it is bound")
    }

    fn with(&'p self, level: usize, value: &'p Value) -> Inside<'p> {
        Inside { row: self.row, bound: Bound { level, value, outer: self.bound } }
    }
}

impl Inside<'_> {
    fn place(&self) -> Place<'_> {
        Place { row: self.row, bound: Some(&self.bound) }
    }
}

/// The elements a closure or a comprehension runs over.
enum Elements<'a> {
    Borrowed(&'a [Value]),
    Owned(Vec<Value>),
}

impl Elements<'_> {
    fn slice(&self) -> &[Value] {
        match self {
            Elements::Borrowed(values) => values,
            Elements::Owned(values) => values,
        }
    }

    /// The elements at the given positions, ascending.
    fn pick(self, positions: &[usize]) -> Vec<Value> {
        match self {
            Elements::Borrowed(values) => positions.iter().map(|&at| values[at].clone()).collect(),
            Elements::Owned(values) => {
                let mut wanted = positions.iter().peekable();
                let picked = values.into_iter().enumerate();
                picked.filter(|(at, _)| wanted.next_if_eq(&at).is_some()).map(|(_, value)| value).collect()
            }
        }
    }
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
    /// Calls that compile an argument while running, by their prepared argument's address: they remember the last one.
    calls: RefCell<HashMap<*const Prepared, Call<'e>>>,
}

impl<'e> Evaluator<'e> {
    fn new(frame: &'e Frame<'e>, node: &Node) -> Evaluator<'e> {
        let mut evaluator =
            Evaluator { frame, columns: Vec::new(), slots: Vec::new(), systems: Vec::new(), calls: RefCell::default() };
        evaluator.gather(node);
        evaluator
    }

    /// Takes what an expression reads from the frame.
    fn gather(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::Column(index) => put(&mut self.columns, *index, || self.frame.column(*index)),
            NodeKind::Slot(slot) => put(&mut self.slots, *slot, || self.frame.slot(*slot)),
            NodeKind::System(value) => self.systems.push((*value, system::value(self.frame, *value))),
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

    fn array<'a>(&'a self, items: &'e [Node], span: Span, place: &'a Place<'a>) -> Evaluated<'a> {
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

    fn map<'a>(&'a self, entries: &'e [(Key, Node)], span: Span, place: &'a Place<'a>) -> Evaluated<'a> {
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

    fn comprehension<'a>(
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

    fn closure<'a>(
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
                let mut values = Vec::new();
                for value in elements.slice() {
                    let result = self.eval(body, &place.with(level, value).place())?.into_value();
                    match result {
                        Value::Null if method == ClosureMethod::FlatMap => continue,
                        Value::Array(spliced) if method == ClosureMethod::FlatMap => {
                            spliced.iter().try_for_each(|value| self.build(value, span, place))?;
                            values.extend(spliced);
                        }
                        result => {
                            self.build(&result, span, place)?;
                            values.push(result);
                        }
                    }
                }
                values
            }
        };
        Ok(Item::Value(Value::Array(values)))
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

fn check_depth(depth: usize, span: Span) -> Result<(), EvalError> {
    if depth > MAX_DEPTH { Err(at(span)(faults::construction_depth())) } else { Ok(()) }
}
