//! A single value, for places where columns do not pay: oracles, `any` columns, literals.

use std::sync::Arc;

use crate::Decimal;

/// One value with its own type.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A signed 64-bit integer.
    Int(i64),
    /// A binary64 number.
    Float(f64),
    /// An exact number with its scale.
    Decimal(Decimal),
    /// Text.
    String(Arc<str>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Nanoseconds since 1970-01-01T00:00:00.
    DateTime(i128),
    /// A list.
    Array(Vec<Value>),
    /// A map in insertion order.
    Map(Vec<(Arc<str>, Value)>),
}

impl Value {
    /// The name `type_of()` gives, and messages use.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "Null",
            Value::Bool(_) => "Bool",
            Value::Int(_) => "Int",
            Value::Float(_) => "Float",
            Value::Decimal(_) => "Decimal",
            Value::String(_) => "String",
            Value::Date(_) => "Date",
            Value::DateTime(_) => "DateTime",
            Value::Array(_) => "Array",
            Value::Map(_) => "Map",
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }
}
