//! Expressions: an operator stack instead of a function for each precedence level, so that nesting costs little
//! native stack.

use std::collections::HashSet;

use clinker_diagnostics::{Span, suggestion};

use super::ast::{Arg, ArithmeticOp, Arm, CompareOp, Expr, ExprKind, MapKey, Name};
use super::parser::{Parse, Parser};
use super::token::{Key, Tok};

/// The functions that are aggregates when directly followed by `(`.
const AGGREGATES: [&str; 7] = ["sum", "count", "avg", "min", "max", "collect", "weighted_avg"];
/// The namespaces after `$`.
const NAMESPACES: [&str; 8] = ["pipeline", "vars", "config", "record", "meta", "source", "doc", "window"];

/// An operator that waits for its right operand.
#[derive(Clone, Copy)]
enum Pending {
    Negate(Span),
    Not(Span),
    Arithmetic(ArithmeticOp, Span),
    Compare(CompareOp, Span),
    And,
    Or,
    Coalesce,
}

impl Pending {
    fn binding(self) -> u8 {
        match self {
            Pending::Negate(_) => 8,
            Pending::Arithmetic(op, _) if is_term(op) => 7,
            Pending::Arithmetic(..) => 6,
            Pending::Compare(..) => 5,
            Pending::Not(_) => 4,
            Pending::And => 3,
            Pending::Or => 2,
            Pending::Coalesce => 1,
        }
    }
}

fn is_term(op: ArithmeticOp) -> bool {
    matches!(op, ArithmeticOp::Multiply | ArithmeticOp::Divide | ArithmeticOp::Remainder)
}

