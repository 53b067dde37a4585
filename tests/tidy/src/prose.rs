//! Documents name no machine, and the commands they show are the ones that are run.

use crate::source::{files, read, sources};

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
