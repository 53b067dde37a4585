//! What each part of the code base keeps to itself.

use crate::source::{is_test_file, sources};

/// Names that only format crates, the command line and tests may know.
const FORMATS: [&str; 9] = ["csv", "json", "xml", "x12", "edifact", "hl7", "swift", "fixed_width", "ndjson"];

/// Literals in core that spell like a format and mean something else (file or folder prefix, literal, reason).
const OTHER_MEANINGS: &[(&str, &str, &str)] =
    &[("core/plan/src/nodes/split.rs", "json", "a key of `split_values`: the cell is a JSON array")];

#[test]
fn core_names_no_format() {
    let mut wrong = Vec::new();
    let mut used = vec![false; OTHER_MEANINGS.len()];
    for source in sources(&["core"]) {
        if is_test_file(&source.path) {
            continue;
        }
        for literal in &source.literals {
            if !FORMATS.contains(&literal.text.trim_start_matches('.')) {
                continue;
            }
            match OTHER_MEANINGS
                .iter()
                .position(|(path, text, _)| source.path.starts_with(path) && *text == literal.text)
            {
                Some(at) => used[at] = true,
                None => wrong.push(format!("{}:{}: \"{}\"", source.path, literal.line, literal.text)),
            }
        }
    }
    for (entry, _) in OTHER_MEANINGS.iter().zip(used).filter(|(_, used)| !used) {
        wrong.push(format!("{}: \"{}\" is gone: take it off the list", entry.0, entry.1));
    }
    assert!(wrong.is_empty(), "core knows no format:\n{}", wrong.join("\n"));
}

/// Places outside of `allowed` (a prefix of paths) whose code contains one of `patterns`.
fn intruders(allowed: &str, patterns: &[&str]) -> Vec<String> {
    let mut wrong = Vec::new();
    for source in sources(&["core", "formats", "cli"]) {
        if is_test_file(&source.path) || source.path.starts_with(allowed) {
            continue;
        }
        for (at, line) in source.code.lines().enumerate() {
            for pattern in patterns.iter().filter(|pattern| line.contains(**pattern)) {
                wrong.push(format!("{}:{}: {pattern}", source.path, at + 1));
            }
        }
    }
    wrong
}

#[test]
fn only_the_command_line_prints() {
    let prints = ["println!", "eprintln!", "print!(", "eprint!(", "dbg!", "io::stdout()", "io::stderr()"];
    let wrong = intruders("cli/", &prints);
    assert!(wrong.is_empty(), "only cli prints:\n{}", wrong.join("\n"));
}

#[test]
fn only_publication_renames() {
    let wrong = intruders("core/publish/", &["fs::rename(", "renameat(", "renameat_with("]);
    assert!(wrong.is_empty(), "only core/publish renames a file:\n{}", wrong.join("\n"));
}
