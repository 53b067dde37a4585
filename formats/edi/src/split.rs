//! Composites that become several columns (formats.md 7.5).

use std::sync::Arc;

use clinker_format::{OptionFault, Options};

use crate::dialect::{Dialect, Role};
use crate::reader::positional;
use crate::text::{Parts, TextRules, parts};

/// The most columns that all splits of a reader may make.
const MAX_COLUMNS: u64 = 9_999;

/// An element that is split: how many parts it has on each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SplitRule {
    /// The element, from 1.
    pub element: u32,
    pub repetitions: u32,
    pub components: u32,
    pub subcomponents: u32,
}

/// An element with more parts than its rule has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyParts {
    pub axis: &'static str,
    pub declared: u32,
    pub found: u32,
}

impl SplitRule {
    /// The columns it makes.
    pub(crate) fn names(&self, prefix: &str) -> Vec<Arc<str>> {
        let base = positional(prefix, self.element as usize);
        let axis = |letter: char, width: u32, number: u32| {
            if width > 1 { format!("_{letter}{number}") } else { String::new() }
        };
        let mut names = Vec::new();
        for repetition in 1..=self.repetitions {
            for component in 1..=self.components {
                for subcomponent in 1..=self.subcomponents {
                    // A component is always named, lest the split element keep its own name.
                    let r = axis('r', self.repetitions, repetition);
                    let s = axis('s', self.subcomponents, subcomponent);
                    names.push(format!("{base}{r}_c{component}{s}").into());
                }
            }
        }
        names
    }

    /// Number of columns.
    pub(crate) fn width(&self) -> usize {
        self.repetitions as usize * self.components as usize * self.subcomponents as usize
    }

    /// Calls `each` with the position and the bounds of each part of an element on the wire.
    ///
    /// # Errors
    /// More parts than declared.
    pub(crate) fn split(
        &self,
        element: &[u8],
        text: &TextRules,
        mut each: impl FnMut(usize, usize, usize),
    ) -> Result<(), TooManyParts> {
        let mark = text.literal_mark();
        let inside = |part: &[u8]| part.as_ptr() as usize - element.as_ptr() as usize;
        let axis = |part, role| -> Parts<'_> { parts(part, text.delimiters.of(role), mark) };
        let check = |axis, declared: u32, found: u32| {
            if found > declared { Err(TooManyParts { axis, declared, found }) } else { Ok(()) }
        };
        let count = |part, role| u32::try_from(axis(part, role).count()).unwrap_or(u32::MAX);
        check("repetitions", self.repetitions, count(element, Role::Repetition))?;
        for (r, repetition) in axis(element, Role::Repetition).enumerate() {
            check("components", self.components, count(repetition, Role::Component))?;
            for (c, component) in axis(repetition, Role::Component).enumerate() {
                let number = (r * self.components as usize + c) * self.subcomponents as usize;
                if self.subcomponents == 1 {
                    let start = inside(component);
                    each(number, start, start + component.len());
                    continue;
                }
                check("subcomponents", self.subcomponents, count(component, Role::Subcomponent))?;
                for (s, part) in axis(component, Role::Subcomponent).enumerate() {
                    let start = inside(part);
                    each(number + s, start, start + part.len());
                }
            }
        }
        Ok(())
    }
}

/// What the key of an entry is called that names the element.
pub(crate) fn element_key(option: &str) -> &'static str {
    if option == "split_fields" { "field" } else { "element" }
}

/// Binds the split option.
pub(crate) fn bind(
    dialect: &Dialect,
    key: &'static str,
    options: &Options,
    max_elements: u32,
    faults: &mut Vec<OptionFault>,
) -> Vec<SplitRule> {
    let mut rules: Vec<SplitRule> = Vec::new();
    let mut fault = |message| faults.push(OptionFault { key, code: "E414", message, help: None });
    for entry in options.maps(key).unwrap_or_default() {
        let named = entry.text(element_key(key)).unwrap_or_default();
        let prefix = &*dialect.columns.prefix;
        let number = named.strip_prefix(prefix).and_then(|digits| digits.parse::<u32>().ok());
        let number = number.filter(|number| *positional(prefix, *number as usize) == *named && *number > 0);
        let Some(element) = number else {
            fault(format!("`{named}` is no generated column such as {prefix}01"));
            continue;
        };
        if element > max_elements {
            fault(format!("{named} is above {}, which is {max_elements}", dialect.columns.max_option));
            continue;
        }
        if rules.iter().any(|rule| rule.element == element) {
            fault(format!("{named} is split twice"));
            continue;
        }
        let width = |key| u32::try_from(entry.number(key).unwrap_or(1)).unwrap_or(u32::MAX);
        let rule = SplitRule {
            element,
            repetitions: width("repetitions"),
            components: width("components"),
            subcomponents: width("subcomponents"),
        };
        if rule.repetitions == 0 || rule.components == 0 || rule.subcomponents == 0 {
            fault(format!("{named} has an axis of width 0"));
            continue;
        }
        rules.push(rule);
    }
    let all = rules.iter().map(|rule| {
        u64::from(rule.repetitions).saturating_mul(rule.components.into()).saturating_mul(rule.subcomponents.into())
    });
    let columns = all.fold(0, u64::saturating_add);
    if columns > MAX_COLUMNS {
        fault(format!("the entries make {columns} columns; at most {MAX_COLUMNS} are possible"));
        rules.clear();
    }
    rules
}
