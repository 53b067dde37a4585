//! Blocks to columns of cells (formats.md 7.2, 7.4, 7.5).

use std::sync::Arc;

use arrow_buffer::Buffer;
use clinker_format::charset::Charset;
use clinker_format::{Block, Decoded, Decoder, Fault, RowText};
use clinker_record::cast::Cells;
use clinker_record::text::preview_bytes;
use clinker_record::{CellRef, TextCells};
use memchr::memchr;

use crate::context::BlockContext;
use crate::cutter::levels::too_many;
use crate::index::Index;
use crate::reader::{Bound, ColumnKind};
use crate::text::TextRules;

/// Splits segments into cells.
pub(crate) struct SegmentDecoder {
    bound: Arc<Bound>,
}

/// A block that is being decoded.
struct Work<'a> {
    bound: &'a Bound,
    context: &'a BlockContext,
    text: &'a TextRules,
    data: &'a [u8],
    index: Index,
    /// The most elements that a row has.
    widest: usize,
    /// Rows that are delivered.
    rows: usize,
    /// The bytes of elements are their text.
    direct: bool,
    /// Text that does not stand in the block.
    extra: Vec<u8>,
}

/// The first row that cannot be read.
struct Bad {
    row: usize,
    code: &'static str,
    /// Position in the block of the offending construct.
    at: usize,
    reason: String,
}

impl SegmentDecoder {
    pub(crate) fn new(bound: Arc<Bound>) -> Self {
        Self { bound }
    }
}

impl Decoder for SegmentDecoder {
    fn decode(&self, block: &Block, wanted: &[usize]) -> Decoded {
        let Some(context) = context_of(block) else { return Decoded::default() };
        let mut work = Work::new(&self.bound, context, &block.data, block.rows as usize);
        let bad = work.first_bad();
        if let Some(bad) = &bad {
            work.rows = bad.row;
        }
        let columns: Vec<Option<Vec<CellRef>>> = wanted.iter().map(|column| work.column(*column)).collect();
        let rows = work.rows;
        let fault = bad.map(|bad| Fault::Corruption {
            code: bad.code,
            line: block.first_line + work.index.lines_before(bad.row),
            offset: block.offset + bad.at as u64,
            reason: bad.reason,
            help: (bad.code == "E423").then(|| "raise the option, or look for a missing terminator".to_owned()),
        });
        let extra = Buffer::from_vec(work.extra);
        let cells = columns.into_iter().map(|refs| match refs {
            None => Cells::Absent(rows),
            Some(refs) => Cells::Text(TextCells { block: block.data.clone(), extra: extra.clone(), refs }),
        });
        Decoded {
            cells: cells.collect(),
            rows,
            accepted: fault.is_some().then(|| (0..rows as u32).collect()),
            fault,
            ..Decoded::default()
        }
    }

    fn row_text(&self, block: &Block, row: u32) -> RowText {
        let Some(context) = context_of(block) else {
            return RowText { line: block.first_line, offset: block.offset, raw: String::new() };
        };
        let index = Index::of(&self.bound.dialect, context, &block.data, block.rows as usize);
        let bytes = index.segment(row as usize);
        RowText {
            line: block.first_line + index.lines_before(row as usize),
            offset: block.offset + bytes.start as u64,
            raw: context.text.charset.raw_text(&block.data[bytes]),
        }
    }
}

/// The context that the cutter gave a block; none in blocks without segments.
fn context_of(block: &Block) -> Option<&BlockContext> {
    block.context.as_ref().and_then(|context| context.downcast_ref())
}

impl<'a> Work<'a> {
    fn new(bound: &'a Bound, context: &'a BlockContext, data: &'a [u8], expected_rows: usize) -> Self {
        let index = Index::of(&bound.dialect, context, data, expected_rows);
        let text = &*context.text;
        let charset = text.charset;
        let as_it_is = charset == Charset::Utf8 || data.is_ascii();
        let escapes = bound.decoded && text.escape_mark().is_some_and(|mark| memchr(mark, data).is_some());
        let rows = index.len();
        let widest = (0..rows).map(|row| index.width(row)).max().unwrap_or(0);
        Self { widest, bound, context, text, data, index, rows, direct: as_it_is && !escapes, extra: Vec::new() }
    }

    /// The first row that breaks a rule, whatever columns are wanted.
    fn first_bad(&self) -> Option<Bad> {
        let mut bad = self.undecodable();
        let mut first = |other: Option<Bad>| {
            let Some(other) = other else { return };
            if bad.as_ref().is_none_or(|bad| other.row <= bad.row) {
                bad = Some(other);
            }
        };
        if self.bound.decoded && self.text.writes_bytes() && !self.direct {
            first(self.bad_sequence());
        }
        first(self.too_many_parts());
        first(self.too_wide());
        bad
    }

