//! Programs and expression fields: the phases in their order.

use std::sync::Arc;

use clinker_diagnostics::Span;

use super::infer::Checker;
use super::names::Names;
use super::resolve::Resolver;
use super::types::Ty;
use crate::ir::{Body, Node, Output, Step};
use crate::scope::{CxlDiagnostic, Scope, Want, has_errors};
use crate::syntax::ast::{Expr, Statement, StatementKind};
use crate::syntax::{parse_expression_field, parse_program};

/// Checks a Transform program.
pub(crate) fn check_program(text: &str, scope: &Scope<'_>) -> (Option<Body>, Vec<CxlDiagnostic>) {
    let (statements, diagnostics) = parse_program(text);
    if has_errors(&diagnostics) {
        return (None, diagnostics);
    }
    let names = Names::new(scope);
    let mut resolver = Resolver::new(&names);
    resolver.statements(&statements);
    if has_errors(&resolver.diagnostics) {
        return (None, sorted(resolver.diagnostics));
    }
    let mut checker = Checker::new(&names);
    let mut outputs = Vec::new();
    let steps: Vec<_> = statements.iter().map(|statement| checker.statement(statement, &mut outputs)).collect();
    if outputs.is_empty() && !has_errors(&checker.diagnostics) {
        let end = Span::new(0, text.len());
        checker.diagnostics.push(CxlDiagnostic::warning(end, "this program emits nothing"));
    }
    let diagnostics = sorted(checker.diagnostics);
    let steps = if has_errors(&diagnostics) { None } else { steps.into_iter().collect::<Option<Vec<_>>>() };
    (steps.map(|steps| Body { steps, slots: checker.slots, outputs }), diagnostics)
}

/// Checks a field that holds one expression.
pub(crate) fn check_expression(text: &str, scope: &Scope<'_>, want: Want) -> (Option<Node>, Vec<CxlDiagnostic>) {
    let (parsed, diagnostics) = parse_expression_field(text);
    let (uses, expr) = match parsed {
        Some(parsed) if !has_errors(&diagnostics) => parsed,
        _ => return (None, diagnostics),
    };
    let names = Names::new(scope);
    let mut resolver = Resolver::new(&names);
    resolver.statements(&uses);
    resolver.expr(&expr);
    if has_errors(&resolver.diagnostics) {
        return (None, sorted(resolver.diagnostics));
    }
    let mut checker = Checker::new(&names);
    checker.logs = false;
    for statement in &uses {
        checker.statement(statement, &mut Vec::new());
    }
    let node = match want {
        Want::Condition => checker.condition(&expr, "a condition"),
        Want::Any => checker.expr(&expr),
    };
    let diagnostics = sorted(checker.diagnostics);
    (if has_errors(&diagnostics) { None } else { node }, diagnostics)
}

fn sorted(mut diagnostics: Vec<CxlDiagnostic>) -> Vec<CxlDiagnostic> {
    diagnostics.sort_by_key(|report| (report.span.start, report.span.end));
    diagnostics
}

impl Checker<'_> {
    fn statement(&mut self, statement: &Statement, outputs: &mut Vec<Output>) -> Option<Step> {
        let span = statement.span;
        let refused = match &statement.kind {
            StatementKind::Let(name, value) => {
                let value = self.expr(value);
                let slot = self.bind(&name.text, value.as_ref().map(|value| value.ty));
                return Some(Step::Let { slot, value: value? });
            }
            StatementKind::Emit(name, value) => {
                let value = self.expr(value);
                let slot = self.bind(&name.text, value.as_ref().map(|value| value.ty));
                return Some(emit(&name.text, slot, value?, outputs));
            }
            StatementKind::Filter(value) => {
                return Some(Step::Filter(self.condition(value, "the condition of `filter`")?));
            }
            StatementKind::Trace { level, guard, message } => {
                let guard = guard.as_ref().map(|guard| self.condition(guard, "the condition of `trace`"));
                let message = self.expr(message);
                let guard = guard.map_or(Some(None), |guard| guard.map(Some))?;
                return Some(Step::Trace { level: *level, guard, message: message? });
            }
            StatementKind::Expression(value) => return self.discard(value),
            StatementKind::Use(alias) => format!("`use` (the module `{}`)", alias.text),
            StatementKind::EmitScoped(name, _) => format!("writing the variable `{}`", name.text),
            StatementKind::EmitEach { binder, .. } => format!("`emit each {}`", binder.text),
            StatementKind::Distinct(_) => "`distinct`".to_owned(),
        };
        if let StatementKind::Use(alias) = &statement.kind {
            self.bind(&alias.text, None);
        }
        self.not_built(span, &refused);
        None
    }

    fn discard(&mut self, value: &Expr) -> Option<Step> {
        let node = self.expr(value)?;
        if !node.logs() {
            let report = CxlDiagnostic::warning(value.span, "the value of this expression is not used");
            self.diagnostics.push(report.help("write `emit name = …` or `let name = …`"));
        }
        Some(Step::Discard(node))
    }
}

/// Registers an output field: the position of its first emission, slot and type of its last.
fn emit(name: &str, slot: usize, value: Node, outputs: &mut Vec<Output>) -> Step {
    let ty = Ty::to_type(value.ty);
    let field = match outputs.iter_mut().find(|output| &*output.field == name) {
        Some(output) => {
            (output.slot, output.ty) = (slot, ty);
            Arc::clone(&output.field)
        }
        None => {
            let field: Arc<str> = name.into();
            outputs.push(Output { field: Arc::clone(&field), slot, ty });
            field
        }
    };
    Step::Emit { slot, field, value }
}
