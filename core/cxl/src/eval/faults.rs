//! Failed rows: the first reason of each is kept.

use std::borrow::Cow;

use clinker_diagnostics::Span;

use super::budget::MAX_DEPTH;
use super::cell::{Cell, MAX_TEXT};
use crate::outcome::{ErrorKind, EvalError};

/// The rows of a frame that failed, in the order of evaluation.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    list: Vec<(u32, EvalError)>,
    failed: Vec<u64>,
}

impl Faults {
    /// Whether no row failed.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether a row failed.
    pub(crate) fn has(&self, row: u32) -> bool {
        self.failed.get(row as usize / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Records the failure of a row, unless it failed before.
    pub(crate) fn add(&mut self, row: u32, error: EvalError) {
        let word = row as usize / 64;
        if self.failed.len() <= word {
            self.failed.resize(word + 1, 0);
        }
        let bit = 1 << (row % 64);
        if self.failed[word] & bit == 0 {
            self.failed[word] |= bit;
            self.list.push((row, error));
        }
    }

    /// Records the failure of a row at a place, unless it failed before.
    pub(crate) fn at(&mut self, row: usize, span: Span, error: EvalError) {
        self.add(row as u32, EvalError { span, ..error });
    }

    /// Records the failure of all rows.
    pub(crate) fn all(&mut self, rows: usize, span: Span, error: &EvalError) {
        for row in 0..rows {
            self.at(row, span, error.clone());
        }
    }

    /// The failures in the order they were recorded.
    pub(crate) fn into_list(self) -> Vec<(u32, EvalError)> {
        self.list
    }

    /// The failures in the order they were recorded.
    pub(crate) fn list(&self) -> &[(u32, EvalError)] {
        &self.list
    }
}

fn error(kind: ErrorKind, message: impl Into<Cow<'static, str>>, value: Option<String>) -> EvalError {
    EvalError { kind, message: message.into(), value, span: Span::default() }
}

/// `type_mismatch`.
pub(crate) fn mismatch(expected: &str, got: Cell<'_>) -> EvalError {
    let message = format!("type mismatch: expected {expected}, got {}", got.type_name());
    error(ErrorKind::TypeMismatch, message, None)
}

/// `division_by_zero`.
pub(crate) fn division_by_zero() -> EvalError {
    error(ErrorKind::DivisionByZero, "division by zero", None)
}

/// `integer_overflow`.
pub(crate) fn overflow(operation: &str) -> EvalError {
    error(ErrorKind::IntegerOverflow, format!("integer overflow in {operation}"), None)
}

/// `conversion_failed`.
pub(crate) fn conversion(cell: Cell<'_>, to: &str) -> EvalError {
    let text = cell.text();
    error(ErrorKind::ConversionFailed, format!("conversion failed: '{text}' is not a valid {to}"), Some(text))
}

/// `regex_compile`.
pub(crate) fn pattern(pattern: &str, reason: &str) -> EvalError {
    let message = format!("invalid pattern '{pattern}': {reason}");
    error(ErrorKind::RegexCompile, message, Some(pattern.to_owned()))
}

/// `string_too_large`.
pub(crate) fn too_large(bytes: usize) -> EvalError {
    error(ErrorKind::StringTooLarge, format!("string too large: {bytes} bytes, limit {MAX_TEXT}"), None)
}

/// `duplicate_map_key`.
pub(crate) fn duplicate_key(key: &str) -> EvalError {
    error(ErrorKind::DuplicateMapKey, format!("duplicate map key '{key}'"), Some(key.to_owned()))
}

/// `invalid_nested_key`.
pub(crate) fn invalid_key(key: &str) -> EvalError {
    error(ErrorKind::InvalidNestedKey, format!("invalid map key '{key}'"), Some(key.to_owned()))
}

/// `construction_limit_exceeded`.
pub(crate) fn construction_limit(limit: usize) -> EvalError {
    error(ErrorKind::ConstructionLimitExceeded, format!("constructed values exceed {limit} bytes"), None)
}

/// `construction_depth_exceeded`.
pub(crate) fn construction_depth() -> EvalError {
    let message = format!("constructed values nest deeper than {MAX_DEPTH}");
    error(ErrorKind::ConstructionDepthExceeded, message, None)
}

/// `nan_in_output`.
pub(crate) fn nan() -> EvalError {
    error(ErrorKind::NanInOutput, "NaN in output", Some("NaN".to_owned()))
}
