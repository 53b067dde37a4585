//! Plans at random, of shapes that need no edge to be held.

use super::expr::{Cell, Expr, Kind};
use super::plan::{
    Breaker, Check, Column, Input, InputFile, Node, Op, Plan, Port, Rows, SinkSpec, SourceSpec, Split, Statement,
};
use super::rng::Rng;

/// A place to go on from.
#[derive(Clone)]
struct Stream {
    port: Port,
    columns: Vec<Column>,
    emitted: Option<Vec<String>>,
    widens: bool,
    /// Rows of several Sources come in turns.
    turns: bool,
}

struct Generator {
    rng: Rng,
    nodes: Vec<Node>,
}

const NAMES: [&str; 6] = ["id", "town", "kg", "note", "paid", "zone"];
const TEXTS: [&str; 12] =
    ["", "a", "Ume", "x,y", "say \"hi\"", "two\nlines", " pad ", "åäö", "0", "12", "true", "Kiruna"];
const DIRTY: [&str; 6] = ["x", "1.5", " 7", "9223372036854775808", "1e3", "maybe"];
const BROKEN_LINES: [&str; 4] = ["nonsense", "[1]", "{\"id\":}", "{\"id\":1} {\"id\":2}"];

pub fn plan(seed: u64) -> Plan {
    let mut generator = Generator { rng: Rng::new(seed), nodes: Vec::new() };
    generator.build();
    let Generator { mut rng, mut nodes } = generator;
    rng.shuffle(&mut nodes);
    let fail_fast = rng.one_in(6);
    let sources: Vec<String> =
        nodes.iter().filter(|node| matches!(node.op, Op::Source(_))).map(|node| node.name.clone()).collect();
    let max = [0.05, 0.25, 0.5, 1.0][rng.below(4)];
    let min_records = [1, 5, 20, 100][rng.below(4)];
    let breaker = match rng.below(9) {
        _ if fail_fast => Breaker::None,
        0 => Breaker::Pipeline { max, min_records },
        1 => Breaker::Source { name: rng.pick(&sources).clone(), max, min_records },
        2 => Breaker::Types { max },
        _ => Breaker::None,
    };
    Plan { nodes, fail_fast, rejects: !rng.one_in(8), breaker }
}

impl Generator {
    fn build(&mut self) {
        let sources = 1 + self.rng.below(3);
        let merged = sources > 1 && !self.rng.one_in(3);
        let shared = self.columns();
        let drop = self.rng.one_in(3);
        let mut streams = Vec::new();
        for at in 0..sources {
            let mut columns = if merged { shared.clone() } else { self.columns() };
            self.rng.shuffle(&mut columns);
            for column in &mut columns {
                column.nullable |= self.rng.one_in(4);
            }
            let extra = self.extra();
            let drop = if merged { drop } else { self.rng.one_in(3) };
            streams.push(self.source(at, columns, drop, &extra));
        }
        if merged {
            let rest = streams.split_off(2 + self.rng.below(sources - 1));
            streams = vec![self.merge(streams)];
            streams.extend(rest);
        }
        for stream in streams {
            self.grow(stream, 3);
        }
        if !self.nodes.iter().any(|node| matches!(node.op, Op::Sink(_))) {
            // Not above a merge, whose inputs feed nothing else.
            let merge = self.nodes.iter().find(|node| matches!(node.op, Op::Merge { .. }));
            let node = merge.unwrap_or(&self.nodes[0]);
            let stream = Stream {
                port: Port { node: node.name.clone(), branch: None },
                columns: node.columns.clone(),
                emitted: None,
                widens: node.widens,
                turns: true,
            };
            self.sink(&stream);
        }
    }

    fn columns(&mut self) -> Vec<Column> {
        let mut names = NAMES;
        self.rng.shuffle(&mut names);
        let kinds = [Kind::Int, Kind::Int, Kind::Text, Kind::Text, Kind::Bool];
        let count = 1 + self.rng.below(4);
        let column = |rng: &mut Rng, name: &str| Column {
            name: name.to_owned(),
            kind: *rng.pick(&kinds),
            nullable: rng.one_in(2),
        };
        names[..count].iter().map(|name| column(&mut self.rng, name)).collect()
    }

    /// Names of undeclared fields.
    fn extra(&mut self) -> Vec<String> {
        let mut names = ["zip", "street", "geo", "made"];
        self.rng.shuffle(&mut names);
        names[..self.rng.below(4)].iter().map(|name| (*name).to_owned()).collect()
    }

