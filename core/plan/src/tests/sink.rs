//! Sinks.

use super::*;
use crate::{IfExists, ProjectedFrom, WidenedColumns};

/// `FEED` with more keys in the Sink's `config`.
fn with(keys: &str) -> String {
    feed("path: out.toy }", &format!("path: out.toy, {keys} }}"))
}

fn written(keys: &str) -> Vec<String> {
    columns(sink(&plan(&with(keys)))).into_iter().map(str::to_string).collect()
}

#[test]
fn nodes_11_2_which_columns_are_written() {
    assert_eq!(written("include_unmapped: true"), ["id", "qty", "note", "total"]);
    assert_eq!(written("include_unmapped: false"), ["total"]);
    assert_eq!(written("exclude: [qty, note]"), ["id", "total"]);
    assert_eq!(written("include_unmapped: false, mapping: [ note, { sum: total } ]"), ["note", "sum"]);
    assert_eq!(written("mapping: [ total, { nr: id }, { again: id } ]"), ["total", "nr", "again", "qty", "note"]);
    let direct = plan(
        &feed("input: price", "input: orders").replace("path: out.toy }", "path: out.toy, include_unmapped: false }"),
    );
    assert_eq!(columns(sink(&direct)), ["id", "qty", "note"], "every column of a Source counts as emitted");
}

#[test]
fn nodes_11_2_undeclared_fields_follow() {
    let plan = plan(&with("exclude: [extra], mapping: [ { far: away } ]"));
    let projection = &sink(&plan).projection;
    assert_eq!(projection.columns[0].from, ProjectedFrom::Widened("away".into()));
    let WidenedColumns::Append { except } = &projection.widened else { panic!("appended") };
    let except: Vec<&str> = except.iter().map(|name| &**name).collect();
    assert_eq!(except, ["id", "qty", "note", "total", "extra", "away", "far"]);
    assert_eq!(sink(&self::plan(&with("include_unmapped: false"))).projection.widened, WidenedColumns::None);
}

#[test]
fn e364_bad_mappings() {
    expect(&with("mapping: ‹{ a: id }"), &[("E364", "write `mapping: [ { a: id } ]`")]);
    expect(&with("mapping: ‹[]"), &[("E364", "is empty")]);
    expect(&with("mapping: [ { a: id }, ‹{ a: qty } ]"), &[("E364", "twice")]);
    expect(&with("mapping: [ ‹[id] ]"), &[("E364", "malformed")]);
    expect(&with("exclude: [id], mapping: [ ‹id ]"), &[("E364", "which `exclude` drops")]);
    expect(&with("mapping: [ ‹{ qty: id } ]"), &[("E364", "unlisted column `qty`")]);
    expect(&with("include_unmapped: false, exclude: [ ‹nots ]"), &[("E364", "did you mean `note`?")]);
}

#[test]
fn e364_a_sink_that_would_write_no_column() {
    let none = "include_unmapped: false, exclude: [ ‹total ]";
    expect(&with(none), &[("E364", "`exclude` drops every column")]);
    plan(&with("include_unmapped: false, exclude: [ total ], mapping: [ id ]"));
    // Undeclared fields may still come.
    plan(&with("include_unmapped: true, exclude: [ id, qty, note, total ]"));
    let filtered = with("include_unmapped: false").replace("emit total = qty * 2", "‹filter qty > 2");
    let silent = filtered.replace("config: { name: out,", "config: ‹{ name: out,");
    expect(&silent, &[("", "emits nothing"), ("E364", "emit no column")]);
}

#[test]
fn e365_a_mapping_of_a_column_that_cannot_exist() {
    expect(&with("include_unmapped: false, mapping: [ ‹totl ]"), &[("E365", "did you mean `total`?")]);
    plan(&with("mapping: [ totl ]"));
}

#[test]
fn nodes_11_2_decimals_are_rounded_by_the_sinks_schema() {
    let plan = plan(&with("schema: [ { name: total, type: decimal, scale: 2 } ]"));
    let rounds: Vec<Option<u8>> = sink(&plan).projection.columns.iter().map(|column| column.round).collect();
    assert_eq!(rounds, [None, None, None, Some(2)]);
}

#[test]
fn operations_15_3_if_exists() {
    assert_eq!(sink(&plan(FEED)).if_exists, IfExists::Overwrite);
    assert_eq!(sink(&plan(&with("if_exists: error"))).if_exists, IfExists::Error);
    assert_eq!(
        sink(&plan(&with("if_exists: unique_suffix, unique_suffix_width: 3"))).if_exists,
        IfExists::UniqueSuffix { width: 3 }
    );
    expect(&with("if_exists: ‹eror"), &[("E000", "it is `eror` did you mean `error`?")]);
    expect(&with("unique_suffix_width: ‹3"), &[("E000", "needs `if_exists: unique_suffix`")]);
    expect(&feed("path: out.toy", "path: ‹\"out{n}.toy\""), &[("E000", "needs `if_exists: unique_suffix`")]);
}

