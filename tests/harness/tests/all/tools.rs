//! Commands that run no pipeline.

use clinker_harness::{Outcome, Scratch, clinker};

fn run(args: &[&str]) -> Outcome {
    clinker(Scratch::new().path(), args)
}

#[test]
fn operations_2_10_formats_are_listed_in_name_order() {
    let bare = run(&["formats"]);
    assert_eq!((bare.exit, bare.stderr.as_str()), (0, ""));
    let names: Vec<&str> = bare.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"csv") && names.is_sorted(), "{}", bare.stdout);
    let csv = bare.stdout.lines().find(|line| line.starts_with("csv ")).expect("csv is linked");
    assert!(csv.contains("built-in  read+write"), "{csv}");
    assert_eq!(run(&["formats", "list"]), bare);
    let json: serde_json::Value = serde_json::from_str(&run(&["formats", "--format", "json"]).stdout).expect("JSON");
    assert_eq!(json["schema_version"], "1");
    let listed: Vec<&str> =
        json["formats"].as_array().expect("a list").iter().filter_map(|f| f["name"].as_str()).collect();
    assert_eq!(listed, names);
    assert_eq!(json["formats"][0]["origin"], serde_json::json!({ "kind": "built-in" }));
}

#[test]
fn operations_2_10_a_format_is_shown_with_its_options() {
    let shown = run(&["formats", "show", "csv"]);
    assert_eq!((shown.exit, shown.stderr.as_str()), (0, ""));
    for text in [
        "csv: ",
        "origin: built-in",
        "directions: read+write",
        "  delimiter: text; default `,`",
        "  has_header: `true`",
    ] {
        assert!(shown.stdout.contains(text), "{text}: {}", shown.stdout);
    }
    // The form may stand on either side of the word.
    let json = run(&["formats", "show", "csv", "--format", "json"]);
    assert_eq!(run(&["formats", "--format", "json", "show", "csv"]), json);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    let format = &json["formats"][0];
    assert_eq!(format["read"]["capabilities"]["split_values"], true);
    let options = format["read"]["options"].as_array().expect("options");
    let size = options.iter().find(|option| option["key"] == "max_record_bytes").expect("an option of csv");
    assert_eq!((&size["type"], &size["default"]), (&"size".into(), &"64MB".into()));
    assert_eq!(shown.stdout.matches("\n      ").count(), {
        let count = |verb: &str| format[verb]["options"].as_array().map_or(0, Vec::len);
        count("read") + count("write")
    });
}

#[test]
fn e400_an_unknown_format_lists_the_known_ones() {
    let outcome = run(&["formats", "show", "cvs"]);
    assert_eq!((outcome.exit, outcome.stdout.as_str()), (1, ""));
    for text in ["E400", "`cvs`", "did you mean `csv`", "the formats are"] {
        assert!(outcome.stderr.contains(text), "{text}: {}", outcome.stderr);
    }
}

#[test]
fn operations_2_10_formats_of_workspace_and_pipeline_that_cannot_be_loaded() {
    let scratch = Scratch::new();
    scratch.write("p.yaml", "pipeline: { name: p }\nformats: { dialects: [ no.yaml ] }\nnodes: []\n");
    scratch.write("clinker.toml", "[formats]\nplugins = [\"no.so\"]\n");
    for (args, missing) in [
        (&["formats"][..], &["plugin `no.so`"][..]),
        (&["formats", "show", "csv"], &["plugin `no.so`"]),
        (&["formats", "--config", "p.yaml"], &["plugin `no.so`", "dialect `no.yaml`"]),
        (&["formats", "list", "--config", "p.yaml", "--base-dir", "."], &["plugin `no.so`", "dialect `no.yaml`"]),
    ] {
        let outcome = clinker(scratch.path(), args);
        // What there is, is shown all the same.
        assert!(outcome.exit == 1 && outcome.stdout.contains("csv"), "{args:?}: {outcome:?}");
        assert!(outcome.stderr.contains("E460"), "{}", outcome.stderr);
        assert_eq!(outcome.stderr.matches("cannot be read").count(), missing.len(), "{}", outcome.stderr);
        assert!(missing.iter().all(|missing| outcome.stderr.contains(missing)), "{}", outcome.stderr);
    }
    scratch.write("else/q.yaml", "pipeline: { name: p }\nnodes: []\n");
    let outcome = clinker(scratch.path(), &["formats", "--config", "else/q.yaml"]);
    assert_eq!((outcome.exit, outcome.stderr.as_str()), (0, ""), "the workspace is the folder of the pipeline");
    let outcome = clinker(scratch.path(), &["formats", "--config", "nowhere.yaml"]);
    assert!(outcome.exit == 1 && outcome.stderr.contains("cannot read the pipeline document"), "{outcome:?}");
}

#[test]
fn completions_know_every_command_and_its_flags() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let outcome = run(&["completions", shell]);
        assert_eq!((outcome.exit, outcome.stderr.as_str()), (0, ""), "{shell}");
        for word in ["run", "explain", "formats", "completions", "memory-limit", "dry-run-output"] {
            assert!(outcome.stdout.contains(word), "{shell}: {word}");
        }
    }
    let unknown = run(&["completions", "tcsh"]);
    assert!(unknown.exit == 1 && unknown.stdout.is_empty() && unknown.stderr.contains("bash"), "{}", unknown.stderr);
}

#[test]
fn manual_pages_are_made_for_the_program_and_each_command() {
    let page = run(&["man"]);
    assert!(
        page.exit == 0 && page.stdout.contains(".TH clinker 1") && page.stdout.contains("explain"),
        "{}",
        page.stdout
    );
    for (command, text) in [("run", "memory\\-limit"), ("formats", "show"), ("man", "COMMAND")] {
        let page = run(&["man", command]);
        let title = format!(".TH clinker-{command} 1");
        assert!(page.exit == 0 && page.stdout.contains(&title), "{}", page.stdout);
        assert!(page.stdout.contains(text), "{text}: {}", page.stdout);
    }
    let unknown = run(&["man", "bake"]);
    assert!(unknown.exit == 1 && unknown.stdout.is_empty() && unknown.stderr.contains("`run`"), "{}", unknown.stderr);
}

#[test]
fn the_schema_in_the_repository_is_the_one_that_the_binary_prints() {
    let printed = run(&["schema"]);
    assert_eq!((printed.exit, printed.stderr.as_str()), (0, ""));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pipeline.schema.json");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &printed.stdout).expect("the schema can be written");
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(kept == printed.stdout, "docs/pipeline.schema.json is not up to date: run this test with UPDATE=1");
}