    /// Bytes that mean nothing (E420).
    fn undecodable(&self) -> Option<Bad> {
        let charset = self.text.charset;
        let valid = match charset {
            Charset::Utf8 => simdutf8::basic::from_utf8(self.data).is_ok(),
            _ => self.data.is_ascii() || charset.first_undecodable(self.data).is_none(),
        };
        if valid {
            return None;
        }
        (0..self.index.len()).find_map(|row| {
            let segment = self.index.segment(row);
            let bad = charset.first_undecodable(&self.data[segment.clone()])?;
            let at = segment.start + bad.offset;
            let bytes: Vec<String> = self.data[at..at + bad.len].iter().map(|byte| format!("{byte:02X}")).collect();
            let (tag, element) = (self.tag(row), self.element_at(row, at));
            let reason = format!("{tag} element {element} is not valid {}: {}", charset.name(), bytes.join(" "));
            Some(Bad { row, code: "E420", at, reason })
        })
    }

    /// Escape sequences that write bytes that mean nothing (E420).
    fn bad_sequence(&self) -> Option<Bad> {
        for row in 0..self.index.len() {
            for number in 1..=self.index.width(row) {
                let Some((from, to)) = self.bounds(row, number) else { continue };
                if number == 1 && self.is_self_describing(row) {
                    continue;
                }
                let mut text = Vec::new();
                if let Err(error) = self.text.append(&self.data[from..to], true, &mut text) {
                    let charset = self.text.charset.name();
                    let reason =
                        format!("{} element {number} writes bytes that are not valid {charset}", self.tag(row));
                    return Some(Bad { row, code: "E420", at: from + error.offset, reason });
                }
            }
        }
        None
    }

    /// More elements than the option allows (E423).
    fn too_wide(&self) -> Option<Bad> {
        let most = self.bound.max_elements as usize;
        if self.widest <= most {
            return None;
        }
        let row = (0..self.index.len()).find(|row| self.index.width(*row) > most)?;
        let at = self.index.segment(row).start;
        Some(Bad { row, code: "E423", at, reason: too_many(&self.tag(row), self.index.width(row), self.bound) })
    }

    /// More parts than a split element has room for (E423).
    fn too_many_parts(&self) -> Option<Bad> {
        if self.bound.splits.is_empty() {
            return None;
        }
        for row in 0..self.index.len() {
            for rule in &self.bound.splits {
                let Some((from, to)) = self.bounds(row, rule.element as usize) else { continue };
                if !self.is_splittable(row, rule.element) {
                    continue;
                }
                if let Err(more) = rule.split(&self.data[from..to], self.text, |_, _, _| {}) {
                    let reason = format!(
                        "{} element {} has {} {}, and its split has room for {}",
                        self.tag(row),
                        rule.element,
                        more.found,
                        more.axis,
                        more.declared
                    );
                    return Some(Bad { row, code: "E423", at: from, reason });
                }
            }
        }
        None
    }

    fn tag(&self, row: usize) -> String {
        let at = self.index.rows[row];
        preview_bytes(&self.data[at.start as usize..self.index.ends[at.first as usize] as usize])
    }

    /// The element that a position is in.
    fn element_at(&self, row: usize, at: usize) -> usize {
        let ends = &self.index.ends[self.index.rows[row].first as usize..self.index.rows[row + 1].first as usize];
        ends.partition_point(|end| (*end as usize) < at)
    }

    /// Where an element stands; none when the row is shorter or the element empty.
    #[inline]
    fn bounds(&self, row: usize, number: usize) -> Option<(usize, usize)> {
        if number > self.index.width(row) {
            return None;
        }
        let end = self.index.rows[row].first as usize + number;
        let gap = if number == 1 { self.gap() } else { 1 };
        let (from, to) = (self.index.ends[end - 1] as usize + gap, self.index.ends[end] as usize);
        (from < to).then_some((from, to))
    }

    fn gap(&self) -> usize {
        usize::from(self.bound.dialect.framing.tag_width.is_none())
    }

    /// The cells of a column; none when no row has one.
    fn column(&mut self, column: usize) -> Option<Vec<CellRef>> {
        match self.bound.kinds[column] {
            ColumnKind::Tag => Some(self.tags()),
            ColumnKind::Key(key) => self.keys(key),
            ColumnKind::Element(number) => self.elements(number as usize),
            ColumnKind::Part(rule, part) => self.parts(rule, part),
        }
    }

