//! The second half of writing a row: openers that are records, and what is told to the validator.

use std::sync::Arc;

use clinker_format::Construct;
use clinker_record::Level;

use super::cells::{Composer, Refusal, Segment};
use super::columns::Element;
use super::envelope::{Arrival, Unit, instance, rules_of};
use super::escape::Escape;
use super::header::{Filling, Header};
use super::options::Newline;
use super::separators::Separators;
use super::{Ready, SegmentWriter};
use crate::dialect::{OpenFrom, Service, SourcePlace};

impl SegmentWriter {
    /// The segment that opens a level whose opener is a record: from that record, or from the keys of another one.
    pub(super) fn opener(
        &self,
        arrival: &Arrival<'_>,
        level: usize,
        escape: Arc<Escape>,
        filling: &Filling<'_>,
    ) -> Result<Header, Box<Refusal>> {
        let dialect = &self.spec.dialect;
        let rule = &dialect.levels[level];
        let is_record = *rule.open == *arrival.tag;
        let Some(rules) = rules_of(&self.spec, level) else {
            return self.opener_of_record(arrival, level, escape, filling, is_record);
        };
        let reference = filling.key.unwrap_or(filling.anonymous);
        let mut numbers: Vec<u32> = rules.iter().map(|(number, _)| *number).collect();
        if is_record {
            numbers.extend(arrival.rows.columns.elements.iter().map(|element| element.number));
        }
        numbers.sort_unstable();
        numbers.dedup();
        let composer = Composer { dialect, escape: &escape, from: self.context.as_ref() };
        let mut segment = Segment::new(&rule.open);
        for number in numbers {
            let from = rules.iter().find(|(known, _)| *known == number).map_or(OpenFrom::Record, |(_, from)| *from);
            // Text of the input, where a record gives it.
            let mut given = filling.key.is_some();
            let text = match from {
                OpenFrom::Key => reference.to_owned(),
                OpenFrom::Type => {
                    let (text, of_record) = self.kind(arrival, level)?;
                    given = of_record;
                    text
                }
                OpenFrom::Record => {
                    if let Some(element) = self.of_record(arrival, is_record, number) {
                        composer.push_element(&mut segment, element, arrival.rows, arrival.row, None)?;
                    }
                    continue;
                }
                OpenFrom::Count => continue,
            };
            let place = if from == OpenFrom::Key { 0 } else { 1 };
            let column = rule.columns.get(place).map_or(&rule.name, |key| &key.name);
            segment
                .push(number, dialect, &escape.separators, |out| {
                    escape.append(&text, composer.from.filter(|_| given), false, out)
                })
                .map_err(|reason| Refusal::new("E443", column, &text, reason))?;
        }
        Ok(Header { segment, reference: reference.to_owned(), escape })
    }

    /// An opener that no rule describes: nothing but its record can make it.
    fn opener_of_record(
        &self,
        arrival: &Arrival<'_>,
        level: usize,
        escape: Arc<Escape>,
        filling: &Filling<'_>,
        is_record: bool,
    ) -> Result<Header, Box<Refusal>> {
        let rule = &self.spec.dialect.levels[level];
        if !is_record {
            let reason = format!("it stands in front of the {} that opens its {}", rule.open, rule.name);
            return Err(Refusal::new("E449", &self.spec.dialect.columns.tag_column, arrival.tag, reason));
        }
        let composer = Composer { dialect: &self.spec.dialect, escape: &escape, from: self.context.as_ref() };
        let segment = composer.record(arrival.tag, arrival.rows, arrival.row)?;
        Ok(Header { segment, reference: filling.key.unwrap_or_default().to_owned(), escape })
    }

