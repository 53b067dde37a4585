//! `log` of a Transform: events that a run reports, and that change no result.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use clinker_cxl::{Expression, Scope, ScopeColumn, compile_expression, compile_program};
use clinker_diagnostics::{Span, nearest, suggestion};
use clinker_events::Level;

use crate::context::Context;
use crate::decode::{self, Fields, Key, Shape, gone, optional, required};
use crate::faults::{Fault, Faults};
use crate::model::{LogPlan, LogWhen};
use crate::nodes::cxl::{Text, Visible};
use crate::yaml::Node;

/// Most directives of a node.
const MOST_DIRECTIVES: usize = 32;
/// Most fields that the directives of a node ask for together.
const MOST_FIELDS: usize = 256;
/// Longest name of an event, in bytes.
const LONGEST_NAME: usize = 128;
/// Longest message, in bytes.
const LONGEST_MESSAGE: usize = 1024;
/// Longest condition, in bytes.
const LONGEST_CONDITION: usize = 512;

const LEVELS: [(&str, Level); 5] = [
    ("trace", Level::Trace),
    ("debug", Level::Debug),
    ("info", Level::Info),
    ("warn", Level::Warn),
    ("error", Level::Error),
];

const TIMES: [(&str, LogWhen); 4] = [
    ("before_transform", LogWhen::BeforeTransform),
    ("after_transform", LogWhen::AfterTransform),
    ("per_record", LogWhen::PerRecord),
    ("on_error", LogWhen::OnError),
];

pub(super) const DIRECTIVE: &[Key] = &[
    required("name", Shape::Text, "the name of the event"),
    required("level", Shape::Words(&["trace", "debug", "info", "warn", "error"]), "how important it is"),
    required(
        "when",
        Shape::Words(&["before_transform", "after_transform", "per_record", "on_error"]),
        "once before or after all records, or with single ones",
    ),
    required("message", Shape::Text, "its text, which is the same each time"),
    optional("every", Shape::Integer(i64::MIN), "only each nth record"),
    optional("fields", Shape::Texts, "input columns that go with the event"),
    optional("condition", Shape::Text, "only records for which it is true"),
    gone("log_rule", "E011", "write the directive itself"),
];

/// A directive as authored.
pub(crate) struct LogDraft<'a> {
    pub name: Arc<str>,
    pub name_span: Span,
    level: Level,
    when: LogWhen,
    message: Arc<str>,
    every: u64,
    pub fields: Vec<(Arc<str>, Span)>,
    fields_span: Span,
    condition: Option<&'a Node>,
}

/// Reads the list of directives.
pub(crate) fn read<'a>(config: &Fields<'a>, faults: &mut Faults) -> Vec<LogDraft<'a>> {
    let items = config.items("log").unwrap_or_default();
    let span = config.node("log").map_or(config.span, |node| node.span);
    if items.len() > MOST_DIRECTIVES {
        let message = format!("`log` has {} directives; {MOST_DIRECTIVES} are allowed", items.len());
        faults.error("E011", span, message);
    }
    let directives: Vec<LogDraft<'a>> = items.iter().filter_map(|item| directive(item, faults)).collect();
    let fields: usize = directives.iter().map(|directive| directive.fields.len()).sum();
    if fields > MOST_FIELDS {
        let message = format!("the directives of `log` ask for {fields} fields together; {MOST_FIELDS} are allowed");
        faults.error("E011", span, message);
    }
    let mut first: HashMap<&str, Span> = HashMap::new();
    for directive in &directives {
        if let Some(first) = first.insert(&directive.name, directive.name_span) {
            let message = format!("two directives are named `{}`", directive.name);
            faults.push(Fault::new("E011", directive.name_span, message).related(first).help("rename one of them"));
        }
    }
    directives
}

