//! What trailers count.

use clinker_format::{Construct, EnvelopeFault};
use clinker_record::Decimal;
use clinker_record::text::preview;

use super::{Frame, RuleValidator, corruption};
use crate::dialect::{CountRule, Counted, Dialect};
use crate::tally::Total;

/// What was counted inside one level.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Levels opened inside, by kind.
    levels: Vec<u64>,
    /// For each count rule that counts single segments, how many passed.
    tags: Vec<u64>,
    /// For each count rule that adds, the sum.
    sums: Vec<Total>,
}

impl Counters {
    /// Nothing was counted yet.
    pub(super) fn reset(&mut self, dialect: &Dialect) {
        let has = |test: fn(&Counted) -> bool| dialect.counts.iter().any(|rule| test(&rule.of));
        let rules = dialect.counts.len();
        let tags = if has(|of| matches!(of, Counted::Tag(_))) { rules } else { 0 };
        let sums = if has(|of| matches!(of, Counted::Sum { .. })) { rules } else { 0 };
        self.levels.clear();
        self.levels.resize(dialect.levels.len(), 0);
        self.tags.clear();
        self.tags.resize(tags, 0);
        self.sums.clear();
        self.sums.resize(sums, Total::default());
    }

    pub(super) fn level(&mut self, level: u16) {
        if let Some(count) = self.levels.get_mut(usize::from(level)) {
            *count += 1;
        }
    }
}

/// A count, or a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Amount {
    Count(u64),
    Sum(Total),
}

impl Amount {
    fn digits(self) -> String {
        match self {
            Amount::Count(count) => count.to_string(),
            Amount::Sum(total) => total.digits(),
        }
    }
}

impl RuleValidator {
    /// Whether a rule asks something of the segments with that tag.
    pub(crate) fn watches(dialect: &Dialect, tag: &str) -> bool {
        dialect.counts.iter().any(|rule| match &rule.of {
            Counted::Tag(wanted) | Counted::Sum { segment: wanted, .. } => **wanted == *tag,
            Counted::Segments | Counted::Levels(_) | Counted::Bytes => false,
        })
    }