#[test]
fn pipeline_8_4_templates_bind_their_source() {
    let plan = plan(&feed("path: out.toy", "path: \"{source_name}_{channel:a:b}.toy\""));
    assert_eq!(sink(&plan).path.planned(&plan.pipeline_hash), "orders_.toy");
    expect(&feed("path: out.toy", "path: ‹\"{source_name:price}.toy\""), &[("E000", "no Source above this Sink")]);
    let several =
        feed("path: in/orders.toy", "glob: \"in/*.toy\"").replace("path: out.toy", "path: ‹\"{source_name}.toy\"");
    expect(&several, &[("E000", "needs one input path")]);
    expect(&feed("path: out.toy", "path: ‹\"{sorce_name}.toy\""), &[("E000", "did you mean `source_name`?")]);
    assert!(sink(&self::plan(&feed("path: out.toy", "path: \"o/{source_file}.toy\""))).path.per_source_file());
}

#[test]
fn e_sec_001_outputs() {
    expect(&feed("path: out.toy", "path: ‹/data/out.toy"), &[("E-SEC-001", "is absolute")]);
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("real")).expect("made");
    std::os::unix::fs::symlink(folder.path().join("real"), folder.path().join("link")).expect("linked");
    let compiled =
        |path: &str| crate::compile(request(&feed("path: out.toy", &format!("path: {path}")), folder.path()));
    let linked = compiled("link/out.toy");
    assert_eq!(linked.diagnostics[0].code, Some("E-SEC-001"));
    assert!(linked.diagnostics[0].message.contains("symbolic link"));
    assert!(compiled("real/out.toy").plan.is_some());
}

#[test]
fn e322_two_outputs_of_one_file() {
    let second = "  - { type: sink, name: twin, input: price, config: { name: t, type: toy, path: ‹./out.toy } }\n";
    expect(&format!("{FEED}{second}"), &[("E322", "sink `out` and sink `twin`")]);
    let text = feed("path: out.toy", "path: ‹out.toy");
    expect(
        &format!("{text}error_handling: {{ strategy: continue, dlq: {{ path: ./out.toy }} }}\n"),
        &[("E322", "the dead-letter file and sink `out`")],
    );
    let folder = tempfile::tempdir().expect("a folder");
    let absolute = folder.path().canonicalize().expect("a path").join("out.toy");
    let text = format!("{FEED}{}", second.replace("‹./out.toy", &absolute.display().to_string()));
    let mut request = request(&text, folder.path());
    request.allow_absolute_paths = true;
    assert_eq!(crate::compile(request).diagnostics[0].code, Some("E322"), "relative and absolute spelling");
}

#[test]
fn e362_join_values() {
    let join = |entry: &str| with(&format!("join_values: [ {entry} ]"));
    expect(&join("note, ‹note"), &[("E362", "second time")]);
    expect(&join("‹{ field: note, delimiter: \"\" }"), &[("E362", "empty `delimiter`")]);
    expect(&join("‹{ field: note, delimiter: ab }"), &[("E362", "longer than one character")]);
    expect(&join("‹{ field: note, on_conflict: escape, escape: \";\" }"), &[("E362", "the same character")]);
    expect(&join("{ field: note, ‹repeat_as: x }"), &[("E362", "does not read `repeat_as`")]);
    plan(&join("{ field: note, delimiter: ab, on_conflict: encode_json }"));
    let text = with("join_values: ‹[ note ]").replace("name: out, type: toy", "name: out, type: plain");
    expect(&text, &[("E362", "does not read `join_values`")]);
}

#[test]
fn e359_lists_need_a_format_that_writes_them() {
    let text = feed("      path: in/orders.toy\n", "      path: in/orders.toy\n      split_values: [note]\n")
        .replace("{ name: note, type: string }", "{ name: note, type: string, multiple: true }")
        .replace("config: { name: out, type: toy", "config: ‹{ name: out, type: plain");
    expect(&text, &[("E359", "column `note` holds several values")]);
    plan(&text.replace('‹', "").replace("path: out.toy", "path: out.toy, exclude: [note]"));
    let text = with("schema: [ ‹{ name: total, type: int, multiple: true } ]")
        .replace("name: out, type: toy", "name: out, type: plain");
    expect(&text, &[("E359", "is `multiple`")]);
}

