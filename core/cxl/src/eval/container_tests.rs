//! Arrays, maps and closures: sections 4.2, 8, 9.3, 10.6, 10.7, 11, 14.1, 20 and 21.

use std::sync::Arc;

use clinker_record::{Batch, Column, Kind, Schema, Type, Value};

use super::oracle::{batch, run, show};
use crate::functions::tests::evaluate;
use crate::{Outcome, Scope, ScopeColumn, compile_program};

fn all(examples: &[(&str, &str)]) {
    for (text, expected) in examples {
        assert_eq!(evaluate(text), *expected, "{text}");
    }
}

/// A program over one column `v` of any values, given as tagged JSON.
fn over(program: &str, values: &[&str]) -> Outcome {
    let values: Vec<Value> = values.iter().map(|text| clinker_record::json::from_tagged(text)).collect();
    over_values(program, Kind::Any, &values)
}

fn over_values(program: &str, kind: Kind, values: &[Value]) -> Outcome {
    let columns: Vec<ScopeColumn> = vec![("v".into(), Type::plain(kind), false)];
    let schema = Schema { columns: vec![("v".into(), Type::plain(kind))] };
    let batch: Batch = batch(Arc::new(schema), vec![Column::from_values(kind, values)], values.len());
    let (compiled, diagnostics) = compile_program(program, &Scope { columns: &columns, ..Scope::default() });
    compiled.unwrap_or_else(|| panic!("{program}: {diagnostics:?}")).evaluate(&batch, &run())
}

fn shown(outcome: &Outcome, column: usize) -> Vec<String> {
    let rows = outcome.columns[column].len();
    (0..rows).map(|row| show(&outcome.columns[column].value(row))).collect()
}

fn reasons(outcome: &Outcome) -> Vec<&str> {
    outcome.failures.iter().map(|failure| failure.detail.as_str()).collect()
}

#[test]
fn cxl_8_constructors() {
    all(&[
        ("[3, \"kg\", null]", "[3, \"kg\", null]"),
        ("[3, 4,]", "[3, 4]"),
        ("[]", "[]"),
        ("[n * n for n in [1, 2, 3] if n > 1]", "[4, 9]"),
        ("[n for n in [1, 2]]", "[1, 2]"),
        ("{lot: \"L7\", [\"qty_\" + \"kg\"]: 12}", "{lot: \"L7\", qty_kg: 12}"),
        ("{\"for\": 1,}", "{for: 1}"),
        ("{}", "{}"),
        ("[[x + y for y in [10, 20]] for x in [1, 2]]", "[[11, 21], [12, 22]]"),
        ("{\"\\\\@id\": 1}.keys()", "[\"\\\\@id\"]"),
        ("{\"\\\\@id\": 1}[\"\\\\@id\"]", "1"),
        ("{\"\\\\@id\": 1}[\"@id\"]", "null"),
        ("{[\"\\\\@id\"]: 1, [\"id\"]: 2}", "{\\@id: 1, id: 2}"),
    ]);
}

#[test]
fn cxl_8_what_constructors_refuse() {
    all(&[
        ("[n for n in [1] if null ?? null == 1]", "✗ type_mismatch"),
        ("[n for n in [[1].find(it => false)] if n == 1]", "✗ type_mismatch"),
        ("[n for n in [1, 2][5]]", "✗ type_mismatch"),
        ("[n for n in {a: 1}.a]", "✗ type_mismatch"),
        ("{[{a: 1}.a]: 1}", "✗ type_mismatch"),
        ("{[{}.a]: 1}", "✗ type_mismatch"),
        ("{[\"a\"]: 1, a: 2}", "✗ duplicate_map_key"),
        ("{[\"\\\\@a\"]: 1, [\"@a\"]: 2}", "✗ duplicate_map_key"),
        ("{[\"\\\\x\"]: 1}", "✗ invalid_nested_key"),
        ("{[\"\\\\#text\"]: 1}", "{\\#text: 1}"),
    ]);
    assert!(evaluate("{a: 1, a: 2}").starts_with("E202"));
    assert!(evaluate("{\"\\\\x\": 1}").starts_with("E202"));
    let outcome = over("emit m = {[v]: 1, a: 2}", &["\"b\"", "\"a\"", "\"\\\\x\"", "null"]);
    assert_eq!(
        reasons(&outcome),
        [
            "row 11: field 'm': duplicate map key 'a'",
            "row 12: field 'm': invalid map key '\\x'",
            "row 13: field 'm': type mismatch: expected String, got Null"
        ]
    );
    let values: Vec<_> = outcome.failures.iter().map(|failure| failure.value.as_deref()).collect();
    assert_eq!(values, [Some("a"), Some("\\x"), None]);
}

