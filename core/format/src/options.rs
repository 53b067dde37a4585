//! Format options: declared once, from which parsing, checking and help are made.

use clinker_record::Type;

/// The shape of an option's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionKind {
    /// Any text.
    Text,
    /// `true` or `false`.
    Bool,
    /// One of the listed words.
    Word(&'static [&'static str]),
    /// Bytes: an integer, or text with a decimal suffix `B`, `KB`, `MB`, `GB`.
    Size,
    /// An integer in a range, both ends included.
    Integer {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// A list of texts, of which there are so many.
    Texts {
        /// How many there must be; `None` for any number.
        count: Option<usize>,
    },
    /// `true`, `false`, or one of the listed words.
    BoolOr(&'static [&'static str]),
    /// A map from names to declared types.
    Fields,
    /// A map with these keys.
    Map(&'static [OptionSpec]),
    /// A list of maps with these keys.
    Maps(&'static [OptionSpec]),
}

impl OptionKind {
    /// What a value may be, for messages and listings.
    pub fn wanted(&self) -> String {
        let listed = |words: &[&str]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
        let keys = |specs: &[OptionSpec]| specs.iter().map(|spec| spec.key).collect::<Vec<_>>().join(", ");
        match self {
            OptionKind::Text => "text".to_owned(),
            OptionKind::Bool => "`true` or `false`".to_owned(),
            OptionKind::Word(words) => listed(words),
            OptionKind::Size => "a size such as `500KB`".to_owned(),
            OptionKind::Integer { min, max: u64::MAX } => format!("an integer from {min} on"),
            OptionKind::Integer { min, max } => format!("an integer of {min} to {max}"),
            OptionKind::Texts { count: Some(count) } => format!("a list of {count} texts"),
            OptionKind::Texts { count: None } => "a list of texts".to_owned(),
            OptionKind::BoolOr(words) => format!("`true`, `false`, {}", listed(words)),
            OptionKind::Fields => "a map from names to types".to_owned(),
            OptionKind::Map(specs) => format!("a map with the keys {}", keys(specs)),
            OptionKind::Maps(specs) => format!("a list of maps with the keys {}", keys(specs)),
        }
    }

    /// The word that names the shape in machine-readable listings.
    pub fn word(&self) -> &'static str {
        match self {
            OptionKind::Text => "text",
            OptionKind::Bool => "bool",
            OptionKind::Word(_) => "word",
            OptionKind::Size => "size",
            OptionKind::Integer { .. } => "integer",
            OptionKind::Texts { .. } => "texts",
            OptionKind::BoolOr(_) => "bool_or_word",
            OptionKind::Fields => "fields",
            OptionKind::Map(_) => "map",
            OptionKind::Maps(_) => "maps",
        }
    }
}

/// One option of a reader or a writer.
#[derive(Debug, PartialEq)]
pub struct OptionSpec {
    /// Its key under `options:`.
    pub key: &'static str,
    /// Shape of its value.
    pub kind: OptionKind,
    /// The default as a user would write it; empty when there is none.
    pub default: &'static str,
    /// Whether it must be given.
    pub required: bool,
    /// What it does, one sentence.
    pub doc: &'static str,
}

/// A value of the shape its [`OptionSpec`] asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// For `Text` and `Word`.
    Text(String),
    /// For `Bool`.
    Bool(bool),
    /// For `Size` (bytes) and `Integer`.
    Number(u64),
    /// For `Texts`.
    Texts(Vec<String>),
    /// For `Fields`: each name with its type.
    Fields(Vec<(String, Type)>),
    /// For `Map`.
    Map(Options),
    /// For `Maps`.
    Maps(Vec<Options>),
}

/// The options a user gave; absent ones are not in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    given: Vec<(&'static str, OptionValue)>,
}

impl Options {
    /// Sets an option. The caller has checked key and shape against the descriptor.
    pub fn set(&mut self, key: &'static str, value: OptionValue) {
        self.given.retain(|(given, _)| *given != key);
        self.given.push((key, value));
    }

    /// The given options, in the order they were set.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &OptionValue)> {
        self.given.iter().map(|(key, value)| (*key, value))
    }

    fn get(&self, key: &str) -> Option<&OptionValue> {
        self.given.iter().find(|(given, _)| *given == key).map(|(_, value)| value)
    }

    /// A text or word option.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(OptionValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A switch.
    pub fn bool(&self, key: &str) -> Option<bool> {
        match self.get(key) {
            Some(OptionValue::Bool(value)) => Some(*value),
            _ => None,
        }
    }

    /// A size in bytes, or an integer.
    pub fn number(&self, key: &str) -> Option<u64> {
        match self.get(key) {
            Some(OptionValue::Number(value)) => Some(*value),
            _ => None,
        }
    }
}

impl Options {
    /// A list of texts.
    pub fn texts(&self, key: &str) -> Option<&[String]> {
        match self.get(key) {
            Some(OptionValue::Texts(texts)) => Some(texts),
            _ => None,
        }
    }

    /// Names with their types.
    pub fn fields(&self, key: &str) -> Option<&[(String, Type)]> {
        match self.get(key) {
            Some(OptionValue::Fields(fields)) => Some(fields),
            _ => None,
        }
    }

    /// A map.
    pub fn map(&self, key: &str) -> Option<&Options> {
        match self.get(key) {
            Some(OptionValue::Map(map)) => Some(map),
            _ => None,
        }
    }

    /// A list of maps.
    pub fn maps(&self, key: &str) -> Option<&[Options]> {
        match self.get(key) {
            Some(OptionValue::Maps(maps)) => Some(maps),
            _ => None,
        }
    }
}

/// What is wrong with an option, found by the format's own checks.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionFault {
    /// The option; empty when the fault concerns the whole declaration.
    pub key: &'static str,
    /// The diagnostic code.
    pub code: &'static str,
    /// Message naming the value and the rule.
    pub message: String,
    /// The way out, when one is known.
    pub help: Option<String>,
}

/// A size as users write it: a number of bytes, or one with a suffix `B`, `KB`, `MB` or `GB`, powers of 1000.
pub fn parse_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_uppercase());
    let factor = match &text[digits.len()..] {
        "" | "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(factor)
}
