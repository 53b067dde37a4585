//! Names, then types: from the tree of the text to the typed tree.

mod calls;
mod containers;
mod infer;
mod names;
mod operators;
mod program;
mod resolve;
pub(crate) mod types;
mod unknown;

#[cfg(test)]
mod tests;

pub(crate) use program::{check_expression, check_program};
