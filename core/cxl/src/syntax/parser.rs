//! The parser's frame: tokens, errors, limits and recovery.

use clinker_diagnostics::Span;

use super::ast::{Expr, ExprKind, Statement};
use super::lexer::lex;
use super::token::{Key, Tok, Token};
use crate::scope::CxlDiagnostic;

/// Longest program text, in bytes.
const MAX_TEXT: usize = 65_536;
/// Deepest nesting of expressions.
const MAX_NESTING: u16 = 256;

/// Parsing stopped; the reason was reported.
#[derive(Debug)]
pub(super) struct Fail;

/// What a parsing function yields.
pub(super) type Parse<T> = Result<T, Fail>;

/// The state of parsing one text.
pub(super) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    /// Whether newlines are blanks here: inside `( [` and a map.
    pub(super) ignore_newlines: bool,
    pub(super) depth: u16,
    pub(super) fan_out: u16,
    diagnostics: Vec<CxlDiagnostic>,
}

/// Parses a program. The statements are complete when no diagnostic is there.
pub(crate) fn parse_program(text: &str) -> (Vec<Statement>, Vec<CxlDiagnostic>) {
    let Some(mut parser) = Parser::new(text) else {
        return (Vec::new(), vec![too_long(text)]);
    };
    let statements = parser.statements(false);
    (statements, parser.finish())
}

/// Parses the text of a field that holds one expression, possibly after `use` lines.
pub(crate) fn parse_expression_field(text: &str) -> (Option<(Vec<Statement>, Expr)>, Vec<CxlDiagnostic>) {
    let Some(mut parser) = Parser::new(text) else {
        return (None, vec![too_long(text)]);
    };
    let parsed = parser.expression_field();
    (parsed.ok(), parser.finish())
}

fn too_long(text: &str) -> CxlDiagnostic {
    let message = format!("the program has {} bytes; the limit is {MAX_TEXT}", text.len());
    CxlDiagnostic::error("E202", Span::new(0, 0), message)
}

impl Parser {
    fn new(text: &str) -> Option<Self> {
        if text.len() > MAX_TEXT {
            return None;
        }
        let mut diagnostics = Vec::new();
        let tokens = lex(text, &mut diagnostics);
        Some(Self { tokens, at: 0, ignore_newlines: false, depth: 0, fan_out: 0, diagnostics })
    }

    fn finish(mut self) -> Vec<CxlDiagnostic> {
        self.diagnostics.sort_by_key(|report| (report.span.start, report.span.end));
        self.diagnostics
    }

    /// The index of the next token that counts here.
    fn index(&self) -> usize {
        let mut index = self.at;
        while self.ignore_newlines && self.tokens[index].tok == Tok::Newline {
            index += 1;
        }
        index
    }

    /// The next token.
    pub(super) fn peek(&self) -> &Tok {
        &self.tokens[self.index()].tok
    }

    /// The token after the next one.
    pub(super) fn peek_second(&self) -> &Tok {
        let mut index = self.index() + 1;
        while self.ignore_newlines && self.tokens.get(index).is_some_and(|token| token.tok == Tok::Newline) {
            index += 1;
        }
        self.tokens.get(index).map_or(&Tok::End, |token| &token.tok)
    }

    /// Whether the token two after the next one is `(`.
    pub(super) fn third_is_open(&self) -> bool {
        let counted =
            self.tokens[self.index()..].iter().filter(|token| !(self.ignore_newlines && token.tok == Tok::Newline));
        counted.map(|token| &token.tok).nth(2).is_some_and(|tok| tok.is("("))
    }

    /// Where the next token stands.
    pub(super) fn span(&self) -> Span {
        self.tokens[self.index()].span
    }

    /// The end of the last token taken.
    pub(super) fn end(&self) -> usize {
        self.tokens[..self.at].last().map_or(0, |token| token.span.end)
    }

    /// Takes the next token. The end is never passed.
    pub(super) fn take(&mut self) -> Token {
        let index = self.index();
        let token = self.tokens[index].clone();
        self.at = if token.tok == Tok::End { index } else { index + 1 };
        token
    }

    /// Takes the next token if it is this punctuation.
    pub(super) fn accept(&mut self, punct: &str) -> bool {
        let found = self.peek().is(punct);
        if found {
            self.take();
        }
        found
    }

