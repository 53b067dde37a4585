//! Plugins in pipelines.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use clinker_conformance::{Bad, Corpus, Endless, Outcome as Checked, Sample, Tamper, check};
use clinker_harness::{Command, Outcome, clinker};
use clinker_plugin_tests::{build_c, build_later_host, build_rust};

fn shipment() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_rust("plugins/samples/shipment-rust", "shipment", &[]))
}

fn shipment_c() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_c("plugins/samples/shipment-c/shipment.c", "shipment_c"))
}

/// A folder with a plugin under the name `plugin.so`, an input and a pipeline.
fn folder(plugin: Option<&Path>, input: &str, source: &str, sink: &str, rest: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    if let Some(plugin) = plugin {
        // A link, not a copy: a library is loaded once however many tests use it.
        std::os::unix::fs::symlink(plugin, folder.path().join("plugin.so")).expect("a link");
    }
    fs::write(folder.path().join("in.txt"), input).expect("the input");
    let pipeline = format!(
        "pipeline: {{ name: plugins }}\nformats: {{ plugins: [plugin.so] }}\nnodes:\n  - type: source\n    name: rows\n    \
         config: {{ name: rows, path: in.txt, {source} }}\n  - type: sink\n    name: out\n    input: rows\n    \
         config: {{ name: out, path: out.txt, {sink} }}\n{rest}"
    );
    fs::write(folder.path().join("pipeline.yaml"), pipeline).expect("the pipeline");
    folder
}

fn run(folder: &tempfile::TempDir) -> Outcome {
    clinker(folder.path(), &["run", "pipeline.yaml"])
}

fn output(folder: &tempfile::TempDir) -> String {
    fs::read_to_string(folder.path().join("out.txt")).unwrap_or_default()
}

const SHIPMENTS: &str = "HDR|B9\nSHP|S1|12.5\nSHP|S2|7.25\nTRL|2|B9\n";
const SHIPMENT: &str = "type: shipment, schema: [ { name: id, type: string }, { name: weight, type: string } ]";

#[test]
fn formats_15_2_a_plugin_reads_and_writes_like_any_format() {
    let round = folder(Some(shipment()), SHIPMENTS, SHIPMENT, "type: shipment, options: { batch: B9 }", "");
    let outcome = run(&round);
    assert_eq!(outcome.exit, 0, "{}", outcome.stderr);
    assert_eq!(output(&round), SHIPMENTS);
    let typed = SHIPMENT.replace("weight, type: string", "weight, type: decimal");
    let csv = folder(Some(shipment()), SHIPMENTS, &typed, "type: csv", "");
    assert_eq!(run(&csv).exit, 0);
    assert_eq!(output(&csv), "id,weight\nS1,12.5\nS2,7.25\n");
}

#[test]
fn formats_15_3_sections_and_faults_of_a_plugin_are_those_of_any_format() {
    let envelope = format!("{SHIPMENT}, envelope: {{ sections: {{ batch: {{ extract: {{ segment: HDR }} }} }} }}");
    let rest = "";
    let sections = folder(Some(shipment()), SHIPMENTS, &envelope, "type: shipment", rest);
    assert_eq!(run(&sections).exit, 0);
    assert_eq!(output(&sections), SHIPMENTS, "the batch comes from the section of the document");

    let wrong = folder(Some(shipment()), &SHIPMENTS.replace("TRL|2", "TRL|3"), SHIPMENT, "type: csv", "");
    let outcome = run(&wrong);
    assert_eq!(outcome.exit, 4);
    assert!(outcome.stderr.contains("E-SHIPMENT-001"), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("line 4, byte 31: the trailer declares 3 shipments, counted 2"),
        "{}",
        outcome.stderr
    );
    assert!(!wrong.path().join("out.txt").exists());

    let bad = SHIPMENTS.replace("SHP|S1|12.5", "SHP|S1");
    let kept = "error_handling: { strategy: continue, dlq: { path: rejected.csv } }\n";
    let rejected = folder(Some(shipment()), &bad, SHIPMENT, "type: csv", kept);
    assert_eq!(run(&rejected).exit, 2);
    assert_eq!(output(&rejected), "id,weight\nS2,7.25\n");
    let letters = fs::read_to_string(rejected.path().join("rejected.csv")).expect("dead letters");
    assert!(letters.contains("E423") && letters.contains("SHP|S1\n"), "{letters}");

    for (input, code) in
        [("", "E421"), ("SHP|1|2\n", "E422"), ("HDR|B\nSHP|1|2\n", "E421"), ("HDR|B\nTRL|0|C\n", "E424")]
    {
        let broken = folder(Some(shipment()), input, SHIPMENT, "type: csv", "");
        let outcome = run(&broken);
        assert_eq!(outcome.exit, 4, "{input:?}: {}", outcome.stderr);
        assert!(outcome.stderr.starts_with(code), "{input:?}: {}", outcome.stderr);
    }
}

