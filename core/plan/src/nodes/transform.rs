//! `type: transform`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use clinker_cxl::{Expression, Program, Scope, ScopeColumn, compile_program};
use clinker_diagnostics::suggestion;
use clinker_record::{Type, Value};

use crate::context::Context;
use crate::decode::{self, Fields, Key, Shape, later, optional, required};
use crate::document::SCALAR;
use crate::faults::{Fault, Faults};
use crate::model::{Check, LogPlan, Validation};
use crate::nodes::cxl::{Text, Visible};
use crate::nodes::log::{self, LogDraft};
use crate::nodes::values;
use crate::yaml::{Node, NodeKind};

/// A Transform as authored.
pub(crate) struct TransformDraft<'a> {
    program: &'a Node,
    validations: Vec<ValidationDraft<'a>>,
    /// Rows of the batches it hands on.
    pub batch_size: Option<usize>,
    /// Events that it reports.
    pub log: Vec<LogDraft<'a>>,
}

/// A validation as authored.
struct ValidationDraft<'a> {
    node: &'a Node,
    fields: Fields<'a>,
    args: Vec<(String, Value)>,
}

pub(super) const CONFIG: &[Key] = &[
    required("cxl", Shape::Text, "the program"),
    optional("validations", Shape::List(&Shape::Map(VALIDATION)), "checks on the output records"),
    optional("batch_size", Shape::Integer(1), "rows of the batches it hands on"),
    optional("log", Shape::List(&Shape::Map(log::DIRECTIVE)), "events that it reports"),
    later("analytic_window", &[]),
    later("declares", &["[]"]),
    later("phase", &["runtime"]),
    later("max_expansion", &["10000"]),
];

const VALIDATION: &[Key] = &[
    required("check", Shape::Text, "`not_empty`, or a condition"),
    optional("field", Shape::Text, "the field under test"),
    optional("severity", Shape::Word(&["error", "warn"]), "what a failed check does"),
    optional("message", Shape::Text, "text of the dead letter's detail"),
    optional("name", Shape::Text, "the reported rule name"),
    optional("args", Shape::Named(&SCALAR), "constants that the check reads by name"),
];

/// Reads the `config` of a Transform.
pub(crate) fn read<'a>(config: &'a Node, faults: &mut Faults) -> Option<TransformDraft<'a>> {
    let fields = decode::fields(config, "a transform's `config`", CONFIG, faults)?;
    // A broken validation does not keep the nodes below from being checked; the plan is refused anyway.
    let validations =
        fields.items("validations").unwrap_or_default().iter().filter_map(|node| validation(node, faults)).collect();
    let batch_size = fields.integer("batch_size").and_then(|rows| usize::try_from(rows).ok());
    let log = log::read(&fields, faults);
    Some(TransformDraft { program: fields.node("cxl")?, validations, batch_size, log })
}

fn validation<'a>(node: &'a Node, faults: &mut Faults) -> Option<ValidationDraft<'a>> {
    let fields = decode::fields(node, "a validation", VALIDATION, faults)?;
    let check = fields.text("check")?;
    let mut args = Vec::new();
    for entry in fields.entries("args").unwrap_or_default() {
        let value = match &entry.value.kind {
            NodeKind::Scalar(scalar) => {
                values::native(&scalar.core(), &scalar.text).or_else(|| entry.value.is_null().then_some(Value::Null))
            }
            _ => None,
        };
        match value {
            Some(value) => args.push((entry.key.to_string(), value)),
            None => {
                let message = format!("argument `{}` must be a scalar that 64 bits can hold", entry.key);
                faults.error("E000", entry.value.span, message);
            }
        }
    }
    if &**check == "not_empty" {
        if fields.node("field").is_none() {
            let fault = Fault::new("E000", node.span, "check `not_empty` needs a `field`");
            faults.push(fault.help("add `field: <column>`"));
            return None;
        }
        if let Some(entry) = fields.entry("args") {
            faults.error("E000", entry.key_span, "check `not_empty` takes no `args`");
        }
    }
    Some(ValidationDraft { node, fields, args })
}

