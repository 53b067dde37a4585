//! The format contract: what a format crate implements, and what the host gives it.
//!
//! Data flows in one direction each way. Reading: the host opens a file, undoes compression and hands the bytes to a
//! [`Cutter`], which cuts them into [`Block`]s of whole records in order; a [`Decoder`] turns any block into columns of
//! cells on any thread. Writing: an [`Encoder`] turns projected columns into the bytes of records on any thread; a
//! [`Writer`] puts those bytes between its framing, in order.
//!
//! A format knows no pipeline, no configuration syntax, no dead-letter file and no thread. It registers itself with
//! [`registry::Registration`] and is found by name only.

pub mod charset;
pub mod descriptor;
pub mod input;
pub mod options;
pub mod output;
pub mod read;
pub mod registry;
pub mod validate;
pub mod write;

pub use descriptor::{Descriptor, Extract, ReadCapabilities, WriteCapabilities};
pub use options::{OptionFault, OptionKind, OptionSpec, OptionValue, Options, parse_size};
pub use read::{
    Block, BlockBound, Cutter, Decoded, Decoder, ExpandMode, ExpandRule, Fault, FileIdentity, InputField, LevelEvent,
    LevelOpen, LevelSpec, Mark, Note, OpenFile, Overrun, Overruns, ReadFactory, ReadRequest, RejectedRow, RowText,
    ShapeRun, Vocabulary,
};
pub use registry::{Format, FormatLoader, FormatOrigin, LoadFault, PluginCode, PluginFacts, Registration, Registry};
pub use validate::{Construct, EnvelopeFault, EnvelopeValidator};
pub use write::{
    ColumnRun, ColumnSet, Encoded, Encoder, JoinConflict, JoinRule, OutputColumn, OutputRows, RefusedRow, WriteFactory,
    WriteFault, WriteRequest, Writer,
};