#[test]
fn e460_e461_e463_e467_a_plugin_that_cannot_be_loaded_is_a_configuration_error() {
    let missing = folder(None, SHIPMENTS, SHIPMENT, "type: csv", "");
    let outcome = run(&missing);
    assert!(outcome.exit == 1 && outcome.stderr.contains("E460"), "{}", outcome.stderr);

    let text = tempfile::NamedTempFile::new().expect("a file");
    fs::write(text.path(), "no library").expect("written");
    let outcome = run(&folder(Some(text.path()), SHIPMENTS, SHIPMENT, "type: csv", ""));
    assert!(outcome.exit == 1 && outcome.stderr.contains("E461"), "{}", outcome.stderr);

    let twice = folder(Some(shipment()), SHIPMENTS, SHIPMENT, "type: csv", "");
    fs::write(twice.path().join("x.dialect.yaml"), "dialect: shipment\nversion: 1\nbase: x12\n").expect("written");
    let pipeline = fs::read_to_string(twice.path().join("pipeline.yaml")).expect("the pipeline");
    let pipeline = pipeline.replace("plugins: [plugin.so]", "plugins: [plugin.so], dialects: [x.dialect.yaml]");
    fs::write(twice.path().join("pipeline.yaml"), pipeline).expect("written");
    let outcome = run(&twice);
    assert!(outcome.exit == 1 && outcome.stderr.contains("E463"), "{}", outcome.stderr);

    let forbidden = folder(Some(shipment()), SHIPMENTS, SHIPMENT, "type: csv", "");
    let mut command = Command::new(forbidden.path(), &["run", "pipeline.yaml"]);
    command.env.push(("CLINKER_FORBID_PLUGINS".to_owned(), "1".to_owned()));
    let outcome = command.run();
    assert!(outcome.exit == 1 && outcome.stderr.contains("E467"), "{}", outcome.stderr);
}

