//! Records that become several rows: one for each occurrence of a field (formats.md 1.10).
//!
//! A record is first gathered as a list of its flattened fields. Each rule replaces the fields of its group by those of
//! one occurrence, and the next rule is applied to what that gives. Lists hold references to text, so what an expansion
//! costs is its cells, however long they are. Nothing reaches the columns before the record is known to become rows.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use clinker_format::ExpandMode;
use clinker_record::{CellRef, JsonKind};

use super::{NONE, Node, ROOT, Rows, Value, cell};
use crate::scan::{Repeated, Scanned, Scanner};

/// Records are gathered only where an expansion was begun.
const BEGUN: &str = "an expansion was begun";

/// A field of a record on its way to rows.
#[derive(Clone, Copy)]
struct Item {
    name: u32,
    /// `None` for an object without fields: it is no field, but an occurrence.
    kind: Option<JsonKind>,
    text: CellRef,
    /// Where its text begins in the block; `NONE` where it is not one value of the block.
    start: u32,
}

/// What a name is to a rule.
#[derive(Clone, Copy)]
enum Link {
    Unknown,
    /// Another field.
    Outside,
    /// The field itself.
    Exact,
    /// A field inside it, by the name it has once it is taken out.
    Inside(u32),
}

/// A flattened name.
struct Name {
    text: Arc<str>,
    /// Its column, once a row has it.
    slot: u32,
    /// Whether values that repeat in an object are collected.
    collects: bool,
    /// The object that it was last seen in, and its item there.
    object: u32,
    item: u32,
    /// Where its values in that object stand.
    spans: Vec<(u32, u32)>,
    /// The occurrence that last took it from the fields around.
    taken: u64,
    /// What it is to each rule.
    links: Box<[Link]>,
}

/// Names that a rule gives.
struct Given {
    /// The name of an occurrence that is no object.
    scalar: u32,
    /// The name of the position.
    position: Option<u32>,
}

/// The occurrences of a field in a record.
enum Occurrences {
    None,
    /// One object: the fields inside the group.
    Fields,
    /// One value.
    One(Item),
    /// Elements of an array.
    Elements(Range<usize>),
}

/// The state of expanding records.
#[derive(Default)]
pub(super) struct Expansion {
    names: Vec<Name>,
    by_name: HashMap<Arc<str>, u32>,
    given: Vec<Given>,
    /// Where the record begins.
    begin: usize,
    /// The fields of the object that is read.
    items: Vec<Item>,
    /// Names with several values in it.
    several: Vec<u32>,
    /// Lists that rules work on, each behind the one it was made from.
    lists: Vec<Item>,
    /// The fields of one occurrence.
    occurrence: Vec<Item>,
    occurrences: u64,
    /// The elements of arrays that were opened, by rule and place.
    opened: HashMap<(usize, u32), Range<usize>>,
    elements: Vec<Range<usize>>,
    element_items: Vec<Item>,
    /// Arrays with an object that repeats a key, by place.
    doubts: HashMap<u32, Repeated>,
    /// The texts of positions from 1 on.
    positions: Vec<CellRef>,
    /// Cells of the rows that the record becomes: column, kind and text, and where each row ends.
    cells: Vec<(u32, JsonKind, CellRef)>,
    ends: Vec<usize>,
}

impl Expansion {
    /// An array has an object that repeats a key: wrong, unless the array is expanded.
    pub(super) fn doubt(&mut self, array: usize, repeated: Repeated) {
        self.doubts.insert(array as u32, repeated);
    }

    fn begin_record(&mut self) {
        self.lists.clear();
        self.opened.clear();
        self.elements.clear();
        self.element_items.clear();
        self.positions.clear();
        self.cells.clear();
        self.ends.clear();
    }
}

