//! From text to tree.

pub(crate) mod ast;
mod expressions;
mod lexer;
mod parser;
mod statements;
mod token;

#[cfg(test)]
mod tests;

pub(crate) use expressions::logical_key;
pub(crate) use parser::{parse_expression_field, parse_program};
