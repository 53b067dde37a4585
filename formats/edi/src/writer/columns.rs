//! What the columns of an output mean, by their names.

use std::sync::Arc;

use crate::dialect::{Dialect, Role};

/// The highest element, and the most parts on an axis.
const MAX_ELEMENT: u32 = 999;
const MAX_PARTS: u32 = 9_999;

/// The columns of an output, bound to what they mean.
#[derive(Debug, Default)]
pub struct Columns {
    names: Vec<Arc<str>>,
    /// The column with the tag.
    pub tag: Option<usize>,
    /// For each level its key columns, in the dialect's order.
    pub keys: Vec<Vec<Option<usize>>>,
    /// Elements that have a column, in order.
    pub elements: Vec<Element>,
    /// Columns that have no place.
    pub others: Vec<usize>,
}

/// The columns of one element.
#[derive(Debug, PartialEq, Eq)]
pub struct Element {
    /// Its number, from 1.
    pub number: u32,
    /// The column that holds all of it.
    pub whole: Option<usize>,
    /// Columns that hold parts of it, in the order of the parts.
    pub parts: Vec<Part>,
}

/// A column that holds a part of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// The repetition, from 1.
    pub repetition: u32,
    /// The component, from 1.
    pub component: u32,
    /// The subcomponent, from 1.
    pub subcomponent: u32,
    /// The column.
    pub column: usize,
}

impl Columns {
    /// Binds names.
    pub fn new(dialect: &Dialect, names: &[Arc<str>]) -> Self {
        let mut columns = Self { names: names.to_vec(), ..Self::default() };
        columns.keys = dialect.levels.iter().map(|level| vec![None; level.columns.len()]).collect();
        for (at, name) in names.iter().enumerate() {
            columns.bind(dialect, at, name);
        }
        columns.elements.sort_by_key(|element| element.number);
        for element in &mut columns.elements {
            element.parts.sort_unstable();
        }
        columns
    }

    /// Whether these are the names that were bound.
    pub fn are(&self, names: &[Arc<str>]) -> bool {
        self.names.len() == names.len()
            && self.names.iter().zip(names).all(|(known, name)| Arc::ptr_eq(known, name) || known == name)
    }

    fn bind(&mut self, dialect: &Dialect, at: usize, name: &str) {
        // Columns of the engine are never written.
        if name.starts_with('$') {
            return;
        }
        if *name == *dialect.columns.tag_column {
            self.tag = Some(at);
            return;
        }
        for (level, keys) in dialect.levels.iter().zip(&mut self.keys) {
            if let Some(key) = level.columns.iter().position(|key| *key.name == *name) {
                keys[key] = Some(at);
                return;
            }
        }
        let Some((number, axes)) = name.strip_prefix(&*dialect.columns.prefix).and_then(numbered) else {
            self.others.push(at);
            return;
        };
        if axes.is_empty() {
            self.element(number).whole = Some(at);
            return;
        }
        match part(dialect, axes, at) {
            Some(part) => self.element(number).parts.push(part),
            None => self.others.push(at),
        }
    }

    fn element(&mut self, number: u32) -> &mut Element {
        let at = self.elements.iter().position(|element| element.number == number).unwrap_or_else(|| {
            self.elements.push(Element { number, whole: None, parts: Vec::new() });
            self.elements.len() - 1
        });
        &mut self.elements[at]
    }

    /// The columns of element `number`.
    pub fn of(&self, number: u32) -> Option<&Element> {
        let at = self.elements.binary_search_by_key(&number, |element| element.number).ok()?;
        Some(&self.elements[at])
    }
}

/// A generated name behind its prefix: at least two digits and no further padding, and what follows them.
fn numbered(name: &str) -> Option<(u32, &str)> {
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = name.split_at(digits);
    let padded = digits > 2 && number.starts_with('0');
    let value = number.parse().ok().filter(|value| (1..=MAX_ELEMENT).contains(value))?;
    (digits >= 2 && !padded && (rest.is_empty() || rest.starts_with('_'))).then_some((value, rest))
}

/// `_r2_c1_s3`: an axis that is absent means 1. Axes for which the dialect has no separator do not exist.
fn part(dialect: &Dialect, axes: &str, column: usize) -> Option<Part> {
    let mut part = Part { repetition: 1, component: 1, subcomponent: 1, column };
    let mut rest = axes;
    for (axis, role) in [('r', Role::Repetition), ('c', Role::Component), ('s', Role::Subcomponent)] {
        let Some(tail) = rest.strip_prefix('_').and_then(|tail| tail.strip_prefix(axis)) else { continue };
        if !dialect.framing.delimiters.iter().any(|(known, _)| *known == role) {
            return None;
        }
        let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
        let number = tail[..digits].parse().ok().filter(|number| (1..=MAX_PARTS).contains(number))?;
        if tail.starts_with('0') {
            return None;
        }
        rest = &tail[digits..];
        match role {
            Role::Repetition => part.repetition = number,
            Role::Component => part.component = number,
            _ => part.subcomponent = number,
        }
    }
    rest.is_empty().then_some(part)
}
