//! Compiled programs and expressions: the public face of the language.

use std::borrow::Cow;
use std::sync::Arc;

use clinker_diagnostics::{Origin, Span};
use clinker_record::{Batch, Column, Type};

use crate::check::{check_expression, check_program};
use crate::document::DocumentPath;
use crate::eval::{Budget, run_condition, run_expression, run_program};
use crate::ir::{Body, Node, Step};
use crate::outcome::{EvalError, Outcome, TooLarge, Verdicts};
use crate::run::RunContext;
use crate::scope::{CxlDiagnostic, Scope, Want};

/// A compiled Transform program. Immutable: one is shared by all threads.
#[derive(Debug)]
pub struct Program {
    text: String,
    body: Body,
    emits: Vec<(Arc<str>, Type)>,
    columns: Box<[usize]>,
    documents: Box<[Arc<DocumentPath>]>,
    origin: Option<Arc<dyn Origin>>,
}

/// A compiled expression. Immutable: one is shared by all threads.
#[derive(Debug)]
pub struct Expression {
    text: String,
    node: Node,
    columns: Box<[usize]>,
    documents: Box<[Arc<DocumentPath>]>,
    origin: Option<Arc<dyn Origin>>,
}

/// Compiles a Transform program. The program is there when no diagnostic is an error.
pub fn compile_program(text: &str, scope: &Scope<'_>) -> (Option<Program>, Vec<CxlDiagnostic>) {
    let (body, diagnostics) = check_program(text, scope);
    let program = body.map(|body| Program {
        text: text.to_owned(),
        emits: body.outputs.iter().map(|output| (Arc::clone(&output.field), output.ty)).collect(),
        columns: columns_read(body.steps.iter().flat_map(Step::nodes)),
        documents: documents_read(body.steps.iter().flat_map(Step::nodes)),
        body,
        origin: None,
    });
    (program, diagnostics)
}

/// Compiles a single expression. The expression is there when no diagnostic is an error.
pub fn compile_expression(text: &str, scope: &Scope<'_>, want: Want) -> (Option<Expression>, Vec<CxlDiagnostic>) {
    let (node, diagnostics) = check_expression(text, scope, want);
    let expression = node.map(|node| Expression {
        text: text.to_owned(),
        columns: columns_read([&node]),
        documents: documents_read([&node]),
        node,
        origin: None,
    });
    (expression, diagnostics)
}

/// One row has limits of its own.
fn budget_of(batch: &Batch, bytes: usize) -> Budget {
    Budget::new(if batch.rows > 1 { bytes } else { usize::MAX })
}

/// The rows of a batch in two halves.
pub(crate) fn halves(rows: usize) -> (Vec<u32>, Vec<u32>) {
    let (middle, end) = (rows as u32 / 2, rows as u32);
    ((0..middle).collect(), (middle..end).collect())
}

fn columns_read<'n>(nodes: impl IntoIterator<Item = &'n Node>) -> Box<[usize]> {
    let mut columns = Vec::new();
    nodes.into_iter().for_each(|node| node.columns_into(&mut columns));
    columns.sort_unstable();
    columns.dedup();
    columns.into()
}

fn documents_read<'n>(nodes: impl IntoIterator<Item = &'n Node>) -> Box<[Arc<DocumentPath>]> {
    let mut paths = Vec::new();
    nodes.into_iter().for_each(|node| node.documents_into(&mut paths));
    paths.into()
}

impl Program {
    /// The same program, with where its text came from.
    #[must_use]
    pub fn from_origin(self, origin: Arc<dyn Origin>) -> Self {
        Self { origin: Some(origin), ..self }
    }

    /// Where its text came from, if the host said it: spans of an [`Outcome`] can be quoted there.
    pub fn origin(&self) -> Option<&dyn Origin> {
        self.origin.as_deref()
    }

    /// The output fields in the order of their first emission, each with the type of its last one.
    pub fn emits(&self) -> &[(Arc<str>, Type)] {
        &self.emits
    }

    /// The fields of documents that the program reads, each once.
    pub fn documents_read(&self) -> impl Iterator<Item = &DocumentPath> {
        self.documents.iter().map(|path| &**path)
    }

