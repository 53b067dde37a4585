//! What is known of names before a file is read.

use std::collections::HashMap;
use std::sync::Arc;

use clinker_format::{ExpandMode, ExpandRule, ReadRequest};

/// A declared input name.
#[derive(Debug)]
pub struct Declared {
    /// The dotted name.
    pub name: Arc<str>,
    /// Whether values that repeat in a record are collected.
    pub multiple: bool,
}

/// Names of fields and what they mean.
#[derive(Debug)]
pub struct Keys {
    /// Declared names, each once.
    pub declared: Vec<Declared>,
    positions: HashMap<Arc<str>, u32>,
    /// Exposed names of columns that read another field: a field of such a name would be hidden.
    hiding: HashMap<Arc<str>, Arc<str>>,
    /// Whether fields without a declaration are wanted.
    pub undeclared: bool,
    /// Whether a field without a declaration ends the reading.
    refuse: bool,
    /// Whether `.`, `[` and `\` of a key are escaped in names.
    pub escape: bool,
    /// Fields that make several rows of a record.
    pub expand: Vec<ExpandRule>,
    /// The most rows that one record may become through them.
    pub max_rows: u64,
}

/// A field that ends the reading.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// E397 or E430.
    pub code: &'static str,
    /// What is wrong.
    pub reason: String,
    /// The way out.
    pub help: String,
}

impl Keys {
    /// The names of declared fields.
    pub fn new(request: &ReadRequest<'_>, escape: bool) -> Self {
        let (mut declared, mut positions) = (Vec::<Declared>::new(), HashMap::new());
        for field in request.fields {
            let position = *positions.entry(Arc::clone(&field.input_name)).or_insert_with(|| {
                declared.push(Declared { name: Arc::clone(&field.input_name), multiple: false });
                declared.len() as u32 - 1
            });
            declared[position as usize].multiple |= field.multiple;
        }
        let hidden = request.fields.iter().filter(|field| !positions.contains_key(&field.exposed_name));
        let hiding = hidden.map(|field| (Arc::clone(&field.exposed_name), Arc::clone(&field.input_name))).collect();
        Self {
            declared,
            positions,
            hiding,
            undeclared: request.undeclared,
            refuse: request.refuse_undeclared,
            escape,
            expand: request.expand.to_vec(),
            max_rows: request.max_rows.unwrap_or(u64::MAX),
        }
    }

    /// Position of a declared name.
    pub fn position(&self, name: &str) -> Option<u32> {
        self.positions.get(name).copied()
    }

    /// Why an undeclared field cannot be read.
    pub fn refusal(&self, name: &str) -> Option<Refusal> {
        if let Some(read) = self.hiding.get(name) {
            return Some(Refusal {
                code: "E397",
                reason: format!(
                    "column `{name}` is read from field `{read}`, but the record has a real field `{name}`, which would \
                     be hidden"
                ),
                help: format!("expose `{read}` under another name"),
            });
        }
        self.refuse.then(|| Refusal {
            code: "E430",
            reason: format!("field `{name}` is not declared"),
            help: format!("declare `{name}` in the schema, or set `on_unmapped: {{ mode: drop }}`"),
        })
    }

    /// Whether values of that name are collected.
    pub fn collects(&self, name: &str) -> bool {
        let multiple = |name| self.position(name).is_some_and(|position| self.declared[position as usize].multiple);
        multiple(name) || self.lifted(name).any(multiple)
    }

    /// The names that a name has once its field is expanded.
    fn lifted<'n>(&self, name: &'n str) -> impl Iterator<Item = &'n str> {
        let lifting = self.expand.iter().filter(|rule| rule.mode == ExpandMode::Extract);
        lifting.filter_map(move |rule| name.strip_prefix(&*rule.field)?.strip_prefix('.'))
    }

    /// Whether values of that name, or of one inside it, are collected.
    pub fn collects_under(&self, name: &str) -> bool {
        let inside = |declared: &Declared| {
            declared.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.declared.iter().any(|declared| declared.multiple && inside(declared))
            || self.lifted(name).any(|name| self.collects_under(name))
    }
}
