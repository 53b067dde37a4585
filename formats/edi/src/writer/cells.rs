//! The cells of a record, and the segment they become.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use clinker_format::OutputRows;
use clinker_record::text::{CellWriter, append_cell};
use clinker_record::{Column, Value};

use super::columns::{Columns, Element, Part};
use super::escape::{Escape, no_role};
use super::separators::Separators;
use crate::dialect::{BinaryRule, Dialect, Role};

/// Why a row, or a header, is not written.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The code.
    pub code: &'static str,
    /// The column, or what else is at fault.
    pub column: Arc<str>,
    /// The offending value.
    pub value: String,
    /// What is wrong, one line.
    pub reason: String,
}

impl Refusal {
    pub fn new(code: &'static str, column: &Arc<str>, value: &str, reason: String) -> Box<Self> {
        Box::new(Self { code, column: Arc::clone(column), value: value.to_owned(), reason })
    }
}

/// A batch with its columns bound.
pub struct Rows<'a> {
    pub given: &'a OutputRows<'a>,
    pub columns: &'a Columns,
    cells: Vec<CellWriter<'a>>,
}

impl<'a> Rows<'a> {
    pub fn new(given: &'a OutputRows<'a>, columns: &'a Columns) -> Self {
        Self { given, columns, cells: given.columns.iter().map(CellWriter::new).collect() }
    }

    pub fn is_null(&self, column: usize, row: usize) -> bool {
        self.given.columns[column].is_null(row)
    }

    pub fn name(&self, column: usize) -> &'a Arc<str> {
        &self.given.names[column]
    }

    /// The text of a cell; empty for null.
    ///
    /// # Errors
    /// An array or a map (E440), a number that is none (E443).
    pub fn text(&self, column: usize, row: usize) -> Result<Cow<'a, str>, Box<Refusal>> {
        let cells = &self.given.columns[column];
        if cells.is_null(row) {
            return Ok(Cow::Borrowed(""));
        }
        let refuse = |code, value: &Value, reason: &str| {
            let mut shown = Vec::new();
            append_cell(value, &mut shown);
            let shown = String::from_utf8_lossy(&shown).into_owned();
            Err(Refusal::new(code, self.name(column), &shown, reason.to_owned()))
        };
        match cells {
            Column::Text(array) => return Ok(Cow::Borrowed(array.value(row))),
            Column::Float(_) | Column::Dynamic(..) => match cells.value(row) {
                Value::Float(number) if !number.is_finite() => {
                    return refuse("E443", &cells.value(row), "it is no finite number");
                }
                value @ (Value::Array(_) | Value::Map(_)) => {
                    let kind = if matches!(value, Value::Map(_)) { "a map" } else { "an array" };
                    return refuse("E440", &value, &format!("it is {kind}, and an element holds one value"));
                }
                _ => {}
            },
            _ => {}
        }
        let mut text = Vec::new();
        self.cells[column].append(row, &mut text);
        Ok(Cow::Owned(String::from_utf8_lossy(&text).into_owned()))
    }
}

/// A segment without its terminator.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    pub tag: String,
    pub bytes: Vec<u8>,
    /// Elements that are not empty: number and place.
    places: Vec<(u32, Range<usize>)>,
    /// Number of the last element.
    last: u32,
}

impl Segment {
    /// A bare tag.
    pub fn new(tag: &str) -> Self {
        Self { tag: tag.to_owned(), bytes: tag.as_bytes().to_vec(), ..Self::default() }
    }

    /// Adds an element behind those there are. An empty one is remembered only by what follows it.
    ///
    /// # Errors
    /// Those of `append`.
    pub fn push<E>(
        &mut self,
        number: u32,
        dialect: &Dialect,
        separators: &Separators,
        append: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let before = self.bytes.len();
        let between = separators.element().unwrap_or_default();
        if self.last == 0 && dialect.framing.tag_width.is_none() {
            self.bytes.push(separators.get(Role::Tag).unwrap_or(between));
        }
        let steps = number.saturating_sub(self.last.max(1)) as usize;
        self.bytes.resize(self.bytes.len() + steps, between);
        let start = self.bytes.len();
        append(&mut self.bytes)?;
        if self.bytes.len() == start {
            self.bytes.truncate(before);
            return Ok(());
        }
        self.places.push((number, start..self.bytes.len()));
        self.last = number;
        Ok(())
    }

    /// Takes the bytes of a whole segment apart.
    pub fn of_wire(tag: &str, bytes: Vec<u8>, dialect: &Dialect, escape: &Escape, separators: &Separators) -> Self {
        let skip = tag.len() + usize::from(dialect.framing.tag_width.is_none());
        let mut places = Vec::new();
        let (mut start, mut last) = (skip, 0);
        for element in bytes.get(skip..).map(|rest| escape.split(rest, separators)).unwrap_or_default() {
            last += 1;
            if !element.is_empty() {
                places.push((last, start..start + element.len()));
            }
            start += element.len() + 1;
        }
        Self { tag: tag.to_owned(), bytes, places, last }
    }

    /// The bytes of an element; none when it is empty.
    pub fn element(&self, number: u32) -> Option<&[u8]> {
        let at = self.places.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(&self.bytes[self.places[at].1.clone()])
    }

    /// The number of the last element that is not empty.
    pub fn elements(&self) -> u32 {
        self.places.last().map_or(0, |(number, _)| *number)
    }

