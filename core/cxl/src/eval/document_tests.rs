//! `$doc`: section 15.6.

use std::sync::Arc;

use clinker_record::{Batch, Column, Frame, Kind, Level, LevelRun, Schema, Section, Type, Value};

use super::oracle::{batch, run, show};
use crate::{Scope, Verdict, Want, compile_expression, compile_program};

/// A level with sections of one field.
pub(super) fn level(parent: Option<&Arc<Level>>, sections: &[(&str, &str, Value)]) -> Arc<Level> {
    let sections = sections.iter().map(|(name, field, value)| Section {
        name: (*name).into(),
        fields: vec![((*field).into(), value.clone())],
        keys: vec![("$raw", Arc::from(&b"HDR"[..]))],
    });
    let kind = parent.map_or(0, |parent| parent.kind + 1);
    Arc::new(Level { kind, ordinal: 1, frame: Frame::Inherit, parent: parent.cloned(), sections: sections.collect() })
}

fn file() -> Arc<Level> {
    level(None, &[("head", "run", Value::Int(7)), ("tail", "note", Value::String("n".into()))])
}

/// Rows with numbers, inside levels from the given rows on.
fn inside(rows: i64, levels: &[(u32, Option<&Arc<Level>>)]) -> Batch {
    let schema = Schema { columns: vec![("a".into(), Type::plain(Kind::Int))] };
    let values: Vec<Value> = (0..rows).map(Value::Int).collect();
    let mut batch = batch(Arc::new(schema), vec![Column::from_values(Kind::Int, &values)], rows as usize);
    let runs = levels.iter().map(|(start, level)| LevelRun { start: *start, level: level.cloned() });
    batch.origin = batch.origin.inside(runs.collect());
    batch
}

/// The emitted values of a program.
fn values(text: &str, batch: &Batch) -> Vec<String> {
    let columns = [("a".into(), Type::plain(Kind::Int), false)];
    let (program, reports) = compile_program(text, &Scope { columns: &columns, ..Scope::default() });
    let result = program.unwrap_or_else(|| panic!("{text}: {reports:?}")).evaluate(batch, &run());
    let shown = |row| result.columns.iter().map(|column| show(&column.value(row))).collect::<Vec<_>>().join(" ");
    (0..result.columns[0].len()).map(shown).collect()
}

#[test]
fn cxl_15_6_a_value_for_each_level() {
    let file = file();
    let first = level(Some(&file), &[("set", "ref", Value::String("A".into()))]);
    let second = level(Some(&file), &[("set", "ref", Value::String("B".into())), ("head", "run", Value::Int(8))]);
    let rows = inside(6, &[(0, Some(&file)), (1, Some(&first)), (3, None), (4, Some(&second))]);
    let text = "emit r = $doc.set.ref\nemit h = $doc.head.run + 1\nemit n = $doc.tail.note";
    let wanted = ["null 8 \"n\"", "\"A\" 8 \"n\"", "\"A\" 8 \"n\"", "null null null", "\"B\" 9 \"n\"", "\"B\" 9 \"n\""];
    assert_eq!(values(text, &rows), wanted);
    // The same rows, picked, and in another order.
    assert_eq!(values(text, &rows.take(&[5, 3, 1])), ["\"B\" 9 \"n\"", "null null null", "\"A\" 8 \"n\""]);
    assert_eq!(values(text, &rows.take(&[1, 2])), ["\"A\" 8 \"n\""; 2]);
    // Inside a branch that some rows take, and inside a closure.
    let branch = "emit r = if a % 2 == 1 then $doc.set.ref else \"-\"\nemit m = [1].map(it => $doc.head.run)";
    assert_eq!(values(branch, &rows)[3..], ["null [null]", "\"-\" [8]", "\"B\" [8]"]);
}

#[test]
fn cxl_15_6_what_is_absent_is_null() {
    let file = file();
    let whole = inside(2, &[(0, Some(&file))]);
    let text = "emit a = $doc.head.other\nemit b = $doc.other.run\nemit c = $doc.Head.run\nemit d = $doc.head.run";
    assert_eq!(values(text, &whole), ["null null null 7"; 2]);
    // Rows in front of every level, rows without levels at all.
    assert_eq!(values("emit d = $doc.head.run", &inside(3, &[(2, Some(&file))])), ["null", "null", "7"]);
    assert_eq!(values("emit d = $doc.head.run", &inside(2, &[])), ["null", "null"]);
    let mut plain = inside(1, &[]);
    plain.origin = clinker_record::Origin::none();
    assert_eq!(values("emit d = $doc.head.run", &plain), ["null"]);
}

#[test]
fn cxl_15_6_engine_keys_are_invisible() {
    let (program, reports) = compile_program("emit a = $doc.head.$raw", &Scope::default());
    assert!(program.is_none() && reports[0].code == Some("E202"), "{reports:?}");
}

#[test]
fn pipeline_12_3_parts_of_a_value() {
    let list = Value::Array(vec![Value::Int(1), Value::Map(vec![("k".into(), Value::String("v".into()))])]);
    let rows = inside(1, &[(0, Some(&level(None, &[("h", "list", list)])))]);
    let text = "emit a = $doc.h.list[0]\nemit b = $doc.h.list[1].k\nemit c = $doc.h.list[1]['k']\nemit d = $doc.h.list[-1]\n\
                emit e = $doc.h.list[9]\nemit f = $doc.h.list[0][0]\nemit g = $doc.h.none[0]['x']";
    assert_eq!(values(text, &rows), ["1 \"v\" \"v\" null null null null"]);
}

#[test]
fn cxl_15_6_conditions_and_what_they_read() {
    let rows = inside(2, &[(0, Some(&file()))]);
    let (condition, reports) = compile_expression("$doc.head.run == 7", &Scope::default(), Want::Condition);
    let condition = condition.unwrap_or_else(|| panic!("{reports:?}"));
    let verdicts = condition.evaluate_condition(&rows, &run(), usize::MAX).expect("the budget is infinite");
    assert_eq!(verdicts.verdict(1), Verdict::True);
    let text = "let x = $doc.b.c\nemit y = [$doc.a.b, $doc.b.c].length()\ntrace $doc.d.e";
    let (program, reports) = compile_program(text, &Scope::default());
    let program = program.unwrap_or_else(|| panic!("{reports:?}"));
    let read: Vec<_> = program.documents_read().map(|path| format!("{}.{}", path.section, path.field)).collect();
    assert_eq!(read, ["b.c", "a.b", "d.e"]);
    assert_eq!(condition.documents_read().count(), 1);
}