    fn add(&mut self, stem: &str, op: Op, inputs: Vec<Port>, stream: &Stream) -> Stream {
        let name = format!("{stem}{}", self.nodes.len());
        let port = Port { node: name.clone(), branch: None };
        let Stream { columns, emitted, widens, .. } = stream.clone();
        self.nodes.push(Node { name, op, inputs, columns, emitted, widens });
        Stream { port, ..stream.clone() }
    }

    fn source(&mut self, at: usize, columns: Vec<Column>, drop: bool, extra: &[String]) -> Stream {
        let json = self.rng.one_in(3);
        let mut header: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        header.extend(extra.iter().cloned());
        let files = 1 + self.rng.below(2);
        let tidy = self.rng.one_in(5);
        let rows = (json && self.rng.one_in(3)).then(|| self.rows(&columns));
        // The columns whose values are in the objects.
        let mut inner: Vec<Column> = columns.clone();
        inner.retain(|column| rows.as_ref().is_some_and(|rows| rows.position.as_ref() != Some(&column.name)));
        inner.truncate(self.rng.below(3));
        let elsewhere = |name: &String| {
            inner.iter().any(|column| column.name == *name)
                || rows.as_ref().is_some_and(|rows| rows.position.as_ref() == Some(name))
        };
        header.retain(|name| !elsewhere(name));
        let file = |generator: &mut Self, number: usize| {
            let name = format!("in{at}_{number}.{}", if json { "ndjson" } else { "csv" });
            let mut header = header.clone();
            if generator.rng.one_in(2) {
                generator.rng.shuffle(&mut header);
            }
            let mut file = generator.file(name, &columns, &header, json, tidy);
            if let Some(rows) = &rows {
                generator.objects(&rows.field, &inner, &mut file, tidy);
            }
            file
        };
        let files = (0..files).map(|number| file(self, number)).collect();
        let own_rejects = self.rng.one_in(3);
        let stream = Stream {
            port: Port { node: String::new(), branch: None },
            columns: columns.clone(),
            emitted: None,
            widens: !drop,
            turns: false,
        };
        self.add("s", Op::Source(SourceSpec { json, columns, drop, files, own_rejects, rows }), Vec::new(), &stream)
    }

    fn rows(&mut self, columns: &[Column]) -> Rows {
        let counts = |column: &&Column| column.kind == Kind::Int && column.nullable;
        let position = columns.iter().find(counts).map(|column| column.name.clone()).filter(|_| !self.rng.one_in(3));
        let most = self.rng.one_in(3).then(|| 1 + self.rng.below(3));
        Rows { field: "each".to_owned(), keep_empty: !self.rng.one_in(3), position, most }
    }

    /// Adds objects to the records of a file.
    fn objects(&mut self, field: &str, inner: &[Column], file: &mut InputFile, tidy: bool) {
        for input in &mut file.rows {
            let Input::Row(fields) = input else { continue };
            let object = |generator: &mut Self| {
                let mut object = Vec::new();
                for Column { name, kind, .. } in inner {
                    if tidy || !generator.rng.one_in(12) {
                        object.push((name.clone(), generator.cell(Some(*kind), true, tidy)));
                    }
                }
                if generator.rng.one_in(3) {
                    let place = generator.rng.below(object.len() + 1);
                    object.insert(place, ("lot".to_owned(), generator.cell(None, true, tidy)));
                }
                object
            };
            let cell = match self.rng.below(8) {
                0 => continue,
                1 => Cell::Null,
                2 => Cell::Object(object(self)),
                3 => Cell::Objects(Vec::new()),
                _ => Cell::Objects((0..1 + self.rng.below(4)).map(|_| object(self)).collect()),
            };
            let place = self.rng.below(fields.len() + 1);
            fields.insert(place, (field.to_owned(), cell));
        }
    }

