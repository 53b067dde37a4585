//! Static types and their join.

use std::fmt;

use clinker_record::{Kind, Type, Value};

/// The base of a static type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Null,
    Bool,
    Int,
    Float,
    Decimal,
    String,
    Date,
    DateTime,
    Array,
    Map,
    /// Unknown until run time.
    Any,
    /// Int, Float or Decimal, unknown until run time.
    Numeric,
}

/// A static type. Every value may be null; `nullable` is for display only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ty {
    pub(crate) base: Base,
    pub(crate) nullable: bool,
}

impl Base {
    /// Its name in messages; for value types also what `type_of()` gives.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Base::Null => "Null",
            Base::Bool => "Bool",
            Base::Int => "Int",
            Base::Float => "Float",
            Base::Decimal => "Decimal",
            Base::String => "String",
            Base::Date => "Date",
            Base::DateTime => "DateTime",
            Base::Array => "Array",
            Base::Map => "Map",
            Base::Any => "any",
            Base::Numeric => "numeric",
        }
    }

    /// Int, Float, Decimal or `numeric`.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Base::Int | Base::Float | Base::Decimal | Base::Numeric)
    }

    /// `any` or Null: passes every check.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Base::Any | Base::Null)
    }

    /// Whether values differ in type from record to record.
    pub(crate) fn is_dynamic(self) -> bool {
        matches!(self, Base::Any | Base::Numeric)
    }

    /// Whether its values have no column of one Arrow type.
    pub(crate) fn holds_any(self) -> bool {
        self.is_dynamic() || matches!(self, Base::Array | Base::Map)
    }

    /// The kind of a column that holds it.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Base::Null => Kind::Null,
            Base::Bool => Kind::Bool,
            Base::Int => Kind::Int,
            Base::Float => Kind::Float,
            Base::Decimal => Kind::Decimal,
            Base::String => Kind::String,
            Base::Date => Kind::Date,
            Base::DateTime => Kind::DateTime,
            Base::Array => Kind::Array,
            Base::Map => Kind::Map,
            Base::Any | Base::Numeric => Kind::Any,
        }
    }
}

impl fmt::Display for Base {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl Ty {
    pub(crate) const BOOL: Ty = Ty::plain(Base::Bool);

    /// A type that was not seen to be nullable.
    pub(crate) const fn plain(base: Base) -> Ty {
        Ty { base, nullable: false }
    }

    /// `nullable(self)`, which is `self` for Null and `any`.
    pub(crate) fn or_null(self) -> Ty {
        Ty { nullable: !self.base.is_open(), ..self }
    }

    /// The same base, nullable if `other` is or may be null.
    pub(crate) fn null_like(self, other: Ty) -> Ty {
        if other.nullable || other.base == Base::Null { self.or_null() } else { self }
    }

    /// The static type of a declared column type.
    pub(crate) fn declared(ty: Type, multiple: bool) -> Ty {
        let base = match ty.kind {
            _ if multiple => Base::Array,
            Kind::Null => Base::Null,
            Kind::Bool => Base::Bool,
            Kind::Int => Base::Int,
            Kind::Float => Base::Float,
            Kind::Decimal => Base::Decimal,
            Kind::String => Base::String,
            Kind::Date => Base::Date,
            Kind::DateTime => Base::DateTime,
            Kind::Array => Base::Array,
            Kind::Map => Base::Map,
            Kind::Any => Base::Any,
        };
        let plain = Ty::plain(base);
        if ty.nullable { plain.or_null() } else { plain }
    }

    /// The type of a constant.
    pub(crate) fn of(value: &Value) -> Ty {
        Ty::plain(match value {
            Value::Null => Base::Null,
            Value::Bool(_) => Base::Bool,
            Value::Int(_) => Base::Int,
            Value::Float(_) => Base::Float,
            Value::Decimal(_) => Base::Decimal,
            Value::String(_) => Base::String,
            Value::Date(_) => Base::Date,
            Value::DateTime(_) => Base::DateTime,
            Value::Array(_) => Base::Array,
            Value::Map(_) => Base::Map,
        })
    }

    /// The type as a column type.
    pub(crate) fn to_type(self) -> Type {
        Type { kind: self.base.kind(), nullable: self.nullable }
    }

    /// The join of two types, if there is one.
    pub(crate) fn join(self, other: Ty) -> Option<Ty> {
        let nullable = self.nullable || other.nullable;
        let base = match (self.base, other.base) {
            (a, b) if a == b => a,
            (Base::Any, _) | (_, Base::Any) => Base::Any,
            (Base::Null, b) => return Some(Ty::plain(b).or_null()),
            (a, Base::Null) => return Some(Ty::plain(a).or_null()),
            (Base::Numeric, b) if b.is_number() => Base::Numeric,
            (a, Base::Numeric) if a.is_number() => Base::Numeric,
            (Base::Int, Base::Float) | (Base::Float, Base::Int) => Base::Float,
            (Base::Int, Base::Decimal) | (Base::Decimal, Base::Int) => Base::Decimal,
            _ => return None,
        };
        let joined = Ty::plain(base);
        Some(if nullable { joined.or_null() } else { joined })
    }
}

/// The type that holds the values of two column types, if there is one: where streams of one shape are united.
pub fn join_types(one: Type, other: Type) -> Option<Type> {
    Ty::declared(one, false).join(Ty::declared(other, false)).map(Ty::to_type)
}

impl fmt::Display for Ty {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nullable { write!(out, "nullable({})", self.base) } else { write!(out, "{}", self.base) }
    }
}
