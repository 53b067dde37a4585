//! What single segments mean to levels, keys and the validator.

use std::sync::Arc;

use clinker_format::{Construct, EnvelopeFault, EnvelopeValidator, Fault, LevelEvent, LevelOpen, Mark};
use clinker_record::text::preview_bytes;

use super::{Phase, SegmentCutter, Step, Work};
use crate::context::{BinarySpan, KeyRun};
use crate::segment::{Elements, Shape};
use crate::tags::{TagInfo, TagKind};

impl SegmentCutter {
    /// Takes the segment from the front of the block's rest to `end`; a step when more bytes are needed.
    pub(super) fn segment(
        &mut self,
        window: &[u8],
        end: usize,
        ended: bool,
        info: TagInfo,
        shape: &Shape<'_>,
        work: &mut Work,
    ) -> Result<Option<Step>, Fault> {
        if self.newline.is_none() {
            // The line break behind the first segment is part of what its level says.
            if window.len() < end + 3 && !ended {
                return Ok(Some(Step::More));
            }
            self.newline = Some(newline(window.get(end + 1..).unwrap_or_default(), shape.delimiters.terminator));
        }
        let at = work.at;
        let next = (end + 1).min(window.len());
        let segment = &window[at..end];
        let tag = &segment[..shape.tag_len(segment)];
        if info.redeclares && !self.at_header {
            self.check_declared(segment, at)?;
        }
        match info.kind {
            TagKind::Wrong => {
                let reason = format!(
                    "the tag `{}` of the segment is not of the form {}",
                    preview_bytes(&tag[..tag.len().min(24)]),
                    shape.dialect.columns.tag_pattern.as_str()
                );
                return Err(self.fault_at("E422", at, reason));
            }
            TagKind::Open(level, emitted) => {
                self.open(segment, next, level, info, shape, work)?;
                if emitted {
                    self.take_record(work, next);
                } else {
                    self.take_service(work, next);
                }
            }
            TagKind::Close => {
                self.close(segment, next, info, shape, work)?;
            }
            TagKind::Body => {
                self.body(segment, next, info, shape, work)?;
                if let Some(rule) = info.binary {
                    let (start, end) = (Work::position(at), Work::position(end));
                    work.binaries.push(BinarySpan { start, end, rule });
                }
                self.take_record(work, next);
            }
        }
        self.at_header = false;
        if self.validator.is_closed() {
            self.phase = Phase::Behind;
            return Ok(Some(Step::Again));
        }
        Ok(None)
    }

    /// Counts a segment that is no record.
    fn take_service(&mut self, work: &mut Work, end: usize) {
        work.skipped.push(Work::position(work.at));
        self.segments += 1;
        work.at = end;
        work.end = end;
    }

    /// Reads the elements of a header or trailer, with their escapes resolved or not.
    fn elements(
        &self,
        segment: &[u8],
        at: usize,
        info: TagInfo,
        shape: &Shape<'_>,
        decoded: bool,
        elements: &mut Elements,
    ) -> Result<(), Fault> {
        let mut bad = None;
        elements.fill(|text, ends| {
            shape.elements(segment, None, |from, to| {
                let first = info.self_describing && ends.is_empty();
                let appended = self.text.append(&segment[from..to], decoded && !first, text);
                ends.push(text.len());
                if let Err(error) = appended {
                    bad.get_or_insert((ends.len(), from + error.offset, segment[from + error.offset]));
                }
            });
        });
        if let Some((number, place, byte)) = bad {
            let tag = preview_bytes(&segment[..shape.tag_len(segment)]);
            let charset = self.text.charset.name();
            let reason = format!("{tag} element {number} is not valid {charset}: {byte:02X}");
            return Err(self.fault_at("E420", at + place, reason));
        }
        let fixed = self.at_header && shape.dialect.framing.header_bytes.is_some();
        if elements.len() > self.bound.max_elements as usize && !fixed {
            let tag = preview_bytes(&segment[..shape.tag_len(segment)]);
            return Err(self.fault_at("E423", at, too_many(&tag, elements.len(), &self.bound)));
        }
        Ok(())
    }

    fn open(
        &mut self,
        segment: &[u8],
        next: usize,
        level: u16,
        info: TagInfo,
        shape: &Shape<'_>,
        work: &mut Work,
    ) -> Result<(), Fault> {
        let at = work.at;
        let (line, offset) = (self.segments + 1, work.base + at as u64);
        let mut elements = std::mem::take(&mut self.scratch);
        self.elements(segment, at, info, shape, true, &mut elements)?;
        let tag = text_of(&segment[..shape.tag_len(segment)]);
        let judged = elements.as_slice(|elements| {
            self.validator.header_of(&Construct { tag, elements, line, offset }, (next - at) as u64)
        });
        if let Err(fault) = judged {
            return Err(self.envelope_fault(fault, at, line));
        }
        self.close_from(level, work);
        if !self.bound.decoded && self.text.escape_mark().is_some() {
            self.elements(segment, at, info, shape, false, &mut elements)?;
        }
        let present = elements.iter().enumerate().filter(|(_, text)| !text.is_empty());
        let fields: Vec<(Arc<str>, Arc<str>)> =
            present.map(|(index, text)| (self.bound.name(index + 1), Arc::from(text))).collect();
        for (at, key) in self.bound.keys.iter().enumerate().filter(|(_, key)| key.level == level) {
            let name = self.bound.name(key.element as usize);
            let value = fields.iter().find(|(field, _)| *field == name);
            self.keys[at] = value.map(|(_, text)| Arc::clone(text));
            self.keys_changed = true;
        }
        let keys = vec![
            ("$raw", Arc::from(segment)),
            ("$delims", Arc::clone(&self.delims)),
            ("$newline", self.newline.clone().unwrap_or_default()),
        ];
        let row = Work::position(work.rows);
        work.marks.push(Mark { row, event: LevelEvent::Open(LevelOpen { level, fields, keys, line, offset }) });
        self.open.push(level);
        self.scratch = elements;
        Ok(())
    }

