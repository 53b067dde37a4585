//! A disk that is full, broken or short at each call a run makes.

use std::sync::Arc;

use clinker_harness::faults::{Fault, FaultyStorage};
use clinker_harness::{Command, Outcome, Scratch};

const DOCUMENT: &str = "\
pipeline: { name: faults }
nodes:
  - type: source
    name: parts
    config:
      name: parts
      type: csv
      path: parts.csv
      schema: [ { name: part, type: string }, { name: count, type: int } ]
  - type: sink
    name: counted
    input: parts
    config: { name: counted, type: csv, path: out/counted.csv }
  - type: sink
    name: again
    input: parts
    config: { name: again, type: csv, path: out/again.csv, if_exists: unique_suffix }
error_handling:
  strategy: continue
  dlq: { path: out/rejects.csv }
";

/// A folder with an earlier run's outputs.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let mut parts = String::from("part,count\n");
    for number in 0..500 {
        parts.push_str(&format!(
            "part-{number},{}\n",
            if number % 10 == 0 { "many".to_owned() } else { number.to_string() }
        ));
    }
    scratch.write("pipeline.yaml", DOCUMENT).write("parts.csv", parts);
    scratch.write("out/counted.csv", "old\n").write("out/rejects.csv", "old\n");
    scratch
}

fn run(scratch: &Scratch, storage: &Arc<FaultyStorage>) -> Outcome {
    let mut command = Command::new(scratch.path(), &["run", "pipeline.yaml", "--threads", "2"]);
    command.storage = Arc::clone(storage) as Arc<dyn clinker_publish::Storage>;
    command.run()
}

fn calls_of_a_run() -> u64 {
    let storage = FaultyStorage::new(Fault::Full, u64::MAX);
    assert_eq!(run(&scratch(), &storage).exit, 2);
    storage.calls()
}

/// Each final is the old one or the complete new one.
fn assert_whole(scratch: &Scratch, context: &str) {
    for (name, lines) in [("out/counted.csv", 451), ("out/rejects.csv", 51), ("out/again.csv", 451)] {
        match scratch.read(name).as_deref() {
            None | Some("old\n") => {}
            Some(text) => assert_eq!(text.lines().count(), lines, "{name} is half published: {context}"),
        }
    }
}

#[test]
fn pb_5_a_full_disk_at_any_call_publishes_nothing_and_says_so() {
    for at in 0..calls_of_a_run() {
        let scratch = scratch();
        let outcome = run(&scratch, &FaultyStorage::new(Fault::Full, at));
        let context = format!("call {at}: {}", outcome.stderr);
        assert_eq!(outcome.exit, 4, "{context}");
        assert!(outcome.stderr.contains("no storage space"), "{context}");
        assert_whole(&scratch, &context);
        let left: Vec<String> = scratch.files().into_iter().filter(|name| name.contains(".clinker")).collect();
        assert!(left.is_empty(), "{left:?} stays behind: {context}");
    }
}

#[test]
fn pb_1_a_broken_device_at_any_call_leaves_no_half_file() {
    for at in 0..calls_of_a_run() {
        let scratch = scratch();
        let outcome = run(&scratch, &FaultyStorage::new(Fault::Broken, at));
        let context = format!("call {at}: {}", outcome.stderr);
        assert_eq!(outcome.exit, 4, "{context}");
        assert_whole(&scratch, &context);
    }
}

#[test]
fn pb_1_short_writes_lose_no_byte() {
    for at in 0..calls_of_a_run() {
        let scratch = scratch();
        let outcome = run(&scratch, &FaultyStorage::new(Fault::Short, at));
        assert_eq!(outcome.exit, 2, "call {at}: {}", outcome.stderr);
        assert_eq!(scratch.read("out/counted.csv").map(|text| text.lines().count()), Some(451));
        assert_eq!(scratch.read("out/rejects.csv").map(|text| text.lines().count()), Some(51));
    }
}

#[test]
fn dlq_34_a_full_staging_location_names_the_file_the_rows_and_the_worst_stage() {
    let scratch = scratch();
    // The dead letters of this run are first written when it ends; find that call.
    let found = (0..calls_of_a_run()).find_map(|at| {
        let outcome = run(&scratch, &FaultyStorage::new(Fault::Full, at));
        outcome.stderr.contains("dead-letter output").then_some(outcome)
    });
    let outcome = found.expect("some call writes dead letters");
    assert_eq!(outcome.exit, 4);
    let text: String = outcome.stderr.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert!(
        text.contains(
            "dead-letter output out/rejects.csv could not be written after 50 dead-lettered rows (most from stage \
             source, category type_coercion_failure)"
        ),
        "{text}"
    );
    assert!(
        outcome.stderr.contains("    type_error_threshold: 0.05\n"),
        "the breaker can be pasted: {}",
        outcome.stderr
    );
    assert!(text.contains("These breakers bound how many rows can dead-letter;"), "{text}");
}
