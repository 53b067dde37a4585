//! The tree of a program. Chains of one precedence level are flat lists, so that a long program is no deep one.

use clinker_diagnostics::Span;
use clinker_events::Level;

/// A name and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// A statement.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) span: Span,
    pub(crate) kind: StatementKind,
}

/// What a statement does.
#[derive(Debug)]
pub(crate) enum StatementKind {
    /// `use a.b as c`: the alias it binds.
    Use(Name),
    Let(Name, Expr),
    Emit(Name, Expr),
    /// `emit $scope.name = expr`; the text is `$scope.name`.
    EmitScoped(Name, Expr),
    EmitEach {
        binder: Name,
        source: Expr,
        body: Vec<Statement>,
    },
    Filter(Expr),
    Distinct(Option<Name>),
    Trace {
        level: Level,
        guard: Option<Expr>,
        message: Expr,
    },
    Expression(Expr),
}

/// An expression.
#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) span: Span,
    pub(crate) kind: ExprKind,
    /// Levels below it, itself included.
    pub(crate) height: u16,
}

/// What an expression is.
#[derive(Debug)]
pub(crate) enum ExprKind {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Date(i32),
    Now,
    It,
    Name(String),
    /// `$namespace.member…`, with arguments for `$window.f(…)`.
    System {
        namespace: Name,
        members: Vec<Name>,
        args: Vec<Expr>,
    },
    Aggregate {
        name: Name,
        args: Vec<Expr>,
    },
    LocalCall {
        name: Name,
        args: Vec<Expr>,
    },
    Negate(Box<Expr>),
    Not(Box<Expr>),
    /// Operators of one level among `+ -` or `* / %`, from left to right.
    Arithmetic {
        first: Box<Expr>,
        rest: Vec<(ArithmeticOp, Span, Expr)>,
    },
    Compare {
        op: CompareOp,
        op_span: Span,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    And(Vec<Expr>),
    Or(Vec<Expr>),
    /// `a ?? b ?? c`, from left to right.
    Coalesce(Vec<Expr>),
    /// Conditions with their branches, then the `else`.
    If {
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Match {
        subject: Option<Box<Expr>>,
        arms: Vec<Arm>,
    },
    Array(Vec<Expr>),
    Comprehension {
        item: Box<Expr>,
        binder: Name,
        source: Box<Expr>,
        predicate: Option<Box<Expr>>,
    },
    Map(Vec<(MapKey, Expr)>),
    Member {
        base: Box<Expr>,
        name: Name,
    },
    Call {
        base: Box<Expr>,
        name: Name,
        args: Vec<Arg>,
    },
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
    },
}

/// An arm of a `match`; no pattern for `_`.
#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) span: Span,
    pub(crate) pattern: Option<Expr>,
    pub(crate) body: Expr,
}

/// An argument of a method call.
#[derive(Debug)]
pub(crate) enum Arg {
    Value(Expr),
    /// `it => body`.
    Closure(Span, Expr),
}

/// A key of a map literal.
#[derive(Debug)]
pub(crate) enum MapKey {
    /// The text as it is stored, its escape included.
    Static(String),
    Computed(Expr),
}

/// `+ - * / %`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArithmeticOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl ArithmeticOp {
    /// How it is written.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            ArithmeticOp::Add => "+",
            ArithmeticOp::Subtract => "-",
            ArithmeticOp::Multiply => "*",
            ArithmeticOp::Divide => "/",
            ArithmeticOp::Remainder => "%",
        }
    }

    /// Its name in an overflow message.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            ArithmeticOp::Add => "addition",
            ArithmeticOp::Subtract => "subtraction",
            ArithmeticOp::Multiply => "multiplication",
            ArithmeticOp::Divide | ArithmeticOp::Remainder => "division",
        }
    }
}

/// `== != < <= > >=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl CompareOp {
    /// How it is written.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            CompareOp::Equal => "==",
            CompareOp::NotEqual => "!=",
            CompareOp::Less => "<",
            CompareOp::LessOrEqual => "<=",
            CompareOp::Greater => ">",
            CompareOp::GreaterOrEqual => ">=",
        }
    }

    /// Whether it only asks for equality.
    pub(crate) fn is_equality(self) -> bool {
        matches!(self, CompareOp::Equal | CompareOp::NotEqual)
    }
}

impl Expr {
    /// The sub-expressions, in evaluation order.
    pub(crate) fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Text(_)
            | ExprKind::Date(_)
            | ExprKind::Now
            | ExprKind::It
            | ExprKind::Name(_) => Vec::new(),
            ExprKind::System { args, .. } | ExprKind::Aggregate { args, .. } | ExprKind::LocalCall { args, .. } => {
                args.iter().collect()
            }
            ExprKind::Negate(inner) | ExprKind::Not(inner) => vec![inner],
            ExprKind::Arithmetic { first, rest } => {
                std::iter::once(&**first).chain(rest.iter().map(|(_, _, operand)| operand)).collect()
            }
            ExprKind::Compare { left, right, .. } => vec![left, right],
            ExprKind::And(all) | ExprKind::Or(all) | ExprKind::Coalesce(all) | ExprKind::Array(all) => {
                all.iter().collect()
            }
            ExprKind::If { branches, otherwise } => {
                branches.iter().flat_map(|(when, then)| [when, then]).chain(otherwise.as_deref()).collect()
            }
            ExprKind::Match { subject, arms } => subject
                .as_deref()
                .into_iter()
                .chain(arms.iter().flat_map(|arm| arm.pattern.as_ref().into_iter().chain([&arm.body])))
                .collect(),
            ExprKind::Comprehension { item, source, predicate, .. } => {
                [Some(&**source), predicate.as_deref(), Some(&**item)].into_iter().flatten().collect()
            }
            ExprKind::Map(entries) => {
                entries.iter().flat_map(|(key, value)| key.computed().into_iter().chain([value])).collect()
            }
            ExprKind::Member { base, .. } => vec![base],
            ExprKind::Call { base, args, .. } => std::iter::once(&**base).chain(args.iter().map(Arg::expr)).collect(),
            ExprKind::Index { base, index } => vec![base, index],
        }
    }
}

impl MapKey {
    fn computed(&self) -> Option<&Expr> {
        match self {
            MapKey::Static(_) => None,
            MapKey::Computed(expr) => Some(expr),
        }
    }
}

impl Arg {
    /// The value, or the body of the closure.
    pub(crate) fn expr(&self) -> &Expr {
        match self {
            Arg::Value(expr) | Arg::Closure(_, expr) => expr,
        }
    }
}
