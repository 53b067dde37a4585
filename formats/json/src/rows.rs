//! Records into columns: objects dissolve into dotted names, one column of cells a name (formats.md 5.3).
//!
//! Records of a file resemble one another, so each key is expected to be followed by the one that followed it last time:
//! then comparing the bytes of that key replaces scanning and looking it up.

mod expand;
mod node;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_buffer::Buffer;
use clinker_format::{Decoded, ExpandMode, ShapeRun};
use clinker_record::cast::Cells;
use clinker_record::{CellRef, JsonCells, JsonKind, TextCells};

use self::expand::Expansion;
use self::node::Node;
use crate::keys::{Declared, Keys, Refusal};
use crate::scan::{Flaw, MAX_DEPTH, Repeated, Scanned, Scanner, unescape};

/// Objects that dissolve into one name, the record itself included.
const MAX_LEVELS: usize = 64;
/// The record itself.
const ROOT: u32 = 0;
const NONE: u32 = u32::MAX;

/// A column.
struct Slot {
    name: Arc<str>,
    /// The record that filled it last.
    record: u32,
    /// Whether its cells are wanted.
    kept: bool,
    /// Whether several values of one record are collected.
    multiple: bool,
    /// Whether it is an undeclared column that is wanted, or refused.
    undeclared: bool,
    /// Why no record may have it.
    refusal: Option<Box<Refusal>>,
    /// Its place among the undeclared columns, once an accepted record has it.
    place: Option<u32>,
    refs: Vec<CellRef>,
    kinds: Vec<JsonKind>,
    /// Where the values of one record stand, for a column of several.
    spans: Vec<(u32, u32)>,
}

/// What became of an object.
#[derive(Debug)]
pub enum Read {
    /// So many rows: one, unless records are expanded.
    Rows(usize),
    /// Nothing: it would be more rows than are allowed. Where it begins.
    Exceeds(usize),
    /// Nothing: a name repeats in it.
    Repeats(Repeated),
    /// Nothing: it has a field that ends the reading, at a position.
    Refused(Box<Refusal>, usize),
}

/// A value: its kind, its text, and where all of it stands.
#[derive(Clone, Copy)]
struct Value {
    kind: JsonKind,
    text: CellRef,
    start: usize,
    end: usize,
}

/// The columns of a block, filled record by record.
pub struct Rows<'a> {
    data: &'a [u8],
    keys: &'a Keys,
    nodes: Vec<Node>,
    slots: Vec<Slot>,
    /// Undeclared columns by name.
    named: HashMap<Arc<str>, u32>,
    /// Undeclared columns in the order in which accepted records show them.
    order: Vec<u32>,
    /// The undeclared columns of this record, in its order.
    shape: Vec<u32>,
    /// Those of the accepted records.
    shapes: Vec<ShapeRun>,
    /// Columns of several values that are more than one in this record.
    collected: Vec<u32>,
    repeated: Option<Repeated>,
    refused: Option<(Box<Refusal>, usize)>,
    /// The state of expanding records; none where each is one row.
    expansion: Option<Box<Expansion>>,
    /// Whether records are rows whatever their names: a field that repeats keeps its first value.
    lenient: bool,
    extra: Vec<u8>,
    /// Accepted records.
    accepted: usize,
    /// Number of the record that is read, from 1 on.
    record: u32,
}

impl<'a> Rows<'a> {
    /// Empty columns for a block; `wanted` are the declared columns whose cells are kept.
    pub fn new(data: &'a [u8], rows: usize, keys: &'a Keys, wanted: &[usize]) -> Self {
        let slot = |(at, declared): (usize, &Declared)| {
            let kept = wanted.contains(&at);
            let capacity = if kept { rows } else { 0 };
            Slot {
                name: Arc::clone(&declared.name),
                record: 0,
                kept,
                multiple: declared.multiple,
                undeclared: false,
                refusal: None,
                place: None,
                refs: Vec::with_capacity(capacity),
                kinds: Vec::with_capacity(capacity),
                spans: Vec::new(),
            }
        };
        Self {
            data,
            keys,
            nodes: vec![Node::new(NONE, Arc::default())],
            slots: keys.declared.iter().enumerate().map(slot).collect(),
            named: HashMap::new(),
            order: Vec::new(),
            shape: Vec::new(),
            shapes: Vec::new(),
            collected: Vec::new(),
            repeated: None,
            refused: None,
            expansion: None,
            lenient: false,
            extra: Vec::new(),
            accepted: 0,
            record: 0,
        }
    }

