//! The plan as text.

use super::*;
use crate::{ExplainSettings, explain_dot, explain_json, explain_text, resolved_outputs};

#[test]
fn operations_5_resolved_outputs() {
    let plan = plan(&feed(
        "path: out.toy",
        "path: \"o/{execution_id}.toy\", if_exists: unique_suffix, unique_suffix_width: 2",
    ));
    assert_eq!(
        resolved_outputs(&plan, 0, "e1", "b1"),
        "=== Resolved Outputs ===\n\n  'out' → o/e1.toy\n      [if_exists=unique_suffix, write_meta=false] — collisions append \
         -{n:02} before extension\n"
    );
}

#[test]
fn operations_5_split_outputs() {
    let plan = plan(&feed("path: out.toy", "path: out.toy, split: { max_records: 9 }"));
    let text = explain_text(&plan, &ExplainSettings { threads: 1 });
    let lines =
        "  'out' → out.toy (split, naming=\"{stem}_{seq:04}.{ext}\")\n      [if_exists=overwrite, write_meta=false]\n";
    assert!(text.contains(lines), "{text}");
}

#[test]
fn eng_16_1_sections_come_in_order() {
    let text = format!(
        "{FEED}  - {{ type: sink, name: raw, input: orders, config: {{ name: r, type: toy, path: raw.toy }} }}\n\
         error_handling: {{ strategy: continue, dlq: {{ path: bad.csv }} }}\n"
    );
    let text = explain_text(&plan(&text), &ExplainSettings { threads: 2 });
    let titles: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("=== ")?.strip_suffix(" ===")).collect();
    assert_eq!(
        titles,
        [
            "Resolved Outputs",
            "Execution Plan",
            "Physical Properties",
            "CXL Expressions",
            "Type Annotations",
            "Memory Budget",
            "DAG Topology",
            "Dead-Letter Output",
            "Staging Plan"
        ]
    );
    for part in [
        "Mode: Streaming\nIndices to build: 0\nTransforms: 1\nOutput projections: 2\nDAG nodes: 4\n",
        "arbitration: BackPressurePreferred -> Priority (pause at 0.80·limit, resume below 0.70·limit)\n",
        "source.orders:\n  ordering: <none>\n",
        "  buffer: streaming\n",
        "limit: 512M\n",
        "worker threads: 2\n",
        "● [source] orders (toy)\n├─ [sink] raw (toy)\n└─ [transform] price\n   └─ [sink] out (toy)\n",
        "  bad.csv (pipeline-wide)\n    sources: orders\n    columns: _cxl_dlq_id, _cxl_dlq_trigger_id, ",
        "_cxl_dlq_trigger, id, qty, note, _cxl_dlq_source_record\n",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn eng_181_estimates_come_from_file_sizes() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("in")).expect("made");
    std::fs::write(folder.path().join("in/orders.toy"), vec![b'x'; 3 << 10]).expect("written");
    let plan = crate::compile(request(FEED, folder.path())).plan.expect("a plan");
    let text = explain_text(&plan, &ExplainSettings { threads: 1 });
    assert!(text.contains("predicted_peak=3K"), "{text}");
    assert!(text.contains("=== Statistics ===\n\norders: ≈3 rows [file metadata]\n"), "{text}");
    assert!(!text.contains("Dead-Letter"), "absent without a block");
}

