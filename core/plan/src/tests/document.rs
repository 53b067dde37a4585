//! The document around the nodes.

use clinker_record::{Kind, Value};

use super::*;
use crate::Strategy;

#[test]
fn a_plain_feed_compiles() {
    let plan = plan(FEED);
    assert_eq!(&*plan.name, "feed");
    assert_eq!(plan.batch_size, 2048);
    assert_eq!(plan.memory.limit, 512 << 20);
    assert_eq!(plan.memory.backpressure, "pause");
    assert_eq!(plan.memory.resume_threshold, 0.70);
    assert_eq!(plan.failures.strategy, Strategy::FailFast);
    assert!(!plan.failures.has_dlq_block);
    assert!(plan.dead_letters.is_empty());
    let names: Vec<&str> = plan.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["orders", "price", "out"]);
    let stages: Vec<&str> = plan.nodes.iter().map(|node| &*node.stage).collect();
    assert_eq!(stages, ["source", "transform:price", "output:out"]);
    assert_eq!(plan.nodes[1].schema.columns.len(), 4);
    assert_eq!(plan.nodes[1].emitted, [false, false, false, true]);
    assert_eq!(columns(sink(&plan)), ["id", "qty", "note", "total"]);
}

#[test]
fn e000_broken_yaml_points_at_its_place() {
    expect("pipeline: { name: x\nnodes‹: []\n", &[("E000", "not valid YAML")]);
}

#[test]
fn e000_a_document_that_is_no_map() {
    expect("‹- a\n", &[("E000", "the document must be a map")]);
    expect("‹", &[("E000", "the document must be a map")]);
}

#[test]
fn e000_unknown_keys_are_refused_with_the_nearest_name() {
    expect(
        &format!("{}‹error_handlng: {{}}\n", feed("name: feed }", "name: feed, ‹bach_size: 3 }")),
        &[("E000", "did you mean `batch_size`?"), ("E000", "did you mean `error_handling`?")],
    );
    expect(
        &feed("      type: toy\n      path", "      type: toy\n      ‹pth: a\n      path"),
        &[("E000", "unknown key `pth`")],
    );
}

#[test]
fn e000_wrong_shapes_and_missing_keys() {
    expect(&feed("name: feed", "name: ‹12"), &[("E000", "quote it: `name: \"12\"`")]);
    expect(&feed("{ name: feed }", "‹{}"), &[("E000", "lacks the key `name`")]);
    expect(&feed("name: feed }", "name: feed, batch_size: ‹0 }"), &[("E000", "pipeline.batch_size must be >= 1")]);
    expect(
        &feed("name: feed }", "name: feed, concurrency: { threads: ‹0 } }"),
        &[("E000", "`threads` of `concurrency` must be an integer of at least 1")],
    );
    expect(
        &feed("  - type: source\n    name: orders", "  - ‹type: source"),
        &[("E000", "a source lacks the key `name`")],
    );
}

#[test]
fn e000_memory_sizes_come_from_document_and_flag() {
    for (text, bytes) in [("64M", 64 << 20), ("1g", 1 << 30), ("4096", 4096), ("\"2K\"", 2048)] {
        let plan = plan(&feed("name: feed }", &format!("name: feed, memory: {{ limit: {text} }} }}")));
        assert_eq!(plan.memory.limit, bytes, "{text}");
    }
    for text in ["\"\"", "12X", "-1", "1.5G", "99999999999999999999G"] {
        let document = feed("name: feed }", &format!("name: feed, memory: {{ limit: ‹{text} }} }}"));
        expect(&document, &[("E000", "`memory.limit`")]);
    }
    let with_flag = |flag: &str| {
        let mut request = request(FEED, Path::new("/base"));
        request.memory_limit = Some(flag.to_string());
        crate::compile(request)
    };
    assert_eq!(with_flag("96M").plan.expect("a plan").memory.limit, 96 << 20);
    assert_eq!(with_flag("  ").plan.expect("a plan").memory.limit, 512 << 20);
    let refused = with_flag("lots");
    assert!(refused.plan.is_none());
    assert!(refused.diagnostics[0].message.contains("--memory-limit: `lots`"));
}

#[test]
fn e324_the_resume_threshold_lies_below_the_soft_one() {
    for value in ["0.8", "0", "-0.1", ".nan", "1"] {
        let text = feed("name: feed }", &format!("name: feed, memory: {{ resume_threshold: ‹{value} }} }}"));
        expect(&text, &[("E324", "above 0 and below 0.80")]);
    }
}