impl Rows<'_> {
    /// Prepares the expansion of records.
    pub(super) fn begin_expanding(&mut self) {
        self.expansion = Some(Box::default());
        for rule in &self.keys.expand {
            // The root of the keys of its occurrences.
            self.nodes.push(Node::new(NONE, Arc::default()));
            let scalar = match rule.mode {
                ExpandMode::Split => &*rule.field,
                ExpandMode::Extract => last_segment(&rule.field, self.keys.escape),
            };
            let scalar = self.intern(scalar);
            let position = rule.position_column.as_ref().map(|name| self.intern(name));
            self.state().given.push(Given { scalar, position });
        }
    }

    fn state(&mut self) -> &mut Expansion {
        self.expansion.as_mut().expect(BEGUN)
    }

    fn intern(&mut self, name: &str) -> u32 {
        let keys = self.keys;
        let state = self.state();
        if let Some(known) = state.by_name.get(name) {
            return *known;
        }
        let (at, text) = (state.names.len() as u32, Arc::<str>::from(name));
        state.by_name.insert(Arc::clone(&text), at);
        state.names.push(Name {
            collects: keys.collects(&text),
            text,
            slot: NONE,
            object: 0,
            item: 0,
            spans: Vec::new(),
            taken: 0,
            links: vec![Link::Unknown; keys.expand.len()].into(),
        });
        at
    }

    fn name_of(&mut self, node: u32) -> u32 {
        let known = self.nodes[node as usize].slot;
        if known != NONE {
            return known;
        }
        let name = self.name(node);
        let at = self.intern(&name);
        self.nodes[node as usize].slot = at;
        at
    }

    /// An object has no fields.
    pub(super) fn note_empty(&mut self, node: u32) {
        let name = self.name_of(node);
        self.state().items.push(Item { name, kind: None, text: CellRef::ABSENT, start: NONE });
    }

    /// A field of the object that is read.
    pub(super) fn put_item(&mut self, node: u32, value: Value) {
        let record = self.record;
        let name = self.name_of(node);
        let known = &mut self.nodes[node as usize];
        known.record = record;
        let after_object = known.object == record;
        let span = (value.start as u32, value.end as u32);
        let state = self.expansion.as_mut().expect(BEGUN);
        let at = state.items.len() as u32;
        let seen = &mut state.names[name as usize];
        let filled = seen.object == record;
        if (filled || after_object) && !seen.collects {
            let name = seen.text.to_string();
            return self.repeats(name, value.start);
        }
        if filled {
            seen.spans.push(span);
            if seen.spans.len() == 2 {
                state.several.push(name);
            }
            return;
        }
        (seen.object, seen.item) = (record, at);
        if seen.collects {
            seen.spans.clear();
            seen.spans.push(span);
        }
        state.items.push(Item { name, kind: Some(value.kind), text: value.text, start: span.0 });
    }

    /// Ends an object: values that repeat become one array.
    fn end_object(&mut self) {
        let state = self.expansion.as_mut().expect(BEGUN);
        for name in state.several.drain(..) {
            let name = &state.names[name as usize];
            let from = self.data.len() + self.extra.len();
            for (place, (start, end)) in name.spans.iter().enumerate() {
                self.extra.push(if place == 0 { b'[' } else { b',' });
                self.extra.extend_from_slice(&self.data[*start as usize..*end as usize]);
            }
            self.extra.push(b']');
            let item = &mut state.items[name.item as usize];
            item.kind = Some(JsonKind::Array);
            item.text = cell(from, self.data.len() + self.extra.len());
            item.start = NONE;
        }
    }

    /// Forgets what an object that broke off has left.
    pub(super) fn forget_object(&mut self) {
        if let Some(state) = &mut self.expansion {
            state.items.clear();
            state.several.clear();
            state.doubts.clear();
        }
    }

    /// Makes rows of the record that was gathered and begins at `begin`; how many. `None` when there are none because they would be too many,
    /// or because one of them must not be.
    pub(super) fn expand(&mut self, begin: usize) -> Scanned<Option<usize>> {
        self.end_object();
        let state = self.state();
        state.begin_record();
        state.begin = begin;
        std::mem::swap(&mut state.items, &mut state.lists);
        let record = 0..state.lists.len();
        if !self.apply(0, record)? {
            return Ok(None);
        }
        if let Some((_, repeated)) = self.state().doubts.drain().min_by_key(|(at, _)| *at) {
            self.repeated.get_or_insert(repeated);
        }
        if self.repeated.is_some() || self.refused.is_some() {
            return Ok(None);
        }
        Ok(Some(self.commit()))
    }

    /// Applies the rules from `first` on to a list; `false` when there are too many rows.
    fn apply(&mut self, first: usize, list: Range<usize>) -> Scanned<bool> {
        let keys = self.keys;
        let mut at = first;
        // A field that is absent and kept empty changes nothing.
        let (stand, occurrences, rule) = loop {
            let Some(rule) = keys.expand.get(at) else { return Ok(self.row(list)) };
            let (stand, occurrences) = self.find(at, list.clone())?;
            if stand < list.end || !rule.keep_empty {
                break (stand, occurrences, rule);
            }
            at += 1;
        };
        let count = match &occurrences {
            Occurrences::None if !rule.keep_empty => return Ok(true),
            Occurrences::None | Occurrences::Fields | Occurrences::One(_) => 1,
            Occurrences::Elements(elements) => elements.len(),
        };
        for number in 0..count {
            self.gather(at, number, list.clone(), &occurrences);
            self.splice(at, list.clone(), stand, matches!(occurrences, Occurrences::Fields));
            let end = self.state().lists.len();
            let fits = self.apply(at + 1, list.end..end)?;
            self.state().lists.truncate(list.end);
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Finds the group of a rule in a list: where it stands, its end if nowhere, and its occurrences.
    fn find(&mut self, at: usize, list: Range<usize>) -> Scanned<(usize, Occurrences)> {
        let mut inside = None;
        for place in list.clone() {
            let item = self.state().lists[place];
            match self.link(at, item.name) {
                Link::Exact => {
                    let found = match item.kind {
                        Some(JsonKind::Null) => Occurrences::None,
                        Some(JsonKind::Array) if item.start != NONE => match self.open(at, item.start)? {
                            elements if elements.is_empty() => Occurrences::None,
                            elements => Occurrences::Elements(elements),
                        },
                        _ => Occurrences::One(item),
                    };
                    return Ok((place, found));
                }
                Link::Inside(_) => {
                    inside.get_or_insert(place);
                }
                Link::Unknown | Link::Outside => {}
            }
        }
        Ok(inside.map_or((list.end, Occurrences::None), |place| (place, Occurrences::Fields)))
    }

    /// What a name is to a rule.
    fn link(&mut self, at: usize, name: u32) -> Link {
        let known = &self.state().names[name as usize];
        if !matches!(known.links[at], Link::Unknown) {
            return known.links[at];
        }
        let text = Arc::clone(&known.text);
        let rule = &self.keys.expand[at];
        let link = match text.strip_prefix(&*rule.field) {
            Some("") => Link::Exact,
            Some(rest) => match rest.strip_prefix('.') {
                Some(_) if rule.mode == ExpandMode::Split => Link::Inside(name),
                Some(rest) => Link::Inside(self.intern(rest)),
                None => Link::Outside,
            },
            None => Link::Outside,
        };
        self.state().names[name as usize].links[at] = link;
        link
    }

    /// The elements of an array of the block. Its grammar was checked when it was passed over.
    fn open(&mut self, at: usize, start: u32) -> Scanned<Range<usize>> {
        let known = self.state().opened.get(&(at, start)).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        self.state().doubts.remove(&start);
        let data = self.data;
        let rule = &self.keys.expand[at];
        let level = match rule.mode {
            ExpandMode::Extract => 1,
            ExpandMode::Split => 1 + rule.field.split('.').count(),
        };
        let first = self.state().elements.len();
        let mut scan = Scanner::whole(data, start as usize + 1);
        scan.blanks();
        while scan.peek() != Some(b']') {
            self.record += 1;
            self.state().items.clear();
            if scan.peek() == Some(b'{') {
                self.object(&mut scan, 0, ROOT + 1 + at as u32, level)?;
                self.end_object();
            } else {
                let (value, repeated) = self.token(&mut scan, 0)?;
                let state = self.state();
                let name = state.given[at].scalar;
                if let Some(repeated) = repeated {
                    let key = format!("{}: {}", state.names[name as usize].text, repeated.key);
                    state.doubt(value.start, Repeated { key, at: repeated.at });
                }
                state.items.push(Item { name, kind: Some(value.kind), text: value.text, start: value.start as u32 });
            }
            let state = self.state();
            let from = state.element_items.len();
            state.element_items.append(&mut state.items);
            state.elements.push(from..state.element_items.len());
            scan.blanks();
            if scan.take(b',') {
                scan.blanks();
            }
        }
        let state = self.state();
        let elements = first..state.elements.len();
        state.opened.insert((at, start), elements.clone());
        Ok(elements)
    }

    /// The fields of one occurrence, its position behind them; their names are taken from the fields around.
    fn gather(&mut self, at: usize, number: usize, list: Range<usize>, found: &Occurrences) {
        self.state().occurrence.clear();
        match found {
            Occurrences::None => {}
            Occurrences::One(item) => {
                let name = self.state().given[at].scalar;
                self.state().occurrence.extend(item.kind.map(|_| Item { name, ..*item }));
            }
            Occurrences::Fields => {
                for place in list {
                    let item = self.state().lists[place];
                    if let Link::Inside(name) = self.link(at, item.name) {
                        self.state().occurrence.push(Item { name, ..item });
                    }
                }
            }
            Occurrences::Elements(elements) => {
                let state = self.state();
                let fields = state.elements[elements.start + number].clone();
                state.occurrence.extend_from_slice(&state.element_items[fields]);
            }
        }
        if let Some(name) = self.state().given[at].position
            && !matches!(found, Occurrences::None)
        {
            let text = self.position_text(number);
            let state = self.state();
            state.occurrence.retain(|item| item.name != name);
            state.occurrence.push(Item { name, kind: Some(JsonKind::Integer), text, start: NONE });
        }
        let state = self.state();
        state.occurrences += 1;
        for item in &state.occurrence {
            state.names[item.name as usize].taken = state.occurrences;
        }
    }

    /// The text of a 1-based position.
    fn position_text(&mut self, number: usize) -> CellRef {
        let state = self.expansion.as_mut().expect(BEGUN);
        while state.positions.len() <= number {
            let from = self.data.len() + self.extra.len();
            self.extra.extend_from_slice((state.positions.len() + 1).to_string().as_bytes());
            state.positions.push(cell(from, self.data.len() + self.extra.len()));
        }
        state.positions[number]
    }

    /// Appends a copy of a list with the occurrence where the group stood.
    fn splice(&mut self, at: usize, list: Range<usize>, stand: usize, fields: bool) {
        let state = self.expansion.as_mut().expect(BEGUN);
        for place in list.clone() {
            if place == stand {
                state.lists.extend_from_slice(&state.occurrence);
            }
            let item = state.lists[place];
            let name = &state.names[item.name as usize];
            let in_group = match name.links[at] {
                Link::Exact => true,
                Link::Inside(_) => fields,
                Link::Unknown | Link::Outside => false,
            };
            if !in_group && name.taken != state.occurrences {
                state.lists.push(item);
            }
        }
    }

    /// Takes note of a row; `false` when it is one too many.
    fn row(&mut self, list: Range<usize>) -> bool {
        if self.state().ends.len() as u64 >= self.keys.max_rows {
            return false;
        }
        for place in list {
            let item = self.state().lists[place];
            let Some(kind) = item.kind else { continue };
            let name = &self.state().names[item.name as usize];
            let slot = match name.slot {
                NONE => {
                    let name = name.text.to_string();
                    let slot = self.slot_of(name);
                    self.state().names[item.name as usize].slot = slot;
                    slot
                }
                slot => slot,
            };
            let column = &self.slots[slot as usize];
            if let Some(refusal) = &column.refusal {
                let begin = self.expansion.as_ref().expect(BEGUN).begin;
                let at = if item.start == NONE { begin } else { item.start as usize };
                self.refused.get_or_insert_with(|| (refusal.clone(), at));
            } else if column.kept {
                self.state().cells.push((slot, kind, item.text));
            }
        }
        let state = self.state();
        state.ends.push(state.cells.len());
        true
    }

    /// Brings the rows into the columns; how many there are.
    fn commit(&mut self) -> usize {
        let state = self.state();
        let (cells, ends) = (std::mem::take(&mut state.cells), std::mem::take(&mut state.ends));
        let mut from = 0;
        for end in &ends {
            self.shape.clear();
            for (at, kind, text) in &cells[from..*end] {
                let slot = &mut self.slots[*at as usize];
                if slot.undeclared {
                    let place = *slot.place.get_or_insert_with(|| {
                        self.order.push(*at);
                        self.order.len() as u32 - 1
                    });
                    self.shape.push(place);
                }
                slot.push(self.accepted, Value { kind: *kind, text: *text, start: 0, end: 0 });
            }
            self.end_shape();
            self.accepted += 1;
            from = *end;
        }
        let rows = ends.len();
        let state = self.state();
        (state.cells, state.ends) = (cells, ends);
        rows
    }
}

/// The last key of a flattened name; an escaped point is part of a key.
fn last_segment(name: &str, escaped: bool) -> &str {
    let is_point = |at: usize| {
        let backslashes = name[..at].bytes().rev().take_while(|byte| *byte == b'\\').count();
        !escaped || backslashes % 2 == 0
    };
    let point = name.match_indices('.').map(|(at, _)| at).rfind(|at| is_point(*at));
    point.map_or(name, |at| &name[at + 1..])
}
