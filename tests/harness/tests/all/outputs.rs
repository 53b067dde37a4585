//! What becomes of outputs: policies, previews, cancellation, collisions.

use clinker_harness::{Command, Scratch, clinker};

/// A document with one source over `in.csv` and the given sink configuration lines.
fn document(sink: &str) -> String {
    format!(
        "pipeline: {{ name: outputs }}\nnodes:\n  - type: source\n    name: rows\n    config:\n      name: rows\n      \
         type: csv\n      path: in.csv\n      schema: [ {{ name: id, type: int }}, {{ name: town, type: string }} ]\n  - \
         type: sink\n    name: out\n    input: rows\n    config: {{ name: out, type: csv, {sink} }}\n"
    )
}

const ROWS: &str = "id,town\n1,Ume\n2,Kiruna\n";

fn scratch(sink: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("pipeline.yaml", document(sink)).write("in.csv", ROWS);
    scratch
}

#[test]
fn pb_15_3_error_refuses_an_existing_final_and_force_overwrites_it() {
    let scratch = scratch("path: out.csv, if_exists: error");
    scratch.write("out.csv", "old\n");
    let refused = clinker(scratch.path(), &["run", "pipeline.yaml"]);
    assert_eq!(refused.exit, 4, "{}", refused.stderr);
    assert!(refused.stderr.contains("if_exists: error") && refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(scratch.read("out.csv").as_deref(), Some("old\n"));
    assert_eq!(clinker(scratch.path(), &["run", "pipeline.yaml", "--force"]).exit, 0);
    assert_eq!(scratch.read("out.csv").as_deref(), Some(ROWS));
}

#[test]
fn pb_15_3_unique_suffix_takes_the_first_free_name() {
    let scratch = scratch("path: out.csv, if_exists: unique_suffix, unique_suffix_width: 3");
    for _ in 0..3 {
        assert_eq!(clinker(scratch.path(), &["run", "pipeline.yaml"]).exit, 0);
    }
    assert_eq!(scratch.files(), ["in.csv", "out-001.csv", "out-002.csv", "out.csv", "pipeline.yaml"]);
    assert_eq!(scratch.read("out-002.csv").as_deref(), Some(ROWS));
}

#[test]
fn pb_15_3_a_live_reservation_keeps_a_second_run_out_and_a_stale_one_does_not() {
    let scratch = scratch("path: out.csv");
    let path = scratch.path().join(".clinker-out.csv.reservation");
    let held = std::fs::File::create(&path).expect("a file");
    held.lock().expect("nobody else has it");
    let kept_out = clinker(scratch.path(), &["run", "pipeline.yaml"]);
    assert_eq!(kept_out.exit, 4, "{}", kept_out.stderr);
    assert!(kept_out.stderr.contains("still alive"), "{}", kept_out.stderr);
    drop(held);
    assert_eq!(clinker(scratch.path(), &["run", "pipeline.yaml"]).exit, 0);
    assert_eq!(scratch.files(), ["in.csv", "out.csv", "pipeline.yaml"]);
}

#[test]
fn e322_an_output_must_not_be_an_input() {
    for sink in ["path: in.csv", "path: ./in.csv"] {
        let scratch = scratch(sink);
        let outcome = clinker(scratch.path(), &["run", "pipeline.yaml"]);
        assert_eq!(outcome.exit, 1, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("E322") && outcome.stderr.contains("in.csv"), "{}", outcome.stderr);
        assert_eq!(scratch.read("in.csv").as_deref(), Some(ROWS));
    }
}

#[test]
fn pb_7_a_missing_output_folder_is_named_with_a_way_out() {
    let scratch = scratch("path: missing/out.csv");
    let outcome = clinker(scratch.path(), &["run", "pipeline.yaml"]);
    assert_eq!(outcome.exit, 4, "{}", outcome.stderr);
    let text = outcome.stderr.replace("\n", " ");
    assert!(text.contains("missing/out.csv") && text.contains("create the output folder"), "{}", outcome.stderr);
}

#[test]
fn eng_187_a_cancelled_run_publishes_nothing_and_exits_130() {
    let scratch = scratch("path: out.csv");
    scratch.write("out.csv", "old\n");
    let command = Command::new(scratch.path(), &["run", "pipeline.yaml"]);
    command.cancel.cancel();
    let outcome = command.run();
    assert_eq!(outcome.exit, 130, "{}", outcome.stderr);
    assert_eq!(scratch.read("out.csv").as_deref(), Some("old\n"));
    assert_eq!(scratch.files(), ["in.csv", "out.csv", "pipeline.yaml"]);
}

#[test]
fn operations_5_dry_run_prints_the_outputs_and_reads_nothing() {
    let scratch = scratch("path: \"out-{batch_id}.csv\", if_exists: error");
    let outcome = clinker(scratch.path(), &["run", "pipeline.yaml", "--dry-run", "--batch-id", "night-7"]);
    assert_eq!(outcome.exit, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.starts_with("=== Resolved Outputs ==="), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("'out' → ") && outcome.stdout.contains("out-night-7.csv"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("[if_exists=error, write_meta=false]"), "{}", outcome.stdout);
    assert_eq!(scratch.files(), ["in.csv", "pipeline.yaml"]);
}

#[test]
fn operations_5_a_preview_prints_at_most_n_records_and_publishes_nothing() {
    let scratch = scratch("path: out.csv");
    let outcome = clinker(scratch.path(), &["run", "pipeline.yaml", "--dry-run", "-n", "1"]);
    assert_eq!((outcome.exit, outcome.stdout.as_str()), (0, "id,town\n1,Ume\n"), "{}", outcome.stderr);
    let to_file = ["run", "pipeline.yaml", "--dry-run", "-n", "5", "--dry-run-output", "preview.csv"];
    assert_eq!(clinker(scratch.path(), &to_file).exit, 0);
    assert_eq!(scratch.read("preview.csv").as_deref(), Some(ROWS));
    assert_eq!(scratch.files(), ["in.csv", "pipeline.yaml", "preview.csv"]);
}

#[test]
fn dlq_35_a_preview_counts_dead_letters_and_writes_none() {
    let scratch = scratch("path: out.csv");
    let document = scratch.read("pipeline.yaml").expect("written above");
    scratch.write("pipeline.yaml", document + "error_handling: { strategy: continue, dlq: { path: bad.csv } }\n");
    scratch.write("in.csv", "id,town\nx,Ume\n2,Kiruna\n");
    let outcome = clinker(scratch.path(), &["run", "pipeline.yaml", "--dry-run", "-n", "9"]);
    assert_eq!((outcome.exit, outcome.stdout.as_str()), (2, "id,town\n2,Kiruna\n"), "{}", outcome.stderr);
    assert_eq!(scratch.files(), ["in.csv", "pipeline.yaml"]);
}

#[test]
fn pipeline_8_4_source_file_gives_each_input_an_output_of_its_own() {
    let scratch = scratch("path: \"{source_file}.clean.csv\"");
    let document =
        scratch.read("pipeline.yaml").expect("written above").replace("path: in.csv", "glob: \"part-*.csv\"");
    scratch.write("pipeline.yaml", document);
    scratch
        .write("part-a.csv", "id,town\n1,Ume\n")
        .write("part-b.csv", "town,id\nLund,2\n")
        .write("part-c.csv", "id,town\n");
    let outcome = clinker(scratch.path(), &["run", "pipeline.yaml"]);
    assert_eq!(outcome.exit, 0, "{}", outcome.stderr);
    assert_eq!(scratch.read("part-a.clean.csv").as_deref(), Some("id,town\n1,Ume\n"));
    assert_eq!(scratch.read("part-b.clean.csv").as_deref(), Some("id,town\n2,Lund\n"));
    assert_eq!(scratch.read("part-c.clean.csv").as_deref(), Some(""));
}

#[test]
fn formats_1_6_compressed_inputs_are_known_by_their_signature_and_outputs_as_asked() {
    use std::io::{Read, Write};
    let scratch = scratch("path: out.csv.gz, compression: gzip");
    // Two members, the second one continues the first.
    let mut bytes = Vec::new();
    for part in ["id,town\n1,Ume\n", "2,Kiruna\n"] {
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        member.write_all(part.as_bytes()).expect("into memory");
        bytes.extend(member.finish().expect("into memory"));
    }
    scratch.write("in.csv", &bytes);
    assert_eq!(clinker(scratch.path(), &["run", "pipeline.yaml"]).exit, 0);
    let written = std::fs::read(scratch.path().join("out.csv.gz")).expect("published");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&*written).read_to_string(&mut text).expect("one whole member");
    assert_eq!(text, ROWS);
    scratch.write("in.csv", zstd::encode_all(ROWS.as_bytes(), 1).expect("into memory"));
    assert_eq!(clinker(scratch.path(), &["run", "pipeline.yaml"]).exit, 0);
    scratch.write("in.csv", &bytes[..bytes.len() - 4]);
    let cut = clinker(scratch.path(), &["run", "pipeline.yaml"]);
    assert_eq!(cut.exit, 4, "{}", cut.stderr);
    assert!(cut.stderr.contains("E421"), "{}", cut.stderr);
}

#[test]
fn operations_2_1_usage_errors_exit_1_before_the_document_is_opened() {
    let scratch = Scratch::new();
    for (args, text) in [
        (vec!["run", "none.yaml", "--threads", "0"], "threads"),
        (vec!["run", "none.yaml", "-n", "3"], "--dry-run"),
        (vec!["run", "none.yaml", "--dry-run", "--explain"], "--explain"),
        (vec!["run", "none.yaml", "--batch-id", ""], "--batch-id"),
        (vec!["run", "none.yaml", "--machine", "ndjson-v1"], "`--machine` is not available in this version"),
        (vec!["run", "none.yaml", "--error-threshold", "0.1"], "type_error_threshold: 0.05"),
        (vec!["run"], "<CONFIG>"),
        (vec!["attempts", "list"], "`clinker attempts` is not available in this version"),
        (vec!["explain"], "--code"),
        (vec!["explain", "--code", "E000", "--list"], "--list"),
        (vec!["bake"], "bake"),
    ] {
        let outcome = clinker(scratch.path(), &args);
        assert_eq!(outcome.exit, 1, "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(text) && outcome.stdout.is_empty(), "{args:?}: {}", outcome.stderr);
    }
}

#[test]
fn dia_12_explain_prints_codes_and_lists_them_all_for_an_unknown_one() {
    let scratch = Scratch::new();
    let found = clinker(scratch.path(), &["explain", "--code", "E126"]);
    assert_eq!(found.exit, 0);
    assert!(found.stdout.starts_with("Code: E126\n") && found.stdout.contains("\nDetail page:"), "{}", found.stdout);
    let unknown = clinker(scratch.path(), &["explain", "--code", "E999"]);
    assert_eq!(unknown.exit, 1);
    assert!(unknown.stderr.contains("E000") && unknown.stdout.is_empty(), "{}", unknown.stderr);
    let list = clinker(scratch.path(), &["explain", "--list", "--category", "security"]);
    assert!(list.stdout.contains("E-SEC-001") && !list.stdout.contains("E000"), "{}", list.stdout);
}

#[test]
fn operations_1_4_version_and_help_go_to_standard_output() {
    let scratch = Scratch::new();
    let version = clinker(scratch.path(), &["--version"]);
    assert_eq!((version.exit, version.stdout.starts_with("clinker ")), (0, true));
    assert!(clinker(scratch.path(), &["run", "--help"]).stdout.contains("--memory-limit"));
}

#[test]
fn pb_1_an_output_never_takes_the_place_of_a_device_a_pipe_or_a_socket() {
    // A socket stands for all of them: making it needs no rights.
    for (special, dead_letters) in [("out.csv", "bad.csv"), ("bad.csv", "bad.csv")] {
        let scratch = scratch("path: out.csv");
        let policy = format!("error_handling: {{ strategy: continue, dlq: {{ path: {dead_letters} }} }}\n");
        let document = scratch.read("pipeline.yaml").expect("written above") + &policy;
        scratch.write("pipeline.yaml", document).write("in.csv", "id,town\nx,Ume\n2,Kiruna\n");
        let path = scratch.path().join(special);
        let _socket = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
        let outcome = clinker(scratch.path(), &["run", "pipeline.yaml"]);
        assert_eq!(outcome.exit, 4, "{special}: {}", outcome.stderr);
        let text = outcome.stderr.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(text.contains(special) && text.contains("not a regular file"), "{}", outcome.stderr);
        let kind = std::fs::symlink_metadata(&path).expect("it is still there").file_type();
        assert!(!kind.is_file(), "{special} was replaced");
        assert_eq!(scratch.files().len(), 3, "only the socket, the input and the document: {:?}", scratch.files());
    }
}

#[test]
fn eng_9_rows_that_grow_are_handed_on_in_pieces_and_keep_their_order() {
    let scratch = Scratch::new();
    let document = "\
pipeline: { name: pieces }
nodes:
  - type: source
    name: rows
    config: { name: rows, type: csv, path: in.csv, schema: [ { name: id, type: int }, { name: part, type: int } ] }
  - type: transform
    name: grow
    input: rows
    config: { cxl: \"emit id = 100 / part\\nemit text = \\\"x\\\".repeat(200000)\" }
  - type: sink
    name: out
    input: grow
    config: { name: out, type: csv, path: out.csv, include_unmapped: false }
error_handling: { strategy: continue, dlq: { path: bad.csv } }
";
    let mut rows = String::from("id,part\n");
    for id in 0..60 {
        // Some rows fail at the Source, some in the Transform; the others are large.
        rows.push_str(&format!("{id},{}\n", if id % 7 == 0 { "none".to_owned() } else { (id % 5).to_string() }));
    }
    scratch.write("pipeline.yaml", document).write("in.csv", rows);
    let mut seen = None;
    for limit in ["16M", "512M"] {
        let outcome = clinker(scratch.path(), &["run", "pipeline.yaml", "--memory-limit", limit]);
        assert_eq!(outcome.exit, 2, "{}", outcome.stderr);
        let found = (scratch.read("out.csv"), scratch.read("bad.csv"), outcome.stderr);
        assert_eq!(*seen.get_or_insert_with(|| found.clone()), found, "limit {limit}");
    }
    let rejected = scratch.read("bad.csv").expect("rows are rejected");
    let numbers: Vec<u64> = rejected
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(5).expect("a row number").parse().expect("digits"))
        .collect();
    assert_eq!(numbers.len(), 9 + 10);
    assert!(numbers.is_sorted(), "dead letters follow the input: {numbers:?}");
}

#[test]
fn e310_a_record_larger_than_the_memory_limit_ends_the_run() {
    let scratch = Scratch::new();
    let document = "\
pipeline: { name: large }
nodes:
  - { type: source, name: notes, config: { name: notes, type: csv, path: in.csv, schema: [ { name: id, type: int } ] } }
  - { type: sink, name: out, input: notes, config: { name: out, type: csv, path: out.csv } }
error_handling: { strategy: continue, dlq: { path: bad.csv } }
";
    let input = format!("id,note\n1,short\n2,{}\n3,short\n", "x".repeat(2 << 20));
    scratch.write("pipeline.yaml", document).write("in.csv", input);
    let refused = clinker(scratch.path(), &["run", "pipeline.yaml", "--memory-limit", "1M"]);
    assert_eq!(refused.exit, 1, "{}", refused.stderr);
    for text in ["E310", "notes: node_buffer exceeded budget (", "/1048576) [record of in.csv, at or after line 2]"] {
        assert!(refused.stderr.contains(text), "{text}: {}", refused.stderr);
    }
    assert_eq!(scratch.read("out.csv"), None);
    // Every limit that holds it gives the same bytes.
    for limit in ["4M", "16M"] {
        assert_eq!(clinker(scratch.path(), &["run", "pipeline.yaml", "--memory-limit", limit]).exit, 0);
        assert_eq!(scratch.read("out.csv"), scratch.read("in.csv"), "limit {limit}");
    }
}

#[test]
fn pb_15_3_a_final_of_the_longest_name_is_published_under_each_policy() {
    for policy in ["overwrite", "error", "unique_suffix"] {
        for bytes in [220, 234, 235, 246, 250, 255] {
            // The number of a second name needs room of its own.
            let leaf = format!("{}.csv", "n".repeat(bytes - ".csv".len()));
            let scratch = scratch(&format!("path: {leaf}, if_exists: {policy}"));
            let outcome = clinker(scratch.path(), &["run", "pipeline.yaml"]);
            assert_eq!(outcome.exit, 0, "{policy}, {bytes} bytes: {}", outcome.stderr);
            assert_eq!(scratch.files(), ["in.csv", leaf.as_str(), "pipeline.yaml"]);
        }
    }
}

#[test]
fn pb_7_a_final_whose_name_no_file_system_takes_is_refused_by_its_answer() {
    let leaf = "n".repeat(256);
    let scratch = scratch(&format!("path: {leaf}"));
    let outcome = clinker(scratch.path(), &["run", "pipeline.yaml"]);
    assert_eq!(outcome.exit, 4, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("too long"), "{}", outcome.stderr);
    assert_eq!(scratch.files(), ["in.csv", "pipeline.yaml"]);
}

#[test]
fn pipeline_8_2_a_file_whose_name_is_no_text_is_read_and_shown() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let scratch = scratch("path: out.csv");
    let document = document("path: out.csv").replace("path: in.csv", "glob: in-*.csv");
    scratch.write("pipeline.yaml", document);
    for (name, rows) in [(&b"in-\xE5.csv"[..], ROWS), (b"in-\xE9.csv", "id,town\n3,x\n")] {
        std::fs::write(scratch.path().join(OsStr::from_bytes(name)), rows).expect("the system takes such names");
    }
    let outcome = clinker(scratch.path(), &["run", "pipeline.yaml"]);
    assert_eq!(outcome.exit, 0, "{}", outcome.stderr);
    assert_eq!(scratch.read("out.csv"), Some(format!("{ROWS}3,x\n")));
    // What is wrong in it is found under the text of its name.
    std::fs::write(scratch.path().join(OsStr::from_bytes(b"in-\xE9.csv")), "id,town\n3,x,y\n").expect("a file");
    let outcome = clinker(scratch.path(), &["run", "pipeline.yaml"]);
    assert!(outcome.exit == 4 && outcome.stderr.contains("in-\u{FFFD}.csv"), "{}", outcome.stderr);
}

#[test]
fn dia_6_a_failing_expression_is_shown_as_authored_and_without_a_snippet_where_lines_moved() {
    let document = document("path: out.csv")
        .replace("input: rows", "input: clean")
        .replace("  - type: sink", "  - type: transform\n    name: clean\n    input: rows\n    config: { cxl: \"emit r = ${RATE} / (id - 1)\" }\n  - type: sink");
    for (rate, snippet) in [("4711", true), ("4711 +\n      4711", false)] {
        let scratch = scratch("path: out.csv");
        scratch.write("pipeline.yaml", &document);
        let mut command = Command::new(scratch.path(), &["run", "pipeline.yaml"]);
        command.env = vec![("RATE".to_owned(), rate.to_owned())];
        let outcome = command.run();
        assert_eq!(outcome.exit, 3, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("division by zero in `${RATE} / (id - 1"), "{}", outcome.stderr);
        assert!(!outcome.stderr.contains("4711"), "a substituted value is a secret: {}", outcome.stderr);
        assert_eq!(outcome.stderr.contains("fails here"), snippet, "{}", outcome.stderr);
    }
}

#[test]
fn operations_15_4_a_sidecar_stands_beside_each_final() {
    let scratch = scratch("path: out.csv, write_meta: true, split: { max_records: 1 }");
    let outcome = clinker(scratch.path(), &["run", "pipeline.yaml", "--batch-id", "night-7"]);
    assert_eq!(outcome.exit, 0, "{}", outcome.stderr);
    let files: Vec<String> = scratch.files().into_iter().filter(|name| name.starts_with("out")).collect();
    assert_eq!(files, ["out_0001.csv", "out_0001.csv.meta.json", "out_0002.csv", "out_0002.csv.meta.json"]);
    assert_eq!(scratch.read("out_0002.csv").as_deref(), Some("id,town\n2,Kiruna\n"));
    let sidecar = scratch.read("out_0002.csv.meta.json").expect("published");
    for member in [
        "{\n  \"pipeline_path\": \"pipeline.yaml\",\n",
        "\"run_started_at\": \"2031-01-27T12:00:00.000Z\"",
        "\"batch_id\": \"night-7\"",
        "\"output_name\": \"out\"",
        "\"record_count\": 1",
        "\"bytes_written\": 17\n}\n",
    ] {
        assert!(sidecar.contains(member), "{member}: {sidecar}");
    }
}

#[test]
fn nodes_11_4_a_group_is_not_torn_apart_and_its_size_is_mentioned_once() {
    let scratch = scratch("path: out.csv, split: { max_records: 1, group_key: town }");
    scratch.write("in.csv", "id,town\n1,a\n2,a\n3,a\n4,b\n5,c\n");
    let outcome = clinker(scratch.path(), &["run", "pipeline.yaml"]);
    assert_eq!(outcome.exit, 0, "{}", outcome.stderr);
    assert_eq!(outcome.stderr.matches("larger than the threshold").count(), 1, "{}", outcome.stderr);
    let parts = ["out_0001.csv", "out_0002.csv", "out_0003.csv"].map(|name| scratch.read(name).expect("published"));
    assert_eq!(parts, ["id,town\n1,a\n2,a\n3,a\n", "id,town\n4,b\n", "id,town\n5,c\n"]);
}
