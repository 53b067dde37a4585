//! The json format: arrays of objects, one object a line, objects in sequence, and arrays inside a wrapper.
//!
//! The [`reader`] finds the shape of a file; [`lines`] and [`elements`] cut it into blocks of whole records. The
//! [`decoder`] reads the records of a block with the [`scan`]ner and gathers their values in [`rows`]. The [`encoder`]
//! makes the bytes of records by the nesting that [`names`] finds in column names; the [`writer`] puts them into their
//! array.

mod decoder;
mod elements;
mod encoder;
mod keys;
mod lines;
mod names;
mod pretty;
mod reader;
mod rows;
mod scan;
mod spec;
#[cfg(test)]
mod tests;
mod values;
mod walk;
mod writer;

use std::sync::Arc;

use clinker_format::{
    Descriptor, Format, OptionFault, ReadFactory, ReadRequest, Registration, WriteFactory, WriteRequest,
};

use keys::Keys;
use reader::JsonReader;
use spec::{DESCRIPTOR, ReaderSpec, WriterSpec};
use writer::JsonOutput;

/// The json format.
#[derive(Debug)]
pub struct Json;

impl Format for Json {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn bind_reader(&self, request: &ReadRequest<'_>) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>> {
        let spec = ReaderSpec::bind(request.options)?;
        let keys = Arc::new(Keys::new(request, spec.escape_keys));
        Ok(Arc::new(JsonReader { spec, keys }))
    }

    fn bind_writer(&self, request: &WriteRequest<'_>) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>> {
        Ok(Arc::new(JsonOutput { spec: WriterSpec::bind(request.options, request.preserve_nulls) }))
    }

    fn writer_warnings(&self, request: &WriteRequest<'_>) -> Vec<OptionFault> {
        WriterSpec::bind(request.options, request.preserve_nulls).warnings()
    }
}

inventory::submit! { Registration::new(&Json) }
