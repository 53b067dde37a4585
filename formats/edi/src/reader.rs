//! A dialect with its reader options bound: opens files (formats.md 7.1, 7.2).

use std::sync::Arc;

use clinker_format::charset::{Charset, Encoding};
use clinker_format::input::BlockInput;
use clinker_format::{Fault, FileIdentity, LevelSpec, OpenFile, ReadFactory, Vocabulary};

use crate::cutter::SegmentCutter;
use crate::decoder::SegmentDecoder;
use crate::delimiters::{Delimiters, Start, StartFault, discover};
use crate::dialect::{CharsetRule, Dialect};
use crate::segment::Shape;
use crate::split::SplitRule;
use crate::text::{TextRules, find_bare};

/// What a column of the reader holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// The tag.
    Tag,
    /// A key of a level: position among the keys.
    Key(usize),
    /// An element, from 1.
    Element(u32),
    /// A part of a split element: position of the rule, and of the part in it.
    Part(usize, usize),
}

/// A key column: where its value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub level: u16,
    pub element: u32,
}

/// The reader options of a dialect, bound.
#[derive(Debug)]
pub(crate) struct Bound {
    pub dialect: Arc<Dialect>,
    /// The `encoding` option, or the fixed character set; none when the header decides.
    pub charset: Option<Charset>,
    /// `envelopes: many`.
    pub many: bool,
    /// `element_text: decoded`.
    pub decoded: bool,
    pub max_elements: u32,
    pub levels: Vec<LevelSpec>,
    pub columns: Arc<[Arc<str>]>,
    pub kinds: Vec<ColumnKind>,
    pub keys: Vec<Key>,
    pub splits: Vec<SplitRule>,
    /// Positional names, from 1.
    pub names: Vec<Arc<str>>,
}

impl Bound {
    /// The positional name of an element.
    pub(crate) fn name(&self, number: usize) -> Arc<str> {
        let known = number.checked_sub(1).and_then(|at| self.names.get(at)).cloned();
        known.unwrap_or_else(|| positional(&self.dialect.columns.prefix, number))
    }

    /// What the limit of elements is called.
    pub(crate) fn max_option(&self) -> &str {
        &self.dialect.columns.max_option
    }
}

/// The name of a positional column: at least two digits, no further padding.
pub(crate) fn positional(prefix: &str, number: usize) -> Arc<str> {
    format!("{prefix}{number:02}").into()
}

/// Opens the files of a dialect.
pub(crate) struct DialectReader {
    pub bound: Arc<Bound>,
}

impl ReadFactory for DialectReader {
    fn open(&self, _file: &FileIdentity, input: &mut BlockInput) -> Result<OpenFile, Fault> {
        let bound = &self.bound;
        let marked = skip_front(bound, input)?;
        let front = loop {
            let complete = input.ended() || input.window().len() > bound.dialect.segment_bytes;
            if input.window().is_empty() && complete {
                let reason = "the file is empty: the header is missing".to_owned();
                return Err(Fault::Corruption { code: "E421", line: 1, offset: input.offset(), reason, help: None });
            }
            match begin(bound, input.window(), complete) {
                Ok(Some(front)) => break front,
                Ok(None) => {
                    input.grow()?;
                }
                Err(fault) => return Err(fault.at(1, input.offset())),
            }
        };
        if marked && front.text.charset != Charset::Utf8 {
            let reason = "the file begins with the byte-order mark of utf-8 and its header names another character set";
            return Err(Fault::Corruption { code: "E422", line: 1, offset: 0, reason: reason.into(), help: None });
        }
        input.take(front.start.header);
        let cutter = SegmentCutter::new(Arc::clone(bound), front);
        let decoder = SegmentDecoder::new(Arc::clone(bound));
        Ok(OpenFile {
            columns: bound.columns.to_vec(),
            named_by_file: false,
            cutter: Box::new(cutter),
            decoder: Arc::new(decoder),
        })
    }

    fn levels(&self) -> &[LevelSpec] {
        &self.bound.levels
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::Positional { prefix: Arc::clone(&self.bound.dialect.columns.prefix), max: self.bound.max_elements }
    }

    fn generated_columns(&self) -> Option<Arc<[Arc<str>]>> {
        Some(Arc::clone(&self.bound.columns))
    }
}