#[test]
fn nodes_11_1_sink_keys_that_are_not_built() {
    for key in ["reconstruct_envelope: true", "include_correlation_keys: true"] {
        let name = key.split(':').next().expect("a key");
        expect(&with(&format!("‹{key}")), &[("E000", &format!("`{name}` of a sink's `config` is not available"))]);
    }
    expect(&with("options: { ‹envelope: {} }"), &[("E000", "`envelope` of `options` is not available")]);
    plan(&with(
        "write_meta: false, reconstruct_envelope: false, include_correlation_keys: false, preserve_nulls: true, include_header: false, correlation_fanout_policy: all",
    ));
}

#[test]
fn nodes_11_4_an_output_as_several_files() {
    use crate::OversizeGroup;
    let plan = plan(&with(
        "split: { max_records: 5, max_bytes: 900, group_key: note, naming: \"{stem}-{seq:3}\", \
         repeat_header: false, oversize_group: error }",
    ));
    let split = sink(&plan).split.as_ref().expect("a split");
    assert_eq!((split.max_records, split.max_bytes, split.group_key), (Some(5), Some(900), Some(2)));
    assert_eq!((&*split.naming, split.repeat_header), ("{stem}-{seq:3}", false));
    assert_eq!(split.oversize_group, OversizeGroup::Error);
    let least = self::plan(&with("split: { max_bytes: 1 }"));
    let split = sink(&least).split.as_ref().expect("a split");
    assert_eq!((&*split.naming, split.repeat_header), ("{stem}_{seq:04}.{ext}", true));
    assert_eq!((split.oversize_group, split.group_key), (OversizeGroup::Warn, None));
    let none = self::plan(FEED);
    assert!(sink(&none).split.is_none() && !sink(&none).write_meta);
}

#[test]
fn e367_names_of_split_files() {
    for naming in
        ["x", "{seq}", "{seq:0}", "{seq:21}", "{seq:x}", "{seq:1}{seq:2}", "{stem}{seq:2}{n}", "{seq:2}}", "{seq:2}{"]
    {
        let text = with(&format!("split: {{ max_records: 1, naming: ‹\"{naming}\" }}"));
        expect(&text, &[("E367", "{stem}_{seq:04}.{ext}")]);
    }
    expect(&with("split: { max_records: 1, naming: ‹\"../{seq:2}\" }"), &[("E367", "not a path")]);
    for naming in ["{seq:1}", "{seq:20}", "{ext}{seq:007}{stem}"] {
        plan(&with(&format!("split: {{ max_records: 1, naming: \"{naming}\" }}")));
    }
}

#[test]
fn nodes_11_4_bad_splits() {
    expect(&with("split: ‹{}"), &[("E000", "no threshold")]);
    expect(&with("split: { max_records: ‹0 }"), &[("E000", "at least 1")]);
    expect(&with("split: { max_bytes: ‹1MB }"), &[("E000", "`max_bytes` of `split` must be an integer")]);
    expect(&with("split: { max_records: 1, group_key: ‹nots }"), &[("E000", "did you mean `note`?")]);
    expect(&with("split: { max_records: 1, oversize_group: ‹skip }"), &[("E000", "`warn`, `error`, `allow`")]);
    expect(&with("write_meta: ‹1"), &[("E000", "`true` or `false`")]);
    let plain = feed("type: toy, path: out.toy }", "type: plain, path: out.toy, ‹split: { max_records: 1 } }");
    expect(&plain, &[("E338", "an output of format `plain` cannot be split")]);
}

#[test]
fn nodes_11_3_an_order_names_incoming_columns_of_single_values_once() {
    expect(&with("sort_order: ‹[]"), &[("E000", "`sort_order` lists no field")]);
    expect(&with("sort_order: [id, ‹id]"), &[("E000", "`sort_order` lists `id` twice")]);
    let dropping = with("sort_order: [ ‹nots ]")
        .replace("path: in/orders.toy", "path: in/orders.toy\n      on_unmapped: { mode: drop }");
    expect(&dropping, &[("E000", "did you mean `note`?")]);
    expect(&with("sort_order: [ { field: id, order: ‹up } ]"), &[("E000", "`asc`, `desc`")]);
    expect(&with("sort_order: [ { field: id, null_order: ‹gone } ]"), &[("E000", "`first`, `last`, `drop`")]);
    expect(&with("sort_order: [ ‹{ order: asc } ]"), &[("E000", "lacks the key `field`")]);
    let plan = plan(&with("sort_order: [ note, { field: id, order: desc, null_order: drop } ]"));
    let sink = sink(&plan);
    let keys: Vec<_> = sink.sort.iter().map(|key| (&*key.name, key.key.descending, key.drops_null)).collect();
    assert_eq!(keys, [("note", false, false), ("id", true, true)]);
}
