//! Which levels are open in an output, and which ones a record opens.

use std::sync::Arc;

use clinker_record::{Level, Origin, Section};

use super::cells::{Refusal, Rows};
use super::header;
use super::options::{HeaderPlan, WriterSpec};
use crate::dialect::Presence;

/// A level that is open in the output.
#[derive(Debug)]
pub struct Unit {
    /// Its key, as a key column holds it.
    pub reference: String,
    /// The level of the input that its first record came from.
    pub instance: Option<Arc<Level>>,
}

/// The levels of an output.
#[derive(Debug, Default)]
pub struct Units {
    /// One a level of the dialect.
    pub open: Vec<Option<Unit>>,
    /// How many units each level has had since its numbers began.
    ordinals: Vec<u64>,
    /// Levels that were passed over while levels inside them were opened.
    passed: Vec<bool>,
}

/// What a record opens.
#[derive(Debug, Default)]
pub struct Opening {
    /// The outermost level that it opens; what is open from there on is closed first.
    pub from: Option<usize>,
    /// All levels that it opens, outermost first.
    pub levels: Vec<Step>,
}

/// A level that is to be opened.
#[derive(Debug)]
pub struct Step {
    pub level: usize,
    /// The key that the record gives.
    pub key: Option<String>,
}

/// A record on its way into the envelope.
pub struct Arrival<'a> {
    pub tag: &'a str,
    pub rows: &'a Rows<'a>,
    pub row: usize,
    pub level: Option<&'a Arc<Level>>,
}

impl Arrival<'_> {
    /// The key that the row gives for a level.
    fn key(&self, level: usize) -> Result<Option<String>, Box<Refusal>> {
        let Some(column) = self.rows.columns.keys[level].first().copied().flatten() else { return Ok(None) };
        let text = self.rows.text(column, self.row)?;
        Ok((!text.is_empty()).then(|| text.into_owned()))
    }
}

impl Units {
    pub fn new(levels: usize) -> Self {
        Self { open: (0..levels).map(|_| None).collect(), ordinals: vec![0; levels], passed: vec![false; levels] }
    }

    /// The levels that a record opens.
    ///
    /// # Errors
    /// The record has no place (E449), or a key has none (E447).
    pub fn opening(&self, spec: &WriterSpec, arrival: &Arrival<'_>) -> Result<Opening, Box<Refusal>> {
        let levels = &spec.dialect.levels;
        let outside = spec.dialect.allow_outside.iter().find(|(tag, _)| **tag == *arrival.tag);
        let opener = levels.iter().position(|level| level.emit_open && *level.open == *arrival.tag);
        let last = match (outside, opener) {
            (Some((_, level)), _) => usize::from(*level),
            (None, Some(level)) => level,
            (None, None) => levels.len() - 1,
        };
        if outside.is_some() {
            self.check_outside(spec, arrival.tag, last)?;
        }
        let mut opening = Opening::default();
        for (level, rule) in levels.iter().enumerate().take(last + 1) {
            let key = if outside.is_some() { None } else { arrival.key(level)? };
            if spec.headers[level] == HeaderPlan::Absent {
                Self::check_absent(spec, level, key.as_deref(), arrival)?;
                continue;
            }
            if self.passes_over(spec, level, key.as_deref(), arrival, opening.from.is_some()) {
                continue;
            }
            if opening.from.is_some() || self.opens(spec, level, key.as_deref(), arrival, opener == Some(level)) {
                if self.passed[level] && opening.from.is_none() && rule.optional == Presence::AllOrNone {
                    let name = &rule.name;
                    let reason = format!("it opens a {name} behind records outside of every {name}");
                    return Err(Refusal::new("E449", name, key.as_deref().unwrap_or_default(), reason));
                }
                opening.from = opening.from.or(Some(level));
                opening.levels.push(Step { level, key });
            }
        }
        Ok(opening)
    }

    /// A segment that stands directly in a level has its place in front of the levels inside.
    fn check_outside(&self, spec: &WriterSpec, tag: &str, level: usize) -> Result<(), Box<Refusal>> {
        let inner = level + 1..self.open.len();
        if inner.clone().all(|inner| self.open[inner].is_none() && self.ordinals[inner] == 0) {
            return Ok(());
        }
        let levels = &spec.dialect.levels;
        let reason = format!(
            "{tag} stands in the {} in front of the first {}, and one was written",
            levels[level].name, levels[inner.start].name
        );
        Err(Refusal::new("E449", &spec.dialect.columns.tag_column, tag, reason))
    }

    /// A level without a header has no room for a key.
    fn check_absent(
        spec: &WriterSpec,
        level: usize,
        key: Option<&str>,
        arrival: &Arrival<'_>,
    ) -> Result<(), Box<Refusal>> {
        let (Some(key), Some(column)) = (key, arrival.rows.columns.keys[level].first().copied().flatten()) else {
            return Ok(());
        };
        let rule = spec.rule(level);
        let option = rule.and_then(|rule| rule.echo.as_ref().or(rule.literal.as_ref()));
        let reason = match option {
            Some(option) => format!("no {} is written without `{option}`", spec.dialect.levels[level].name),
            None => format!("no {} is written", spec.dialect.levels[level].name),
        };
        Err(Refusal::new("E447", arrival.rows.name(column), key, reason))
    }