    fn file(&mut self, name: String, columns: &[Column], header: &[String], json: bool, tidy: bool) -> InputFile {
        let rows = [0, 1, 3, 12, 40][self.rng.below(5)];
        let row = |generator: &mut Self| {
            if !tidy && generator.rng.one_in(25) {
                return generator.broken(header.len(), json);
            }
            let mut fields = Vec::new();
            for name in header {
                let kind = columns.iter().find(|column| column.name == *name).map(|column| column.kind);
                // A field that a record need not have, or have in this place.
                if json && !tidy && generator.rng.one_in(if kind.is_some() { 12 } else { 3 }) {
                    continue;
                }
                let cell = generator.cell(kind, json, tidy);
                let place =
                    if json && generator.rng.one_in(4) { generator.rng.below(fields.len() + 1) } else { fields.len() };
                fields.insert(place, (name.clone(), cell));
            }
            Input::Row(fields)
        };
        let rows = (0..rows).map(|_| row(self)).collect();
        InputFile { name, header: header.to_vec(), rows }
    }

    fn broken(&mut self, width: usize, json: bool) -> Input {
        if json {
            return Input::Broken((*self.rng.pick(&BROKEN_LINES)).to_owned());
        }
        Input::Broken(vec!["cell"; width + 1 + self.rng.below(2)].join(","))
    }

    /// A value, mostly of a kind; undeclared fields have none.
    fn cell(&mut self, kind: Option<Kind>, json: bool, tidy: bool) -> Cell {
        let Some(kind) = kind else {
            return match self.rng.below(8) {
                0 if json => Cell::Null,
                1 if json => Cell::Int(-5),
                2 if json => Cell::Bool(true),
                _ => Cell::Text((*self.rng.pick(&TEXTS)).to_owned()),
            };
        };
        let dirty = !tidy && self.rng.one_in(10);
        let small = [-7, -1, 0, 1, 2, 3, 10, 40, 999][self.rng.below(9)];
        let int = if self.rng.one_in(30) { i64::MAX - self.rng.below(3) as i64 } else { small };
        let cell = match kind {
            Kind::Text => Cell::Text((*self.rng.pick(&TEXTS)).to_owned()),
            _ if dirty && self.rng.one_in(2) => Cell::Text((*self.rng.pick(&DIRTY)).to_owned()),
            _ if dirty && json => [Cell::Null, Cell::Bool(true), Cell::Int(7)][self.rng.below(3)].clone(),
            _ if dirty => Cell::Text(String::new()),
            Kind::Int => Cell::Int(int),
            Kind::Bool => Cell::Bool(self.rng.one_in(2)),
        };
        match cell {
            Cell::Int(value) if !json && self.rng.one_in(8) => Cell::Text(format!("+0{}", value.unsigned_abs())),
            Cell::Bool(value) if !json => {
                Cell::Text(["no", "YES", "0", "on"][usize::from(value) + 2 * self.rng.below(2)].to_owned())
            }
            Cell::Text(_) if json => cell,
            cell if json => cell,
            cell => Cell::Text(cell.text()),
        }
    }

    /// Brings streams of one shape together. What stands above them feeds nothing else, but for the first input of a
    /// concat.
    fn merge(&mut self, streams: Vec<Stream>) -> Stream {
        let interleave = self.rng.one_in(2);
        let common = self.rng.one_in(2).then(|| (*self.rng.pick(&[Kind::Int, Kind::Text]), "made".to_owned()));
        let direct = self.rng.one_in(4);
        let mut inputs = Vec::new();
        for (at, stream) in streams.into_iter().enumerate() {
            let mut stream = stream;
            if at == 0 && !interleave && self.rng.one_in(3) {
                self.sink(&stream);
            }
            if !direct && self.rng.one_in(3) {
                stream = self.narrow(&stream);
            }
            if !direct && let Some((kind, name)) = &common {
                let value = self.expr(&stream.columns, *kind, 2);
                stream = self.transform_with(
                    &stream,
                    vec![Statement::Emit(name.clone(), value)],
                    &[(name, *kind)],
                    Vec::new(),
                );
            }
            inputs.push(stream);
        }
        let mut stream = inputs[0].clone();
        for column in &mut stream.columns {
            let nullable =
                |input: &Stream| input.columns.iter().any(|other| other.name == column.name && other.nullable);
            column.nullable = inputs.iter().any(nullable);
        }
        stream.emitted = None;
        stream.turns = interleave || inputs.iter().any(|input| input.turns);
        let ports = inputs.into_iter().map(|input| input.port).collect();
        self.add("m", Op::Merge { interleave }, ports, &stream)
    }

    /// Fewer rows of the same shape.
    fn narrow(&mut self, stream: &Stream) -> Stream {
        if self.rng.one_in(2) {
            let condition = self.expr(&stream.columns, Kind::Bool, 2);
            return self.transform_with(stream, vec![Statement::Filter(condition)], &[], Vec::new());
        }
        let mut branches = self.route(stream);
        branches.swap_remove(self.rng.below(branches.len()))
    }

