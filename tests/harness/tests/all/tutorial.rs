//! The tutorial and the examples do what they say.

use std::path::{Path, PathBuf};

use clinker_harness::{Scratch, clinker, list_into};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A fenced block of a page: its info string and its text.
struct Fence {
    info: String,
    text: String,
}

fn fences(page: &str) -> Vec<Fence> {
    let mut found: Vec<Fence> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(info) if !inside => {
                inside = true;
                found.push(Fence { info: info.to_owned(), text: String::new() });
            }
            Some(_) => inside = false,
            None if inside => {
                let fence = found.last_mut().expect("a fence was opened");
                fence.text.push_str(line);
                fence.text.push('\n');
            }
            None => {}
        }
    }
    found
}

/// Runs the commands of a console block and compares what they print with what the page shows.
fn console(scratch: &Scratch, text: &str) {
    let mut last = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let command = line.strip_prefix("$ ").unwrap_or_else(|| panic!("a command starts with `$`: {line}"));
        let mut shown = String::new();
        while let Some(output) = lines.next_if(|line| !line.starts_with("$ ")) {
            shown.push_str(output);
            shown.push('\n');
        }
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[0] {
            "clinker" => {
                let outcome = clinker(scratch.path(), &words[1..]);
                assert_eq!(outcome.stdout + &outcome.stderr, shown, "$ {command}");
                last = Some(outcome.exit);
            }
            "mkdir" => {
                for folder in &words[1..] {
                    scratch.folder(folder);
                }
            }
            "echo" => assert_eq!(shown, format!("{}\n", last.expect("a command has run"))),
            other => panic!("the page runs `{other}`, which the test does not know"),
        }
    }
}

/// The named columns of a file, as csv.
fn columns(text: &str, wanted: &str) -> String {
    let wanted: Vec<&str> = wanted.split(',').collect();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let at: Vec<usize> = wanted
        .iter()
        .map(|name| header.iter().position(|column| column == *name).expect("a column of the file"))
        .collect();
    let mut shown = csv::Writer::from_writer(Vec::new());
    shown.write_record(&wanted).expect("memory can be written");
    for row in reader.records() {
        let row = row.expect("the file is csv");
        shown.write_record(at.iter().map(|at| &row[*at])).expect("memory can be written");
    }
    String::from_utf8(shown.into_inner().expect("memory can be written")).expect("the file is UTF-8")
}

#[test]
fn the_tutorial_does_what_it_says() {
    let page = std::fs::read_to_string(project().join("docs/src/tutorial/first-feed.md")).expect("the page is there");
    let scratch = Scratch::new();
    for fence in fences(&page) {
        let (kind, name) = fence.info.split_once(',').unwrap_or((&fence.info, ""));
        match name.split_once('=') {
            Some(("file", name)) => {
                scratch.write(name, &fence.text);
            }
            Some(("expect", name)) => assert_eq!(scratch.read(name).as_deref(), Some(&*fence.text), "{name}"),
            Some(("columns", name)) => {
                let header = fence.text.lines().next().expect("a block has lines");
                assert_eq!(columns(&scratch.read(name).expect("published"), header), fence.text, "{name}");
            }
            _ if kind == "console" => console(&scratch, &fence.text),
            _ => {}
        }
    }
}

#[test]
fn every_example_gives_its_expected_output() {
    let mut examples: Vec<PathBuf> = std::fs::read_dir(project().join("examples"))
        .expect("examples are there")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    examples.sort();
    assert!(!examples.is_empty());
    for example in examples {
        let scratch = Scratch::copy_of(&example);
        let outcome = clinker(scratch.path(), &["run", "pipeline.yaml"]);
        assert!(outcome.exit == 0 || outcome.exit == 2, "{}: {}", example.display(), outcome.stderr);
        let (expected, mut names) = (example.join("expected"), Vec::new());
        list_into(&expected, &expected, &mut names);
        assert!(!names.is_empty(), "{} says what to expect", example.display());
        for name in names {
            let wanted = std::fs::read_to_string(expected.join(&name)).expect("listed");
            let path = &name;
            let found = scratch.read(path).unwrap_or_else(|| panic!("{path} is published"));
            // The example's expectation leaves out what differs from run to run.
            let header = wanted.lines().next().expect("an expectation has a header");
            let found = if header.starts_with("_cxl_dlq_") { columns(&found, header) } else { found };
            assert_eq!(found, wanted, "{}: {name}", example.display());
        }
    }
}
