//! Documents name no machine, and the commands they show are the ones that are run.

use crate::source::{files, is_test_file, read, sources};

const RUN: &str = "cargo run --release -- run examples/01-first-feed/pipeline.yaml";
const TEST: &str = "cargo test --workspace";

/// Beginnings of paths that exist on one machine only; put together here so that this file does not contain them.
fn machine_paths() -> Vec<String> {
    ["work", "root", "home", "Users"].iter().map(|folder| format!("/{folder}/")).collect()
}

fn written_files() -> Vec<String> {
    let ends = [".md", ".toml", ".yaml", ".yml", ".py", ".sh", ".json"];
    let mut found: Vec<String> = ["docs", "examples", "tests", ".ci", "core", "formats", "cli"]
        .iter()
        .flat_map(|folder| files(folder, |name| ends.iter().any(|end| name.ends_with(end)) || name == ".ci/run"))
        .collect();
    found.extend(["README.md", "Cargo.toml"].map(str::to_owned));
    found
}

#[test]
fn nothing_names_a_machine() {
    let mut wrong = Vec::new();
    let texts = written_files().into_iter().map(|path| (path.clone(), read(&path)));
    let rust = sources(&["core", "formats", "cli", "tests"]).into_iter().map(|source| (source.path, source.text));
    for (path, text) in texts.chain(rust) {
        for (at, line) in text.lines().enumerate() {
            if machine_paths().iter().any(|machine| line.contains(machine.as_str())) {
                wrong.push(format!("{path}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "paths of one machine:\n{}", wrong.join("\n"));
}

#[test]
fn the_readme_shows_its_two_commands() {
    let readme = read("README.md");
    for command in [RUN, TEST] {
        let shown = readme.lines().any(|line| line.trim_start_matches("$ ").trim() == command);
        assert!(shown, "README.md shows `{command}` on a line of its own");
    }
}

#[test]
fn the_checks_run_exactly_the_test_command() {
    let commands = read(".ci/run");
    let tests: Vec<&str> = commands.lines().filter(|line| line.contains("cargo test")).collect();
    assert_eq!(tests, [TEST]);
}

#[test]
fn each_chapter_of_the_book_exists_and_is_listed() {
    let summary = read("docs/src/SUMMARY.md");
    let listed: Vec<&str> = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    for chapter in &listed {
        assert!(!read(&format!("docs/src/{chapter}")).is_empty(), "{chapter}");
    }
    for path in files("docs/src", |name| name.ends_with(".md")) {
        let chapter = path.trim_start_matches("docs/src/");
        assert!(chapter == "SUMMARY.md" || listed.contains(&chapter), "{path} is in no table of contents");
    }
}

/// The arguments of `required("…"` and `optional("…"` in the option tables of the plan.
fn declared_keys() -> Vec<(String, String)> {
    let mut keys = Vec::new();
    for source in sources(&["core/plan/src"]) {
        if is_test_file(&source.path) {
            continue;
        }
        for line in source.text.lines().map(str::trim_start) {
            let declared = ["required(\"", "optional(\""].iter().find_map(|start| line.strip_prefix(start));
            if let Some(key) = declared.and_then(|rest| rest.split('"').next()) {
                keys.push((source.path.clone(), key.to_owned()));
            }
        }
    }
    keys
}

#[test]
fn every_key_of_a_pipeline_is_in_the_reference() {
    let reference = read("docs/src/reference/pipeline.md");
    let words: Vec<&str> = reference.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let keys = declared_keys();
    assert!(keys.len() > 50, "found {} keys", keys.len());
    // Keys of formats that are not linked.
    let apart = ["repeat_as", "wrap_in"];
    let missing: Vec<String> = keys
        .into_iter()
        .filter(|(_, key)| !words.contains(&key.as_str()) && !apart.contains(&key.as_str()))
        .map(|(path, key)| format!("{path}: `{key}`"))
        .collect();
    assert!(missing.is_empty(), "not in docs/src/reference/pipeline.md:\n{}", missing.join("\n"));
}

#[test]
fn every_function_is_in_the_reference() {
    let reference = read("docs/src/reference/expressions.md");
    let mut functions = 0;
    for path in files("core/cxl/src/functions", |name| name.ends_with(".rs")) {
        let text = read(&path);
        // The file of the shape itself has an empty name.
        let name = text.split("    name: \"").nth(1).and_then(|rest| rest.split('"').next());
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            functions += 1;
            assert!(
                reference.contains(&format!("`{name}`")),
                "{path}: `{name}` is not in docs/src/reference/expressions.md"
            );
        }
    }
    assert!(functions > 40, "found {functions} functions");
}
