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
    expect(&handling("{ type_error_threshold: ‹0.1 }"), &[("E000", "not available")]);
}

#[test]
fn e318_rates_and_paths() {
    for value in ["0", "1.5", ".inf"] {
        let text = handling(&format!("{{ dlq: {{ max_rate: ‹{value} }} }}"));
        expect(&text, &[("E318", "`error_handling.dlq.max_rate`")]);
    }
    expect(&handling("{ dlq: { max_rate: ‹0.5 } }"), &[("E000", "`max_rate` of `dlq` is not available")]);
    expect(
        &handling("{ dlq: { path: a.csv, per_source: { orders: { path: ‹./a.csv } } } }"),
        &[("E318", "`error_handling.dlq.path` (there spelled `a.csv`)")],
    );
}

#[test]
fn e317_per_source_names_a_source() {
    expect(&handling("{ dlq: { per_source: { ‹ordrs: {} } } }"), &[("E317", "did you mean `orders`?")]);
    expect(
        &handling("{ dlq: { per_source: { ‹orders: { path: x.csv } } } }"),
        &[("E000", "`per_source` of `dlq` is not available")],
    );
}

#[test]
fn dlq_1_1_keys_of_correlation_are_validated() {
    plan(&handling("{ max_group_buffer: 5, correlation_fanout_policy: primary, dlq: { min_records: 100 } }"));
    expect(&handling("{ max_group_buffer: ‹0 }"), &[("E000", "at least 1")]);
    expect(&handling("{ correlation_fanout_policy: ‹some }"), &[("E000", "`any`, `all`, `primary`")]);
    expect(&handling("{ dlq: { ‹min_records: 5 } }"), &[("E000", "`min_records`")]);
    expect(&handling("{ dlq: { path: ‹../x.csv } }"), &[("E-SEC-001", "dead-letter `path`")]);
}
