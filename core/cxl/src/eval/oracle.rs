//! The plain interpreter: one row at a time over [`Value`], written from the rules and not from the kernels.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::sync::Arc;

use clinker_record::{Batch, Decimal, Origin, OriginRun, Schema, Value, text};

use super::cell::Cell;
use crate::check::types::Base;
use crate::functions::{Answer, Call, Kinds, int_of};
use crate::ir::{Body, Node, NodeKind, Step, SystemValue};
use crate::outcome::ErrorKind;
use crate::run::{RunContext, SourceContext, SourceFile};
use crate::syntax::ast::{ArithmeticOp, CompareOp};

/// Kind and message of a failure.
pub(crate) type Failed = (ErrorKind, String);
pub(super) type Evaluated = Result<Value, Failed>;

/// What a program makes of one row.
#[derive(Debug, PartialEq)]
pub(crate) enum RowOutcome {
    Kept(Vec<Value>),
    Filtered,
    Failed(Option<String>, Failed),
}

/// One row with its variables.
pub(crate) struct Row<'b> {
    pub(crate) batch: &'b Batch,
    pub(crate) run: &'b RunContext,
    pub(crate) row: usize,
    slots: Vec<Value>,
    /// The elements bound around the expression, by level.
    pub(super) bound: RefCell<Vec<Value>>,
    /// What `debug` logged.
    pub(super) logged: RefCell<Vec<String>>,
}

impl<'b> Row<'b> {
    pub(crate) fn new(batch: &'b Batch, run: &'b RunContext, row: usize) -> Self {
        Self { batch, run, row, slots: Vec::new(), bound: RefCell::default(), logged: RefCell::default() }
    }

    /// Runs a program.
    pub(crate) fn run(&mut self, body: &Body) -> RowOutcome {
        self.slots = vec![Value::Null; body.slots];
        for step in &body.steps {
            if matches!(step, Step::Trace { .. }) {
                continue;
            }
            let field = if let Step::Emit { field, .. } = step { Some(field.to_string()) } else { None };
            let value = match self.eval(step.node()) {
                Ok(value) => value,
                Err(failed) => return RowOutcome::Failed(field, failed),
            };
            match step {
                Step::Let { slot, .. } => self.slots[*slot] = value,
                Step::Emit { slot, .. } => {
                    if has_nan(&value) {
                        return RowOutcome::Failed(field, (ErrorKind::NanInOutput, "NaN in output".to_owned()));
                    }
                    self.slots[*slot] = value;
                }
                Step::Filter(_) => match truth(&value) {
                    Ok(Some(true)) => {}
                    Ok(_) => return RowOutcome::Filtered,
                    Err(failed) => return RowOutcome::Failed(None, failed),
                },
                Step::Discard(_) | Step::Trace { .. } => {}
            }
        }
        RowOutcome::Kept(body.outputs.iter().map(|output| self.slots[output.slot].clone()).collect())
    }

    /// Evaluates an expression.
    pub(crate) fn eval(&self, node: &Node) -> Evaluated {
        match &node.kind {
            NodeKind::Literal(value) => Ok(value.clone()),
            NodeKind::Column(index) => Ok(self.batch.columns[*index].value(self.row)),
            NodeKind::Slot(slot) => Ok(self.slots[*slot].clone()),
            NodeKind::Now => Ok(Value::DateTime(self.run.now)),
            NodeKind::System(value) => Ok(self.system(*value)),
            NodeKind::Document(path) => {
                let section = self.batch.origin.level(self.row).and_then(|level| level.section(&path.section));
                Ok(section.map_or(Value::Null, |section| section.field(&path.field)))
            }
            NodeKind::Negate(inner) => negate(&self.eval(inner)?),
            NodeKind::Not(inner) => Ok(truth(&self.eval(inner)?)?.map_or(Value::Null, |value| Value::Bool(!value))),
            NodeKind::Arithmetic { first, rest } => rest
                .iter()
                .try_fold(self.eval(first)?, |left, (op, _, right)| arithmetic(*op, &left, &self.eval(right)?)),
            NodeKind::Compare { op, left, right } => compare(*op, &self.eval(left)?, &self.eval(right)?),
            NodeKind::And(operands) => self.chain(operands, false),
            NodeKind::Or(operands) => self.chain(operands, true),
            NodeKind::Coalesce(operands) => self.coalesce(operands),
            NodeKind::If { branches, otherwise } => self.first_true(branches, otherwise),
            NodeKind::Match { subject: None, arms, otherwise } => self.first_true(arms, otherwise),
            NodeKind::Match { subject: Some(subject), arms, otherwise } => {
                let subject = self.eval(subject)?;
                for (pattern, body) in arms {
                    let pattern = self.eval(pattern)?;
                    let equal = match (&subject, &pattern) {
                        (Value::Null, Value::Null) => true,
                        _ => compare(CompareOp::Equal, &subject, &pattern)? == Value::Bool(true),
                    };
                    if equal {
                        return self.eval(body);
                    }
                }
                self.eval(otherwise)
            }
            NodeKind::Widen(base, inner) => Ok(match (self.eval(inner)?, base) {
                (Value::Int(value), Base::Float) => Value::Float(value as f64),
                (Value::Int(value), _) => Value::Decimal(Decimal::from_i64(value)),
                (other, _) => other,
            }),
            NodeKind::Call { .. } => self.call(node),
            _ => self.container(node),
        }
    }

