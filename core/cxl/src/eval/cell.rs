//! One borrowed value, and the row form of operators: what every column kernel must agree with.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use clinker_record::{Decimal, Value, text};

use super::faults;
use crate::outcome::EvalError;
use crate::syntax::ast::{ArithmeticOp, CompareOp};

/// A borrowed value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Decimal(Decimal),
    Text(&'a str),
    Date(i32),
    DateTime(i128),
    Array(&'a [Value]),
    Map(&'a [(Arc<str>, Value)]),
}

/// What an element of a container costs, beside what it holds.
pub(crate) const SLOT: usize = 32;
/// Longest String, in bytes.
pub(crate) const MAX_TEXT: usize = 10_485_760;

impl<'a> Cell<'a> {
    /// A value, borrowed.
    #[inline]
    pub(crate) fn of(value: &'a Value) -> Cell<'a> {
        match value {
            Value::Null => Cell::Null,
            Value::Bool(value) => Cell::Bool(*value),
            Value::Int(value) => Cell::Int(*value),
            Value::Float(value) => Cell::Float(*value),
            Value::Decimal(value) => Cell::Decimal(*value),
            Value::String(text) => Cell::Text(text),
            Value::Date(value) => Cell::Date(*value),
            Value::DateTime(value) => Cell::DateTime(*value),
            Value::Array(items) => Cell::Array(items),
            Value::Map(entries) => Cell::Map(entries),
        }
    }

    /// The value, owned.
    pub(crate) fn to_value(self) -> Value {
        match self {
            Cell::Null => Value::Null,
            Cell::Bool(value) => Value::Bool(value),
            Cell::Int(value) => Value::Int(value),
            Cell::Float(value) => Value::Float(value),
            Cell::Decimal(value) => Value::Decimal(value),
            Cell::Text(text) => Value::String(text.into()),
            Cell::Date(value) => Value::Date(value),
            Cell::DateTime(value) => Value::DateTime(value),
            Cell::Array(items) => Value::Array(items.to_vec()),
            Cell::Map(entries) => Value::Map(entries.to_vec()),
        }
    }

    /// Bytes that a copy takes beside the slot it lies in.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Cell::Text(text) => text.len(),
            Cell::Array(items) => items.iter().map(|item| SLOT + Cell::of(item).bytes()).sum(),
            Cell::Map(entries) => {
                entries.iter().map(|(key, value)| 2 * SLOT + key.len() + Cell::of(value).bytes()).sum()
            }
            _ => 0,
        }
    }

    /// Containers inside one another, itself included.
    pub(crate) fn depth(self) -> usize {
        match self {
            Cell::Array(items) => 1 + items.iter().map(|item| Cell::of(item).depth()).max().unwrap_or(0),
            Cell::Map(entries) => 1 + entries.iter().map(|(_, value)| Cell::of(value).depth()).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// The element at a position or the entry of a key; null for every other combination.
    pub(crate) fn at(self, index: Cell<'_>) -> Cell<'a> {
        match (self, index) {
            (Cell::Array(items), Cell::Int(index)) => {
                usize::try_from(index).ok().and_then(|index| items.get(index)).map_or(Cell::Null, Cell::of)
            }
            (Cell::Map(_), Cell::Text(key)) => self.entry(key),
            _ => Cell::Null,
        }
    }

    /// The entry of a map; null for every other value.
    pub(crate) fn entry(self, key: &str) -> Cell<'a> {
        let Cell::Map(entries) = self else { return Cell::Null };
        entries.iter().find(|(own, _)| &**own == key).map_or(Cell::Null, |(_, value)| Cell::of(value))
    }

    /// What `type_of()` gives.
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Cell::Null => "Null",
            Cell::Bool(_) => "Bool",
            Cell::Int(_) => "Int",
            Cell::Float(_) => "Float",
            Cell::Decimal(_) => "Decimal",
            Cell::Text(_) => "String",
            Cell::Date(_) => "Date",
            Cell::DateTime(_) => "DateTime",
            Cell::Array(_) => "Array",
            Cell::Map(_) => "Map",
        }
    }

    /// Appends the text form.
    pub(crate) fn append_text(self, out: &mut String) {
        match self {
            Cell::Null => {}
            Cell::Text(text) => out.push_str(text),
            Cell::Int(value) => out.push_str(itoa::Buffer::new().format(value)),
            Cell::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    Cell::of(item).append_text(out);
                }
                out.push(']');
            }
            Cell::Map(entries) => {
                out.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    out.push_str(key);
                    out.push_str(": ");
                    Cell::of(value).append_text(out);
                }
                out.push('}');
            }
            scalar => out.push_str(&text::text_form(&scalar.to_value())),
        }
    }

    /// The text form.
    pub(crate) fn text(self) -> String {
        let mut out = String::new();
        self.append_text(&mut out);
        out
    }
}

