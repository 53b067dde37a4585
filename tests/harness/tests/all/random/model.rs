//! What a plan has to give, one row at a time and nothing clever.

use std::collections::BTreeMap;

use super::expr::{Cell, Expr, Failed, Scope, lookup};
use super::plan::{Breaker, Check, Column, Node, Op, Plan, Port, SinkSpec, Statement};

/// A record on its way.
#[derive(Clone, Debug)]
pub struct Record {
    pub cells: Vec<(String, Cell)>,
    /// Undeclared fields.
    pub extra: Vec<(String, Cell)>,
    pub origin: Origin,
}

#[derive(Clone, Debug)]
pub struct Origin {
    pub source: String,
    pub file: String,
    pub row: u64,
    /// Counted over the files of the Source.
    pub ordinal: u64,
}

/// A dead letter.
#[derive(Clone, Debug)]
pub struct Dead {
    pub source: String,
    pub file: String,
    pub row: u64,
    pub field: String,
    pub value: String,
    pub category: &'static str,
    pub stage: String,
    pub route: String,
    pub cells: Vec<(String, String)>,
    pub raw: String,
    pub ordinal: u64,
}

/// Results of one row, or a failure where it stands.
pub enum Event {
    Row(Record),
    Dead(Dead),
    /// It goes nowhere.
    Gone(Origin),
}

/// A dead-letter file.
#[derive(Default)]
pub struct Rejects {
    /// Of the record.
    pub columns: Vec<String>,
    pub rows: Vec<Dead>,
}

#[derive(Default)]
pub struct Outcome {
    pub exit: u8,
    /// Records of each Sink.
    pub written: BTreeMap<String, Vec<Record>>,
    pub rejects: BTreeMap<String, Rejects>,
    /// The failure that ended the run.
    pub stopped_by: Option<Dead>,
}

pub struct Model<'p> {
    plan: &'p Plan,
    /// Declaration positions in plan order.
    order: Vec<usize>,
    routes: BTreeMap<String, Option<(String, String)>>,
    written: BTreeMap<String, Vec<Record>>,
    dead: Vec<Dead>,
    /// Rows of each Source whose turn has come.
    read: BTreeMap<String, u64>,
    type_failures: u64,
    stopped_by: Option<Dead>,
    tripped: bool,
}

/// Rows of one turn between Sources that feed nothing else.
const LIVE_TURN: usize = 2048;

pub fn run(plan: &Plan) -> Outcome {
    let order = plan_order(plan);
    let routes = routes(plan, &order);
    let mut model = Model {
        plan,
        order,
        routes,
        written: BTreeMap::new(),
        dead: Vec::new(),
        read: BTreeMap::new(),
        type_failures: 0,
        stopped_by: None,
        tripped: false,
    };
    for unit in model.units() {
        model.run_unit(&unit);
    }
    model.outcome()
}

/// The reverse of the order in which a depth-first walk finishes the nodes.
fn plan_order(plan: &Plan) -> Vec<usize> {
    fn visit(plan: &Plan, at: usize, finished: &mut Vec<usize>) {
        if finished.contains(&at) {
            return;
        }
        for consumer in plan.consumers(&plan.nodes[at].name) {
            visit(plan, consumer, finished);
        }
        finished.push(at);
    }
    let mut finished = Vec::new();
    for at in 0..plan.nodes.len() {
        visit(plan, at, &mut finished);
    }
    finished.reverse();
    finished
}

/// The Route and the branch that each node lies behind.
fn routes(plan: &Plan, order: &[usize]) -> BTreeMap<String, Option<(String, String)>> {
    let mut behind: BTreeMap<String, Option<(String, String)>> = BTreeMap::new();
    for at in order {
        let node = &plan.nodes[*at];
        let way = |port: &Port| match &port.branch {
            Some(branch) => Some((port.node.clone(), branch.clone())),
            None => behind[&port.node].clone(),
        };
        let ways: Vec<_> = node.inputs.iter().map(way).collect();
        let agreed = ways.iter().all(|way| *way == ways[0]).then(|| ways.first().cloned().flatten()).flatten();
        behind.insert(node.name.clone(), agreed);
    }
    behind
}

