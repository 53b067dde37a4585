//! Evaluation: sections 4, 7, 9, 10, 15, 19 and 20.

use std::sync::Arc;

use clinker_record::{Batch, Category, Column, Kind, Origin, OriginRun, Schema, Type, Value};

use super::oracle::{batch, run, show};
use crate::functions::tests::evaluate;
use crate::{Outcome, Scope, ScopeColumn, Verdict, Want, compile_expression, compile_program};

fn all(examples: &[(&str, &str)]) {
    for (text, expected) in examples {
        assert_eq!(evaluate(text), *expected, "{text}");
    }
}

#[test]
fn cxl_3_precedence() {
    all(&[
        ("2 + 6 / 3", "4"),
        ("20 - 5 - 3", "12"),
        ("not false and false", "false"),
        ("null ?? 1 + 1", "2"),
        ("-8.abs()", "-8"),
        ("(-8).abs()", "8"),
        ("not 1 == 2", "true"),
        ("2 * -3", "-6"),
        ("1 + if false then 2 else 3 * 4", "13"),
        ("false or null ?? true", "true"),
    ]);
}

#[test]
fn cxl_4_2_comparisons() {
    all(&[
        ("\"2.50\".to_decimal() == \"2.5\".to_decimal()", "true"),
        ("9223372036854775807 == 9223372036854775808.0", "false"),
        ("9223372036854775807 < 9223372036854775808.0", "true"),
        ("9007199254740993 > 9007199254740992.0", "true"),
        ("0.0 == -0.0", "true"),
        ("\"nan\".to_float() == \"nan\".to_float()", "false"),
        ("\"nan\".to_float() != \"nan\".to_float()", "true"),
        ("\"nan\".to_float() < 1.0", "false"),
        ("\"Z\" < \"a\"", "true"),
        ("\"é\" > \"z\"", "true"),
        ("true == false", "false"),
        ("#2031-01-02# > #2031-01-01#", "true"),
    ]);
}

#[test]
fn cxl_4_3_text_forms() {
    all(&[
        ("61.0.to_string()", "\"61\""),
        ("0.0000001.to_string()", "\"0.0000001\""),
        ("(-0.0).to_string()", "\"-0\""),
        ("\"inf\".to_float().to_string()", "\"inf\""),
        ("\"nan\".to_float().to_string()", "\"NaN\""),
        ("\"7.10\".to_decimal().to_string()", "\"7.10\""),
        ("\"2031-08-09T06:05:00.25\".to_datetime().to_string()", "\"2031-08-09T06:05:00.250\""),
        ("(-5).to_string()", "\"-5\""),
    ]);
}

#[test]
fn cxl_7_1_null_logic() {
    all(&[
        ("null == null", "null"),
        ("null != 1", "null"),
        ("null + 3", "null"),
        ("true and null", "null"),
        ("false and null", "false"),
        ("null and false", "false"),
        ("null and true", "null"),
        ("null or true", "true"),
        ("true or null", "true"),
        ("false or null", "null"),
        ("not null", "null"),
    ]);
}

