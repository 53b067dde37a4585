//! Delimited segment formats: X12, EDIFACT, HL7 and their private relatives.
//!
//! A [`Dialect`] is data: how segments are framed, which tags open and close levels, what trailers count and echo, and
//! how all of it is written. Everything else in this crate follows it.

pub mod dialect;
pub mod writer;

pub use dialect::Dialect;
pub use writer::{bind_writer_with, writer_options};
