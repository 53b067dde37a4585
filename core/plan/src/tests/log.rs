//! Log directives.

use clinker_events::Level;

use super::*;
use crate::LogWhen;

fn with(directives: &str) -> String {
    feed("qty * 2\" }", &format!("qty * 2\", log: [ {directives} ] }}"))
}

/// A directive that is right, with these keys more.
fn each(keys: &str) -> String {
    with(&format!("{{ name: big.order, level: info, when: per_record, message: seen, {keys} }}"))
}

#[test]
fn nodes_3_6_a_directive_is_bound_to_the_input() {
    let plan = plan(&with(
        "{ name: start, level: debug, when: before_transform, message: begins }, \
         { name: big.order, level: info, when: per_record, message: seen, every: 2, fields: [ note, id ], condition: \"qty > 50\" }, \
         { name: broken, level: error, when: on_error, message: failed, fields: [ id ] }",
    ));
    let log = &transform(&plan).log;
    let times: Vec<_> = log.iter().map(|event| (&*event.name, event.level, event.when, event.every)).collect();
    assert_eq!(
        times,
        [
            ("start", Level::Debug, LogWhen::BeforeTransform, 1),
            ("big.order", Level::Info, LogWhen::PerRecord, 2),
            ("broken", Level::Error, LogWhen::OnError, 1)
        ]
    );
    assert_eq!((&log[1].fields[..], &log[2].fields[..]), (&[2, 0][..], &[0][..]));
    assert_eq!(log[1].condition.as_ref().map(|test| test.columns_read().collect()), Some(vec![1]));
    assert!(log[0].condition.is_none());
}

#[test]
fn e011_bad_directives() {
    let one = |directive: &str| with(directive);
    expect(
        &one("{ name: a, level: ‹loud, when: on_error, message: m }"),
        &[("E011", "write one of trace, debug, info, warn, error")],
    );
    expect(&one("{ name: a, level: info, when: ‹on_eror, message: m }"), &[("E011", "did you mean `on_error`?")]);
    for name in ["a.", "1a", "a-b", "\"\"", &"a".repeat(129)] {
        expect(
            &one(&format!("{{ name: ‹{name}, level: info, when: on_error, message: m }}")),
            &[("E011", "event name")],
        );
    }
    plan(&one(&format!("{{ name: {}, level: info, when: on_error, message: m }}", "a".repeat(128))));
    expect(&one("{ name: a, level: info, when: on_error, message: ‹\"a {b}\" }"), &[("E011", "brace")]);
    let long = format!("{{ name: a, level: info, when: on_error, message: ‹{} }}", "m".repeat(1025));
    expect(&one(&long), &[("E011", "1025 bytes")]);
    expect(&one("‹{ name: a, level: info, when: per_record, message: m }"), &[("E011", "needs `every`")]);
    expect(&each("every: ‹0"), &[("E011", "at least 1")]);
    expect(&one("{ name: a, level: info, when: on_error, message: m, ‹every: 1 }"), &[("E011", "per_record")]);
    expect(
        &one("{ name: a, level: info, when: after_transform, message: m, ‹fields: [ id ] }"),
        &[("E011", "no record")],
    );
    expect(
        &one("{ name: a, level: info, when: on_error, message: m, ‹condition: \"id > 1\" }"),
        &[("E011", "per_record")],
    );
    expect(&each("every: 1, fields: ‹[]"), &[("E011", "1 to 256")]);
    expect(&each("every: 1, fields: [ id, ‹id ]"), &[("E011", "`id` twice")]);
    expect(&each("every: 1, ‹log_rule: x"), &[("E011", "`log_rule`")]);
    let two =
        "{ name: a, level: info, when: on_error, message: m }, { name: ‹a, level: warn, when: on_error, message: n }";
    expect(&one(two), &[("E011", "two directives are named `a`")]);
}

#[test]
fn nodes_3_6_limits_of_a_node() {
    let directive = |at: usize| format!("{{ name: a{at}, level: info, when: on_error, message: m }}");
    let of = |count: usize| (0..count).map(directive).collect::<Vec<_>>().join(", ");
    assert_eq!(transform(&plan(&with(&of(32)))).log.len(), 32);
    expect(&with(&of(33)).replace("log: [", "log: ‹["), &[("E011", "33 directives")]);
    let columns: Vec<String> = (0..100).map(|at| format!("        - {{ name: c{at}, type: int }}\n")).collect();
    let list = |count: usize| (0..count).map(|at| format!("c{at}")).collect::<Vec<_>>().join(", ");
    let asking = |counts: [usize; 3]| {
        let directives = counts.iter().enumerate().map(|(at, count)| {
            format!("{{ name: a{at}, level: info, when: on_error, message: m, fields: [ {} ] }}", list(*count))
        });
        let text = with(&directives.collect::<Vec<_>>().join(", "));
        text.replace("      schema:\n", &format!("      schema:\n{}", columns.concat()))
    };
    plan(&asking([100, 100, 56]));
    expect(&asking([100, 100, 57]).replace("log: [", "log: ‹["), &[("E011", "257 fields together")]);
}

#[test]
fn e373_a_condition_is_one_predicate() {
    expect(&each("every: 1, condition: ‹\"let a = qty\\nemit b = a\""), &[("E373", "is a program")]);
    expect(&each("every: 1, condition: ‹\"emit b = qty > 1\""), &[("E373", "is a program")]);
    let long = format!("every: 1, condition: ‹\"qty > {}1\"", " ".repeat(506));
    expect(&each(&long), &[("E373", "513 bytes")]);
    plan(&each(&format!("every: 1, condition: \"qty > {}1\"", " ".repeat(505))));
    // What is wrong inside a predicate has the codes of expressions.
    expect(&each("every: 1, condition: \"‹qtty > 1\""), &[("E203", "price (log big.order): ")]);
    expect(&each("every: 1, condition: \"‹qty + 1\""), &[("E200", "price (log big.order): ")]);
    expect(&each("every: 1, condition: \"qty > ‹@\""), &[("E202", "price (log big.order): ")]);
    let text = each("every: 1, condition: \"qty > ‹@\"").replace("input: orders", "input: ‹orderz");
    expect(&text, &[("E004", ""), ("E202", "price (log big.order): ")]);
}

#[test]
fn e374_fields_are_input_columns() {
    expect(&each("every: 1, fields: [ id, ‹nota ]"), &[("E374", "write `fields: [ id, note ]`")]);
    expect(&each("every: 1, fields: [ ‹something ]"), &[("E374", "the input columns are id, qty, note")]);
    expect(&each("every: 1, fields: [ ‹total ]"), &[("E374", "no input column")]);
}

#[test]
fn e375_one_event_has_one_set_of_fields() {
    let second = |fields: &str| {
        let more = format!(
            "  - {{ type: transform, name: late, input: price, config: {{ cxl: \"emit z = 1\", log: [ {{ name: ‹big.order, level: warn, \
             when: on_error, message: m, fields: {fields} }} ] }} }}\n"
        );
        format!("{}{more}", each("every: 1, fields: [ id, note ]"))
    };
    expect(&second("[ id ]"), &[("E375", "here they are id, there id, note")]);
    // The order of the fields is no difference.
    plan(&second("[ note, id ]").replace('‹', ""));
}
