//! Writing: records to segments, with the envelopes around them.
//!
//! [`columns`] says what a column means, [`cells`] makes the segment of a row, [`escape`] its bytes. [`envelope`] knows
//! which levels are open and which ones a record opens, [`header`] makes their headers. Trailers come from the validator,
//! which is told all that is written.

mod cells;
mod columns;
mod commit;
mod envelope;
mod escape;
mod header;
mod options;
mod separators;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use clinker_format::{
    Encoded, Encoder, EnvelopeValidator, OptionFault, OutputRows, RefusedRow, WriteFactory, WriteFault, WriteRequest,
    Writer,
};
use clinker_record::{Level, Section};

pub use options::writer_options;

use crate::RuleValidator;
use crate::delimiters::Delimiters;
use crate::dialect::Dialect;
use cells::{Composer, Refusal, Rows, Segment};
use columns::Columns;
use envelope::{Arrival, Document, Opening, Units};
use escape::Escape;
use header::{Filling, Header};
use options::{HeaderPlan, WriterSpec};
use separators::Separators;

/// How many tags of records are remembered.
const KNOWN_TAGS: usize = 32;

/// Makes the validator of an output file, once its separators are known.
pub type MakeValidator = fn(&Arc<Dialect>, &Delimiters) -> Box<dyn EnvelopeValidator>;

/// Binds writer options. Counts and references in trailers follow the rules of the dialect.
///
/// # Errors
/// As [`bind_writer_with`].
pub fn bind_writer(
    dialect: &Arc<Dialect>,
    request: &WriteRequest<'_>,
) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>> {
    bind_writer_with(dialect, request, |dialect, delimiters| {
        let mut validator = RuleValidator::new(Arc::clone(dialect), false);
        validator.delimiters(delimiters);
        Box::new(validator)
    })
}

/// Binds writer options, with a validator of the caller's choice.
///
/// # Errors
/// Everything that is wrong with the options: E400 for a dialect that is only read, E402, E403, E409.
pub fn bind_writer_with(
    dialect: &Arc<Dialect>,
    request: &WriteRequest<'_>,
    validator: MakeValidator,
) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>> {
    let spec = options::bind(dialect, request)?;
    Ok(Arc::new(SegmentOutput { spec: Arc::new(spec), validator }))
}

/// Makes writers of bound options.
pub struct SegmentOutput {
    spec: Arc<WriterSpec>,
    validator: MakeValidator,
}

impl WriteFactory for SegmentOutput {
    fn encoder(&self) -> Option<Arc<dyn Encoder>> {
        None
    }

    fn writer(&self) -> Box<dyn Writer> {
        let spec = Arc::clone(&self.spec);
        Box::new(SegmentWriter {
            columns: Arc::new(Columns::new(&spec.dialect, &[])),
            known_tags: Vec::new(),
            units: Units::new(spec.dialect.levels.len()),
            escape: header::escape(&spec, spec.charset, Separators::defaults(&spec.dialect)),
            validator: None,
            make_validator: self.validator,
            document: None,
            echoed: None,
            level: None,
            context: None,
            after: Vec::new(),
            segments: 0,
            offset: 0,
            spec,
        })
    }

    fn may_lack_characters(&self) -> bool {
        // Such a character is a write failure here, not one of its row.
        false
    }
}

/// Writes one file. It holds the open levels and one record.
pub struct SegmentWriter {
    spec: Arc<WriterSpec>,
    columns: Arc<Columns>,
    /// Tags of records that were judged.
    known_tags: Vec<Box<str>>,
    units: Units,
    /// How texts are written, since the outermost header.
    escape: Arc<Escape>,
    /// Made when the first header is.
    validator: Option<Box<dyn EnvelopeValidator>>,
    make_validator: MakeValidator,
    document: Option<Document>,
    /// The section of the outermost header.
    echoed: Option<Section>,
    /// The level around the last row.
    level: Option<Arc<Level>>,
    /// The separators that its rows were read with.
    context: Option<Separators>,
    /// What follows each segment: terminator and line break.
    after: Vec<u8>,
    /// Segments written.
    segments: u64,
    /// Bytes written.
    offset: u64,
}

/// A record, and all that it opens, ready to be written.
struct Ready {
    opening: Opening,
    /// The header of each level that it opens; none for an opener that is a record.
    headers: Vec<Prepared>,
    /// The record; none when it is an opener and stands among the headers.
    body: Option<Segment>,
    echoed: Option<Section>,
    newline: Option<Vec<u8>>,
}

/// The header of a level.
struct Prepared {
    level: usize,
    header: Header,
}

impl Writer for SegmentWriter {
    fn columns(&mut self, _names: &[Arc<str>], _out: &mut dyn io::Write) -> io::Result<()> {
        // A literal header that cannot be written is found before any record.
        if let Some((level, elements)) = header::outermost_literal(&self.spec) {
            let filling = Filling { key: None, anonymous: "1", ordinal: 1 };
            header::from_elements(&self.spec, level, elements, None, &filling).map_err(|refusal| fault(*refusal))?;
        }
        Ok(())
    }