    fn grow(&mut self, stream: Stream, depth: usize) {
        if depth == 0 {
            self.sink(&stream);
            return;
        }
        for _ in 0..1 + usize::from(self.rng.one_in(3)) {
            match self.rng.below(5) {
                0 => self.sink(&stream),
                1 => {
                    for branch in self.route(&stream) {
                        if !self.rng.one_in(4) {
                            self.grow(branch, depth - 1);
                        }
                    }
                }
                _ => {
                    let stream = self.transform(&stream);
                    self.grow(stream, depth - 1);
                }
            }
        }
    }

    fn sink(&mut self, stream: &Stream) {
        let json = self.rng.one_in(4);
        // An output without any column says nothing.
        let unmapped = !self.rng.one_in(3) || stream.emitted.as_ref().is_some_and(Vec::is_empty);
        let mut left: Vec<&Column> = stream.columns.iter().collect();
        if let Some(emitted) = stream.emitted.as_ref().filter(|_| !unmapped) {
            left.retain(|column| emitted.contains(&column.name));
        }
        let exclude = match self.rng.below(4) {
            0 if left.len() > 1 => vec![self.rng.pick(&left).name.clone()],
            _ => Vec::new(),
        };
        let nulls = self.rng.one_in(2);
        let per_file = !stream.turns && self.rng.one_in(5);
        // Bytes are counted as they are written, and a column that comes late is not in the records before it then.
        let settled = json || !(stream.widens && unmapped);
        let split = self.rng.one_in(5).then(|| self.split(settled));
        let inputs = vec![stream.port.clone()];
        let sink = SinkSpec { json, unmapped, exclude, nulls, per_file, split };
        self.add("o", Op::Sink(sink), inputs, stream);
    }

    fn split(&mut self, by_bytes: bool) -> Split {
        let bytes = (by_bytes && !self.rng.one_in(3)).then(|| 1 + self.rng.below(150));
        let records = (bytes.is_none() || self.rng.one_in(3)).then(|| 1 + self.rng.below(7));
        Split { records, bytes }
    }

    fn route(&mut self, stream: &Stream) -> Vec<Stream> {
        let count = 1 + self.rng.below(3);
        let branches: Vec<(String, Expr)> =
            (0..count).map(|at| (format!("b{at}"), self.expr(&stream.columns, Kind::Bool, 2))).collect();
        let mut names: Vec<String> = branches.iter().map(|(name, _)| name.clone()).collect();
        names.push("rest".to_owned());
        let inclusive = self.rng.one_in(2);
        let op = Op::Route { inclusive, branches, default: "rest".to_owned() };
        let routed = self.add("r", op, vec![stream.port.clone()], stream);
        let branch =
            |name: String| Stream { port: Port { branch: Some(name), ..routed.port.clone() }, ..routed.clone() };
        names.into_iter().map(branch).collect()
    }

    fn transform(&mut self, stream: &Stream) -> Stream {
        let mut visible: Vec<Column> = stream.columns.clone();
        let mut statements = Vec::new();
        let mut emitted: Vec<(String, Kind)> = Vec::new();
        for at in 0..1 + self.rng.below(3) {
            let kind = *self.rng.pick(&[Kind::Int, Kind::Text, Kind::Bool]);
            let value = self.expr(&visible, kind, 3);
            let fresh = format!("v{at}");
            let hidden = self.rng.pick(&visible).name.clone();
            let name = if self.rng.one_in(3) { hidden } else { fresh };
            match self.rng.below(4) {
                0 => {
                    let condition = self.expr(&visible, Kind::Bool, 2);
                    statements.push(Statement::Filter(condition));
                    continue;
                }
                1 => statements.push(Statement::Let(name.clone(), value)),
                _ => {
                    emitted.retain(|(known, _)| *known != name);
                    emitted.push((name.clone(), kind));
                    statements.push(Statement::Emit(name.clone(), value));
                }
            }
            visible.retain(|column| column.name != name);
            visible.push(Column { name, kind, nullable: true });
        }
        let made: Vec<(&String, Kind)> = emitted.iter().map(|(name, kind)| (name, *kind)).collect();
        let mut after = stream.columns.clone();
        place(&mut after, &statements, &made);
        let checks = (0..self.rng.below(2)).map(|_| self.check(&after)).collect();
        self.transform_with(stream, statements, &made, checks)
    }

