//! Files and functions stay readable.

use crate::source::{Source, is_test_file, item_end, sources};

/// Lines of a Rust file.
const FILE: usize = 600;
/// Lines of a function, from its `fn` to its closing brace.
const FUNCTION: usize = 60;

/// Files that may be longer, with the reason.
const LONG_FILES: &[(&str, &str)] = &[];
/// Functions that may be longer (file, name, reason).
const LONG_FUNCTIONS: &[(&str, &str, &str)] = &[];

/// Name, first line and length of each function with a body.
fn functions(source: &Source) -> Vec<(String, usize, usize)> {
    let code = &source.code;
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let starts_word =
            at == 0 || !code.as_bytes()[at - 1].is_ascii_alphanumeric() && code.as_bytes()[at - 1] != b'_';
        let name: String =
            code[at + 3..].trim_start().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        if !starts_word || name.is_empty() {
            continue;
        }
        let end = item_end(code, at);
        let first = 1 + code[..at].matches('\n').count();
        found.push((name, first, 1 + code[at..end].matches('\n').count()));
    }
    found
}

#[test]
fn files_stay_below_600_lines() {
    let mut long = Vec::new();
    for source in sources(&["core", "formats", "cli", "tests"]) {
        let lines = source.text.lines().count();
        let listed = LONG_FILES.iter().any(|(path, _)| *path == source.path);
        if lines > FILE && !listed {
            long.push(format!("{} has {lines} lines", source.path));
        } else if lines <= FILE && listed {
            long.push(format!("{} is short again: take it off the list", source.path));
        }
    }
    assert!(long.is_empty(), "at most {FILE} lines a file:\n{}", long.join("\n"));
}

#[test]
fn functions_stay_below_60_lines() {
    let mut wrong = Vec::new();
    let mut used = Vec::new();
    for source in sources(&["core", "formats", "cli"]) {
        if is_test_file(&source.path) {
            continue;
        }
        for (name, line, length) in functions(&source) {
            let listed = LONG_FUNCTIONS.iter().find(|(path, function, _)| *path == source.path && *function == name);
            match listed {
                Some(entry) if length > FUNCTION => used.push(entry),
                None if length > FUNCTION => wrong.push(format!("{}:{line}: `{name}` has {length} lines", source.path)),
                _ => {}
            }
        }
    }
    let unused = LONG_FUNCTIONS.iter().filter(|entry| !used.contains(entry));
    wrong.extend(unused.map(|(path, name, _)| format!("{path}: `{name}` is short again: take it off the list")));
    assert!(wrong.is_empty(), "at most {FUNCTION} lines a function:\n{}", wrong.join("\n"));
}

#[test]
fn functions_are_measured_from_fn_to_brace() {
    let text = "trait T { fn none(&self) -> [u8; 2]; }\nfn one() {}\nfn three(\n    f: fn(u8) -> u8,\n) {}\n";
    let source = Source::parse("a.rs", text.to_owned());
    let found: Vec<(String, usize)> = functions(&source).into_iter().map(|(name, _, length)| (name, length)).collect();
    assert_eq!(found, [("none".to_owned(), 1), ("one".to_owned(), 1), ("three".to_owned(), 3)]);
}
