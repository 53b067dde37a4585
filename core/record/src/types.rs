//! Declared types.

use std::fmt;

/// The kinds of values a column can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Only null.
    Null,
    /// `true` or `false`.
    Bool,
    /// Signed 64-bit integer.
    Int,
    /// IEEE-754 binary64.
    Float,
    /// Exact base-10 number: a coefficient below 2^96 and a scale of 0 to 28.
    Decimal,
    /// Unicode text.
    String,
    /// A day of the years 1 to 9999.
    Date,
    /// A day and a time at nanosecond resolution, without zone.
    DateTime,
    /// An ordered list of values of any types.
    Array,
    /// An insertion-ordered map from text to values of any types.
    Map,
    /// Not known until run time.
    Any,
}

impl Kind {
    /// The word a schema uses for it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "bool",
            Kind::Int => "int",
            Kind::Float => "float",
            Kind::Decimal => "decimal",
            Kind::String => "string",
            Kind::Date => "date",
            Kind::DateTime => "date_time",
            Kind::Array => "array",
            Kind::Map => "map",
            Kind::Any => "any",
        }
    }

    /// The kind a schema word names; `numeric` and `nullable(..)` are not kinds.
    pub fn from_word(word: &str) -> Option<Kind> {
        const ALL: [Kind; 11] = [
            Kind::Null,
            Kind::Bool,
            Kind::Int,
            Kind::Float,
            Kind::Decimal,
            Kind::String,
            Kind::Date,
            Kind::DateTime,
            Kind::Array,
            Kind::Map,
            Kind::Any,
        ];
        ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// A declared type: a kind, possibly nullable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// The kind of non-null values.
    pub kind: Kind,
    /// Whether the declaration was `nullable(T)`.
    pub nullable: bool,
}

impl Type {
    /// A type that was not declared nullable.
    pub const fn plain(kind: Kind) -> Type {
        Type { kind, nullable: false }
    }

    /// `nullable(kind)`.
    pub const fn nullable(kind: Kind) -> Type {
        Type { kind, nullable: true }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nullable { write!(out, "nullable({})", self.kind.word()) } else { out.write_str(self.kind.word()) }
    }
}
