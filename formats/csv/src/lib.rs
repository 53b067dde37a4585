//! The csv format: delimited rows, with quotes as RFC 4180 describes them.
//!
//! The [`reader`] cuts files into blocks of whole rows, the [`decoder`] splits a block into cells; both look at 64
//! bytes at a time through the [`lexer`]. The [`encoder`] makes the bytes of rows, the [`writer`] puts them behind
//! header and byte-order mark.

mod complete;
mod decoder;
mod encoder;
mod framing;
mod header;
mod index;
mod join;
mod lexer;
mod quoting;
mod reader;
mod spec;
#[cfg(test)]
mod tests;
mod writer;

use std::sync::Arc;

use clinker_format::{
    Descriptor, Format, OptionFault, ReadFactory, ReadRequest, Registration, WriteFactory, WriteRequest,
};

use reader::CsvReader;
use spec::{DESCRIPTOR, ReaderSpec, WriterSpec};
use writer::CsvOutput;

/// The csv format.
#[derive(Debug)]
pub struct Csv;

impl Format for Csv {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn bind_reader(&self, request: &ReadRequest<'_>) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>> {
        let spec = ReaderSpec::bind(request.options)?;
        let declared = request.fields.iter().map(|field| Arc::clone(&field.input_name)).collect();
        Ok(Arc::new(CsvReader { spec, declared }))
    }

    fn bind_writer(&self, request: &WriteRequest<'_>) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>> {
        let bound = WriterSpec::bind(request.options);
        let joins = join::check(request.joins);
        match bound {
            Ok(spec) if joins.is_empty() => Ok(Arc::new(CsvOutput::new(spec, request.header, request.joins.to_vec()))),
            Ok(_) => Err(joins),
            Err(faults) => Err(faults.into_iter().chain(joins).collect()),
        }
    }
}

inventory::submit! { Registration::new(&Csv) }
