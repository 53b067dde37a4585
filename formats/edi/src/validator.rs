//! Levels, counts and references of a dialect, as a component that is told what passes (formats.md 7.7, 15.4).

mod counts;
mod references;

use std::sync::Arc;

use clinker_format::{Construct, EnvelopeFault, EnvelopeValidator};

use crate::delimiters::Delimiters;
use crate::dialect::{Dialect, LevelRule, Presence};
use crate::segment::Elements;
use counts::Counters;

/// The rules of a dialect, applied to one file.
#[derive(Debug)]
pub struct RuleValidator {
    dialect: Arc<Dialect>,
    /// `envelopes: many`: further file levels may follow the first one.
    many: bool,
    /// Needed where rules look into components.
    component: Option<u8>,
    /// The levels that are open, outermost first. The first frame is the file itself, outside of every level.
    frames: Vec<Frame>,
    /// Closed ones, whose memory is used again.
    spare: Vec<Frame>,
    /// Segments so far.
    segments: u64,
    /// Their bytes, terminators included.
    bytes: u64,
    /// A file level was closed.
    closed: bool,
    /// The innermost level is open.
    inside: bool,
}

/// A level that is open.
#[derive(Debug, Default)]
struct Frame {
    /// None for the file outside of every level.
    level: Option<u16>,
    /// The elements of the opener, decoded, where a rule or a message can ask for them.
    elements: Elements,
    line: u64,
    offset: u64,
    /// Segments and bytes in front of the opener.
    segments: u64,
    bytes: u64,
    /// The opener's own.
    opener_bytes: u64,
    counters: Counters,
    /// Whether levels directly inside stand in an `all_or_none` level or are the ones that it would hold.
    grouped: Option<bool>,
    /// A level was opened directly inside.
    has_inner: bool,
}

fn corruption(code: &'static str, reason: String) -> EnvelopeFault {
    EnvelopeFault { code, document: false, reason }
}

/// The wire length of a segment whose elements need no escape.
fn plain_bytes(construct: &Construct<'_>) -> u64 {
    let elements: usize = construct.elements.iter().map(|element| element.len() + 1).sum();
    (construct.tag.len() + elements + 1) as u64
}

impl RuleValidator {
    /// A validator for one file. `many` says that several file levels may follow each other.
    pub fn new(dialect: Arc<Dialect>, many: bool) -> Self {
        let mut validator = Self {
            many,
            component: None,
            frames: Vec::new(),
            spare: Vec::new(),
            segments: 0,
            bytes: 0,
            closed: false,
            inside: false,
            dialect,
        };
        let file = validator.frame(None, &Construct { tag: "", elements: &[], line: 0, offset: 0 }, 0);
        validator.frames.push(file);
        validator
    }

    /// Tells the separators of the interchange that begins.
    pub fn delimiters(&mut self, delimiters: &Delimiters) {
        self.component = delimiters.component;
    }

    fn frame(&mut self, level: Option<u16>, opener: &Construct<'_>, bytes: u64) -> Frame {
        let spare = self.spare.pop().unwrap_or_default();
        let (mut elements, mut counters) = (spare.elements, spare.counters);
        counters.reset(&self.dialect);
        elements.clear();
        if level.is_some() && self.dialect.references.iter().any(|rule| *rule.of == *opener.tag) {
            elements.copy(opener.elements);
        }
        Frame {
            level,
            elements,
            line: opener.line,
            offset: opener.offset,
            segments: self.segments,
            bytes: self.bytes,
            opener_bytes: bytes,
            counters,
            grouped: None,
            has_inner: false,
        }
    }

    /// Whether the innermost level is open, so that any segment may follow.
    #[inline]
    pub(crate) fn is_inside(&self) -> bool {
        self.inside
    }

    /// A body segment inside the innermost level of which no rule asks anything.
    #[inline]
    pub(crate) fn plain_body(&mut self, bytes: u64) {
        self.segments += 1;
        self.bytes += bytes;
    }

    /// Levels that are open.
    pub(crate) fn depth(&self) -> usize {
        self.frames.len() - 1
    }

