//! `trace` and `debug`: sections 9.8 and 10.9.

use std::sync::Arc;

use clinker_events::Level;
use clinker_record::{Column, Kind, Schema, Type, Value};

use super::oracle::{batch, run};
use crate::{Outcome, RunContext, Scope, ScopeColumn, Want, compile_expression, compile_program};

fn columns() -> Vec<ScopeColumn> {
    vec![("a".into(), Type::plain(Kind::Int), false), ("debug".into(), Type::plain(Kind::Int), false)]
}

fn logged(program: &str, values: &[Option<i64>], level: Option<Level>) -> Outcome {
    let columns = columns();
    let (compiled, diagnostics) = compile_program(program, &Scope { columns: &columns, ..Scope::default() });
    let compiled = compiled.unwrap_or_else(|| panic!("{program}: {diagnostics:?}"));
    let values: Vec<Value> = values.iter().map(|value| value.map_or(Value::Null, Value::Int)).collect();
    let column = Column::from_values(Kind::Int, &values);
    let schema = Schema { columns: columns.iter().map(|(name, ty, _)| (Arc::clone(name), *ty)).collect() };
    let batch = batch(Arc::new(schema), vec![column.clone(), column], values.len());
    compiled.evaluate(&batch, &RunContext { log_level: level, ..run() })
}

fn lines(outcome: &Outcome) -> Vec<String> {
    outcome.events.iter().map(|event| format!("{} {:?} {}", event.row, event.level, event.text)).collect()
}

#[test]
fn cxl_9_8_trace_logs_the_text_form_of_its_message() {
    let values = [Some(1), None, Some(3)];
    let outcome = logged("trace a\ntrace info \"v=\" + [a].to_string()\nemit b = a", &values, Some(Level::Trace));
    assert_eq!(lines(&outcome), ["0 Trace 1", "0 Info v=[1]", "1 Trace ", "1 Info v=[]", "2 Trace 3", "2 Info v=[3]"]);
    let outcome = logged("trace warn if a > 1 then a * 10\nemit b = a", &values, Some(Level::Trace));
    assert_eq!(lines(&outcome), ["2 Warn 30"]);
    // A level word that stands alone is a column.
    assert_eq!(lines(&logged("trace debug\nemit b = 1", &[Some(7)], Some(Level::Trace))), ["0 Trace 7"]);
}

#[test]
fn cxl_9_8_an_error_in_trace_never_fails_the_record() {
    let text = "trace error if 6 / a > 1 then 1 / (a - 1)\nemit b = a";
    let outcome = logged(text, &[Some(0), Some(1), Some(2), None], Some(Level::Error));
    assert!(outcome.failures.is_empty());
    assert_eq!(
        lines(&outcome),
        ["0 Error <trace error: division_by_zero>", "1 Error <trace error: division_by_zero>", "2 Error 1"]
    );
    // What a trace constructs does not count for the record.
    let heavy = "trace [n for n in \"x\".repeat(200000).split(\"\")].length()\n";
    let outcome = logged(&format!("{}emit b = a", heavy.repeat(3)), &[Some(0)], Some(Level::Trace));
    assert_eq!(lines(&outcome), vec!["0 Trace 200002"; 3]);
}

#[test]
fn cxl_9_8_a_disabled_level_is_not_evaluated() {
    let text = "trace info a\ntrace debug a.to_string()\nemit b = a.debug(\"x\")";
    for (level, expected) in [(None, 0), (Some(Level::Warn), 0), (Some(Level::Info), 1), (Some(Level::Trace), 3)] {
        assert_eq!(logged(text, &[Some(1)], level).events.len(), expected, "{level:?}");
    }
}

#[test]
fn cxl_10_9_debug_returns_its_receiver() {
    let text = "emit b = a.debug(\"n\") + 1\na.debug()\nemit c = [a].map(it => it.debug(\"it\"))";
    let outcome = logged(text, &[Some(5), None], Some(Level::Trace));
    assert_eq!(outcome.columns[0].value(0), Value::Int(6));
    assert_eq!(
        lines(&outcome),
        ["0 Trace n: 5", "0 Trace 5", "0 Trace it: 5", "1 Trace n: ", "1 Trace ", "1 Trace it: "]
    );
}

#[test]
fn cxl_20_nothing_is_logged_behind_a_failure_or_a_filter() {
    let text = "emit b = 1 / a\ntrace a\nlet c = a.debug(\"c\")\nfilter a > 1\ntrace \"kept\"";
    let outcome = logged(text, &[Some(0), Some(1), Some(2)], Some(Level::Trace));
    assert_eq!(lines(&outcome), ["1 Trace 1", "1 Trace c: 1", "2 Trace 2", "2 Trace c: 2", "2 Trace kept"]);
    let outcome = logged("emit b = 1 / a + a.debug()", &[Some(0), Some(1)], Some(Level::Trace));
    assert_eq!(lines(&outcome), ["1 Trace 1"]);
}

#[test]
fn cxl_10_9_debug_outside_of_a_program_is_refused() {
    let columns = columns();
    let scope = Scope { columns: &columns, ..Scope::default() };
    let (none, diagnostics) = compile_expression("a.debug() > 1", &scope, Want::Condition);
    assert!(none.is_none());
    assert_eq!(diagnostics[0].message, "`debug` is available only in the program of a Transform");
    let (_, diagnostics) = compile_program("emit b = 1\na.debug(\"x\")", &scope);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
}