/// Exact order of an integer and a float; nothing for NaN.
#[inline]
pub(crate) fn compare_int_float(int: i64, float: f64) -> Option<Ordering> {
    let near = int as f64;
    match near.partial_cmp(&float)? {
        // 2^63 is the only float that an integer rounds to and that no integer equals.
        Ordering::Equal if float == 9_223_372_036_854_775_808.0 => Some(Ordering::Less),
        Ordering::Equal => Some(int.cmp(&(float as i64))),
        other => Some(other),
    }
}

/// What a comparison of two values says before an operator asks.
enum Relation {
    /// Ordered, or not (NaN).
    Ordered(Option<Ordering>),
    /// Only equality is defined.
    Equality(bool),
    /// Different types: unequal, and no order.
    Different,
    /// A Decimal and a Float.
    Mixed,
}

fn relation(left: Cell<'_>, right: Cell<'_>) -> Relation {
    Relation::Ordered(match (left, right) {
        (Cell::Int(a), Cell::Int(b)) => Some(a.cmp(&b)),
        (Cell::Float(a), Cell::Float(b)) => a.partial_cmp(&b),
        (Cell::Int(a), Cell::Float(b)) => compare_int_float(a, b),
        (Cell::Float(a), Cell::Int(b)) => compare_int_float(b, a).map(Ordering::reverse),
        (Cell::Decimal(a), Cell::Decimal(b)) => Some(a.numeric_cmp(b)),
        (Cell::Int(a), Cell::Decimal(b)) => Some(Decimal::from_i64(a).numeric_cmp(b)),
        (Cell::Decimal(a), Cell::Int(b)) => Some(a.numeric_cmp(Decimal::from_i64(b))),
        (Cell::Text(a), Cell::Text(b)) => Some(a.cmp(b)),
        (Cell::Date(a), Cell::Date(b)) => Some(a.cmp(&b)),
        (Cell::DateTime(a), Cell::DateTime(b)) => Some(a.cmp(&b)),
        (Cell::Bool(a), Cell::Bool(b)) => return Relation::Equality(a == b),
        (Cell::Array(a), Cell::Array(b)) => return Relation::Equality(arrays_equal(a, b)),
        (Cell::Map(a), Cell::Map(b)) => return Relation::Equality(maps_equal(a, b)),
        (Cell::Decimal(_), Cell::Float(_)) | (Cell::Float(_), Cell::Decimal(_)) => return Relation::Mixed,
        _ => return Relation::Different,
    })
}

/// Equality of patterns and of values inside containers: null equals null, and the answer is never null. A Decimal
/// equals no Float there.
pub(crate) fn pattern_equal(left: Cell<'_>, right: Cell<'_>) -> Result<bool, EvalError> {
    if matches!((left, right), (Cell::Null, Cell::Null)) {
        return Ok(true);
    }
    Ok(compare(CompareOp::Equal, left, right)?.unwrap_or(false))
}

fn arrays_equal(left: &[Value], right: &[Value]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| contained_equal(a, b))
}

