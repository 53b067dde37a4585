//! The resolve phase: every name must mean something.

use clinker_diagnostics::{Span, name_suggestion, suggestion};

use super::names::{Names, PIPELINE, SOURCE, dotted};
use crate::ir::ClosureMethod;
use crate::scope::CxlDiagnostic;
use crate::syntax::ast::{Arg, Expr, ExprKind, Name, Statement, StatementKind};

pub(crate) struct Resolver<'a> {
    names: &'a Names<'a>,
    /// `let`, `emit` and binder names, and module aliases.
    locals: Vec<String>,
    /// Closures and `emit each it` blocks around this place.
    it: usize,
    pub(crate) diagnostics: Vec<CxlDiagnostic>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(names: &'a Names<'a>) -> Self {
        Self { names, locals: Vec::new(), it: 0, diagnostics: Vec::new() }
    }

    fn error(&mut self, span: Span, message: String, help: Option<String>) {
        self.diagnostics.push(CxlDiagnostic::error("E203", span, message).maybe_help(help));
    }

    fn is_known(&self, path: &[&str]) -> bool {
        let root = path[0];
        self.locals.iter().any(|local| local == root)
            || self.names.constant(root).is_some()
            || self.names.column(path).is_some()
    }

    fn suggest(&self, name: &str) -> Option<String> {
        name_suggestion(name, self.locals.iter().map(String::as_str).chain(self.names.visible()))
    }

    pub(crate) fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Use(alias) => self.locals.push(alias.text.clone()),
            StatementKind::Let(name, value) | StatementKind::Emit(name, value) => {
                self.expr(value);
                self.locals.push(name.text.clone());
            }
            StatementKind::EmitScoped(_, value) | StatementKind::Filter(value) | StatementKind::Expression(value) => {
                self.expr(value);
            }
            StatementKind::EmitEach { binder, source, body, .. } => {
                self.expr(source);
                self.bound(binder, |resolver| resolver.statements(body));
            }
            StatementKind::Distinct(Some(name)) if !self.is_known(&[&name.text]) => self.unknown(&name.text, name.span),
            StatementKind::Distinct(_) => {}
            StatementKind::Trace { guard, message, .. } => {
                guard.iter().for_each(|guard| self.expr(guard));
                self.expr(message);
            }
        }
    }

    /// Runs with a binder in scope; what is bound inside is forgotten afterwards.
    fn bound(&mut self, binder: &Name, inside: impl FnOnce(&mut Self)) {
        let outer = self.locals.len();
        let it = usize::from(binder.text == "it");
        self.it += it;
        self.locals.push(binder.text.clone());
        inside(self);
        self.locals.truncate(outer);
        self.it -= it;
    }

    fn unknown(&mut self, name: &str, span: Span) {
        let help = self.suggest(name).or_else(|| self.names_here(name));
        self.error(span, format!("unknown name `{name}`"), help);
    }

    /// The names to choose from, and the other thing a bare word may have been meant as.
    fn names_here(&self, name: &str) -> Option<String> {
        const SHOWN: usize = 20;
        let names: Vec<&str> = self.names.visible().chain(self.locals.iter().map(String::as_str)).collect();
        if names.is_empty() {
            return None;
        }
        let mut list: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
        if names.len() > SHOWN {
            list.push(format!("and {} more", names.len() - SHOWN));
        }
        Some(format!("the names here are {}; a text needs quotes: `\"{name}\"`", list.join(", ")))
    }

    pub(crate) fn expr(&mut self, expr: &Expr) {
        if let Some(path) = dotted(expr) {
            if !self.is_known(&path) {
                let whole = path.join(".");
                self.unknown(&whole, expr.span);
            }
            return;
        }
        match &expr.kind {
            ExprKind::It if self.it == 0 => {
                let help = "`it` is the parameter of a closure or of `emit each it`".to_owned();
                self.error(expr.span, "`it` has no meaning here".to_owned(), Some(help));
            }
            ExprKind::System { namespace, members, args } => self.system(expr.span, namespace, members, args),
            ExprKind::Index { base, index } => {
                if is_document(base) && !is_literal(index) {
                    let message = "an index of a `$doc` path must be a literal".to_owned();
                    let help = "bind the value first: `let list = $doc.…`, then `list[index]`";
                    self.diagnostics.push(CxlDiagnostic::error("E340", index.span, message).help(help));
                }
                self.expr(base);
                self.expr(index);
            }
            ExprKind::Comprehension { item, binder, source, predicate } => {
                self.expr(source);
                if self.is_known(&[&binder.text]) {
                    let message = format!("`{}` hides a visible name", binder.text);
                    self.error(binder.span, message, Some("give the variable another name".to_owned()));
                }
                self.bound(binder, |resolver| {
                    predicate.iter().for_each(|predicate| resolver.expr(predicate));
                    resolver.expr(item);
                });
            }
            ExprKind::Call { base, name, args } => {
                // `alias.f(…)` calls a module's function; the alias is a known name here.
                self.expr(base);
                for arg in args {
                    self.argument(name, arg);
                }
            }
            _ => expr.children().into_iter().for_each(|child| self.expr(child)),
        }
    }

    fn argument(&mut self, method: &Name, arg: &Arg) {
        match arg {
            Arg::Value(value) => self.expr(value),
            Arg::Closure(span, body) => {
                if ClosureMethod::of(&method.text).is_none() {
                    self.error(*span, format!("`{}` does not take a closure", method.text), None);
                }
                let it = Name { text: "it".to_owned(), span: *span };
                self.bound(&it, |resolver| resolver.expr(body));
            }
        }
    }

    fn system(&mut self, span: Span, namespace: &Name, members: &[Name], args: &[Expr]) {
        let member = members[0].text.as_str();
        match namespace.text.as_str() {
            "pipeline" => self.member(span, "pipeline", member, PIPELINE.iter().map(|(name, _)| *name).collect()),
            "source" if members.len() == 1 => {
                self.member(span, "source", member, SOURCE.iter().map(|(name, _)| *name).collect());
            }
            "doc" => self.document(span, member, &members[1].text),
            "vars" => self.member(span, "vars", member, self.names.variables().collect()),
            "window" => {
                let message = format!("`$window.{member}` needs an `analytic_window`, and none is declared here");
                self.diagnostics.push(CxlDiagnostic::error("E395", span, message));
            }
            "source" => {
                self.error(span, format!("`$source.{member}.{}` is not declared", members[1].text), None);
            }
            "config" => {
                let help = "`$config` exists only inside the body of a composition".to_owned();
                self.error(span, format!("`$config.{member}` is not declared"), Some(help));
            }
            "record" => {
                self.error(span, format!("`$record.{member}` is not declared"), None);
            }
            "meta" => {
                let help = "`$meta` exists only downstream of a Reshape".to_owned();
                self.error(span, format!("`$meta.{member}` is not available here"), Some(help));
            }
            _ => {}
        }
        if namespace.text != "window" {
            args.iter().for_each(|arg| self.expr(arg));
        }
    }

    /// Every Source above must be able to have the section and the field.
    fn document(&mut self, span: Span, section: &str, field: &str) {
        for names in self.names.documents() {
            if let Err(unnamed) = names.check(section, field) {
                let report = CxlDiagnostic::error(unnamed.code, span, unnamed.message);
                self.diagnostics.push(report.maybe_help(unnamed.help));
            }
        }
    }

    fn member(&mut self, span: Span, namespace: &str, member: &str, known: Vec<&str>) {
        if known.contains(&member) {
            return;
        }
        let mut help = suggestion(member, known.iter().copied());
        if namespace == "pipeline" && matches!(member, "source_file" | "source_row") {
            help = Some(format!("write `$source.{}`", &member["source_".len()..]));
        }
        self.error(span, format!("`${namespace}.{member}` is not declared"), help);
    }
}

/// Whether an expression is a `$doc` path, or what lies inside its value.
fn is_document(expr: &Expr) -> bool {
    let mut at = expr;
    loop {
        match &at.kind {
            ExprKind::Index { base, .. } | ExprKind::Member { base, .. } => at = base,
            ExprKind::System { namespace, .. } => return namespace.text == "doc",
            _ => return false,
        }
    }
}

/// Whether an index is an integer, negative ones included, or a text.
fn is_literal(index: &Expr) -> bool {
    match &index.kind {
        ExprKind::Int(_) | ExprKind::Text(_) => true,
        ExprKind::Negate(inner) => matches!(inner.kind, ExprKind::Int(_)),
        _ => false,
    }
}