    fn of_record<'a>(&self, arrival: &Arrival<'a>, is_record: bool, number: u32) -> Option<&'a Element> {
        if is_record { arrival.rows.columns.of(number) } else { None }
    }

    /// The type of a level: its second key column, or the option. Says whether the record gives it.
    fn kind(&self, arrival: &Arrival<'_>, level: usize) -> Result<(String, bool), Box<Refusal>> {
        let rule = &self.spec.dialect.levels[level];
        if let Some(column) = arrival.rows.columns.keys[level].get(1).copied().flatten() {
            let text = arrival.rows.text(column, arrival.row)?;
            if !text.is_empty() {
                return Ok((text.into_owned(), true));
            }
        }
        if let Some(text) = self.spec.type_default.as_ref().filter(|text| !text.is_empty()) {
            return Ok((text.clone(), false));
        }
        let column = rule.columns.get(1).map_or(&rule.name, |key| &key.name);
        let mut reason = format!("the record opens a {} and has no type for it", rule.name);
        if let Some(option) = &self.spec.rules.type_option {
            reason.push_str(&format!("; option `{option}` gives one"));
        }
        Err(Refusal::new("E449", column, "", reason))
    }

    /// Closes what a row closes, and writes it with what it opens.
    pub(super) fn commit(
        &mut self,
        ready: Ready,
        level: Option<&Arc<Level>>,
        out: &mut Vec<u8>,
    ) -> Result<(), Box<Refusal>> {
        if let Some(from) = ready.opening.from {
            self.close(from, out)?;
        }
        if ready.echoed.is_some() {
            self.echoed = ready.echoed;
        }
        for prepared in ready.headers {
            let Header { segment, escape, reference } = prepared.header;
            if self.validator.is_none() {
                self.begin(&segment, escape, ready.newline.as_deref(), out);
            }
            self.tell_header(&segment)?;
            self.put(&segment, out);
            let instance = instance(level, prepared.level).map(Arc::clone);
            self.units.opened(&self.spec, prepared.level, Unit { reference, instance });
        }
        if let Some(body) = ready.body {
            self.tell_body(&body)?;
            self.put(&body, out);
        }
        Ok(())
    }

    /// Begins the output with the separators of its outermost header.
    fn begin(&mut self, header: &Segment, escape: Arc<Escape>, newline: Option<&[u8]>, out: &mut Vec<u8>) {
        let delimiters = escape.separators.delimiters(&self.spec.dialect);
        self.validator = Some((self.make_validator)(&self.spec.dialect, &delimiters));
        let terminator = escape.separators.terminator();
        self.after = terminator.into_iter().collect();
        self.after.extend_from_slice(match (terminator, self.spec.newline) {
            // A terminator that ends a line is its own line break.
            (Some(b'\n'), _) => b"",
            // CR and LF together end the segments of the echoed file.
            (Some(b'\r'), _) if newline == Some(b"lf") => b"\n",
            (Some(b'\r'), Newline::Lf | Newline::CrLf) | (_, Newline::Lf) => b"\n",
            (_, Newline::CrLf) => b"\r\n",
            (_, Newline::None) => b"",
        });
        self.escape = escape;
        self.put_service(header, out);
    }

    /// Writes the segment that only carries separators, where it is asked for or where the header does not say them all.
    fn put_service(&mut self, header: &Segment, out: &mut Vec<u8>) {
        let dialect = &self.spec.dialect;
        let Some((tag, len)) = &dialect.framing.service else { return };
        let separators = self.escape.separators;
        let terminated: Vec<u8> = header.bytes.iter().copied().chain(separators.terminator()).collect();
        let needed = || Separators::declared_by(dialect, &terminated) != Ok(separators);
        let written = match self.spec.rules.service {
            Service::Never => false,
            Service::Option => self.spec.service || needed(),
            Service::WhenNeeded => needed(),
        };
        if !written {
            return;
        }
        let mut segment = Segment::new(tag);
        for at in segment.bytes.len()..*len {
            let role = dialect
                .framing
                .delimiters
                .iter()
                .find(|(_, sources)| sources.iter().any(|source| source.from == SourcePlace::ServiceByte(at)));
            // A byte without a role is the decimal mark of numbers (ISO 9735).
            segment.bytes.push(role.map_or(b'.', |(role, _)| separators.get(*role).unwrap_or(b' ')));
        }
        // The service segment ends with its last byte, which is the terminator.
        let line_break = &self.after[self.after.len().min(1)..];
        out.extend_from_slice(&segment.bytes);
        out.extend_from_slice(line_break);
        self.offset += (segment.bytes.len() + line_break.len()) as u64;
    }

    fn put(&mut self, segment: &Segment, out: &mut Vec<u8>) {
        out.extend_from_slice(&segment.bytes);
        out.extend_from_slice(&self.after);
        self.segments += 1;
        self.offset += (segment.bytes.len() + self.after.len()) as u64;
    }

    fn tell_header(&mut self, segment: &Segment) -> Result<(), Box<Refusal>> {
        let elements = segment.decoded(&self.escape);
        let elements: Vec<&str> = elements.iter().map(String::as_str).collect();
        let line = self.segments + 1;
        let header = Construct { tag: &segment.tag, elements: &elements, line, offset: self.offset };
        match self.validator.as_mut().map(|validator| validator.header(&header)) {
            Some(Err(fault)) => Err(self.misplaced(&segment.tag, fault.reason)),
            _ => Ok(()),
        }
    }

    fn tell_body(&mut self, segment: &Segment) -> Result<(), Box<Refusal>> {
        let escape = &self.escape;
        let element = |number| segment.element(number).map(|bytes| escape.decoded(bytes));
        let bytes = segment.bytes.len() as u64 + 1;
        let place = (self.segments + 1, self.offset);
        match self.validator.as_mut().map(|validator| validator.body(&segment.tag, place, bytes, &element)) {
            Some(Err(fault)) => Err(self.misplaced(&segment.tag, fault.reason)),
            _ => Ok(()),
        }
    }

    /// What the validator does not let stand where it is.
    fn misplaced(&self, tag: &str, reason: String) -> Box<Refusal> {
        Refusal::new("E449", &self.spec.dialect.columns.tag_column, tag, reason)
    }

    /// Closes the open levels from the innermost out to `level`, and writes their trailers.
    pub(super) fn close(&mut self, level: usize, out: &mut Vec<u8>) -> Result<(), Box<Refusal>> {
        for at in (level..self.units.open.len()).rev() {
            if self.units.open[at].take().is_none() {
                continue;
            }
            // A level without a closing segment ends with what follows it.
            let Some(tag) = self.spec.dialect.levels[at].close.clone() else { continue };
            let level = u16::try_from(at).unwrap_or(u16::MAX);
            let mut elements = self.validator.as_mut().map(|validator| validator.close(level)).unwrap_or_default();
            elements.sort_by_key(|(number, _)| *number);
            let mut segment = Segment::new(&tag);
            for (number, text) in elements {
                segment
                    .push(number, &self.spec.dialect, &self.escape.separators, |out| {
                        self.escape.append_decoded(&text, &self.spec.rules, out)
                    })
                    .map_err(|reason| Refusal::new("E443", &tag, &text, reason))?;
            }
            self.put(&segment, out);
        }
        Ok(())
    }
}