    fn close(
        &mut self,
        segment: &[u8],
        next: usize,
        info: TagInfo,
        shape: &Shape<'_>,
        work: &mut Work,
    ) -> Result<(), Fault> {
        let at = work.at;
        let (line, offset) = (self.segments + 1, work.base + at as u64);
        let mut elements = std::mem::take(&mut self.scratch);
        self.elements(segment, at, info, shape, true, &mut elements)?;
        let tag = text_of(&segment[..shape.tag_len(segment)]);
        let judged = elements.as_slice(|elements| {
            self.validator.trailer_of(&Construct { tag, elements, line, offset }, (next - at) as u64)
        });
        self.scratch = elements;
        match judged {
            Err(fault) if !fault.document => Err(self.envelope_fault(fault, at, line)),
            judged => {
                self.take_service(work, next);
                self.close_down_to(self.validator.depth(), work);
                let Err(fault) = judged else { return Ok(()) };
                self.at_header = false;
                if self.validator.is_closed() {
                    self.phase = Phase::Behind;
                }
                Err(self.envelope_fault(fault, at, line))
            }
        }
    }

    fn body(
        &mut self,
        segment: &[u8],
        next: usize,
        info: TagInfo,
        shape: &Shape<'_>,
        work: &Work,
    ) -> Result<(), Fault> {
        let line = self.segments + 1;
        if self.bound.decoded {
            self.lost += self.text.lost_separators(segment);
        }
        let bytes = (next - work.at) as u64;
        if info.plain && self.validator.is_inside() {
            self.validator.plain_body(bytes);
            return Ok(());
        }
        let binary = info.binary.and_then(|at| shape.dialect.binary.get(usize::from(at)));
        let text = Arc::clone(&self.text);
        let element = |wanted: u32| {
            let (mut number, mut found) = (0, None);
            shape.elements(segment, binary, |from, to| {
                number += 1;
                if number == wanted {
                    let mut bytes = Vec::new();
                    let whole = text.append(&segment[from..to], true, &mut bytes);
                    // What is no text is no number either.
                    found = Some(String::from_utf8(bytes).ok().filter(|_| whole.is_ok()).unwrap_or("?".to_owned()));
                }
            });
            found
        };
        let tag = text_of(&segment[..shape.tag_len(segment)]);
        let place = (line, work.base + work.at as u64);
        let judged = self.validator.body(tag, place, bytes, &element);
        judged.map_err(|fault| self.envelope_fault(fault, work.at, line))
    }

    /// A fault of the validator at the segment that begins at `at`.
    pub(super) fn envelope_fault(&self, fault: EnvelopeFault, at: usize, line: u64) -> Fault {
        let EnvelopeFault { code, document, reason } = fault;
        let offset = self.window_offset + at as u64;
        if document {
            Fault::Violation { code, line, offset, reason }
        } else {
            Fault::Corruption { code, line, offset, reason, help: None }
        }
    }

    /// Closes the levels that end because one of this kind opens.
    fn close_from(&mut self, level: u16, work: &mut Work) {
        let stays = self.open.iter().take_while(|open| **open < level).count();
        self.close_down_to(stays, work);
    }

    /// Closes levels until `depth` are open.
    pub(super) fn close_down_to(&mut self, depth: usize, work: &mut Work) {
        while self.open.len() > depth
            && let Some(level) = self.open.pop()
        {
            work.marks.push(Mark { row: Work::position(work.rows), event: LevelEvent::Close });
            for (at, _) in self.bound.keys.iter().enumerate().filter(|(_, key)| key.level == level) {
                self.keys[at] = None;
                self.keys_changed = true;
            }
        }
    }

    /// The rows from here on have these keys.
    #[cold]
    pub(super) fn note_keys(&mut self, work: &mut Work) {
        self.keys_changed = false;
        work.keys.push(KeyRun { row: Work::position(work.rows), values: Arc::from(self.keys.as_slice()) });
    }

    /// A segment that repeats the separators must repeat those of the header.
    fn check_declared(&self, segment: &[u8], at: usize) -> Result<(), Fault> {
        for (place, byte) in &self.declared {
            if segment.get(*place) != Some(byte) {
                let found = segment.get(*place).map_or("nothing".to_owned(), |byte| crate::delimiters::shown(*byte));
                let wanted = crate::delimiters::shown(*byte);
                let reason = format!("the segment declares {found} at its byte {place}, and the header {wanted}");
                return Err(self.fault_at("E422", at, reason));
            }
        }
        Ok(())
    }
}

/// A tag that matched the pattern of tags.
fn text_of(tag: &[u8]) -> &str {
    std::str::from_utf8(tag).unwrap_or_default()
}

/// The engine key `$newline`.
fn newline(behind: &[u8], terminator: u8) -> Arc<[u8]> {
    Arc::from(match behind {
        _ if terminator == b'\n' => b"".as_slice(),
        [b'\r', b'\n', ..] => b"crlf",
        [b'\n', ..] => b"lf",
        _ => b"",
    })
}

/// The text of E423.
pub(crate) fn too_many(tag: &str, found: usize, bound: &crate::reader::Bound) -> String {
    format!("{tag} has {found} elements, and {} allows {}", bound.max_option(), bound.max_elements)
}
