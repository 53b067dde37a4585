//! The grammar: sections 1, 2 and 3.

use super::ast::{ExprKind, StatementKind};
use super::{parse_expression_field, parse_program};

/// The messages of a program, or nothing when it parses.
fn messages(text: &str) -> Vec<String> {
    let (_, diagnostics) = parse_program(text);
    assert!(diagnostics.iter().all(|report| report.code == Some("E202")));
    diagnostics.into_iter().map(|report| report.message).collect()
}

/// The one message of a program.
fn message(text: &str) -> String {
    let all = messages(text);
    assert_eq!(all.len(), 1, "{text:?}: {all:?}");
    all.into_iter().next().unwrap()
}

fn parses(text: &str) -> usize {
    let (statements, diagnostics) = parse_program(text);
    assert!(diagnostics.is_empty(), "{:.80}: {diagnostics:?}", text);
    statements.len()
}

#[test]
fn cxl_1_operators_of_other_languages_name_the_keyword() {
    assert_eq!(message("emit a = b && c"), "`&&` is not an operator: write `and`");
    assert_eq!(message("emit a = b || c"), "`||` is not an operator: write `or`");
    assert_eq!(message("emit a = !b"), "`!` is not an operator: write `not`");
}

#[test]
fn cxl_1_lexical_errors_are_e202() {
    assert!(message("emit a = 9223372036854775808").contains("larger than 9223372036854775807"));
    assert!(message("emit a = 'open").contains("no closing quote"));
    assert!(message("emit a = #2031-02-30#").contains("not a date of the calendar"));
    assert!(message("emit a = #2031-2-3#").contains("`#2031-2-3#` is not a date literal"));
    assert!(message("emit a = b ? c").contains("`?` alone"));
    assert!(message("emit a = b;").contains("`;`"));
    assert!(message("emit a = b | c").contains("unexpected character `|`"));
    assert!(message("emit a = b :: c").contains("`:`"));
    assert!(message("emit a = é").contains("unexpected character `é`"));
    assert_eq!(messages("emit a = Größe.lower()").len(), 1, "one word, one report");
    assert!(message("emit a = 5.").contains("a name after `.`"));
}

#[test]
fn cxl_1_largest_integer_and_comments() {
    assert_eq!(parses("emit a = 9223372036854775807 # the largest\n# a comment line\n\nemit b = #2031-08-09#"), 2);
}