impl Parser {
    /// An expression.
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        self.enter()?;
        let (mut operands, mut operators) = (Vec::new(), Vec::new());
        loop {
            self.prefixes(&mut operators)?;
            let operand = self.postfix()?;
            operands.push(operand);
            let Some(operator) = self.binary_operator() else { break };
            while let Some(top) = operators.last().copied() {
                let left_first = !matches!(operator, Pending::Coalesce);
                if top.binding() < operator.binding() || (top.binding() == operator.binding() && !left_first) {
                    break;
                }
                self.refuse_chain(top, operator)?;
                self.reduce(&mut operands, &mut operators)?;
            }
            operators.push(operator);
            self.take();
        }
        while !operators.is_empty() {
            self.reduce(&mut operands, &mut operators)?;
        }
        self.depth -= 1;
        Ok(operands.pop().expect("an operand is pushed before the loop ends"))
    }

    fn prefixes(&mut self, operators: &mut Vec<Pending>) -> Parse<()> {
        loop {
            let span = self.span();
            if self.peek().is("-") {
                operators.push(Pending::Negate(span));
            } else if *self.peek() == Tok::Key(Key::Not) {
                if operators.last().is_some_and(|top| top.binding() > 4) {
                    let help = "parenthesise it: `not` binds less tightly than this operator";
                    return self.fail(span, "`not` cannot stand here", Some(help));
                }
                operators.push(Pending::Not(span));
            } else {
                return Ok(());
            }
            self.take();
            let prefixes = operators.iter().filter(|own| matches!(own, Pending::Negate(_) | Pending::Not(_))).count();
            self.check_prefixes(prefixes)?;
        }
    }

    fn binary_operator(&self) -> Option<Pending> {
        let span = self.span();
        Some(match self.peek() {
            Tok::Key(Key::And) => Pending::And,
            Tok::Key(Key::Or) => Pending::Or,
            Tok::Punct(punct) => match *punct {
                "+" => Pending::Arithmetic(ArithmeticOp::Add, span),
                "-" => Pending::Arithmetic(ArithmeticOp::Subtract, span),
                "*" => Pending::Arithmetic(ArithmeticOp::Multiply, span),
                "/" => Pending::Arithmetic(ArithmeticOp::Divide, span),
                "%" => Pending::Arithmetic(ArithmeticOp::Remainder, span),
                "==" => Pending::Compare(CompareOp::Equal, span),
                "!=" => Pending::Compare(CompareOp::NotEqual, span),
                "<" => Pending::Compare(CompareOp::Less, span),
                "<=" => Pending::Compare(CompareOp::LessOrEqual, span),
                ">" => Pending::Compare(CompareOp::Greater, span),
                ">=" => Pending::Compare(CompareOp::GreaterOrEqual, span),
                "??" => Pending::Coalesce,
                _ => return None,
            },
            _ => return None,
        })
    }

    fn refuse_chain(&mut self, top: Pending, operator: Pending) -> Parse<()> {
        let (Pending::Compare(first, _), Pending::Compare(second, span)) = (top, operator) else {
            return Ok(());
        };
        let (first, second) = (first.sign(), second.sign());
        let help = format!("write `(a {first} b) and (b {second} c)`");
        self.fail(span, format!("comparisons cannot be chained: `{first}` before `{second}`"), Some(&help))
    }

    /// Applies the last waiting operator. Operators of one level join the chain on their left.
    fn reduce(&mut self, operands: &mut Vec<Expr>, operators: &mut Vec<Pending>) -> Parse<()> {
        let operator = operators.pop().expect("reduce is called with a waiting operator");
        let right = operands.pop().expect("each operator has an operand on its right");
        if let Pending::Negate(span) | Pending::Not(span) = operator {
            let (whole, inner) = (span.to(right.span), Box::new(right));
            let negate = matches!(operator, Pending::Negate(_));
            let kind = if negate { ExprKind::Negate(inner) } else { ExprKind::Not(inner) };
            let expr = self.node(kind, whole)?;
            operands.push(expr);
            return Ok(());
        }
        if matches!(operator, Pending::Coalesce) {
            return self.reduce_coalesce(right, operands, operators);
        }
        let left = operands.pop().expect("a binary operator has an operand on its left");
        let span = left.span.to(right.span);
        let height = left.height.max(right.height) + 1;
        let (kind, height) = match operator {
            Pending::Compare(op, op_span) => {
                let (left, right) = (Box::new(left), Box::new(right));
                (ExprKind::Compare { op, op_span, left, right }, height)
            }
            Pending::Arithmetic(op, op_span) => join_arithmetic(op, op_span, left, right),
            Pending::And => join_list(left, right, ExprKind::And, |kind| matches!(kind, ExprKind::And(_))),
            _ => join_list(left, right, ExprKind::Or, |kind| matches!(kind, ExprKind::Or(_))),
        };
        let expr = self.checked(Expr { span, kind, height })?;
        operands.push(expr);
        Ok(())
    }

    /// `a ?? b ?? c` is `a ?? (b ?? c)`: one list. Nothing binds less tightly, so all waiting operators are `??`.
    fn reduce_coalesce(&mut self, last: Expr, operands: &mut Vec<Expr>, operators: &mut Vec<Pending>) -> Parse<()> {
        let start = operands.len() - operators.len() - 1;
        operators.clear();
        let mut all = operands.split_off(start);
        all.push(last);
        let span = all[0].span.to(all[all.len() - 1].span);
        let expr = self.node(ExprKind::Coalesce(all), span)?;
        operands.push(expr);
        Ok(())
    }

    fn postfix(&mut self) -> Parse<Expr> {
        let mut expr = self.primary()?;
        loop {
            if self.accept(".") {
                let name = self.member()?;
                let base = Box::new(expr);
                let kind = if self.peek().is("(") {
                    ExprKind::Call { base, name, args: self.arguments()? }
                } else {
                    ExprKind::Member { base, name }
                };
                expr = self.extended(kind)?;
            } else if self.peek().is("[") {
                let index = self.bracketed("[", "]", Self::expression)?;
                expr = self.extended(ExprKind::Index { base: Box::new(expr), index: Box::new(index) })?;
            } else {
                return Ok(expr);
            }
        }
    }

    fn extended(&mut self, kind: ExprKind) -> Parse<Expr> {
        let start = match &kind {
            ExprKind::Call { base, .. } | ExprKind::Member { base, .. } | ExprKind::Index { base, .. } => {
                base.span.start
            }
            _ => self.end(),
        };
        let span = Span::new(start, self.end());
        self.node(kind, span)
    }

    /// Something between brackets, where newlines are blanks.
    fn bracketed<T>(&mut self, open: &'static str, close: &'static str, inner: fn(&mut Self) -> Parse<T>) -> Parse<T> {
        self.expect(open, "here")?;
        let outer = std::mem::replace(&mut self.ignore_newlines, true);
        let parsed = inner(self)?;
        self.expect(close, &format!("to close the `{open}`"))?;
        self.ignore_newlines = outer;
        Ok(parsed)
    }

    fn arguments(&mut self) -> Parse<Vec<Arg>> {
        self.bracketed("(", ")", |parser| {
            let mut args = Vec::new();
            while !parser.peek().is(")") {
                args.push(parser.argument()?);
                if !parser.peek().is(")") {
                    parser.expect(",", "or `)` after an argument")?;
                    if parser.peek().is(")") {
                        return parser.unexpected("an argument");
                    }
                }
            }
            Ok(args)
        })
    }

    fn argument(&mut self) -> Parse<Arg> {
        let span = self.span();
        if self.peek_second().is("=>") {
            if let Tok::Ident(name) = self.peek() {
                let message = format!("the parameter of a closure is always named `it`, not `{name}`");
                return self.fail(span, message, Some("write `it => …`"));
            }
            if self.accept_key(Key::It) {
                self.take();
                let body = self.expression()?;
                return Ok(Arg::Closure(span.to(body.span), body));
            }
        }
        Ok(Arg::Value(self.expression()?))
    }

    fn values(&mut self) -> Parse<Vec<Expr>> {
        let args = self.arguments()?;
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            match arg {
                Arg::Value(expr) => values.push(expr),
                Arg::Closure(span, _) => return self.fail(span, "a closure is allowed only in a method call", None),
            }
        }
        Ok(values)
    }

    fn primary(&mut self) -> Parse<Expr> {
        let span = self.span();
        let kind = match self.peek().clone() {
            Tok::Int(value) => ExprKind::Int(value),
            Tok::Float(value) => ExprKind::Float(value),
            Tok::Text(text) => ExprKind::Text(text),
            Tok::Date(days) => ExprKind::Date(days),
            Tok::Key(Key::Null) => ExprKind::Null,
            Tok::Key(Key::True) => ExprKind::Bool(true),
            Tok::Key(Key::False) => ExprKind::Bool(false),
            Tok::Key(Key::It) => ExprKind::It,
            Tok::Key(Key::Now) if self.peek_second().is("(") => {
                return self.fail(span, "`now` is not a function: write it without parentheses", None);
            }
            Tok::Key(Key::Now) => ExprKind::Now,
            Tok::Key(Key::If) => return self.if_expression(),
            Tok::Key(Key::Match) => return self.match_expression(),
            Tok::Ident(_) => return self.name_or_call(),
            Tok::Punct("(") => {
                let mut inner = self.bracketed("(", ")", Self::expression)?;
                inner.span = Span::new(span.start, self.end());
                return Ok(inner);
            }
            Tok::Punct("[") => return self.array(),
            Tok::Punct("{") => return self.map(),
            Tok::Punct("$") => return self.system_reference(),
            Tok::Punct("_") => {
                return self.fail(span, "`_` is only the pattern of the last arm of a `match`", None);
            }
            Tok::Key(key) if !matches!(key, Key::Then | Key::Else | Key::In | Key::For) => {
                let message = format!("`{}` is a reserved word and cannot stand in an expression here", key.word());
                return self.fail(span, message, None);
            }
            Tok::Punct("/") => {
                let help = "a comment begins with `#`";
                return self.fail(span, "expected an expression, found `/`", Some(help));
            }
            _ => return self.unexpected("an expression"),
        };
        self.take();
        self.node(kind, span)
    }

    fn name_or_call(&mut self) -> Parse<Expr> {
        let name = self.name("here")?;
        let start = name.span;
        let kind = if !self.peek().is("(") {
            ExprKind::Name(name.text)
        } else if AGGREGATES.contains(&name.text.as_str()) {
            let args = if self.peek_second().is("*") {
                self.bracketed("(", ")", |parser| parser.expect("*", "here"))?;
                Vec::new()
            } else {
                self.values()?
            };
            ExprKind::Aggregate { name, args }
        } else {
            ExprKind::LocalCall { name, args: self.values()? }
        };
        let span = Span::new(start.start, self.end());
        self.node(kind, span)
    }

    fn if_expression(&mut self) -> Parse<Expr> {
        let start = self.span();
        let (mut branches, mut otherwise) = (Vec::new(), None);
        self.take();
        loop {
            let condition = self.expression()?;
            self.expect_key(Key::Then, "after the condition")?;
            branches.push((condition, self.expression()?));
            if !self.accept_key(Key::Else) {
                break;
            }
            if !self.accept_key(Key::If) {
                otherwise = Some(Box::new(self.expression()?));
                break;
            }
        }
        let span = Span::new(start.start, self.end());
        self.node(ExprKind::If { branches, otherwise }, span)
    }

    fn match_expression(&mut self) -> Parse<Expr> {
        let start = self.span();
        self.take();
        let subject = if self.peek().is("{") { None } else { Some(Box::new(self.expression()?)) };
        self.expect("{", "before the arms of a `match`")?;
        let outer = std::mem::replace(&mut self.ignore_newlines, false);
        let mut arms = Vec::new();
        loop {
            self.skip_newlines();
            if self.peek().is("}") {
                break;
            }
            arms.push(self.arm()?);
            if !self.accept(",") && *self.peek() != Tok::Newline && !self.peek().is("}") {
                return self.unexpected("`,`, a new line or `}` after an arm");
            }
        }
        if arms.is_empty() {
            return self.fail(self.span(), "a `match` needs at least one arm", None);
        }
        self.take();
        self.ignore_newlines = outer;
        let span = Span::new(start.start, self.end());
        self.node(ExprKind::Match { subject, arms }, span)
    }

    fn arm(&mut self) -> Parse<Arm> {
        let start = self.span();
        let pattern = if self.accept("_") { None } else { Some(self.expression()?) };
        self.expect("=>", "after the pattern")?;
        let body = self.expression()?;
        Ok(Arm { span: start.to(body.span), pattern, body })
    }

    fn array(&mut self) -> Parse<Expr> {
        let start = self.span();
        let kind = self.bracketed("[", "]", |parser| {
            let mut items = Vec::new();
            while !parser.peek().is("]") {
                items.push(parser.expression()?);
                if items.len() == 1 && parser.accept_key(Key::For) {
                    let item = Box::new(items.remove(0));
                    return parser.comprehension(item);
                }
                if !parser.accept(",") && !parser.peek().is("]") {
                    return parser.unexpected("`,` or `]` after an element");
                }
            }
            Ok(ExprKind::Array(items))
        })?;
        let span = Span::new(start.start, self.end());
        self.node(kind, span)
    }

    fn comprehension(&mut self, item: Box<Expr>) -> Parse<ExprKind> {
        let binder = self.name("after `for`")?;
        self.expect_key(Key::In, "after the name")?;
        let source = Box::new(self.expression()?);
        let predicate = if self.accept_key(Key::If) { Some(Box::new(self.expression()?)) } else { None };
        Ok(ExprKind::Comprehension { item, binder, source, predicate })
    }

    fn map(&mut self) -> Parse<Expr> {
        let start = self.span();
        let kind = self.bracketed("{", "}", |parser| {
            let (mut entries, mut keys) = (Vec::new(), HashSet::new());
            while !parser.peek().is("}") {
                let key = parser.map_key(&mut keys)?;
                parser.expect(":", "after the key")?;
                entries.push((key, parser.expression()?));
                if !parser.accept(",") && !parser.peek().is("}") {
                    return parser.unexpected("`,` or `}` after an entry");
                }
            }
            Ok(ExprKind::Map(entries))
        })?;
        let span = Span::new(start.start, self.end());
        self.node(kind, span)
    }

    fn map_key(&mut self, keys: &mut HashSet<String>) -> Parse<MapKey> {
        let span = self.span();
        let text = match self.peek().clone() {
            Tok::Punct("[") => return Ok(MapKey::Computed(self.bracketed("[", "]", Self::expression)?)),
            Tok::Ident(text) | Tok::Text(text) => text,
            Tok::Key(key) => {
                let help = format!("write `\"{}\"`", key.word());
                return self.fail(span, format!("the key `{}` is a reserved word", key.word()), Some(&help));
            }
            _ => return self.unexpected("a key"),
        };
        self.take();
        let Some(logical) = logical_key(&text) else {
            return self.fail(span, format!("invalid map key '{text}'"), None);
        };
        if !keys.insert(logical.to_owned()) {
            return self.fail(span, format!("duplicate map key '{logical}'"), None);
        }
        Ok(MapKey::Static(text))
    }

    fn system_reference(&mut self) -> Parse<Expr> {
        let start = self.span();
        self.take();
        let namespace = match self.peek() {
            Tok::Ident(_) => self.name("after `$`")?,
            _ => return self.unexpected("a namespace after `$`"),
        };
        let known = namespace.text.as_str();
        if !NAMESPACES.contains(&known) {
            let help = suggestion(known, NAMESPACES);
            return self.fail(start.to(namespace.span), format!("unknown namespace `${known}`"), help.as_deref());
        }
        self.expect(".", "after the namespace")?;
        let mut members = vec![self.member()?];
        let mut args = Vec::new();
        match known {
            "doc" => {
                self.expect(".", "after the section")?;
                members.push(self.member()?);
            }
            "source" => self.source_member(&mut members)?,
            "window" if !self.peek().is("(") => {
                return self.unexpected("`(` after a window function");
            }
            "window" => args = self.values()?,
            _ => {}
        }
        let span = Span::new(start.start, self.end());
        self.node(ExprKind::System { namespace, members, args }, span)
    }

    /// The second name of `$source.a.b`, unless it is a method call.
    fn source_member(&mut self, members: &mut Vec<Name>) -> Parse<()> {
        if self.peek().is(".") && matches!(self.peek_second(), Tok::Ident(_)) && !self.third_is_open() {
            self.take();
            members.push(self.member()?);
        }
        Ok(())
    }
}

