//! Names and types: sections 5, 6, 9 to 13, 15 and 18.

use std::sync::Arc;

use clinker_record::{Kind, Type, Value};

use crate::{
    CxlDiagnostic, DocumentNames, DocumentSection, DocumentVocabulary, Scope, ScopeColumn, Want, compile_expression,
    compile_program,
};

fn columns() -> Vec<ScopeColumn> {
    let kinds = [
        ("qty", Kind::Int),
        ("price", Kind::Float),
        ("net", Kind::Decimal),
        ("sku", Kind::String),
        ("late", Kind::Bool),
        ("day", Kind::Date),
        ("at", Kind::DateTime),
        ("raw", Kind::Any),
        ("weight", Kind::Int),
        ("yard.bay", Kind::String),
        ("count", Kind::Int),
    ];
    let mut columns: Vec<ScopeColumn> =
        kinds.iter().map(|(name, kind)| (Arc::from(*name), Type::plain(*kind), false)).collect();
    columns.push(("tags".into(), Type::plain(Kind::String), true));
    columns
}

fn check(text: &str) -> Vec<CxlDiagnostic> {
    let columns = columns();
    let vars = [("limit".to_owned(), Type::plain(Kind::Int), Value::Int(7))];
    let scope = Scope { columns: &columns, vars: &vars, constants: &[], ..Scope::default() };
    let (program, diagnostics) = compile_program(text, &scope);
    assert_eq!(program.is_some(), diagnostics.iter().all(|report| report.warning), "{text}");
    diagnostics
}

/// Code and message of the one report on an expression.
fn report(text: &str) -> (String, String) {
    let all = check(&format!("emit x = {text}"));
    assert_eq!(all.len(), 1, "{text}: {all:?}");
    (all[0].code.unwrap_or("warning").to_owned(), all[0].message.clone())
}

fn e200(text: &str) -> String {
    let (code, message) = report(text);
    assert_eq!(code, "E200", "{text}: {message}");
    message
}

fn type_of(text: &str) -> String {
    let columns = columns();
    let scope = Scope { columns: &columns, ..Scope::default() };
    let (program, diagnostics) = compile_program(&format!("emit x = {text}"), &scope);
    let program = program.unwrap_or_else(|| panic!("{text}: {diagnostics:?}"));
    let line = program.describe();
    line["emit x: ".len()..line.find(" = ").unwrap()].to_owned()
}

#[test]
fn cxl_5_1_unknown_names_are_e203_with_a_suggestion() {
    let all = check("emit a = weigth\nemit b = unheard_of_name");
    assert_eq!(all[0].code, Some("E203"));
    assert_eq!(all[0].message, "unknown name `weigth`");
    assert_eq!(all[0].help.as_deref(), Some("did you mean `weight`?"));
    assert_eq!(all[0].span.start, 9);
    let help = all[1].help.as_deref().expect("the names");
    assert!(all.len() == 2 && help.contains("`weight`") && help.contains("`a`"), "{help}");
    assert!(help.ends_with("a text needs quotes: `\"unheard_of_name\"`"), "{help}");
}

#[test]
fn cxl_5_1_a_name_is_known_from_its_statement_on() {
    assert_eq!(check("emit a = b\nlet b = 1")[0].code, Some("E203"));
    assert!(check("let b = 1\nlet b = b + 1\nemit a = b").is_empty());
    assert!(check("emit w = weight * 10\nemit v = w + 1").is_empty());
}

#[test]
fn cxl_5_1_it_and_comprehension_variables() {
    assert_eq!(check("emit a = it")[0].code, Some("E203"));
    let hides = check("emit a = [qty for qty in tags]");
    assert!(hides[0].message.contains("`qty` hides a visible name"));
    assert_eq!(check("emit a = sku.upper(it => it)")[0].code, Some("E203"));
}

