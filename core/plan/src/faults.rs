//! Collecting what is wrong, at places of the document being read.

use std::sync::Arc;

use clinker_diagnostics::{Diagnostic, Severity, Span};

use crate::yaml::{self, Place};

/// A fault at a place of the current text.
#[derive(Debug)]
pub(crate) struct Fault {
    code: Option<&'static str>,
    severity: Severity,
    /// Where it is.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    help: Option<String>,
    related: Vec<Span>,
}

impl Fault {
    /// An error.
    pub fn new(code: &'static str, span: Span, message: impl Into<String>) -> Fault {
        Fault {
            code: Some(code),
            severity: Severity::Error,
            span,
            message: message.into(),
            help: None,
            related: Vec::new(),
        }
    }

    /// A warning, with a code where there is one.
    pub fn warning(code: Option<&'static str>, span: Span, message: impl Into<String>) -> Fault {
        Fault { code, severity: Severity::Warning, ..Fault::new("", span, message) }
    }

    /// A remark about something that is meant to be so.
    pub fn note(span: Span, message: impl Into<String>) -> Fault {
        Fault { code: None, severity: Severity::Note, ..Fault::new("", span, message) }
    }

    /// Sets the way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into());
        self
    }

    /// Sets the way out, if there is one.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Fault {
        self.help = help.or(self.help);
        self
    }

    /// Marks a second place.
    #[must_use]
    pub fn related(mut self, span: Span) -> Fault {
        self.related.push(span);
        self
    }
}

/// Another text that is read in the middle of the document: an external schema file.
struct Inner {
    place: Arc<Place>,
    /// The place in the document that asked for it.
    asked_at: usize,
    /// The code that stands in for the general one.
    code: &'static str,
}

/// All faults of one compile.
pub(crate) struct Faults {
    place: Arc<Place>,
    inner: Option<Inner>,
    found: Vec<(usize, Diagnostic)>,
}

impl Faults {
    /// Faults of a document.
    pub fn new(place: Arc<Place>) -> Faults {
        Faults { place, inner: None, found: Vec::new() }
    }

    /// The text being read.
    pub fn place(&self) -> &Arc<Place> {
        self.inner.as_ref().map_or(&self.place, |inner| &inner.place)
    }

    /// Runs `read` over another text; its general faults carry `code`.
    pub fn within<T>(
        &mut self,
        place: Arc<Place>,
        asked_at: Span,
        code: &'static str,
        read: impl FnOnce(&mut Faults) -> T,
    ) -> T {
        self.inner = Some(Inner { place, asked_at: asked_at.start, code });
        let result = read(self);
        self.inner = None;
        result
    }

    /// Adds a fault.
    pub fn push(&mut self, fault: Fault) {
        let place = Arc::clone(self.place());
        let (order, code) = match &self.inner {
            Some(inner) => (inner.asked_at, fault.code.map(|code| if code == "E000" { inner.code } else { code })),
            None => (fault.span.start, fault.code),
        };
        let message = place.redacted(fault.span, fault.message);
        let help = fault.help.map(|help| place.redacted(fault.span, help));
        let mut diagnostic = Diagnostic { code, severity: fault.severity, message, labels: Vec::new(), help };
        if place.anchored() {
            let spans = std::iter::once((fault.span, "declared here"))
                .chain(fault.related.into_iter().map(|span| (span, "related location")));
            for (span, text) in spans {
                let span = yaml::clipped(&place.source.text, place.authored(span));
                diagnostic = diagnostic.label(&place.source, span, text);
            }
        } else {
            diagnostic.message = format!("{}: {}", place.source.name, diagnostic.message);
        }
        self.found.push((order, diagnostic));
    }

    /// An error at a place.
    pub fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.push(Fault::new(code, span, message));
    }

    /// Adds finished diagnostics at a place of the document.
    pub fn adopt(&mut self, at: Span, diagnostics: Vec<Diagnostic>) {
        self.found.extend(diagnostics.into_iter().map(|diagnostic| (at.start, diagnostic)));
    }

    /// Whether an error was found.
    pub fn any_error(&self) -> bool {
        self.found.iter().any(|(_, diagnostic)| diagnostic.is_error())
    }

    /// Everything found, in document order.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|(order, _)| *order);
        self.found.into_iter().map(|(_, diagnostic)| diagnostic).collect()
    }
}
