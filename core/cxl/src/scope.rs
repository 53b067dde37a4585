//! What a program may see, and what compiling it reports.

use std::sync::Arc;

use clinker_diagnostics::Span;
use clinker_record::{Type, Value};

use crate::document::DocumentNames;

/// One column of the input record: its name, its declared type, and whether it holds several values (an Array).
pub type ScopeColumn = (Arc<str>, Type, bool);

/// The names a program may use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope<'a> {
    /// Input columns, in the order of the batches the program will be given.
    pub columns: &'a [ScopeColumn],
    /// Static variables, read as `$vars.<name>`: name, type, value of this run.
    pub vars: &'a [(String, Type, Value)],
    /// Bare names that stand for a constant (arguments of a validation). They hide columns.
    pub constants: &'a [(String, Value)],
    /// What `$doc` names, for each Source that feeds the rows; with none nothing is checked.
    pub documents: &'a [Arc<DocumentNames>],
}

/// What an expression is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// A condition: Bool, or a value known to be Bool only at run time.
    Condition,
    /// Any value.
    Any,
}

/// A report about a program.
#[derive(Clone, Debug, PartialEq)]
pub struct CxlDiagnostic {
    /// Its code; warnings have none.
    pub code: Option<&'static str>,
    /// Whether it leaves the program usable.
    pub warning: bool,
    /// One sentence that names the offending thing.
    pub message: String,
    /// The bytes of the program text it concerns.
    pub span: Span,
    /// A way out, when one is known.
    pub help: Option<String>,
}

impl CxlDiagnostic {
    /// An error with a code.
    pub(crate) fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { code: Some(code), warning: false, message: message.into(), span, help: None }
    }

    /// A warning.
    pub(crate) fn warning(span: Span, message: impl Into<String>) -> Self {
        Self { code: None, warning: true, message: message.into(), span, help: None }
    }

    /// Sets the way out.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the way out if there is one.
    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }
}

/// The errors of one phase, in source order; a later phase does not run when there is one.
pub(crate) fn has_errors(diagnostics: &[CxlDiagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| !diagnostic.warning)
}