#[test]
fn cxl_5_2_dotted_columns_and_missing_fields() {
    assert_eq!(type_of("yard.bay"), "String");
    assert_eq!(type_of("yard.bay.upper()"), "String");
    let (code, message) = report("sku.upper");
    assert_eq!((code.as_str(), message.as_str()), ("E203", "no field `upper`: the value is String"));
    assert_eq!(report("yard.by").0, "E203");
}

#[test]
fn cxl_6_phases_run_only_after_a_clean_one() {
    let all = check("emit a = nope\nemit b = sku + 1");
    assert!(all.iter().all(|report| report.code == Some("E203")));
}

#[test]
fn cxl_6_1_e200_messages_name_both_types() {
    assert_eq!(e200("sku + qty"), "cannot apply '+' to String and Int");
    let all = check("emit x = net * price");
    assert_eq!(all[0].message, "cannot apply '*' to Decimal and Float");
    assert!(all[0].help.as_deref().unwrap().contains(".to_decimal()"));
    assert_eq!(e200("net == price"), "cannot apply '==' to Decimal and Float");
    assert_eq!(e200("day < at"), "cannot apply '<' to Date and DateTime");
    assert_eq!(e200("day + 1"), "cannot apply '+' to Date and Int");
    assert_eq!(e200("sku == qty"), "cannot apply '==' to String and Int");
    assert_eq!(e200("late < late"), "cannot apply '<' to Bool and Bool");
    assert_eq!(e200("tags < tags"), "cannot apply '<' to Array and Array");
    assert_eq!(e200("sku - sku"), "cannot apply '-' to String and String");
    assert_eq!(e200("-sku"), "cannot apply '-' to String");
    assert_eq!(e200("not qty"), "cannot apply 'not' to Int");
    assert_eq!(e200("qty and late"), "an operand of 'and' must be Bool, not Int");
    assert_eq!(e200("qty ?? sku"), "cannot apply '??' to Int and String");
    assert_eq!(e200("if qty then 1"), "the condition of `if` must be Bool, not Int");
    assert_eq!(e200("if late then 1 else sku"), "the branches of `if` have types Int and String");
}

#[test]
fn cxl_6_3_all_errors_of_the_phase_are_reported() {
    let all = check("emit a = sku + 1\nemit b = a + 1\nemit c = (sku * 2) + (late * 3)\nfilter qty");
    assert_eq!(all.len(), 4, "{all:?}");
}

#[test]
fn cxl_6_3_result_types() {
    for (text, ty) in [
        ("qty * price", "Float"),
        ("qty * net", "Decimal"),
        ("qty / 2", "Int"),
        ("raw + 1", "numeric"),
        ("raw + sku", "String"),
        ("raw + raw", "any"),
        ("raw - raw", "numeric"),
        ("-raw", "numeric"),
        ("null + 3", "nullable(Int)"),
        ("qty == null", "nullable(Bool)"),
        ("if late then 1 else 2.5", "Float"),
        ("if late then sku", "nullable(String)"),
        ("if late then raw else 1", "any"),
        ("qty ?? 0.5", "Float"),
        ("null ?? null ?? \"last\"", "String"),
        ("match qty { 1 => 1, _ => net }", "Decimal"),
        ("now", "DateTime"),
        ("qty.min(0.5)", "Float"),
        ("qty.round()", "Float"),
        ("net.ceil()", "Decimal"),
        ("raw.abs()", "numeric"),
        ("raw.add_days(1)", "any"),
        ("at.add_days(1)", "DateTime"),
        ("$source.row", "Int"),
        ("$pipeline.start_time", "DateTime"),
        ("tags", "Array"),
        ("tags.length()", "Int"),
    ] {
        let shown = type_of(text);
        let expected = if text.contains("== null") { "nullable(Bool)" } else { ty };
        assert_eq!(shown, expected, "{text}");
    }
}

