//! What Sources read, as the model has it.

use super::expr::{Cell, Kind, integer, object};
use super::model::{Dead, Event, Model, Origin, Record};
use super::plan::{Column, Input, Node, Rows, SourceSpec};

impl Model<'_> {
    /// The rows of a Source, and those that it rejects.
    pub fn read(&self, node: &Node, source: &SourceSpec) -> Vec<Event> {
        let mut events = Vec::new();
        let mut ordinal = 0;
        for file in &source.files {
            for (row, input) in (1..).zip(&file.rows) {
                ordinal += 1;
                let origin = Origin { source: node.name.clone(), file: file.name.clone(), row, ordinal };
                let fields = match input {
                    Input::Row(fields) => fields,
                    Input::Broken(raw) => {
                        let record = Record { cells: Vec::new(), extra: Vec::new(), origin };
                        let dead = self.dead(node, "source".to_owned(), &record, "structural_validation");
                        events.push(Event::Dead(Dead { raw: raw.clone(), ..dead }));
                        continue;
                    }
                };
                let rows = match &source.rows {
                    Some(rows) => expanded(rows, fields),
                    None => vec![fields.clone()],
                };
                let most = source.rows.as_ref().and_then(|rows| rows.most);
                if most.is_some_and(|most| rows.len() > most) {
                    events.push(self.too_many(node, source, origin, fields));
                } else if rows.is_empty() {
                    events.push(Event::Gone(origin));
                } else {
                    events.extend(rows.iter().map(|fields| self.admit(node, source, origin.clone(), fields)));
                }
            }
        }
        events
    }

    /// A record that would be more rows than it may.
    fn too_many(&self, node: &Node, source: &SourceSpec, origin: Origin, fields: &[(String, Cell)]) -> Event {
        let record = Record { cells: Vec::new(), extra: Vec::new(), origin };
        let declared = |name: &str| source.columns.iter().any(|column| column.name == name);
        let undeclared: Vec<_> = fields.iter().filter(|(name, _)| !declared(name)).cloned().collect();
        Event::Dead(Dead {
            cells: fields
                .iter()
                .filter(|(name, _)| declared(name))
                .map(|(name, cell)| (name.clone(), cell.text()))
                .collect(),
            raw: if source.drop || undeclared.is_empty() { String::new() } else { object(&undeclared) },
            ..self.dead(node, "source".to_owned(), &record, "expansion_limit_exceeded")
        })
    }

    fn admit(&self, node: &Node, source: &SourceSpec, origin: Origin, fields: &[(String, Cell)]) -> Event {
        let mut record = Record { cells: Vec::new(), extra: Vec::new(), origin };
        let given = |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, cell)| cell.clone());
        let mut failed = None;
        for Column { name, kind, nullable } in &source.columns {
            let cell = given(name).unwrap_or(Cell::Null);
            match admitted(&cell, *kind, *nullable) {
                Some(value) => record.cells.push((name.clone(), value)),
                None => failed = failed.or(Some((name.clone(), cell))),
            }
        }
        let declared = |name: &String| source.columns.iter().any(|column| column.name == *name);
        if !source.drop {
            record.extra = fields.iter().filter(|(name, _)| !declared(name)).cloned().collect();
            // The first file fixes the columns of formats with a header.
            let place = |name: &str| source.files[0].header.iter().position(|first| first == name);
            if !source.json {
                record.extra.sort_by_key(|(name, _)| place(name));
            }
        }
        let Some((field, cell)) = failed else { return Event::Row(record) };
        let as_read = |column: &Column| (column.name.clone(), given(&column.name).unwrap_or(Cell::Null).text());
        Event::Dead(Dead {
            field,
            value: cell.text(),
            cells: source.columns.iter().map(as_read).collect(),
            raw: if record.extra.is_empty() { String::new() } else { object(&record.extra) },
            ..self.dead(node, "source".to_owned(), &record, "type_coercion_failure")
        })
    }
}

/// The fields of each row of a record: those of an object stand where it stood.
fn expanded(rows: &Rows, fields: &[(String, Cell)]) -> Vec<Vec<(String, Cell)>> {
    let at = fields.iter().position(|(name, _)| *name == rows.field);
    let objects = match at.map(|at| &fields[at].1) {
        Some(Cell::Objects(objects)) => objects.clone(),
        Some(Cell::Object(object)) => vec![object.clone()],
        _ => Vec::new(),
    };
    let around = |object: &[(String, Cell)]| match at {
        Some(at) => [&fields[..at], object, &fields[at + 1..]].concat(),
        None => fields.to_vec(),
    };
    if objects.is_empty() && rows.keep_empty {
        return vec![around(&[])];
    }
    let numbered = |(number, object): (i64, &Vec<(String, Cell)>)| {
        let mut fields = around(object);
        fields.extend(rows.position.clone().map(|name| (name, Cell::Int(number))));
        fields
    };
    (1..).zip(&objects).map(numbered).collect()
}

/// The value of a declared type, if there is one.
fn admitted(cell: &Cell, kind: Kind, nullable: bool) -> Option<Cell> {
    match (kind, cell) {
        (_, Cell::Null) => nullable.then_some(Cell::Null),
        (Kind::Text, Cell::Text(_)) | (Kind::Int, Cell::Int(_)) | (Kind::Bool, Cell::Bool(_)) => Some(cell.clone()),
        (_, Cell::Text(text)) if text.is_empty() => nullable.then_some(Cell::Null),
        (Kind::Int, Cell::Text(text)) => integer(text).map(Cell::Int),
        (Kind::Int, Cell::Bool(value)) => Some(Cell::Int(i64::from(*value))),
        (Kind::Bool, Cell::Int(value)) => Some(Cell::Bool(*value != 0)),
        (Kind::Bool, Cell::Text(text)) => match text.to_lowercase().as_str() {
            "true" | "yes" | "1" | "on" => Some(Cell::Bool(true)),
            "false" | "no" | "0" | "off" => Some(Cell::Bool(false)),
            _ => None,
        },
        (Kind::Text, _) | (_, Cell::Objects(_) | Cell::Object(_)) => None,
    }
}