    /// The same for the records that the names expand.
    pub fn expanding(data: &'a [u8], rows: usize, keys: &'a Keys, wanted: &[usize]) -> Self {
        let mut new = Self::new(data, rows, keys, wanted);
        if !keys.expand.is_empty() {
            new.begin_expanding();
        }
        new
    }

    /// The same for records that are kept as they were read, whatever is wrong with their names.
    pub fn of_originals(data: &'a [u8], keys: &'a Keys, wanted: &[usize]) -> Self {
        Self { lenient: true, ..Self::new(data, 0, keys, wanted) }
    }

    /// Reads the object that begins at the scanner, which must also end the text of the scanner where `alone` is set. It
    /// becomes a row unless it is broken or must not be one; then nothing of it is kept.
    pub fn read(&mut self, scan: &mut Scanner<'_>, depth: usize, alone: bool) -> Scanned<Read> {
        self.record += 1;
        let begin = scan.at;
        let (listed, extra) = (self.order.len(), self.extra.len());
        self.collected.clear();
        self.shape.clear();
        (self.repeated, self.refused) = (None, None);
        self.forget_object();
        let mut result = self.object(scan, depth, ROOT, 1);
        if alone && result.is_ok() {
            scan.blanks();
            if !scan.is_at_end() {
                result = Err(scan.expected("the end of the line behind the object"));
            }
        }
        if self.expansion.is_some() && result.is_ok() && self.repeated.is_none() {
            match self.expand(begin) {
                Ok(Some(rows)) => return Ok(Read::Rows(rows)),
                Ok(None) if self.repeated.is_none() && self.refused.is_none() => {
                    self.undo(listed, extra);
                    return Ok(Read::Exceeds(begin));
                }
                Ok(None) => {}
                Err(flaw) => result = Err(flaw),
            }
        } else if result.is_ok() && (self.lenient || self.repeated.is_none() && self.refused.is_none()) {
            for slot in std::mem::take(&mut self.collected) {
                self.collect(slot);
            }
            self.end_shape();
            self.accepted += 1;
            return Ok(Read::Rows(1));
        }
        self.undo(listed, extra);
        result.map(|()| match (self.repeated.take(), self.refused.take()) {
            (Some(repeated), _) => Read::Repeats(repeated),
            (None, Some((refusal, at))) => Read::Refused(refusal, at),
            (None, None) => Read::Rows(0),
        })
    }

    /// Adds the columns to what a block holds.
    pub fn finish(mut self, block: &Buffer, wanted: &[usize], decoded: &mut Decoded) {
        let extra = Buffer::from_vec(std::mem::take(&mut self.extra));
        let rows = self.accepted;
        decoded.rows = rows;
        decoded.cells = wanted.iter().map(|slot| self.slots[*slot].cells(block, &extra, rows)).collect();
        let order = std::mem::take(&mut self.order);
        let mut named = |slot: u32| {
            let slot = &mut self.slots[slot as usize];
            (Arc::clone(&slot.name), slot.cells(block, &extra, rows))
        };
        decoded.undeclared = order.into_iter().map(&mut named).collect();
        if !decoded.undeclared.is_empty() {
            decoded.shapes = self.shapes;
        }
    }

    /// Takes back what a rejected record has left.
    fn undo(&mut self, listed: usize, extra: usize) {
        let declared = 0..self.keys.declared.len() as u32;
        let undeclared = self.shape.iter().map(|place| self.order[*place as usize]);
        for slot in declared.chain(undeclared) {
            let slot = &mut self.slots[slot as usize];
            slot.refs.truncate(self.accepted);
            slot.kinds.truncate(self.accepted);
        }
        for slot in self.order.drain(listed..) {
            self.slots[slot as usize].place = None;
        }
        self.extra.truncate(extra);
    }