    /// Takes the next token if it is this keyword.
    pub(super) fn accept_key(&mut self, key: Key) -> bool {
        let found = *self.peek() == Tok::Key(key);
        if found {
            self.take();
        }
        found
    }

    /// Takes the punctuation that must follow.
    pub(super) fn expect(&mut self, punct: &'static str, after: &str) -> Parse<()> {
        if self.accept(punct) { Ok(()) } else { self.unexpected(&format!("`{punct}` {after}")) }
    }

    /// Takes the keyword that must follow.
    pub(super) fn expect_key(&mut self, key: Key, after: &str) -> Parse<()> {
        if self.accept_key(key) { Ok(()) } else { self.unexpected(&format!("`{}` {after}", key.word())) }
    }

    /// Skips the newlines before the next thing.
    pub(super) fn skip_newlines(&mut self) {
        while self.tokens[self.at].tok == Tok::Newline {
            self.at += 1;
        }
    }

    /// Reports an error and stops.
    pub(super) fn fail<T>(&mut self, span: Span, message: impl Into<String>, help: Option<&str>) -> Parse<T> {
        self.report(span, message, help);
        Err(Fail)
    }

    /// Reports an error and goes on.
    pub(super) fn report(&mut self, span: Span, message: impl Into<String>, help: Option<&str>) {
        let report = CxlDiagnostic::error("E202", span, message).maybe_help(help.map(str::to_owned));
        self.diagnostics.push(report);
    }

    /// Reports that the next token is not what is wanted. An invalid token was reported by the lexer.
    pub(super) fn unexpected<T>(&mut self, wanted: &str) -> Parse<T> {
        if *self.peek() == Tok::Bad {
            return Err(Fail);
        }
        let message = format!("expected {wanted}, found {}", self.peek());
        self.fail(self.span(), message, None)
    }

    /// Builds an expression, refusing one that is nested too deeply.
    pub(super) fn node(&mut self, kind: ExprKind, span: Span) -> Parse<Expr> {
        let mut expr = Expr { span, kind, height: 1 };
        expr.height += expr.children().iter().map(|child| child.height).max().unwrap_or(0);
        self.checked(expr)
    }

    /// Refuses an expression that is nested too deeply.
    pub(super) fn checked(&mut self, expr: Expr) -> Parse<Expr> {
        // A parenthesis adds no level to the tree, an operator does: the tree of 256 levels of nesting may be
        // twice as high.
        if expr.height > 2 * MAX_NESTING { self.too_deep(expr.span) } else { Ok(expr) }
    }

    /// Enters a nested expression; the outermost one is level 0.
    pub(super) fn enter(&mut self) -> Parse<()> {
        if self.depth > MAX_NESTING {
            return self.too_deep(self.span());
        }
        self.depth += 1;
        Ok(())
    }

    /// Refuses more prefix operators than levels are left.
    pub(super) fn check_prefixes(&mut self, prefixes: usize) -> Parse<()> {
        let nested = usize::from(self.depth) - 1 + prefixes;
        if nested > usize::from(MAX_NESTING) { self.too_deep(self.span()) } else { Ok(()) }
    }

    fn too_deep<T>(&mut self, span: Span) -> Parse<T> {
        let help = "name a part of it with `let`";
        self.fail(span, format!("expressions nest deeper than {MAX_NESTING} levels"), Some(help))
    }

    /// Where parsing stands.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Goes on at the next line that may begin a statement: outside the brackets that the failed statement opened,
    /// or wherever a line begins with the keyword of a statement.
    pub(super) fn recover(&mut self, start: usize, inside_block: bool) {
        let mut open = 0_usize;
        for index in start..self.tokens.len() {
            let token = &self.tokens[index];
            let past = index > start && index >= self.at;
            let statement = matches!(
                token.tok,
                Tok::Key(Key::Let | Key::Emit | Key::Filter | Key::Distinct | Key::Trace | Key::Use | Key::Fn)
            );
            let begins = token.first && (statement || (open == 0 && token.tok.can_begin()));
            let closes = inside_block && open == 0 && token.tok.is("}");
            if token.tok == Tok::End || (past && (begins || closes)) {
                self.at = index;
                return;
            }
            match &token.tok {
                Tok::Punct("(" | "[" | "{") => open += 1,
                Tok::Punct(")" | "]" | "}") => open = open.saturating_sub(1),
                _ => {}
            }
        }
    }
}
