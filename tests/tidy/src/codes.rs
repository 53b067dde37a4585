//! Every diagnostic code that is raised is registered, explained and proven by a test.

use std::collections::{BTreeMap, BTreeSet};

use clinker_diagnostics::codes;

use crate::pages::complete_examples;
use crate::source::{Source, files, is_test_file, read, sources};

/// Codes that are raised and not yet proven by a test with the code in its name. This list only shrinks.
const UNPROVEN: &[&str] = &[];

/// Codes that the sources name for another reason than raising them (code, reason).
const NAMED_ONLY: &[(&str, &str)] = &[];

/// Whether a word is spelled like a code.
fn is_code(word: &str) -> bool {
    let digits = |text: &str| text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    match word.split_at_checked(1) {
        Some(("E", rest)) => {
            rest.strip_prefix("-SEC-").is_some_and(digits)
                || digits(rest)
                || rest
                    .split_at_checked(3)
                    .is_some_and(|(head, tail)| digits(head) && matches!(tail, "b" | "c" | "d" | "e"))
                || rest == "15Y"
        }
        Some(("W", rest)) => digits(rest),
        _ => false,
    }
}

/// The code a literal raises: it is the code, or it begins with it as messages of a run do.
fn raised(literal: &str) -> Option<&str> {
    let word = literal.trim_start_matches('[').split([' ', ']', ':']).next()?;
    is_code(word).then_some(word)
}

/// Raised codes and one place of each.
fn emitted() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for source in sources(&["core", "formats", "cli"]) {
        if is_test_file(&source.path) || source.path.starts_with("core/diagnostics/src/codes") {
            continue;
        }
        for literal in &source.literals {
            if let Some(code) = raised(&literal.text) {
                found.entry(code.to_owned()).or_insert_with(|| format!("{}:{}", source.path, literal.line));
            }
        }
    }
    found.retain(|code, _| NAMED_ONLY.iter().all(|(named, _)| named != code));
    found
}

/// Codes in the names of tests and cases, in what cases expect on standard error, and those of complete examples, each
/// of which is compiled by a test.
fn proven() -> BTreeSet<String> {
    let mut words: String = complete_examples().into_iter().map(|(code, _)| code + "\n").collect();
    for path in files("", |name| name.ends_with(".rs")) {
        let source = Source::parse(&path, read(&path));
        // Test functions are blanked in `code`, so the text is searched.
        for line in source.text.lines() {
            if let Some((_, rest)) = line.split_once("fn ") {
                words.push_str(rest.split('(').next().unwrap_or_default());
                words.push('\n');
            }
        }
    }
    for path in files("tests/cases", |_| true).into_iter().chain(files("examples", |_| true)) {
        words.push_str(&path);
        words.push('\n');
        if path.contains("/expected/") && path.rsplit('/').next().is_some_and(|name| name.starts_with("stderr")) {
            words.push_str(&read(&path));
        }
    }
    let words = words.to_lowercase().replace('-', "_");
    let known = words.split(|c: char| !c.is_ascii_alphanumeric());
    let mut found: BTreeSet<String> = known.map(str::to_owned).collect();
    if words.contains("e_sec_001") {
        found.insert("e_sec_001".to_owned());
    }
    found
}

fn is_proven(code: &str, proven: &BTreeSet<String>) -> bool {
    proven.contains(&code.to_lowercase().replace('-', "_"))
}

#[test]
fn dia_11_every_raised_code_is_registered() {
    let wrong: Vec<String> = emitted()
        .into_iter()
        .filter(|(code, _)| codes::lookup(code).is_none())
        .map(|(code, place)| format!("{place}: {code} is not registered"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_raised_code_has_a_detail_page() {
    let wrong: Vec<String> = emitted()
        .into_iter()
        .filter(|(code, _)| codes::page(code).is_none())
        .map(|(code, place)| format!("{place}: {code} has no page in docs/codes"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_page_is_compiled_into_the_program() {
    let pages = files("docs/codes", |name| name.ends_with(".md"));
    assert!(!pages.is_empty());
    for path in pages {
        let code = path.trim_start_matches("docs/codes/").trim_end_matches(".md");
        assert_eq!(codes::page(code), Some(read(&path).as_str()), "{code}: not in the list of pages");
    }
}

#[test]
fn every_raised_code_is_proven_by_a_test() {
    let proven = proven();
    let emitted = emitted();
    let mut wrong: Vec<String> = emitted
        .iter()
        .filter(|(code, _)| !is_proven(code, &proven) && !UNPROVEN.contains(&code.as_str()))
        .map(|(code, place)| format!("{place}: no test or case is named after {code}"))
        .collect();
    let done = UNPROVEN.iter().filter(|code| is_proven(code, &proven) || !emitted.contains_key(**code));
    wrong.extend(done.map(|code| format!("{code} is proven or no longer raised: take it off the list")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn codes_are_recognised() {
    assert_eq!(raised("[E126] source="), Some("E126"));
    assert_eq!(raised("E310 {node}: {category}"), Some("E310"));
    assert_eq!(raised("E-SEC-001"), Some("E-SEC-001"));
    assert_eq!(raised("E150b"), Some("E150b"));
    for other in ["E12", "E1234", "EUR", "Error", "", "see E126", "W20"] {
        assert_eq!(raised(other), None, "{other}");
    }
}
