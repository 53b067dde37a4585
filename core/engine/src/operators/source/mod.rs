//! The Source: files in order, cut into blocks; blocks decoded and admitted.

mod admit;
mod levels;
mod places;
mod reader;
mod rejects;

pub(crate) use admit::admit_block;
pub(crate) use reader::{BlockWork, Body, SourceReader, Work};
