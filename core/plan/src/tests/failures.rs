//! `error_handling` and dead-letter headers.

use super::*;
use crate::Strategy;

fn handling(block: &str) -> String {
    format!("{FEED}error_handling: {block}\n")
}

fn header(text: &str) -> Vec<String> {
    plan(text).dead_letters[0].record_columns.iter().map(|name| name.to_string()).collect()
}

#[test]
fn dlq_52_a_header_gathers_source_and_input_shapes() {
    let text = handling("{ strategy: continue, dlq: { path: bad.csv } }");
    assert_eq!(header(&text), ["id", "qty", "note", "_cxl_dlq_source_record"]);
    let plan = plan(&text);
    let file = plan.dead_letters.first().expect("a file");
    assert_eq!((file.path.as_str(), file.include_reason, file.include_source_row), ("bad.csv", true, true));
    assert_eq!(file.sources.iter().map(|name| &**name).collect::<Vec<_>>(), ["orders"]);
    assert_eq!(plan.failures.strategy, Strategy::Continue);
    // A second Transform adds what the first one emitted.
    let more = "  - { type: transform, name: late, input: price, config: { cxl: \"emit x = total\" } }\n";
    assert_eq!(
        header(&format!("{FEED}{more}error_handling: {{ strategy: continue, dlq: {{ path: b.csv }} }}\n"))
            .last()
            .map(String::as_str),
        Some("total")
    );
}

#[test]
fn dlq_53_a_sink_contributes_when_it_can_refuse_a_row() {
    let block = "error_handling: { strategy: continue, dlq: { path: b.csv } }\n";
    let plain = header(&format!("{FEED}{block}"));
    assert!(!plain.contains(&"total".to_string()));
    let narrow = feed("path: out.toy", "path: out.toy, options: { narrow: true }");
    assert!(header(&format!("{narrow}{block}")).contains(&"total".to_string()));
    let lists = feed("      path: in/orders.toy\n", "      path: in/orders.toy\n      split_values: [note]\n")
        .replace("{ name: note, type: string }", "{ name: note, type: string, multiple: true }");
    assert!(header(&format!("{lists}{block}")).contains(&"total".to_string()));
    let encoded =
        lists.replace("path: out.toy", "path: out.toy, join_values: [ { field: note, on_conflict: encode_json } ]");
    assert!(!header(&format!("{encoded}{block}")).contains(&"total".to_string()));
}

#[test]
fn dlq_53_a_sink_that_joins_contributes_when_undeclared_fields_may_hold_arrays() {
    let block = "error_handling: { strategy: continue, dlq: { path: b.csv } }\n";
    let nested = feed("type: toy\n      path: in/orders.toy", "type: nested\n      path: in/orders.toy");
    assert!(header(&format!("{nested}{block}")).contains(&"total".to_string()));
    let closed = nested.replace("path: in/orders.toy", "path: in/orders.toy\n      on_unmapped: { mode: drop }");
    assert!(!header(&format!("{closed}{block}")).contains(&"total".to_string()));
    let narrow = nested.replace("path: out.toy", "path: out.toy, include_unmapped: false");
    assert!(!header(&format!("{narrow}{block}")).contains(&"total".to_string()));
}