#[test]
fn operations_2_10_plugins_are_listed_with_the_other_formats() {
    let folder = folder(Some(shipment()), SHIPMENTS, SHIPMENT, "type: csv", "");
    let outcome = clinker(folder.path(), &["formats", "--config", "pipeline.yaml"]);
    assert_eq!(outcome.exit, 0, "{}", outcome.stderr);
    let line = outcome.stdout.lines().find(|line| line.starts_with("shipment")).unwrap_or_default();
    assert!(line.contains("plugin plugin.so 0.1.0  read+write"), "{}", outcome.stdout);
    let json =
        clinker(folder.path(), &["formats", "show", "shipment", "--config", "pipeline.yaml", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    let shown = &json["formats"][0];
    let origin = serde_json::json!({ "kind": "plugin", "path": "plugin.so", "version": "0.1.0", "interface": "0.1" });
    assert_eq!((&shown["origin"], &shown["requires"]), (&origin, &serde_json::json!(["blocks"])));
    assert_eq!((&shown["codes"][0]["code"], &shown["offers"][0]["known"]), (&"E-SHIPMENT-001".into(), &true.into()));
    let text = clinker(folder.path(), &["formats", "show", "shipment", "--config", "pipeline.yaml"]).stdout;
    for line in
        ["origin: plugin plugin.so 0.1.0", "interface: 0.1", "requires: blocks", "code E-SHIPMENT-001 (document)"]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
}

/// The misbehaving plugin with a feature, under a name of its own.
fn misbehaving(feature: Option<&'static str>) -> PathBuf {
    static BUILT: Mutex<BTreeMap<Option<&'static str>, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let build = || {
        let library = build_rust("plugins/misbehaving", "misbehaving", feature.as_slice());
        // The next feature is built into the same place.
        let kept = library.with_file_name(format!("misbehaving-{}.so", feature.unwrap_or("plain")));
        fs::copy(&library, &kept).expect("it is kept");
        kept
    };
    built.entry(feature).or_insert_with(build).clone()
}

#[test]
fn e462_e464_e465_e466_a_plugin_that_does_not_fit_is_refused_with_a_way_out() {
    for (feature, code, said) in [
        ("wrong_major", "E462", "9"),
        ("unknown_requirement", "E462", "time_travel"),
        ("wrong_layout", "E464", "build"),
        ("panicking_load", "E465", "as asked"),
        ("bad_name", "E466", "Misbehaving"),
        ("no_direction", "E466", "misbehaving"),
    ] {
        let source = "type: misbehaving, schema: [ { name: a, type: string } ]";
        let folder = folder(Some(&misbehaving(Some(feature))), "x\n", source, "type: csv", "");
        let outcome = run(&folder);
        assert_eq!(outcome.exit, 1, "{feature}: {}", outcome.stderr);
        let flat = outcome.stderr.replace("\n  │ ", " ");
        assert!(flat.contains(code) && flat.contains("plugin.so"), "{feature}: {}", outcome.stderr);
        assert!(flat.contains(said) && flat.contains("help:"), "{feature}: {}", outcome.stderr);
    }
}

#[test]
fn e468_every_lie_names_plugin_and_call_and_nothing_is_published() {
    let plugin = misbehaving(None);
    let columns = "schema: [ { name: a, type: string }, { name: b, type: string } ]";
    let lies = [
        ("panic_open", "open"),
        ("panic_cut", "cut"),
        ("panic_decode", "decode"),
        ("unequal_columns", "decode"),
        ("wrong_rows", "decode"),
        ("rejected_beyond", "decode"),
        ("bytes_not_given", "decode"),
        ("unknown_code", "cut"),
        ("block_not_given", "cut"),
        ("crossing_marks", ""),
        ("unknown_level", ""),
        ("open_level", ""),
        ("panic_writer", "writer_open"),
        ("panic_columns", "writer_columns"),
        ("panic_rows", "writer_rows"),
        ("panic_encode", "encode"),
        ("panic_records", "writer_records"),
        ("panic_finish", "writer_finish"),
        ("wrong_ends", "encode"),
        ("refused_beyond", "encode"),
    ];
    for (how, call) in lies {
        let reads = call.is_empty() || ["open", "cut", "decode"].contains(&call);
        let (read, write) = if reads { (how, "none") } else { ("none", how) };
        let source = format!("type: misbehaving, options: {{ how: {read} }}, {columns}");
        let sink = format!("type: misbehaving, options: {{ how: {write} }}, write_meta: true");
        let rest = "error_handling: { strategy: continue, dlq: { path: rejected.csv } }\n";
        let folder = folder(Some(&plugin), "one\ntwo\n", &source, &sink, rest);
        let outcome = run(&folder);
        let flat = outcome.stderr.replace("\n  │ ", " ");
        assert_eq!(outcome.exit, 1, "{how}: {}", outcome.stderr);
        assert!(flat.contains("E468"), "{how}: {}", outcome.stderr);
        assert!(call.is_empty() || flat.contains(&format!("`{call}`")), "{how}: {}", outcome.stderr);
        let left: Vec<_> =
            fs::read_dir(folder.path()).expect("the folder").flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left.len(), 3, "{how}: {left:?}");
    }
}