impl TransformDraft<'_> {
    /// Reports what is wrong with the form of the texts, when the names they may use are not known.
    pub fn syntax(&self, name: &str, context: &Context<'_>, faults: &mut Faults) {
        let scope = Scope { vars: context.vars, ..Scope::default() };
        let text = Text { called: name.to_string(), node: self.program };
        text.report_form(compile_program(text.content(), &scope).1, faults);
        self.log.iter().for_each(|draft| draft.syntax(name, context, faults));
        self.validation_syntax(name, context.vars, faults);
    }

    fn validation_syntax(&self, name: &str, vars: &[(String, Type, Value)], faults: &mut Faults) {
        let scope = Scope { vars, ..Scope::default() };
        for draft in &self.validations {
            let Some(node) =
                draft.fields.node("check").filter(|node| node.text().is_some_and(|text| &**text != "not_empty"))
            else {
                continue;
            };
            Text { called: format!("{name} (validation {})", draft.rule()), node }.expression_form(&scope, faults);
        }
    }

    /// Compiles the program over the input columns.
    pub fn program(&self, name: &str, visible: &Visible<'_>, faults: &mut Faults) -> Option<Program> {
        let text = Text { called: name.to_string(), node: self.program };
        let scope = visible.scope(&[]);
        let (program, found) = compile_program(text.content(), &scope);
        if !text.report(found, faults) {
            self.validation_syntax(name, visible.vars, faults);
            return None;
        }
        program.map(|program| program.from_origin(text.origin(faults)))
    }

    /// Binds the log events to the input columns.
    pub fn events(&self, name: &str, visible: &Visible<'_>, faults: &mut Faults) -> Vec<LogPlan> {
        self.log.iter().filter_map(|draft| draft.compile(name, visible, faults)).collect()
    }

    /// Compiles the validations over the output columns.
    pub fn checks(&self, name: &str, visible: &Visible<'_>, faults: &mut Faults) -> Vec<Validation> {
        self.validations.iter().filter_map(|draft| draft.compile(name, visible, faults)).collect()
    }
}

impl ValidationDraft<'_> {
    fn compile(&self, node: &str, visible: &Visible<'_>, faults: &mut Faults) -> Option<Validation> {
        let check = self.fields.text("check")?;
        let field = match self.fields.text("field") {
            Some(field) => Some((Arc::clone(field), self.position(node, field, visible.columns, faults)?)),
            None => None,
        };
        // Without a name of its own a rule is called by its text, which may hold a substituted value.
        let rule: Arc<str> = match self.fields.text("name") {
            Some(name) => Arc::clone(name),
            None => Arc::from(faults.place().redacted(self.node.span, self.rule().to_string())),
        };
        let test = match &**check {
            "not_empty" => Check::NotEmpty,
            _ => Check::Expression(self.expression(node, &rule, visible, faults)?),
        };
        let message =
            self.fields.text("message").map_or_else(|| Arc::from(format!("validation '{rule}' failed")), Arc::clone);
        let warn = self.fields.text("severity").is_some_and(|word| &**word == "warn");
        Some(Validation { name: rule, field, check: test, warn, message })
    }

    /// The reported rule name.
    fn rule(&self) -> Arc<str> {
        let check = self.fields.text("check").map_or("", |check| check);
        match (self.fields.text("name"), self.fields.text("field")) {
            (Some(rule), _) => Arc::clone(rule),
            (None, Some(field)) => Arc::from(format!("{field}:{check}")),
            (None, None) => Arc::from(check),
        }
    }

    fn position(&self, node: &str, field: &str, columns: &[ScopeColumn], faults: &mut Faults) -> Option<usize> {
        let found = columns.iter().position(|(column, _, _)| &**column == field);
        if found.is_none() {
            let span = self.fields.node("field").map_or(self.node.span, |node| node.span);
            let message = format!("{node}: a validation names the unknown column `{field}`");
            let help = suggestion(field, columns.iter().map(|(column, _, _)| &**column));
            faults.push(Fault::new("E203", span, message).maybe_help(help));
        }
        found
    }

    fn expression(&self, node: &str, rule: &str, visible: &Visible<'_>, faults: &mut Faults) -> Option<Expression> {
        for (argument, _) in &self.args {
            if visible.columns.iter().any(|(column, _, _)| **column == **argument) {
                let span = self
                    .fields
                    .entries("args")
                    .and_then(|entries| entries.iter().find(|entry| *entry.key == **argument))
                    .map_or(self.node.span, |entry| entry.key_span);
                let message = format!("{node} (validation {rule}): argument `{argument}` is also a column");
                faults.push(Fault::new("E203", span, message).help("rename the argument"));
                return None;
            }
        }
        let text = Text { called: format!("{node} (validation {rule})"), node: self.fields.node("check")? };
        let scope = visible.scope(&self.args);
        text.condition(&scope, faults)
    }
}

/// The output columns of a program: the input ones, each replaced in place where the program emits its name, then
/// the new ones.
pub(crate) fn outputs(input: &[ScopeColumn], program: &Program) -> Vec<(ScopeColumn, crate::model::OutputSource)> {
    use crate::model::OutputSource::{Emit, Input};
    let emits: &[(Arc<str>, Type)] = program.emits();
    let emitted: HashMap<&str, usize> = emits.iter().enumerate().map(|(at, (name, _))| (&**name, at)).collect();
    let known: HashSet<&str> = input.iter().map(|(name, _, _)| &**name).collect();
    let kept = input.iter().enumerate().map(|(at, column)| match emitted.get(&*column.0) {
        Some(emit) => ((Arc::clone(&column.0), emits[*emit].1, false), Emit(*emit)),
        None => (column.clone(), Input(at)),
    });
    let new = emits.iter().enumerate().filter(|(_, (name, _))| !known.contains(&**name));
    let new = new.map(|(at, (name, ty))| ((Arc::clone(name), *ty, false), Emit(at)));
    kept.chain(new).collect()
}