    /// All elements, decoded.
    pub fn decoded(&self, escape: &Escape) -> Vec<String> {
        (1..=self.last)
            .map(|number| self.element(number).map(|bytes| escape.decoded(bytes)).unwrap_or_default())
            .collect()
    }
}

/// Makes the segments of records.
pub struct Composer<'a> {
    pub dialect: &'a Dialect,
    pub escape: &'a Escape,
    /// The separators that the row was read with, where they are known.
    pub from: Option<&'a Separators>,
}

impl Composer<'_> {
    /// The segment of a row.
    ///
    /// # Errors
    /// A cell that has no place or no form (E440, E443, E447).
    pub fn record(&self, tag: &str, rows: &Rows<'_>, row: usize) -> Result<Segment, Box<Refusal>> {
        let mut segment = Segment::new(tag);
        let binary = self.dialect.binary.iter().find(|rule| *rule.tag == *tag);
        for element in &rows.columns.elements {
            self.push_element(&mut segment, element, rows, row, binary)?;
        }
        Ok(segment)
    }

    /// Adds the element of a row to a segment.
    ///
    /// # Errors
    /// As [`Composer::record`].
    pub fn push_element(
        &self,
        segment: &mut Segment,
        element: &Element,
        rows: &Rows<'_>,
        row: usize,
        binary: Option<&BinaryRule>,
    ) -> Result<(), Box<Refusal>> {
        let whole = element.whole.filter(|column| !rows.is_null(*column, row));
        let mut parts = element.parts.iter().filter(|part| !rows.is_null(part.column, row)).peekable();
        let Some(column) = whole else {
            if parts.peek().is_none() {
                return Ok(());
            }
            let parts: Vec<Part> = parts.copied().collect();
            let separators = &self.escape.separators;
            return segment.push(element.number, self.dialect, separators, |out| self.join(&parts, rows, row, out));
        };
        let text = rows.text(column, row)?;
        if let Some(part) = parts.next() {
            let reason = format!("`{}` holds the whole element already", rows.name(column));
            return Err(Refusal::new("E447", rows.name(part.column), &text, reason));
        }
        let refuse = |reason| Refusal::new("E443", rows.name(column), &text, reason);
        let self_describing =
            element.number == 1 && self.dialect.framing.self_describing.iter().any(|known| **known == *segment.tag);
        if self_describing {
            return segment
                .push(1, self.dialect, &self.escape.separators, |out| self.escape.encode(&text, out))
                .map_err(refuse);
        }
        if let Some(rule) = binary.filter(|rule| rule.data_element == element.number) {
            return self.push_data(segment, rule, &text).map_err(refuse);
        }
        segment
            .push(element.number, self.dialect, &self.escape.separators, |out| {
                self.escape.append(&text, self.from, false, out)
            })
            .map_err(refuse)
    }

    /// Length-counted data: any byte may stand in it, and the element with the length must say how many there are.
    fn push_data(&self, segment: &mut Segment, rule: &BinaryRule, text: &str) -> Result<(), String> {
        let declared = segment.element(rule.length_element).map(|bytes| self.escape.decoded(bytes));
        segment.push(rule.data_element, self.dialect, &self.escape.separators, |out| {
            let start = out.len();
            self.escape.encode(text, out)?;
            let len = out.len() - start;
            match declared.as_deref().map(|declared| declared.trim().parse::<usize>()) {
                Some(Ok(declared)) if declared == len => Ok(()),
                _ => {
                    let declared = declared.as_deref().unwrap_or("nothing");
                    Err(format!("it has {len} bytes, and element {} says {declared}", rule.length_element))
                }
            }
        })
    }

    /// Joins the parts of an element; empty ones at the end of each axis are not written.
    fn join(&self, parts: &[Part], rows: &Rows<'_>, row: usize, out: &mut Vec<u8>) -> Result<(), Box<Refusal>> {
        let mut at = (1, 1, 1);
        let mut seen = None;
        for part in parts {
            let place = (part.repetition, part.component, part.subcomponent);
            let text = rows.text(part.column, row)?;
            if seen.replace(place) == Some(place) {
                let reason = "another column holds the same part of the element".to_owned();
                return Err(Refusal::new("E447", rows.name(part.column), &text, reason));
            }
            if text.is_empty() {
                continue;
            }
            let refuse = |reason| Refusal::new("E443", rows.name(part.column), &text, reason);
            if place.0 > at.0 {
                self.repeat(Role::Repetition, place.0 - at.0, out).map_err(refuse)?;
                at = (place.0, 1, 1);
            }
            if place.1 > at.1 {
                self.repeat(Role::Component, place.1 - at.1, out).map_err(refuse)?;
                at = (place.0, place.1, 1);
            }
            if place.2 > at.2 {
                self.repeat(Role::Subcomponent, place.2 - at.2, out).map_err(refuse)?;
                at = place;
            }
            self.escape.append(&text, self.from, true, out).map_err(refuse)?;
        }
        Ok(())
    }

    fn repeat(&self, role: Role, times: u32, out: &mut Vec<u8>) -> Result<(), String> {
        let byte = self.escape.separators.get(role).ok_or_else(|| no_role(role))?;
        out.resize(out.len() + times as usize, byte);
        Ok(())
    }
}
