//! The type phase: every expression gets a type, every name its place.

use std::collections::HashMap;

use clinker_diagnostics::Span;
use clinker_record::Value;

use super::names::{Names, PIPELINE, SOURCE, dotted};
use super::types::{Base, Ty};
use super::unknown;
use crate::document::DocumentPath;
use crate::ir::{Node, NodeKind, SystemValue};
use crate::scope::CxlDiagnostic;
use crate::syntax::ast::{Arm, Expr, ExprKind, Name};

/// What is said of everything the language has and this version does not evaluate.
pub(super) const NOT_BUILT: &str = "is not available in this version";

/// A bound name: its slot and type, or nothing when its value was refused.
type Local = Option<(usize, Ty)>;

/// The state of the type phase. A method yields nothing when it has reported why.
pub(super) struct Checker<'a> {
    names: &'a Names<'a>,
    locals: HashMap<String, Local>,
    /// Names bound by the closures and comprehensions around this place, outermost first.
    pub(super) binders: Vec<String>,
    pub(super) slots: usize,
    /// Whether the host takes log events.
    pub(super) logs: bool,
    pub(super) diagnostics: Vec<CxlDiagnostic>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(names: &'a Names<'a>) -> Self {
        Self { names, locals: HashMap::new(), binders: Vec::new(), slots: 0, logs: true, diagnostics: Vec::new() }
    }

    /// Reports an E200.
    pub(super) fn error(&mut self, span: Span, message: impl Into<String>) -> &mut CxlDiagnostic {
        self.diagnostics.push(CxlDiagnostic::error("E200", span, message));
        self.diagnostics.last_mut().expect("a report was just added")
    }

    /// Refuses what the language has and this version lacks.
    pub(super) fn not_built(&mut self, span: Span, what: &str) {
        self.error(span, format!("{what} {NOT_BUILT}"));
    }

    /// Binds a name to a new slot.
    pub(super) fn bind(&mut self, name: &str, ty: Option<Ty>) -> usize {
        let slot = self.slots;
        self.slots += 1;
        self.locals.insert(name.to_owned(), ty.map(|ty| (slot, ty)));
        slot
    }

    /// The typed form of an expression.
    pub(super) fn expr(&mut self, expr: &Expr) -> Option<Node> {
        let span = expr.span;
        let literal = |value| Some(Node::literal(value, span));
        match &expr.kind {
            ExprKind::Null => literal(Value::Null),
            ExprKind::Bool(value) => literal(Value::Bool(*value)),
            ExprKind::Int(value) => literal(Value::Int(*value)),
            ExprKind::Float(value) => literal(Value::Float(*value)),
            ExprKind::Text(text) => literal(Value::String(text.as_str().into())),
            ExprKind::Date(days) => literal(Value::Date(*days)),
            ExprKind::Now => Some(Node { kind: NodeKind::Now, ty: Ty::plain(Base::DateTime), span }),
            ExprKind::Name(_) | ExprKind::Member { .. } => self.name(expr),
            ExprKind::System { namespace, members, .. } => self.system(span, namespace, members),
            ExprKind::Negate(inner) => self.negate(span, inner),
            ExprKind::Not(inner) => self.not(span, inner),
            ExprKind::Arithmetic { first, rest } => self.arithmetic(span, first, rest),
            ExprKind::Compare { op, op_span, left, right } => self.compare(span, *op, *op_span, left, right),
            ExprKind::And(all) => self.logic(span, "and", all, NodeKind::And),
            ExprKind::Or(all) => self.logic(span, "or", all, NodeKind::Or),
            ExprKind::Coalesce(all) => self.coalesce(span, all),
            ExprKind::If { branches, otherwise } => self.if_expression(span, branches, otherwise.as_deref()),
            ExprKind::Match { subject, arms } => self.match_expression(span, subject.as_deref(), arms),
            ExprKind::Call { base, name, args } => self.call(span, base, name, args),
            ExprKind::Aggregate { name, .. } => {
                let message = format!("the aggregate `{}` is allowed only in an Aggregate", name.text);
                self.error(span, message);
                None
            }
            ExprKind::LocalCall { name, .. } => {
                let message = format!("unknown function `{}`", name.text);
                self.error(name.span, message).help = unknown::free(&name.text);
                None
            }
            ExprKind::It => self.bound("it", span),
            ExprKind::Array(items) => self.array(span, items),
            ExprKind::Comprehension { item, binder, source, predicate } => {
                self.comprehension(span, (item, &binder.text), source, predicate.as_deref())
            }
            ExprKind::Map(entries) => self.map(span, entries),
            ExprKind::Index { base, index } => self.index(span, base, index),
        }
    }

    fn refuse(&mut self, span: Span, what: &str) -> Option<Node> {
        self.not_built(span, what);
        None
    }

    fn name(&mut self, expr: &Expr) -> Option<Node> {
        let span = expr.span;
        if let Some(path) = dotted(expr) {
            let bound = self.binders.iter().any(|binder| binder == path[0]);
            let local = bound || self.locals.contains_key(path[0]) || self.names.constant(path[0]).is_some();
            match self.names.column(&path) {
                Some(hit) if !local && hit.segments == path.len() => {
                    let ty = self.names.column_type(hit.index);
                    return Some(Node { kind: NodeKind::Column(hit.index), ty, span });
                }
                _ => {}
            }
        }
        match &expr.kind {
            ExprKind::Name(name) => self.local(name, span),
            ExprKind::Member { base, name } => {
                let base = self.expr(base)?;
                self.map_access(span, base, name)
            }
            _ => None,
        }
    }

    fn local(&mut self, name: &str, span: Span) -> Option<Node> {
        if let Some(bound) = self.bound(name, span) {
            return Some(bound);
        }
        if let Some(local) = self.locals.get(name) {
            let (slot, ty) = (*local)?;
            return Some(Node { kind: NodeKind::Slot(slot), ty, span });
        }
        let constant = self.names.constant(name)?;
        Some(Node::literal(constant.clone(), span))
    }

    fn map_access(&mut self, span: Span, base: Node, name: &Name) -> Option<Node> {
        if matches!(base.ty.base, Base::Map | Base::Any | Base::Null) {
            let kind = NodeKind::Member { base: Box::new(base), name: name.text.as_str().into() };
            return Some(Node { kind, ty: Ty::plain(Base::Any), span });
        }
        let message = format!("no field `{}`: the value is {}", name.text, base.ty.base);
        let mut report = CxlDiagnostic::error("E203", name.span, message);
        if crate::functions::find(&name.text).is_some() {
            report = report.help(format!("a method call needs parentheses: `.{}()`", name.text));
        }
        self.diagnostics.push(report);
        None
    }

    fn system(&mut self, span: Span, namespace: &Name, members: &[Name]) -> Option<Node> {
        let member = members[0].text.as_str();
        let known: &[(&str, Option<SystemValue>)] = match namespace.text.as_str() {
            "vars" => {
                let (ty, value) = self.names.variable(member)?;
                return Some(self.variable(Ty::declared(ty, false), value, span));
            }
            "doc" => {
                let path = DocumentPath { section: member.into(), field: members[1].text.as_str().into() };
                return Some(Node { kind: NodeKind::Document(path.into()), ty: Ty::plain(Base::Any), span });
            }
            "pipeline" => &PIPELINE,
            "source" => &SOURCE,
            other => return self.refuse(span, &format!("`${other}`")),
        };
        let Some(value) = known.iter().find(|(name, _)| *name == member).and_then(|(_, value)| *value) else {
            return self.refuse(span, &format!("`${}.{member}`", namespace.text));
        };
        let base = match value {
            SystemValue::SourceRow => Base::Int,
            SystemValue::StartTime | SystemValue::IngestionTimestamp => Base::DateTime,
            _ => Base::String,
        };
        Some(Node { kind: NodeKind::System(value), ty: Ty::plain(base), span })
    }

    /// A static variable is a constant of its declared type.
    fn variable(&mut self, ty: Ty, value: &Value, span: Span) -> Node {
        let widened = match (ty.base, value) {
            (Base::Float, Value::Int(int)) => Value::Float(*int as f64),
            (_, value) => value.clone(),
        };
        Node { kind: NodeKind::Literal(widened), ty, span }
    }

    fn if_expression(&mut self, span: Span, branches: &[(Expr, Expr)], otherwise: Option<&Expr>) -> Option<Node> {
        let mut typed = Vec::with_capacity(branches.len());
        for (condition, then) in branches {
            let condition = self.condition(condition, "the condition of `if`");
            typed.push((condition, self.expr(then)));
        }
        let last = match otherwise {
            Some(otherwise) => self.expr(otherwise),
            None => Some(Node::literal(Value::Null, Span::new(span.end, span.end))),
        };
        let (conditions, mut bodies): (Vec<_>, Vec<_>) = typed.into_iter().unzip();
        bodies.push(last);
        let (mut bodies, ty) = self.join_branches("if", bodies)?;
        let otherwise = Box::new(bodies.pop().expect("the last branch was pushed"));
        let conditions = conditions.into_iter().collect::<Option<Vec<_>>>()?;
        let branches = conditions.into_iter().zip(bodies).collect();
        Some(Node { kind: NodeKind::If { branches, otherwise }, ty, span })
    }

    fn match_expression(&mut self, span: Span, subject: Option<&Expr>, arms: &[Arm]) -> Option<Node> {
        let mut complete = self.last_arm(span, arms);
        let typed_subject = subject.map(|subject| self.expr(subject));
        complete &= !matches!(typed_subject, Some(None));
        let typed_subject = typed_subject.flatten();
        let (mut patterns, mut bodies) = (Vec::new(), Vec::new());
        for arm in arms {
            if let Some(pattern) = &arm.pattern {
                let pattern = match subject {
                    None => self.condition(pattern, "the condition of an arm"),
                    Some(_) => self.pattern(pattern, typed_subject.as_ref()),
                };
                complete &= pattern.is_some();
                patterns.extend(pattern);
            }
            bodies.push(self.expr(&arm.body));
        }
        if subject.is_none() {
            self.warn_unreachable(arms);
        }
        let (mut bodies, ty) = self.join_branches("match", bodies)?;
        if !complete {
            return None;
        }
        let otherwise = Box::new(bodies.pop().expect("a complete match has an arm `_`"));
        let arms = patterns.into_iter().zip(bodies).collect();
        let kind = NodeKind::Match { subject: typed_subject.map(Box::new), arms, otherwise };
        Some(Node { kind, ty, span })
    }

    /// Exactly one `_`, and last.
    fn last_arm(&mut self, span: Span, arms: &[Arm]) -> bool {
        let fallbacks: Vec<usize> = (0..arms.len()).filter(|&index| arms[index].pattern.is_none()).collect();
        match fallbacks.as_slice() {
            [] => self.error(span, "this `match` has no arm `_`").help = Some("add a last arm `_ => …`".to_owned()),
            [only] if *only + 1 == arms.len() => return true,
            [only] => {
                let span = arms[*only].span;
                self.error(span, "the arm `_` must be the last one of a `match`");
            }
            [_, second, ..] => {
                let span = arms[*second].span;
                self.error(span, "this `match` has more than one arm `_`");
            }
        }
        false
    }

    fn warn_unreachable(&mut self, arms: &[Arm]) {
        let always = arms.iter().position(|arm| matches!(&arm.pattern, Some(Expr { kind: ExprKind::Bool(true), .. })));
        if let Some(arm) = always.and_then(|at| arms.get(at + 1)) {
            let report = CxlDiagnostic::warning(arm.span, "this arm is never reached: the one before is always true");
            self.diagnostics.push(report);
        }
    }

    /// A condition: Bool, or known only at run time.
    pub(super) fn condition(&mut self, expr: &Expr, what: &str) -> Option<Node> {
        let node = self.expr(expr)?;
        if node.ty.base == Base::Bool || node.ty.base.is_open() {
            return Some(node);
        }
        let message = format!("{what} must be Bool, not {}", node.ty.base);
        self.error(expr.span, message);
        None
    }

    /// Joins branches, widening those that need it.
    pub(super) fn join_branches(&mut self, what: &str, branches: Vec<Option<Node>>) -> Option<(Vec<Node>, Ty)> {
        let nodes = branches.into_iter().collect::<Option<Vec<_>>>()?;
        let mut ty = nodes[0].ty;
        for node in &nodes[1..] {
            let Some(joined) = ty.join(node.ty) else {
                let message = format!("the branches of `{what}` have types {} and {}", ty.base, node.ty.base);
                let help = decimal_help(ty.base, node.ty.base);
                let report = self.error(node.span, message);
                report.help = help.or_else(|| Some("all branches must have one type".to_owned()));
                return None;
            };
            ty = joined;
        }
        Some((nodes.into_iter().map(|node| widen(node, ty)).collect(), ty))
    }
}

/// Converts an Int where a Float or a Decimal was joined.
pub(super) fn widen(node: Node, to: Ty) -> Node {
    if node.ty.base != Base::Int || !matches!(to.base, Base::Float | Base::Decimal) {
        return node;
    }
    let (ty, span) = (Ty { base: to.base, ..node.ty }, node.span);
    Node { kind: NodeKind::Widen(to.base, Box::new(node)), ty, span }
}

/// The way out when a Decimal meets a Float.
pub(super) fn decimal_help(left: Base, right: Base) -> Option<String> {
    matches!((left, right), (Base::Decimal, Base::Float) | (Base::Float, Base::Decimal))
        .then(|| "convert one side with `.to_decimal()` or `.to_float()`".to_owned())
}
