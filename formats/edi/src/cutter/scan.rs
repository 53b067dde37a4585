//! From segment to segment.

use std::sync::Arc;

use clinker_format::{BlockBound, EnvelopeValidator, Fault};
use clinker_record::text::preview_bytes;
use memchr::{memchr, memchr2};

use super::{Phase, SegmentCutter, Step, Work};
use crate::dialect::{BinaryRule, Trailing};
use crate::reader::begin;
use crate::segment::{Shape, parse_length};
use crate::text::find_bare;

/// As much of a segment is shown.
const HEAD: usize = 24;

/// Where a segment ends.
pub(super) enum End {
    /// Here its terminator stands, or the input ends that may stand for one.
    At(usize),
    /// More bytes are needed.
    More,
}

impl SegmentCutter {
    /// Takes segments until the block is full, the window is used up or a fault is met.
    pub(super) fn scan(
        &mut self,
        window: &[u8],
        ended: bool,
        bound: BlockBound,
        work: &mut Work,
    ) -> Result<Step, Fault> {
        let delimiters = &self.text.delimiters;
        let (terminator, separator) = (delimiters.terminator, delimiters.tag);
        let limit = self.bound.dialect.segment_bytes;
        // A segment with an escape character takes the long way.
        let mark = self.text.escape_mark();
        let simple = self.bound.dialect.framing.tag_width.is_none() && !self.at_header;
        while work.rows < bound.rows && work.at < bound.bytes {
            let at = self.skip_padding(window, work.at, terminator);
            work.at = at;
            if at == window.len() {
                // Padding is not held: there may be any amount of it.
                return match ended {
                    true => self.finish(work),
                    false if at >= bound.bytes => Ok(Step::Full),
                    false => Ok(Step::More),
                };
            }
            if simple
                && self.validator.is_inside()
                && let Some(head) = window[at..].first_chunk::<8>()
            {
                let room = &window[at..window.len().min(at + limit + 1)];
                let stop = match mark {
                    None => memchr(terminator, room),
                    Some(mark) => memchr2(terminator, mark, room).filter(|len| room[*len] == terminator),
                };
                if let Some(len) = stop
                    && let Some((_, info)) = self.tags.peek(*head, separator, len)
                    && info.plain
                {
                    self.validator.plain_body(len as u64 + 1);
                    self.take_record(work, at + len + 1);
                    continue;
                }
            }
            if let Some(step) = self.step(window, ended, work)? {
                return Ok(step);
            }
        }
        Ok(Step::Full)
    }

    /// Passes over what may stand between segments: line breaks, blanks and tabs, terminators of segments without bytes.
    #[inline]
    fn skip_padding(&mut self, window: &[u8], from: usize, terminator: u8) -> usize {
        let mut at = from;
        while let Some(byte) = window.get(at) {
            match byte {
                byte if *byte == terminator => {}
                b'!'.. => break,
                b'\r' | b'\n' if !self.bound.dialect.framing.line_breaks_are_data => {}
                b' ' | b'\t' if !self.at_header => self.blanks += 1,
                _ => break,
            }
            at += 1;
        }
        at
    }

    /// Counts a record that ends at `end`.
    #[inline]
    pub(super) fn take_record(&mut self, work: &mut Work, end: usize) {
        if self.keys_changed {
            self.note_keys(work);
        }
        self.segments += 1;
        work.rows += 1;
        work.at = end;
        work.end = end;
    }

    /// The segment at the front, whatever it is; a step when none can be taken.
    fn step(&mut self, window: &[u8], ended: bool, work: &mut Work) -> Result<Option<Step>, Fault> {
        if window[work.at] == 0x1A && self.validator.may_end() {
            self.phase = Phase::Behind;
            return Ok(Some(Step::Again));
        }
        let end = match self.find_end(window, work.at, ended)? {
            End::At(end) => end,
            End::More => return Ok(Some(Step::More)),
        };
        let segment = &window[work.at..end];
        let (text, dialect) = (Arc::clone(&self.text), Arc::clone(&self.bound.dialect));
        let shape = Shape { dialect: &dialect, delimiters: &text.delimiters, literal_mark: text.literal_mark() };
        let tag = &segment[..shape.tag_len(segment)];
        let info = self.tags.info(shape.dialect, tag);
        let binary = info.binary.and_then(|at| shape.dialect.binary.get(usize::from(at)));
        let end = match binary {
            None => end,
            Some(rule) => match self.binary_end(window, work.at, ended, &shape, rule)? {
                End::At(end) => end,
                End::More => return Ok(Some(Step::More)),
            },
        };
        self.segment(window, end, ended, info, &shape, work)
    }

