//! CXL in the document: compiled, and what is wrong with it reported inside its scalar.

use std::sync::Arc;

use clinker_cxl::{CxlDiagnostic, DocumentNames, Expression, Scope, ScopeColumn, Want, compile_expression};
use clinker_diagnostics::{Label, Origin, Quote, Span};
use clinker_record::{Type, Value};

use crate::faults::{Fault, Faults};
use crate::yaml::{self, Node, Place};

/// What the texts of a node may name.
#[derive(Clone, Copy)]
pub(crate) struct Visible<'v> {
    /// The columns of the rows.
    pub columns: &'v [ScopeColumn],
    /// The documents of the Sources that feed them.
    pub documents: &'v [Arc<DocumentNames>],
    /// Static variables.
    pub vars: &'v [(String, Type, Value)],
}

impl<'v> Visible<'v> {
    /// With bare names that stand for constants.
    pub fn scope(&self, constants: &'v [(String, Value)]) -> Scope<'v> {
        let Visible { columns, documents, vars } = *self;
        Scope { columns, documents, vars, constants }
    }
}

/// Text of CXL in the document: what it is called in messages, and its scalar.
pub(crate) struct Text<'a> {
    pub called: String,
    pub node: &'a Node,
}

impl Text<'_> {
    pub fn content(&self) -> &str {
        self.node.text().map_or("", |text| text)
    }

    /// Reports what the compiler found, each inside the scalar. Whether the text is usable.
    pub fn report(&self, found: Vec<CxlDiagnostic>, faults: &mut Faults) -> bool {
        let mut usable = true;
        for diagnostic in found {
            let span = faults.place().inside(self.node, diagnostic.span);
            // A substituted value anywhere in the program may be quoted by its message.
            let message = faults.place().redacted(self.node.span, format!("{}: {}", self.called, diagnostic.message));
            let fault = match diagnostic.warning {
                true => Fault::warning(diagnostic.code, span, message),
                false => {
                    usable = false;
                    Fault::new(diagnostic.code.unwrap_or("E200"), span, message)
                }
            };
            let help = diagnostic.help.map(|help| faults.place().redacted(self.node.span, help));
            faults.push(fault.maybe_help(help));
        }
        usable
    }

    /// Reports only what is wrong with the form, when the names it may use are not known.
    pub fn report_form(&self, found: Vec<CxlDiagnostic>, faults: &mut Faults) {
        self.report(found.into_iter().filter(|found| found.code == Some("E202")).collect(), faults);
    }

    /// Compiles it as a condition.
    pub fn condition(&self, scope: &Scope<'_>, faults: &mut Faults) -> Option<Expression> {
        let (expression, found) = compile_expression(self.content(), scope, Want::Condition);
        let expression = self.report(found, faults).then_some(expression).flatten()?;
        Some(expression.from_origin(self.origin(faults)))
    }

    /// Where it stands, for failures of its evaluation.
    pub fn origin(&self, faults: &Faults) -> Arc<dyn Origin> {
        Arc::new(InScalar { place: Arc::clone(faults.place()), node: self.node.clone() })
    }

    /// Checks its form as an expression.
    pub fn expression_form(&self, scope: &Scope<'_>, faults: &mut Faults) {
        self.report_form(compile_expression(self.content(), scope, Want::Any).1, faults);
    }
}

/// A scalar of a document. What is quoted is always the authored text: a substituted value may be a secret.
#[derive(Debug)]
struct InScalar {
    place: Arc<Place>,
    node: Node,
}

impl Origin for InScalar {
    fn quote(&self, span: Span, note: &str) -> Quote {
        let source = &self.place.source;
        let authored = self.place.authored(self.place.inside(&self.node, span));
        let text = source.text.get(authored.start..authored.end).unwrap_or_default().to_owned();
        let label = self.place.anchored().then(|| Label {
            source: Arc::clone(source),
            span: yaml::clipped(&source.text, authored),
            text: note.to_owned(),
        });
        Quote { text, label }
    }
}