    /// The accepted record continues the run of those before it, or begins one.
    fn end_shape(&mut self) {
        match self.shapes.last_mut() {
            // Comparing with nothing is not free: empty slices point to no memory, which costs the processor an assist.
            Some(run) if self.shape.is_empty() && run.fields.is_empty() => run.rows += 1,
            Some(run) if run.fields == self.shape => run.rows += 1,
            _ => self.shapes.push(ShapeRun { rows: 1, fields: self.shape.clone() }),
        }
    }

    /// Reads an object whose keys stand under `root`, as the object level `level` of their names.
    fn object(&mut self, scan: &mut Scanner<'_>, depth: usize, root: u32, level: usize) -> Scanned<()> {
        let mut parents = Vec::new();
        let (mut parent, mut previous) = (root, root);
        scan.at += 1;
        scan.blanks();
        let mut more = scan.peek() != Some(b'}');
        loop {
            if more {
                let node = self.key(scan, parent, previous)?;
                previous = node;
                scan.colon()?;
                if scan.peek() == Some(b'{') {
                    if level + parents.len() + 1 > MAX_LEVELS {
                        return Err(too_many_levels(scan));
                    }
                    if depth + parents.len() + 2 > MAX_DEPTH {
                        return Err(scan.too_deep());
                    }
                    self.enter(node, scan.at);
                    parents.push(parent);
                    parent = node;
                    scan.at += 1;
                    scan.blanks();
                    more = scan.peek() != Some(b'}');
                    if !more && self.expansion.is_some() {
                        self.note_empty(node);
                    }
                    continue;
                }
                self.value(scan, node, depth + parents.len() + 1)?;
                scan.blanks();
            }
            match scan.peek() {
                Some(b',') if more => {
                    scan.at += 1;
                    scan.blanks();
                }
                Some(b'}') => {
                    scan.at += 1;
                    let Some(outer) = parents.pop() else { return Ok(()) };
                    parent = outer;
                    scan.blanks();
                    // What follows is a comma or another end, never a key.
                    more = false;
                    if scan.take(b',') {
                        scan.blanks();
                        more = true;
                    }
                }
                _ => return Err(scan.expected("`,` or `}`")),
            }
        }
    }

    #[inline]
    fn key(&mut self, scan: &mut Scanner<'_>, parent: u32, previous: u32) -> Scanned<u32> {
        let next = self.nodes[previous as usize].next;
        let expected = &self.nodes[next as usize];
        if expected.parent == parent && expected.is_next(&self.data[scan.at..]) {
            scan.at += expected.quoted.len();
            return Ok(next);
        }
        self.other_key(scan, parent, previous)
    }

    /// A key that is not the expected one.
    #[cold]
    fn other_key(&mut self, scan: &mut Scanner<'_>, parent: u32, previous: u32) -> Scanned<u32> {
        if scan.peek() != Some(b'"') {
            return Err(scan.expected("a key in double quotes"));
        }
        let text = scan.string()?;
        let mut plain = Vec::new();
        let bytes = if text.escaped {
            unescape(&self.data[text.start..text.end], &mut plain);
            plain.as_slice()
        } else {
            &self.data[text.start..text.end]
        };
        let node = match self.nodes[parent as usize].children.get(bytes) {
            Some(node) => *node,
            None => {
                let (node, key) = (self.nodes.len() as u32, Arc::<[u8]>::from(bytes));
                self.nodes.push(Node::new(parent, Arc::clone(&key)));
                self.nodes[parent as usize].children.insert(key, node);
                node
            }
        };
        self.nodes[previous as usize].next = node;
        Ok(node)
    }

    /// Notes the first name that repeats.
    #[cold]
    fn repeats(&mut self, name: String, at: usize) {
        self.repeated.get_or_insert(Repeated { key: name, at });
    }

    /// An object opens as the value of a key.
    fn enter(&mut self, node: u32, at: usize) {
        let record = self.record;
        let entered = &mut self.nodes[node as usize];
        let before = std::mem::replace(&mut entered.object, record);
        let (after_value, after_object) = (entered.record == record, before == record);
        if after_value || after_object {
            let name = self.name(node);
            let collects = if after_value { self.keys.collects(&name) } else { self.keys.collects_under(&name) };
            if !collects {
                self.repeats(name, at);
            }
        }
    }