    fn tags(&self) -> Vec<CellRef> {
        let rows = &self.index.rows[..self.rows];
        rows.iter().map(|row| in_block(row.start as usize, self.index.ends[row.first as usize] as usize)).collect()
    }

    fn keys(&mut self, key: usize) -> Option<Vec<CellRef>> {
        let mut refs = vec![CellRef::ABSENT; self.rows];
        let mut any = false;
        for (at, run) in self.context.keys.iter().enumerate() {
            let Some(value) = run.values.get(key).and_then(Option::as_ref) else { continue };
            let end = self.context.keys.get(at + 1).map_or(self.rows, |next| next.row as usize).min(self.rows);
            let start = (run.row as usize).min(end);
            let cell = self.in_extra(value.as_bytes());
            refs[start..end].fill(cell);
            any |= start < end;
        }
        any.then_some(refs)
    }

    fn elements(&mut self, number: usize) -> Option<Vec<CellRef>> {
        if number > self.widest {
            return None;
        }
        let has = |row: &usize| self.bounds(*row, number).is_some();
        let first = (0..self.rows).find(has)?;
        let mut refs = vec![CellRef::ABSENT; self.rows];
        if self.direct {
            for (row, cell) in refs.iter_mut().enumerate().skip(first) {
                if let Some((from, to)) = self.bounds(row, number) {
                    *cell = in_block(from, to);
                }
            }
        } else {
            for (row, cell) in refs.iter_mut().enumerate().skip(first) {
                if let Some((from, to)) = self.bounds(row, number) {
                    let decoded = number != 1 || !self.is_self_describing(row);
                    *cell = self.cell(from, to, decoded);
                }
            }
        }
        Some(refs)
    }

    fn parts(&mut self, rule: usize, part: usize) -> Option<Vec<CellRef>> {
        let rule = self.bound.splits[rule];
        let mut refs = vec![CellRef::ABSENT; self.rows];
        let mut any = false;
        for (row, cell) in refs.iter_mut().enumerate() {
            let Some((start, end)) = self.bounds(row, rule.element as usize) else { continue };
            let mut found = None;
            if self.is_splittable(row, rule.element) {
                let element = &self.data[start..end];
                // Rows with more parts than declared are not delivered.
                let _ = rule.split(element, self.text, |number, from, to| {
                    if number == part && from < to {
                        found = Some((start + from, start + to));
                    }
                });
            } else if part == 0 {
                found = Some((start, end));
            }
            if let Some((from, to)) = found {
                any = true;
                *cell = self.cell(from, to, self.is_splittable(row, rule.element));
            }
        }
        any.then_some(refs)
    }

    /// The first element of a segment that declares separators is never split or decoded.
    fn is_splittable(&self, row: usize, element: u32) -> bool {
        element != 1 || !self.is_self_describing(row)
    }

    fn is_self_describing(&self, row: usize) -> bool {
        let tags = &self.bound.dialect.framing.self_describing;
        if tags.is_empty() {
            return false;
        }
        let at = self.index.rows[row];
        let tag = &self.data[at.start as usize..self.index.ends[at.first as usize] as usize];
        tags.iter().any(|known| known.as_bytes() == tag)
    }

    /// The cell of what stands there.
    fn cell(&mut self, from: usize, to: usize, decoded: bool) -> CellRef {
        if self.direct {
            return in_block(from, to);
        }
        let wire = &self.data[from..to];
        let escapes =
            self.bound.decoded && decoded && self.text.escape_mark().is_some_and(|mark| memchr(mark, wire).is_some());
        if !escapes && (self.text.charset == Charset::Utf8 || wire.is_ascii()) {
            return in_block(from, to);
        }
        let before = self.extra.len();
        // Every row was checked; an element of a row that decodes does, too.
        let whole = self.text.append(wire, self.bound.decoded && decoded, &mut self.extra);
        debug_assert_eq!(whole, Ok(()));
        CellRef { offset: (self.data.len() + before) as u32, len: (self.extra.len() - before) as u32 }
    }

    fn in_extra(&mut self, text: &[u8]) -> CellRef {
        let before = self.extra.len();
        self.extra.extend_from_slice(text);
        CellRef { offset: (self.data.len() + before) as u32, len: text.len() as u32 }
    }
}

#[inline]
fn in_block(from: usize, to: usize) -> CellRef {
    CellRef { offset: from as u32, len: (to - from) as u32 }
}
