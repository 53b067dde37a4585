//! Options that a user gave.

use clinker_plugin_abi::Item;

/// The options a user gave, checked against the registration; absent ones are not in it.
#[derive(Clone, Debug, Default)]
pub struct Options(Item);

impl Options {
    pub(crate) fn new(item: Item) -> Self {
        Self(item)
    }

    /// Every given option as a named value.
    pub fn item(&self) -> &Item {
        &self.0
    }

    /// A text or word option.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).text()
    }

    /// A switch.
    pub fn bool(&self, key: &str) -> Option<bool> {
        self.0.get(key).bool()
    }

    /// A size in bytes, or an integer.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.0.get(key).number()
    }

    /// A list of texts.
    pub fn texts(&self, key: &str) -> Option<Vec<&str>> {
        match self.0.get(key) {
            Item::List(items) => items.iter().map(Item::text).collect(),
            _ => None,
        }
    }

    /// A map.
    pub fn map(&self, key: &str) -> Option<Options> {
        match self.0.get(key) {
            map @ Item::Map(_) => Some(Options(map.clone())),
            _ => None,
        }
    }

    /// A list of maps.
    pub fn maps(&self, key: &str) -> Option<Vec<Options>> {
        match self.0.get(key) {
            Item::List(items) => Some(items.iter().cloned().map(Options).collect()),
            _ => None,
        }
    }
}

/// What is wrong with an option.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionFault {
    /// The option; empty when the fault concerns the whole declaration.
    pub key: String,
    /// The diagnostic code: one of the engine's (E401 to E409, E413, E414) or a registered one.
    pub code: String,
    /// Message naming the value and the rule.
    pub message: String,
    /// The way out, when one is known.
    pub help: Option<String>,
}

impl OptionFault {
    pub(crate) fn into_item(self) -> Item {
        Item::map([
            ("key", self.key.into()),
            ("code", self.code.into()),
            ("message", self.message.into()),
            ("help", self.help.into()),
        ])
    }
}
