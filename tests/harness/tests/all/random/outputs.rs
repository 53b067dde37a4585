//! What Sinks write, as text.

use super::expr::{Cell, json_string};
use super::model::{Outcome, Record};
use super::plan::{Node, Op, Plan, SinkSpec, Split, flat};

/// Every output file with its content.
pub fn outputs(plan: &Plan, expected: &Outcome) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for (at, node) in plan.nodes.iter().enumerate() {
        let Op::Sink(sink) = &node.op else { continue };
        let records = expected.written.get(&node.name).map_or(&[][..], Vec::as_slice);
        let columns = columns(node, sink, records);
        let text = |records: &[&Record]| match sink.json {
            true => lines(node, sink, records),
            false => table(node, sink, &columns, records),
        };
        let extension = if sink.json { "json" } else { "csv" };
        for (stem, records) in parts(plan, at, sink, records) {
            let Some(split) = &sink.split else {
                files.push((format!("{stem}.{extension}"), text(&records)));
                continue;
            };
            for (number, records) in (1..).zip(divide(split, &records, &text)) {
                files.push((format!("{stem}_{number:04}.{extension}"), text(&records)));
            }
        }
    }
    files
}

/// The records of each file, with the stem of its name.
fn parts<'r>(plan: &Plan, at: usize, sink: &SinkSpec, records: &'r [Record]) -> Vec<(String, Vec<&'r Record>)> {
    let name = &plan.nodes[at].name;
    let mut parts: Vec<(String, Vec<&Record>)> = Vec::new();
    if sink.per_file {
        for source in plan.stems_from(at) {
            let Op::Source(source) = &plan.nodes[plan.at(&source)].op else { panic!("{source} is no source") };
            for file in &source.files {
                let stem = file.name.split('.').next().unwrap_or_default();
                let of_file = records.iter().filter(|record| record.origin.file == file.name).collect();
                parts.push((format!("{stem}.{name}"), of_file));
            }
        }
    } else {
        parts.push((name.clone(), records.iter().collect()));
    }
    parts
}

/// The records of each file of a divided output. `text` is the content of a file with some records.
fn divide<'r>(split: &Split, records: &[&'r Record], text: &impl Fn(&[&'r Record]) -> String) -> Vec<Vec<&'r Record>> {
    let mut files = vec![Vec::new()];
    for record in records {
        let file = files.last().expect("there is always one");
        let full = split.records.is_some_and(|most| file.len() >= most)
            || split.bytes.is_some_and(|most| text(file).len() >= most);
        if full && !file.is_empty() {
            files.push(Vec::new());
        }
        files.last_mut().expect("there is always one").push(*record);
    }
    files
}

/// Whether a column of the record is written.
fn listed(node: &Node, sink: &SinkSpec, name: &String) -> bool {
    let emitted = sink.unmapped || node.emitted.as_ref().is_none_or(|emitted| emitted.contains(name));
    emitted && !sink.exclude.contains(name)
}

/// Names and values as a Sink has them, undeclared fields last.
fn projected(node: &Node, sink: &SinkSpec, record: &Record) -> Vec<(String, Cell)> {
    let mut fields: Vec<(String, Cell)> =
        record.cells.iter().filter(|(name, _)| listed(node, sink, name)).cloned().collect();
    let follows = |name: &String| {
        sink.unmapped && !sink.exclude.contains(name) && record.cells.iter().all(|(known, _)| known != name)
    };
    fields.extend(record.extra.iter().filter(|(name, _)| follows(name)).cloned());
    fields
}

fn lines(node: &Node, sink: &SinkSpec, records: &[&Record]) -> String {
    let object = |record: &&Record| {
        let mut fields = projected(node, sink, record);
        fields.retain(|(_, cell)| sink.nulls || *cell != Cell::Null);
        let members: Vec<String> =
            fields.iter().map(|(name, cell)| format!("{}:{}", json_string(name), cell.json())).collect();
        format!("{{{}}}\n", members.join(","))
    };
    records.iter().map(object).collect()
}

/// The one set of columns of a flat output: known, or what its records bring.
fn columns(node: &Node, sink: &SinkSpec, records: &[Record]) -> Vec<String> {
    let mut columns: Vec<String> =
        node.columns.iter().map(|column| &column.name).filter(|name| listed(node, sink, name)).cloned().collect();
    for record in records {
        for (name, _) in projected(node, sink, record) {
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
    }
    columns
}

fn table(node: &Node, sink: &SinkSpec, columns: &[String], records: &[&Record]) -> String {
    let known = !(node.widens && sink.unmapped);
    if records.is_empty() && !known {
        return String::new();
    }
    let line = |cells: Vec<String>| match cells.as_slice() {
        [only] if only.is_empty() => "\"\"\n".to_owned(),
        cells => cells.iter().map(|cell| flat(cell)).collect::<Vec<_>>().join(",") + "\n",
    };
    let mut text = line(columns.to_vec());
    for record in records {
        let fields = projected(node, sink, record);
        let cell = |name: &String| {
            fields.iter().find(|(known, _)| known == name).map_or_else(String::new, |(_, cell)| cell.text())
        };
        text.push_str(&line(columns.iter().map(cell).collect()));
    }
    text
}
