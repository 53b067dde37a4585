//! A plan with its inputs, and how both are written down.

use std::fmt::Write as _;

use super::expr::{Cell, Expr, Kind, object};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    pub nullable: bool,
}

/// A row of an input.
#[derive(Clone, Debug)]
pub enum Input {
    /// Fields by name, in the order in which the row has them. A flat row has all of them, as text.
    Row(Vec<(String, Cell)>),
    /// A row whose form is wrong.
    Broken(String),
}

#[derive(Clone, Debug)]
pub struct InputFile {
    pub name: String,
    /// The names of the columns, where the format has a header.
    pub header: Vec<String>,
    pub rows: Vec<Input>,
}

#[derive(Clone, Debug)]
pub struct SourceSpec {
    pub json: bool,
    pub columns: Vec<Column>,
    /// Undeclared fields are dropped.
    pub drop: bool,
    pub files: Vec<InputFile>,
    /// Has a dead-letter file of its own.
    pub own_rejects: bool,
    pub rows: Option<Rows>,
}

/// One row for each object in a field.
#[derive(Clone, Debug)]
pub struct Rows {
    pub field: String,
    /// A record without an object is a row, too.
    pub keep_empty: bool,
    /// The declared column that receives the number of the object.
    pub position: Option<String>,
    /// The most rows of one record.
    pub most: Option<usize>,
}

#[derive(Clone, Debug)]
pub enum Statement {
    Filter(Expr),
    Let(String, Expr),
    Emit(String, Expr),
}

#[derive(Clone, Debug)]
pub struct Check {
    pub field: Option<String>,
    /// None is `not_empty`.
    pub test: Option<Expr>,
    pub warn: bool,
}

#[derive(Clone, Debug)]
pub struct SinkSpec {
    pub json: bool,
    /// Columns that were not emitted, and undeclared fields, are written too.
    pub unmapped: bool,
    pub exclude: Vec<String>,
    pub nulls: bool,
    /// One output for each file of the Sources above.
    pub per_file: bool,
    /// Where the output is divided.
    pub split: Option<Split>,
}

/// A file takes no more records when it has so many, or so many bytes.
#[derive(Clone, Debug)]
pub struct Split {
    pub records: Option<usize>,
    pub bytes: Option<usize>,
}

#[derive(Clone, Debug)]
pub enum Op {
    Source(SourceSpec),
    Transform { statements: Vec<Statement>, checks: Vec<Check> },
    Route { inclusive: bool, branches: Vec<(String, Expr)>, default: String },
    Merge { interleave: bool },
    Sink(SinkSpec),
}

/// An output of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub node: String,
    pub branch: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Node {
    pub name: String,
    pub op: Op,
    pub inputs: Vec<Port>,
    /// Of its outputs; of a Sink what it reads.
    pub columns: Vec<Column>,
    /// The columns that count as emitted, all of them unless a Transform stands above.
    pub emitted: Option<Vec<String>>,
    /// Records may have undeclared fields.
    pub widens: bool,
}

/// At most one of them, so that it is clear which one trips.
#[derive(Clone, Debug)]
pub enum Breaker {
    None,
    Pipeline { max: f64, min_records: u64 },
    Source { name: String, max: f64, min_records: u64 },
    Types { max: f64 },
}

#[derive(Clone, Debug)]
pub struct Plan {
    /// In declaration order.
    pub nodes: Vec<Node>,
    pub fail_fast: bool,
    /// Whether there is a dead-letter file for all Sources.
    pub rejects: bool,
    pub breaker: Breaker,
}

impl Plan {
    pub fn at(&self, name: &str) -> usize {
        self.nodes.iter().position(|node| node.name == name).expect("a declared node")
    }

    /// The nodes that read a node, in declaration order.
    pub fn consumers(&self, name: &str) -> Vec<usize> {
        let reads = |node: &Node| node.inputs.iter().any(|input| input.node == name);
        (0..self.nodes.len()).filter(|at| reads(&self.nodes[*at])).collect()
    }