/// A document with a Route, a Merge, two Sources and two dead-letter files.
const FLOW: &str = "\
pipeline: { name: \"a \\\"flow\\\"\" }
nodes:
  - { type: source, name: a, config: { name: s, type: toy, path: a, schema: [ { name: x, type: int } ] } }
  - { type: source, name: b, config: { name: s, type: toy, glob: \"b*\", schema: [ { name: x, type: float } ] } }
  - { type: route, name: r, input: a, config: { conditions: { big: \"x > 9\" , odd: \"x % 2  ==\\n 1\" }, default: rest } }
  - { type: merge, name: m, inputs: [ r.big, b ] }
  - { type: sink, name: out, input: m, config: { name: s, type: toy, path: out.toy } }
  - { type: sink, name: few, input: r.rest, config: { name: s, type: toy, path: few.toy } }
error_handling: { strategy: continue, dlq: { path: all.csv, per_source: { b: { path: b.csv } } } }
";

#[test]
fn eng_16_1_routes_merges_and_several_dead_letter_files() {
    let text = explain_text(&plan(FLOW), &ExplainSettings { threads: 2 });
    for part in [
        "[merge] m\n  mode: concat\n  inputs: r.big, b\n",
        "Route 'r':\n  Mode: exclusive\n  Branch: big -> m\n  Branch: odd -> (unconsumed)\n  Default: rest -> few\n",
        "[route:exclusive] r:\n  branch big: Bool = x > 9\n  branch odd: Bool = x % 2 == 1\n",
        "merge.m:\n  ordering: <none>\n  ordering_provenance: NoOrdering\n  partitioning: Single\n",
        "● [source] b (toy)\n│  ● [source] a (toy)\n│  └─ [route:exclusive] r\n│     ├─ [sink] few (toy)\n└─────┴─ [merge] m\n\
         \x20  └─ [sink] out (toy)\n",
        "  all.csv (pipeline-wide)\n    sources: a\n    columns: _cxl_dlq_id, ",
        "_cxl_dlq_trigger, x, _cxl_dlq_source_record\n  b.csv\n    sources: b\n    columns: _cxl_dlq_id, ",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn eng_16_1_lanes_pass_by_what_they_do_not_concern() {
    // Declared upwards, the plan order of these is no walk along one branch after the other.
    let text = "\
pipeline: { name: up }
nodes:
  - { type: sink, name: p, input: x, config: { name: s, type: toy, path: p } }
  - { type: transform, name: x, input: a, config: { cxl: \"emit y = 1\" } }
  - { type: source, name: a, config: { name: s, type: toy, path: a, schema: [ { name: c, type: int } ] } }
  - { type: sink, name: q, input: a, config: { name: s, type: toy, path: q } }
  - { type: sink, name: z, input: a, config: { name: s, type: toy, path: z } }
";
    let text = explain_text(&plan(text), &ExplainSettings { threads: 2 });
    let tree = "● [source] a (toy)\n├─ [sink] z (toy)\n├─ [sink] q (toy)\n└─ [transform] x\n   └─ [sink] p (toy)\n";
    assert!(text.contains(tree), "{text}");
}

#[test]
fn dlq_96_json_has_the_files_of_the_text() {
    let json: serde_json::Value =
        serde_json::from_str(&explain_json(&plan(FLOW), &ExplainSettings { threads: 3 })).expect("JSON");
    let buckets = json["dead_letter"]["buckets"].as_array().expect("files");
    assert_eq!(buckets.len(), 2);
    assert_eq!((&buckets[0]["path"], &buckets[0]["fallback"]), (&"all.csv".into(), &true.into()));
    assert_eq!(buckets[1]["sources"], serde_json::json!(["b"]));
    let header = buckets[1]["header"].as_array().expect("columns");
    assert_eq!(header.len(), 15);
    assert_eq!(header[14], "_cxl_dlq_source_record");
    let without: serde_json::Value =
        serde_json::from_str(&explain_json(&plan(FEED), &ExplainSettings { threads: 3 })).expect("JSON");
    assert!(without.get("dead_letter").is_none(), "absent without a block");
}

#[test]
fn eng_200_json_carries_the_facts_of_the_text() {
    let json: serde_json::Value =
        serde_json::from_str(&explain_json(&plan(FLOW), &ExplainSettings { threads: 3 })).expect("JSON");
    assert_eq!(json["schema_version"], "1");
    let ids: Vec<&str> =
        json["nodes"].as_array().expect("nodes").iter().filter_map(|node| node["id"].as_str()).collect();
    assert_eq!(ids, ["source.b", "source.a", "route.r", "sink.few", "merge.m", "sink.out"]);
    let merge = &json["nodes"][4];
    assert_eq!(merge["depends_on"], serde_json::json!(["route.r", "source.b"]));
    assert_eq!(merge["fields"], serde_json::json!([{ "name": "x", "type": "float" }]));
    let branches = &json["nodes"][2]["branches"];
    assert_eq!(branches[0], serde_json::json!({ "name": "big", "default": false, "targets": ["merge.m"] }));
    assert_eq!(branches[2], serde_json::json!({ "name": "rest", "default": true, "targets": ["sink.few"] }));
    assert_eq!(json["nodes"][2]["expressions"][1], "branch odd: Bool = x % 2 == 1");
    assert_eq!(json["node_properties"]["b"]["partitioning"], "FilePartitioned($source.file)");
    assert_eq!(json["node_properties"]["m"]["partitioning"], "Single");
    assert_eq!(json["memory"]["worker_threads"], 3);
    assert_eq!(json["statistics"]["a"]["rows"], serde_json::Value::Null, "an unknown size is no zero");
    assert_eq!(json["nodes"][5]["output"]["path"], "out.toy");
}

#[test]
fn eng_200_dot_has_all_nodes_and_edges() {
    let text = explain_dot(&plan(FLOW));
    assert!(text.starts_with("digraph \"a \\\"flow\\\"\" {\n"), "{text}");
    assert!(text.ends_with("}\n"));
    for line in [
        "  \"route.r\" [label=\"[route:exclusive] r\"];",
        "  \"source.a\" -> \"route.r\" [label=\"data\"];",
        "  \"route.r\" -> \"merge.m\" [label=\"data:big\"];",
        "  \"source.b\" -> \"merge.m\" [label=\"data\"];",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    assert_eq!(text.matches(" -> ").count(), 5);
}

#[test]
fn pipeline_2_environment_values_stay_out_of_explain() {
    let text = feed("qty * 2", "qty * '${SECRET}'.length()")
        .replace("cxl:", "validations: [ { check: \"'${SECRET}' != 'x'\" } ], cxl:");
    let plan = plan(&text);
    let settings = ExplainSettings { threads: 1 };
    for shown in [explain_text(&plan, &settings), explain_json(&plan, &settings)] {
        assert!(!shown.contains("hush"), "{shown}");
        assert!(shown.contains("qty * '${SECRET}'.length()"), "{shown}");
        assert!(shown.contains("validation '${SECRET}' != 'x'"), "{shown}");
    }
}
