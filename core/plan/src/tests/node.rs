//! Sources.

use clinker_format::input::Compression;
use clinker_record::{Decimal, Value};

use super::*;
use crate::OnUnmapped;

/// `FEED` with more keys in the Source's `config`.
fn with(keys: &str) -> String {
    feed("      path: in/orders.toy\n", &format!("      path: in/orders.toy\n      {keys}\n"))
}

/// `FEED` with another first column.
fn column(column: &str) -> String {
    feed("- { name: id, type: int }", &format!("- {column}"))
}

#[test]
fn e201_a_source_needs_a_schema() {
    let text = "pipeline: { name: x }\nnodes:\n  - type: source\n    name: a\n    config:\n      ‹name: a\n      type: toy\n      path: a\n\
                \x20 - { type: sink, name: o, input: a, config: { name: o, type: toy, path: o } }\n";
    expect(text, &[("E201", "source `a` has no `schema`")]);
}

#[test]
fn formats_1_3_column_attributes() {
    let plan = plan(&column(
        "{ name: id, type: \"nullable(decimal)\", source_name: nr, scale: 2, precision: 9, default: \"1.50\", required: true, \
         coerce: false, long_unique: true, description: x }",
    ));
    let first = &source(&plan).columns[0];
    assert_eq!(&*first.input_name, "nr");
    assert_eq!((first.rule.precision, first.rule.scale), (Some(9), Some(2)));
    assert_eq!(first.rule.default, Some(Value::Decimal(Decimal::new(150, 2).expect("small"))));
    assert!(first.rule.required && !first.rule.coerce && first.rule.ty.nullable);
    assert_eq!(
        source(&self::plan(&column("{ name: id, type: { nullable: date }, format: \"%d.%m.%Y\" }"))).columns[0]
            .rule
            .formats
            .len(),
        1
    );
}

#[test]
fn formats_1_3_bad_columns() {
    expect(&column("{ name: id, type: ‹nmeric }"), &[("E000", "unknown type `nmeric`")]);
    expect(&column("{ name: id, type: int, ‹nam: x }"), &[("E000", "unknown key `nam`")]);
    expect(&column("‹{ name: id }"), &[("E000", "lacks the key `type`")]);
    expect(&column("{ name: ‹\"\", type: int }"), &[("E000", "empty")]);
    expect(&column("{ name: ‹'a\\b', type: int }"), &[("E000", "backslash")]);
    expect(
        &feed("- { name: qty, type: int }", "- ‹{ name: id, type: int }").replace("qty * 2", "id * 2"),
        &[("E000", "two columns are named `id`")],
    );
    expect(&column("{ name: id, type: int, format: ‹\"%d\" }"), &[("E000", "needs type `date` or `date_time`")]);
    expect(&column("{ name: id, type: int, ‹width: 3 }"), &[("E000", "`width` of a column is not available")]);
}

#[test]
fn e158_numeric_is_no_column_type() {
    expect(&column("{ name: id, type: ‹numeric }"), &[("E158", "`int`, `float` or `decimal`")]);
    expect(&column("{ name: id, type: ‹nullable(numeric) }"), &[("E158", "numeric")]);
    expect(&column("{ name: id, type: { nullable: ‹numeric } }"), &[("E158", "numeric")]);
}

#[test]
fn e403_defaults_enums_and_digits() {
    expect(&column("{ name: id, type: int, default: ‹x }"), &[("E403", "no `int`")]);
    expect(&column("{ name: id, type: int, default: ‹null }"), &[("E403", "null")]);
    expect(&column("{ name: id, type: string, enum: [a], default: ‹b }"), &[("E403", "`enum`")]);
    expect(&column("{ name: id, type: string, enum: ‹[] }"), &[("E403", "lists no value")]);
    expect(&column("{ name: id, type: int, enum: ‹[a] }"), &[("E403", "needs type `string`")]);
    expect(&column("{ name: id, type: decimal, scale: ‹29 }"), &[("E403", "0 to 28")]);
    expect(&column("{ name: id, type: int, scale: ‹2 }"), &[("E403", "needs type `decimal`")]);
    expect(&column("{ name: id, type: decimal, precision: 1, scale: ‹2 }"), &[("E403", "larger than")]);
    expect(&column("{ name: id, type: decimal, scale: 1, default: ‹\"1.55\" }"), &[("E403", "no `decimal`")]);
}