    /// Counts what single rules ask of a body segment.
    pub(super) fn count_body(
        &mut self,
        tag: &str,
        element: &dyn Fn(u32) -> Option<String>,
    ) -> Result<(), EnvelopeFault> {
        for (at, rule) in self.dialect.counts.iter().enumerate() {
            match &rule.of {
                Counted::Tag(wanted) if **wanted == *tag => {
                    for frame in &mut self.frames {
                        frame.counters.tags[at] += 1;
                    }
                }
                Counted::Sum { segment, element: number } if **segment == *tag => {
                    let Some(text) = element(*number).filter(|text| !text.is_empty()) else { continue };
                    let parsed = amount(&text);
                    let Some(amount) = parsed else {
                        let shown = preview(&text);
                        let reason =
                            format!("{tag} element {number} is added up for {} and is no number: `{shown}`", rule.at);
                        return Err(corruption("E422", reason));
                    };
                    for frame in &mut self.frames {
                        let total = &mut frame.counters.sums[at];
                        let Some(more) = total.plus(amount) else {
                            let reason = format!("the sum of {tag} element {number} has more than 38 digits");
                            return Err(corruption("E422", reason));
                        };
                        *total = more;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What a rule counted, up to the trailer of this length that was just told.
    fn counted(&self, at: usize, rule: &CountRule, trailer_bytes: u64) -> Amount {
        let frame = match rule.within {
            None => self.top(),
            Some(level) => self.frames.iter().rev().find(|frame| frame.level == Some(level)).unwrap_or(self.top()),
        };
        match &rule.of {
            Counted::Segments => {
                let all = self.segments - frame.segments;
                Amount::Count(if rule.inclusive { all } else { all.saturating_sub(2) })
            }
            Counted::Bytes => {
                let all = self.bytes - frame.bytes;
                let ends = frame.opener_bytes + trailer_bytes;
                Amount::Count(if rule.inclusive { all } else { all.saturating_sub(ends) })
            }
            Counted::Levels(levels) => {
                let counts = levels.iter().map(|level| frame.counters.levels.get(usize::from(*level)).copied());
                Amount::Count(counts.flatten().find(|count| *count > 0).unwrap_or(0))
            }
            Counted::Tag(_) => Amount::Count(frame.counters.tags[at]),
            Counted::Sum { .. } => Amount::Sum(frame.counters.sums[at]),
        }
    }

    /// Compares the counts of a trailer: first whether all are numbers, then whether they are right.
    pub(super) fn check_counts(&self, trailer: &Construct<'_>, bytes: u64) -> Result<(), EnvelopeFault> {
        let mut wrong = None;
        for (at, rule) in self.dialect.counts.iter().enumerate().filter(|(_, rule)| *rule.at == *trailer.tag) {
            let counted = self.counted(at, rule, bytes);
            let Some(text) = trailer.element(rule.element) else {
                if rule.optional {
                    continue;
                }
                let reason = format!("{} element {}, a count, is missing", rule.at, rule.element);
                return Err(corruption("E422", reason));
            };
            let Some(equal) = is_equal(text, counted) else {
                let reason =
                    format!("{} element {}, a count, is no number: `{}`", rule.at, rule.element, preview(text));
                return Err(corruption("E422", reason));
            };
            if !equal && wrong.is_none() {
                wrong = Some(EnvelopeFault {
                    code: "E428",
                    document: !rule.corruption,
                    reason: self.mismatch(rule, text, counted),
                });
            }
        }
        wrong.map_or(Ok(()), Err)
    }

    fn mismatch(&self, rule: &CountRule, declared: &str, counted: Amount) -> String {
        let what = match &rule.of {
            Counted::Segments if rule.inclusive => "segments, opener and trailer included".to_owned(),
            Counted::Segments => "segments, without opener and trailer".to_owned(),
            Counted::Bytes => "bytes".to_owned(),
            Counted::Levels(levels) => {
                let names = levels.iter().filter_map(|level| self.dialect.levels.get(usize::from(*level)));
                names.map(|level| format!("{} ({})", level.name, level.open)).collect::<Vec<_>>().join(" or ")
            }
            Counted::Tag(tag) => format!("{tag} segments"),
            Counted::Sum { segment, element } => format!("the sum of {segment} element {element}"),
        };
        format!(
            "{} element {} declares {}, counted {} ({what}) in {}",
            rule.at,
            rule.element,
            preview(declared.trim_matches(' ')),
            counted.digits(),
            self.described(self.top())
        )
    }

    /// The elements of a trailer that a writer closes a level with.
    pub(super) fn trailer_elements(&mut self, level: u16) -> Vec<(u32, String)> {
        let Some(tag) = self.dialect.levels.get(usize::from(level)).and_then(|rule| rule.close.clone()) else {
            return Vec::new();
        };
        let mut elements = self.reference_elements(&tag);
        // The trailer itself counts, and so do its digits where bytes are counted.
        self.segments += 1;
        let before = self.bytes;
        let mut trailer = 0;
        let counts = loop {
            self.bytes = before + trailer;
            let rules = self.dialect.counts.iter().enumerate().filter(|(_, rule)| rule.at == tag);
            let counts: Vec<(u32, String)> =
                rules.map(|(at, rule)| (rule.element, self.counted(at, rule, trailer).digits())).collect();
            let last = counts.iter().chain(&elements).map(|(element, _)| u64::from(*element)).max().unwrap_or(0);
            let text: usize = counts.iter().chain(&elements).map(|(_, text)| text.len()).sum();
            let bytes = tag.len() as u64 + last + text as u64 + 1;
            if bytes <= trailer {
                break counts;
            }
            trailer = bytes;
        };
        self.segments -= 1;
        elements.extend(counts);
        elements.sort_by_key(|(element, _)| *element);
        elements
    }
}

/// An amount; blanks around it do not matter, and the zero in front of a decimal point may be missing, as usual in EDI.
fn amount(text: &str) -> Option<Decimal> {
    let text = text.trim_matches(' ');
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    match digits.strip_prefix('.') {
        Some(fraction) => Decimal::parse_literal(format!("{sign}0.{fraction}").as_bytes()),
        None => Decimal::parse_literal(text.as_bytes()),
    }
}

/// Compares a declared amount; `None` when it is no number. Blanks around it and zeros in front do not matter.
fn is_equal(declared: &str, counted: Amount) -> Option<bool> {
    let text = declared.trim_matches(' ');
    match counted {
        Amount::Count(count) => {
            if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            // A number that is too large for a count equals none.
            Some(text.parse() == Ok(count))
        }
        Amount::Sum(total) => amount(text).map(|declared| Total::from(declared) == total),
    }
}

/// The elements of an opener, for rules that look back at it.
impl Frame {
    pub(super) fn element(&self, number: u32) -> Option<&str> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        Some(self.elements.get(at)).filter(|element| !element.is_empty())
    }
}