    /// The input columns the program reads, ascending.
    pub fn columns_read(&self) -> impl Iterator<Item = usize> + '_ {
        self.columns.iter().copied()
    }

    /// One line a statement, with the type of its value.
    pub fn describe(&self) -> String {
        let mut lines = String::new();
        for step in &self.body.steps {
            let node = step.node();
            let head = match step {
                Step::Let { .. } => "let".to_owned(),
                Step::Emit { field, .. } => format!("emit {field}"),
                Step::Filter(_) => "filter".to_owned(),
                Step::Discard(_) => "evaluate".to_owned(),
                Step::Trace { level, .. } => format!("trace {level:?}").to_lowercase(),
            };
            let source = on_one_line(&authored(&self.text, node.span, self.origin()));
            lines.push_str(&format!("{head}: {} = {source}\n", node.ty));
        }
        lines
    }

    /// Evaluates the program over all rows of a batch, whatever memory its values take.
    #[cfg(test)]
    pub(crate) fn evaluate(&self, batch: &Batch, run: &RunContext) -> Outcome {
        run_program(&self.body, batch, run, &Budget::new(usize::MAX)).expect("the budget is infinite")
    }

    /// Evaluates the program over all rows of a batch, unless it would build more than `budget` bytes. A batch that is
    /// too large is to be evaluated in pieces: a single row always has an outcome.
    pub fn evaluate_within(&self, batch: &Batch, run: &RunContext, budget: usize) -> Result<Outcome, TooLarge> {
        run_program(&self.body, batch, run, &budget_of(batch, budget))
    }
}

/// The text at a span as it may be shown: where the host put values into it, the references to them.
fn authored<'t>(text: &'t str, span: Span, origin: Option<&dyn Origin>) -> Cow<'t, str> {
    match origin.map(|origin| origin.quote(span, "").text) {
        Some(quoted) if quoted.contains("${") => Cow::Owned(quoted),
        _ => Cow::Borrowed(&text[span.start..span.end]),
    }
}

/// Text of the language with every run of white space as one space.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Expression {
    /// The same expression, with where its text came from.
    #[must_use]
    pub fn from_origin(self, origin: Arc<dyn Origin>) -> Self {
        Self { origin: Some(origin), ..self }
    }

    /// Where its text came from, if the host said it: the span of an [`EvalError`] can be quoted there.
    pub fn origin(&self) -> Option<&dyn Origin> {
        self.origin.as_deref()
    }

    /// Its bytes in that text.
    pub fn span(&self) -> Span {
        self.node.span
    }

    /// Its text on one line, with the type of its value in front.
    pub fn describe(&self) -> String {
        let whole = Span::new(0, self.text.len());
        format!("{} = {}", self.node.ty, on_one_line(&authored(&self.text, whole, self.origin())))
    }

    /// The type of its value.
    pub fn ty(&self) -> Type {
        self.node.ty.to_type()
    }

    /// The fields of documents that it reads, each once.
    pub fn documents_read(&self) -> impl Iterator<Item = &DocumentPath> {
        self.documents.iter().map(|path| &**path)
    }

    /// The input columns it reads, ascending.
    pub fn columns_read(&self) -> impl Iterator<Item = usize> + '_ {
        self.columns.iter().copied()
    }

    /// Evaluates a condition over all rows of a batch. What is built on the way is kept below `budget` bytes; the batch
    /// is too large only when what the errors report is not. A single row always has a verdict.
    pub fn evaluate_condition(&self, batch: &Batch, run: &RunContext, budget: usize) -> Result<Verdicts, TooLarge> {
        let verdicts = match run_condition(&self.node, batch, run, &budget_of(batch, budget)) {
            Ok(verdicts) => verdicts,
            Err(TooLarge) => {
                let (first, second) = halves(batch.rows);
                let before = self.evaluate_condition(&batch.take(&first), run, budget)?;
                before.followed_by(self.evaluate_condition(&batch.take(&second), run, budget)?)
            }
        };
        let reported: usize = verdicts.errors.iter().map(|(_, error)| error.bytes()).sum();
        if batch.rows > 1 && reported > budget { Err(TooLarge) } else { Ok(verdicts) }
    }

    /// Evaluates the expression over all rows of a batch, unless it would build more than `budget` bytes; a single row
    /// always has an outcome. Rows with an error are null.
    pub fn evaluate_within(
        &self,
        batch: &Batch,
        run: &RunContext,
        budget: usize,
    ) -> Result<(Column, Vec<(u32, EvalError)>), TooLarge> {
        run_expression(&self.node, batch, run, &budget_of(batch, budget))
    }
}