    fn check(&mut self, columns: &[Column]) -> Check {
        let field = Some(self.rng.pick(columns).name.clone());
        let warn = self.rng.one_in(3);
        match self.rng.below(3) {
            0 => Check { field, test: None, warn },
            at => Check { field: field.filter(|_| at == 1), test: Some(self.expr(columns, Kind::Bool, 2)), warn },
        }
    }

    fn transform_with(
        &mut self,
        stream: &Stream,
        statements: Vec<Statement>,
        made: &[(&String, Kind)],
        checks: Vec<Check>,
    ) -> Stream {
        let mut after = stream.clone();
        place(&mut after.columns, &statements, made);
        after.emitted = Some(made.iter().map(|(name, _)| (*name).clone()).collect());
        self.add("t", Op::Transform { statements, checks }, vec![stream.port.clone()], &after)
    }

    fn leaf(&mut self, visible: &[Column], kind: Kind) -> Expr {
        let named: Vec<&Column> = visible.iter().filter(|column| column.kind == kind).collect();
        if !named.is_empty() && !self.rng.one_in(3) {
            return Expr::Name(self.rng.pick(&named).name.clone());
        }
        Expr::Literal(match kind {
            Kind::Bool => Cell::Bool(self.rng.one_in(2)),
            Kind::Int => Cell::Int([-3, 0, 1, 2, 3, 10, 40][self.rng.below(7)]),
            Kind::Text => Cell::Text((*self.rng.pick(&["", "a", "x,y", "Ume", "7"])).to_owned()),
        })
    }

    fn expr(&mut self, visible: &[Column], kind: Kind, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf(visible, kind);
        }
        let deep = depth - 1;
        match (kind, self.rng.below(6)) {
            (_, 0) => {
                let (first, second) = (self.expr(visible, kind, deep), self.leaf(visible, kind));
                Expr::Coalesce(first.into(), second.into())
            }
            (_, 1) => {
                let condition = self.expr(visible, Kind::Bool, deep);
                let (yes, no) = (self.expr(visible, kind, deep), self.leaf(visible, kind));
                Expr::If(condition.into(), yes.into(), no.into())
            }
            (Kind::Int, 2) => Expr::Method("length", self.leaf(visible, Kind::Text).into()),
            (Kind::Int, 3) => Expr::Method("to_int", self.leaf(visible, Kind::Text).into()),
            (Kind::Text, 2) => Expr::Method("upper", self.expr(visible, Kind::Text, deep).into()),
            (Kind::Bool, 2) => Expr::IsNull(self.leaf(visible, Kind::Int).into()),
            (Kind::Bool, 3) => {
                let operator = *self.rng.pick(&["and", "or"]);
                let (left, right) = (self.leaf(visible, Kind::Bool), self.leaf(visible, Kind::Bool));
                Expr::Binary(operator, left.into(), right.into())
            }
            (Kind::Bool, _) => {
                let of = *self.rng.pick(&[Kind::Int, Kind::Int, Kind::Text]);
                let operator = *self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
                let (left, right) = (self.expr(visible, of, deep), self.leaf(visible, of));
                Expr::Binary(operator, left.into(), right.into())
            }
            (Kind::Text, _) => {
                let (left, right) = (self.expr(visible, kind, deep), self.leaf(visible, kind));
                Expr::Binary("+", left.into(), right.into())
            }
            (Kind::Int, _) => {
                let operator = *self.rng.pick(&["+", "-", "*", "/", "%"]);
                let (left, right) = (self.expr(visible, kind, deep), self.leaf(visible, kind));
                Expr::Binary(operator, left.into(), right.into())
            }
        }
    }
}

/// Emitted columns replace those of their name and follow the others in the order in which they are first emitted.
fn place(columns: &mut Vec<Column>, statements: &[Statement], made: &[(&String, Kind)]) {
    for statement in statements {
        let Statement::Emit(name, _) = statement else { continue };
        let kind = made.iter().find(|(known, _)| *known == name).expect("every emitted name has a kind").1;
        match columns.iter_mut().find(|column| column.name == *name) {
            Some(column) => (column.kind, column.nullable) = (kind, true),
            None => columns.push(Column { name: name.clone(), kind, nullable: true }),
        }
    }
}
