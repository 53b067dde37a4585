//! Types of arrays and maps: constructors, access, and methods with a closure.

use clinker_diagnostics::Span;

use super::infer::Checker;
use super::types::{Base, Ty};
use crate::functions;
use crate::ir::{ClosureMethod, Key, Node, NodeKind};
use crate::syntax::ast::{Arg, Expr, MapKey, Name};

impl Checker<'_> {
    /// The innermost binder of that name.
    pub(super) fn bound(&self, name: &str, span: Span) -> Option<Node> {
        let level = self.binders.iter().rposition(|binder| binder == name)?;
        Some(Node { kind: NodeKind::Bound(level), ty: Ty::plain(Base::Any), span })
    }

    /// Checks what a binder is visible in. Its level, and what the check yields.
    fn with_binder<T>(&mut self, name: &str, inside: impl FnOnce(&mut Self) -> T) -> (usize, T) {
        let level = self.binders.len();
        self.binders.push(name.to_owned());
        let result = inside(self);
        self.binders.pop();
        (level, result)
    }

    pub(super) fn array(&mut self, span: Span, items: &[Expr]) -> Option<Node> {
        let items: Vec<_> = items.iter().map(|item| self.expr(item)).collect();
        let kind = NodeKind::Array(items.into_iter().collect::<Option<Vec<_>>>()?);
        Some(Node { kind, ty: Ty::plain(Base::Array), span })
    }

    pub(super) fn map(&mut self, span: Span, entries: &[(MapKey, Expr)]) -> Option<Node> {
        let typed: Vec<_> = entries.iter().map(|(key, value)| (self.map_key(key), self.expr(value))).collect();
        let entries = typed.into_iter().map(|(key, value)| Some((key?, value?)));
        let kind = NodeKind::Map(entries.collect::<Option<Vec<_>>>()?);
        Some(Node { kind, ty: Ty::plain(Base::Map), span })
    }

    fn map_key(&mut self, key: &MapKey) -> Option<Key> {
        let expr = match key {
            MapKey::Static(text) => return Some(Key::Static(text.as_str().into())),
            MapKey::Computed(expr) => expr,
        };
        let node = self.expr(expr)?;
        if matches!(node.ty.base, Base::String | Base::Any) {
            return Some(Key::Computed(node));
        }
        self.error(expr.span, format!("the key of a map must be String, not {}", node.ty.base));
        None
    }

    pub(super) fn comprehension(
        &mut self,
        span: Span,
        (item, binder): (&Expr, &str),
        source: &Expr,
        predicate: Option<&Expr>,
    ) -> Option<Node> {
        let source = self.source(source);
        let (level, (predicate, item)) = self.with_binder(binder, |checker| {
            let predicate = predicate.map(|predicate| checker.predicate(predicate));
            (predicate, checker.expr(item))
        });
        let predicate = match predicate {
            Some(predicate) => Some(Box::new(predicate?)),
            None => None,
        };
        let kind = NodeKind::Comprehension { source: Box::new(source?), level, predicate, item: Box::new(item?) };
        Some(Node { kind, ty: Ty::plain(Base::Array), span })
    }

    /// What a comprehension runs over.
    fn source(&mut self, expr: &Expr) -> Option<Node> {
        let node = self.expr(expr)?;
        if matches!(node.ty.base, Base::Array | Base::Any) {
            return Some(node);
        }
        self.error(expr.span, format!("a comprehension needs an Array, not {}", node.ty.base));
        None
    }

    fn predicate(&mut self, expr: &Expr) -> Option<Node> {
        let node = self.expr(expr)?;
        if matches!(node.ty.base, Base::Bool | Base::Any) {
            return Some(node);
        }
        self.error(expr.span, format!("the condition of a comprehension must be Bool, not {}", node.ty.base));
        None
    }

    pub(super) fn index(&mut self, span: Span, base: &Expr, index: &Expr) -> Option<Node> {
        let (receiver, key) = (self.expr(base), self.expr(index));
        let (receiver, key) = (receiver?, key?);
        let wanted = match receiver.ty.base {
            Base::Array if !matches!(key.ty.base, Base::Int | Base::Numeric | Base::Any | Base::Null) => Some("Int"),
            Base::Map if !matches!(key.ty.base, Base::String | Base::Any | Base::Null) => Some("String"),
            Base::Array | Base::Map | Base::Any | Base::Null => None,
            other => {
                self.error(base.span, format!("`[…]` needs an Array or a Map, not {other}"));
                return None;
            }
        };
        if let Some(wanted) = wanted {
            let message = format!("the index of {} must be {wanted}, not {}", receiver.ty.base, key.ty.base);
            self.error(index.span, message);
            return None;
        }
        let kind = NodeKind::Index { base: Box::new(receiver), index: Box::new(key) };
        Some(Node { kind, ty: Ty::plain(Base::Any), span })
    }

    /// A call with a closure among its arguments; the resolve phase let only these methods have one.
    pub(super) fn closure_call(
        &mut self,
        span: Span,
        receiver: Option<Node>,
        name: &Name,
        args: &[Arg],
    ) -> Option<Node> {
        let typed: Vec<_> = args.iter().map(|arg| self.closure_body(arg)).collect();
        let receiver = receiver?;
        let method = ClosureMethod::of(&name.text)?;
        if typed.len() != 1 {
            let message = format!("`{}` takes 1 closure, not {} arguments: {0}(it => …)", name.text, typed.len());
            self.error(name.span, message);
            return None;
        }
        if !matches!(receiver.ty.base, Base::Array | Base::Any | Base::Null) {
            let message = format!("`{}(it => …)` needs a receiver of type Array, not {}", name.text, receiver.ty.base);
            self.error(name.span, message);
            return None;
        }
        let (level, body) = typed.into_iter().next()?;
        let ty = match method {
            ClosureMethod::Filter | ClosureMethod::Map | ClosureMethod::FlatMap => Ty::plain(Base::Array),
            ClosureMethod::Find => Ty::plain(Base::Any),
            ClosureMethod::Any => Ty::BOOL,
        };
        let ty = ty.null_like(receiver.ty);
        let kind = NodeKind::Closure { method, receiver: Box::new(receiver), level, body: Box::new(body?) };
        Some(Node { kind, ty, span })
    }

    fn closure_body(&mut self, arg: &Arg) -> (usize, Option<Node>) {
        match arg {
            Arg::Closure(_, body) => self.with_binder("it", |checker| checker.expr(body)),
            Arg::Value(value) => (self.binders.len(), self.expr(value)),
        }
    }

    /// Refuses a method whose only argument is a closure when it got none.
    pub(super) fn wants_closure(&mut self, name: &Name) -> bool {
        let wants = functions::find(&name.text).is_some_and(|function| function.closure_only());
        if wants {
            let help = format!("write `.{}(it => …)`", name.text);
            self.error(name.span, format!("`{}` takes a closure", name.text)).help = Some(help);
        }
        wants
    }
}
