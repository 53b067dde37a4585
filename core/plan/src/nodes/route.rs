//! `type: route`.

use std::collections::HashMap;
use std::sync::Arc;

use clinker_cxl::{Expression, Scope};
use clinker_diagnostics::Span;

use crate::context::Context;
use crate::decode::{self, Fields, Key, Shape, optional, required};
use crate::faults::{Fault, Faults};
use crate::model::RoutePlan;
use crate::nodes::cxl::{Text, Visible};
use crate::nodes::names;
use crate::yaml::Node;

/// Most branches of a Route, the default included.
const MOST_BRANCHES: usize = 256;

/// A Route as authored.
pub(crate) struct RouteDraft<'a> {
    inclusive: bool,
    /// Branches with their conditions, in order; a condition that is no text was reported.
    branches: Vec<(Arc<str>, Option<&'a Node>)>,
    default: Arc<str>,
}

pub(super) const CONFIG: &[Key] = &[
    required("conditions", Shape::Named(&Shape::Text), "the branches with their conditions, in order"),
    required("default", Shape::Text, "the branch of records that no condition takes"),
    optional("mode", Shape::Word(&["exclusive", "inclusive"]), "the first branch that is true, or every one"),
];

/// Reads the `config` of a Route.
pub(crate) fn read<'a>(name: &str, config: &'a Node, faults: &mut Faults) -> Option<RouteDraft<'a>> {
    let fields = decode::fields(config, "a route's `config`", CONFIG, faults)?;
    let entries = fields.entries("conditions")?;
    let (default, default_span) = (fields.text("default")?, fields.node("default")?.span);
    let conditions_span = fields.node("conditions")?.span;
    if entries.is_empty() {
        let fault = Fault::new("E000", conditions_span, format!("route `{name}` has no branch but its default"));
        faults.push(fault.help("add a branch with its condition: `big: \"qty > 10\"`"));
    }
    if entries.len() >= MOST_BRANCHES {
        let count = entries.len() + 1;
        let message = format!("route `{name}` has {count} branches; {MOST_BRANCHES} are allowed, the default included");
        faults.error("E000", conditions_span, message);
    }
    let named = entries.iter().map(|entry| (&entry.key, entry.key_span));
    branch_names(named.chain([(default, default_span)]), faults);
    if let Some(entry) = entries.iter().find(|entry| entry.key == *default) {
        let message = format!("route `{name}`: the default `{default}` is also a branch with a condition");
        faults.push(Fault::new("E000", default_span, message).related(entry.key_span).help("rename one of them"));
    }
    let branches = entries.iter().map(|entry| {
        let condition = entry.value.text().map(|_| &entry.value);
        if condition.is_none() {
            let message = format!("{}: the condition must be text", called(name, &entry.key));
            let message = format!("{message}; it is {}", entry.value.word());
            faults.push(Fault::new("E000", entry.value.span, message).help(quoted(entry, faults)));
        }
        (Arc::clone(&entry.key), condition)
    });
    let branches = branches.collect();
    Some(RouteDraft { inclusive: inclusive(&fields), branches, default: Arc::clone(default) })
}

fn inclusive(fields: &Fields<'_>) -> bool {
    fields.text("mode").is_some_and(|mode| &**mode == "inclusive")
}

fn quoted(entry: &crate::yaml::Entry, faults: &Faults) -> String {
    match entry.value.core() {
        Some(_) => format!("quote it: `{}: \"{}\"`", entry.key, faults.place().shown(&entry.value)),
        None => format!("write `{}: \"<condition>\"`", entry.key),
    }
}

/// Branches are named by the rules of nodes: their names are parts of references.
fn branch_names<'n>(named: impl Iterator<Item = (&'n Arc<str>, Span)>, faults: &mut Faults) {
    let mut folded: HashMap<String, (&Arc<str>, Span)> = HashMap::new();
    for (name, span) in named {
        if names::check("branch", name, span, faults) {
            let first = *folded.entry(name.to_lowercase()).or_insert((name, span));
            names::differ_in_case("branch", first, (name, span), faults);
        }
    }
}

/// How messages name a condition.
fn called(node: &str, branch: &str) -> String {
    format!("{node} (branch {branch})")
}

impl RouteDraft<'_> {
    /// Its port names.
    pub fn ports(&self) -> impl Iterator<Item = &Arc<str>> {
        self.branches.iter().map(|(branch, _)| branch).chain([&self.default])
    }

    /// Reports what is wrong with the form of the conditions, when the names they may use are not known.
    pub fn syntax(&self, name: &str, context: &Context<'_>, faults: &mut Faults) {
        let scope = Scope { vars: context.vars, ..Scope::default() };
        for (branch, condition) in &self.branches {
            let Some(node) = condition else { continue };
            Text { called: called(name, branch), node }.expression_form(&scope, faults);
        }
    }

    /// Compiles all conditions over the input columns.
    pub fn compile(&self, name: &str, visible: &Visible<'_>, faults: &mut Faults) -> Option<RoutePlan> {
        let scope = visible.scope(&[]);
        let compiled: Vec<Option<(Arc<str>, Expression)>> = self
            .branches
            .iter()
            .map(|(branch, condition)| {
                let text = Text { called: called(name, branch), node: (*condition)? };
                Some((Arc::clone(branch), text.condition(&scope, faults)?))
            })
            .collect();
        let branches = compiled.into_iter().collect::<Option<Vec<_>>>()?;
        Some(RoutePlan { inclusive: self.inclusive, branches })
    }
}