/// The key that a text denotes: one leading backslash takes the meaning from a structural name. Nothing for a text that
/// is no key.
pub(crate) fn logical_key(text: &str) -> Option<&str> {
    match text.strip_prefix('\\') {
        None => Some(text),
        Some(rest) if rest.starts_with(['@', '\\']) || rest == "#text" => Some(rest),
        Some(_) => None,
    }
}

/// A chain holds operators of one level, so its first one tells whether another joins it.
fn join_arithmetic(op: ArithmeticOp, op_span: Span, left: Expr, right: Expr) -> (ExprKind, u16) {
    let below = right.height + 1;
    match left.kind {
        ExprKind::Arithmetic { first, mut rest } if is_term(rest[0].0) == is_term(op) => {
            rest.push((op, op_span, right));
            (ExprKind::Arithmetic { first, rest }, left.height.max(below))
        }
        kind => {
            let height = below.max(left.height + 1);
            let first = Box::new(Expr { span: left.span, kind, height: left.height });
            (ExprKind::Arithmetic { first, rest: vec![(op, op_span, right)] }, height)
        }
    }
}

fn join_list(left: Expr, right: Expr, make: fn(Vec<Expr>) -> ExprKind, same: fn(&ExprKind) -> bool) -> (ExprKind, u16) {
    let below = right.height + 1;
    if same(&left.kind) {
        let (ExprKind::And(mut all) | ExprKind::Or(mut all)) = left.kind else {
            return (make(vec![right]), below);
        };
        all.push(right);
        return (make(all), left.height.max(below));
    }
    let height = below.max(left.height + 1);
    (make(vec![left, right]), height)
}