    #[inline]
    fn value(&mut self, scan: &mut Scanner<'_>, node: u32, depth: usize) -> Scanned<()> {
        let (value, repeated) = self.token(scan, depth)?;
        if let Some(repeated) = repeated {
            self.repeats_inside(node, value, repeated);
        }
        if self.expansion.is_some() {
            self.put_item(node, value);
        } else {
            self.put(node, value);
        }
        Ok(())
    }

    /// An object inside an array repeats a key.
    #[cold]
    fn repeats_inside(&mut self, node: u32, array: Value, repeated: Repeated) {
        let name = format!("{}: {}", self.name(node), repeated.key);
        match &mut self.expansion {
            // The array may be expanded: then its objects are records of their own.
            Some(expansion) => expansion.doubt(array.start, Repeated { key: name, at: repeated.at }),
            None => self.repeats(name, repeated.at),
        }
    }

    /// A value that is no object; with a key that repeats in an object inside it.
    #[inline]
    fn token(&mut self, scan: &mut Scanner<'_>, depth: usize) -> Scanned<(Value, Option<Repeated>)> {
        let start = scan.at;
        let mut repeated = None;
        let (kind, text) = match scan.peek() {
            Some(b'"') => {
                let text = scan.string()?;
                (
                    JsonKind::String,
                    if text.escaped { self.unescaped(text.start, text.end) } else { cell(text.start, text.end) },
                )
            }
            Some(b'-' | b'0'..=b'9') => {
                let integer = scan.number()?;
                (if integer { JsonKind::Integer } else { JsonKind::Number }, cell(start, scan.at))
            }
            Some(b'n') => {
                scan.word(b"null")?;
                (JsonKind::Null, CellRef::ABSENT)
            }
            Some(b'[') => {
                repeated = scan.value(depth)?;
                (JsonKind::Array, cell(start, scan.at))
            }
            _ => {
                scan.scalar()?;
                (JsonKind::Bool, cell(start, scan.at))
            }
        };
        Ok((Value { kind, text, start, end: scan.at }, repeated))
    }

    #[inline]
    fn put(&mut self, node: u32, value: Value) {
        let (record, row) = (self.record, self.accepted);
        let known = &mut self.nodes[node as usize];
        known.record = record;
        let after_object = known.object == record;
        if known.slot == NONE {
            self.resolve(node);
        }
        let at = self.nodes[node as usize].slot;
        let slot = &mut self.slots[at as usize];
        if slot.record == record || after_object || slot.multiple || slot.undeclared {
            return self.put_special(node, at, after_object, value);
        }
        slot.record = record;
        if slot.kept {
            slot.push(row, value);
        }
    }

    /// A value that may be one of several, or of an undeclared column.
    #[inline(never)]
    fn put_special(&mut self, node: u32, at: u32, after_object: bool, value: Value) {
        let (record, row) = (self.record, self.accepted);
        let slot = &mut self.slots[at as usize];
        let filled = slot.record == record;
        if slot.multiple {
            slot.record = record;
            if filled {
                slot.spans.push((value.start as u32, value.end as u32));
                if slot.spans.len() == 2 {
                    self.collected.push(at);
                }
                return;
            }
            slot.spans.clear();
            slot.spans.push((value.start as u32, value.end as u32));
        } else if filled || after_object {
            let name = self.name(node);
            return self.repeats(name, value.start);
        }
        slot.record = record;
        if let Some(refusal) = &slot.refusal {
            self.refused.get_or_insert_with(|| (refusal.clone(), value.start));
            return;
        }
        if slot.undeclared {
            let place = *slot.place.get_or_insert_with(|| {
                self.order.push(at);
                self.order.len() as u32 - 1
            });
            self.shape.push(place);
        }
        if slot.kept {
            slot.push(row, value);
        }
    }