#[test]
fn e468_a_panic_while_the_text_of_a_row_is_asked_for_ends_the_run() {
    // The cell `x` is no JSON array: the row is rejected with its text.
    let source = "type: misbehaving, options: { how: panic_row_text }, schema: [ { name: a, type: string, multiple: true \
                  } ], split_values: [ { field: a, json: true } ]";
    let rest = "error_handling: { strategy: continue, dlq: { path: rejected.csv } }\n";
    let folder = folder(Some(&misbehaving(None)), "x\n", source, "type: csv, join_values: [ a ]", rest);
    let outcome = run(&folder);
    assert_eq!(outcome.exit, 1, "{}", outcome.stderr);
    let flat = outcome.stderr.replace("\n  │ ", " ");
    assert!(flat.contains("E468") && flat.contains("`row_text`") && flat.contains("as asked"), "{flat}");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 3);
}

#[test]
fn e465_a_panic_while_options_are_bound_is_a_configuration_error() {
    let source = "type: misbehaving, options: { how: panic_bind }, schema: [ { name: a, type: string } ]";
    let outcome = run(&folder(Some(&misbehaving(None)), "x\n", source, "type: csv", ""));
    assert_eq!(outcome.exit, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("as asked"), "{}", outcome.stderr);
}

/// Run as a process of its own by the next test: a call of the plugin never returns.
#[test]
fn child_with_a_call_that_never_returns() {
    let Some(folder) = std::env::var_os("CLINKER_TEST_NEVER") else { return };
    let report = |_: &str, reason: &str| {
        // The process ends behind this.
        fs::write(Path::new(&std::env::var_os("CLINKER_TEST_NEVER").unwrap_or_default()).join("report"), reason)
            .expect("the report");
    };
    clinker_plugin_host::surround(clinker_plugin_host::Surroundings {
        limit: std::time::Duration::from_millis(200),
        report: std::sync::Arc::new(report),
        ..clinker_plugin_host::Surroundings::default()
    });
    clinker(Path::new(&folder), &["run", "pipeline.yaml"]);
    panic!("the run came back");
}

#[test]
fn e468_a_call_that_never_returns_ends_the_process_and_nothing_is_published() {
    let source = "type: misbehaving, options: { how: never }, schema: [ { name: a, type: string } ]";
    let folder = folder(Some(&misbehaving(None)), "x\n", source, "type: csv", "");
    let child = std::process::Command::new(std::env::current_exe().expect("this test"))
        .args(["child_with_a_call_that_never_returns", "--exact"])
        .env("CLINKER_TEST_NEVER", folder.path())
        .output()
        .expect("the child runs");
    assert_eq!(child.status.code(), Some(1), "{}", String::from_utf8_lossy(&child.stderr));
    let report = fs::read_to_string(folder.path().join("report")).expect("it was reported");
    assert!(report.contains("plugin.so") && report.contains("`cut`"), "{report}");
    assert!(!folder.path().join("out.txt").exists());
}