#[test]
fn e157_schema_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = feed(
        "      schema:\n        - { name: id, type: int }\n        - { name: qty, type: int }\n        - { name: note, type: string }\n",
        "      schema: cols.yaml\n",
    );
    let compiled = || crate::compile(request(&text, folder.path()));
    let file = folder.path().join("cols.yaml");
    let first = || compiled().diagnostics.into_iter().next().expect("a report");
    assert_eq!(first().code, Some("E157"), "missing");
    std::fs::write(&file, "other.yaml\n").expect("written");
    assert!(first().message.contains("names another file"));
    std::fs::write(&file, "- { name: qty, typ: int }\n").expect("written");
    let report = first();
    assert_eq!((report.code, report.labels[0].source.name.as_str()), (Some("E157"), "cols.yaml"));
    std::fs::write(&file, "- { name: qty, type: numeric }\n").expect("written");
    assert_eq!(first().code, Some("E158"));
    std::fs::write(&file, "- { name: qty, type: int\n").expect("written");
    assert_eq!(first().code, Some("E157"), "unparsable");
    std::fs::write(&file, "- { name: qty, type: int }\n").expect("written");
    assert!(compiled().plan.is_some());
}

#[test]
fn e159_generated_columns_need_their_format() {
    let text = "pipeline: { name: x }\nnodes:\n  - { type: source, name: a, config: { name: a, type: toy, path: a, schema: ‹{ generated: {} } } }\n\
                \x20 - { type: sink, name: o, input: a, config: { name: o, type: toy, path: o } }\n";
    expect(text, &[("E159", "list the columns")]);
    let text = text.replace("{ generated: {} }", "{ discriminator: {}, records: [] }");
    expect(&text, &[("E000", "a multi-record layout of `schema` is not available")]);
}

#[test]
fn e210_to_e218_file_selection() {
    expect(&with("glob: ‹\"*.toy\""), &[("E210", "path")]);
    expect(
        &feed("      path: in/orders.toy\n", "").replace("config:\n      name: orders", "config:\n      ‹name: orders"),
        &[("E211", "")],
    );
    let matcher = |matcher: &str| feed("path: in/orders.toy", matcher);
    expect(&matcher("glob: ‹\"in/[.toy\""), &[("E212", "")]);
    expect(&matcher("regex: ‹\"in/(\""), &[("E213", "")]);
    expect(&with("modified_after: ‹soon"), &[("E214", "")]);
    expect(&with("min_size: ‹1kib"), &[("E215", "")]);
    expect(&with("files: ‹{ take_first: 1, take_last: 2 }"), &[("E218", "")]);
    expect(&with("files: { sort_by: ‹size }"), &[("E000", "`name`, `created`, `modified`")]);
    let plan = plan(&matcher("paths: [a.toy, b.toy]"));
    assert_eq!(source(&plan).files.paths.as_deref().map(|paths| paths.len()), Some(2));
    self::plan(&with("min_size: 1KB\n      max_size: 2000\n      modified_before: 3d\n      exclude: [\"*.bak\"]"));
}

#[test]
fn e_sec_001_source_paths_stay_below_the_base() {
    for path in ["../a", "/etc/a", "a/%2e%2E/b"] {
        expect(&feed("in/orders.toy", &format!("‹\"{path}\"")), &[("E-SEC-001", "source `orders`")]);
    }
    let mut request = request(&feed("in/orders.toy", "/etc/a"), Path::new("/base"));
    request.allow_absolute_paths = true;
    assert!(crate::compile(request).plan.is_some());
}

#[test]
fn e400_formats_by_name_and_direction() {
    expect(&feed("      type: toy", "      type: ‹tyo"), &[("E400", "did you mean `toy`?")]);
    expect(&feed("name: out, type: toy", "name: out, type: ‹readonly"), &[("E400", "cannot be written")]);
}