#[test]
fn e119_e124_e125_every_reserved_key_is_reported() {
    expect(
        &feed("name: feed }", "name: feed, ‹date_locale: , ‹log_rules: false, ‹include_provenance: [] }"),
        &[("E119", "`date_formats`"), ("E124", "outside the pipeline document"), ("E125", "write_meta: true")],
    );
}

#[test]
fn pipeline_2_environment_values_stay_secret_in_reports() {
    expect(&feed("name: feed }", "name: feed, memory: { limit: ‹\"${SECRET}\" } }"), &[("E000", "`${SECRET}`")]);
    expect(&feed("qty * 2", "‹${SECRET} * 2"), &[("E203", "${SECRET}")]);
    let compiled = compile(&feed("qty * 2", "${SECRET} * 2"));
    assert!(!format!("{:?}", compiled.diagnostics).contains("hush\""));
    assert!(!compiled.diagnostics[0].message.contains("hush"));
}

#[test]
fn pipeline_2_a_value_with_a_line_break_leaves_the_file_name() {
    let compiled = compile(&format!("# ${{LINES}}\n{}", feed("type: toy", "type: toi")));
    let message = &compiled.diagnostics[0].message;
    assert!(compiled.diagnostics[0].labels.is_empty() && message.starts_with("p.yaml: "), "{message}");
}

#[test]
fn pipeline_10_2_variables() {
    let plan = plan(&feed(
        "name: feed }",
        "name: feed, vars: { desk: { type: string, default: \"${DESK:-night}\" }, on: true, n: 3, f: { type: float, default: 2 }, \
         day: { type: date, default: 2031-02-03 }, at: { type: datetime, default: \"2031-02-03T04:05:06\" }, none: { type: int } } }",
    ));
    let var =
        |name: &str| plan.vars.iter().find(|(var, _)| var == name).map(|(_, value)| value.clone()).expect("declared");
    assert_eq!(var("desk"), Value::String("night".into()));
    assert_eq!(var("on"), Value::Bool(true));
    assert_eq!(var("n"), Value::Int(3));
    assert_eq!(var("f"), Value::Float(2.0));
    assert!(matches!(var("day"), Value::Date(_)));
    assert!(matches!(var("at"), Value::DateTime(_)));
    assert_eq!(var("none"), Value::Null);
}

#[test]
fn e116_defaults_must_match_their_type() {
    expect(
        &feed(
            "name: feed }",
            "name: feed, vars: { a: { type: int, default: ‹\"3\" }, b: { type: date, default: ‹02/03/2031 }, c: ‹null, \
             d: { type: string, default: ‹null } } }",
        ),
        &[("E116", "no `int`"), ("E116", "no `date`"), ("E116", "no value of a variable"), ("E116", "no `string`")],
    );
}

#[test]
fn pipeline_3_date_formats_replace_the_default_chain() {
    let text = feed("name: feed }", "name: feed, date_formats: [\"%d.%m.%Y\", \"%d.%m.%Y %H:%M\"] }");
    let text =
        text.replace("{ name: note, type: string }", "{ name: d, type: date }\n        - { name: t, type: date_time }");
    let plan = plan(&text);
    let formats = |at: usize| source(&plan).columns[at].rule.formats.len();
    assert_eq!((formats(0), formats(2), formats(3)), (0, 2, 1));
    assert_eq!(source(&plan).columns[2].rule.ty.kind, Kind::Date);
    expect(&feed("name: feed }", "name: feed, date_formats: [‹\"%Q\"] }"), &[("E000", "`date_formats`")]);
}

#[test]
fn what_is_not_built_is_refused_by_name() {
    expect(
        &feed("name: feed }", "name: feed, ‹rules_path: r, ‹metrics: { spool_dir: s } }"),
        &[("E000", "`rules_path` of `pipeline` is not available in this version"), ("E000", "`metrics`")],
    );
}

#[test]
fn pipeline_1_3_the_hash_covers_text_and_schema_files() {
    let first = plan(FEED).pipeline_hash;
    assert_eq!(first, plan(FEED).pipeline_hash);
    assert_ne!(first, plan(&format!("{FEED}# a remark\n")).pipeline_hash);
    let folder = tempfile::tempdir().expect("a folder");
    let text = feed(
        "      schema:\n        - { name: id, type: int }\n        - { name: qty, type: int }\n        - { name: note, type: string }\n",
        "      schema: cols.yaml\n",
    );
    let hash = |columns: &str| {
        std::fs::write(folder.path().join("cols.yaml"), columns).expect("written");
        crate::compile(request(&text, folder.path())).plan.expect("a plan").pipeline_hash
    };
    assert_ne!(hash("- { name: qty, type: int }"), hash("- { name: qty, type: float }"));
}