#[test]
fn cxl_7_3_arithmetic() {
    all(&[
        ("17 / 5", "3"),
        ("-17 / 5", "-3"),
        ("-17 % 5", "-2"),
        ("-7.5 % 2", "-1.5"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("\"pa\" + \"llet\"", "\"pallet\""),
        ("8 / 0", "✗ division_by_zero"),
        ("8 % 0", "✗ division_by_zero"),
        ("8.0 / 0", "✗ division_by_zero"),
        ("8.0 / -0.0", "✗ division_by_zero"),
        ("\"8\".to_decimal() / 0", "✗ division_by_zero"),
        ("9223372036854775807 + 1", "✗ integer_overflow"),
        ("(-9223372036854775807 - 1) / -1", "✗ integer_overflow"),
        ("(-9223372036854775807 - 1) % -1", "0"),
        ("-(-9223372036854775807 - 1)", "✗ integer_overflow"),
        ("\"12.40\".to_decimal() * 3", "37.20"),
        ("\"10.00\".to_decimal() / 3", "3.3333333333333333333333333333"),
        ("\"9.00\".to_decimal() / 2", "4.50"),
        ("\"10\".to_decimal() / 4", "2.5"),
        ("\"10\".to_decimal() / 3 + 100", "103.33333333333333333333333333"),
        ("\"10\".to_decimal() / 3 * 3", "10.000000000000000000000000000"),
        ("\"inf\".to_float() - \"inf\".to_float()", "NaN"),
    ]);
}

#[test]
fn cxl_7_4_coalesce_recovers_arithmetic_only() {
    all(&[
        ("null ?? null ?? \"last\"", "\"last\""),
        ("(6 / 0) ?? 7", "7"),
        ("(6 / 0 > 1) ?? false", "false"),
        ("\"x\".to_int() ?? 0", "✗ conversion_failed"),
        ("(6 / 0) ?? (6 / 0)", "✗ division_by_zero"),
        ("((6 / 0) ?? null).is_null()", "true"),
        ("(6 / 0).catch(null ?? 4)", "4"),
        ("1 ?? (6 / 0)", "1"),
        ("(\"x\".to_int() / 0) ?? 1", "✗ conversion_failed"),
        ("((6 / 0) + \"x\".to_int()) ?? 1", "1"),
    ]);
}

#[test]
fn cxl_7_5_if_takes_one_branch() {
    all(&[
        ("if null then 1 else 2", "2"),
        ("if 3 > 4 then \"y\"", "null"),
        ("if true then 1 else 2 / 0", "1"),
        ("if true then 1 else 2.5", "1.0"),
        ("if false then 1 else if false then 2 else 3", "3"),
        ("if 1 / 0 == 1 then 1 else 2", "✗ division_by_zero"),
    ]);
}

#[test]
fn cxl_7_6_match_forms() {
    all(&[
        ("match 7 { 5 => \"low\", 7 => \"mid\", _ => \"high\" }", "\"mid\""),
        ("match null { null => 0, _ => 1 }", "0"),
        ("match { null => \"a\", 2 > 1 => \"b\", _ => \"c\" }", "\"b\""),
        ("match 5 { 5 => 1, 1 / 0 => 2, _ => 3 / 0 }", "1"),
        ("match 1 { null => 2, _ => 3 }", "3"),
        ("match 1 { 1.0 => 2, _ => 3 }", "2"),
    ]);
}

#[test]
fn cxl_10_1_null_receivers_skip_their_arguments() {
    all(&[
        ("null.upper()", "null"),
        ("null.left(1 / 0)", "null"),
        ("\"a\".left(null)", "null"),
        ("\"a\".left(1 / 0)", "✗ division_by_zero"),
        ("null.to_int()", "null"),
        ("\"ab\".concat(null, \"c\")", "\"abc\""),
        ("\"x\".repeat(10485760).length()", "10485760"),
        ("\"xx\".repeat(5242881)", "✗ string_too_large"),
        ("(\"x\".repeat(10485760) + \"x\")", "✗ string_too_large"),
        ("\"x\".pad_left(10485761)", "✗ string_too_large"),
        ("\"a\".matches(\"[\" + \"\")", "✗ regex_compile"),
        ("\"2031\".to_date(\"%\" + \"Q\")", "✗ conversion_failed"),
        ("\"2031\".try_date(\"%\" + \"Q\")", "null"),
    ]);
}

#[test]
fn cxl_10_4_number_functions_at_the_edges() {
    all(&[
        ("(-9223372036854775807 - 1).abs()", "✗ integer_overflow"),
        ("\"inf\".to_float().ceil()", "✗ integer_overflow"),
        ("9223372036854775808.0.floor()", "✗ integer_overflow"),
        ("0.5.round()", "1.0"),
        ("(-0.5).round()", "-1.0"),
        ("2.5.round(400)", "2.5"),
        ("5.min(5)", "5"),
        ("1.5.max(\"nan\".to_float())", "NaN"),
        ("230.clamp(300, 200)", "300"),
    ]);
}

#[test]
fn cxl_10_8_conversions_refuse_the_rest() {
    all(&[
        ("\" 1\".try_int()", "null"),
        ("\"1e3\".try_int()", "null"),
        ("\"+1\".to_int()", "1"),
        ("\"١\".try_int()", "null"),
        ("\"9223372036854775808\".try_int()", "null"),
        ("\"5.\".to_float()", "5.0"),
        ("\"INFINITY\".to_float()", "inf"),
        ("\"1_0\".try_float()", "null"),
        ("\"9.3e18\".to_float().try_int()", "null"),
        ("\"nan\".to_float().try_decimal()", "null"),
        ("#2031-08-09#.try_int()", "null"),
        ("\"2031-08-09T06:05\".try_datetime()", "null"),
        ("\"2031-08-09T06:05:00Z\".try_datetime()", "null"),
        ("\"2031-8-9\".try_date()", "null"),
    ]);
}

#[test]
fn cxl_23_patterns() {
    all(&[
        ("\"naïve\".matches(\"\\w+\")", "true"),
        ("\"a\\nb\".matches(\"a.b\")", "false"),
        ("\"ab\".matches(\"(?x)a b # both\")", "true"),
        ("\"aa\".matches(\"a++\")", "true"),
    ]);
    for pattern in ["(?=a)", "(a)\\\\1", "(?>a)", "a{,2}", "a)(?:b"] {
        let refused = evaluate(&format!("\"a\".find(\"{pattern}\")"));
        assert!(refused.starts_with("E200: invalid pattern"), "{pattern}: {refused}");
    }
}

/// A batch of named columns of values.
fn table(columns: &[(&str, Kind, &[Value])]) -> (Batch, Vec<ScopeColumn>) {
    let scope: Vec<ScopeColumn> =
        columns.iter().map(|(name, kind, _)| (Arc::from(*name), Type::plain(*kind), false)).collect();
    let schema = Schema { columns: scope.iter().map(|(name, ty, _)| (Arc::clone(name), *ty)).collect() };
    let values = columns.iter().map(|(_, kind, values)| Column::from_values(*kind, values)).collect();
    (batch(Arc::new(schema), values, columns[0].2.len()), scope)
}

fn outcome(text: &str, batch: &Batch, columns: &[ScopeColumn]) -> Outcome {
    let (program, diagnostics) = compile_program(text, &Scope { columns, ..Scope::default() });
    program.unwrap_or_else(|| panic!("{text}: {diagnostics:?}")).evaluate(batch, &run())
}

fn shown(column: &Column) -> Vec<String> {
    (0..column.len()).map(|row| show(&column.value(row))).collect()
}

fn ints(values: &[i64]) -> Vec<Value> {
    values.iter().map(|value| Value::Int(*value)).collect()
}

#[test]
fn cxl_19_2_failures_name_row_field_and_reason() {
    let (batch, columns) = table(&[("a", Kind::Int, &ints(&[1, 2, 3, 4])), ("b", Kind::Int, &ints(&[1, 0, 2, 0]))]);
    let result = outcome("let c = a + 1\nemit ratio = a / b\nemit t = a.to_string().to_date()", &batch, &columns);
    let details: Vec<_> = result.failures.iter().map(|failure| (failure.row, failure.detail.as_str())).collect();
    assert_eq!(
        details,
        [
            (0, "row 10: field 't': conversion failed: '1' is not a valid Date"),
            (1, "row 11: field 'ratio': division by zero"),
            (2, "row 12: field 't': conversion failed: '3' is not a valid Date"),
            (3, "row 13: field 'ratio': division by zero"),
        ]
    );
    assert_eq!(result.failures[0].value.as_deref(), Some("1"));
    assert_eq!((result.spans[1].start, result.spans[1].end), (27, 32), "the division in the program text");
    assert_eq!(result.failures[1].field.as_deref(), Some("ratio"));
    assert_eq!(result.failures[1].category, Category::TypeCoercionFailure);
    assert_eq!(result.kept, Some(vec![]));
}

#[test]
fn cxl_19_2_a_failing_operation_is_shown_with_the_parentheses_of_its_operand() {
    let (batch, columns) = table(&[("a", Kind::Int, &ints(&[1]))]);
    let text = "emit x = 7 / (a - 1)";
    let result = outcome(text, &batch, &columns);
    assert_eq!(&text[result.spans[0].start..result.spans[0].end], "7 / (a - 1)");
}

#[test]
fn cxl_19_3_failures_outside_an_emit_name_no_field() {
    let (batch, columns) = table(&[("a", Kind::Int, &ints(&[0, 5]))]);
    let result = outcome("filter 10 / a > 1\nemit b = a", &batch, &columns);
    assert_eq!(result.failures[0].detail, "row 10: division by zero");
    assert_eq!((result.failures[0].field.as_deref(), result.filtered), (None, 0));
    assert_eq!((result.kept, shown(&result.columns[0])), (Some(vec![1]), vec!["5".to_owned()]));
}

#[test]
fn cxl_9_3_an_emitted_nan_fails_its_row() {
    let values = [Value::Float(1.5), Value::Float(f64::NAN), Value::Null];
    let (batch, columns) = table(&[("a", Kind::Float, &values)]);
    let result = outcome("let quiet = a\nemit b = quiet", &batch, &columns);
    assert_eq!(result.failures.len(), 1);
    assert_eq!(result.failures[0].category, Category::NanInOutputField);
    assert_eq!(result.failures[0].value.as_deref(), Some("NaN"));
    assert_eq!(result.failures[0].detail, "row 11: field 'b': NaN in output");
    assert_eq!(shown(&result.columns[0]), ["1.5", "null"]);
}

#[test]
fn cxl_9_5_filter_drops_false_and_null_and_stops_the_row() {
    let values = [Value::Int(0), Value::Null, Value::Int(4), Value::Int(6)];
    let (batch, columns) = table(&[("a", Kind::Int, &values)]);
    let result = outcome("filter a > 0\nfilter a > 5 - 1\nemit b = 12 / a", &batch, &columns);
    assert_eq!((result.filtered, result.kept, result.failures.len()), (3, Some(vec![3]), 0));
    assert_eq!(shown(&result.columns[0]), ["2"]);
}

#[test]
fn cxl_9_3_an_emit_shared_from_a_column_is_not_copied() {
    let (batch, columns) = table(&[("a", Kind::Int, &ints(&[1, 2]))]);
    let result = outcome("emit renamed = a", &batch, &columns);
    let (Column::Int(from), Column::Int(to)) = (&batch.columns[0], &result.columns[0]) else { panic!("integers") };
    assert_eq!(from.values().as_ptr(), to.values().as_ptr());
    assert_eq!(result.kept, None);
}

#[test]
fn cxl_5_1_an_emitted_value_hides_the_column() {
    let (batch, columns) = table(&[("w", Kind::Int, &ints(&[4]))]);
    let result = outcome("emit w = w * 10\nemit v = w + 1", &batch, &columns);
    assert_eq!((shown(&result.columns[0]), shown(&result.columns[1])), (vec!["40".into()], vec!["41".into()]));
}

#[test]
fn nodes_3_3_the_fees_example() {
    let text = |values: &[&str]| values.iter().map(|value| Value::String((*value).into())).collect::<Vec<_>>();
    let mut shelf = text(&["a", "a", "b"]);
    shelf.push(Value::Null);
    let (batch, columns) = table(&[("days", Kind::Int, &ints(&[3, 0, 12, 4])), ("shelf", Kind::String, &shelf)]);
    let result = outcome("filter days > 0\nemit shelf = shelf.upper()\nemit fee = days * 5", &batch, &columns);
    assert_eq!((result.kept, result.filtered), (Some(vec![0, 2, 3]), 1));
    assert_eq!(shown(&result.columns[0]), ["\"A\"", "\"B\"", "null"]);
    assert_eq!(shown(&result.columns[1]), ["15", "60", "20"]);
}

#[test]
fn cxl_15_2_source_members_follow_the_row() {
    let (mut batch, columns) = table(&[("a", Kind::Int, &ints(&[1, 2, 3]))]);
    let second = OriginRun { start: 2, source: 0, file: 1, row: 1, ordinal: 12 };
    let first = OriginRun { start: 0, source: 0, file: 0, row: 10, ordinal: 10 };
    batch.origin = Origin::block(Arc::from([first, second]));
    let mut run = run();
    let mut source = run.sources[0].clone();
    let other = crate::SourceFile { shown: "in/b.csv".into(), path: "/data/in/b.csv".into() };
    source.files = [source.files[0].clone(), other].into();
    run.sources = [source].into();
    let text = "filter a > 1\nemit f = $source.file\nemit r = $source.row\nemit n = $source.name + \"/\" + $pipeline.name\nemit t = $source.ingestion_timestamp";
    let (program, _) = compile_program(text, &Scope { columns: &columns, ..Scope::default() });
    let result = program.unwrap().evaluate(&batch, &run);
    assert_eq!(shown(&result.columns[0]), ["\"in/orders.csv\"", "\"in/b.csv\""]);
    assert_eq!(shown(&result.columns[1]), ["11", "1"]);
    assert_eq!(shown(&result.columns[2])[0], "\"orders/nightly\"");
    assert_eq!(shown(&result.columns[3])[1], "1970-01-01T00:00:07");
}

#[test]
fn cxl_17_conditions_tell_true_false_null_and_error() {
    let values = [Value::Int(5), Value::Int(50), Value::Null, Value::Int(0)];
    let (batch, columns) = table(&[("a", Kind::Int, &values)]);
    let scope = Scope { columns: &columns, ..Scope::default() };
    let (condition, _) = compile_expression("100 / a > 10", &scope, Want::Condition);
    let verdicts = condition.unwrap().evaluate_condition(&batch, &run(), usize::MAX).expect("the budget is infinite");
    assert_eq!(verdicts.verdict(0), Verdict::True);
    assert_eq!(verdicts.verdict(1), Verdict::False);
    assert_eq!(verdicts.verdict(2), Verdict::Null);
    assert!(matches!(verdicts.verdict(3), Verdict::Error(error) if error.message == "division by zero"));
    assert!(!verdicts.all_true());
}

#[test]
fn cxl_20_what_is_not_evaluated_cannot_fail() {
    let (batch, columns) = table(&[
        ("a", Kind::Int, &ints(&[0, 1, 2, 0])),
        ("s", Kind::String, &["x", "1", "2", "3"].map(|text| Value::String(text.into()))),
    ]);
    let result = outcome(
        "emit p = a != 0 and 4 / a > 1\nemit q = a == 0 or 4 / a > 1\nemit r = if a == 0 then 0 else 4 / a\nemit t = match a { 0 => 0, _ => s.to_int() / a }",
        &batch,
        &columns,
    );
    assert!(result.failures.is_empty(), "{:?}", result.failures);
    assert_eq!(shown(&result.columns[2]), ["0", "4", "2", "0"]);
    assert_eq!(shown(&result.columns[3]), ["0", "1", "1", "0"]);
}

#[test]
fn cxl_10_2_parts_of_long_texts_are_shared() {
    let long = "  a text that is longer than twelve bytes and fills a buffer  ";
    let texts =
        [long, "short", " \u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9} "].map(|text| Value::String(text.into()));
    let (batch, columns) = table(&[("s", Kind::String, &texts)]);
    let result = outcome("emit t = s.trim()\nemit l = s.left(20)\nemit r = s.right(20).upper()", &batch, &columns);
    assert_eq!(shown(&result.columns[0])[0], format!("{:?}", long.trim()));
    assert_eq!(shown(&result.columns[0])[2], "\"éééééééé\"");
    assert_eq!(shown(&result.columns[1])[0], "\"  a text that is lon\"");
    assert_eq!(shown(&result.columns[2])[0], "\"AND FILLS A BUFFER  \"");
}

#[test]
fn cxl_6_2_dynamic_columns_keep_their_types() {
    let values = [Value::Int(4), Value::Float(0.5), Value::String("x".into()), Value::Bool(true), Value::Null];
    let (batch, columns) = table(&[("a", Kind::Any, &values)]);
    let result = outcome("emit t = a.type_of()\nemit b = a", &batch, &columns);
    assert_eq!(shown(&result.columns[0]), ["\"Int\"", "\"Float\"", "\"String\"", "\"Bool\"", "\"Null\""]);
    let result = outcome("emit b = a * 2", &batch, &columns);
    assert_eq!(shown(&result.columns[0]), ["8", "1.0", "null"]);
    let reasons: Vec<_> = result.failures.iter().map(|failure| failure.detail.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "row 12: field 'b': type mismatch: expected a number, got String",
            "row 13: field 'b': type mismatch: expected a number, got Bool"
        ]
    );
}

