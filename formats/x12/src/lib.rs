//! The x12 format: an ANSI ASC X12 interchange, as a dialect of segment formats (formats.md 8; X12.5, X12.6).

mod dialect;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};

use clinker_edi::DialectFormat;
use clinker_format::{
    Descriptor, Format, OptionFault, ReadFactory, ReadRequest, Registration, WriteFactory, WriteRequest,
};

pub use dialect::x12;

/// The x12 format.
#[derive(Debug)]
pub struct X12;

static FORMAT: LazyLock<DialectFormat> =
    LazyLock::new(|| DialectFormat::new(x12(), "X12 interchanges: segments in transaction sets, groups and an ISA."));

impl Format for X12 {
    fn descriptor(&self) -> &'static Descriptor {
        FORMAT.descriptor()
    }

    fn bind_reader(&self, request: &ReadRequest<'_>) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>> {
        FORMAT.bind_reader(request)
    }

    fn bind_writer(&self, request: &WriteRequest<'_>) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>> {
        FORMAT.bind_writer(request)
    }

    fn writer_warnings(&self, request: &WriteRequest<'_>) -> Vec<OptionFault> {
        FORMAT.writer_warnings(request)
    }
}

inventory::submit! { Registration::new(&X12) }