fn directive<'a>(item: &'a Node, faults: &mut Faults) -> Option<LogDraft<'a>> {
    let fields = decode::fields(item, "a log directive", DIRECTIVE, faults)?;
    let level = word(&fields, "level", &LEVELS, faults);
    let when = word(&fields, "when", &TIMES, faults);
    let (name, message) = (fields.text("name")?, fields.text("message")?);
    let span = |key: &str| fields.node(key).map_or(fields.span, |node| node.span);
    if let Some(wrong) = name_fault(name) {
        let fault = Fault::new("E011", span("name"), format!("the event name `{name}` {wrong}"));
        faults.push(fault.help("write words joined by dots: `orders.large`"));
    }
    if message.len() > LONGEST_MESSAGE {
        let found = format!("`message` has {} bytes; {LONGEST_MESSAGE} are allowed", message.len());
        faults.error("E011", span("message"), found);
    } else if message.contains(['{', '}']) {
        let fault = Fault::new("E011", span("message"), "`message` has a brace; it is the same text each time");
        faults.push(fault.help("name the values in `fields`"));
    }
    let when = when?;
    let every = every(&fields, when, faults);
    let listed = listed(&fields, when, faults);
    let condition = condition(&fields, when, faults);
    Some(LogDraft {
        name: Arc::clone(name),
        name_span: span("name"),
        level: level?,
        when,
        message: Arc::clone(message),
        every,
        fields: listed,
        fields_span: span("fields"),
        condition,
    })
}

/// The meaning of a word.
fn word<T: Copy>(fields: &Fields<'_>, key: &str, words: &[(&str, T)], faults: &mut Faults) -> Option<T> {
    let (text, node) = (fields.text(key)?, fields.node(key)?);
    let found = words.iter().find(|(word, _)| **word == **text).map(|(_, meaning)| *meaning);
    if found.is_none() {
        let names = || words.iter().map(|(word, _)| *word);
        let help = suggestion(text, names())
            .unwrap_or_else(|| format!("write one of {}", names().collect::<Vec<_>>().join(", ")));
        let message = format!("`{}` is no `{key}` of a log directive", faults.place().shown(node));
        faults.push(Fault::new("E011", node.span, message).help(help));
    }
    found
}

/// What is wrong with the name of an event.
fn name_fault(name: &str) -> Option<String> {
    if name.len() > LONGEST_NAME {
        return Some(format!("has {} bytes; {LONGEST_NAME} are allowed", name.len()));
    }
    let starts = |part: &str| part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let goes_on = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let fits = name.split('.').all(|part| starts(part) && goes_on(part));
    (!fits).then(|| "is not made of words of letters, digits and `_`".to_string())
}

fn every(fields: &Fields<'_>, when: LogWhen, faults: &mut Faults) -> u64 {
    let per_record = when == LogWhen::PerRecord;
    match (fields.integer("every"), fields.entry("every")) {
        (Some(_), Some(entry)) if !per_record => {
            let fault = Fault::new("E011", entry.key_span, "`every` needs `when: per_record`");
            faults.push(fault.help("leave it out, or write `when: per_record`"));
        }
        (Some(every), Some(entry)) if every < 1 => {
            let message = format!("`every` is {every}; it must be at least 1");
            faults.error("E011", entry.value.span, message);
        }
        (Some(every), _) => return every.unsigned_abs(),
        (None, None) if per_record => {
            let fault = Fault::new("E011", fields.span, "`when: per_record` needs `every`");
            faults.push(fault.help("write `every: 1` for each record"));
        }
        _ => {}
    }
    1
}

fn listed(fields: &Fields<'_>, when: LogWhen, faults: &mut Faults) -> Vec<(Arc<str>, Span)> {
    let (Some(items), Some(entry)) = (fields.items("fields"), fields.entry("fields")) else { return Vec::new() };
    if !matches!(when, LogWhen::PerRecord | LogWhen::OnError) {
        let fault = Fault::new("E011", entry.key_span, "`fields` needs `when: per_record` or `when: on_error`");
        faults.push(fault.help("leave it out: there is no record to take them from"));
    } else if items.is_empty() || items.len() > MOST_FIELDS {
        let message = format!("`fields` lists {} columns; it must list 1 to {MOST_FIELDS}", items.len());
        faults.error("E011", entry.value.span, message);
    }
    let mut seen = HashSet::new();
    for item in items {
        if item.text().is_some_and(|field| !seen.insert(field)) {
            let message = format!("`fields` lists `{}` twice", faults.place().shown(item));
            faults.error("E011", item.span, message);
        }
    }
    items.iter().filter_map(|item| Some((Arc::clone(item.text()?), item.span))).collect()
}

