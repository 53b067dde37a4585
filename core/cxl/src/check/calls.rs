//! Method calls: name, receiver, arguments, result.

use clinker_diagnostics::Span;

use super::infer::Checker;
use super::types::{Base, Ty};
use super::unknown;
use crate::functions::{self, Function, Prepared};
use crate::ir::{Node, NodeKind};
use crate::syntax::ast::{Arg, Expr, Name};

impl Checker<'_> {
    pub(super) fn call(&mut self, span: Span, base: &Expr, name: &Name, args: &[Arg]) -> Option<Node> {
        let receiver = self.expr(base);
        let closure = args.iter().find(|arg| matches!(arg, Arg::Closure(..)));
        if closure.is_some() {
            return self.closure_call(span, receiver, name, args);
        }
        let values: Vec<_> = args.iter().map(|arg| self.expr(arg.expr())).collect();
        let mut operands = vec![receiver?];
        operands.extend(values.into_iter().collect::<Option<Vec<_>>>()?);
        if name.text == "catch" {
            return self.catch(span, name, operands);
        }
        let Some(function) = functions::find(&name.text) else {
            self.unknown_method(name);
            return None;
        };
        if self.wants_closure(name) {
            return None;
        }
        self.check_operands(function, name, &operands)?;
        let prepared = self.prepare(function, &operands)?;
        if name.text == "debug" {
            return self.debug(span, name, operands);
        }
        let Some(ty) = function.result.of(&operands) else {
            let bases: Vec<&str> = operands.iter().map(|operand| operand.ty.base.name()).collect();
            let message = format!("`{}` cannot combine {}", function.name, bases.join(" and "));
            let help = "convert with `.to_decimal()` or `.to_float()`".to_owned();
            self.error(span, message).help = Some(help);
            return None;
        };
        Some(Node { kind: NodeKind::Call { function, operands, prepared }, ty, span })
    }

    /// `a.catch(b)` is `a ?? b`.
    fn catch(&mut self, span: Span, name: &Name, operands: Vec<Node>) -> Option<Node> {
        if operands.len() != 2 {
            let message = format!("`catch` takes 1 argument, not {}: catch(fallback)", operands.len() - 1);
            self.error(name.span, message);
            return None;
        }
        self.coalesced(span, "catch", operands)
    }

    /// `a.debug(label)` is `a`, logged.
    fn debug(&mut self, span: Span, name: &Name, operands: Vec<Node>) -> Option<Node> {
        if !self.logs {
            self.error(name.span, "`debug` is available only in the program of a Transform");
            return None;
        }
        let mut operands = operands.into_iter().map(Box::new);
        let inner = operands.next()?;
        let ty = inner.ty;
        Some(Node { kind: NodeKind::Debug { inner, label: operands.next() }, ty, span })
    }

    fn unknown_method(&mut self, name: &Name) {
        let word = name.text.as_str();
        self.error(name.span, format!("unknown function `{word}`")).help = unknown::method(word);
    }

    fn check_operands(&mut self, function: &'static Function, name: &Name, operands: &[Node]) -> Option<()> {
        let given = operands.len() - 1;
        let most = if function.variadic { usize::MAX } else { function.params.len() };
        if given < function.required() || given > most {
            let wanted = function.argument_count();
            let message = format!("`{}` takes {wanted}, not {given}: {}", function.name, function.signature());
            self.error(name.span, message);
            return None;
        }
        let receiver = operands[0].ty.base;
        let mut sound = true;
        if !function.receiver.accepts(receiver) {
            let message = format!("`{}` needs a receiver of type {}, not {receiver}", function.name, function.receiver);
            self.error(name.span, message).help = conversion(function, receiver);
            sound = false;
        }
        for (index, operand) in operands[1..].iter().enumerate() {
            let param = function.param(index);
            if !param.accepts.accepts(operand.ty.base) {
                let message = format!(
                    "the argument `{}` of `{}` must be {}, not {}",
                    param.name, function.name, param.accepts, operand.ty.base
                );
                self.error(operand.span, message);
                sound = false;
            }
        }
        sound.then_some(())
    }

    /// Compiles a literal pattern or date format once.
    fn prepare(&mut self, function: &'static Function, operands: &[Node]) -> Option<Prepared> {
        let Some((prepare, argument)) = function.prepares else { return Some(Prepared::None) };
        let Some(Node { kind: NodeKind::Literal(clinker_record::Value::String(text)), span, .. }) =
            operands.get(argument + 1)
        else {
            return Some(Prepared::None);
        };
        match prepare.compile(text) {
            Ok(prepared) => Some(prepared),
            Err(reason) => {
                let message = format!("invalid {} '{text}': {reason}", prepare.noun());
                self.error(*span, message);
                None
            }
        }
    }
}

/// The way from a value that the function does not take to one that it takes.
fn conversion(function: &Function, receiver: Base) -> Option<String> {
    const WAYS: [(Base, &str); 6] = [
        (Base::String, "to_string"),
        (Base::Date, "to_date"),
        (Base::DateTime, "to_datetime"),
        (Base::Int, "to_int"),
        (Base::Decimal, "to_decimal"),
        (Base::Float, "to_float"),
    ];
    if matches!(receiver, Base::Array | Base::Map) {
        return None;
    }
    let (_, way) = WAYS.iter().find(|(base, _)| function.receiver.accepts(*base))?;
    Some(format!("convert the value first, with `.{way}()`"))
}

impl functions::ResultType {
    /// The type of a call, if the operands join.
    fn of(self, operands: &[Node]) -> Option<Ty> {
        use functions::ResultType;
        let receiver = operands[0].ty;
        let number = |base: Base| Ty::plain(if receiver.base.is_dynamic() { Base::Numeric } else { base });
        let ty = match self {
            ResultType::Fixed(base) => Ty::plain(base),
            ResultType::Receiver => Ty::plain(receiver.base),
            ResultType::Number => number(receiver.base),
            ResultType::Rounded => number(if receiver.base == Base::Decimal { Base::Decimal } else { Base::Float }),
            ResultType::Whole => number(if receiver.base == Base::Decimal { Base::Decimal } else { Base::Int }),
            ResultType::Join => {
                let mut joined = receiver;
                for operand in &operands[1..] {
                    joined = joined.join(operand.ty)?;
                }
                Ty::plain(if joined.base.is_dynamic() { Base::Numeric } else { joined.base })
            }
        };
        Some(operands.iter().fold(ty, |ty, operand| ty.null_like(operand.ty)))
    }
}