    /// Whether a file level was closed and nothing is open.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed && self.frames.len() == 1
    }

    /// Whether the input may end here.
    pub(crate) fn may_end(&self) -> bool {
        self.frames[1..].iter().all(|frame| self.ends_by_itself(frame))
    }

    fn ends_by_itself(&self, frame: &Frame) -> bool {
        self.rule(frame).is_none_or(|rule| rule.close.is_none() || rule.close_optional)
    }

    fn rule(&self, frame: &Frame) -> Option<&LevelRule> {
        frame.level.and_then(|level| self.dialect.levels.get(usize::from(level)))
    }

    fn top(&self) -> &Frame {
        self.frames.last().expect("the file's own frame is never closed")
    }

    /// The position of a level; that of the file itself is below all others.
    fn position(frame: &Frame) -> i32 {
        frame.level.map_or(-1, i32::from)
    }

    fn pop(&mut self) {
        if self.frames.len() > 1 {
            self.spare.extend(self.frames.pop());
        }
        self.after_change();
    }

    fn after_change(&mut self) {
        let last = self.dialect.levels.len().checked_sub(1).and_then(|last| u16::try_from(last).ok());
        self.inside = last.is_some() && self.top().level == last;
    }

    /// The open levels with their references, innermost first.
    pub(crate) fn open_levels(&self) -> String {
        let open = self.frames[1..].iter().rev().map(|frame| self.described(frame));
        open.collect::<Vec<_>>().join(", in ")
    }

    /// A level with its reference.
    fn described(&self, frame: &Frame) -> String {
        let Some(rule) = self.rule(frame) else { return "the file".to_owned() };
        let reference = self.dialect.references.iter().find(|reference| reference.of == rule.open);
        let element = reference.and_then(|reference| references::shown(reference, frame));
        let opened = format!("opened by segment {} at byte {}", frame.line, frame.offset);
        match element {
            Some(text) => {
                format!("{} `{}` {opened}", rule.name, clinker_record::text::preview(&text))
            }
            None => format!("{} ({}) {opened}", rule.name, rule.open),
        }
    }

    /// As [`EnvelopeValidator::header`], with the length of the segment on the wire.
    pub(crate) fn header_of(&mut self, header: &Construct<'_>, bytes: u64) -> Result<u16, EnvelopeFault> {
        let tag = header.tag;
        let found = self.dialect.levels.iter().position(|level| *level.open == *tag);
        let Some(level) = found.and_then(|at| u16::try_from(at).ok()) else {
            return Err(corruption("E425", format!("{tag} opens no level")));
        };
        // A level without a closing segment ends where the next one of its kind or of one around it begins.
        while Self::position(self.top()) >= i32::from(level)
            && self.rule(self.top()).is_some_and(|rule| rule.close.is_none())
        {
            self.pop();
        }
        self.check_opener(level, tag)?;
        let frame = self.frame(Some(level), header, bytes);
        for open in &mut self.frames {
            open.counters.level(level);
        }
        if let Some(parent) = self.frames.last_mut() {
            parent.has_inner = true;
        }
        self.frames.push(frame);
        self.segments += 1;
        self.bytes += bytes;
        self.after_change();
        Ok(level)
    }

    /// Whether a level may open here.
    fn check_opener(&mut self, level: u16, tag: &str) -> Result<(), EnvelopeFault> {
        let top = Self::position(self.top());
        let rule = &self.dialect.levels[usize::from(level)];
        if self.is_closed() && !(self.many && rule.file) {
            return Err(corruption("E425", format!("{tag} stands behind the segment that closes the file")));
        }
        if top >= i32::from(level) {
            let open = self.described(self.top());
            return Err(corruption("E425", format!("{tag} stands inside of an open level: {open}")));
        }
        let late = rule.file && !self.many && (self.segments > 0 || self.top().has_inner);
        if late {
            return Err(corruption("E425", format!("{tag} stands behind other segments")));
        }
        let between = usize::try_from(top + 1).unwrap_or(0)..usize::from(level);
        let mut skipped_group = false;
        for missing in &self.dialect.levels[between] {
            match missing.optional {
                Presence::Required => {
                    let reason = format!("{tag} stands outside of {} ({})", missing.name, missing.open);
                    return Err(corruption("E425", reason));
                }
                Presence::Optional => {}
                Presence::AllOrNone => skipped_group = true,
            }
        }
        let grouped = rule.optional == Presence::AllOrNone;
        if grouped || skipped_group {
            let parent = self.frames.last_mut().expect("the file's own frame is never closed");
            if parent.grouped.is_some_and(|before| before != grouped) {
                let reason = if grouped {
                    format!("{tag} opens a group behind content that stands in none")
                } else {
                    format!("{tag} stands in no group and others do")
                };
                return Err(corruption("E425", reason));
            }
            parent.grouped = Some(grouped);
        }
        Ok(())
    }

    /// As [`EnvelopeValidator::trailer`], with the length of the segment on the wire.
    pub(crate) fn trailer_of(&mut self, trailer: &Construct<'_>, bytes: u64) -> Result<u16, EnvelopeFault> {
        let tag = trailer.tag;
        let found = self.dialect.levels.iter().position(|level| level.close.as_deref() == Some(tag));
        let Some(level) = found.and_then(|at| u16::try_from(at).ok()) else {
            return Err(corruption("E425", format!("{tag} closes no level")));
        };
        while Self::position(self.top()) > i32::from(level)
            && self.rule(self.top()).is_some_and(|rule| rule.close.is_none())
        {
            self.pop();
        }
        if self.top().level != Some(level) {
            let reason = match self.frames[1..].iter().any(|frame| frame.level == Some(level)) {
                true => format!("{tag} stands inside of an open level: {}", self.described(self.top())),
                false => {
                    let rule = &self.dialect.levels[usize::from(level)];
                    format!("{tag} closes no {}: none is open ({})", rule.name, rule.open)
                }
            };
            return Err(corruption("E425", reason));
        }
        self.segments += 1;
        self.bytes += bytes;
        let counted = self.check_counts(trailer, bytes);
        let judged = match counted {
            Ok(()) => self.check_references(trailer),
            Err(fault) => Err(fault),
        };
        self.closed |= self.dialect.levels[usize::from(level)].file;
        self.pop();
        judged.map(|()| level)
    }

    /// As [`EnvelopeValidator::body`] for a segment that is not the plain one.
    fn check_body(&mut self, tag: &str) -> Result<(), EnvelopeFault> {
        if let Some((_, text)) = self.dialect.forbid.iter().find(|(forbidden, _)| **forbidden == *tag) {
            return Err(corruption("E422", format!("{tag}: {text}")));
        }
        if self.inside {
            return Ok(());
        }
        if self.is_closed() {
            return Err(corruption("E425", format!("{tag} stands behind the segment that closes the file")));
        }
        let top = self.top();
        let allowed = self.dialect.allow_outside.iter().find(|(outside, _)| **outside == *tag);
        match allowed {
            Some((_, level)) if top.level == Some(*level) && !top.has_inner => Ok(()),
            Some((_, level)) => {
                let name = self.dialect.levels.get(usize::from(*level)).map_or("", |level| &*level.name);
                Err(corruption("E425", format!("{tag} stands elsewhere than at the beginning of {name}")))
            }
            None => {
                let innermost = self.dialect.levels.last();
                let (name, open) = innermost.map_or(("", ""), |level| (&*level.name, &*level.open));
                Err(corruption("E425", format!("{tag} stands outside of {name} ({open})")))
            }
        }
    }
}