    /// The Sources above a node, or itself.
    pub fn stems_from(&self, at: usize) -> Vec<String> {
        let node = &self.nodes[at];
        match node.op {
            Op::Source(_) => vec![node.name.clone()],
            _ => node.inputs.iter().flat_map(|input| self.stems_from(self.at(&input.node))).collect(),
        }
    }

    /// The document.
    pub fn document(&self) -> String {
        let mut yaml = String::from("pipeline: { name: random }\nnodes:\n");
        for node in &self.nodes {
            let _ = writeln!(yaml, "  - type: {}\n    name: {}", word(&node.op), node.name);
            let inputs: Vec<String> = node.inputs.iter().map(reference).collect();
            match node.op {
                Op::Source(_) => {}
                Op::Merge { .. } => writeln!(yaml, "    inputs: [{}]", inputs.join(", ")).expect("into memory"),
                _ => writeln!(yaml, "    input: {}", inputs[0]).expect("into memory"),
            }
            config(&mut yaml, node);
        }
        self.error_handling(&mut yaml);
        yaml
    }

    fn error_handling(&self, yaml: &mut String) {
        if self.fail_fast {
            return;
        }
        yaml.push_str("error_handling:\n  strategy: continue\n");
        let mut dlq = Vec::new();
        if self.rejects {
            dlq.push("path: rejects.csv".to_owned());
        }
        if let Breaker::Pipeline { max, min_records } = &self.breaker {
            dlq.push(format!("max_rate: {max}, min_records: {min_records}"));
        }
        if let Breaker::Types { max } = &self.breaker {
            let _ = writeln!(yaml, "  type_error_threshold: {max}");
        }
        let mut per_source = Vec::new();
        for node in &self.nodes {
            let Op::Source(source) = &node.op else { continue };
            let mut keys = Vec::new();
            if source.own_rejects {
                keys.push(format!("path: rejects_{}.csv", node.name));
            }
            if let Breaker::Source { name, max, min_records } = &self.breaker
                && *name == node.name
            {
                keys.push(format!("max_rate: {max}, min_records: {min_records}"));
            }
            if !keys.is_empty() {
                per_source.push(format!("{}: {{ {} }}", node.name, keys.join(", ")));
            }
        }
        if !per_source.is_empty() {
            dlq.push(format!("per_source: {{ {} }}", per_source.join(", ")));
        }
        let _ = writeln!(yaml, "  dlq: {{ {} }}", dlq.join(", "));
    }

    /// Every input file with its bytes.
    pub fn inputs(&self) -> Vec<(String, String)> {
        let sources = self.nodes.iter().filter_map(|node| match &node.op {
            Op::Source(source) => Some(source),
            _ => None,
        });
        sources
            .flat_map(|source| source.files.iter().map(|file| (file.name.clone(), bytes(source.json, file))))
            .collect()
    }
}

fn word(op: &Op) -> &'static str {
    match op {
        Op::Source(_) => "source",
        Op::Transform { .. } => "transform",
        Op::Route { .. } => "route",
        Op::Merge { .. } => "merge",
        Op::Sink(_) => "sink",
    }
}

fn reference(port: &Port) -> String {
    port.branch.as_ref().map_or_else(|| port.node.clone(), |branch| format!("{}.{branch}", port.node))
}

/// Single quotes of YAML, in which nothing but the quote itself is special.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn config(yaml: &mut String, node: &Node) {
    let name = &node.name;
    let lines = match &node.op {
        Op::Source(source) => source_config(name, source),
        Op::Transform { statements, checks } => transform_config(statements, checks),
        Op::Route { inclusive, branches, default } => {
            let mut lines = format!("      default: {default}\n      conditions:\n");
            for (branch, condition) in branches {
                let _ = writeln!(lines, "        {branch}: {}", quoted(&condition.source()));
            }
            if *inclusive {
                lines.push_str("      mode: inclusive\n");
            }
            lines
        }
        Op::Merge { interleave } => format!("      mode: {}\n", if *interleave { "interleave" } else { "concat" }),
        Op::Sink(sink) => sink_config(name, sink),
    };
    let _ = write!(yaml, "    config:\n{lines}");
}

