//! Expressions in the document: places and names.

use super::*;

#[test]
fn e203_an_unknown_name_is_marked_inside_a_block_scalar() {
    let text = feed(
        "config: { cxl: \"emit total = qty * 2\" }",
        "config:\n      cxl: |\n        emit a = id\n        emit total = ‹qtty * 2\n        emit b = ‹nope\n",
    );
    expect(&text, &[("E203", "price: "), ("E203", "price: ")]);
}

#[test]
fn e202_a_syntax_error_is_marked_in_a_quoted_scalar() {
    expect(&feed("\"emit total = qty * 2\"", "\"emit total = qty ‹@ 2\""), &[("E202", "price: ")]);
}

#[test]
fn e200_a_type_error_names_the_node() {
    let compiled = compile(&feed("qty * 2", "note * 2"));
    assert_eq!(compiled.diagnostics[0].code, Some("E200"));
    assert!(compiled.diagnostics[0].message.starts_with("price: "));
    assert_eq!(place(&compiled.diagnostics[0]).map(|(line, _)| line), Some(16));
}

#[test]
fn nodes_3_5_validations_compile_over_the_output() {
    let plan = plan(&feed(
        "qty * 2\" }",
        "qty * 2\", validations: [ { field: note, check: not_empty }, { check: \"total > low\", args: { low: 3 }, severity: warn }, \
         { name: cap, check: \"total < 900\", message: too much } ] }",
    ));
    let validations = &transform(&plan).validations;
    let names: Vec<&str> = validations.iter().map(|validation| &*validation.name).collect();
    assert_eq!(names, ["note:not_empty", "total > low", "cap"]);
    assert_eq!(validations[0].field.as_ref().map(|(field, at)| (&**field, *at)), Some(("note", 2)));
    assert_eq!(&*validations[0].message, "validation 'note:not_empty' failed");
    assert_eq!(&*validations[2].message, "too much");
    assert!(validations[1].warn && !validations[2].warn);
}

#[test]
fn nodes_3_5_bad_validations() {
    let with = |validation: &str| feed("qty * 2\" }", &format!("qty * 2\", validations: [ {validation} ] }}"));
    expect(&with("‹{ check: not_empty }"), &[("E000", "needs a `field`")]);
    expect(&with("{ check: not_empty, field: ‹nots }"), &[("E203", "did you mean `note`?")]);
    expect(&with("{ check: \"total > low\", args: { ‹qty: 1, low: 2 } }"), &[("E203", "`qty` is also a column")]);
    expect(&with("{ name: big, check: \"‹totl > 1\" }"), &[("E203", "price (validation big): ")]);
    expect(&with("{ check: not_empty, field: note, ‹args: { a: 1 } }"), &[("E000", "takes no `args`")]);
    expect(&with("{ check: \"total > 1\", severity: ‹warning }"), &[("E000", "did you mean `warn`?")]);
}

#[test]
fn nodes_3_1_transform_keys_that_are_not_built() {
    let with = |keys: &str| feed("qty * 2\" }", &format!("qty * 2\", {keys} }}"));
    for key in ["analytic_window: {}", "declares: [ {} ]", "phase: init", "max_expansion: 3"] {
        let name = key.split(':').next().expect("a key");
        expect(&with(&format!("‹{key}")), &[("E000", &format!("`{name}` of a transform's `config` is not available"))]);
    }
    plan(&with("log: [], declares: [], phase: runtime, max_expansion: 10000, batch_size: 7"));
    expect(&with("batch_size: ‹0"), &[("E000", "at least 1")]);
}

#[test]
fn nodes_1_1_an_emitted_name_replaces_its_column_in_place() {
    use crate::OutputSource::{Emit, Input};
    let plan = plan(&feed("emit total = qty * 2", "emit more = id\\nemit qty = 1.5"));
    let names: Vec<String> = plan.nodes[1].schema.columns.iter().map(|(name, ty)| format!("{name}:{ty}")).collect();
    assert_eq!(names[..2], ["id:int", "qty:float"]);
    assert_eq!(transform(&plan).outputs, [Input(0), Emit(1), Input(2), Emit(0)]);
    assert_eq!(plan.nodes[1].emitted, [false, true, false, true]);
}
