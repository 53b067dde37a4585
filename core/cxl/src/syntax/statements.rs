//! Statements.

use clinker_diagnostics::{Span, suggestion};
use clinker_events::Level;

use super::ast::{Expr, Name, Statement, StatementKind};
use super::parser::{Parse, Parser};
use super::token::{Key, Tok};

/// Deepest nesting of `emit each`.
const MAX_FAN_OUT: u16 = 32;

/// The levels that `trace` may name.
const LEVELS: [(&str, Level); 4] =
    [("debug", Level::Debug), ("info", Level::Info), ("warn", Level::Warn), ("error", Level::Error)];

impl Parser {
    /// Statements up to the end of the text, or of the block.
    pub(super) fn statements(&mut self, block: bool) -> Vec<Statement> {
        let mut statements: Vec<Statement> = Vec::new();
        loop {
            self.skip_newlines();
            if *self.peek() == Tok::End || (block && self.peek().is("}")) {
                return statements;
            }
            let (start, depth, fan_out) = (self.position(), self.depth, self.fan_out);
            let parsed = self.statement(statements.last(), block).and_then(|statement| {
                self.end_of_statement(block)?;
                Ok(statement)
            });
            match parsed {
                Ok(statement) => statements.push(statement),
                Err(_) => {
                    (self.ignore_newlines, self.depth, self.fan_out) = (false, depth, fan_out);
                    self.recover(start, block);
                }
            }
        }
    }

    fn end_of_statement(&mut self, block: bool) -> Parse<()> {
        match self.peek() {
            Tok::Newline | Tok::End => Ok(()),
            closing if block && closing.is("}") => Ok(()),
            Tok::Bad => self.unexpected("the end of the line"),
            other => {
                let help = match other {
                    Tok::Punct("=") => Some("begin with `emit` or `let` to give a value a name; compare with `==`"),
                    other if other.can_begin() => Some("write each statement on a line of its own"),
                    _ => None,
                };
                let message = format!("expected the end of the statement, found {other}");
                self.fail(self.span(), message, help)
            }
        }
    }

    fn statement(&mut self, previous: Option<&Statement>, block: bool) -> Parse<Statement> {
        let start = self.span();
        let key = if let Tok::Key(key) = self.peek() { Some(*key) } else { None };
        if block && matches!(key, Some(Key::Filter | Key::Distinct | Key::Use)) {
            let message = format!("{} is not allowed inside `emit each`", self.peek());
            return self.fail(start, message, None);
        }
        let kind = match key {
            Some(Key::Use) => {
                if previous.is_some_and(|before| !matches!(before.kind, StatementKind::Use(_))) {
                    return self.fail(start, "`use` must stand before every other statement", None);
                }
                self.use_statement()?
            }
            Some(Key::Fn) => {
                let help = "functions are defined in a module and called as `alias.name(…)`";
                return self.fail(start, "`fn` is not allowed in a program", Some(help));
            }
            Some(Key::Let) => {
                self.take();
                let name = self.name("after `let`")?;
                self.expect("=", "after the name")?;
                StatementKind::Let(name, self.expression()?)
            }
            Some(Key::Emit) => self.emit_statement()?,
            Some(Key::Filter) => {
                self.take();
                StatementKind::Filter(self.expression()?)
            }
            Some(Key::Distinct) => {
                self.take();
                let by = if self.accept_key(Key::By) { Some(self.name("after `by`")?) } else { None };
                StatementKind::Distinct(by)
            }
            Some(Key::Trace) => self.trace_statement()?,
            _ => StatementKind::Expression(self.expression()?),
        };
        Ok(Statement { span: Span::new(start.start, self.end()), kind })
    }

    /// A name: no keyword, no `_`.
    pub(super) fn name(&mut self, place: &str) -> Parse<Name> {
        match self.peek() {
            Tok::Ident(_) => Ok(self.member_name()),
            Tok::Key(key) => {
                let message = format!("`{}` is a reserved word and cannot be a name", key.word());
                self.fail(self.span(), message, None)
            }
            _ => self.unexpected(&format!("a name {place}")),
        }
    }

    fn member_name(&mut self) -> Name {
        let token = self.take();
        let text = if let Tok::Ident(text) = token.tok { text } else { String::new() };
        Name { text, span: token.span }
    }

    /// A name after `.`, where keywords are names too.
    pub(super) fn member(&mut self) -> Parse<Name> {
        if matches!(self.peek(), Tok::Ident(_)) { Ok(self.member_name()) } else { self.unexpected("a name after `.`") }
    }

    fn use_statement(&mut self) -> Parse<StatementKind> {
        self.take();
        let mut alias = self.name("after `use`")?;
        while self.accept(".") {
            if self.peek().is("*") {
                return self.fail(self.span(), "`use` has no wildcard: name each module", None);
            }
            alias = self.member()?;
        }
        if self.peek().is(":") {
            return self.fail(self.span(), "the parts of a module's name are separated by `.`", None);
        }
        if self.accept_key(Key::As) {
            alias = self.name("after `as`")?;
        }
        Ok(StatementKind::Use(alias))
    }

