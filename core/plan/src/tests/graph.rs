//! Names, references, plan order.

use super::*;

/// A document of sources, transforms and sinks given as `name` or `name<input`.
fn chain(nodes: &str) -> String {
    let mut text = "pipeline: { name: chain }\nnodes:\n".to_string();
    for (at, node) in nodes.split_whitespace().enumerate() {
        match node.split_once('<') {
            None => text.push_str(&format!(
                "  - type: source\n    name: {node}\n    config: {{ name: s, type: toy, path: a.toy, schema: [ {{ name: x, type: int }} ] }}\n"
            )),
            Some((name, input)) if name.starts_with("out") => text.push_str(&format!(
                "  - type: sink\n    name: {name}\n    input: {input}\n    config: {{ name: s, type: toy, path: o{at}.toy }}\n"
            )),
            Some((name, input)) => text.push_str(&format!(
                "  - type: transform\n    name: {name}\n    input: {input}\n    config: {{ cxl: \"emit y = x\" }}\n"
            )),
        }
    }
    text
}

fn order(nodes: &str) -> Vec<String> {
    plan(&chain(nodes)).nodes.iter().map(|node| node.name.to_string()).collect()
}

#[test]
fn eng_1_plan_order_is_the_reverse_of_the_finish_order() {
    assert_eq!(order("a t<a out1<t"), ["a", "t", "out1"]);
    // Of two unconnected chains the one declared later comes first.
    assert_eq!(order("a b out1<a out2<b"), ["b", "out2", "a", "out1"]);
    assert_eq!(order("a t<a u<a out1<t out2<u"), ["a", "u", "out2", "t", "out1"]);
    // The order in which nodes are written is irrelevant to their chain.
    assert_eq!(order("out1<t t<a a"), ["a", "t", "out1"]);
    assert_eq!(order("a out1<a out2<a"), ["a", "out2", "out1"]);
}

#[test]
fn eng_1_links_hold_node_ids() {
    let plan = plan(&chain("a b t<a out1<t out2<b out3<t"));
    for (id, node) in plan.nodes.iter().enumerate() {
        assert!(
            node.input().is_none_or(|input| input < id && plan.nodes[input].consumers().any(|consumer| consumer == id))
        );
        let consumers: Vec<&str> = node.consumers().map(|consumer| &*plan.nodes[consumer].name).collect();
        if &*node.name == "t" {
            assert_eq!(consumers, ["out1", "out3"], "declaration order");
        }
    }
    let index = |name: &str| match &plan.nodes.iter().find(|node| &*node.name == name).expect("there").operator {
        Operator::Source(source) => usize::from(source.index),
        Operator::Sink(sink) => sink.index,
        Operator::Transform(_) | Operator::Route(_) | Operator::Merge(_) => 99,
    };
    assert_eq!((index("b"), index("a")), (0, 1));
    assert_eq!((index("out2"), index("out3"), index("out1")), (0, 1, 2));
}

#[test]
fn e001_duplicate_node_name_marks_both() {
    let text = feed("name: price", "name: ‹orders").replace("input: price", "input: orders");
    expect(&text, &[("E001", "two nodes are named `orders`")]);
    let compiled = compile(&text.replace('‹', ""));
    let labels: Vec<&str> = compiled.diagnostics[0].labels.iter().map(|label| label.text.as_str()).collect();
    assert_eq!(labels, ["declared here", "related location"]);
}

#[test]
fn w002_names_that_differ_in_case_only() {
    expect(&chain("a A<a out1<A").replace("name: A\n", "name: ‹A\n"), &[("W002", "differ in case only")]);
}

#[test]
fn e002_a_node_that_reads_itself() {
    expect(&feed("input: orders", "input: ‹price"), &[("E002", "node `price` reads itself")]);
}

#[test]
fn e003_a_cycle_prints_its_path() {
    let text = chain("a t<u u<t out1<a").replacen("input: u", "input: ‹u", 1);
    expect(&text, &[("E003", "t -> u -> t")]);
    // Reached from below, and two of them.
    let text = chain("a x<c b<d c<b d<c p<q q<p out1<x out2<a");
    let text = text.replacen("input: d", "input: ‹d", 1).replacen("input: q", "input: ‹q", 1);
    expect(&text, &[("E003", "b -> c -> d -> b"), ("E003", "p -> q -> p")]);
}

#[test]
fn e004_unknown_nodes_ports_and_sinks() {
    expect(&feed("input: price", "input: ‹prise"), &[("E004", "did you mean `price`?")]);
    expect(&feed("input: price", "input: ‹price.big"), &[("E004", "has no port `big`")]);
    expect(&feed("input: price", "input: ‹a.b.c"), &[("E004", "no reference")]);
    expect(&feed("input: orders", "input: ‹out"), &[("E004", "a sink, which has no output")]);
}

#[test]
fn e010_a_dot_in_a_name() {
    let text = feed("name: price", "name: ‹pri.ce");
    let text = text.replace("    input: price", "    input: orders");
    expect(&text, &[("E010", "name it `pri_ce`")]);
}

#[test]
fn e394_reserved_prefixes() {
    for prefix in ["__sort_for_", "__correlation_sort_", "__correlation_commit_", "__combine_"] {
        let text = feed("name: price", &format!("name: ‹{prefix}x"));
        let text = text.replace("    input: price", &format!("    input: {prefix}x"));
        expect(&text, &[("E394", prefix)]);
    }
}

#[test]
fn e376_type_output_is_retired() {
    expect(&feed("type: sink", "type: ‹output"), &[("E376", "write `type: sink`")]);
}

#[test]
fn node_types_that_are_not_built_are_refused_by_name_without_cascades() {
    expect(
        &feed("type: transform", "type: ‹aggregate"),
        &[("E000", "node type `aggregate` is not available in this version")],
    );
    expect(&feed("type: transform", "type: ‹transfrom"), &[("E000", "did you mean `transform`?")]);
    expect(
        &feed("  - type: transform\n", "  - \n").replace("  - \n    name", "  - ‹name"),
        &[("E000", "lacks the key `type`")],
    );
}

#[test]
fn operations_2_1_a_pipeline_has_a_source_and_a_sink() {
    expect("pipeline: { name: x }\nnodes: ‹‹[]\n", &[("E000", "no Source"), ("E000", "no Sink")]);
}

#[test]
fn dia_7_independent_errors_come_together_in_document_order() {
    let text = feed("type: int }\n        - { name: qty", "type: ‹integer }\n        - { name: qty")
        .replace("qty * 2", "‹qtty * 2")
        .replace("path: out.toy", "path: ‹../out.toy")
        .replace("type: sink", "type: sink\n    ‹type: sink");
    expect(
        &text,
        &[
            ("E000", "unknown type `integer`"),
            ("E203", "did you mean `qty`?"),
            ("E000", "duplicate key `type`"),
            ("E-SEC-001", "`..` component"),
        ],
    );
    // The form of a program is checked even where the names it may use are not known.
    let text = feed("- { name: id, type: int }", "- ‹{ type: int }").replace("= qty * 2", "= qty ‹@ nope");
    expect(&text, &[("E000", "lacks the key `name`"), ("E202", "price: ")]);
}
