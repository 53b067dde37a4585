//! The sequential half of writing: mark, header, and the first cell of the output.

use std::io;
use std::sync::Arc;

use clinker_format::charset::Charset;
use clinker_format::{ColumnRun, ColumnSet, Encoded, Encoder, JoinRule, WriteFactory, WriteFault, Writer};

use crate::complete::complete;
use crate::encoder::{self, CsvEncoder};
use crate::framing::{Class, Framing};
use crate::spec::WriterSpec;

/// Makes encoders and writers of bound options.
pub struct CsvOutput {
    spec: WriterSpec,
    header: bool,
    encoder: Arc<CsvEncoder>,
}

impl CsvOutput {
    /// An output of bound options.
    pub fn new(spec: WriterSpec, header: bool, joins: Vec<JoinRule>) -> Self {
        Self { spec, header, encoder: Arc::new(CsvEncoder::new(&spec, joins)) }
    }
}

impl CsvOutput {
    fn csv_writer(&self, header: bool) -> CsvWriter {
        CsvWriter {
            spec: self.spec,
            charset: self.spec.encoding.for_output(),
            header,
            encoder: Arc::clone(&self.encoder),
            begun: false,
        }
    }

    pub(crate) fn spec(&self) -> &WriterSpec {
        &self.spec
    }

    pub(crate) fn charset(&self) -> Charset {
        self.spec.encoding.for_output()
    }

    pub(crate) fn framing(&self) -> Framing {
        Framing::new(self.charset(), self.spec.delimiter, self.spec.quote)
    }
}

impl WriteFactory for CsvOutput {
    fn encoder(&self) -> Option<Arc<dyn Encoder>> {
        Some(Arc::clone(&self.encoder) as Arc<dyn Encoder>)
    }

    fn writer(&self) -> Box<dyn Writer> {
        Box::new(self.csv_writer(self.header))
    }

    fn writer_without_header(&self) -> Box<dyn Writer> {
        Box::new(self.csv_writer(false))
    }

    fn column_set(&self) -> ColumnSet {
        ColumnSet::Union
    }

    fn complete(
        &self,
        written: &mut dyn io::Read,
        runs: &[ColumnRun],
        names: &[Arc<str>],
        header: bool,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        complete(self, written, runs, names, header && self.header, out)
    }

    fn may_lack_characters(&self) -> bool {
        self.spec.encoding.for_output().is_partial()
    }
}

/// Writes one file.
pub struct CsvWriter {
    spec: WriterSpec,
    charset: Charset,
    header: bool,
    encoder: Arc<CsvEncoder>,
    /// Whether a byte was written.
    begun: bool,
}

impl Writer for CsvWriter {
    fn columns(&mut self, names: &[Arc<str>], out: &mut dyn io::Write) -> io::Result<()> {
        if !self.header {
            return Ok(());
        }
        let quote_first = names.first().is_some_and(|name| is_mark_like(self.charset, name.chars().next()));
        let mut row = Vec::new();
        if let Err((place, lacking)) = self.encoder.row_of_texts(names, quote_first, &mut row) {
            let reason = encoder::lacking_reason(self.charset, lacking);
            return Err(WriteFault { code: "E443", column: Arc::clone(&names[place]), reason }.into());
        }
        self.begin(out)?;
        out.write_all(&row)
    }

    fn records(&mut self, encoded: &Encoded, out: &mut dyn io::Write) -> io::Result<()> {
        if self.begun || encoded.bytes.is_empty() {
            return out.write_all(&encoded.bytes);
        }
        self.begin(out)?;
        let first = first_char(self.charset, &encoded.bytes);
        if !is_mark_like(self.charset, first) {
            return out.write_all(&encoded.bytes);
        }
        // A cell that begins with this character and not with a quote has no special character inside.
        let end = self.first_cell_end(&encoded.bytes);
        let mut quote = Vec::new();
        let text = char::from(self.spec.quote);
        self.charset.encode(text.encode_utf8(&mut [0; 4]), &mut quote).expect("every character set holds ASCII");
        out.write_all(&quote)?;
        out.write_all(&encoded.bytes[..end])?;
        out.write_all(&quote)?;
        out.write_all(&encoded.bytes[end..])
    }

    fn finish(&mut self, _out: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }
}

impl CsvWriter {
    /// The byte-order mark stands in front of the first byte; an output without a row is empty.
    fn begin(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        self.begun = true;
        out.write_all(self.spec.encoding.output_mark())
    }

    fn first_cell_end(&self, bytes: &[u8]) -> usize {
        let framing = Framing::new(self.charset, self.spec.delimiter, self.spec.quote);
        (0..bytes.len())
            .step_by(framing.unit)
            .find(|at| framing.class(bytes, *at) != Class::Other)
            .unwrap_or(bytes.len())
    }
}

/// The first character of an output in a Unicode character set.
fn first_char(charset: Charset, bytes: &[u8]) -> Option<char> {
    let mut text = Vec::new();
    if charset.is_partial() {
        return None;
    }
    // Four bytes hold a whole character, and in UTF-8 perhaps the beginning of another one.
    let _ = charset.decode(&bytes[..bytes.len().min(4)], &mut text);
    std::str::from_utf8(&text).ok()?.chars().next()
}

/// Whether a file that begins with this character could be read as one that begins with a byte-order mark: U+FEFF is
/// the mark, U+FFFE is the mark of the other byte order in UTF-16, and U+0000 can complete a mark of UTF-32.
fn is_mark_like(charset: Charset, first: Option<char>) -> bool {
    match first {
        Some('\u{FEFF}') => true,
        Some('\u{FFFE}' | '\0') => charset.unit() == 2,
        _ => false,
    }
}