    fn system(&self, value: SystemValue) -> Value {
        let (run, _) = self.batch.origin.locate(self.row);
        let source = &self.run.sources[usize::from(run.source)];
        let text = |text: &Arc<str>| Value::String(Arc::clone(text));
        match value {
            SystemValue::PipelineName => text(&self.run.pipeline_name),
            SystemValue::ExecutionId => text(&self.run.execution_id),
            SystemValue::BatchId => text(&self.run.batch_id),
            SystemValue::StartTime => Value::DateTime(self.run.start_time),
            SystemValue::SourceName => text(&source.name),
            SystemValue::SourceBatch => text(&source.batch),
            SystemValue::IngestionTimestamp => Value::DateTime(source.ingestion),
            SystemValue::SourceFile => text(&source.files[run.file as usize].shown),
            SystemValue::SourcePath => text(&source.files[run.file as usize].path),
            SystemValue::SourceRow => Value::Int(self.batch.origin.row_in_file(self.row) as i64),
        }
    }

    /// `and` stops at false, `or` at true.
    fn chain(&self, operands: &[Node], stop: bool) -> Evaluated {
        let mut result = Some(!stop);
        for operand in operands {
            match truth(&self.eval(operand)?)? {
                Some(value) if value == stop => return Ok(Value::Bool(stop)),
                None => result = None,
                Some(_) => {}
            }
        }
        Ok(result.map_or(Value::Null, Value::Bool))
    }

    fn coalesce(&self, operands: &[Node]) -> Evaluated {
        let (last, before) = operands.split_last().expect("a chain has operands");
        for operand in before {
            match self.eval(operand) {
                Ok(Value::Null) => {}
                Err((ErrorKind::DivisionByZero | ErrorKind::IntegerOverflow, _)) => {}
                other => return other,
            }
        }
        self.eval(last)
    }

    fn first_true(&self, branches: &[(Node, Node)], otherwise: &Node) -> Evaluated {
        for (condition, then) in branches {
            if truth(&self.eval(condition)?)? == Some(true) {
                return self.eval(then);
            }
        }
        self.eval(otherwise)
    }

    fn call(&self, node: &Node) -> Evaluated {
        let NodeKind::Call { function, operands, prepared } = &node.kind else {
            return Ok(Value::Null);
        };
        let receiver = self.eval(&operands[0])?;
        if receiver.is_null() && !function.sees_null {
            return Ok(Value::Null);
        }
        let mut values = vec![receiver];
        for operand in &operands[1..] {
            values.push(self.eval(operand)?);
        }
        if !function.sees_null && !function.receiver.holds(Cell::of(&values[0])) {
            return Ok(Value::Null);
        }
        for (index, value) in values[1..].iter_mut().enumerate() {
            let accepts = function.param(index).accepts;
            if function.sees_any_argument || accepts.holds(Cell::of(value)) {
                continue;
            }
            *value = match value {
                Value::Float(float) if accepts == Kinds::INT => int_of(float.trunc()).map_or(Value::Null, Value::Int),
                Value::Decimal(decimal) if accepts == Kinds::INT => decimal.to_i64().map_or(Value::Null, Value::Int),
                _ => Value::Null,
            };
            if value.is_null() {
                return Ok(Value::Null);
            }
        }
        let cells: Vec<Cell<'_>> = values.iter().map(Cell::of).collect();
        let mut text = String::new();
        let mut call = Call::new(function, prepared);
        let answer =
            (function.call)(&mut call, &cells, &mut text).map_err(|error| (error.kind, error.message.into_owned()))?;
        Ok(match answer {
            Answer::Null => Value::Null,
            Answer::Bool(value) => Value::Bool(value),
            Answer::Int(value) => Value::Int(value),
            Answer::Float(value) => Value::Float(value),
            Answer::Decimal(value) => Value::Decimal(value),
            Answer::Date(value) => Value::Date(value),
            Answer::DateTime(value) => Value::DateTime(value),
            Answer::Built => call.take_built(),
            Answer::Text => Value::String(text.into()),
            Answer::Operand(index) => values[index].clone(),
            Answer::Slice(start, end) => match &values[0] {
                Value::String(whole) => Value::String(whole[start..end].into()),
                _ => Value::Null,
            },
        })
    }
}

