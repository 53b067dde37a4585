//! What a function is: its signature, its text for readers, and its row form.

use std::fmt;

use arrow_array::StringViewArray;
use clinker_record::datetime::DateFormat;
use regex::{Regex, RegexBuilder};

use crate::check::types::Base;
use crate::eval::Cell;
use crate::ir::ClosureMethod;
use crate::outcome::EvalError;
use clinker_record::{Decimal, Value};

/// A built-in method.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// What it is called on.
    pub(crate) receiver: Kinds,
    pub(crate) params: &'static [Param],
    /// Whether the last parameter may be repeated.
    pub(crate) variadic: bool,
    pub(crate) result: ResultType,
    /// Whether it is called for a null receiver; otherwise the result is null and no argument is evaluated.
    pub(crate) sees_null: bool,
    /// Whether it is called with null arguments, and with arguments of other types than it declares; otherwise the
    /// result is null.
    pub(crate) sees_any_argument: bool,
    /// What the argument of that position is compiled to.
    pub(crate) prepares: Option<(Prepare, usize)>,
    /// The method of the same name that takes a closure. A function without parameters has only that form, and no row
    /// form of its own.
    pub(crate) closure: Option<ClosureMethod>,
    /// One paragraph for readers.
    pub(crate) doc: &'static str,
    /// Expressions with the value they yield, all executed by a test.
    pub(crate) examples: &'static [(&'static str, &'static str)],
    /// The result for one row: the receiver is the first cell. Text is appended to the empty string given.
    pub(crate) call: RowFn,
    /// A faster form over a column of receivers, for a function without parameters; nothing when the row form must
    /// look at the rows.
    pub(crate) kernel: Option<TextKernel>,
}

/// A text function over a whole column.
pub(crate) type TextKernel = fn(&StringViewArray) -> Option<StringViewArray>;

/// The row form of a function.
pub(crate) type RowFn = for<'a> fn(&mut Call<'_>, &[Cell<'a>], &mut String) -> Result<Answer, EvalError>;

/// A parameter.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) accepts: Kinds,
    pub(crate) optional: bool,
}

impl Param {
    /// A parameter that must be given.
    pub(crate) const fn new(name: &'static str, accepts: Kinds) -> Param {
        Param { name, accepts, optional: false }
    }

    /// A parameter that may be left out.
    pub(crate) const fn optional(name: &'static str, accepts: Kinds) -> Param {
        Param { name, accepts, optional: true }
    }
}

/// A set of kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u16);

impl Kinds {
    pub(crate) const INT: Kinds = Kinds(2);
    pub(crate) const TEXT: Kinds = Kinds(16);
    pub(crate) const ARRAY: Kinds = Kinds(128);
    pub(crate) const NUMBER: Kinds = Kinds(2 | 4 | 8);
    pub(crate) const MAP: Kinds = Kinds(256);
    pub(crate) const DATE: Kinds = Kinds(32 | 64);
    pub(crate) const ANY: Kinds = Kinds(0x1ff);

    /// Either of two sets.
    pub(crate) const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether a static type may be given. What is known only at run time may.
    pub(crate) fn accepts(self, base: Base) -> bool {
        let bit = match base {
            Base::Null | Base::Any => return true,
            Base::Numeric => Kinds::NUMBER.0,
            Base::Bool => 1,
            Base::Int => 2,
            Base::Float => 4,
            Base::Decimal => 8,
            Base::String => 16,
            Base::Date => 32,
            Base::DateTime => 64,
            Base::Array => 128,
            Base::Map => 256,
        };
        self.0 & bit != 0
    }

