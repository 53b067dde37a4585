//! Types of operators.

use clinker_diagnostics::Span;

use super::infer::{Checker, decimal_help, widen};
use super::types::{Base, Ty};
use crate::ir::{Node, NodeKind};
use crate::scope::CxlDiagnostic;
use crate::syntax::ast::{ArithmeticOp, CompareOp, Expr, ExprKind};

impl Checker<'_> {
    fn cannot_apply(&mut self, span: Span, sign: &str, left: Base, right: Base) {
        let help = decimal_help(left, right).or_else(|| other_help(sign, left, right));
        self.error(span, format!("cannot apply '{sign}' to {left} and {right}")).help = help;
    }

    pub(super) fn negate(&mut self, span: Span, inner: &Expr) -> Option<Node> {
        let inner = self.expr(inner)?;
        let base = inner.ty.base;
        if !base.is_number() && !base.is_open() {
            self.error(span, format!("cannot apply '-' to {base}"));
            return None;
        }
        let ty = if base == Base::Any { Ty::plain(Base::Numeric) } else { inner.ty };
        Some(Node { kind: NodeKind::Negate(Box::new(inner)), ty, span })
    }

    pub(super) fn not(&mut self, span: Span, inner: &Expr) -> Option<Node> {
        let inner = self.expr(inner)?;
        let base = inner.ty.base;
        if base != Base::Bool && !base.is_open() {
            self.error(span, format!("cannot apply 'not' to {base}"));
            return None;
        }
        let ty = Ty::BOOL.null_like(inner.ty);
        Some(Node { kind: NodeKind::Not(Box::new(inner)), ty, span })
    }

    pub(super) fn arithmetic(&mut self, span: Span, first: &Expr, rest: &[(ArithmeticOp, Span, Expr)]) -> Option<Node> {
        let first = self.expr(first);
        let mut ty = first.as_ref().map(|first| first.ty);
        let mut operands = Vec::with_capacity(rest.len());
        for (op, op_span, operand) in rest {
            let operand = self.expr(operand);
            ty = match (ty, &operand) {
                (Some(left), Some(right)) => self.arithmetic_type(*op, *op_span, left, right.ty),
                _ => None,
            };
            operands.extend(operand.map(|operand| (*op, *op_span, operand)));
        }
        let kind = NodeKind::Arithmetic { first: Box::new(first?), rest: operands };
        Some(Node { kind, ty: ty?, span })
    }

    fn arithmetic_type(&mut self, op: ArithmeticOp, span: Span, left: Ty, right: Ty) -> Option<Ty> {
        let text = op == ArithmeticOp::Add;
        let fits = |ty: Ty| ty.base.is_number() || ty.base.is_open() || (text && ty.base == Base::String);
        let joined = if fits(left) && fits(right) { left.join(right) } else { None };
        let Some(joined) = joined else {
            self.cannot_apply(span, op.sign(), left.base, right.base);
            return None;
        };
        if joined.base != Base::Any {
            return Some(joined);
        }
        let base = match (left.base, right.base) {
            (Base::String, _) | (_, Base::String) => Base::String,
            (left, right) if !text || left.is_number() || right.is_number() => Base::Numeric,
            _ => Base::Any,
        };
        Some(Ty::plain(base))
    }

    pub(super) fn compare(
        &mut self,
        span: Span,
        op: CompareOp,
        op_span: Span,
        left: &Expr,
        right: &Expr,
    ) -> Option<Node> {
        for (side, other) in [(left, right), (right, left)] {
            if matches!(side.kind, ExprKind::Null) {
                let value =
                    if matches!(other.kind, ExprKind::Name(_) | ExprKind::Member { .. }) { "name" } else { "value" };
                let message = format!("a comparison with `null` is always null; use `.is_null()` on the {value}");
                self.diagnostics.push(CxlDiagnostic::warning(span, message));
                break;
            }
        }
        let (left, right) = (self.expr(left), self.expr(right));
        let (left, right) = (left?, right?);
        if !comparable(op, left.ty, right.ty) {
            self.cannot_apply(op_span, op.sign(), left.ty.base, right.ty.base);
            return None;
        }
        let ty = Ty::BOOL.null_like(left.ty).null_like(right.ty);
        Some(Node { kind: NodeKind::Compare { op, left: Box::new(left), right: Box::new(right) }, ty, span })
    }

    /// A pattern of the value form of `match`.
    pub(super) fn pattern(&mut self, pattern: &Expr, subject: Option<&Node>) -> Option<Node> {
        let node = self.expr(pattern)?;
        let subject = subject?.ty;
        if !comparable(CompareOp::Equal, subject, node.ty) {
            let message = format!("a {} pattern cannot match a subject of type {}", node.ty.base, subject.base);
            let help = decimal_help(subject.base, node.ty.base);
            self.error(pattern.span, message).help = help;
            return None;
        }
        Some(node)
    }

    pub(super) fn logic(
        &mut self,
        span: Span,
        word: &str,
        operands: &[Expr],
        make: fn(Vec<Node>) -> NodeKind,
    ) -> Option<Node> {
        let mut ty = Ty::BOOL;
        let mut nodes = Vec::with_capacity(operands.len());
        for operand in operands {
            let Some(node) = self.expr(operand) else { continue };
            ty = ty.null_like(node.ty);
            let base = node.ty.base;
            if base == Base::Bool || base.is_open() {
                nodes.push(node);
            } else {
                self.error(operand.span, format!("an operand of '{word}' must be Bool, not {base}"));
            }
        }
        (nodes.len() == operands.len()).then(|| Node { kind: make(nodes), ty, span })
    }

    pub(super) fn coalesce(&mut self, span: Span, operands: &[Expr]) -> Option<Node> {
        let nodes: Vec<_> = operands.iter().map(|operand| self.expr(operand)).collect();
        self.coalesced(span, "??", nodes.into_iter().collect::<Option<Vec<_>>>()?)
    }

    /// The first value that is not null. The types join from the right: `a ?? (b ?? c)`.
    pub(super) fn coalesced(&mut self, span: Span, sign: &str, nodes: Vec<Node>) -> Option<Node> {
        let (last, before) = nodes.split_last()?;
        let mut ty = last.ty;
        for node in before.iter().rev() {
            let left = Ty::plain(node.ty.base);
            let joined = if left.base == Base::Null { Some(ty) } else { left.join(ty) };
            let Some(joined) = joined else {
                self.cannot_apply(node.span.to(last.span), sign, left.base, ty.base);
                return None;
            };
            ty = joined;
        }
        let nodes = nodes.into_iter().map(|node| widen(node, ty)).collect();
        Some(Node { kind: NodeKind::Coalesce(nodes), ty, span })
    }
}