    /// Finds the end of the segment at `at`.
    fn find_end(&self, window: &[u8], at: usize, ended: bool) -> Result<End, Fault> {
        let limit = self.bound.dialect.segment_bytes;
        if let Some(bytes) = self.bound.dialect.framing.header_bytes.filter(|_| self.at_header) {
            // The front of the interchange was judged with these bytes in the window.
            return Ok(End::At(at + bytes - 1));
        }
        let room = &window[at..window.len().min(at + limit + 1)];
        let terminator = self.text.delimiters.terminator;
        if let Some(len) = find_bare(room, terminator, self.text.literal_mark()) {
            return Ok(End::At(at + len));
        }
        self.no_end(window, at, ended)
    }

    /// There is no terminator in the window.
    fn no_end(&self, window: &[u8], at: usize, ended: bool) -> Result<End, Fault> {
        let limit = self.bound.dialect.segment_bytes;
        let terminator = crate::delimiters::shown(self.text.delimiters.terminator);
        if window.len() - at > limit {
            let mut reason = format!("the segment that begins here is longer than {limit} bytes");
            if self.at_header || self.segments <= 1 {
                reason.push_str(&format!(
                    "; no segment terminator {terminator} was seen at all: the declared one may be wrong"
                ));
            }
            return Err(self.fault_at("E426", at, reason));
        }
        if !ended {
            return Ok(End::More);
        }
        if let Some(mark) = self.text.literal_mark()
            && ends_with_mark(&window[at..], mark)
        {
            let reason = format!("the input ends behind a release character, in `{}`", head(&window[at..]));
            return Err(self.fault_at("E421", at, reason));
        }
        if self.bound.dialect.framing.last_terminator_optional {
            return Ok(End::At(window.len()));
        }
        let mut reason = format!("the input ends inside of the segment `{}`", head(&window[at..]));
        if self.validator.depth() > 0 {
            reason.push_str(&format!("; open is {}", self.validator.open_levels()));
        }
        if self.segments <= 1 {
            reason.push_str(&format!(
                "; no segment terminator {terminator} was seen behind the header: the declared one may be wrong"
            ));
        }
        Err(self.fault_at("E421", at, reason))
    }

    /// The end of a segment whose data element has the length that another element states.
    fn binary_end(
        &self,
        window: &[u8],
        at: usize,
        ended: bool,
        shape: &Shape<'_>,
        rule: &BinaryRule,
    ) -> Result<End, Fault> {
        let limit = self.bound.dialect.segment_bytes;
        let room = &window[at..window.len().min(at + limit + 1)];
        let separator = shape.delimiters.element;
        let stop = |from: usize| memchr2(separator, shape.delimiters.terminator, &room[from..]).map(|len| from + len);
        let Some(tag) = stop(0) else { return self.no_end(window, at, ended) };
        let mut from = tag + shape.gap();
        if room[tag] != separator {
            let reason = format!("{} element {}, a length in bytes, is missing", rule.tag, rule.length_element);
            return Err(self.fault_at("E422", at, reason));
        }
        let mut length = None;
        for number in 1.. {
            if from > room.len() {
                return self.no_end(window, at, ended);
            }
            if number == rule.data_element
                && let Some(len) = length
            {
                return self.behind_data(window, at, from, len, ended, shape);
            }
            let Some(end) = stop(from) else { return self.no_end(window, at, ended) };
            if number == rule.length_element {
                let text = &room[from..end];
                length = Some(parse_length(text).ok_or_else(|| {
                    let shown = preview_bytes(text);
                    let reason = format!("{} element {number}, a length in bytes, is no number: `{shown}`", rule.tag);
                    self.fault_at("E422", at, reason)
                })?);
            }
            if room[end] != separator {
                if length.is_none() {
                    let wanted = rule.length_element;
                    let reason = format!("{} element {wanted}, a length in bytes, is missing", rule.tag);
                    return Err(self.fault_at("E422", at, reason));
                }
                return Ok(End::At(at + end));
            }
            from = end + 1;
        }
        Ok(End::More)
    }