#[test]
fn dlq_52_shapes_are_united_by_first_occurrence_in_plan_order() {
    let text = "\
pipeline: { name: meters }
nodes:
  - { type: source, name: pumps, config: { name: p, type: toy, path: p, schema: [ { name: pump_id, type: int }, { name: site, type: string } ] } }
  - { type: source, name: valves, config: { name: v, type: toy, path: v, schema: [ { name: valve_id, type: int }, { name: site, type: string }, { name: bar, type: float } ] } }
  - { type: transform, name: a, input: pumps, config: { cxl: \"emit x = 1\" } }
  - { type: transform, name: b, input: valves, config: { cxl: \"emit x = 1\" } }
  - { type: sink, name: o, input: a, config: { name: o, type: toy, path: o } }
  - { type: sink, name: q, input: b, config: { name: q, type: toy, path: q } }
error_handling: { strategy: continue, dlq: { path: bad.csv } }
";
    assert_eq!(header(text), ["valve_id", "site", "bar", "_cxl_dlq_source_record", "pump_id"]);
}

#[test]
fn dlq_53_no_shape_reaches_the_file_under_fail_fast() {
    assert!(header(&handling("{ dlq: { path: bad.csv } }")).is_empty());
    assert!(header(&handling("{ strategy: continue, dlq: { path: bad.csv, include_source_row: false } }")).is_empty());
}

#[test]
fn dlq_5_no_path_is_legal() {
    let plan = plan(&handling("{ strategy: continue, dlq: {} }"));
    assert!(plan.failures.has_dlq_block && plan.dead_letters.is_empty());
}

#[test]
fn dlq_50_the_reserved_prefix_is_refused() {
    let text = feed("{ name: id, type: int }", "{ name: _cxl_dlq_id, type: int }");
    expect(
        &format!("{text}error_handling: {{ strategy: continue, dlq: {{ path: ‹b.csv }} }}\n"),
        &[("E000", "`_cxl_dlq_id`")],
    );
}

#[test]
fn e393_best_effort_is_no_strategy() {
    expect(&handling("{ strategy: ‹best_effort }"), &[("E393", "write `strategy: continue`")]);
    expect(&handling("{ strategy: ‹contine }"), &[("E000", "did you mean `continue`?")]);
}

#[test]
fn e368_the_type_threshold_is_a_ratio() {
    for value in ["1.5", "-0.1", ".nan"] {
        expect(&handling(&format!("{{ type_error_threshold: ‹{value} }}")), &[("E368", "0.0 to 1.0")]);
    }
    let threshold = |text: &str| plan(&handling(text)).failures.type_error_threshold;
    assert_eq!(threshold("{ type_error_threshold: 0.1 }"), Some(0.1));
    assert_eq!(threshold("{ type_error_threshold: 0 }"), Some(0.0), "the first failure trips it");
    assert_eq!(threshold("{ type_error_threshold: 1 }"), Some(1.0));
    assert_eq!(threshold("{ dlq: {} }"), None);
}

#[test]
fn e318_rates_and_paths() {
    for value in ["0", "1.5", ".inf"] {
        let text = handling(&format!("{{ dlq: {{ max_rate: ‹{value} }} }}"));
        expect(&text, &[("E318", "`error_handling.dlq.max_rate`")]);
    }
    let text = handling("{ dlq: { max_rate: ‹2, per_source: { orders: { max_rate: ‹-1 } } } }");
    let found = [("E318", "error_handling.dlq.max_rate"), ("E318", "dlq.per_source.orders.max_rate` is -1")];
    expect(&text, &found);
    expect(
        &handling("{ dlq: { path: a.csv, per_source: { orders: { path: ‹./a.csv } } } }"),
        &[("E318", "`error_handling.dlq.path` (there spelled `a.csv`)")],
    );
}

#[test]
fn e317_per_source_names_a_source() {
    expect(&handling("{ dlq: { per_source: { ‹ordrs: {} } } }"), &[("E317", "did you mean `orders`?")]);
    // A node that could not be read may be that Source.
    let text = format!("{}error_handling: {{ dlq: {{ per_source: {{ tariffs: {{}} }} }} }}\n", two_feeds("‹oops"));
    expect(&text, &[("E000", "unknown node type `oops`")]);
}

/// Two chains; the second Source has this type.
fn two_feeds(ty: &str) -> String {
    format!(
        "{FEED}  - {{ type: {ty}, name: tariffs, config: {{ name: t, type: toy, path: t, schema: [ {{ name: code, type: \
         string }}, {{ name: qty, type: float }} ] }} }}\n\
         \x20 - {{ type: transform, name: rate, input: tariffs, config: {{ cxl: \"emit tax = qty\" }} }}\n\
         \x20 - {{ type: transform, name: more, input: rate, config: {{ cxl: \"emit y = tax\" }} }}\n\
         \x20 - {{ type: sink, name: bills, input: more, config: {{ name: b, type: toy, path: bills.toy }} }}\n"
    )
}

#[test]
fn dlq_1_3_rates_of_single_sources_by_position() {
    let rates = |block: &str| {
        let plan = plan(&format!("{}error_handling: {block}\n", two_feeds("source")));
        (plan.failures.max_rate, plan.failures.source_rates)
    };
    let rate = |max, min_records| Some(crate::Rate { max, min_records });
    let block = "{ dlq: { max_rate: 0.5, per_source: { orders: { max_rate: 1, min_records: 7 }, tariffs: { max_rate: 0.25 } } } }";
    // The chain that is declared later comes first.
    assert_eq!(rates(block), (rate(0.5, 100), vec![rate(0.25, 100), rate(1.0, 7)]));
    let block = "{ dlq: { min_records: 0, max_rate: 0.5, per_source: { tariffs: { max_rate: 0.25 }, orders: {} } } }";
    assert_eq!(rates(block), (rate(0.5, 0), vec![rate(0.25, 0), None]));
    assert_eq!(rates("{ dlq: { min_records: 3 } }"), (None, vec![None, None]));
    expect(&handling("{ dlq: { min_records: ‹-1 } }"), &[("E000", "at least 0")]);
}

/// Path, whether it is the pipeline-wide one, Sources and record columns of each file.
fn files(text: &str) -> Vec<(String, bool, Vec<String>, Vec<String>)> {
    let texts = |list: &[std::sync::Arc<str>]| list.iter().map(|text| text.to_string()).collect();
    plan(text)
        .dead_letters
        .iter()
        .map(|file| (file.path.clone(), file.fallback, texts(&file.sources), texts(&file.record_columns)))
        .collect()
}

#[test]
fn dlq_52_each_file_has_the_shapes_that_stem_from_its_sources() {
    let with =
        |dlq: &str| format!("{}error_handling: {{ strategy: continue, dlq: {{ {dlq} }} }}\n", two_feeds("source"));
    let list = |words: &str| words.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    let tariffs = list("code qty _cxl_dlq_source_record tax");
    let orders = list("id qty note _cxl_dlq_source_record");
    assert_eq!(
        files(&with("path: all.csv, per_source: { tariffs: { path: t.csv } }")),
        [
            ("all.csv".to_string(), true, list("orders"), orders.clone()),
            ("t.csv".to_string(), false, list("tariffs"), tariffs.clone())
        ]
    );
    // In name order, whatever the order in the document; the pipeline-wide file may take nothing at all.
    assert_eq!(
        files(&with("per_source: { tariffs: { path: t.csv }, orders: { path: o.csv } }, path: all.csv")),
        [
            ("all.csv".to_string(), true, Vec::new(), Vec::new()),
            ("o.csv".to_string(), false, list("orders"), orders),
            ("t.csv".to_string(), false, list("tariffs"), tariffs.clone())
        ]
    );
    // Without a pipeline-wide file the rows of the other Source are written nowhere.
    let only = files(&with("per_source: { tariffs: { path: t.csv } }"));
    assert_eq!(only, [("t.csv".to_string(), false, list("tariffs"), tariffs)]);
}

#[test]
fn dlq_52_a_shape_below_a_merge_joins_the_files_of_all_its_sources() {
    let source = |name: &str| {
        format!(
            "  - {{ type: source, name: {name}, config: {{ name: s, type: toy, path: {name}, schema: [ {{ name: x, type: int }} ] }} }}\n"
        )
    };
    let text = format!(
        "pipeline: {{ name: x }}\nnodes:\n{}{}\
         \x20 - {{ type: merge, name: all, inputs: [ north, south ] }}\n\
         \x20 - {{ type: transform, name: a, input: all, config: {{ cxl: \"emit y = x\" }} }}\n\
         \x20 - {{ type: transform, name: b, input: a, config: {{ cxl: \"emit z = y\" }} }}\n\
         \x20 - {{ type: sink, name: o, input: b, config: {{ name: o, type: toy, path: o }} }}\n\
         error_handling: {{ strategy: continue, dlq: {{ path: all.csv, per_source: {{ south: {{ path: s.csv }} }} }} }}\n",
        source("north"),
        source("south")
    );
    let columns = ["x", "_cxl_dlq_source_record", "y"].map(str::to_string);
    for (path, _, sources, found) in files(&text) {
        assert_eq!(found, columns, "{path}");
        assert_eq!(sources, [if path == "s.csv" { "south" } else { "north" }]);
    }
}

#[test]
fn e322_dead_letter_files_and_sinks_have_files_of_their_own() {
    let text = feed("path: out.toy", "path: ‹rejects/o.csv");
    expect(
        &format!("{text}error_handling: {{ dlq: {{ per_source: {{ orders: {{ path: rejects/o.csv }} }} }} }}\n"),
        &[("E322", "the dead-letter file of source `orders` and sink `out` write one file")],
    );
}

#[test]
fn dlq_1_1_keys_of_correlation_are_validated() {
    plan(&handling("{ max_group_buffer: 5, correlation_fanout_policy: primary, dlq: { min_records: 100 } }"));
    expect(&handling("{ max_group_buffer: ‹0 }"), &[("E000", "at least 1")]);
    expect(&handling("{ correlation_fanout_policy: ‹some }"), &[("E000", "`any`, `all`, `primary`")]);
    expect(&handling("{ dlq: { path: ‹../x.csv } }"), &[("E-SEC-001", "dead-letter `path`")]);
}
