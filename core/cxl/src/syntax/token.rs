//! Tokens.

use std::fmt;

use clinker_diagnostics::Span;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tok {
    /// A name that is not a keyword, or any word after `.`.
    Ident(String),
    /// A keyword.
    Key(Key),
    /// An integer literal.
    Int(i64),
    /// A float literal.
    Float(f64),
    /// A string literal, decoded.
    Text(String),
    /// A date literal, in days since 1970-01-01.
    Date(i32),
    /// An operator or a punctuation character.
    Punct(&'static str),
    /// One or more line breaks that end something.
    Newline,
    /// Something that was already reported.
    Bad,
    /// The end of the text.
    End,
}

macro_rules! keywords {
    ($($name:ident $word:literal),+ $(,)?) => {
        /// The reserved words.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub(crate) enum Key { $($name),+ }

        impl Key {
            /// The keyword spelled so.
            pub(crate) fn from_word(word: &str) -> Option<Key> {
                match word { $($word => Some(Key::$name),)+ _ => None }
            }

            /// Its spelling.
            pub(crate) fn word(self) -> &'static str {
                match self { $(Key::$name => $word),+ }
            }
        }
    };
}

keywords! {
    Let "let", Emit "emit", If "if", Then "then", Else "else", And "and", Or "or", Not "not", Match "match", Use "use",
    As "as", Fn "fn", Trace "trace", Null "null", True "true", False "false", Now "now", It "it", Filter "filter",
    Distinct "distinct", By "by", For "for", In "in",
}

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) tok: Tok,
    /// Its bytes.
    pub(crate) span: Span,
    /// Whether it is the first of its line.
    pub(crate) first: bool,
}

impl Tok {
    /// Whether an expression may end with it. A newline after any other token is ignored.
    pub(crate) fn can_end(&self) -> bool {
        match self {
            Tok::Ident(_) | Tok::Int(_) | Tok::Float(_) | Tok::Text(_) | Tok::Date(_) | Tok::Bad | Tok::End => true,
            Tok::Key(key) => !matches!(
                key,
                Key::Not
                    | Key::If
                    | Key::Then
                    | Key::Else
                    | Key::In
                    | Key::For
                    | Key::And
                    | Key::Or
                    | Key::Let
                    | Key::Emit
                    | Key::Filter
                    | Key::Trace
                    | Key::Match
            ),
            Tok::Punct(punct) => matches!(*punct, ")" | "]" | "}" | "_" | "(" | "[" | "{" | "$"),
            Tok::Newline => false,
        }
    }

    /// Whether a line may begin with it. A newline before any other token is ignored.
    pub(crate) fn can_begin(&self) -> bool {
        match self {
            Tok::Key(key) => !matches!(key, Key::And | Key::Or | Key::Then | Key::Else),
            Tok::Punct(punct) => matches!(*punct, "(" | "[" | "{" | "$" | "_" | "="),
            _ => true,
        }
    }

    /// Whether it is this punctuation.
    pub(crate) fn is(&self, punct: &str) -> bool {
        matches!(self, Tok::Punct(own) if *own == punct)
    }
}

impl fmt::Display for Tok {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tok::Ident(name) => write!(out, "`{name}`"),
            Tok::Key(key) => write!(out, "`{}`", key.word()),
            Tok::Int(value) => write!(out, "`{value}`"),
            Tok::Float(value) => write!(out, "`{value:?}`"),
            Tok::Text(text) => write!(out, "the string {text:?}"),
            Tok::Date(_) => out.write_str("a date"),
            Tok::Punct(punct) => write!(out, "`{punct}`"),
            Tok::Newline => out.write_str("the end of the line"),
            Tok::Bad => out.write_str("an invalid token"),
            Tok::End => out.write_str("the end of the text"),
        }
    }
}
