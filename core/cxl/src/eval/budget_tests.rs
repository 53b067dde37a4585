//! The bound on what one batch builds: section 21, over thousands of rows.

use std::sync::Arc;

use clinker_record::{Batch, Column, Kind, Schema, Type, Value};

use super::oracle::{batch, run, show};
use crate::{Expression, Program, Scope, ScopeColumn, TooLarge, Want, compile_expression, compile_program};

fn columns() -> Vec<ScopeColumn> {
    vec![("s".into(), Type::plain(Kind::String), false), ("raw".into(), Type::plain(Kind::Any), false)]
}

fn program(text: &str) -> Program {
    let columns = columns();
    let scope = Scope { columns: &columns, ..Scope::default() };
    compile_program(text, &scope).0.unwrap_or_else(|| panic!("{text} is a program"))
}

fn condition(text: &str) -> Expression {
    let columns = columns();
    let scope = Scope { columns: &columns, ..Scope::default() };
    compile_expression(text, &scope, Want::Condition).0.unwrap_or_else(|| panic!("{text} is a condition"))
}

fn rows(rows: usize) -> Batch {
    let texts: Vec<Value> = (0..rows).map(|row| Value::String(format!("{row:09}x").into())).collect();
    let schema = Schema { columns: columns().into_iter().map(|(name, ty, _)| (name, ty)).collect() };
    let columns = vec![Column::from_values(Kind::String, &texts), Column::from_values(Kind::Any, &texts)];
    batch(Arc::new(schema), columns, rows)
}

/// What each row becomes, in pieces that fit a budget; the number of pieces.
fn in_pieces(program: &Program, batch: &Batch, budget: usize) -> (Vec<String>, usize) {
    match program.evaluate_within(batch, &run(), budget) {
        Ok(outcome) => (shown(&outcome, batch.rows), 1),
        Err(TooLarge) => {
            assert!(batch.rows > 1, "a single row is never too large");
            let (first, second) = crate::program::halves(batch.rows);
            let (mut rows, pieces) = in_pieces(program, &batch.take(&first), budget);
            let (more, others) = in_pieces(program, &batch.take(&second), budget);
            rows.extend(more);
            (rows, pieces + others)
        }
    }
}

fn shown(outcome: &crate::Outcome, rows: usize) -> Vec<String> {
    let mut shown = vec!["filtered".to_owned(); rows];
    let kept = outcome.kept.clone().unwrap_or_else(|| (0..rows as u32).collect());
    for (at, row) in kept.iter().enumerate() {
        shown[*row as usize] =
            outcome.columns.iter().map(|column| show(&column.value(at))).collect::<Vec<_>>().join(" | ");
    }
    for failure in &outcome.failures {
        shown[failure.row as usize] = failure.detail.clone();
    }
    shown
}

#[test]
fn cxl_21_a_batch_that_builds_too_much_is_refused_before_it_is_built() {
    for text in [
        "emit e = s.repeat(1000000)",
        "emit e = raw.repeat(1000000)",
        "emit e = s + \"x\".repeat(10000000)",
        "emit e = raw + \"x\".repeat(10000000)",
        "let big = \"x\".repeat(10000000)\nemit e = if s == \"1\" then raw else big",
        "emit e = \"x\".repeat(10000000).to_int()",
        "emit e = s.repeat(1000000).to_int()",
        "let big = s.repeat(100000).upper()\nemit e = 1",
        "let big = raw ?? \"x\".repeat(10000000)\nemit e = if raw.is_null() then raw else \"x\".repeat(10000000)",
    ] {
        let refused = program(text).evaluate_within(&rows(2048), &run(), 1 << 20);
        assert_eq!(refused.err(), Some(TooLarge), "{text}");
    }
}

#[test]
fn cxl_21_a_single_row_is_never_too_large_for_the_budget() {
    let outcome =
        program("emit e = s.repeat(1000000)\nemit f = s.repeat(1048577)").evaluate_within(&rows(1), &run(), 1);
    let outcome = outcome.expect("a row has limits of its own");
    assert_eq!(outcome.failures[0].detail, "row 10: field 'f': string too large: 10485770 bytes, limit 10485760");
}

#[test]
fn cxl_20_pieces_of_a_batch_that_is_too_large_say_what_the_whole_says() {
    let text = "filter not s.ends_with(\"7x\")\nlet n = s.left(9).to_int()\nemit part = s.repeat(n % 50)\n\
                emit late = 100 / (n % 11)\nemit any = if n % 3 == 0 then raw else part";
    let program = program(text);
    let batch = rows(300);
    let whole = shown(&program.evaluate(&batch, &run()), batch.rows);
    for budget in [0, 100, 5_000, 50_000, usize::MAX] {
        let (pieces, count) = in_pieces(&program, &batch, budget);
        assert_eq!(pieces, whole, "a budget of {budget} bytes");
        assert_eq!(count > 1, budget < usize::MAX, "{count} pieces in {budget} bytes");
    }
}

#[test]
fn cxl_20_a_condition_is_split_by_itself() {
    // 12 rows that build 8 MB each.
    let condition =
        condition("s.repeat(800000).length() > 0 and s.left(9).to_int() % 4 != 1 and 1 / s.left(9).to_int() >= 0");
    let verdicts = condition.evaluate_condition(&rows(12), &run(), 20_000_000).expect("its errors are small");
    let holds: Vec<bool> = (0..12).map(|row| verdicts.verdict(row) == crate::Verdict::True).collect();
    let expected: Vec<bool> = (0..12).map(|row| row % 4 != 1 && row != 0).collect();
    assert_eq!(holds, expected);
    assert_eq!(verdicts.errors.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [0]);
}

#[test]
fn cxl_20_a_condition_whose_errors_report_too_much_is_too_large() {
    let condition = condition("s.repeat(100).to_int() > 1");
    assert_eq!(condition.evaluate_condition(&rows(100), &run(), 10_000).err(), Some(TooLarge));
    let verdicts = condition.evaluate_condition(&rows(4), &run(), 10_000).expect("it reports 8,200 bytes");
    assert_eq!(verdicts.errors.len(), 4);
    assert!(condition.evaluate_condition(&rows(1), &run(), 0).is_ok(), "a row always has a verdict");
}