/// Passes over a byte-order mark and the line breaks in front of the first segment; whether there was a mark.
fn skip_front(bound: &Bound, input: &mut BlockInput) -> Result<bool, Fault> {
    const MARK: &[u8] = b"\xEF\xBB\xBF";
    while input.window().len() < MARK.len() && MARK.starts_with(input.window()) && input.grow()? {}
    let may_be_utf8 = bound.charset.is_none_or(|charset| charset == Charset::Utf8);
    let marked = may_be_utf8 && input.window().starts_with(MARK);
    if marked {
        input.take(MARK.len());
    }
    if bound.dialect.framing.line_breaks_are_data {
        return Ok(marked);
    }
    loop {
        let window = input.window();
        let breaks = window.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let more = breaks == window.len();
        input.take(breaks);
        if !more || !input.grow()? {
            return Ok(marked);
        }
    }
}

/// An interchange that begins.
#[derive(Debug)]
pub(crate) struct Front {
    pub start: Start,
    pub text: Arc<TextRules>,
}

/// Reads the front of an interchange; `None` when more bytes are needed.
pub(crate) fn begin(bound: &Bound, window: &[u8], complete: bool) -> Result<Option<Front>, StartFault> {
    let window = &window[..window.len().min(bound.dialect.segment_bytes + 1)];
    let Some(start) = discover(&bound.dialect, window, complete)? else { return Ok(None) };
    let charset = match bound.charset {
        Some(charset) => charset,
        None => match charset_of_header(bound, &start, window, complete)? {
            Some(charset) => charset,
            None => return Ok(None),
        },
    };
    let text = TextRules::new(Arc::clone(&bound.dialect), start.delimiters.clone(), charset);
    Ok(Some(Front { start, text: Arc::new(text) }))
}

/// The character set that an element of the header names.
fn charset_of_header(
    bound: &Bound,
    start: &Start,
    window: &[u8],
    complete: bool,
) -> Result<Option<Charset>, StartFault> {
    let CharsetRule::Element { header, element, component, map } = &bound.dialect.charset else {
        return Ok(Some(Charset::Utf8));
    };
    let delimiters: &Delimiters = &start.delimiters;
    let data = &window[start.header..];
    let literal_mark = delimiters.release;
    let end = match find_bare(data, delimiters.terminator, literal_mark) {
        Some(end) => end,
        None if complete => data.len(),
        None => return Ok(None),
    };
    let segment = &data[..end];
    let shape = Shape { dialect: &bound.dialect, delimiters, literal_mark };
    let mut value = String::new();
    if segment.starts_with(header.as_bytes()) {
        let mut number = 0;
        shape.elements(segment, None, |from, to| {
            number += 1;
            if number == *element {
                let wire = &segment[from..to];
                let part = match (component, delimiters.component) {
                    (Some(component), Some(separator)) => {
                        wire.split(|byte| *byte == separator).nth((*component as usize).saturating_sub(1))
                    }
                    _ => Some(wire),
                };
                value = String::from_utf8_lossy(part.unwrap_or_default()).into_owned();
            }
        });
    }
    let named = map.iter().find(|(known, _)| **known == *value).and_then(|(_, name)| charset_named(name));
    match named {
        Some(charset) => Ok(Some(charset)),
        None => {
            let accepted = map.iter().map(|(known, _)| &**known).collect::<Vec<_>>().join(", ");
            let shown = clinker_record::text::preview(&value);
            let reason = format!("{header} element {element} names `{shown}`; accepted are {accepted}");
            Err(StartFault { code: "E402", at: start.header, reason })
        }
    }
}

/// A character set in which separators are bytes of ASCII.
pub(crate) fn charset_named(name: &str) -> Option<Charset> {
    match Encoding::parse(name) {
        Some(Encoding::Known(charset)) if charset.continues_ascii() => Some(charset),
        _ => None,
    }
}

impl StartFault {
    /// The fault of a file whose window begins at `offset`.
    pub(crate) fn at(self, line: u64, offset: u64) -> Fault {
        Fault::Corruption { code: self.code, line, offset: offset + self.at as u64, reason: self.reason, help: None }
    }
}