fn sink_config(name: &str, sink: &SinkSpec) -> String {
    let SinkSpec { json, unmapped, exclude, nulls, per_file, split } = sink;
    let kind = if *json { "json" } else { "csv" };
    let each = if *per_file { "{source_file}." } else { "" };
    let mut lines = format!("      name: {name}\n      type: {kind}\n      path: \"{each}{name}.{kind}\"\n");
    if *json {
        lines.push_str("      options: { format: ndjson }\n");
    }
    let _ = writeln!(lines, "      include_unmapped: {unmapped}\n      preserve_nulls: {nulls}");
    if !exclude.is_empty() {
        let _ = writeln!(lines, "      exclude: [{}]", exclude.join(", "));
    }
    if let Some(Split { records, bytes }) = split {
        let limits = [("max_records", records), ("max_bytes", bytes)];
        let limits = limits.iter().filter_map(|(name, most)| most.map(|most| format!("{name}: {most}")));
        let _ = writeln!(lines, "      split: {{ {} }}", limits.collect::<Vec<_>>().join(", "));
    }
    lines
}

fn source_config(name: &str, source: &SourceSpec) -> String {
    let kind = if source.json { "json" } else { "csv" };
    let files: Vec<&str> = source.files.iter().map(|file| file.name.as_str()).collect();
    let mut lines = format!("      name: {name}\n      type: {kind}\n      paths: [{}]\n", files.join(", "));
    if source.json {
        lines.push_str("      options: { format: ndjson }\n");
    }
    if source.drop {
        lines.push_str("      on_unmapped: { mode: drop }\n");
    }
    if let Some(Rows { field, keep_empty, position, most }) = &source.rows {
        let position = position.as_ref().map_or_else(String::new, |name| format!(", position_column: {name}"));
        let _ = writeln!(lines, "      split_to_rows: [ {{ field: {field}, keep_empty: {keep_empty}{position} }} ]");
        if let Some(most) = most {
            let _ = writeln!(lines, "      max_output_rows_per_input: {most}");
        }
    }
    lines.push_str("      schema:\n");
    for Column { name, kind, nullable } in &source.columns {
        let kind = if *nullable { format!("nullable({})", kind.word()) } else { kind.word().to_owned() };
        let _ = writeln!(lines, "        - {{ name: {name}, type: {kind} }}");
    }
    lines
}

fn transform_config(statements: &[Statement], checks: &[Check]) -> String {
    let mut lines = String::from("      cxl: |\n");
    for statement in statements {
        let _ = match statement {
            Statement::Filter(condition) => writeln!(lines, "        filter {}", condition.source()),
            Statement::Let(name, value) => writeln!(lines, "        let {name} = {}", value.source()),
            Statement::Emit(name, value) => writeln!(lines, "        emit {name} = {}", value.source()),
        };
    }
    if !checks.is_empty() {
        lines.push_str("      validations:\n");
    }
    for Check { field, test, warn } in checks {
        let test = test.as_ref().map_or_else(|| "not_empty".to_owned(), |test| quoted(&test.source()));
        let field = field.as_ref().map_or_else(String::new, |field| format!(", field: {field}"));
        let severity = if *warn { "warn" } else { "error" };
        let _ = writeln!(lines, "        - {{ check: {test}{field}, severity: {severity} }}");
    }
    lines
}

/// A flat cell, quoted where that is needed.
pub fn flat(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

fn bytes(json: bool, file: &InputFile) -> String {
    let mut text = String::new();
    let row = |cells: Vec<String>| {
        // A row of one empty cell would be an empty line.
        if cells == [""] { "\"\"".to_owned() } else { cells.join(",") }
    };
    if !json {
        text.push_str(&row(file.header.iter().map(|name| flat(name)).collect()));
        text.push('\n');
    }
    for input in &file.rows {
        match input {
            Input::Broken(raw) => text.push_str(raw),
            Input::Row(fields) if json => text.push_str(&object(fields)),
            Input::Row(fields) => text.push_str(&row(fields.iter().map(|(_, cell)| flat(&cell.text())).collect())),
        }
        text.push('\n');
    }
    text
}