fn maps_equal(left: &[(Arc<str>, Value)], right: &[(Arc<str>, Value)]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let known: HashMap<&str, &Value> = right.iter().map(|(key, value)| (&**key, value)).collect();
    left.iter().all(|(key, a)| known.get(&**key).is_some_and(|b| contained_equal(a, b)))
}

fn contained_equal(left: &Value, right: &Value) -> bool {
    pattern_equal(Cell::of(left), Cell::of(right)).unwrap_or(false)
}

/// A comparison of two values.
pub(crate) fn compare(op: CompareOp, left: Cell<'_>, right: Cell<'_>) -> Result<Option<bool>, EvalError> {
    if matches!(left, Cell::Null) || matches!(right, Cell::Null) {
        return Ok(None);
    }
    let mismatch = || Err(faults::mismatch(left.type_name(), right));
    match relation(left, right) {
        Relation::Ordered(ordering) => Ok(Some(holds(op, ordering))),
        Relation::Equality(equal) if op.is_equality() => Ok(Some(equal == (op == CompareOp::Equal))),
        Relation::Equality(_) => Err(faults::mismatch("an orderable value", left)),
        Relation::Different if op.is_equality() => Ok(Some(op == CompareOp::NotEqual)),
        Relation::Different | Relation::Mixed => mismatch(),
    }
}

/// Whether an order satisfies an operator; no order (NaN) satisfies only `!=`.
#[inline]
pub(crate) fn holds(op: CompareOp, ordering: Option<Ordering>) -> bool {
    let Some(ordering) = ordering else { return op == CompareOp::NotEqual };
    match op {
        CompareOp::Equal => ordering.is_eq(),
        CompareOp::NotEqual => ordering.is_ne(),
        CompareOp::Less => ordering.is_lt(),
        CompareOp::LessOrEqual => ordering.is_le(),
        CompareOp::Greater => ordering.is_gt(),
        CompareOp::GreaterOrEqual => ordering.is_ge(),
    }
}

/// Checked integer arithmetic.
#[inline]
pub(crate) fn int_arithmetic(op: ArithmeticOp, left: i64, right: i64) -> Result<i64, EvalError> {
    let result = match op {
        ArithmeticOp::Add => left.checked_add(right),
        ArithmeticOp::Subtract => left.checked_sub(right),
        ArithmeticOp::Multiply => left.checked_mul(right),
        ArithmeticOp::Divide | ArithmeticOp::Remainder if right == 0 => return Err(faults::division_by_zero()),
        ArithmeticOp::Divide => left.checked_div(right),
        ArithmeticOp::Remainder => Some(left.wrapping_rem(right)),
    };
    result.ok_or_else(|| faults::overflow(op.noun()))
}

/// Binary64 arithmetic.
#[inline]
pub(crate) fn float_arithmetic(op: ArithmeticOp, left: f64, right: f64) -> Result<f64, EvalError> {
    match op {
        ArithmeticOp::Divide | ArithmeticOp::Remainder if right == 0.0 => Err(faults::division_by_zero()),
        _ => Ok(float_result(op, left, right)),
    }
}

/// The IEEE result, the divisor known not to be zero.
#[inline]
pub(crate) fn float_result(op: ArithmeticOp, left: f64, right: f64) -> f64 {
    match op {
        ArithmeticOp::Add => left + right,
        ArithmeticOp::Subtract => left - right,
        ArithmeticOp::Multiply => left * right,
        ArithmeticOp::Divide => left / right,
        ArithmeticOp::Remainder => left % right,
    }
}

/// Exact arithmetic.
pub(crate) fn decimal_arithmetic(op: ArithmeticOp, left: Decimal, right: Decimal) -> Result<Decimal, EvalError> {
    let result = match op {
        ArithmeticOp::Add => left.checked_add(right),
        ArithmeticOp::Subtract => left.checked_sub(right),
        ArithmeticOp::Multiply => left.checked_mul(right),
        ArithmeticOp::Divide | ArithmeticOp::Remainder if right.is_zero() => return Err(faults::division_by_zero()),
        ArithmeticOp::Divide => left.checked_div(right),
        ArithmeticOp::Remainder => left.checked_rem(right),
    };
    result.ok_or_else(|| faults::overflow("decimal"))
}