    fn rows(&mut self, rows: &OutputRows<'_>, out: &mut Encoded) {
        if !self.columns.are(rows.names) {
            self.columns = Arc::new(Columns::new(&self.spec.dialect, rows.names));
        }
        let columns = Arc::clone(&self.columns);
        let bound = Rows::new(rows, &columns);
        for row in 0..rows.rows {
            let start = out.bytes.len();
            match self.row(&bound, row, &mut out.bytes) {
                Ok(false) => {}
                Ok(true) => out.ends.push(u32::try_from(out.bytes.len()).expect("a batch encodes to less than 4 GiB")),
                Err(refusal) => {
                    out.bytes.truncate(start);
                    out.refused.push(RefusedRow {
                        row: u32::try_from(row).expect("a batch has less than 2^32 rows"),
                        code: refusal.code,
                        category: None,
                        column: refusal.column,
                        value: refusal.value,
                        reason: refusal.reason,
                    });
                    return;
                }
            }
        }
    }

    fn records(&mut self, encoded: &Encoded, out: &mut dyn io::Write) -> io::Result<()> {
        out.write_all(&encoded.bytes)
    }

    fn finish(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut trailers = Vec::new();
        self.close(0, &mut trailers).map_err(|refusal| fault(*refusal))?;
        out.write_all(&trailers)
    }
}

fn fault(refusal: Refusal) -> io::Error {
    WriteFault { code: refusal.code, column: refusal.column, reason: refusal.reason }.into()
}

impl SegmentWriter {
    /// Appends a row with what belongs in front of it; says whether it was written.
    fn row(&mut self, rows: &Rows<'_>, row: usize, out: &mut Vec<u8>) -> Result<bool, Box<Refusal>> {
        let Some(tag) = self.tag(rows, row)? else { return Ok(false) };
        self.check_others(rows, row)?;
        let level = rows.given.origin.level(row);
        let document = self.document(rows, row, level)?;
        if !same_level(self.level.as_ref(), level) {
            self.enter(level)?;
        }
        let arrival = Arrival { tag: &tag, rows, row, level };
        let ready = self.prepare(&arrival)?;
        self.document = document;
        self.commit(ready, level, out)?;
        Ok(true)
    }

