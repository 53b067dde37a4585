//! Formats by name. A format crate registers itself when it is linked; the binary names each crate it links.

use std::sync::Arc;

use crate::{Descriptor, OptionFault, ReadFactory, ReadRequest, WriteFactory, WriteRequest};

/// A format. Its methods are pure functions of their arguments.
pub trait Format: Send + Sync {
    /// What it says of itself.
    fn descriptor(&self) -> &'static Descriptor;
    /// Binds reader options.
    ///
    /// # Errors
    /// Everything that is wrong with options and schema, all at once.
    fn bind_reader(&self, request: &ReadRequest<'_>) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>>;
    /// Binds writer options.
    ///
    /// # Errors
    /// Everything that is wrong with the options, all at once.
    fn bind_writer(&self, request: &WriteRequest<'_>) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>>;
    /// Writer options that are accepted and deserve a warning.
    fn writer_warnings(&self, request: &WriteRequest<'_>) -> Vec<OptionFault> {
        let _ = request;
        Vec::new()
    }
}

/// An entry of the registry: `inventory::submit! { Registration::new(&FORMAT) }`.
pub struct Registration {
    format: &'static dyn Format,
}

impl Registration {
    /// Registers a format.
    pub const fn new(format: &'static dyn Format) -> Self {
        Self { format }
    }
}

inventory::collect!(Registration);

/// All linked formats, sorted by name.
pub fn formats() -> Vec<&'static dyn Format> {
    let mut formats: Vec<_> = inventory::iter::<Registration>().map(|entry| entry.format).collect();
    formats.sort_by_key(|format| format.descriptor().name);
    formats
}

/// The format of that name.
pub fn find(name: &str) -> Option<&'static dyn Format> {
    formats().into_iter().find(|format| format.descriptor().name == name)
}