#[test]
fn e401_option_faults_of_a_format_point_at_the_option() {
    expect(&with("options: { strict: true, mark: ‹\"ab\" }"), &[("E401", "`orders`: mark \"ab\" is not one byte")]);
}

#[test]
fn formats_1_1_options_are_strict() {
    expect(&with("options: { ‹mork: x }"), &[("E000", "did you mean `mark`?")]);
    expect(&with("options: { mark: ‹1 }"), &[("E000", "quote it")]);
    expect(&with("options: { strict: ‹yes }"), &[("E000", "`true` or `false`")]);
    expect(&with("options: { most: ‹1KiB }"), &[("E000", "a size")]);
    expect(&with("options: { ends: ‹cr }"), &[("E000", "`lf` or `crlf`")]);
    expect(&with("options: { digits: ‹12 }"), &[("E403", "1 to 9")]);
    expect(&with("options: ‹[]"), &[("E000", "must be a map")]);
    expect(&with("options: { ‹mork: x, mark: ‹ab }"), &[("E000", "`mark`"), ("E401", "one byte")]);
    plan(&with("options: { most: 5MB, digits: 3, ends: crlf, strict: false }"));
}

#[test]
fn e410_compression_words() {
    assert_eq!(source(&plan(&with("compression: gzip"))).compression, Compression::Gzip);
    assert_eq!(source(&plan(FEED)).compression, Compression::Auto);
    expect(&with("compression: ‹gzp"), &[("E410", "did you mean `gzip`?")]);
    expect(&feed("path: out.toy", "path: out.toy, compression: ‹auto"), &[("E410", "no compression of a sink")]);
}

#[test]
fn nodes_2_3_undeclared_fields() {
    assert_eq!(source(&plan(&with("on_unmapped: { mode: reject }"))).on_unmapped, OnUnmapped::Reject);
    let dropped = plan(&with("on_unmapped: { mode: drop }"));
    assert!(!dropped.nodes.iter().any(|node| node.widened));
    assert!(plan(FEED).nodes.iter().all(|node| node.widened));
    expect(&with("on_unmapped: { mode: ‹keep }"), &[("E000", "`auto_widen`, `drop`, `reject`")]);
}

#[test]
fn e358_e361_split_values() {
    let tags = |more: &str, column: &str| {
        let text = with(more);
        text.replace("{ name: note, type: string }", column)
    };
    let multiple = "{ name: note, type: string, multiple: true, source_name: tags }";
    let plan = plan(&tags("split_values: [ { field: tags, delimiter: \"|\", escape: \"\\\\\" } ]", multiple));
    let split = source(&plan).columns[2].rule.split.clone().expect("a split");
    assert_eq!((split.delimiter.as_str(), split.escape, split.json), ("|", Some('\\'), false));
    assert_eq!(plan.nodes[0].schema.columns[2].1.kind, clinker_record::Kind::Array);
    expect(
        &tags("split_values: [ ‹note ]", multiple).replace("- { name: note", "- ‹{ name: note"),
        &[("E358", "the input field is `tags`"), ("E361", "add `split_values: [ tags ]`")],
    );
    expect(&tags("split_values: [ tags, ‹tags ]", multiple), &[("E358", "second time")]);
    expect(&tags("split_values: [ ‹id ]", "{ name: note, type: string }"), &[("E358", "holds one value")]);
    expect(
        &tags("split_values: [ ‹{ field: tags, escape: x, json: true } ]", multiple)
            .replace("- { name: note", "- ‹{ name: note"),
        &[("E358", "both `escape` and `json`"), ("E361", "")],
    );
    expect(
        &tags("compression: none", multiple).replace("- { name: note", "- ‹{ name: note"),
        &[("E361", "add `split_values")],
    );
}

