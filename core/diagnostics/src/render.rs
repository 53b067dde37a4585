//! Drawing of reports: code, message, quoted lines, help.
//!
//! The drawing itself is `miette`'s. What is ours is everything that surrounds it: which label leads, texts in several
//! documents, columns in characters, wrapping that keeps pasteable lines whole, and control characters that must not
//! reach a terminal.

use std::fmt;
use std::sync::Arc;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan,
    SpanContents,
};

use crate::codes;
use crate::report::{Diagnostic, Label, Severity, SourceText};

/// How reports are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether escape sequences for colors are used.
    pub color: bool,
    /// Width in columns at which messages and help are wrapped.
    pub width: usize,
}

impl Default for Style {
    /// Without colors, 100 columns.
    fn default() -> Self {
        Self { color: false, width: 100 }
    }
}

/// Draws one report; the text ends with a line break.
///
/// Labels in the document of the first label are drawn together; each further document gets a block of its own. The
/// help comes last, whatever the number of blocks.
pub fn render(diagnostic: &Diagnostic, style: Style) -> String {
    let mut blocks = blocks(diagnostic, style);
    if let (Some(last), Some(help)) = (blocks.last_mut(), help(diagnostic)) {
        last.help = Some(wrap(&printable(&help), style.width.saturating_sub(HELP_INDENT)));
    }
    let theme = if style.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(usize::MAX)
        .with_wrap_lines(false)
        .without_syntax_highlighting()
        .with_urls(false);
    let mut drawn = String::new();
    for (position, block) in blocks.iter().enumerate() {
        if position > 0 {
            drawn.push('\n');
        }
        handler.render_report(&mut drawn, block).expect("writing to a string cannot fail");
    }
    without_trailing_blanks(&drawn)
}

/// The help of a report: its own, else the correction registered for its code, unless that refers to a list which only
/// the report itself could give; ended by the command that explains the
/// code when a page exists and the text does not name the command already.
pub fn help(diagnostic: &Diagnostic) -> Option<String> {
    const COMMAND: &str = "clinker explain --code";
    let own = diagnostic.help.as_deref().filter(|text| !text.trim().is_empty());
    let registered = || {
        let code = diagnostic.code.and_then(codes::lookup)?;
        (code.status == codes::Status::Active && !code.corrects_by_list()).then_some(code.correction)
    };
    let text = own.or_else(registered).map_or("", str::trim_end);
    match diagnostic.code.filter(|code| codes::page(code).is_some()) {
        Some(code) if text.is_empty() => Some(format!("See: {COMMAND} {code}")),
        Some(code) if !text.contains(COMMAND) => Some(format!("{text}\nSee: {COMMAND} {code}")),
        _ => Some(text.to_owned()).filter(|text| !text.is_empty()),
    }
}

/// Columns taken by `  × ` in front of a message.
const MESSAGE_INDENT: usize = 4;
/// Columns taken by `  help: ` in front of a help text.
const HELP_INDENT: usize = 8;

fn blocks(diagnostic: &Diagnostic, style: Style) -> Vec<Block> {
    let message = wrap(&printable(&diagnostic.message), style.width.saturating_sub(MESSAGE_INDENT));
    let mut blocks = vec![Block {
        code: diagnostic.code,
        severity: diagnostic.severity,
        message,
        source: None,
        labels: Vec::new(),
        help: None,
    }];
    for (position, label) in diagnostic.labels.iter().enumerate() {
        let at = match blocks.iter().position(|block| block.quotes(&label.source)) {
            Some(at) => at,
            None if position == 0 => 0,
            None => {
                blocks.push(Block {
                    code: None,
                    severity: Severity::Note,
                    message: "related location".to_owned(),
                    source: None,
                    labels: Vec::new(),
                    help: None,
                });
                blocks.len() - 1
            }
        };
        let block = &mut blocks[at];
        block.source.get_or_insert_with(|| Quoted::new(&label.source));
        block.labels.push(labelled(label, block.labels.is_empty()));
    }
    blocks
}

/// The label in `miette`'s terms; its range is brought inside the text and to whole characters.
fn labelled(label: &Label, primary: bool) -> LabeledSpan {
    let text = &label.source.text;
    let start = floor_char_boundary(text, label.span.start);
    let end = floor_char_boundary(text, label.span.end).max(start);
    let note = Some(printable(&label.text)).filter(|note| !note.is_empty());
    if primary {
        LabeledSpan::new_primary_with_span(note, (start, end - start))
    } else {
        LabeledSpan::new_with_span(note, (start, end - start))
    }
}

fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// One part of a report: a message over one document.
#[derive(Debug)]
struct Block {
    code: Option<&'static str>,
    severity: Severity,
    message: String,
    source: Option<Quoted>,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
}

impl Block {
    fn quotes(&self, source: &Arc<SourceText>) -> bool {
        self.source.as_ref().is_some_and(|quoted| Arc::ptr_eq(&quoted.source, source))
    }
}

impl fmt::Display for Block {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Block {}

impl miette::Diagnostic for Block {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_deref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if self.labels.is_empty() { None } else { Some(Box::new(self.labels.iter().cloned())) }
    }
}

/// A document as it is quoted: its bytes keep their offsets, characters that would act on a terminal are replaced.
#[derive(Debug)]
struct Quoted {
    source: Arc<SourceText>,
    name: String,
    safe: String,
}

impl Quoted {
    fn new(source: &Arc<SourceText>) -> Self {
        Self { source: Arc::clone(source), name: printable(&source.name), safe: same_length(&source.text) }
    }
}

impl SourceCode for Quoted {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let inner = self.safe.read_span(span, before, after)?;
        // `miette` counts columns in bytes.
        let column = if before == 0 { self.source.position(span.offset()).1 - 1 } else { inner.column() };
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            inner.data(),
            *inner.span(),
            inner.line(),
            column,
            inner.line_count(),
        )))
    }
}

/// Whether a character would move the cursor, change the terminal's state or reorder the text around it.
fn acts_on_terminal(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with acting characters replaced, line breaks and tabs kept.
fn printable(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\t' => character,
            acting if acts_on_terminal(acting) => char::REPLACEMENT_CHARACTER,
            plain => plain,
        })
        .collect()
}

/// Like [`printable`], with replacements of the same length in UTF-8, so that offsets stay true.
fn same_length(text: &str) -> String {
    let mut rest = text.chars().peekable();
    let mut safe = String::with_capacity(text.len());
    while let Some(character) = rest.next() {
        let ends_line = character == '\r' && rest.peek() == Some(&'\n');
        safe.push(match character {
            '\n' | '\t' => character,
            '\r' if ends_line => character,
            acting if acts_on_terminal(acting) => match acting.len_utf8() {
                1 => '?',
                2 => '·',
                _ => char::REPLACEMENT_CHARACTER,
            },
            plain => plain,
        });
    }
    safe
}

/// Breaks lines at blanks so that each fits `width`. A line that begins with a blank is an example to be pasted and is
/// left alone, and a word longer than the width stays whole.
fn wrap(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            lines.push(line.to_owned());
            continue;
        }
        let mut current = String::new();
        for word in line.split(' ') {
            let fits = current.chars().count() + 1 + word.chars().count() <= width;
            if !current.is_empty() && !fits {
                lines.push(std::mem::take(&mut current));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
    }
    lines.join("\n")
}

fn without_trailing_blanks(drawn: &str) -> String {
    let mut text: String = drawn.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    while text.ends_with("\n\n") {
        text.pop();
    }
    text
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