#[test]
fn cxl_1_escapes_and_unknown_escapes() {
    let (parsed, _) = parse_expression_field(r#""\d+\n\"\\d""#);
    let (_, expr) = parsed.unwrap();
    assert!(matches!(expr.kind, ExprKind::Text(text) if text == "\\d+\n\"\\d"));
}

#[test]
fn cxl_1_keywords_are_members_after_a_dot() {
    assert_eq!(parses("emit a = b.if.match\nemit c = d.filter"), 2);
    assert!(message("emit match = 1").contains("`match` is a reserved word"));
    assert!(message("let in = 1").contains("`in` is a reserved word"));
}

#[test]
fn cxl_1_program_over_64_kib_is_e202() {
    assert!(message(&"#".repeat(65_537)).contains("65537 bytes"));
    assert_eq!(parses(&"#".repeat(65_536)), 0);
}

#[test]
fn cxl_2_2_lines_continue_by_the_token_before_and_after() {
    let text = "emit net = gross\n  - rebate          # same statement\n  ?? 0.0\nemit label =\n  match grade { 1 => \"prime\"\n                2 => \"fair\", _ => \"scrap\" }\n";
    assert_eq!(parses(text), 2);
    assert_eq!(parses("emit a = (\n b\n [0]\n)\nemit c = d\n.e()\n.f()"), 2);
    assert_eq!(parses("emit a = if b\n then c\n else d"), 1);
    assert_eq!(parses("emit a = b\n[c]"), 2, "a bracket at the start of a line continues nothing");
}

#[test]
fn cxl_2_2_two_statements_on_one_line_are_e202() {
    assert!(message("emit a = b emit c = d").contains("expected the end of the statement, found `emit`"));
    assert!(message("emit a = b c").contains("found `c`"));
}

#[test]
fn cxl_2_1_every_independent_error_is_reported() {
    let text = "emit a = (1 +\nemit b = ]\nemit c = 1\nfilter and\nemit d = match x {\n 1 => \"a\" \"b\"\n _ => \"z\"\n}\nemit e = = 3";
    let (_, diagnostics) = parse_program(text);
    let lines: Vec<usize> = diagnostics.iter().map(|report| text[..report.span.start].matches('\n').count()).collect();
    assert_eq!(lines, [1, 1, 3, 5, 8], "{diagnostics:?}");
}

#[test]
fn cxl_2_1_chained_comparison_gives_advice() {
    let (_, diagnostics) = parse_program("filter a < b < c");
    assert!(diagnostics[0].message.contains("cannot be chained"));
    assert_eq!(diagnostics[0].help.as_deref(), Some("write `(a < b) and (b < c)`"));
    assert_eq!(messages("filter a == b == c").len(), 1);
    assert_eq!(parses("filter (a < b) == c"), 1);
}

#[test]
fn cxl_2_1_misplaced_statements() {
    assert!(message("emit a = 1\nuse x.y").contains("`use` must stand before"));
    assert!(message("fn f(a) = a").contains("`fn` is not allowed"));
    assert!(message("use a.*").contains("no wildcard"));
    assert!(message("use a::b").contains("separated by `.`"));
    assert!(message("emit each x in xs {\n filter x\n}").contains("not allowed inside `emit each`"));
    assert!(message("emit a = _").contains("`_`"));
    assert!(message("emit a = now()").contains("without parentheses"));
    assert!(message("trace if a then b else c").contains("no `else`"));
    assert!(message("emit a = $static.x").contains("unknown namespace `$static`"));
    assert!(message("emit $vars.x = 1").contains("`$vars` is read-only"));
    assert!(message("emit $ck.x = 1").contains("`$ck` is read-only"));
    assert!(message("emit a = {x: 1, \"x\": 2}").contains("duplicate map key 'x'"));
    assert!(message("emit a = {\"\\\\q\": 1}").contains("invalid map key"));
    assert!(message("emit a = b.map(x => x)").contains("always named `it`, not `x`"));
    assert!(message("emit a = $window.sum").contains("`(` after a window function"));
}

#[test]
fn cxl_2_1_the_whole_grammar_parses() {
    let text = r#"use yard.fees as f
use other
let a = [n * n for n in [1, 2, 3,] if n > 1]
let m = {lot: "L7", ["qty_" + "kg"]: 12,}
emit each = a[0]
emit b = m.lot ?? m["x"] ?? null
emit $record.n = ($record.n ?? 0) + 1
emit each rack in racks outer {

  let r = rack
  emit rack = r["id"]
  emit each it in rack["vials"] { emit vial = it }
  trace info "seen"
}
filter not late and qty >= 5 or flag
distinct
distinct by sku
trace debug if late then "late"
trace warn
trace "x"
emit w = $window.lag(2).amt
emit n = $source.file.length() + $source.count + $source.orders.seen
emit d = $doc.head.run[0]
emit s = sum(x) + count(*) + count()
emit c = items.filter(it => it["price"] >= 12).map(it => it["sku"])
emit v = match { a > 1 => 1, _ => 2 }
emit z = f.handling(units, rush) - -3
debug
"#;
    assert_eq!(parses(text), 22);
}

#[test]
fn cxl_2_1_if_extends_to_the_right() {
    let (parsed, _) = parse_expression_field("1 + if late then 2 else 3 * 4");
    let ExprKind::Arithmetic { rest, .. } = parsed.unwrap().1.kind else { panic!("an addition") };
    let ExprKind::If { otherwise: Some(otherwise), .. } = &rest[0].2.kind else { panic!("an if") };
    assert!(matches!(otherwise.kind, ExprKind::Arithmetic { .. }));
}

#[test]
fn cxl_2_1_emit_each_equals_is_a_plain_emit() {
    let (statements, diagnostics) = parse_program("emit each = 1");
    assert!(diagnostics.is_empty());
    assert!(matches!(&statements[0].kind, StatementKind::Emit(name, _) if name.text == "each"));
}

#[test]
fn cxl_21_nesting_of_256_parses_and_of_257_is_e202() {
    let nested = |levels: usize| format!("emit a = {}1{}", "(".repeat(levels), ")".repeat(levels));
    assert_eq!(parses(&nested(256)), 1);
    assert_eq!(parses(&format!("emit a = {}true", "not ".repeat(256))), 1);
    assert!(message(&format!("emit a = {}true", "not ".repeat(257))).contains("deeper than 256"));
    assert!(message(&nested(257)).contains("deeper than 256"));
    assert!(message(&nested(20_000)).contains("deeper than 256"));
    let arrays = format!("emit a = {}1{}", "[".repeat(20_000), "]".repeat(20_000));
    assert!(message(&arrays).contains("deeper than 256"));
    assert!(message(&format!("emit a = {}1", "-".repeat(60_000))).contains("deeper than 256"));
    assert!(message(&format!("emit a = {}true", "not ".repeat(10_000))).contains("deeper than 256"));
    assert!(message(&format!("emit a = b{}", ".c".repeat(30_000))).contains("deeper than 256"));
    let ifs = format!("emit a = {}1", "if b then ".repeat(6_000));
    assert!(message(&ifs).contains("deeper than 256"));
}

#[test]
fn cxl_21_long_chains_are_not_nested() {
    for chain in ["+ 1", "- 1", "* 1", "and b", "or b", "?? 1", ".upper()"] {
        let times = if chain == ".upper()" { 200 } else { 7_000 };
        assert_eq!(parses(&format!("emit a = b {}", format!("{chain} ").repeat(times))), 1, "{chain}");
    }
    assert_eq!(parses(&format!("emit a = {} 1", "if b then 1 else ".repeat(3_500))), 1);
}

#[test]
fn cxl_21_fan_out_nests_32_blocks() {
    let nested =
        |levels: usize| format!("{}emit a = 1{}", "emit each x in xs {\n".repeat(levels), "\n}".repeat(levels));
    assert_eq!(parses(&nested(32)), 1);
    assert!(messages(&nested(33))[0].contains("deeper than 32"));
}

#[test]
fn cxl_17_an_expression_field_holds_one_expression() {
    let fails = |text: &str| parse_expression_field(text).1[0].message.clone();
    assert!(fails("").contains("expected an expression"));
    assert!(fails("a > 1\nb > 2").contains("expected one expression"));
    assert!(fails("emit a = 1").contains("found the statement `emit`"));
    assert!(parse_expression_field("\n\nuse a.b\n a > 1\n\n").1.is_empty());
}

#[test]
fn cxl_2_token_soup_is_refused_or_parsed_but_never_panics() {
    const WORDS: [&str; 58] = [
        "let",
        "emit",
        "each",
        "if",
        "then",
        "else",
        "and",
        "or",
        "not",
        "match",
        "use",
        "as",
        "fn",
        "trace",
        "null",
        "true",
        "now",
        "it",
        "filter",
        "distinct",
        "by",
        "for",
        "in",
        "outer",
        "a",
        "b",
        "sum",
        "1",
        "2.5",
        "\"s\"",
        "'t'",
        "#2031-08-09#",
        "#x",
        "+",
        "-",
        "*",
        "/",
        "==",
        "!=",
        "<",
        "??",
        "=>",
        "=",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ".",
        ":",
        "$",
        "_",
        "\n",
        "\n",
        "é",
        "&&",
    ];
    let mut state = 1_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..25 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(WORDS[(state >> 33) as usize % WORDS.len()]);
            if state >> 32 & 1 == 1 {
                text.push(' ');
            }
        }
        for report in parse_program(&text).1.into_iter().chain(parse_expression_field(&text).1) {
            assert!(report.span.start <= report.span.end && report.span.end <= text.len(), "{text:?}: {report:?}");
            assert!(text.is_char_boundary(report.span.start) && text.is_char_boundary(report.span.end), "{text:?}");
        }
        crate::compile_program(&text, &crate::Scope::default());
    }
}
