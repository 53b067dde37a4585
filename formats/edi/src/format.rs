//! A dialect as a format of the registry.

use std::fmt;
use std::sync::Arc;

use clinker_format::{
    Descriptor, Format, OptionFault, OptionSpec, ReadFactory, ReadRequest, WriteCapabilities, WriteFactory,
    WriteRequest,
};

use crate::dialect::Dialect;
use crate::options;
use crate::reader::DialectReader;
use crate::writer::{bind_writer, writer_options};

/// A format made from a dialect. Formats live as long as the process, and so does what it says of itself.
pub struct DialectFormat {
    dialect: Arc<Dialect>,
    descriptor: &'static Descriptor,
    options: &'static [OptionSpec],
}

impl fmt::Debug for DialectFormat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("DialectFormat").field("name", &self.dialect.name).finish_non_exhaustive()
    }
}

impl DialectFormat {
    /// The format of a dialect, with a sentence for listings.
    pub fn new(dialect: Dialect, summary: &str) -> Self {
        let read = options::read_capabilities(&dialect);
        let options = read.options;
        let descriptor = Descriptor {
            name: options::leak(&dialect.name),
            summary: options::leak(summary),
            read: Some(read),
            write: Self::write_capabilities(&dialect),
        };
        Self { dialect: Arc::new(dialect), descriptor: Box::leak(Box::new(descriptor)), options }
    }

    /// The dialect.
    pub fn dialect(&self) -> &Arc<Dialect> {
        &self.dialect
    }

    fn write_capabilities(dialect: &Dialect) -> Option<WriteCapabilities> {
        dialect.writer.as_ref()?;
        Some(WriteCapabilities {
            options: writer_options(dialect),
            header: false,
            join_values: false,
            native_arrays: false,
            no_split: Some("E338"),
            one_envelope: true,
            needs_schema: false,
            lossy_charsets: false,
        })
    }
}

impl Format for DialectFormat {
    fn descriptor(&self) -> &'static Descriptor {
        self.descriptor
    }

    fn bind_reader(&self, request: &ReadRequest<'_>) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>> {
        let bound = options::bind(&self.dialect, self.options, request)?;
        Ok(Arc::new(DialectReader { bound: Arc::new(bound) }))
    }

    fn bind_writer(&self, request: &WriteRequest<'_>) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>> {
        bind_writer(&self.dialect, request)
    }
}
