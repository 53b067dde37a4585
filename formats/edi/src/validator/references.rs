//! What trailers echo.

use clinker_format::{Construct, EnvelopeFault};
use clinker_record::text::preview;

use super::{Frame, RuleValidator, corruption};
use crate::delimiters::holds;
use crate::dialect::ReferenceRule;

impl ReferenceRule {
    /// A rule of one element without conditions compares it even when it is missing.
    fn is_exact(&self) -> bool {
        matches!(&self.candidates[..], [(elements, conditions)] if elements.len() == 1 && conditions.is_empty())
    }

    fn plain<'a>(&self, text: &'a str) -> &'a str {
        let text = if self.ignore_spaces { text.trim_matches(' ') } else { text };
        if self.ignore_leading_zeros { text.trim_start_matches('0') } else { text }
    }
}

/// The reference of an open level, for messages.
pub(super) fn shown(rule: &ReferenceRule, frame: &Frame) -> Option<String> {
    let elements = rule.candidates.iter().flat_map(|(elements, _)| elements);
    elements.filter_map(|element| frame.element(*element)).next().map(str::to_owned)
}

impl RuleValidator {
    /// The non-empty elements of the opener that a trailer may echo.
    fn candidates<'a>(&'a self, rule: &'a ReferenceRule) -> impl Iterator<Item = &'a str> + Clone {
        let opener = |frame: &&Frame| self.rule(frame).is_some_and(|level| level.open == rule.of);
        let frame = self.frames.iter().rev().find(opener);
        let applies = frame.and_then(|frame| {
            rule.candidates.iter().find(|(_, conditions)| {
                conditions.iter().all(|condition| {
                    condition.header == rule.of && holds(condition, frame.element(condition.element), self.component)
                })
            })
        });
        let elements = applies.map(|(elements, _)| elements.as_slice()).unwrap_or_default();
        elements.iter().filter_map(move |element| frame.and_then(|frame| frame.element(*element)))
    }

    /// Compares the references of a trailer.
    pub(super) fn check_references(&self, trailer: &Construct<'_>) -> Result<(), EnvelopeFault> {
        for rule in self.dialect.references.iter().filter(|rule| *rule.at == *trailer.tag) {
            let candidates = self.candidates(rule);
            let echo = trailer.element(rule.element).unwrap_or_default();
            let none = candidates.clone().next().is_none();
            let accepted = (none && (!rule.is_exact() || echo.is_empty()))
                || (rule.optional && echo.is_empty())
                || candidates.clone().any(|candidate| rule.plain(candidate) == rule.plain(echo));
            if accepted {
                continue;
            }
            let shown: Vec<String> = candidates.map(|text| format!("`{}`", preview(text))).collect();
            let wanted = if none { "has none".to_owned() } else { format!("says {}", shown.join(" or ")) };
            let found = match echo {
                "" => "is missing".to_owned(),
                echo => format!("says `{}`", preview(echo)),
            };
            let reason = format!(
                "{} element {}, the control reference, {found}, and {} {wanted}: {}",
                rule.at,
                rule.element,
                rule.of,
                self.described(self.top())
            );
            return Err(corruption("E424", reason));
        }
        Ok(())
    }

    /// The references of a trailer that a writer closes a level with.
    pub(super) fn reference_elements(&self, tag: &str) -> Vec<(u32, String)> {
        let rules = self.dialect.references.iter().filter(|rule| *rule.at == *tag);
        rules.filter_map(|rule| Some((rule.element, self.candidates(rule).next()?.to_owned()))).collect()
    }
}