#[test]
fn cxl_6_3_match_needs_one_last_fallback() {
    assert_eq!(e200("match qty { 1 => 2 }"), "this `match` has no arm `_`");
    assert_eq!(e200("match qty { _ => 1, 1 => 2 }"), "the arm `_` must be the last one of a `match`");
    assert_eq!(e200("match qty { _ => 1, _ => 2 }"), "this `match` has more than one arm `_`");
    assert_eq!(e200("match qty { \"a\" => 1, _ => 2 }"), "a String pattern cannot match a subject of type Int");
    assert_eq!(e200("match { qty => 1, _ => 2 }"), "the condition of an arm must be Bool, not Int");
}

#[test]
fn cxl_6_3_warnings_are_not_fatal() {
    let warning = |text: &str| {
        let all = check(text);
        assert!(all.iter().all(|report| report.warning && report.code.is_none()), "{all:?}");
        all.into_iter().map(|report| report.message).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(warning("let a = 1"), "this program emits nothing");
    assert!(warning("emit a = qty == null").contains("use `.is_null()`"));
    assert!(warning("emit a = match { true => 1, late => 2, _ => 3 }").contains("never reached"));
    assert!(warning("qty + 1\nemit a = 1").contains("is not used"));
}

#[test]
fn cxl_10_1_calls_are_checked() {
    let all = check("emit x = sku.uper()");
    assert_eq!(all[0].message, "unknown function `uper`");
    assert_eq!(all[0].help.as_deref(), Some("did you mean `upper`?"));
    assert_eq!(e200("sku.left()"), "`left` takes 1 argument, not 0: left(n: Int)");
    assert_eq!(
        e200("sku.substring(1, 2, 3)"),
        "`substring` takes 1 to 2 arguments, not 3: substring(start: Int [, len: Int])"
    );
    assert_eq!(e200("sku.concat()"), "`concat` takes at least 1 argument, not 0: concat(s: String, …)");
    assert_eq!(e200("qty.upper()"), "`upper` needs a receiver of type String, not Int");
    assert_eq!(check("emit x = qty.upper()")[0].help.as_deref(), Some("convert the value first, with `.to_string()`"));
    assert_eq!(e200("sku.left(1.5)"), "the argument `n` of `left` must be Int, not Float");
    assert_eq!(e200("net.min(price)"), "`min` cannot combine Decimal and Float");
    assert!(e200("sku.matches(\"[\")").starts_with("invalid pattern '['"));
    assert!(e200("day.format_date(\"%Q\")").starts_with("invalid date format '%Q'"));
    assert_eq!(e200("trim(sku)"), "unknown function `trim`");
    assert!(check("emit x = day.diff_days(at)").is_empty());
    assert!(check("emit x = raw.left(raw)").is_empty());
}

#[test]
fn cxl_12_aggregates_are_refused_in_row_level_programs() {
    assert_eq!(e200("sum(qty)"), "the aggregate `sum` is allowed only in an Aggregate");
    assert_eq!(e200("count(*)"), "the aggregate `count` is allowed only in an Aggregate");
    assert!(check("emit x = count").is_empty(), "without parentheses it is a column");
}

#[test]
fn cxl_13_windows_are_e395() {
    assert_eq!(report("$window.sum(amt)").0, "E395");
}

#[test]
fn cxl_15_system_members() {
    assert_eq!(report("$vars.limits").0, "E203");
    assert_eq!(report("$pipeline.nme").1, "`$pipeline.nme` is not declared");
    assert_eq!(check("emit x = $pipeline.source_row")[0].help.as_deref(), Some("write `$source.row`"));
    assert_eq!(report("$config.a").0, "E203");
    assert_eq!(report("$record.a").0, "E203");
    assert_eq!(report("$meta.synthetic").0, "E203");
    assert!(e200("$pipeline.total_count").contains("is not available in this version"));
    assert!(check("emit x = $vars.limit + 1").is_empty());
}

#[test]
fn cxl_18_what_is_not_built_is_refused_by_name() {
    for (text, named) in [
        ("use a.b\nemit x = 1", "`use` (the module `b`)"),
        ("emit each t in tags { emit t = t }", "`emit each t`"),
        ("emit $record.a = 1", "`$record.a`"),
        ("distinct", "`distinct`"),
        ("distinct by sku", "`distinct`"),
    ] {
        let all = check(text);
        assert_eq!(all.len(), 1, "{text}: {all:?}");
        assert_eq!(all[0].code, Some("E200"));
        let message = &all[0].message;
        assert!(message.contains(named) && message.contains("is not available in this version"), "{message}");
    }
}

#[test]
fn cxl_6_3_containers_have_types() {
    for (text, ty) in [
        ("[qty, sku]", "Array"),
        ("{a: qty}", "Map"),
        ("[n for n in tags]", "Array"),
        ("tags[0]", "any"),
        ("{a: 1}[sku]", "any"),
        ("raw[qty]", "any"),
        ("{a: 1}.a", "any"),
        ("raw.a.b", "any"),
        ("tags.map(it => 1)", "Array"),
        ("tags.flat_map(it => it)", "Array"),
        ("tags.filter(it => true)", "Array"),
        ("tags.find(it => true)", "any"),
        ("raw.any(it => true)", "Bool"),
        ("sku.split(\",\")", "Array"),
        ("{a: 1}.keys()", "Array"),
        ("{a: 1}.set(sku, qty)", "Map"),
        ("[1] == tags", "Bool"),
        ("if late then [1] else null", "nullable(Array)"),
    ] {
        assert_eq!(type_of(text), ty, "{text}");
    }
}

#[test]
fn cxl_6_3_misused_containers_are_e200() {
    for (text, message) in [
        ("sku[0]", "`[…]` needs an Array or a Map, not String"),
        ("tags[sku]", "the index of Array must be Int, not String"),
        ("tags[1.5]", "the index of Array must be Int, not Float"),
        ("{a: 1}[0]", "the index of Map must be String, not Int"),
        ("{[qty]: 1}", "the key of a map must be String, not Int"),
        ("{[null]: 1}", "the key of a map must be String, not Null"),
        ("[n for n in sku]", "a comprehension needs an Array, not String"),
        ("[n for n in null]", "a comprehension needs an Array, not Null"),
        ("[n for n in tags if qty]", "the condition of a comprehension must be Bool, not Int"),
        ("sku.map(it => it)", "`map(it => …)` needs a receiver of type Array, not String"),
        ("sku.find(it => true)", "`find(it => …)` needs a receiver of type Array, not String"),
        ("tags.find(\"a\")", "`find` needs a receiver of type String, not Array"),
        ("tags.map(sku)", "`map` takes a closure"),
        ("tags.filter()", "`filter` takes a closure"),
        ("tags.any(it => true, 1)", "`any` takes 1 closure, not 2 arguments: any(it => …)"),
        ("tags < tags", "cannot apply '<' to Array and Array"),
        ("tags == {a: 1}", "cannot apply '==' to Array and Map"),
        ("[1] + [2]", "cannot apply '+' to Array and Array"),
        ("{a: 1}.remove(0)", "`remove` needs a receiver of type Array, not Map"),
    ] {
        assert_eq!(e200(text), message, "{text}");
    }
}

#[test]
fn cxl_5_binders_are_lexical() {
    assert_eq!(report("it").0, "E203");
    assert_eq!(report("tags.map(it => it) == [it]").0, "E203");
    assert_eq!(report("[qty for qty in tags]").0, "E203");
    assert_eq!(report("[n for n in tags if m]").0, "E203");
    assert_eq!(report("sku.upper(it => it)").0, "E203");
    assert_eq!(report("qty.field").0, "E203");
    assert!(check("emit x = [[n for m in n] for n in tags]").is_empty());
    assert!(check("emit x = tags.map(it => tags.filter(it => it == sku))").is_empty());
    assert!(check("emit x = [n.a.b for n in tags]").is_empty());
}

#[test]
fn cxl_17_constants_and_conditions() {
    let columns = columns();
    let constants = [("cap".to_owned(), Value::Int(900))];
    let scope = Scope { columns: &columns, vars: &[], constants: &constants, ..Scope::default() };
    let (expression, diagnostics) = compile_expression("qty < cap", &scope, Want::Condition);
    assert!(diagnostics.is_empty());
    assert_eq!(expression.unwrap().columns_read().collect::<Vec<_>>(), [0]);
    let (none, diagnostics) = compile_expression("qty + cap", &scope, Want::Condition);
    assert!(none.is_none());
    assert_eq!(diagnostics[0].message, "a condition must be Bool, not Int");
}

#[test]
fn cxl_9_3_emits_keep_the_first_position_and_the_last_type() {
    let columns = columns();
    let scope = Scope { columns: &columns, ..Scope::default() };
    let (program, _) = compile_program("emit a = 1\nemit b = sku\nemit a = 1.5\nfilter late", &scope);
    let program = program.unwrap();
    let shown: Vec<String> = program.emits().iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
    assert_eq!(shown, ["a: float", "b: string"]);
    assert_eq!(program.columns_read().collect::<Vec<_>>(), [3, 4]);
    assert_eq!(program.describe(), "emit a: Int = 1\nemit b: String = sku\nemit a: Float = 1.5\nfilter: Bool = late\n");
}

/// What an expression reports below Sources with these documents.
fn documents(text: &str, sources: &[DocumentNames]) -> Vec<(String, String)> {
    let documents: Vec<Arc<DocumentNames>> = sources.iter().cloned().map(Arc::new).collect();
    let columns = columns();
    let scope = Scope { columns: &columns, documents: &documents, ..Scope::default() };
    let (_, reports) = compile_program(&format!("emit x = {text}"), &scope);
    reports.into_iter().map(|report| (report.code.unwrap_or("-").to_owned(), report.message)).collect()
}

fn names(source: &str, vocabulary: DocumentVocabulary, section: &str, fields: Option<&[&str]>) -> DocumentNames {
    let fields = fields.map(|fields| fields.iter().map(|field| Arc::from(*field)).collect());
    DocumentNames {
        source: source.into(),
        vocabulary,
        sections: vec![DocumentSection { name: section.into(), fields }],
    }
}

#[test]
fn cxl_15_6_doc_paths_have_type_any_and_literal_indexes() {
    assert_eq!(type_of("$doc.head.run"), "any");
    assert_eq!(type_of("$doc.head.run[0]['a'].b[-1]"), "any");
    // What is known at run time only is not refused before.
    assert!(check("emit x = $doc.head.run + 1\nfilter $doc.head.live").is_empty());
    assert_eq!(report("$doc.head.run[qty]").0, "E340");
    assert_eq!(report("$doc.head.run[0][true]").0, "E340");
    assert_eq!(report("$doc.head.run.a['x' + 'y']").0, "E340");
    assert!(check("let list = $doc.head.run\nemit x = list[qty]").is_empty());
    // An index of what a call made is none of the path.
    assert!(check("emit x = $doc.head.run.split(',')[qty]").is_empty());
}

#[test]
fn cxl_15_6_every_source_must_be_able_to_have_the_path() {
    let closed = names("a", DocumentVocabulary::Closed, "head", Some(&["run"]));
    let positional = DocumentVocabulary::Positional { prefix: "e".into(), max: 3 };
    let segments = names("b", positional, "head", None);
    let open = names("c", DocumentVocabulary::Unchecked, "x", None);
    let codes = |text: &str, sources: &[DocumentNames]| {
        documents(text, sources).into_iter().map(|(code, _)| code).collect::<Vec<_>>()
    };
    let all = [closed.clone(), segments.clone(), open.clone()];
    assert_eq!(codes("$doc.head.run", &all), ["E348"]);
    assert_eq!(codes("$doc.head.e03", &all), ["E341"]);
    assert_eq!(codes("$doc.tail.run", &all), ["E341", "E348"]);
    assert!(codes("$doc.head.run", &[closed, open]).is_empty());
    assert_eq!(codes("$doc.head.e04", &[segments]), ["E348"]);
    // Nothing is known of what feeds the rows.
    assert!(codes("$doc.any.thing", &[]).is_empty());
}
