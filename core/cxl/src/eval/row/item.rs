//! Values on their way up, and the elements bound around a place.

use clinker_record::Value;

use super::super::cell::Cell;
use crate::outcome::EvalError;

/// A value on its way up.
pub(super) enum Item<'a> {
    /// Where it lies.
    Cell(Cell<'a>),
    Value(Value),
    /// Made by a constructor of this expression, so its cost is paid; with the containers inside one another.
    Built(Value, usize),
}

impl<'a> Item<'a> {
    /// What lies inside a value; it is copied out of one that does not last.
    pub(super) fn inner(self, get: impl Fn(Cell<'_>) -> Cell<'_>) -> Item<'a> {
        match self {
            Item::Cell(cell) => Item::Cell(get(cell)),
            Item::Value(value) | Item::Built(value, _) => Item::Value(get(Cell::of(&value)).to_value()),
        }
    }

    /// The elements of an array; anything else as it was.
    pub(super) fn elements(self) -> Result<Elements<'a>, Item<'a>> {
        match self {
            Item::Cell(Cell::Array(values)) => Ok(Elements::Borrowed(values)),
            Item::Value(Value::Array(values)) | Item::Built(Value::Array(values), _) => Ok(Elements::Owned(values)),
            other => Err(other),
        }
    }
}

impl Item<'_> {
    pub(super) const NULL: Item<'static> = Item::Cell(Cell::Null);

    pub(super) fn cell(&self) -> Cell<'_> {
        match self {
            Item::Cell(cell) => *cell,
            Item::Value(value) | Item::Built(value, _) => Cell::of(value),
        }
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Item::Cell(cell) => cell.to_value(),
            Item::Value(value) | Item::Built(value, _) => value,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.cell(), Cell::Null)
    }

    pub(super) fn depth(&self) -> usize {
        match self {
            Item::Built(_, depth) => *depth,
            other => other.cell().depth(),
        }
    }

    /// What placing it in a container costs beside its slot.
    pub(super) fn cost(&self) -> usize {
        if let Item::Built(..) = self { 0 } else { self.cell().bytes() }
    }
}

pub(super) type Evaluated<'a> = Result<Item<'a>, EvalError>;

/// A row, and the elements bound around a place, innermost first.
pub(super) struct Place<'p> {
    pub(super) row: usize,
    pub(super) bound: Option<&'p Bound<'p>>,
}

pub(super) struct Bound<'p> {
    pub(super) level: usize,
    pub(super) value: &'p Value,
    pub(super) outer: Option<&'p Bound<'p>>,
}

/// A place inside another one, where one more element is bound.
pub(super) struct Inside<'p> {
    pub(super) row: usize,
    pub(super) bound: Bound<'p>,
}

impl<'p> Place<'p> {
    /// The element of a binder.
    pub(super) fn bound(&self, level: usize) -> Cell<'p> {
        let mut at = self.bound;
        while let Some(bound) = at {
            if bound.level == level {
                return Cell::of(bound.value);
            }
            at = bound.outer;
        }
        unreachable!("a binder is visible only where it is bound")
    }

    pub(super) fn with(&'p self, level: usize, value: &'p Value) -> Inside<'p> {
        Inside { row: self.row, bound: Bound { level, value, outer: self.bound } }
    }
}

impl Inside<'_> {
    pub(super) fn place(&self) -> Place<'_> {
        Place { row: self.row, bound: Some(&self.bound) }
    }
}

/// The elements a closure or a comprehension runs over.
pub(super) enum Elements<'a> {
    Borrowed(&'a [Value]),
    Owned(Vec<Value>),
}

impl Elements<'_> {
    pub(super) fn slice(&self) -> &[Value] {
        match self {
            Elements::Borrowed(values) => values,
            Elements::Owned(values) => values,
        }
    }

    /// The elements at the given positions, ascending.
    pub(super) fn pick(self, positions: &[usize]) -> Vec<Value> {
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
