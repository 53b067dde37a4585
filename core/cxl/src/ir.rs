//! The typed tree that is evaluated: every name bound, every join made explicit.

use std::sync::Arc;

use clinker_diagnostics::Span;
use clinker_events::Level;
use clinker_record::{Type, Value};

use crate::check::types::{Base, Ty};
use crate::document::DocumentPath;
use crate::functions::{Function, Prepared};
use crate::syntax::ast::{ArithmeticOp, CompareOp};

/// A typed expression.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) ty: Ty,
    pub(crate) span: Span,
}

/// What a typed expression does.
#[derive(Debug)]
pub(crate) enum NodeKind {
    Literal(Value),
    /// A column of the input batch.
    Column(usize),
    /// The value of an earlier `let` or `emit`.
    Slot(usize),
    Now,
    System(SystemValue),
    /// A field of the document that the row belongs to.
    Document(Arc<DocumentPath>),
    Negate(Box<Node>),
    Not(Box<Node>),
    /// Operators of one level, from left to right.
    Arithmetic {
        first: Box<Node>,
        rest: Vec<(ArithmeticOp, Span, Node)>,
    },
    Compare {
        op: CompareOp,
        left: Box<Node>,
        right: Box<Node>,
    },
    And(Vec<Node>),
    Or(Vec<Node>),
    Coalesce(Vec<Node>),
    If {
        branches: Vec<(Node, Node)>,
        otherwise: Box<Node>,
    },
    Match {
        subject: Option<Box<Node>>,
        arms: Vec<(Node, Node)>,
        otherwise: Box<Node>,
    },
    /// An Int widened to Float or Decimal.
    Widen(Base, Box<Node>),
    /// The element that a closure or a comprehension is evaluated for. The outermost binder has level 0.
    Bound(usize),
    Array(Vec<Node>),
    Map(Vec<(Key, Node)>),
    Comprehension {
        source: Box<Node>,
        level: usize,
        predicate: Option<Box<Node>>,
        item: Box<Node>,
    },
    /// `base[index]`.
    Index {
        base: Box<Node>,
        index: Box<Node>,
    },
    /// `base.name` on a map.
    Member {
        base: Box<Node>,
        name: Arc<str>,
    },
    /// A method with a closure.
    Closure {
        method: ClosureMethod,
        receiver: Box<Node>,
        level: usize,
        body: Box<Node>,
    },
    /// Logs a value on its way.
    Debug {
        inner: Box<Node>,
        label: Option<Box<Node>>,
    },
    /// A method call, the receiver being the first operand.
    Call {
        function: &'static Function,
        operands: Vec<Node>,
        prepared: Prepared,
    },
}

/// A key of a map that is built.
#[derive(Debug)]
pub(crate) enum Key {
    /// As it is stored.
    Static(Arc<str>),
    Computed(Node),
}

/// A method whose argument is a closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClosureMethod {
    Filter,
    Map,
    Find,
    Any,
    FlatMap,
}

/// A member of `$pipeline` or `$source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemValue {
    PipelineName,
    ExecutionId,
    BatchId,
    StartTime,
    SourceName,
    SourceFile,
    SourcePath,
    SourceRow,
    SourceBatch,
    IngestionTimestamp,
}

/// A statement.
#[derive(Debug)]
pub(crate) enum Step {
    /// Binds a slot.
    Let { slot: usize, value: Node },
    /// Binds a slot that is an output field.
    Emit { slot: usize, field: Arc<str>, value: Node },
    /// Drops the rows that are not true.
    Filter(Node),
    /// Evaluates for its errors.
    Discard(Node),
    /// Logs a message.
    Trace { level: Level, guard: Option<Node>, message: Node },
}

/// An output field: its name, the slot of its last emission, its type.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) field: Arc<str>,
    pub(crate) slot: usize,
    pub(crate) ty: Type,
}

/// A checked program.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) steps: Vec<Step>,
    pub(crate) slots: usize,
    pub(crate) outputs: Vec<Output>,
}

impl Step {
    /// Its last expression.
    pub(crate) fn node(&self) -> &Node {
        match self {
            Step::Let { value, .. }
            | Step::Emit { value, .. }
            | Step::Filter(value)
            | Step::Discard(value)
            | Step::Trace { message: value, .. } => value,
        }
    }

    /// All of its expressions, in evaluation order.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        let guard = if let Step::Trace { guard, .. } = self { guard.as_ref() } else { None };
        guard.into_iter().chain([self.node()])
    }
}

impl Key {
    fn computed(&self) -> Option<&Node> {
        match self {
            Key::Static(_) => None,
            Key::Computed(node) => Some(node),
        }
    }
}

