//! The plan as text.

use super::*;
use crate::{ExplainSettings, explain_text, resolved_outputs};

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
