//! What an evaluation yields.

use std::borrow::Cow;
use std::fmt;

use arrow_array::{Array, BooleanArray};
use clinker_diagnostics::Span;
use clinker_events::Level;
use clinker_record::{Column, Failure};

/// The result of a program over one batch.
#[derive(Debug)]
pub struct Outcome {
    /// The batch rows that have an output row, ascending; `None` when all have one.
    pub kept: Option<Vec<u32>>,
    /// Rows dropped by `filter`.
    pub filtered: u64,
    /// Rows that failed, with their first reason, ascending by row.
    pub failures: Vec<Failure>,
    /// For each failure, the bytes of the program text that failed.
    pub spans: Vec<Span>,
    /// What the rows logged, ascending by row; of one row in the order of evaluation.
    pub events: Vec<LogEvent>,
    /// One column for each output field of the program, aligned with `kept`.
    pub columns: Vec<Column>,
}

/// What one row logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEvent {
    /// The batch row.
    pub row: u32,
    /// Its level.
    pub level: Level,
    /// The message: the text form of a value, line breaks included.
    pub text: String,
}

/// The kinds of evaluation errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// An operator or a condition met a value of an unsuitable type.
    TypeMismatch,
    /// `/` or `%` by zero.
    DivisionByZero,
    /// Integer or decimal arithmetic out of range.
    IntegerOverflow,
    /// A strict conversion refused its value.
    ConversionFailed,
    /// A computed pattern does not compile.
    RegexCompile,
    /// A String over 10 MiB.
    StringTooLarge,
    /// Two entries of a map with one key.
    DuplicateMapKey,
    /// A computed text that is no key of a map.
    InvalidNestedKey,
    /// Arrays and maps of one record over their bytes.
    ConstructionLimitExceeded,
    /// Arrays and maps nested too deeply.
    ConstructionDepthExceeded,
    /// An emitted NaN.
    NanInOutput,
}

impl ErrorKind {
    /// Its diagnostic id, `cxl::eval::<kind>`.
    pub fn id(self) -> &'static str {
        match self {
            ErrorKind::TypeMismatch => "cxl::eval::type_mismatch",
            ErrorKind::DivisionByZero => "cxl::eval::division_by_zero",
            ErrorKind::IntegerOverflow => "cxl::eval::integer_overflow",
            ErrorKind::ConversionFailed => "cxl::eval::conversion_failed",
            ErrorKind::RegexCompile => "cxl::eval::regex_compile",
            ErrorKind::StringTooLarge => "cxl::eval::string_too_large",
            ErrorKind::DuplicateMapKey => "cxl::eval::duplicate_map_key",
            ErrorKind::InvalidNestedKey => "cxl::eval::invalid_nested_key",
            ErrorKind::ConstructionLimitExceeded => "cxl::eval::construction_limit_exceeded",
            ErrorKind::ConstructionDepthExceeded => "cxl::eval::construction_depth_exceeded",
            ErrorKind::NanInOutput => "cxl::eval::nan_in_output",
        }
    }

    /// Its name, as `trace` shows it.
    pub(crate) fn name(self) -> &'static str {
        self.id().trim_start_matches("cxl::eval::")
    }

    /// Whether `??` and `catch` turn it into null.
    pub fn is_arithmetic(self) -> bool {
        matches!(self, ErrorKind::DivisionByZero | ErrorKind::IntegerOverflow)
    }
}

/// Why the evaluation of one row failed.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalError {
    /// Its kind.
    pub kind: ErrorKind,
    /// The message, without row and field.
    pub message: Cow<'static, str>,
    /// The value it reports, if its kind reports one.
    pub value: Option<String>,
    /// The failing sub-expression.
    pub span: Span,
}

impl EvalError {
    /// Bytes of its texts.
    pub(crate) fn bytes(&self) -> usize {
        let message = if let Cow::Owned(message) = &self.message { message.len() } else { 0 };
        message + self.value.as_ref().map_or(0, String::len)
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

/// The values that a batch of several rows asked for take more bytes than may be built at one time: it must be
/// evaluated in smaller pieces. A batch of one row is never too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// What a condition says about each row of a batch.
#[derive(Debug)]
pub struct Verdicts {
    /// True, false or null; rows with an error are null.
    pub values: BooleanArray,
    /// The rows whose evaluation failed, ascending.
    pub errors: Vec<(u32, EvalError)>,
}

/// What a condition says about one row.
#[derive(Debug, PartialEq)]
pub enum Verdict<'a> {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// It is null: it does not hold either.
    Null,
    /// It could not be evaluated, which must never be read as false.
    Error(&'a EvalError),
}

impl Verdicts {
    /// The verdict on a row.
    pub fn verdict(&self, row: u32) -> Verdict<'_> {
        if let Ok(found) = self.errors.binary_search_by_key(&row, |(failed, _)| *failed) {
            return Verdict::Error(&self.errors[found].1);
        }
        match (self.values.is_null(row as usize), self.values.value(row as usize)) {
            (true, _) => Verdict::Null,
            (false, true) => Verdict::True,
            (false, false) => Verdict::False,
        }
    }

    /// The verdicts on these rows and then on others.
    pub(crate) fn followed_by(mut self, mut next: Verdicts) -> Verdicts {
        let rows = self.values.len() as u32;
        self.errors.extend(next.errors.drain(..).map(|(row, error)| (rows + row, error)));
        let values = self.values.iter().chain(next.values.iter()).collect();
        Verdicts { values, errors: self.errors }
    }

    /// Whether the condition holds on every row.
    pub fn all_true(&self) -> bool {
        self.errors.is_empty() && self.values.null_count() == 0 && self.values.true_count() == self.values.len()
    }
}