    /// Whether a record does without a level that may be missing: it comes from outside of one and names none.
    fn passes_over(
        &self,
        spec: &WriterSpec,
        level: usize,
        key: Option<&str>,
        arrival: &Arrival<'_>,
        outer_opens: bool,
    ) -> bool {
        spec.dialect.levels[level].optional == Presence::AllOrNone
            && matches!(spec.headers[level], HeaderPlan::Echo(_))
            && key.is_none()
            && instance(arrival.level, level).is_none()
            && (outer_opens || self.open[level].is_none())
    }

    fn opens(&self, spec: &WriterSpec, level: usize, key: Option<&str>, arrival: &Arrival<'_>, opener: bool) -> bool {
        let Some(unit) = &self.open[level] else { return true };
        let by_record = spec.headers[level] == HeaderPlan::Record;
        if by_record && rules_of(spec, level).is_none() {
            // Only its own record opens it.
            return opener;
        }
        if opener || key.is_some_and(|key| key != unit.reference) {
            return true;
        }
        let HeaderPlan::Echo(name) = &spec.headers[level] else { return false };
        let Some(now) = instance(arrival.level, level).filter(|_| level > 0) else { return false };
        if unit.instance.as_ref().is_some_and(|opened| Arc::ptr_eq(opened, now)) {
            return false;
        }
        // A key that is the level's own says no more than the level does: neighbours with equal keys stay apart.
        key.is_none_or(|key| {
            now.section(name).and_then(|section| header::own_key(spec, level, section)).as_deref() == Some(key)
        })
    }

    /// The key of a level that has none, and its ordinal, if its outermost opened level is `from`.
    pub fn anonymous(&self, spec: &WriterSpec, level: usize, from: usize) -> (String, u64) {
        let rule = spec.rules.anonymous.iter().find(|rule| usize::from(rule.level) == level);
        let per = rule.map_or(level.saturating_sub(1), |rule| usize::from(rule.per));
        let seen = if from <= per && per < level { 0 } else { self.ordinals[level] };
        let ordinal = seen.saturating_add(1);
        let (start, width) = rule.map_or((1, 1), |rule| (rule.start, rule.width));
        (format!("{:0width$}", start.saturating_add(seen)), ordinal)
    }

    /// Notes that a level was opened.
    pub fn opened(&mut self, spec: &WriterSpec, level: usize, unit: Unit) {
        self.ordinals[level] = self.ordinals[level].saturating_add(1);
        self.open[level] = Some(unit);
        for inner in level + 1..self.open.len() {
            let rule = spec.rules.anonymous.iter().find(|rule| usize::from(rule.level) == inner);
            if rule.map_or(inner - 1, |rule| usize::from(rule.per)) == level {
                self.ordinals[inner] = 0;
            }
            self.passed[inner] = false;
        }
        for outer in 0..level {
            self.passed[outer] |= self.open[outer].is_none();
        }
    }
}

/// Where the elements of an opener that is a record come from; none when they all come from that record.
pub fn rules_of(spec: &WriterSpec, level: usize) -> Option<&[(u32, crate::dialect::OpenFrom)]> {
    let last = level + 1 == spec.dialect.levels.len();
    Some(spec.rules.open.as_slice()).filter(|rules| last && !rules.is_empty())
}

/// The level of a kind around a row.
pub fn instance(level: Option<&Arc<Level>>, kind: usize) -> Option<&Arc<Level>> {
    level?.of_kind(u16::try_from(kind).ok()?)
}

/// The document of a row.
#[derive(Clone, Debug)]
pub enum Document {
    /// An outermost level.
    Level(Arc<Level>, Option<(u16, u32)>),
    /// A file of a source, by their positions.
    File(u16, u32),
}

impl Document {
    /// The document of a row; none for a row that comes from no file.
    pub fn of(origin: &Origin, row: usize, level: Option<&Arc<Level>>) -> Option<Self> {
        let file = (!origin.runs().is_empty()).then(|| origin.locate(row).0).map(|run| (run.source, run.file));
        match level.map(Level::root) {
            // A level that is no outermost one of its format stands for itself, not for its file.
            Some(root) if root.kind == 0 => Some(Document::Level(Arc::clone(root), file)),
            _ => file.map(|(source, file)| Document::File(source, file)),
        }
    }

    /// Whether both are one document.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Document::Level(one, _), Document::Level(two, _)) => Arc::ptr_eq(one, two),
            _ => self.file() == other.file(),
        }
    }

    fn file(&self) -> Option<(u16, u32)> {
        match self {
            Document::Level(_, file) => *file,
            Document::File(source, file) => Some((*source, *file)),
        }
    }

    /// What it is called in messages.
    pub fn shown(&self) -> String {
        let file = match self.file() {
            Some((source, file)) => format!("file {} of source {}", u64::from(file) + 1, u32::from(source) + 1),
            None => "a document without a file".to_owned(),
        };
        match self {
            Document::Level(root, _) => format!("{file}, envelope {}", root.ordinal),
            Document::File(..) => file,
        }
    }
}

/// Whether two sections would be echoed alike.
pub fn same_header(one: &Section, two: &Section) -> bool {
    match (one.key("$raw"), two.key("$raw")) {
        (Some(one), Some(two)) => one == two,
        (None, None) => one.fields == two.fields,
        _ => false,
    }
}