#[test]
fn cxl_4_1_columns_that_are_all_null_fit_every_type() {
    let (mut batch, columns) =
        table(&[("a", Kind::Int, &ints(&[1, 2])), ("s", Kind::String, &[Value::Null, Value::Null])]);
    batch.columns[0] = Column::Null(2);
    batch.columns[1] = Column::Null(2);
    let result = outcome(
        "emit b = a * 2 + 1\nemit t = s.upper() + \"x\"\nemit c = if a > 1 then a else 7\nemit d = a ?? 5",
        &batch,
        &columns,
    );
    assert!(result.failures.is_empty());
    assert_eq!(shown(&result.columns[0]), ["null", "null"]);
    assert_eq!(shown(&result.columns[2]), ["7", "7"]);
    assert_eq!(shown(&result.columns[3]), ["5", "5"]);
}

#[test]
fn cxl_21_deep_and_long_programs_are_evaluated() {
    let deep = format!("{}1{}", "(1 + ".repeat(256), ")".repeat(256));
    assert_eq!(evaluate(&deep), "257");
    let branches = format!("{}7{}", "(if true then ".repeat(128), " else 1)".repeat(128));
    assert_eq!(evaluate(&branches), "7");
    assert_eq!(evaluate(&format!("\"a\"{}", ".upper()".repeat(250))), "\"A\"");
    assert_eq!(evaluate(&format!("0{}", " + 1".repeat(10_000))), "10000");
    assert_eq!(evaluate(&format!("true{}", " and true".repeat(7_000))), "true");
    assert_eq!(evaluate(&format!("null{} ?? 3", " ?? null".repeat(7_000))), "3");
}
