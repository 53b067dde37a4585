//! Routes and Merges: ports, order, columns, and what would have to be held.

use super::*;
use crate::{Delivery, HeldBecause, MergeMode, MergePlan, RoutePlan};

const SOURCE: &str = "config: { name: s, type: toy, path: PATH, schema: [ { name: x, type: int } ] } }";

/// A document of nodes written `name` (a source), `name<input` (a transform, a sink when it begins with `out`),
/// `name?input` (a route with the branches `big` and `rest`), `name=a+b` (concat) and `name~a+b` (interleave).
fn flow(nodes: &str) -> String {
    let mut text = "pipeline: { name: flow }\nnodes:\n".to_string();
    for node in nodes.split_whitespace() {
        let at = node.find(['<', '?', '=', '~']).unwrap_or(node.len());
        let (name, inputs) = (&node[..at], node.get(at + 1..).unwrap_or_default());
        let rest = match node[at..].chars().next() {
            None => format!("type: source, name: {name}, {}", SOURCE.replace("PATH", name)),
            Some('<') if name.starts_with("out") => {
                format!(
                    "type: sink, name: {name}, input: {inputs}, config: {{ name: s, type: toy, path: {name}.toy }} }}"
                )
            }
            Some('<') => {
                format!("type: transform, name: {name}, input: {inputs}, config: {{ cxl: \"emit y = x\" }} }}")
            }
            Some('?') => format!(
                "type: route, name: {name}, input: {inputs}, config: {{ conditions: {{ big: \"x > 9\" }}, default: rest }} }}"
            ),
            Some(mode) => {
                let mode = if mode == '~' { "interleave" } else { "concat" };
                let inputs = inputs.replace('+', ", ");
                format!("type: merge, name: {name}, inputs: [ {inputs} ], config: {{ mode: {mode} }} }}")
            }
        };
        text.push_str(&format!("  - {{ {rest}\n"));
    }
    text
}

fn order(nodes: &str) -> Vec<String> {
    plan(&flow(nodes)).nodes.iter().map(|node| node.name.to_string()).collect()
}

fn named<'p>(plan: &'p CompiledPlan, name: &str) -> &'p crate::Node {
    plan.nodes.iter().find(|node| &*node.name == name).expect("a node of that name")
}

fn route<'p>(plan: &'p CompiledPlan, name: &str) -> &'p RoutePlan {
    match &named(plan, name).operator {
        Operator::Route(route) => route,
        _ => panic!("{name} is no route"),
    }
}

fn merge<'p>(plan: &'p CompiledPlan, name: &str) -> &'p MergePlan {
    match &named(plan, name).operator {
        Operator::Merge(merge) => merge,
        _ => panic!("{name} is no merge"),
    }
}

/// The feed with a Route in place of its Transform.
fn routed(config: &str) -> String {
    FEED.replace("type: transform", "type: route")
        .replace("{ cxl: \"emit total = qty * 2\" }", config)
        .replace("input: price", "input: price.low")
}

#[test]
fn nodes_4_a_route_has_one_port_a_branch_and_the_default_last() {
    let text = routed("{ default: low, mode: inclusive, conditions: { top: \"qty > 9\", mid: \"qty > 5\" } }");
    let plan = plan(&text);
    let node = named(&plan, "price");
    let ports: Vec<_> = node.ports.iter().map(|port| (port.name.as_deref(), port.consumers.len())).collect();
    assert_eq!(ports, [(Some("top"), 0), (Some("mid"), 0), (Some("low"), 1)], "unconsumed branches are allowed");
    let branches: Vec<&str> = route(&plan, "price").branches.iter().map(|(branch, _)| &**branch).collect();
    assert_eq!(branches, ["top", "mid"]);
    assert!(route(&plan, "price").inclusive);
    assert_eq!((&*node.stage, node.schema.columns.len()), ("route_eval", 3));
    assert_eq!(named(&plan, "out").inputs, [crate::Input { node: 1, port: 2 }]);
    let exclusive = super::plan(&routed("{ default: low, conditions: { top: \"qty > 9\" } }"));
    assert!(!route(&exclusive, "price").inclusive);
}

#[test]
fn nodes_4_emitted_columns_pass_a_route() {
    let text = flow("a t<a r?t out<r.big");
    let plan = plan(&text.replace("path: out.toy", "path: out.toy, include_unmapped: false"));
    assert_eq!(named(&plan, "r").emitted, [false, true]);
    assert_eq!(columns(sink(&plan)), ["y"]);
}