#[test]
fn cxl_14_1_access() {
    all(&[
        ("[7, 8][1]", "8"),
        ("[7, 8][-1]", "null"),
        ("[7, 8][2]", "null"),
        ("[7, 8][null]", "null"),
        ("{\"a b\": 5}[\"a b\"]", "5"),
        ("{a: 5}[\"b\"]", "null"),
        ("null[1 / 0]", "null"),
        ("[7][1 / 0]", "✗ division_by_zero"),
        ("[{a: {b: 5}}][0].a.b", "5"),
        ("[{a: {b: 5}}][0].a.c", "null"),
        ("[5][0].a", "null"),
        ("[\"x\"][0][0]", "null"),
        ("{a: \"x\"}.a.upper()", "\"X\""),
        ("{for: 1}", "E202: the key `for` is a reserved word"),
        ("{\"for\": 1}.for", "1"),
    ]);
    let outcome = over("emit e = v[0][\"bin\"].upper()", &[r#"[{"bin":"a1"}]"#, r#"{"bin":"a"}"#, "[]", "null", "7"]);
    assert_eq!(shown(&outcome, 0), ["\"A1\"", "null", "null", "null", "null"]);
}

#[test]
fn cxl_5_2_a_dotted_name_continues_into_maps() {
    let outcome = over("let w = v\nemit e = v.a.b\nemit f = w.a.b", &[r#"{"a":{"b":1}}"#, r#"{"a":7}"#, "null", "[1]"]);
    assert_eq!(shown(&outcome, 0), ["1", "null", "null", "null"]);
    assert_eq!(shown(&outcome, 1), ["1", "null", "null", "null"]);
}

#[test]
fn cxl_4_2_containers_are_equal_by_their_elements() {
    all(&[
        ("[1, null] == [1, null]", "true"),
        ("[1, 2] == [2, 1]", "false"),
        ("[1] == [1.0]", "true"),
        ("[1] == [1, 1]", "false"),
        ("{a: 1, b: 2} == {b: 2, a: 1}", "true"),
        ("{a: 1} != {a: 2}", "true"),
        ("{a: null} == {b: null}", "false"),
        ("[[1], {a: [2]}] == [[1], {a: [2]}]", "true"),
        ("[1] == null", "null"),
        ("[\"nan\".to_float()] == [\"nan\".to_float()]", "false"),
        ("match [1, null] { [1, null] => \"hit\", _ => \"miss\" }", "\"hit\""),
        ("[[1]][0] < [[2]][0]", "✗ type_mismatch"),
        ("[[1]][0] == 1", "false"),
    ]);
}

#[test]
fn cxl_4_3_containers_have_a_text_form() {
    all(&[
        ("[4, \"x\"].to_string()", "\"[4, x]\""),
        ("{k: 4}.to_string()", "\"{k: 4}\""),
        ("[null, [1.0, #2031-08-09#], {a: true}].to_string()", "\"[, [1, 2031-08-09], {a: true}]\""),
        ("\"v\".concat([1], {})", "E200: the argument `s` of `concat` must be String, not Array"),
        ("[[1], {a: 2}].join(\";\")", "\"[1];{a: 2}\""),
        ("[1].format(\"\")", "\"[1]\""),
        ("[\"7.10\".to_decimal()].to_string()", "\"[7.10]\""),
    ]);
}

#[test]
fn cxl_10_6_array_methods() {
    all(&[
        ("[5, 8].find(it => it > 9)", "null"),
        ("[null, null].any(it => it)", "false"),
        ("[0, 5].find(it => it == 0 or 1 / it > 0)", "0"),
        ("[1, 0].any(it => 1 / it > 0)", "true"),
        ("[0, 1].any(it => 1 / it > 0)", "✗ division_by_zero"),
        ("[1, 2].filter(it => it)", "✗ type_mismatch"),
        ("[1, 2].find(it => \"x\")", "✗ type_mismatch"),
        ("[[1, [2]], null, 3].flat_map(it => it)", "[1, [2], 3]"),
        ("[[1, 2], [3]].map(it => it.map(it => it * 10))", "[[10, 20], [30]]"),
        ("[1, 2, 3].filter(it => it != 2).map(it => it + 1)", "[2, 4]"),
        ("[1][9].map(it => 1 / 0)", "null"),
        ("[\"text\"][0].map(it => it)", "null"),
        ("[1, 2, 3].remove(1.9)", "E200: the argument `i` of `remove` must be Int, not Float"),
        ("[1, 2, 3].remove([1.9][0])", "[1, 3]"),
        ("[1].remove(null)", "null"),
        ("[\"a\", \"b\"].join(null)", "null"),
    ]);
}

#[test]
fn cxl_10_7_map_methods() {
    all(&[
        ("{a: 1}.set(\"\", 2)", "{a: 1, : 2}"),
        ("{a: 1}.set(\"a[\", 2)", "null"),
        ("{a: [1]}.set(\"a[0]x\", 2)", "null"),
        ("{a: [1]}.set(\"a[1]\", 2)", "null"),
        ("{a: [1]}.set(\"a[99999999999999999999999]\", 2)", "null"),
        ("{a: [1]}.set(\"a[-1]\", 2)", "null"),
        ("{a: [[1]]}.set(\"a[0][0]\", 2)", "{a: [[2]]}"),
        ("{a: [{b: 1}]}.set(\"a[0].c\", 2)", "{a: [{b: 1, c: 2}]}"),
        ("{}.set(\"a[0]\", 2)", "null"),
        ("{a: null}.set(\"a.b\", 2)", "null"),
        ("{a: 1, b: 2}.set(\"a\", 3)", "{a: 3, b: 2}"),
        ("{a: 1}.set(null, 3)", "null"),
        ("{a: 1}.set(\"a.\", 3)", "null"),
        ("{a: {}}.set(\"a.\", 3)", "{a: {: 3}}"),
        ("{a: 1}.unset(\"a[\")", "{a: 1}"),
        ("{a: 1}.unset(null)", "null"),
        ("{a: [{b: 1, c: 2}]}.unset(\"a[0].b\")", "{a: [{c: 2}]}"),
        ("{a: [1]}.unset(\"a[5]\")", "{a: [1]}"),
        ("{a: 1}.merge(null)", "null"),
        ("[{a: 1}][0].merge([5][0])", "null"),
    ]);
    let path = vec!["a"; 64].join(".");
    assert!(evaluate(&format!("{{}}.set(\"{path}\", 1)")).starts_with("{a: {a: "));
    assert_eq!(evaluate(&format!("{{}}.set(\"{path}.a\", 1)")), "null");
}

#[test]
fn cxl_11_a_closure_sees_outer_names() {
    let items = r#"[{"sku":"k1","price":9},{"sku":"k2","price":31}]"#;
    let text = "let floor_price = 12\nemit dear = v.filter(it => it[\"price\"] >= floor_price).map(it => it[\"sku\"])";
    assert_eq!(shown(&over(text, &[items, "[]", "null"]), 0), ["[\"k2\"]", "[]", "null"]);
    let outcome = over("emit e = v.map(it => 100 / it + $source.row)", &["[1,2]", "[4,0]", "[5]"]);
    assert_eq!(shown(&outcome, 0), ["[110, 60]", "[32]"]);
    assert_eq!(reasons(&outcome), ["row 11: field 'e': division by zero"]);
}

#[test]
fn cxl_7_4_arithmetic_inside_a_closure_is_recovered_outside() {
    all(&[
        ("[1, 0].map(it => 1 / it) ?? [9]", "[9]"),
        ("[1, 0].map(it => 1 / it ?? 9)", "[1, 9]"),
        ("[\"x\"].map(it => it.to_int()) ?? [9]", "✗ conversion_failed"),
    ]);
}

#[test]
fn cxl_9_3_a_nested_nan_fails_its_row() {
    let outcome = over("emit e = v", &[r#"[1,{"$float":"NaN"}]"#, r#"{"k":[{"$float":"inf"}]}"#, "[1]"]);
    assert_eq!(reasons(&outcome), ["row 10: field 'e': NaN in output"]);
    let outcome = over("emit e = [1, \"nan\".to_float()]", &["1"]);
    assert_eq!(reasons(&outcome), ["row 10: field 'e': NaN in output"]);
}

#[test]
fn cxl_4_1_elements_keep_their_types() {
    let outcome = over(
        "emit e = [\"7.10\".to_decimal(), 1, 1.0, #2031-08-09#, v]\nemit f = e.map(it => it.type_of())",
        &["\"x\""],
    );
    assert_eq!(shown(&outcome, 0), ["[7.10, 1, 1.0, 2031-08-09, \"x\"]"]);
    assert_eq!(shown(&outcome, 1), ["[\"Decimal\", \"Int\", \"Float\", \"Date\", \"String\"]"]);
}

#[test]
fn cxl_4_1_a_column_of_several_values_is_an_array() {
    let columns: Vec<ScopeColumn> = vec![("tags".into(), Type::plain(Kind::String), true)];
    let (compiled, _) = compile_program(
        "emit n = tags.length()\nemit t = tags.join(\"|\")\nemit u = tags.map(it => it.upper())",
        &Scope { columns: &columns, ..Scope::default() },
    );
    let values = ["[\"a\",\"b\"]", "[]", "null"].map(clinker_record::json::from_tagged);
    let schema = Schema { columns: vec![("tags".into(), Type::plain(Kind::Array))] };
    let batch = batch(Arc::new(schema), vec![Column::from_values(Kind::Array, &values)], 3);
    let outcome = compiled.expect("it is a program").evaluate(&batch, &run());
    assert_eq!(shown(&outcome, 0), ["2", "0", "null"]);
    assert_eq!(shown(&outcome, 1), ["\"a|b\"", "\"\"", "null"]);
    assert_eq!(shown(&outcome, 2), ["[\"A\", \"B\"]", "[]", "null"]);
}

#[test]
fn cxl_8_containers_nest_64_deep() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(evaluate(&format!("{}.length()", nested(64))), "1");
    assert_eq!(evaluate(&nested(65)), "✗ construction_depth_exceeded");
    assert_eq!(evaluate(&nested(250)), "✗ construction_depth_exceeded");
    // What is copied in counts.
    let outcome = over("emit e = [v]", &[&nested(64), &nested(63)]);
    assert_eq!(reasons(&outcome), ["row 10: field 'e': constructed values nest deeper than 64"]);
    let outcome = over("let m = {a: v}\nemit e = m.set(\"b.c\", m)", &[&nested(63), &nested(5)]);
    assert_eq!(reasons(&outcome), ["row 10: field 'e': constructed values nest deeper than 64"]);
}

#[test]
fn cxl_8_constructed_bytes_of_a_record_are_limited() {
    let text = |bytes: usize| vec![Value::String("x".repeat(bytes).into())];
    // A slot costs 32, an entry 64 and its key.
    let fits = over_values("emit e = [v]", Kind::String, &text(10_485_760 - 32));
    assert!(fits.failures.is_empty());
    let limit = "constructed values exceed 10485760 bytes";
    let over_by_one = over_values("emit e = [v]", Kind::String, &text(10_485_760 - 31));
    assert_eq!(reasons(&over_by_one), [format!("row 10: field 'e': {limit}")]);
    let entry = over_values("emit e = {ab: v}", Kind::String, &text(10_485_760 - 66));
    assert!(entry.failures.is_empty());
    let entry = over_values("emit e = {abc: v}", Kind::String, &text(10_485_760 - 66));
    assert_eq!(reasons(&entry), [format!("row 10: field 'e': {limit}")]);
    // All constructors of a record count together; one inside another is charged once; what is copied in, fully.
    let both = over_values("emit e = [v]\nemit f = [v]", Kind::String, &text(6_000_000));
    assert_eq!(reasons(&both), [format!("row 10: field 'f': {limit}")]);
    let inside = over_values("emit e = [[[v]]]", Kind::String, &text(10_485_760 - 96));
    assert!(inside.failures.is_empty());
    let copied = over_values("let a = [v]\nemit e = [a]", Kind::String, &text(6_000_000));
    assert_eq!(reasons(&copied), [format!("row 10: field 'e': {limit}")]);
    // Records are counted one by one.
    let rows = vec![Value::String("x".repeat(6_000_000).into()); 4];
    assert!(over_values("emit e = [v]", Kind::String, &rows).failures.is_empty());
}

#[test]
fn cxl_8_each_element_a_comprehension_visits_costs_a_slot() {
    let program = "emit e = [n for n in v.split(\"\") if false].length()";
    let text = |chars: usize| vec![Value::String("x".repeat(chars).into())];
    assert!(over_values(program, Kind::String, &text(327_680 - 2)).failures.is_empty());
    assert_eq!(over_values(program, Kind::String, &text(327_680 - 1)).failures.len(), 1);
}

#[test]
fn cxl_21_methods_cannot_build_without_end() {
    let steps: String = (0..50).map(|step| format!("let m = m.set(\"b{step}\", m)\n")).collect();
    let outcome = over(&format!("let m = {{a: v}}\n{steps}emit e = 1"), &["1"]);
    assert_eq!(reasons(&outcome), ["row 10: constructed values exceed 67108864 bytes"]);
    let squared = "let a = v.split(\"\")\nemit e = a.flat_map(it => a).length()";
    let outcome = over_values(squared, Kind::String, &[Value::String("x".repeat(20_000).into())]);
    assert_eq!(reasons(&outcome), ["row 10: field 'e': constructed values exceed 67108864 bytes"]);
    let amplified = "emit e = v.split(\"\").map(it => \"x\".repeat(10000000)).length()";
    assert_eq!(over_values(amplified, Kind::String, &[Value::String("x".repeat(50).into())]).failures.len(), 1);
    let many =
        over_values("emit e = v.split(\"\").length()", Kind::String, &[Value::String("x".repeat(5_000_000).into())]);
    assert_eq!(reasons(&many), ["row 10: field 'e': constructed values exceed 67108864 bytes"]);
}

#[test]
fn cxl_21_a_batch_of_containers_is_split() {
    let columns: Vec<ScopeColumn> = vec![("v".into(), Type::plain(Kind::String), false)];
    let values: Vec<Value> = (0..100).map(|row| Value::String(format!("{row},{row}").into())).collect();
    let schema = Schema { columns: vec![("v".into(), Type::plain(Kind::String))] };
    let batch = batch(Arc::new(schema), vec![Column::from_values(Kind::String, &values)], values.len());
    for text in ["emit e = [v, v]", "emit e = v.split(\",\")", "emit e = [n for n in v.split(\",\")]"] {
        let (program, _) = compile_program(text, &Scope { columns: &columns, ..Scope::default() });
        let program = program.expect("it is a program");
        assert!(program.evaluate_within(&batch, &run(), 2_000).is_err(), "{text}");
        assert!(program.evaluate_within(&batch, &run(), 2_000_000).is_ok(), "{text}");
    }
}

#[test]
fn cxl_20_what_is_not_evaluated_in_a_container_cannot_fail() {
    all(&[
        ("[if true then 1 else 1 / 0]", "[1]"),
        ("[false and 1 / 0 > 1]", "[false]"),
        ("[n for n in [0, 1] if n != 0 and 1 / n == 1]", "[1]"),
        ("[1 / n for n in [0, 1] if n != 0]", "[1]"),
        ("[match 1 { 1 => 2, 1 / 0 => 3, _ => 4 }]", "[2]"),
        ("[null.left(1 / 0)]", "[null]"),
        ("[1 ?? 1 / 0]", "[1]"),
        // The first failure in the order of evaluation is the one reported.
        ("[1 / 0, \"x\".to_int()]", "✗ division_by_zero"),
        ("[\"x\".to_int(), 1 / 0]", "✗ conversion_failed"),
        ("{[\"a\"]: 1 / 0, [[5][0]]: 1}", "✗ division_by_zero"),
        ("[[n.to_int(), 1 / 0] for n in [\"1\", \"x\"]]", "✗ division_by_zero"),
    ]);
}

#[test]
fn cxl_19_2_a_failure_points_at_the_failing_part() {
    let text = "emit e = [1, 10 / v]";
    let outcome = over(text, &["0", "5"]);
    let span = outcome.spans[0];
    assert_eq!(&text[span.start..span.end], "10 / v");
    let text = "emit e = v.map(it => it.to_int())";
    let outcome = over(text, &["[\"x\"]"]);
    let span = outcome.spans[0];
    assert_eq!(&text[span.start..span.end], "it.to_int()");
}

#[test]
fn cxl_10_2_a_computed_pattern_in_a_closure() {
    let outcome = over("emit e = [\"a1\", \"b2\"].filter(it => it.matches(v))", &["\"a.\"", "\"(\"", "\"b.\""]);
    assert_eq!(shown(&outcome, 0), ["[\"a1\"]", "[\"b2\"]"]);
    assert!(reasons(&outcome)[0].contains("invalid pattern '('"), "{:?}", reasons(&outcome));
}

#[test]
fn cxl_21_deep_expressions_inside_containers_are_evaluated() {
    let deep = format!("[{}1{}]", "(1 + ".repeat(250), ")".repeat(250));
    assert_eq!(evaluate(&deep), "[251]");
    let branches = format!("[{}7{}]", "(if true then ".repeat(120), " else 1)".repeat(120));
    assert_eq!(evaluate(&branches), "[7]");
    assert_eq!(evaluate(&format!("[\"a\"{}]", ".upper()".repeat(250))), "[\"A\"]");
    let closures = format!("[1]{}{}", ".map(it => [it]".repeat(50), ")".repeat(50));
    assert_eq!(evaluate(&format!("{closures}.length()")), "1");
}