    /// The terminator behind data of `len` bytes that begin at `from` in the segment.
    fn behind_data(
        &self,
        window: &[u8],
        at: usize,
        from: usize,
        len: usize,
        ended: bool,
        shape: &Shape<'_>,
    ) -> Result<End, Fault> {
        let limit = self.bound.dialect.segment_bytes;
        let close = from.saturating_add(len);
        if close > limit {
            let reason = format!("the segment states {len} bytes of data and may be no longer than {limit} bytes");
            return Err(self.fault_at("E426", at, reason));
        }
        match window.get(at + close) {
            None if ended => {
                let reason = format!("the segment states {len} bytes of data, and the input ends before");
                Err(self.fault_at("E421", at, reason))
            }
            None => Ok(End::More),
            Some(byte) if *byte == shape.delimiters.terminator => Ok(End::At(at + close)),
            Some(byte) if *byte == shape.delimiters.element => {
                let room = &window[at..window.len().min(at + limit + 1)];
                match memchr(shape.delimiters.terminator, &room[close.min(room.len())..]) {
                    Some(more) => Ok(End::At(at + close + more)),
                    None => self.no_end(window, at, ended),
                }
            }
            Some(byte) => {
                let found = crate::delimiters::shown(*byte);
                let reason = format!("the segment states {len} bytes of data, and {found} stands behind them");
                Err(self.fault_at("E422", at, reason))
            }
        }
    }

    /// What stands behind the segment that closes an interchange.
    pub(super) fn behind(
        &mut self,
        window: &[u8],
        ended: bool,
        bound: BlockBound,
        work: &mut Work,
    ) -> Result<Step, Fault> {
        let terminator = self.text.delimiters.terminator;
        loop {
            let Some(byte) = window.get(work.at) else {
                return match ended {
                    true => self.finish(work),
                    false if work.at >= bound.bytes => Ok(Step::Full),
                    false => Ok(Step::More),
                };
            };
            match byte {
                // A segment without bytes is none here, either.
                byte if *byte == terminator => {}
                b'\r' | b'\n' | b' ' | b'\t' => {}
                0x1A if !self.end_mark => self.end_mark = true,
                0..=0x1F if self.bound.dialect.trailing == Trailing::Blank => {}
                _ => break,
            }
            work.at += 1;
        }
        let rest = &window[work.at..];
        // As much as is shown, and more than any tag has.
        if rest.len() < HEAD && !ended {
            return Ok(Step::More);
        }
        let another = self.bound.many && !self.end_mark;
        if !another || !crate::delimiters::may_start(&self.bound.dialect.framing, rest) {
            let reason = format!("`{}` stands behind the segment that closes the file", head(rest));
            return Err(self.fault_at("E425", work.at, reason));
        }
        if work.has_content() {
            // A block has one set of separators.
            return Ok(Step::Full);
        }
        let complete = ended || rest.len() > self.bound.dialect.segment_bytes;
        match begin(&self.bound, rest, complete) {
            Ok(None) => Ok(Step::More),
            Ok(Some(front)) => {
                work.at += front.start.header;
                self.enter(front);
                // The next block begins with the header.
                Ok(Step::Full)
            }
            Err(fault) => Err(fault.at(self.segments + 1, work.base + work.at as u64)),
        }
    }

    /// The input ends.
    fn finish(&mut self, work: &mut Work) -> Result<Step, Fault> {
        if let Err(fault) = self.validator.end() {
            return Err(self.envelope_fault(fault, work.at, self.segments));
        }
        self.close_down_to(0, work);
        Ok(Step::End)
    }

    /// A fault of the segment that begins at `at`.
    pub(super) fn fault_at(&self, code: &'static str, at: usize, reason: String) -> Fault {
        Fault::Corruption { code, line: self.segments + 1, offset: self.window_offset + at as u64, reason, help: None }
    }
}

/// Whether a release character at the very end has nothing to release.
fn ends_with_mark(bytes: &[u8], mark: u8) -> bool {
    let mut at = 0;
    while let Some(found) = memchr(mark, &bytes[at..]) {
        at += found + 2;
        if at > bytes.len() {
            return true;
        }
    }
    false
}

/// The beginning of a segment, for messages.
fn head(segment: &[u8]) -> String {
    preview_bytes(&segment[..segment.len().min(HEAD)])
}