    /// Whether a value is of one of the kinds.
    #[inline]
    pub(crate) fn holds(self, cell: Cell<'_>) -> bool {
        let bit = match cell {
            Cell::Null => 0,
            Cell::Bool(_) => 1,
            Cell::Int(_) => 2,
            Cell::Float(_) => 4,
            Cell::Decimal(_) => 8,
            Cell::Text(_) => 16,
            Cell::Date(_) => 32,
            Cell::DateTime(_) => 64,
            Cell::Array(_) => 128,
            Cell::Map(_) => 256,
        };
        self.0 & bit != 0
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Kinds::ANY {
            return out.write_str("any");
        }
        const NAMES: [&str; 9] = ["Bool", "Int", "Float", "Decimal", "String", "Date", "DateTime", "Array", "Map"];
        let names: Vec<&str> = (0..9).filter(|bit| self.0 >> bit & 1 == 1).map(|bit| NAMES[bit]).collect();
        match names.split_last() {
            Some((last, before)) if !before.is_empty() => write!(out, "{} or {last}", before.join(", ")),
            Some((last, _)) => out.write_str(last),
            None => Ok(()),
        }
    }
}

/// How the static type of a result follows from the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultType {
    Fixed(Base),
    /// The receiver's.
    Receiver,
    /// The receiver's, a number.
    Number,
    /// Decimal for Decimal, else Float.
    Rounded,
    /// Decimal for Decimal, else Int.
    Whole,
    /// The join of receiver and arguments.
    Join,
}

/// The result for one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Decimal(Decimal),
    Date(i32),
    DateTime(i128),
    /// The text that was appended.
    Text,
    /// Bytes of the receiver's text: they are shared, not copied.
    Slice(usize, usize),
    /// An operand as it is.
    Operand(usize),
    /// The array or map that was handed to [`Call::build`].
    Built,
}

/// What a text argument is compiled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prepare {
    DateFormat,
    /// A pattern that may match anywhere.
    Search,
    /// A pattern that must match the whole text.
    Whole,
}

/// A compiled text argument.
#[derive(Clone, Debug)]
pub(crate) enum Prepared {
    None,
    DateFormat(DateFormat),
    Pattern(Box<Regex>),
}

impl Prepare {
    /// What the text is, for messages.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Prepare::DateFormat => "date format",
            Prepare::Search | Prepare::Whole => "pattern",
        }
    }

    /// Compiles a text.
    pub(crate) fn compile(self, text: &str) -> Result<Prepared, String> {
        match self {
            Prepare::DateFormat => DateFormat::compile(text).map(Prepared::DateFormat),
            Prepare::Search => pattern(text).map(|regex| Prepared::Pattern(Box::new(regex))),
            Prepare::Whole => whole_pattern(text).map(|regex| Prepared::Pattern(Box::new(regex))),
        }
    }
}

/// Largest compiled pattern, in bytes.
const MAX_PATTERN: usize = 10 * 1024 * 1024;

fn pattern(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text).size_limit(MAX_PATTERN).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "its compiled form exceeds 10 MiB".to_owned(),
        // The library draws the pattern with a marker; the reason is the last line.
        other => {
            let text = other.to_string();
            let reason = text.lines().next_back().unwrap_or_default();
            reason.trim_start_matches("error: ").to_owned()
        }
    })
}

/// The text alone must compile, or `a)(b` would slip through the group around it. In verbose mode a comment may end
/// the pattern, which a new line closes.
fn whole_pattern(text: &str) -> Result<Regex, String> {
    pattern(text)?;
    pattern(&format!(r"\A(?:{text})\z")).or_else(|_| pattern(&format!("\\A(?:{text}\n)\\z")))
}

/// One call: the compiled argument, or the last one that was compiled while running.
pub(crate) struct Call<'p> {
    prepare: Option<Prepare>,
    prepared: &'p Prepared,
    memo: Option<(String, Prepared)>,
    built: Value,
}

impl<'p> Call<'p> {
    pub(crate) fn new(function: &Function, prepared: &'p Prepared) -> Self {
        Self { prepare: function.prepares.map(|(prepare, _)| prepare), prepared, memo: None, built: Value::Null }
    }