impl EnvelopeValidator for RuleValidator {
    fn header(&mut self, header: &Construct<'_>) -> Result<u16, EnvelopeFault> {
        self.header_of(header, plain_bytes(header))
    }

    fn body(
        &mut self,
        tag: &str,
        _place: (u64, u64),
        bytes: u64,
        element: &dyn Fn(u32) -> Option<String>,
    ) -> Result<(), EnvelopeFault> {
        self.check_body(tag)?;
        self.plain_body(bytes);
        self.count_body(tag, element)
    }

    fn trailer(&mut self, trailer: &Construct<'_>) -> Result<u16, EnvelopeFault> {
        self.trailer_of(trailer, plain_bytes(trailer))
    }

    fn end(&mut self) -> Result<(), EnvelopeFault> {
        while self.frames.len() > 1 && self.ends_by_itself(self.top()) {
            self.pop();
        }
        if self.frames.len() == 1 {
            return Ok(());
        }
        let top = self.top();
        let close = self.rule(top).and_then(|rule| rule.close.clone()).unwrap_or_default();
        let reason = format!("the input ends and {close} is missing: open is {}", self.open_levels());
        Err(corruption("E421", reason))
    }

    fn close(&mut self, level: u16) -> Vec<(u32, String)> {
        while Self::position(self.top()) > i32::from(level) {
            self.pop();
        }
        if self.top().level != Some(level) {
            return Vec::new();
        }
        let elements = self.trailer_elements(level);
        self.segments += 1;
        self.closed |= self.dialect.levels[usize::from(level)].file;
        self.pop();
        elements
    }
}