    /// The tag of a row; none for a segment that the writer makes itself.
    fn tag<'a>(&mut self, rows: &Rows<'a>, row: usize) -> Result<Option<Cow<'a, str>>, Box<Refusal>> {
        let dialect = &self.spec.dialect;
        let column = &dialect.columns.tag_column;
        let tag = match rows.columns.tag {
            Some(at) => rows.text(at, row)?,
            None => return Err(Refusal::new("E449", column, "", "the record has no column with its tag".into())),
        };
        if tag.is_empty() {
            return Err(Refusal::new("E449", column, "", "the record has no tag".into()));
        }
        let service = dialect.framing.service.as_ref().is_some_and(|(service, _)| **service == *tag);
        let envelope = dialect.levels.iter().any(|level| {
            (!level.emit_open && *level.open == *tag) || level.close.as_ref().is_some_and(|close| **close == *tag)
        });
        if service || envelope {
            return Ok(None);
        }
        if self.known_tags.iter().any(|known| **known == *tag) {
            return Ok(Some(tag));
        }
        if let Some((_, text)) = dialect.forbid.iter().find(|(known, _)| **known == *tag) {
            return Err(Refusal::new("E443", column, &tag, text.to_string()));
        }
        if !self.spec.tag.is_match(&tag) {
            let reason = format!("it is no tag of format `{}`: {}", dialect.name, dialect.columns.tag_pattern.as_str());
            return Err(Refusal::new("E443", column, &tag, reason));
        }
        if self.known_tags.len() < KNOWN_TAGS {
            self.known_tags.push(tag.as_ref().into());
        }
        Ok(Some(tag))
    }

    /// Columns that have no place must be null.
    fn check_others(&self, rows: &Rows<'_>, row: usize) -> Result<(), Box<Refusal>> {
        let Some(at) = rows.columns.others.iter().copied().find(|at| !rows.is_null(*at, row)) else { return Ok(()) };
        let value = rows.text(at, row).unwrap_or_default();
        let reason = format!(
            "a segment of format `{}` has no place for it; remove it with `exclude` or rename it with `mapping`",
            self.spec.dialect.name
        );
        Err(Refusal::new("E447", rows.name(at), &value, reason))
    }

    /// The document of the output with this row.
    fn document(
        &self,
        rows: &Rows<'_>,
        row: usize,
        level: Option<&Arc<Level>>,
    ) -> Result<Option<Document>, Box<Refusal>> {
        let Some(found) = Document::of(rows.given.origin, row, level) else { return Ok(self.document.clone()) };
        match &self.document {
            Some(known) if !known.is(&found) => {
                let reason = format!(
                    "an output has room for one envelope: it holds rows of {}, and this row is of {}",
                    known.shown(),
                    found.shown()
                );
                Err(Refusal::new("E445", &self.spec.dialect.columns.tag_column, "", reason))
            }
            Some(known) => Ok(Some(known.clone())),
            None => Ok(Some(found)),
        }
    }

    /// Takes the context of another level.
    fn enter(&mut self, level: Option<&Arc<Level>>) -> Result<(), Box<Refusal>> {
        self.level = level.map(Arc::clone);
        self.context = level.and_then(|level| self.separators_of(level));
        let (Some(level), Some(echoed)) = (level, &self.echoed) else { return Ok(()) };
        let outermost = self.spec.headers.iter().enumerate().find(|(_, plan)| **plan != HeaderPlan::Absent);
        let Some((at, HeaderPlan::Echo(name))) = outermost else { return Ok(()) };
        match level.section(name) {
            Some(section) if envelope::same_header(section, echoed) => Ok(()),
            Some(_) => {
                let reason = format!("section `{name}` of this row is another header than the one that was written");
                Err(Refusal::new("E445", name, "", reason))
            }
            None => Err(missing(&self.spec, at, name)),
        }
    }

    /// The separators that the rows of a level were read with.
    fn separators_of(&self, level: &Arc<Level>) -> Option<Separators> {
        let key = level.chain().flat_map(|level| &level.sections).find_map(|section| section.key("$delims"))?;
        Separators::of_key(&self.spec.dialect, key)
    }

    /// Makes everything that a row writes, except trailers. Nothing is changed before all of it succeeded.
    fn prepare(&self, arrival: &Arrival<'_>) -> Result<Ready, Box<Refusal>> {
        let opening = self.units.opening(&self.spec, arrival)?;
        let mut ready = Ready { opening, headers: Vec::new(), body: None, echoed: None, newline: None };
        let mut escape = self.validator.is_some().then(|| Arc::clone(&self.escape));
        let mut opened_by_record = false;
        for step in &ready.opening.levels {
            let from = ready.opening.from.unwrap_or(step.level);
            let (anonymous, ordinal) = self.units.anonymous(&self.spec, step.level, from);
            let filling = Filling { key: step.key.as_deref(), anonymous: &anonymous, ordinal };
            let header = match &self.spec.headers[step.level] {
                HeaderPlan::Absent => continue,
                HeaderPlan::Literal(elements) => {
                    header::from_elements(&self.spec, step.level, elements, escape.as_ref(), &filling)?
                }
                HeaderPlan::Echo(name) => {
                    let section = arrival.level.and_then(|level| level.section(name));
                    let section = section.ok_or_else(|| missing(&self.spec, step.level, name))?;
                    if escape.is_none() {
                        ready.echoed = Some(section.clone());
                        ready.newline = section.key("$newline").map(<[u8]>::to_vec);
                    }
                    let from = self.context.as_ref();
                    header::from_section(&self.spec, step.level, section, from, escape.as_ref(), &filling)?
                }
                HeaderPlan::Record => {
                    let escape = Arc::clone(escape.as_ref().unwrap_or(&self.escape));
                    opened_by_record |= *self.spec.dialect.levels[step.level].open == *arrival.tag;
                    self.opener(arrival, step.level, escape, &filling)?
                }
            };
            self.check_size(&header.segment)?;
            escape = Some(Arc::clone(&header.escape));
            ready.headers.push(Prepared { level: step.level, header });
        }
        if !opened_by_record {
            let escape = escape.as_ref().unwrap_or(&self.escape);
            let composer = Composer { dialect: &self.spec.dialect, escape, from: self.context.as_ref() };
            let body = composer.record(arrival.tag, arrival.rows, arrival.row)?;
            self.check_size(&body)?;
            ready.body = Some(body);
        }
        Ok(ready)
    }

    /// A segment that no reader of the format would take is not written.
    fn check_size(&self, segment: &Segment) -> Result<(), Box<Refusal>> {
        let (bytes, most) = (segment.bytes.len() + 1, self.spec.dialect.segment_bytes);
        if bytes <= most {
            return Ok(());
        }
        let reason = format!("the segment would have {bytes} bytes, and at most {most} are read");
        Err(Refusal::new("E443", &self.spec.dialect.columns.tag_column, &segment.tag, reason))
    }
}

fn same_level(one: Option<&Arc<Level>>, two: Option<&Arc<Level>>) -> bool {
    match (one, two) {
        (Some(one), Some(two)) => Arc::ptr_eq(one, two),
        (None, None) => true,
        _ => false,
    }
}

/// A section that the document of a row does not have.
fn missing(spec: &WriterSpec, level: usize, name: &Arc<str>) -> Box<Refusal> {
    let open = &spec.dialect.levels[level].open;
    let reason = format!("the document of this row has no section `{name}`, from which the {open} segment is written");
    Refusal::new("E446", &header::option(spec, level), name, reason)
}
