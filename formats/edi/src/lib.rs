//! Delimited segment formats: X12, EDIFACT, HL7 and their private relatives.
//!
//! A [`Dialect`] is data: how segments are framed, which tags open and close levels, what trailers count and echo, and
//! how all of it is written. Everything else in this crate follows it: a [`DialectFormat`] reads and writes a dialect,
//! and a [`RuleValidator`] applies its rules to what is read and to what is written.

// The support of tests is shared with formats that are dialects, and names this crate.
#[cfg(test)]
extern crate self as clinker_edi;

mod context;
mod cutter;
mod decoder;
pub mod delimiters;
mod describe;
pub mod dialect;
mod format;
mod index;
mod options;
mod reader;
mod segment;
mod split;
mod tags;
mod tally;
#[cfg(test)]
mod tests;
mod text;
mod validator;
pub mod writer;

pub use delimiters::Delimiters;
pub use dialect::Dialect;
pub use format::DialectFormat;
pub use validator::RuleValidator;
pub use writer::{bind_writer, bind_writer_with, writer_options};
