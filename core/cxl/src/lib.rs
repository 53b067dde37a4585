//! CXL, the expression language: syntax, checks, functions, evaluation.
//!
//! A program text goes through `syntax` (tokens, tree, all independent errors), then `check` (names, then types),
//! which leaves a typed tree (`ir`) with every column, variable and function already bound.
//! [`Program::evaluate_within`] walks that tree once a batch: each node is a column kernel that runs over all rows of a
//! frame and says which rows failed, and a row's first reason is the one reported.
//! A branch that a row does not take is evaluated in a smaller frame holding only the rows that take it, so what is
//! not evaluated cannot fail.

mod check;
mod document;
mod eval;
mod functions;
mod ir;
mod outcome;
mod program;
mod run;
mod scope;
mod syntax;

pub use check::types::join_types;
pub use document::{DocumentNames, DocumentPath, DocumentSection, DocumentVocabulary};
pub use functions::{FunctionDoc, function_docs};
pub use outcome::{ErrorKind, EvalError, LogEvent, Outcome, TooLarge, Verdict, Verdicts};
pub use program::{Expression, Program, compile_expression, compile_program};
pub use run::{RunContext, SourceContext, SourceFile};
pub use scope::{CxlDiagnostic, Scope, ScopeColumn, Want};
