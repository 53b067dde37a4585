//! Write a clinker format in Rust.
//!
//! Implement [`Format`] for a type of yours, and [`ReadFactory`], [`Cutter`] and [`Decoder`] if it reads,
//! [`WriteFactory`], [`Encoder`] and [`Writer`] if it writes. Then export it from a crate of type `cdylib`:
//!
//! ```ignore
//! clinker_plugin_sdk::export_formats!(MyFormat);
//! ```
//!
//! Everything here is safe Rust. A panic in your code becomes a message that names the call; it never takes the engine
//! with it. Do not print, exit, install signal handlers, read environment variables, open other files than the ones you are
//! given, or start threads that live longer than what started them.

mod glue;
mod options;
mod read;
mod register;
mod write;

use std::sync::Arc;

pub use clinker_plugin_abi as abi;
pub use clinker_plugin_abi::Item;
pub use clinker_plugin_abi::guest::{Asker, HostFailed, Input, TextColumn};
pub use {arrow_array, arrow_buffer};

pub use glue::Kit;
pub use options::{OptionFault, Options};
pub use read::{
    Block, BlockBound, BlockData, Cutter, Decoded, Decoder, Fault, FileIdentity, InputField, LevelEvent, LevelOpen,
    LevelSpec, Mark, Note, OpenFile, ReadFactory, ReadRequest, RejectedRow, RowText, ShapeRun, Vocabulary,
};
pub use register::{
    Code, CorpusFile, Extract, OptionKind, OptionSpec, ReadCapabilities, Registration, WriteCapabilities,
};
pub use write::{
    Category, ColumnRun, ColumnSet, Encoded, Encoder, JoinConflict, JoinRule, Level, Levels, OutputColumn, OutputRows,
    RefusedRow, Section, WriteFactory, WriteFault, WriteRequest, Writer,
};

/// A format. Its methods are pure functions of their arguments.
pub trait Format: Send + Sync {
    /// What it says of itself.
    fn registration(&self) -> Registration;
    /// Binds reader options.
    ///
    /// # Errors
    /// Everything that is wrong with options and schema, all at once.
    fn bind_reader(&self, request: &ReadRequest) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>> {
        let _ = request;
        Err(Vec::new())
    }
    /// Binds writer options.
    ///
    /// # Errors
    /// Everything that is wrong with the options, all at once.
    fn bind_writer(&self, request: &WriteRequest) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>> {
        let _ = request;
        Err(Vec::new())
    }
}

/// The formats of a plugin: implemented by [`export_formats!`].
pub trait Formats: 'static {
    /// The formats, always in the same order.
    fn formats() -> &'static [&'static dyn Format];
}

/// Exports formats, which are constants that implement [`Format`], as a plugin. Once in a crate.
#[macro_export]
macro_rules! export_formats {
    ($($format:expr),+ $(,)?) => {
        #[doc(hidden)]
        pub struct ClinkerFormats;

        impl $crate::Formats for ClinkerFormats {
            fn formats() -> &'static [&'static dyn $crate::Format] {
                &[$(&$format),+]
            }
        }

        /// What clinker looks for in this library.
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals)]
        pub static clinker_plugin: $crate::abi::Table =
            $crate::abi::guest::table::<$crate::Kit<ClinkerFormats>>(env!("CARGO_PKG_VERSION"));
    };
}