    fn emit_statement(&mut self) -> Parse<StatementKind> {
        self.take();
        if self.peek().is("$") {
            return self.scoped_emit();
        }
        if matches!(self.peek(), Tok::Ident(word) if word == "each") && !self.peek_second().is("=") {
            self.take();
            return self.fan_out();
        }
        let name = self.name("after `emit`")?;
        self.expect("=", "after the name")?;
        Ok(StatementKind::Emit(name, self.expression()?))
    }

    fn scoped_emit(&mut self) -> Parse<StatementKind> {
        let start = self.span();
        self.take();
        let namespace = self.name("after `$`")?;
        let span = start.to(namespace.span);
        match namespace.text.as_str() {
            "pipeline" | "source" | "record" => {}
            "vars" | "ck" => {
                return self.fail(span, format!("`${}` is read-only", namespace.text), None);
            }
            other => {
                let help = suggestion(other, ["pipeline", "source", "record"]);
                let message = format!("`${other}` is not a scope that can be written");
                return self.fail(span, message, help.as_deref());
            }
        }
        self.expect(".", "after the namespace")?;
        let member = self.member()?;
        self.expect("=", "after the name")?;
        let name = Name { text: format!("${}.{}", namespace.text, member.text), span: span.to(member.span) };
        Ok(StatementKind::EmitScoped(name, self.expression()?))
    }

    fn fan_out(&mut self) -> Parse<StatementKind> {
        let start = self.span();
        let binder = if self.accept_key(Key::It) {
            Name { text: "it".to_owned(), span: start }
        } else {
            self.name("after `emit each`")?
        };
        self.expect_key(Key::In, "after the name")?;
        let source = self.expression()?;
        if matches!(self.peek(), Tok::Ident(word) if word == "outer") {
            self.take();
        }
        if self.fan_out == MAX_FAN_OUT {
            return self.fail(start, format!("`emit each` nests deeper than {MAX_FAN_OUT} blocks"), None);
        }
        self.expect("{", "before the body of `emit each`")?;
        self.fan_out += 1;
        let body = self.statements(true);
        self.fan_out -= 1;
        self.expect("}", "after the body of `emit each`")?;
        Ok(StatementKind::EmitEach { binder, source, body })
    }

    fn trace_statement(&mut self) -> Parse<StatementKind> {
        self.take();
        let level = match self.peek() {
            Tok::Ident(word) => LEVELS.iter().find(|(own, _)| own == word).map(|(_, level)| *level),
            _ => None,
        };
        // A level is followed by the message; a lone word, or one that an operator follows, is a column.
        let message_follows = matches!(
            self.peek_second(),
            Tok::Ident(_)
                | Tok::Key(_)
                | Tok::Int(_)
                | Tok::Float(_)
                | Tok::Text(_)
                | Tok::Date(_)
                | Tok::Punct("$" | "[" | "{" | "(" | "-")
        );
        let level = level.filter(|_| message_follows && !matches!(self.peek_second(), Tok::Key(Key::And | Key::Or)));
        if level.is_some() {
            self.take();
        }
        let guard = if self.accept_key(Key::If) {
            let guard = self.expression()?;
            self.expect_key(Key::Then, "after the condition")?;
            Some(guard)
        } else {
            None
        };
        let message = self.expression()?;
        if *self.peek() == Tok::Key(Key::Else) {
            let help = "parenthesise an if-expression that is the message";
            return self.fail(self.span(), "the `if` of `trace` has no `else`", Some(help));
        }
        Ok(StatementKind::Trace { level: level.unwrap_or(Level::Trace), guard, message })
    }

    /// The text of a field that holds one expression.
    pub(super) fn expression_field(&mut self) -> Parse<(Vec<Statement>, Expr)> {
        let mut uses = Vec::new();
        loop {
            self.skip_newlines();
            match self.peek() {
                Tok::Key(Key::Use) => {
                    let start = self.span();
                    let kind = self.use_statement()?;
                    uses.push(Statement { span: Span::new(start.start, self.end()), kind });
                    self.end_of_statement(false)?;
                }
                Tok::Key(Key::Let | Key::Emit | Key::Filter | Key::Distinct | Key::Trace | Key::Fn) => {
                    let message = format!("expected one expression, found the statement {}", self.peek());
                    return self.fail(self.span(), message, None);
                }
                _ => break,
            }
        }
        let expr = self.expression()?;
        self.skip_newlines();
        match self.peek() {
            Tok::End => Ok((uses, expr)),
            Tok::Bad => self.unexpected("the end of the expression"),
            other => {
                let message = format!("expected one expression, found {other} after it");
                self.fail(self.span(), message, None)
            }
        }
    }
}