impl Model<'_> {
    /// Nodes that are connected, each unit in plan order, the unit with the first node first.
    fn units(&self) -> Vec<Vec<usize>> {
        let mut unit: Vec<usize> = (0..self.plan.nodes.len()).collect();
        for _ in 0..self.plan.nodes.len() {
            for (at, node) in self.plan.nodes.iter().enumerate() {
                for input in &node.inputs {
                    let input = self.plan.at(&input.node);
                    let lower = unit[at].min(unit[input]);
                    (unit[at], unit[input]) = (lower, lower);
                }
            }
        }
        let mut units: Vec<Vec<usize>> = Vec::new();
        for at in &self.order {
            match units.iter_mut().find(|known| unit[known[0]] == unit[*at]) {
                Some(known) => known.push(*at),
                None => units.push(vec![*at]),
            }
        }
        units
    }

    fn run_unit(&mut self, unit: &[usize]) {
        let plan = self.plan;
        let node = |at: &usize| &plan.nodes[*at];
        let last_merge = unit.iter().rev().find(|at| matches!(node(at).op, Op::Merge { .. }));
        let bottom = last_merge.unwrap_or(&unit[0]);
        for head in self.heads(*bottom) {
            for event in self.events(head) {
                match event {
                    Event::Gone(origin) => self.reach(&origin.source, origin.ordinal),
                    Event::Dead(dead) => self.reject(vec![dead]),
                    Event::Row(record) => {
                        self.reach(&record.origin.source, record.origin.ordinal);
                        let mut failed = Vec::new();
                        self.flow(head, None, &record, &mut failed);
                        failed.sort_by_key(|(place, _)| *place);
                        self.reject(failed.into_iter().map(|(_, dead)| dead).collect());
                    }
                }
            }
        }
    }

    /// The turn of a Source has come up to one of its rows.
    fn reach(&mut self, source: &str, ordinal: u64) {
        let read = self.read.entry(source.to_owned()).or_default();
        *read = ordinal.max(*read);
    }

    /// What is taken one after the other: Sources, and Merges whose inputs take turns.
    fn heads(&self, at: usize) -> Vec<usize> {
        let node = &self.plan.nodes[at];
        match node.op {
            Op::Source(_) | Op::Merge { interleave: true } => vec![at],
            _ => node.inputs.iter().flat_map(|input| self.heads(self.plan.at(&input.node))).collect(),
        }
    }

    /// The rows that leave a node which feeds nothing else, with the failures above it at their places.
    fn events(&self, at: usize) -> Vec<Event> {
        let node = &self.plan.nodes[at];
        match &node.op {
            Op::Source(source) => self.read(node, source),
            Op::Merge { interleave } => self.merged(node, *interleave),
            _ => self.port_events(&node.inputs[0]).into_iter().map(|event| self.pass(at, event)).collect(),
        }
    }

    fn port_events(&self, port: &Port) -> Vec<Event> {
        let at = self.plan.at(&port.node);
        let Some(branch) = &port.branch else { return self.events(at) };
        let Op::Route { .. } = self.plan.nodes[at].op else { panic!("only routes have branches") };
        let events = self.port_events(&self.plan.nodes[at].inputs[0]);
        let mut passed = Vec::new();
        for event in events {
            match event {
                Event::Row(record) => match self.branches(at, &record) {
                    Ok(branches) if branches.contains(branch) => passed.push(Event::Row(record)),
                    Ok(_) => passed.push(Event::Gone(record.origin)),
                    Err(dead) => passed.push(Event::Dead(*dead)),
                },
                other => passed.push(other),
            }
        }
        passed
    }

    fn pass(&self, at: usize, event: Event) -> Event {
        match event {
            Event::Row(record) => match self.transform(at, &record) {
                Ok(Some(record)) => Event::Row(record),
                Ok(None) => Event::Gone(record.origin),
                Err(dead) => Event::Dead(*dead),
            },
            other => other,
        }
    }

    fn merged(&self, node: &Node, interleave: bool) -> Vec<Event> {
        let shaped = |event: Event| match event {
            Event::Row(record) => Event::Row(reordered(record, &node.columns)),
            other => other,
        };
        let mut inputs: Vec<std::vec::IntoIter<Event>> =
            node.inputs.iter().map(|port| self.port_events(port).into_iter()).collect();
        if !interleave {
            return inputs.into_iter().flatten().map(shaped).collect();
        }
        let is_source = |port: &Port| matches!(self.plan.nodes[self.plan.at(&port.node)].op, Op::Source(_));
        let turn = if node.inputs.iter().all(is_source) { LIVE_TURN } else { 1 };
        let mut events = Vec::new();
        let mut ended = vec![false; inputs.len()];
        while ended.contains(&false) {
            for (input, ended) in inputs.iter_mut().zip(&mut ended) {
                let mut rows = 0;
                while rows < turn && !*ended {
                    match input.next() {
                        None => *ended = true,
                        Some(event) => {
                            rows += usize::from(matches!(event, Event::Row(_)));
                            events.push(shaped(event));
                        }
                    }
                }
            }
        }
        events
    }

    /// Hands a record to whatever reads a port.
    fn flow(&mut self, at: usize, branch: Option<&str>, record: &Record, failed: &mut Vec<(usize, Dead)>) {
        let plan = self.plan;
        for consumer in plan.consumers(&plan.nodes[at].name) {
            let node = &plan.nodes[consumer];
            let input = node.inputs.iter().find(|input| input.node == plan.nodes[at].name).expect("a consumer");
            if input.branch.as_deref() != branch {
                continue;
            }
            let place = self.order.iter().position(|at| *at == consumer).expect("every node has a place");
            match &node.op {
                Op::Source(_) => panic!("a source reads no node"),
                Op::Sink(_) => self.written.entry(node.name.clone()).or_default().push(record.clone()),
                Op::Merge { .. } => self.flow(consumer, None, &reordered(record.clone(), &node.columns), failed),
                Op::Transform { .. } => match self.transform(consumer, record) {
                    Ok(None) => {}
                    Ok(Some(record)) => self.flow(consumer, None, &record, failed),
                    Err(dead) => failed.push((place, *dead)),
                },
                Op::Route { .. } => match self.branches(consumer, record) {
                    Ok(branches) => {
                        for branch in branches {
                            self.flow(consumer, Some(&branch), record, failed);
                        }
                    }
                    Err(dead) => failed.push((place, *dead)),
                },
            }
        }
    }

    pub fn dead(&self, node: &Node, stage: String, record: &Record, category: &'static str) -> Dead {
        Dead {
            source: record.origin.source.clone(),
            file: record.origin.file.clone(),
            row: record.origin.row,
            field: String::new(),
            value: String::new(),
            category,
            stage,
            route: self.routes[&node.name].clone().map(|(_, branch)| branch).unwrap_or_default(),
            cells: record.cells.iter().map(|(name, cell)| (name.clone(), cell.text())).collect(),
            raw: String::new(),
            ordinal: record.origin.ordinal,
        }
    }

    fn transform(&self, at: usize, record: &Record) -> Result<Option<Record>, Box<Dead>> {
        let node = &self.plan.nodes[at];
        let Op::Transform { statements, checks } = &node.op else { panic!("{} is no transform", node.name) };
        let stage = format!("transform:{}", node.name);
        let failure = |field: &str, Failed { value, .. }: Failed| {
            Box::new(Dead {
                field: field.to_owned(),
                value,
                ..self.dead(node, stage.clone(), record, "type_coercion_failure")
            })
        };
        let mut scope: Scope = record.cells.clone();
        let mut result = record.clone();
        for statement in statements {
            match statement {
                Statement::Filter(condition) => {
                    if condition.eval(&scope).map_err(|failed| failure("", failed))? != Cell::Bool(true) {
                        return Ok(None);
                    }
                }
                Statement::Let(name, value) => {
                    let value = value.eval(&scope).map_err(|failed| failure("", failed))?;
                    scope.push((name.clone(), value));
                }
                Statement::Emit(name, value) => {
                    let value = value.eval(&scope).map_err(|failed| failure(name, failed))?;
                    scope.push((name.clone(), value.clone()));
                    match result.cells.iter_mut().find(|(known, _)| known == name) {
                        Some((_, cell)) => *cell = value,
                        None => result.cells.push((name.clone(), value)),
                    }
                }
            }
        }
        match checks.iter().find(|check| fails(check, &result.cells)) {
            None => Ok(Some(result)),
            Some(Check { field, .. }) => Err(Box::new(Dead {
                field: field.clone().unwrap_or_default(),
                value: field.as_ref().map_or_else(String::new, |field| lookup(&result.cells, field).text()),
                ..self.dead(node, stage, record, "validation_failure")
            })),
        }
    }

    fn branches(&self, at: usize, record: &Record) -> Result<Vec<String>, Box<Dead>> {
        let node = &self.plan.nodes[at];
        let Op::Route { inclusive, branches, default } = &node.op else { panic!("{} is no route", node.name) };
        let mut taken = Vec::new();
        for (branch, condition) in branches {
            match condition.eval(&record.cells) {
                Ok(Cell::Bool(true)) => taken.push(branch.clone()),
                Ok(_) => {}
                Err(Failed { value, .. }) => {
                    let dead = self.dead(node, "route_eval".to_owned(), record, "type_coercion_failure");
                    return Err(Box::new(Dead { value, ..dead }));
                }
            }
            if !inclusive && !taken.is_empty() {
                break;
            }
        }
        if taken.is_empty() {
            taken.push(default.clone());
        }
        Ok(taken)
    }

    /// The failures of one row, in their order.
    fn reject(&mut self, dead: Vec<Dead>) {
        for dead in dead {
            if self.tripped || self.stopped_by.is_some() {
                return;
            }
            if self.plan.fail_fast {
                self.stopped_by = Some(dead);
                return;
            }
            self.reach(&dead.source, dead.ordinal);
            let read = self.read.values().sum::<u64>();
            let of_source = self.read[&dead.source];
            self.type_failures += u64::from(dead.stage == "source" && dead.category == "type_coercion_failure");
            let source = dead.source.clone();
            self.dead.push(dead);
            let rate = |part: usize, whole: u64| part as f64 / whole as f64;
            self.tripped = match &self.plan.breaker {
                Breaker::None => false,
                Breaker::Pipeline { max, min_records } => read >= *min_records && rate(self.dead.len(), read) >= *max,
                Breaker::Source { name, max, min_records } => {
                    let own = self.dead.iter().filter(|dead| dead.source == *name).count();
                    source == *name && of_source >= *min_records && rate(own, of_source) >= *max
                }
                Breaker::Types { max } => rate(self.type_failures as usize, read) > *max,
            };
        }
    }

    fn outcome(mut self) -> Outcome {
        if let Some(dead) = self.stopped_by {
            let exit = if dead.stage == "source" { 4 } else { 3 };
            return Outcome { exit, stopped_by: Some(dead), ..Outcome::default() };
        }
        if self.tripped {
            return Outcome { exit: 3, ..Outcome::default() };
        }
        let exit = if self.dead.is_empty() { 0 } else { 2 };
        let mut rejects: BTreeMap<String, Rejects> = BTreeMap::new();
        for dead in std::mem::take(&mut self.dead) {
            if let Some(file) = self.reject_file(&dead.source) {
                let known = rejects.entry(file.clone());
                known.or_insert_with(|| Rejects { columns: self.header(&file), rows: Vec::new() }).rows.push(dead);
            }
        }
        Outcome { exit, written: self.written, rejects, stopped_by: None }
    }

    fn reject_file(&self, source: &str) -> Option<String> {
        match &self.plan.nodes[self.plan.at(source)].op {
            Op::Source(spec) if spec.own_rejects => Some(format!("rejects_{source}.csv")),
            _ => self.plan.rejects.then(|| "rejects.csv".to_owned()),
        }
    }

    /// The record columns of a dead-letter file, whatever fails.
    fn header(&self, file: &str) -> Vec<String> {
        let mut columns: Vec<String> = Vec::new();
        for at in &self.order {
            let node = &self.plan.nodes[*at];
            if !self.plan.stems_from(*at).iter().any(|source| self.reject_file(source).as_deref() == Some(file)) {
                continue;
            }
            let mut shape: Vec<String> = match node.op {
                Op::Source(_) => node.columns.iter().map(|column| column.name.clone()).collect(),
                Op::Transform { .. } | Op::Route { .. } => {
                    let above = &self.plan.nodes[self.plan.at(&node.inputs[0].node)];
                    above.columns.iter().map(|column| column.name.clone()).collect()
                }
                // A flat output joins arrays, which an undeclared field of a nested input may hold: a row may be refused.
                Op::Sink(SinkSpec { json: false, unmapped: true, .. }) if node.widens && self.may_nest(*at) => {
                    node.columns.iter().map(|column| column.name.clone()).collect()
                }
                Op::Merge { .. } | Op::Sink(_) => Vec::new(),
            };
            if matches!(node.op, Op::Source(_)) {
                shape.push("_cxl_dlq_source_record".to_owned());
            }
            shape.retain(|name| !columns.contains(name));
            columns.extend(shape);
        }
        columns
    }

    fn may_nest(&self, at: usize) -> bool {
        let nests =
            |source: &String| matches!(&self.plan.nodes[self.plan.at(source)].op, Op::Source(source) if source.json);
        self.plan.stems_from(at).iter().any(nests)
    }
}

fn reordered(mut record: Record, columns: &[Column]) -> Record {
    record.cells = columns.iter().map(|Column { name, .. }| (name.clone(), lookup(&record.cells, name))).collect();
    record
}

/// Whether a record is refused by a check. What cannot be evaluated is an error, whatever the severity.
fn fails(check: &Check, record: &Scope) -> bool {
    match &check.test {
        None => {
            let cell = lookup(record, check.field.as_ref().expect("`not_empty` has a field"));
            !check.warn && (cell == Cell::Null || cell == Cell::Text(String::new()))
        }
        Some(test) => match Expr::eval(test, record) {
            Ok(result) => !check.warn && result != Cell::Bool(true),
            Err(_) => true,
        },
    }
}