#[test]
fn e200_e202_e203_conditions_name_their_branch() {
    expect(&routed("{ default: low, conditions: { top: \"‹qtty > 9\" } }"), &[("E203", "price (branch top): ")]);
    expect(&routed("{ default: low, conditions: { top: \"qty > ‹\" } }"), &[("E202", "price (branch top): ")]);
    expect(&routed("{ default: low, conditions: { top: \"‹qty + 9\" } }"), &[("E200", "price (branch top): ")]);
    // Independent ones come together, and the branches stay known.
    expect(
        &routed("{ default: low, conditions: { top: \"‹qtty > 9\", mid: \"‹nope\" } }"),
        &[("E203", "(branch top)"), ("E203", "(branch mid)")],
    );
    // The form is checked even where the names are not known.
    let text = routed("{ default: low, conditions: { top: \"qty ‹@ 9\" } }").replace("input: orders", "input: ‹orderz");
    expect(&text, &[("E004", "did you mean `orders`?"), ("E202", "price (branch top)")]);
}

#[test]
fn nodes_4_what_a_route_needs() {
    expect(&routed("{ default: low, conditions: ‹{} }"), &[("E000", "no branch but its default")]);
    expect(&routed("{ default: ‹low, conditions: { low: \"qty > 1\" } }"), &[("E000", "is also a branch")]);
    expect(&routed("{ default: low, conditions: { top: ‹true } }"), &[("E000", "quote it: `top: \"true\"`")]);
    expect(&routed("{ default: low, mode: ‹inclusiv, conditions: { top: \"qty > 1\" } }"), &[("E000", "`inclusive`")]);
    expect(&routed("{ default: low, conditions: { ‹to.p: \"qty > 1\" } }"), &[("E010", "name it `to_p`")]);
    expect(&routed("{ default: low, conditions: { ‹__sort_for_x: \"qty > 1\" } }"), &[("E394", "branch name")]);
    expect(
        &routed("{ default: low, conditions: { Top: \"qty > 1\", ‹top: \"qty > 2\" } }"),
        &[("W002", "branch names")],
    );
    expect(&routed("{ default: low, conditions: { ‹\"\": \"qty > 1\" } }"), &[("E000", "is empty")]);
    // A Route whose settings cannot be read has unknown branches.
    expect(&routed("‹{ conditions: { top: \"qty > 1\" } }"), &[("E000", "lacks the key `default`")]);
}

#[test]
fn nodes_4_at_most_256_branches() {
    let of = |count: usize| {
        let branches: Vec<String> = (1..count).map(|at| format!("b{at}: \"qty > {at}\"")).collect();
        branches.join(", ")
    };
    assert_eq!(
        named(&plan(&routed(&format!("{{ default: low, conditions: {{ {} }} }}", of(256)))), "price").ports.len(),
        256
    );
    expect(&routed(&format!("{{ default: low, conditions: ‹{{ {} }} }}", of(257))), &[("E000", "has 257 branches")]);
}

#[test]
fn e004_branches_are_named() {
    expect(&flow("a r?a out<‹r"), &[("E004", "write one of `r.big`, `r.rest`")]);
    expect(&flow("a r?a out<‹r.bug"), &[("E004", "did you mean `big`?")]);
    expect(&flow("a r?a out<‹r.nothing"), &[("E004", "its branches are big, rest")]);
    expect(&flow("a b m=a+b out<‹m.all"), &[("E004", "it has one output")]);
}

#[test]
fn nodes_5_columns_are_matched_by_name_and_united_by_type() {
    let text = flow("a b m=a+b out<m")
        .replacen("{ name: x, type: int }", "{ name: x, type: int }, { name: y, type: nullable(string) }", 1)
        .replacen("[ { name: x, type: int } ]", "[ { name: y, type: string }, { name: x, type: float } ]", 1);
    let plan = plan(&text);
    let columns: Vec<String> =
        named(&plan, "m").schema.columns.iter().map(|(name, ty)| format!("{name}:{ty}")).collect();
    assert_eq!(columns, ["x:float", "y:nullable(string)"]);
    assert_eq!(merge(&plan, "m").columns, [[0, 1], [1, 0]]);
    assert_eq!(merge(&plan, "m").mode, MergeMode::Concat);
    assert_eq!(named(&plan, "m").emitted, [true, true]);
    assert_eq!(named(&plan, "m").inputs.len(), 2);
}

