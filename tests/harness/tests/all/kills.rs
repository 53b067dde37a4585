//! The process is killed at each call that changes the file system.

use std::process::{Command as Process, Stdio};
use std::sync::Arc;

use clinker_harness::faults::{Fault, FaultyStorage};
use clinker_harness::{Command, Scratch, clinker};

const DOCUMENT: &str = "\
pipeline: { name: kills }
nodes:
  - type: source
    name: parts
    config:
      name: parts
      type: csv
      path: parts.csv
      schema: [ { name: part, type: string }, { name: count, type: int } ]
  - type: sink
    name: replaced
    input: parts
    config: { name: replaced, type: csv, path: out/replaced.csv }
  - type: sink
    name: suffixed
    input: parts
    config: { name: suffixed, type: csv, path: out/suffixed.csv, if_exists: unique_suffix }
error_handling:
  strategy: continue
  dlq: { path: out/rejects.csv }
";

const NEW: &str = "part,count\na,1\nc,3\n";

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("pipeline.yaml", DOCUMENT).write("parts.csv", "part,count\na,1\nb,x\nc,3\n");
    scratch.write("out/replaced.csv", "old\n");
    scratch
}

/// Not a test of its own: the process that the tests below kill. It does nothing unless they ask.
#[test]
fn child() {
    let (Some(dir), Some(at)) = (std::env::var_os("KILLED_DIR"), std::env::var("KILLED_AT").ok()) else { return };
    let at = at.parse().expect("a number");
    let mut command = Command::new(dir.as_ref(), &["run", "pipeline.yaml"]);
    command.storage = FaultyStorage::new(Fault::Kill, at);
    command.seed = 8;
    std::process::exit(i32::from(command.run().exit));
}

fn killed_at(scratch: &Scratch, at: u64) -> bool {
    let status = Process::new(std::env::current_exe().expect("tests know their path"))
        .args(["--exact", "kills::child", "--nocapture"])
        .env("KILLED_DIR", scratch.path())
        .env("KILLED_AT", at.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("the test can run itself");
    status.code().is_none()
}

#[test]
fn pb_12_after_a_kill_at_any_call_finals_are_whole_and_the_next_run_works_at_once() {
    let storage = FaultyStorage::new(Fault::Kill, u64::MAX);
    let counted = scratch();
    let mut command = Command::new(counted.path(), &["run", "pipeline.yaml"]);
    command.storage = Arc::clone(&storage) as Arc<dyn clinker_publish::Storage>;
    assert_eq!(command.run().exit, 2);
    assert!(storage.calls() > 12, "the run has calls to be killed at");
    for at in 0..storage.calls() {
        let scratch = scratch();
        assert!(killed_at(&scratch, at), "the process is killed at call {at}");
        let replaced = scratch.read("out/replaced.csv").expect("the old file or the new one is there");
        assert!(replaced == "old\n" || replaced == NEW, "half a file after call {at}: {replaced}");
        let suffixed = scratch.read("out/suffixed.csv");
        assert!(suffixed.is_none() || suffixed.as_deref() == Some(NEW), "half a file after call {at}: {suffixed:?}");
        let outcome = clinker(scratch.path(), &["run", "pipeline.yaml"]);
        assert_eq!(outcome.exit, 2, "the next run after call {at}: {}", outcome.stderr);
        assert_eq!(scratch.read("out/replaced.csv").as_deref(), Some(NEW));
        let again = if suffixed.is_some() { "out/suffixed-1.csv" } else { "out/suffixed.csv" };
        assert_eq!(scratch.read(again).as_deref(), Some(NEW), "after call {at}");
        assert_eq!(scratch.read("out/rejects.csv").map(|text| text.lines().count()), Some(2));
    }
}