    /// The array or map that is the result.
    pub(crate) fn build(&mut self, value: Value) -> Answer {
        self.built = value;
        Answer::Built
    }

    /// Takes what was built.
    pub(crate) fn take_built(&mut self) -> Value {
        std::mem::replace(&mut self.built, Value::Null)
    }

    fn compiled(&mut self, text: &str) -> Result<&Prepared, String> {
        if !matches!(self.prepared, Prepared::None) {
            return Ok(self.prepared);
        }
        if self.memo.as_ref().is_none_or(|(known, _)| known != text) {
            let prepare = self.prepare.expect("only a function that prepares an argument asks for it");
            self.memo = Some((text.to_owned(), prepare.compile(text)?));
        }
        Ok(&self.memo.as_ref().expect("the memo was just filled").1)
    }

    /// The date format of a text.
    pub(crate) fn date_format(&mut self, text: &str) -> Result<&DateFormat, String> {
        match self.compiled(text)? {
            Prepared::DateFormat(format) => Ok(format),
            _ => Err("not a date format".to_owned()),
        }
    }

    /// The pattern of a text.
    pub(crate) fn pattern(&mut self, text: &str) -> Result<&Regex, EvalError> {
        let failed = |reason: &str| crate::eval::faults::pattern(text, reason);
        match self.compiled(text).map_err(|reason| failed(&reason))? {
            Prepared::Pattern(regex) => Ok(regex),
            _ => Err(failed("not a pattern")),
        }
    }
}

impl Function {
    /// What most functions share.
    pub(crate) const BASE: Function = Function {
        name: "",
        receiver: Kinds::ANY,
        params: &[],
        variadic: false,
        result: ResultType::Receiver,
        sees_null: false,
        sees_any_argument: false,
        prepares: None,
        closure: None,
        doc: "",
        examples: &[],
        call: |_, _, _| Ok(Answer::Null),
        kernel: None,
    };

    /// The parameter of an argument position.
    pub(crate) fn param(&self, index: usize) -> &'static Param {
        &self.params[index.min(self.params.len() - 1)]
    }

    /// How many arguments must be given.
    pub(crate) fn required(&self) -> usize {
        self.params.iter().filter(|param| !param.optional).count()
    }

    /// How many arguments it takes, in words.
    pub(crate) fn argument_count(&self) -> String {
        let (least, most) = (self.required(), self.params.len());
        let noun = |count: usize| if count == 1 { "argument" } else { "arguments" };
        match (self.variadic, least == most) {
            (true, _) => format!("at least {least} {}", noun(least)),
            (false, true) if most == 0 => "no arguments".to_owned(),
            (false, true) => format!("{most} {}", noun(most)),
            (false, false) => format!("{least} to {most} arguments"),
        }
    }

    /// Whether it is called with a closure and nothing else.
    pub(crate) fn closure_only(&self) -> bool {
        self.closure.is_some() && self.params.is_empty()
    }

    /// The kinds it is called on, in words.
    pub(crate) fn receiver(&self) -> String {
        let also = if self.closure.is_some() { Kinds::ARRAY } else { Kinds(0) };
        self.receiver.or(also).to_string()
    }

    /// `substring(start: Int [, len: Int])`.
    pub(crate) fn signature(&self) -> String {
        match self.closure {
            Some(_) if self.closure_only() => format!("{}(it => …)", self.name),
            Some(_) => format!("{} or {}(it => …)", self.plain_signature(), self.name),
            None => self.plain_signature(),
        }
    }

    fn plain_signature(&self) -> String {
        let mut text = format!("{}(", self.name);
        for (index, param) in self.params.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let shown = format!("{comma}{}: {}", param.name, param.accepts);
            text.push_str(&if param.optional {
                format!(" [{shown}]").replacen(" [", "[", usize::from(index == 0))
            } else {
                shown
            });
        }
        text.push_str(if self.variadic { ", …)" } else { ")" });
        text
    }
}