#[test]
fn e391_what_differs_is_listed() {
    let with = |second: &str| flow("a b m=a+‹b out<m").replacen("b, schema: [ { name: x, type: int } ]", second, 1);
    let list = |columns: &str| with(&format!("b, schema: [ {columns} ]"));
    expect(&list("{ name: y, type: int }"), &[("E391", "`b` lacks `x`, which `a` has; `b` has `y`, which `a` lacks")]);
    expect(&list("{ name: x, type: string }"), &[("E391", "`x` is `string` in `b` and `int` before it")]);
    expect(
        &list("{ name: x, type: int, multiple: true }").replace("path: b", "path: b, split_values: [ x ]"),
        &[("E391", "`array`")],
    );
    expect(
        &list("{ name: x, type: int } ], on_unmapped: { mode: drop }, exclude: [")
            .replace("exclude: [ ]", "exclude: []"),
        &[("E391", "may carry undeclared fields")],
    );
    // Decimal and float have no common type; a third input is told apart.
    let text = flow("a b c m=a+b+‹c out<m").replacen(
        "path: a, schema: [ { name: x, type: int }",
        "path: a, schema: [ { name: x, type: float }",
        1,
    );
    expect(
        &text.replacen("path: c, schema: [ { name: x, type: int }", "path: c, schema: [ { name: x, type: decimal }", 1),
        &[("E391", "`x` is `decimal` in `c` and `float` before it")],
    );
}

#[test]
fn nodes_5_what_a_merge_needs() {
    expect(&flow("a m=a+‹a out<m"), &[("E000", "lists `a` twice")]);
    expect(&flow("a m=a out<m").replace("[ a ]", "‹[]"), &[("E000", "has no input")]);
    expect(
        &flow("a m=a out<m").replace("mode: concat", "‹interleave_seed: 3"),
        &[("E000", "needs `mode: interleave`")],
    );
    expect(
        &flow("a m~a out<m").replace("interleave }", "interleave, interleave_seed: ‹-3 }"),
        &[("E000", "must be an integer from 0")],
    );
    expect(
        &flow("a m=a out<m").replace("{ type: merge", "‹{ type: merge").replace("inputs: [ a ]", "‹input: a"),
        &[("E000", "lacks the key `inputs`"), ("E000", "did you mean `inputs`?")],
    );
    plan(&flow("a m=a out<m").replace(", config: { mode: concat }", ""));
}

#[test]
fn eng_133_turns_of_an_interleave() {
    let turn = |nodes: &str| merge(&plan(&flow(nodes)), "m").mode;
    assert_eq!(turn("a b m~a+b out<m"), MergeMode::Interleave { turn: 2048 });
    let text = flow("a t<a b u<b m~t+u out<m");
    assert_eq!(merge(&plan(&text), "m").mode, MergeMode::Interleave { turn: 1 });
}

/// The inputs that are held, as `reader<input reason`.
fn held(nodes: &str) -> Vec<String> {
    let plan = plan(&flow(nodes));
    let name = |node: usize| plan.nodes[node].name.to_string();
    let edge = |(reader, at, input): (usize, usize, crate::Input)| {
        let port = plan.nodes[input.node].ports[input.port].name.as_ref().map(|port| format!(".{port}"));
        let why = match plan.nodes[reader].deliveries[at] {
            Delivery::Held(HeldBecause::LaterInput) if plan.is_deferred(reader, at) => "deferred",
            Delivery::Held(HeldBecause::LaterInput) => "later",
            Delivery::Held(HeldBecause::Seeded) => "seeded",
            Delivery::Held(HeldBecause::CircularWait) => "circular",
            Delivery::Handoff => "handoff",
        };
        format!("{}<{}{} {why}", name(reader), name(input.node), port.unwrap_or_default())
    };
    plan.held_edges().map(edge).collect()
}

#[test]
fn eng_10_d_later_inputs_of_a_concat_are_held() {
    assert_eq!(held("a b m=a+b out<m"), ["m<b deferred"]);
    // What is above feeds something else too.
    assert_eq!(held("a b m=a+b out<m out2<b"), ["m<b later"]);
    assert_eq!(held("a b m=a+b out<m out2<a"), ["m<b deferred"]);
    assert_eq!(held("a r?a m=r.big+r.rest out<m"), ["m<r.rest later"]);
    assert_eq!(held("a r?a t<r.big u<r.rest m=t+u out<m"), ["m<u later"]);
    assert_eq!(held("a r?a b s?b m=r.big+s.big out<m"), ["m<s.big deferred"]);
    assert_eq!(held("a b c n=a+b m=c+n out<m"), ["n<b deferred", "m<n deferred"]);
    assert_eq!(held("a b c n=a+b m=c+n out<m out2<a"), ["n<b deferred", "m<n later"]);
    assert_eq!(held("a b m=a+b n=b+a out<m out2<n"), ["n<a later", "m<b later"]);
}