/// Whether two static types may be compared.
fn comparable(op: CompareOp, left: Ty, right: Ty) -> bool {
    let Some(joined) = left.join(right) else { return false };
    op.is_equality() || (is_orderable(left.base) && is_orderable(right.base) && is_orderable(joined.base))
}

fn is_orderable(base: Base) -> bool {
    !matches!(base, Base::Bool | Base::Array | Base::Map)
}

fn other_help(sign: &str, left: Base, right: Base) -> Option<String> {
    let is_date = |base| matches!(base, Base::Date | Base::DateTime);
    let help = match (left, right) {
        (Base::Date, Base::DateTime) | (Base::DateTime, Base::Date) if !"+-*/%".contains(sign) => {
            "convert one side with `.to_date()` or `.to_datetime()`"
        }
        (left, right) if "+-".contains(sign) && (is_date(left) || is_date(right)) => {
            "dates have methods: `.add_days(n)`, `.add_months(n)`, `.diff_days(other)`"
        }
        (Base::String, number) | (number, Base::String) if number.is_number() && sign == "+" => {
            "convert with `.to_string()`, or with `.to_int()`, `.to_float()` or `.to_decimal()`"
        }
        (Base::String, number) | (number, Base::String) if number.is_number() => {
            "convert the String with `.to_int()`, `.to_float()` or `.to_decimal()`"
        }
        _ => return None,
    };
    Some(help.to_owned())
}