pub(super) fn mismatch(expected: &str, got: &Value) -> Failed {
    (ErrorKind::TypeMismatch, format!("type mismatch: expected {expected}, got {}", got.type_name()))
}

fn overflow(what: &str) -> Failed {
    (ErrorKind::IntegerOverflow, format!("integer overflow in {what}"))
}

pub(super) fn truth(value: &Value) -> Result<Option<bool>, Failed> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(*value)),
        other => Err(mismatch("Bool", other)),
    }
}

fn negate(value: &Value) -> Evaluated {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Int(i64::MIN) => Err(overflow("negation")),
        Value::Int(value) => Ok(Value::Int(-value)),
        Value::Float(value) => Ok(Value::Float(-value)),
        Value::Decimal(value) => Ok(Value::Decimal(value.checked_neg().expect("a decimal has a negation"))),
        other => Err(mismatch("a number", other)),
    }
}

fn as_float(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

fn as_decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::Int(value) => Some(Decimal::from_i64(*value)),
        Value::Decimal(value) => Some(*value),
        _ => None,
    }
}

fn arithmetic(op: ArithmeticOp, left: &Value, right: &Value) -> Evaluated {
    let divides = matches!(op, ArithmeticOp::Divide | ArithmeticOp::Remainder);
    let zero = Err((ErrorKind::DivisionByZero, "division by zero".to_owned()));
    if left.is_null() || right.is_null() {
        return Ok(Value::Null);
    }
    if let (Value::Int(a), Value::Int(b)) = (left, right) {
        // 128 bits hold every result of two 64-bit numbers.
        let (a, b) = (i128::from(*a), i128::from(*b));
        let exact = match op {
            _ if divides && b == 0 => return zero,
            ArithmeticOp::Add => a + b,
            ArithmeticOp::Subtract => a - b,
            ArithmeticOp::Multiply => a * b,
            ArithmeticOp::Divide => a / b,
            ArithmeticOp::Remainder => a % b,
        };
        return i64::try_from(exact).map(Value::Int).map_err(|_| overflow(op.noun()));
    }
    if let (Value::String(a), Value::String(b), ArithmeticOp::Add) = (left, right, op) {
        return Ok(Value::String(format!("{a}{b}").into()));
    }
    if let (Some(a), Some(b)) = (as_float(left), as_float(right)) {
        return match op {
            _ if divides && b == 0.0 => zero,
            ArithmeticOp::Add => Ok(Value::Float(a + b)),
            ArithmeticOp::Subtract => Ok(Value::Float(a - b)),
            ArithmeticOp::Multiply => Ok(Value::Float(a * b)),
            ArithmeticOp::Divide => Ok(Value::Float(a / b)),
            ArithmeticOp::Remainder => Ok(Value::Float(a % b)),
        };
    }
    if let (Some(a), Some(b)) = (as_decimal(left), as_decimal(right)) {
        let result = match op {
            _ if divides && b.is_zero() => return zero,
            ArithmeticOp::Add => a.checked_add(b),
            ArithmeticOp::Subtract => a.checked_sub(b),
            ArithmeticOp::Multiply => a.checked_mul(b),
            ArithmeticOp::Divide => a.checked_div(b),
            ArithmeticOp::Remainder => a.checked_rem(b),
        };
        return result.map(Value::Decimal).ok_or_else(|| overflow("decimal"));
    }
    let number = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_) | Value::Decimal(_));
    Err(match (number(left), number(right)) {
        (true, true) => mismatch(left.type_name(), right),
        (true, false) => mismatch("a number", right),
        (false, _) if op != ArithmeticOp::Add => mismatch("a number", left),
        (false, _) if matches!(left, Value::String(_)) => mismatch("String", right),
        (false, _) => mismatch("a number or a String", left),
    })
}

