//! The sequential half of writing: the array around records, or nothing.

use std::io;
use std::sync::Arc;

use clinker_format::{Encoded, Encoder, WriteFactory, Writer};

use crate::encoder::JsonEncoder;
use crate::names::steps;
use crate::spec::WriterSpec;

/// Makes encoders and writers of bound options.
pub struct JsonOutput {
    /// The bound options.
    pub spec: WriterSpec,
}

impl WriteFactory for JsonOutput {
    fn encoder(&self) -> Option<Arc<dyn Encoder>> {
        Some(Arc::new(JsonEncoder::new(self.spec)))
    }

    fn writer(&self) -> Box<dyn Writer> {
        if self.spec.lines { Box::new(LineWriter) } else { Box::new(ArrayWriter::default()) }
    }

    fn may_lack_characters(&self) -> bool {
        false
    }
}

/// Records that stand for themselves, each with its line end.
struct LineWriter;

impl Writer for LineWriter {
    fn columns(&mut self, names: &[Arc<str>], _out: &mut dyn io::Write) -> io::Result<()> {
        Ok(steps(names).map(|_| ())?)
    }

    fn records(&mut self, encoded: &Encoded, out: &mut dyn io::Write) -> io::Result<()> {
        out.write_all(&encoded.bytes)
    }

    fn finish(&mut self, _out: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }
}

/// Records as the elements of one array.
#[derive(Default)]
struct ArrayWriter {
    /// Whether a record was written.
    begun: bool,
    /// Records between their separators.
    joined: Vec<u8>,
}

impl Writer for ArrayWriter {
    fn columns(&mut self, names: &[Arc<str>], _out: &mut dyn io::Write) -> io::Result<()> {
        Ok(steps(names).map(|_| ())?)
    }

    fn records(&mut self, encoded: &Encoded, out: &mut dyn io::Write) -> io::Result<()> {
        self.joined.clear();
        self.joined.reserve(encoded.bytes.len() + 2 * encoded.ends.len());
        let mut start = 0;
        for end in &encoded.ends {
            self.joined.extend_from_slice(if self.begun { b",\n" } else { b"[\n" });
            self.begun = true;
            self.joined.extend_from_slice(&encoded.bytes[start..*end as usize]);
            start = *end as usize;
        }
        out.write_all(&self.joined)
    }

    fn finish(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        out.write_all(if self.begun { b"\n]\n" } else { b"[]\n" })
    }
}