#[test]
fn operations_2_11_check_says_which_step_failed() {
    let here = tempfile::tempdir().expect("a folder");
    let check = |path: &Path| clinker(here.path(), &["plugin", "check", &path.display().to_string()]);
    let fine = check(shipment());
    assert_eq!(fine.exit, 0, "{}", fine.stderr);
    let steps = ["policy", "file", "library", "interface", "layout", "entry point", "registration", "names"];
    let passed: Vec<&str> = fine.stdout.lines().filter_map(|line| line.strip_prefix("ok   ")).collect();
    assert_eq!(passed[..steps.len()], steps);
    // The files that it ships were tried: no record grows without an end, no reference is tampered with.
    assert!(fine.stdout.ends_with("20 passed, 0 failed, 2 skipped\n"), "{}", fine.stdout);
    let plain = check(shipment_c());
    assert!(plain.stdout.ends_with("8 passed, 0 failed, 1 skipped\n"), "{}", plain.stdout);
    for (feature, failed, code) in
        [("wrong_major", "interface", "E462"), ("wrong_layout", "layout", "E464"), ("bad_name", "registration", "E466")]
    {
        let broken = check(&misbehaving(Some(feature)));
        assert_eq!(broken.exit, 1, "{feature}");
        let line = broken.stdout.lines().find_map(|line| line.strip_prefix("FAIL ")).unwrap_or_default();
        assert!(line.starts_with(&format!("{failed}: {code}")), "{feature}: {}", broken.stdout);
    }
    let missing = clinker(here.path(), &["plugin", "check", "none.so", "--format", "json"]);
    assert!(missing.exit == 1 && missing.stdout.contains("\"E460\""), "{}", missing.stdout);
}

#[test]
fn formats_15_2_a_plugin_in_c_does_what_the_one_in_rust_does() {
    let c = |text: &str| text.replace("type: shipment", "type: shipment_c");
    let section = "envelope: { sections: { batch: { extract: { segment: HDR } } } }";
    let source = c(&format!("{SHIPMENT}, {section}"));
    let round = folder(Some(shipment_c()), SHIPMENTS, &source, "type: shipment_c", "");
    let outcome = run(&round);
    assert_eq!(outcome.exit, 0, "{}", outcome.stderr);
    assert_eq!(output(&round), SHIPMENTS);

    let kept = "error_handling: { strategy: continue, dlq: { path: rejected.csv } }\n";
    let inputs = [
        SHIPMENTS.to_owned(),
        SHIPMENTS.replace("SHP|S1|12.5", "SHP|S1"),
        SHIPMENTS.replace("TRL|2", "TRL|3"),
        SHIPMENTS.replace("TRL|2|B9\n", ""),
        SHIPMENTS.replace("|B9\n", "|B8\n").replacen("|B8", "|B9", 1),
        SHIPMENTS.replace("TRL|2", "TRL|two"),
        format!("{SHIPMENTS}SHP|S3|1\n"),
        "HDR|B\nTRL|0|B\n".to_owned(),
        "SHP|1|2\n".to_owned(),
        String::new(),
    ];
    for input in &inputs {
        let rust = folder(Some(shipment()), input, SHIPMENT, "type: csv", kept);
        let other = folder(Some(shipment_c()), input, &c(SHIPMENT), "type: csv", kept);
        let (one, two) = (run(&rust), run(&other));
        assert_eq!(one.exit, two.exit, "{input:?}: {} {}", one.stderr, two.stderr);
        assert_eq!(one.stderr.replace("E-SHIPMENT-", "E-SHIPMENT_C-"), two.stderr, "{input:?}");
        assert_eq!(output(&rust), output(&other), "{input:?}");
        let letters = |folder: &tempfile::TempDir| fs::read_to_string(folder.path().join("rejected.csv")).ok();
        assert_eq!(letters(&rust), letters(&other), "{input:?}");
    }
}

#[test]
fn formats_15_2_plugins_and_engines_of_other_minors_go_together() {
    // A plugin that offers what this engine does not know.
    let newer = misbehaving(Some("future"));
    let source = "type: misbehaving, schema: [ { name: a, type: string } ]";
    let folder = folder(Some(&newer), "x\n", source, "type: csv", "");
    let outcome = run(&folder);
    assert_eq!(outcome.exit, 0, "{}", outcome.stderr);
    // An engine that has gained a capability and a function, with plugins that were made before.
    let later = build_later_host();
    for (plugin, said) in [
        (shipment(), "shipment"),
        (shipment_c(), "shipment_c"),
        // It uses what it knows of a plugin that was made for it.
        (&newer, "misbehaving future 1"),
    ] {
        let loaded = std::process::Command::new(&later).arg(plugin).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&loaded.stdout).trim(), said);
    }
    // Another major is refused by both, and says what to do.
    let other = std::process::Command::new(&later).arg(misbehaving(Some("wrong_major"))).output().expect("it runs");
    let said = String::from_utf8_lossy(&other.stdout);
    assert!(said.starts_with("E462 ") && said.contains("interface 9.") && said.contains("interface 0.2"), "{said}");
}