#[test]
fn e358_e403_split_to_rows() {
    let with = |more: &str| with(more).replacen("type: toy", "type: nested", 1);
    let plan = plan(&with(
        "split_to_rows: [ lines, { field: a.b, mode: split, keep_empty: false, position_column: n } ]\n      \
                           max_output_rows_per_input: 3",
    ));
    let source = source(&plan);
    assert_eq!((source.expands, source.max_rows), (true, Some(3)));
    for (rules, problem) in [
        ("lines, ‹lines", "a second time"),
        ("‹a..b", "empty segment"),
        ("a, ‹a.b", "takes the fields of `a` to the top level, where `a.b` is `b`"),
        ("a.b, ‹{ field: a, position_column: n }", "takes the fields of `a`"),
        ("{ field: a, position_column: n }, ‹{ field: b, position_column: n }", "of the one for `a`"),
        ("‹{ field: a, position_column: \"\" }", "empty `position_column`"),
    ] {
        expect(&with(&format!("split_to_rows: [ {rules} ]")), &[("E358", problem)]);
    }
    self::plan(&with("split_to_rows: [ { field: a, mode: split }, a.b, ab ]"));
    let note = "{ name: note, type: string }";
    let multiple = with("split_to_rows: [ ‹tags ]")
        .replace(note, "{ name: note, type: string, multiple: true, source_name: tags }");
    expect(&multiple, &[("E358", "column `note`, which is `multiple`")]);
    expect(&with("split_to_rows: [ { field: a, ‹modes: split } ]"), &[("E000", "did you mean `mode`")]);
    expect(&with("split_to_rows: [ { field: a, mode: ‹both } ]"), &[("E000", "")]);
    expect(&with("split_to_rows: [ a ]\n      max_output_rows_per_input: ‹0"), &[("E403", "at least 1")]);
    expect(&with("‹max_output_rows_per_input: 3"), &[("E358", "`split_to_rows`, which is not given")]);
    expect(&self::with("split_to_rows: [ ‹a ]"), &[("E358", "format `toy` does not read `split_to_rows`")]);
}

#[test]
fn e360_array_paths_are_gone() {
    expect(&with("‹array_paths: [a]"), &[("E360", "split_to_rows")]);
}

#[test]
fn e223_e219_no_network_source() {
    let text = with("transport: ‹{ kind: rest }").replace("      path: in", "      ‹path: in");
    expect(&text, &[("E219", "`path` names files"), ("E223", "not built into this version")]);
    expect(&text.replace("      ‹path: in/orders.toy\n", ""), &[("E223", "read files")]);
}

#[test]
fn e349_a_rest_source_has_no_sections() {
    let text = with("‹envelope: { sections: {} }\n      transport: ‹{ kind: rest }")
        .replace("      path: in/orders.toy\n", "");
    expect(&text, &[("E349", "remove `envelope`"), ("E223", "not built into this version")]);
}

#[test]
fn e366_declared_order_that_cannot_be() {
    expect(&with("‹on_unsorted: error"), &[("E366", "needs `sort_order`")]);
    expect(&with("sort_order: ‹[]"), &[("E366", "lists no field")]);
    expect(&with("sort_order: [id, ‹id]"), &[("E366", "`sort_order` lists `id` twice")]);
    expect(&with("sort_order: [‹idx]"), &[("E366", "which is no incoming column")]);
    expect(&with("sort_order: [{ field: ‹id, null_order: drop }]"), &[("E366", "would lose records")]);
    expect(&with("sort_order: [id]\n      on_unsorted: ‹maybe"), &[("E000", "`warn`, `error`")]);
    let plan = plan(&with("sort_order: [{ field: id, order: desc, null_order: first }]\n      on_unsorted: error"));
    let crate::Operator::Source(source) = &plan.nodes[0].operator else { panic!("a source") };
    let order = source.order.as_ref().expect("an order");
    assert!(order.refuses && order.keys[0].key.descending);
}

#[test]
fn nodes_2_1_source_keys_that_are_not_built() {
    for key in ["correlation_key: id", "watermark: { column: id }", "dlq_granularity: document", "resource: r"] {
        let name = key.split(':').next().expect("a key");
        expect(&with(&format!("‹{key}")), &[("E000", &format!("`{name}` of a source's `config` is not available"))]);
    }
    expect(&with("transport: ‹ftp"), &[("E000", "`file`, or a map with `kind: rest`")]);
    plan(&with("dlq_granularity: record\n      split_to_rows: []\n      transport: file"));
}