fn condition<'a>(fields: &Fields<'a>, when: LogWhen, faults: &mut Faults) -> Option<&'a Node> {
    let entry = fields.entry("condition")?;
    let text = entry.value.text()?;
    if when != LogWhen::PerRecord {
        let fault = Fault::new("E011", entry.key_span, "`condition` needs `when: per_record`");
        faults.push(fault.help("leave it out, or write `when: per_record`"));
        return None;
    }
    if text.len() > LONGEST_CONDITION {
        let message = format!("`condition` has {} bytes; {LONGEST_CONDITION} are allowed", text.len());
        faults.push(Fault::new("E373", entry.value.span, message).help("emit the outcome and test that"));
        return None;
    }
    // What is no expression but a fine program has more than one statement, or another one than an expression.
    let scope = Scope::default();
    let form = |code: Option<&str>| code == Some("E202");
    let expression = !compile_expression(text, &scope, clinker_cxl::Want::Any).1.iter().any(|found| form(found.code));
    if !expression && !compile_program(text, &scope).1.iter().any(|found| form(found.code)) {
        let fault = Fault::new("E373", entry.value.span, "`condition` is a program; it must be one boolean expression");
        faults.push(fault.help("write for example `qty > 50`"));
        return None;
    }
    Some(&entry.value)
}

impl LogDraft<'_> {
    fn condition_text<'t>(&'t self, node: &str) -> Option<Text<'t>> {
        Some(Text { called: format!("{node} (log {})", self.name), node: self.condition? })
    }

    /// Reports what is wrong with the form of the condition, when the names it may use are not known.
    pub fn syntax(&self, node: &str, context: &Context<'_>, faults: &mut Faults) {
        let scope = Scope { vars: context.vars, ..Scope::default() };
        if let Some(text) = self.condition_text(node) {
            text.expression_form(&scope, faults);
        }
    }

    /// Binds it to the input columns.
    pub fn compile(&self, node: &str, visible: &Visible<'_>, faults: &mut Faults) -> Option<LogPlan> {
        let positions: Vec<Option<usize>> = self
            .fields
            .iter()
            .map(|(field, _)| visible.columns.iter().position(|(column, _, _)| column == field))
            .collect();
        for ((field, span), position) in self.fields.iter().zip(&positions) {
            if position.is_none() {
                let message = format!("{node} (log {}): `{field}` is no input column", self.name);
                faults.push(
                    Fault::new("E374", *span, message).related(self.fields_span).help(self.corrected(visible.columns)),
                );
            }
        }
        let scope = visible.scope(&[]);
        let condition: Option<Option<Expression>> = match self.condition_text(node) {
            Some(text) => text.condition(&scope, faults).map(Some),
            None => Some(None),
        };
        Some(LogPlan {
            name: Arc::clone(&self.name),
            level: self.level,
            when: self.when,
            message: Arc::clone(&self.message),
            every: self.every,
            fields: positions.into_iter().collect::<Option<Vec<usize>>>()?,
            condition: condition?,
        })
    }

    /// The list with each unknown field replaced by its nearest column, if they all have one.
    fn corrected(&self, columns: &[ScopeColumn]) -> String {
        let names = || columns.iter().map(|(column, _, _)| &**column);
        let known = |field: &'_ str| names().find(|name| *name == field);
        let list: Option<Vec<&str>> =
            self.fields.iter().map(|(field, _)| known(field).or_else(|| nearest(field, names()))).collect();
        match list {
            Some(list) => format!("write `fields: [ {} ]`", list.join(", ")),
            None => format!("the input columns are {}", names().collect::<Vec<_>>().join(", ")),
        }
    }
}

/// One event name has the same fields wherever it stands. `nodes` are the directives of each node.
pub(crate) fn same_fields<'d>(nodes: impl Iterator<Item = &'d [LogDraft<'d>]>, faults: &mut Faults) {
    let mut first: HashMap<&str, (Vec<&str>, Span)> = HashMap::new();
    for directive in nodes.flatten() {
        let mut fields: Vec<&str> = directive.fields.iter().map(|(field, _)| &**field).collect();
        fields.sort_unstable();
        let (known, span) = first.entry(&directive.name).or_insert_with(|| (fields.clone(), directive.name_span));
        if *known != fields {
            let message = format!("the log event `{}` has other fields elsewhere", directive.name);
            let list = |fields: &[&str]| if fields.is_empty() { "none".to_string() } else { fields.join(", ") };
            let help = format!("here they are {}, there {}: rename one event", list(&fields), list(known));
            faults.push(Fault::new("E375", directive.name_span, message).related(*span).help(help));
        }
    }
}