fn compare(op: CompareOp, left: &Value, right: &Value) -> Evaluated {
    let equality = matches!(op, CompareOp::Equal | CompareOp::NotEqual);
    if left.is_null() || right.is_null() {
        return Ok(Value::Null);
    }
    let order = match (left, right) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Float(b)) => exact_order(*a, *b),
        (Value::Float(a), Value::Int(b)) => exact_order(*b, *a).map(Ordering::reverse),
        (Value::String(a), Value::String(b)) => Some(a.chars().cmp(b.chars())),
        (Value::Date(a), Value::Date(b)) => Some(a.cmp(b)),
        (Value::DateTime(a), Value::DateTime(b)) => Some(a.cmp(b)),
        (Value::Decimal(_), Value::Float(_)) | (Value::Float(_), Value::Decimal(_)) => {
            return Err(mismatch(left.type_name(), right));
        }
        (Value::Bool(_), Value::Bool(_)) if !equality => return Err(mismatch("an orderable value", left)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Array(_), Value::Array(_)) | (Value::Map(_), Value::Map(_)) => {
            if !equality {
                return Err(mismatch("an orderable value", left));
            }
            return Ok(Value::Bool(contained(left, right) == (op == CompareOp::Equal)));
        }
        _ => match (as_decimal(left), as_decimal(right)) {
            (Some(a), Some(b)) => Some(a.numeric_cmp(b)),
            _ if equality => return Ok(Value::Bool(op == CompareOp::NotEqual)),
            _ => return Err(mismatch(left.type_name(), right)),
        },
    };
    let Some(order) = order else { return Ok(Value::Bool(op == CompareOp::NotEqual)) };
    Ok(Value::Bool(match op {
        CompareOp::Equal => order == Ordering::Equal,
        CompareOp::NotEqual => order != Ordering::Equal,
        CompareOp::Less => order == Ordering::Less,
        CompareOp::LessOrEqual => order != Ordering::Greater,
        CompareOp::Greater => order == Ordering::Greater,
        CompareOp::GreaterOrEqual => order != Ordering::Less,
    }))
}

/// Equality inside containers.
fn contained(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && (0..a.len()).all(|at| contained(&a[at], &b[at])),
        (Value::Map(a), Value::Map(b)) => {
            let has = |key: &str, value: &Value| b.iter().any(|(own, other)| &**own == key && contained(value, other));
            a.len() == b.len() && a.iter().all(|(key, value)| has(key, value))
        }
        _ => compare(CompareOp::Equal, left, right) == Ok(Value::Bool(true)),
    }
}

fn has_nan(value: &Value) -> bool {
    match value {
        Value::Float(float) => float.is_nan(),
        Value::Array(items) => items.iter().any(has_nan),
        Value::Map(entries) => entries.iter().any(|(_, value)| has_nan(value)),
        _ => false,
    }
}

/// The order of an integer and a float by their exact values: whole parts first, then the fraction.
fn exact_order(int: i64, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float.abs() >= 1e19 {
        return Some(if float > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let whole = float.trunc() as i128;
    let fraction = float.fract();
    Some(i128::from(int).cmp(&whole).then(0.0.partial_cmp(&fraction)?))
}

/// A batch of one row without columns, and a run.
pub(crate) fn one_row() -> (Batch, RunContext) {
    let schema = Arc::new(Schema { columns: Vec::new() });
    (batch(schema, Vec::new(), 1), run())
}

/// A batch whose rows are the rows of one file from row 10 on.
pub(crate) fn batch(schema: Arc<Schema>, columns: Vec<clinker_record::Column>, rows: usize) -> Batch {
    let runs = [OriginRun { start: 0, source: 0, file: 0, row: 10, ordinal: 10 }];
    Batch { schema, columns, rows, origin: Origin::block(Arc::from(runs)), widened: Default::default() }
}

/// A run.
pub(crate) fn run() -> RunContext {
    let source = SourceContext {
        name: "orders".into(),
        batch: "b-1".into(),
        ingestion: 7_000_000_000,
        files: [SourceFile { shown: "in/orders.csv".into(), path: "/data/in/orders.csv".into() }].into(),
    };
    RunContext {
        pipeline_name: "nightly".into(),
        execution_id: "e-1".into(),
        batch_id: "n-1".into(),
        start_time: 5_000_000_000,
        now: 9_000_000_000,
        log_level: None,
        sources: [source].into(),
    }
}

/// A value as the specification writes it.
pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => format!("{text:?}"),
        Value::Float(float) => format!("{float:?}"),
        Value::Array(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let shown = entries.iter().map(|(key, value)| format!("{key}: {}", show(value)));
            format!("{{{}}}", shown.collect::<Vec<_>>().join(", "))
        }
        other => text::text_form(other),
    }
}
