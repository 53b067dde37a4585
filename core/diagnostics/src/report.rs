//! The report itself: severity, message, labels, help.

use std::sync::Arc;

/// A range of bytes in a [`SourceText`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// The same range moved by `by` bytes.
    pub fn shifted(self, by: usize) -> Span {
        Span::new(self.start + by, self.end + by)
    }
}

/// A text that reports quote: always as its author wrote it, never with substituted values.
#[derive(Debug)]
pub struct SourceText {
    /// The name shown for it, usually the path as the user gave it.
    pub name: String,
    /// The raw text.
    pub text: String,
}

impl SourceText {
    /// A shared text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into() })
    }

    /// 1-based line and column (in characters) of a byte offset.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (line, before[start..].chars().count() + 1)
    }
}

/// One marked place of a report.
#[derive(Clone, Debug)]
pub struct Label {
    /// The text it lies in.
    pub source: Arc<SourceText>,
    /// The marked range.
    pub span: Span,
    /// What the mark says, for example `declared here`.
    pub text: String,
}

/// A part of an embedded text, as its author wrote it.
#[derive(Clone, Debug)]
pub struct Quote {
    /// The part.
    pub text: String,
    /// Its place in the document; `None` where a snippet of the document would mislead.
    pub label: Option<Label>,
}

/// Where an embedded text came from: what is found in it long after the document was read is still shown in its place.
pub trait Origin: std::fmt::Debug + Send + Sync {
    /// The part of the document that a range of the embedded text came from. `note` is the text of the label.
    fn quote(&self, span: Span, note: &str) -> Quote;
}

/// How bad it is. Only errors stop a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Stops the command or rejects a row.
    Error,
    /// Reported; never changes an exit code.
    Warning,
    /// Informational.
    Note,
}

/// A report to the user.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// A code of [`crate::codes`]; `None` only for failures that have no code by design.
    pub code: Option<&'static str>,
    /// Severity of this report.
    pub severity: Severity,
    /// One sentence naming the offending thing and the violated rule, without the code.
    pub message: String,
    /// The first is the primary one.
    pub labels: Vec<Label>,
    /// How to fix it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error with a code.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self { code: Some(code), severity: Severity::Error, message: message.into(), labels: Vec::new(), help: None }
    }

    /// A warning with a code.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// An error that has no code by design.
    pub fn uncoded(message: impl Into<String>) -> Self {
        Self { code: None, severity: Severity::Error, message: message.into(), labels: Vec::new(), help: None }
    }

    /// Adds a mark; the first one added is the primary one.
    #[must_use]
    pub fn label(mut self, source: &Arc<SourceText>, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { source: Arc::clone(source), span, text: text.into() });
        self
    }

    /// Sets the help paragraph.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Whether it stops the command.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