#[test]
fn eng_10_g_inputs_that_would_wait_for_each_other_are_held() {
    assert_eq!(held("a b m~a+b out<m"), [""; 0]);
    assert_eq!(held("a b m~a+b out<m out2<a"), [""; 0], "another reader follows");
    assert_eq!(held("a r?a m~r.big+r.rest out<m"), ["m<r.big circular", "m<r.rest circular"]);
    assert_eq!(held("a r?a b m~r.big+b+r.rest out<m"), ["m<r.big circular", "m<r.rest circular"]);
    assert_eq!(held("a b n~a+b m~n+a out<m"), ["m<n circular", "m<a circular"]);
    // A Merge below another one pulls all that is above; one beside it waits for what it shares.
    assert_eq!(held("a b c n~a+b m~n+c out<m"), [""; 0]);
    assert_eq!(held("a b c n~a+b m~a+c out<m out2<n"), ["n<a circular"]);
    // What is held inside must have ended before the turns begin.
    assert_eq!(held("a r?a b n=r.big+r.rest m~n+b out<m"), ["n<r.rest later", "m<n circular"]);
    // A finished result takes turns with a Source.
    assert_eq!(held("a r?a b n~r.big+r.rest m~n+b out<m"), ["n<r.big circular", "n<r.rest circular"]);
}

#[test]
fn eng_10_d_every_input_of_a_seeded_interleave_is_held() {
    let text = flow("a b m~a+b out<m").replace("interleave }", "interleave, interleave_seed: 18446744073709551615 }");
    let plan = plan(&text);
    assert_eq!(merge(&plan, "m").mode, MergeMode::Seeded { seed: u64::MAX });
    assert_eq!(named(&plan, "m").deliveries, [Delivery::Held(HeldBecause::Seeded); 2]);
}

#[test]
fn eng_1_plan_order_with_several_inputs() {
    assert_eq!(order("a b m=a+b out<m"), ["b", "a", "m", "out"]);
    assert_eq!(order("out<m m=a+b b a"), ["a", "b", "m", "out"]);
    // Consumers in declaration order, whichever port they read.
    assert_eq!(order("a r?a out1<r.rest out2<r.big"), ["a", "r", "out2", "out1"]);
    assert_eq!(order("a b c n=a+b m=c+n out<m"), ["c", "b", "a", "n", "m", "out"]);
}

#[test]
fn e003_cycles_over_several_inputs() {
    expect(&flow("a m=a+‹t t<m out<m"), &[("E003", "m -> t -> m")]);
    expect(&flow("a t<‹m m=a+u u<t out<m"), &[("E003", "t -> u -> m -> t")]);
    // Knots that hang together are one report, others have their own.
    let text = flow("a m=a+u+‹t t<m u<t p<‹q q=p out<m");
    expect(&text, &[("E003", "m -> t -> m"), ("E003", "p -> q -> p")]);
}

#[test]
fn dlq_8_3_the_branch_above_a_node() {
    let plan = plan(&flow("a r?a s?r.big t<s.rest out1<t out2<r.rest b q?b u<q.big v<r.big m=v+u out3<m out4<a"));
    let label = |name: &str| named(&plan, name).route.to_string();
    assert_eq!(label("a"), "");
    assert_eq!(label("r"), "");
    assert_eq!(label("s"), "big", "a Route's own failure shows the branch above it");
    assert_eq!((label("t"), label("out1")), ("rest".to_string(), "rest".to_string()), "the nearest Route counts");
    assert_eq!(label("out2"), "rest");
    assert_eq!((label("m"), label("out3")), (String::new(), String::new()), "branches of two Routes");
    assert_eq!(label("out4"), "");
}

#[test]
fn pipeline_8_4_source_name_needs_one_source_above() {
    let text = flow("a b m=a+b out<m").replace("out.toy", "‹\"{source_name}.toy\"");
    expect(&text, &[("E000", "exactly one Source above")]);
    plan(&flow("a b m=a+b out<m").replace("out.toy", "\"{source_name:b}.toy\""));
    plan(&flow("a m=a out<m").replace("out.toy", "\"{source_name}.toy\""));
}