/// An arithmetic operator on two values of any types.
pub(crate) fn arithmetic(op: ArithmeticOp, left: Cell<'_>, right: Cell<'_>) -> Result<Value, EvalError> {
    match (left, right) {
        (Cell::Null, _) | (_, Cell::Null) => Ok(Value::Null),
        (Cell::Int(a), Cell::Int(b)) => int_arithmetic(op, a, b).map(Value::Int),
        (Cell::Float(a), Cell::Float(b)) => float_arithmetic(op, a, b).map(Value::Float),
        (Cell::Int(a), Cell::Float(b)) => float_arithmetic(op, a as f64, b).map(Value::Float),
        (Cell::Float(a), Cell::Int(b)) => float_arithmetic(op, a, b as f64).map(Value::Float),
        (Cell::Decimal(a), Cell::Decimal(b)) => decimal_arithmetic(op, a, b).map(Value::Decimal),
        (Cell::Int(a), Cell::Decimal(b)) => decimal_arithmetic(op, Decimal::from_i64(a), b).map(Value::Decimal),
        (Cell::Decimal(a), Cell::Int(b)) => decimal_arithmetic(op, a, Decimal::from_i64(b)).map(Value::Decimal),
        (Cell::Text(a), Cell::Text(b)) if op == ArithmeticOp::Add => {
            check_text(a.len() + b.len())?;
            Ok(Value::String([a, b].concat().into()))
        }
        _ => Err(arithmetic_mismatch(op, left, right)),
    }
}

fn arithmetic_mismatch(op: ArithmeticOp, left: Cell<'_>, right: Cell<'_>) -> EvalError {
    let number = |cell| matches!(cell, Cell::Int(_) | Cell::Float(_) | Cell::Decimal(_));
    let text = |cell| matches!(cell, Cell::Text(_));
    match op {
        _ if number(left) && number(right) => faults::mismatch(left.type_name(), right),
        ArithmeticOp::Add if text(left) => faults::mismatch("String", right),
        ArithmeticOp::Add if !number(left) => faults::mismatch("a number or a String", left),
        _ if number(left) => faults::mismatch("a number", right),
        _ => faults::mismatch("a number", left),
    }
}

/// Negation.
pub(crate) fn negate(cell: Cell<'_>) -> Result<Value, EvalError> {
    match cell {
        Cell::Null => Ok(Value::Null),
        Cell::Int(value) => value.checked_neg().map(Value::Int).ok_or_else(|| faults::overflow("negation")),
        Cell::Float(value) => Ok(Value::Float(-value)),
        Cell::Decimal(value) => value.checked_neg().map(Value::Decimal).ok_or_else(|| faults::overflow("decimal")),
        other => Err(faults::mismatch("a number", other)),
    }
}

/// A truth value, or null.
pub(crate) fn truth(cell: Cell<'_>) -> Result<Option<bool>, EvalError> {
    match cell {
        Cell::Null => Ok(None),
        Cell::Bool(value) => Ok(Some(value)),
        other => Err(faults::mismatch("Bool", other)),
    }
}

/// Refuses a String over the limit.
pub(crate) fn check_text(bytes: usize) -> Result<(), EvalError> {
    if bytes > MAX_TEXT { Err(faults::too_large(bytes)) } else { Ok(()) }
}

/// Whether a NaN is anywhere in a value.
pub(crate) fn holds_nan(cell: Cell<'_>) -> bool {
    match cell {
        Cell::Float(value) => value.is_nan(),
        Cell::Array(items) => items.iter().any(|item| holds_nan(Cell::of(item))),
        Cell::Map(entries) => entries.iter().any(|(_, value)| holds_nan(Cell::of(value))),
        _ => false,
    }
}