impl ClosureMethod {
    /// All of them.
    pub(crate) const ALL: [ClosureMethod; 5] =
        [ClosureMethod::Filter, ClosureMethod::Map, ClosureMethod::Find, ClosureMethod::Any, ClosureMethod::FlatMap];

    /// How it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ClosureMethod::Filter => "filter",
            ClosureMethod::Map => "map",
            ClosureMethod::Find => "find",
            ClosureMethod::Any => "any",
            ClosureMethod::FlatMap => "flat_map",
        }
    }

    /// The method of that name.
    pub(crate) fn of(name: &str) -> Option<ClosureMethod> {
        ClosureMethod::ALL.into_iter().find(|method| method.name() == name)
    }
}

impl Node {
    /// A constant.
    pub(crate) fn literal(value: Value, span: Span) -> Node {
        Node { ty: Ty::of(&value), kind: NodeKind::Literal(value), span }
    }

    /// The nodes directly below.
    pub(crate) fn children(&self) -> Vec<&Node> {
        match &self.kind {
            NodeKind::Literal(_)
            | NodeKind::Column(_)
            | NodeKind::Slot(_)
            | NodeKind::Now
            | NodeKind::System(_)
            | NodeKind::Document(_)
            | NodeKind::Bound(_) => Vec::new(),
            NodeKind::Negate(inner) | NodeKind::Not(inner) | NodeKind::Widen(_, inner) => vec![inner],
            NodeKind::Arithmetic { first, rest } => {
                std::iter::once(&**first).chain(rest.iter().map(|(_, _, node)| node)).collect()
            }
            NodeKind::Compare { left, right, .. } => vec![left, right],
            NodeKind::And(all) | NodeKind::Or(all) | NodeKind::Coalesce(all) => all.iter().collect(),
            NodeKind::If { branches, otherwise } => {
                branches.iter().flat_map(|(when, then)| [when, then]).chain([&**otherwise]).collect()
            }
            NodeKind::Match { subject, arms, otherwise } => subject
                .as_deref()
                .into_iter()
                .chain(arms.iter().flat_map(|(pattern, body)| [pattern, body]))
                .chain([&**otherwise])
                .collect(),
            NodeKind::Call { operands, .. } => operands.iter().collect(),
            NodeKind::Array(items) => items.iter().collect(),
            NodeKind::Map(entries) => {
                entries.iter().flat_map(|(key, value)| key.computed().into_iter().chain([value])).collect()
            }
            NodeKind::Comprehension { source, predicate, item, .. } => {
                [Some(&**source), predicate.as_deref(), Some(&**item)].into_iter().flatten().collect()
            }
            NodeKind::Index { base, index } => vec![base, index],
            NodeKind::Member { base, .. } => vec![base],
            NodeKind::Closure { receiver, body, .. } => vec![receiver, body],
            NodeKind::Debug { inner, label } => std::iter::once(&**inner).chain(label.as_deref()).collect(),
        }
    }

    /// Whether it is a literal text.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.kind, NodeKind::Literal(Value::String(_)))
    }

    /// Whether it logs anything.
    pub(crate) fn logs(&self) -> bool {
        matches!(self.kind, NodeKind::Debug { .. }) || self.children().into_iter().any(Node::logs)
    }

    /// Adds the input columns it reads.
    pub(crate) fn columns_into(&self, columns: &mut Vec<usize>) {
        if let NodeKind::Column(index) = self.kind {
            columns.push(index);
        }
        for child in self.children() {
            child.columns_into(columns);
        }
    }

    /// Adds the fields of documents that it reads.
    pub(crate) fn documents_into(&self, paths: &mut Vec<Arc<DocumentPath>>) {
        if let NodeKind::Document(path) = &self.kind
            && !paths.contains(path)
        {
            paths.push(Arc::clone(path));
        }
        for child in self.children() {
            child.documents_into(paths);
        }
    }

    /// Whether it is cheap and cannot fail: it may be evaluated for rows that do not need it.
    pub(crate) fn is_free(&self) -> bool {
        match &self.kind {
            NodeKind::Literal(_)
            | NodeKind::Column(_)
            | NodeKind::Slot(_)
            | NodeKind::Now
            | NodeKind::System(_)
            | NodeKind::Document(_) => true,
            NodeKind::Widen(_, inner) => inner.is_free(),
            NodeKind::Compare { left, right, .. } => {
                let fixed = |node: &Node| !node.ty.base.is_dynamic();
                fixed(left) && fixed(right) && left.is_free() && right.is_free()
            }
            _ => false,
        }
    }
}
