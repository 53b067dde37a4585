//! Compiled programs and expressions: the public face of the language.

use std::sync::Arc;

use clinker_record::{Batch, Column, Type};

use crate::outcome::{EvalError, Outcome, Verdicts};
use crate::run::RunContext;
use crate::scope::{CxlDiagnostic, Scope, Want};

/// A compiled Transform program. Immutable: one is shared by all threads.
#[derive(Debug)]
pub struct Program {
    emits: Vec<(Arc<str>, Type)>,
}

/// A compiled expression.
#[derive(Debug)]
pub struct Expression {}

/// Compiles a Transform program. The program is there when no diagnostic is an error.
pub fn compile_program(_text: &str, _scope: &Scope<'_>) -> (Option<Program>, Vec<CxlDiagnostic>) {
    (None, Vec::new())
}

/// Compiles a single expression. The expression is there when no diagnostic is an error.
pub fn compile_expression(_text: &str, _scope: &Scope<'_>, _want: Want) -> (Option<Expression>, Vec<CxlDiagnostic>) {
    (None, Vec::new())
}

impl Program {
    /// The output fields in the order of their first emission, each with the type of its last one.
    pub fn emits(&self) -> &[(Arc<str>, Type)] {
        &self.emits
    }

    /// The input columns the program reads, ascending.
    pub fn columns_read(&self) -> impl Iterator<Item = usize> + '_ {
        [].into_iter()
    }

    /// One line a statement, with the type of its value.
    pub fn describe(&self) -> String {
        String::new()
    }

    /// Evaluates the program over all rows of a batch.
    pub fn evaluate(&self, _batch: &Batch, _run: &RunContext) -> Outcome {
        Outcome { kept: None, filtered: 0, failures: Vec::new(), columns: Vec::new() }
    }
}

impl Expression {
    /// The type of its value.
    pub fn ty(&self) -> Type {
        Type::plain(clinker_record::Kind::Any)
    }

    /// The input columns it reads, ascending.
    pub fn columns_read(&self) -> impl Iterator<Item = usize> + '_ {
        [].into_iter()
    }

    /// Evaluates a condition over all rows of a batch.
    pub fn evaluate_condition(&self, batch: &Batch, _run: &RunContext) -> Verdicts {
        Verdicts { values: arrow_array::BooleanArray::new_null(batch.rows), errors: Vec::new() }
    }

    /// Evaluates the expression over all rows of a batch; rows with an error are null.
    pub fn evaluate(&self, batch: &Batch, _run: &RunContext) -> (Column, Vec<(u32, EvalError)>) {
        (Column::Null(batch.rows), Vec::new())
    }
}