    /// The values of a record that belong to one column become one array.
    fn collect(&mut self, at: u32) {
        let slot = &mut self.slots[at as usize];
        if !slot.kept {
            return;
        }
        let from = self.extra.len();
        for (place, (start, end)) in slot.spans.iter().enumerate() {
            self.extra.push(if place == 0 { b'[' } else { b',' });
            self.extra.extend_from_slice(&self.data[*start as usize..*end as usize]);
        }
        self.extra.push(b']');
        let text = cell(self.data.len() + from, self.data.len() + self.extra.len());
        slot.kinds[self.accepted] = JsonKind::Array;
        slot.refs[self.accepted] = text;
    }

    fn unescaped(&mut self, start: usize, end: usize) -> CellRef {
        let from = self.data.len() + self.extra.len();
        unescape(&self.data[start..end], &mut self.extra);
        cell(from, self.data.len() + self.extra.len())
    }

    /// Finds or makes the column of a key.
    #[cold]
    fn resolve(&mut self, node: u32) {
        self.nodes[node as usize].slot = self.slot_of(self.name(node));
    }

    /// Finds or makes the column of a name.
    fn slot_of(&mut self, name: String) -> u32 {
        match self.keys.position(&name).or_else(|| self.named.get(&*name).copied()) {
            Some(slot) => slot,
            None => {
                let (slot, name) = (self.slots.len() as u32, Arc::<str>::from(name));
                let refusal = if self.lenient { None } else { self.keys.refusal(&name).map(Box::new) };
                self.named.insert(Arc::clone(&name), slot);
                self.slots.push(Slot {
                    name,
                    record: 0,
                    kept: self.keys.undeclared,
                    multiple: false,
                    undeclared: self.keys.undeclared || refusal.is_some(),
                    refusal,
                    place: None,
                    refs: Vec::new(),
                    kinds: Vec::new(),
                    spans: Vec::new(),
                });
                slot
            }
        }
    }

    /// The name that a key and those around it make.
    fn name(&self, node: u32) -> String {
        let mut path = Vec::new();
        let mut at = node;
        while self.nodes[at as usize].parent != NONE {
            path.push(at);
            at = self.nodes[at as usize].parent;
        }
        let mut name = String::new();
        // Other roots are those of the occurrences of expanded fields, in order.
        if let Some(rule) = at.checked_sub(1).map(|rule| &self.keys.expand[rule as usize])
            && rule.mode == ExpandMode::Split
        {
            name.push_str(&rule.field);
        }
        for node in path.iter().rev() {
            if !name.is_empty() || *node != path[path.len() - 1] {
                name.push('.');
            }
            let key = String::from_utf8_lossy(&self.nodes[*node as usize].key);
            for char in key.chars() {
                if self.keys.escape && matches!(char, '.' | '[' | '\\') {
                    name.push('\\');
                }
                name.push(char);
            }
        }
        name
    }
}

impl Slot {
    #[inline]
    fn push(&mut self, row: usize, value: Value) {
        if self.refs.len() != row {
            self.fit(row);
        }
        self.refs.push(value.text);
        self.kinds.push(value.kind);
    }

    /// Records that lack it leave a gap.
    #[cold]
    fn fit(&mut self, rows: usize) {
        self.refs.resize(rows, CellRef::ABSENT);
        self.kinds.resize(rows, JsonKind::Absent);
    }

    fn cells(&mut self, block: &Buffer, extra: &Buffer, rows: usize) -> Cells {
        if self.refs.is_empty() {
            return Cells::Absent(rows);
        }
        self.fit(rows);
        let refs = std::mem::take(&mut self.refs);
        let cells = JsonCells {
            text: TextCells { block: block.clone(), extra: extra.clone(), refs },
            kinds: std::mem::take(&mut self.kinds),
        };
        const TEXT: u8 = JsonKind::Absent as u8 | JsonKind::String as u8;
        if cells.mask() & !TEXT == 0 { Cells::Text(cells.text) } else { Cells::Json(cells) }
    }
}

#[inline]
fn cell(start: usize, end: usize) -> CellRef {
    CellRef { offset: start as u32, len: (end - start) as u32 }
}

#[cold]
fn too_many_levels(scan: &Scanner<'_>) -> Box<Flaw> {
    let reason = format!("objects nest deeper than the {MAX_LEVELS} levels that make one name");
    Box::new(Flaw { code: "E426", at: scan.at, reason: reason.into(), truncated: false })
}