fn sample(name: &str, bytes: &str, rows: u64) -> Sample {
    Sample { name: name.to_owned(), bytes: bytes.as_bytes().to_vec(), rows, ..Sample::default() }
}

fn conforms(plugin: &Path, violation: &'static str) {
    let formats = clinker_plugin_host::load(plugin, false).expect("it loads");
    let bad =
        |name: &str, bytes: String, rows, code, bounded| Bad { sample: sample(name, &bytes, rows), code, bounded };
    let tamper = |text: &str, skip: usize, byte, code| Tamper {
        sample: 0,
        at: SHIPMENTS.find(text).expect("it is there") + skip,
        byte,
        code,
    };
    let corpus = Corpus {
        valid: vec![
            Sample { round_trip: true, ..sample("two shipments", SHIPMENTS, 2) },
            sample("none", "HDR|B\nTRL|0|B", 0),
        ],
        invalid: vec![
            bad("a bad line", SHIPMENTS.replace("SHP|S1|12.5", "SHP|S1"), 1, "E423", true),
            bad("no trailer", SHIPMENTS.replace("TRL|2|B9\n", ""), 2, "E421", false),
            bad("a count", SHIPMENTS.replace("TRL|2", "TRL|3"), 2, violation, false),
        ],
        endless: Some(Endless {
            options: Vec::new(),
            head: b"HDR|B\nSHP|".to_vec(),
            body: b"x".to_vec(),
            limit: 65_536,
        }),
        tampers: vec![tamper("TRL|2|B9", 7, b'8', "E424")],
        write: Some(Vec::new()),
    };
    let failed: Vec<String> = check(formats[0], &corpus, 100_000)
        .into_iter()
        .filter_map(|check| match check.outcome {
            Checked::Failed(seen) => Some(format!("{}: {seen}", check.statement)),
            _ => None,
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn formats_15_10_the_plugin_in_rust_conforms() {
    conforms(shipment(), "E-SHIPMENT-001");
}

#[test]
fn formats_15_10_the_plugin_in_c_conforms() {
    conforms(shipment_c(), "E-SHIPMENT_C-001");
}

#[test]
fn formats_15_2_csv_as_a_plugin_gives_the_bytes_of_csv() {
    let plugin = build_rust("plugins/samples/csv", "csv_plugin", &[]);
    let input = "id,note,extra\n1,\"a \"\"quoted\"\" note that is longer than a view\",x\n2,short,\nthree,bad type,y\n4,too,many,cells\n\
                 5,ä€𝄞 and more than twelve bytes,z\n6,\"two\nlines\",\n7,,\n";
    let columns = "schema: [ { name: id, type: int }, { name: note, type: string } ]";
    let kept = "error_handling: { strategy: continue, dlq: { path: rejected.csv } }\n";
    let run_as = |name: &str| {
        let folder = folder(Some(&plugin), input, &format!("type: {name}, {columns}"), &format!("type: {name}"), kept);
        let outcome = run(&folder);
        assert_eq!(outcome.exit, 2, "{name}: {}", outcome.stderr);
        let letters = fs::read_to_string(folder.path().join("rejected.csv")).expect("dead letters");
        (output(&folder), letters, outcome.stderr)
    };
    assert_eq!(run_as("csv_plugin"), run_as("csv"));
}
