//! Strict maps: each key is asked for by name, and what was not asked for is a fault.

use std::cell::RefCell;
use std::sync::Arc;

use clinker_format::LoadFault;
use regex::Regex;
use serde_json::{Map, Value};

/// What is wrong with a description.
#[derive(Debug, Default)]
pub(super) struct Faults {
    found: RefCell<Vec<LoadFault>>,
}

impl Faults {
    /// Notes a fault at a path of keys.
    pub(super) fn add(&self, key: &str, message: impl Into<String>) {
        let fault = LoadFault { code: "E411", key: key.to_owned(), message: message.into(), help: None };
        self.found.borrow_mut().push(fault);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    pub(super) fn into_vec(self) -> Vec<LoadFault> {
        self.found.into_inner()
    }
}

/// A map of the description.
pub(super) struct Table<'a> {
    map: Option<&'a Map<String, Value>>,
    path: String,
    pub faults: &'a Faults,
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> Table<'a> {
    pub(super) fn of(value: &'a Value, path: String, faults: &'a Faults) -> Self {
        let map = value.as_object();
        if map.is_none() {
            faults.add(&path, "a map was expected");
        }
        Self { map, path, faults, asked: RefCell::new(Vec::new()) }
    }

    /// The path of a key.
    pub(super) fn at(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The value of a key; null is as good as absent.
    pub(super) fn value(&self, key: &'static str) -> Option<&'a Value> {
        self.asked.borrow_mut().push(key);
        self.map?.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn has(&self, key: &'static str) -> bool {
        self.value(key).is_some()
    }

    fn wrong(&self, key: &str, wanted: &str) {
        self.faults.add(&self.at(key), format!("{wanted} was expected"));
    }

    pub(super) fn text(&self, key: &'static str) -> Option<Arc<str>> {
        let value = self.value(key)?;
        match value.as_str().filter(|text| !text.is_empty()) {
            Some(text) => Some(text.into()),
            None => {
                self.wrong(key, "text");
                None
            }
        }
    }

    /// A text that must be there.
    pub(super) fn required(&self, key: &'static str) -> Arc<str> {
        if !self.has(key) {
            self.faults.add(&self.at(key), "the key is missing");
        }
        self.text(key).unwrap_or_else(|| "".into())
    }

    pub(super) fn number(&self, key: &'static str, min: u64, max: u64) -> Option<u64> {
        let value = self.value(key)?;
        let number = value.as_u64().filter(|number| (min..=max).contains(number));
        if number.is_none() {
            self.wrong(key, &format!("an integer of {min} to {max}"));
        }
        number
    }

    /// The number of an element or component, from 1.
    pub(super) fn element(&self, key: &'static str) -> Option<u32> {
        self.number(key, 1, 999).and_then(|number| u32::try_from(number).ok())
    }

    /// Such a number that must be there.
    pub(super) fn required_element(&self, key: &'static str) -> u32 {
        if !self.has(key) {
            self.faults.add(&self.at(key), "the key is missing");
        }
        self.element(key).unwrap_or(1)
    }

    pub(super) fn flag(&self, key: &'static str) -> Option<bool> {
        let value = self.value(key)?;
        if value.as_bool().is_none() {
            self.wrong(key, "true or false");
        }
        value.as_bool()
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(&self, key: &'static str, words: &[(&str, T)]) -> Option<T> {
        let value = self.value(key)?;
        let found = value.as_str().and_then(|text| words.iter().find(|(word, _)| *word == text));
        if found.is_none() {
            let listed: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            self.wrong(key, &listed.join(" or "));
        }
        found.map(|(_, meaning)| *meaning)
    }

    pub(super) fn pattern(&self, key: &'static str) -> Option<Regex> {
        let text = self.text(key)?;
        match Regex::new(&text) {
            Ok(pattern) => Some(pattern),
            Err(_) => {
                self.faults.add(&self.at(key), format!("`{text}` is no regular expression"));
                None
            }
        }
    }

    pub(super) fn table(&self, key: &'static str) -> Option<Table<'a>> {
        let value = self.value(key)?;
        Some(Table::of(value, self.at(key), self.faults))
    }

    /// The entries of a list with their paths.
    pub(super) fn list(&self, key: &'static str) -> Option<Vec<(String, &'a Value)>> {
        let value = self.value(key)?;
        let Some(list) = value.as_array() else {
            self.wrong(key, "a list");
            return None;
        };
        let path = self.at(key);
        Some(list.iter().enumerate().map(|(at, value)| (format!("{path}[{at}]"), value)).collect())
    }

    /// The entries of a list of maps.
    pub(super) fn tables(&self, key: &'static str) -> Option<Vec<Table<'a>>> {
        let list = self.list(key)?;
        Some(list.into_iter().map(|(path, value)| Table::of(value, path, self.faults)).collect())
    }

    /// A list of texts.
    pub(super) fn texts(&self, key: &'static str) -> Option<Vec<Arc<str>>> {
        let list = self.list(key)?;
        let text = |(path, value): (String, &Value)| match value.as_str().filter(|text| !text.is_empty()) {
            Some(text) => Some(Arc::from(text)),
            None => {
                self.faults.add(&path, "text was expected");
                None
            }
        };
        Some(list.into_iter().filter_map(text).collect())
    }

    /// A list of numbers.
    pub(super) fn numbers(&self, key: &'static str, max: u64) -> Option<Vec<u64>> {
        let list = self.list(key)?;
        let number = |(path, value): (String, &Value)| {
            let number = value.as_u64().filter(|number| (1..=max).contains(number));
            if number.is_none() {
                self.faults.add(&path, format!("an integer of 1 to {max} was expected"));
            }
            number
        };
        Some(list.into_iter().filter_map(number).collect())
    }

    /// The entries of a map whose keys are data.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, &'a Value)> + use<'a> {
        self.map.into_iter().flatten().map(|(key, value)| (key.as_str(), value))
    }

    /// Says which keys are not known.
    pub(super) fn finish(&self) {
        for (key, _) in self.entries() {
            if !self.asked.borrow().contains(&key) {
                self.faults.add(&self.at(key), "the key is unknown");
            }
        }
    }
}
