//! The process is killed: at each call that changes the file system, and at moments that have nothing to do with calls.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Command as Process, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clinker_engine::{InputOpener, OsInputs};
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

/// Runs a test function of this file in a process of its own.
fn itself(test: &str, env: &[(&str, &std::ffi::OsStr)]) -> ExitStatus {
    Process::new(std::env::current_exe().expect("tests know their path"))
        .args(["--exact", test, "--nocapture"])
        .envs(env.iter().copied())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("the test can run itself")
}

fn killed_at(scratch: &Scratch, at: u64) -> bool {
    let at = at.to_string();
    let env = [("KILLED_DIR", scratch.path().as_os_str()), ("KILLED_AT", at.as_ref())];
    itself("kills::child", &env).code().is_none()
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

/// Counts reads of inputs.
struct Watched {
    reads: Arc<AtomicU64>,
}

struct WatchedFile {
    inner: Box<dyn Read + Send>,
    reads: Arc<AtomicU64>,
}

impl InputOpener for Watched {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(WatchedFile { inner: OsInputs.open(path)?, reads: Arc::clone(&self.reads) }))
    }

    fn piece(&self) -> Option<usize> {
        Some(64)
    }
}

impl Read for WatchedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let len = into.len().min(64);
        self.inner.read(&mut into[..len])
    }
}

/// What a call that changes the file system counts, where a read counts 1: there are few of them.
const CALL: u64 = 200;

/// Not a test of its own: a process with a thread that watches how far the run has come and ends the process a moment
/// after it has come to a number; or it leaves the last number in a file.
#[test]
fn watched_child() {
    let (Some(dir), Some(most)) = (std::env::var_os("WATCHED_DIR"), std::env::var("WATCHED_TO").ok()) else { return };
    let most: u64 = most.parse().expect("a number");
    let (reads, storage) = (Arc::new(AtomicU64::new(0)), FaultyStorage::new(Fault::Kill, u64::MAX));
    let mut command = Command::new(dir.as_ref(), &["run", "pipeline.yaml", "--threads", "2"]);
    command.seed = 8;
    command.inputs = Arc::new(Watched { reads: Arc::clone(&reads) });
    command.storage = Arc::clone(&storage) as Arc<dyn clinker_publish::Storage>;
    let come_to = move || reads.load(Ordering::SeqCst) + CALL * storage.calls();
    let watch = come_to.clone();
    std::thread::spawn(move || {
        while watch() < most {
            std::thread::yield_now();
        }
        (0..most % 1000).for_each(|_| std::hint::spin_loop());
        std::process::abort();
    });
    let exit = command.run().exit;
    std::fs::write(Path::new(&dir).join("come-to"), come_to().to_string()).expect("the folder takes it");
    std::process::exit(i32::from(exit));
}

fn watched(scratch: &Scratch, most: u64) -> ExitStatus {
    let most = most.to_string();
    let env = [("WATCHED_DIR", scratch.path().as_os_str()), ("WATCHED_TO", most.as_ref())];
    itself("kills::watched_child", &env)
}

#[test]
fn pb_12_after_a_kill_at_a_random_moment_finals_are_whole_and_the_next_run_works_at_once() {
    const ROWS: u64 = 20_000;
    let rows: String = (0..ROWS).map(|row| format!("part-{row},{}\n", if row % 10 == 9 { "x" } else { "7" })).collect();
    let good = (0..ROWS).filter(|row| row % 10 != 9).map(|row| format!("part-{row},7\n"));
    let new: String = std::iter::once("part,count\n".to_owned()).chain(good).collect();
    let prepared = || {
        let scratch = scratch();
        scratch.write("parts.csv", format!("part,count\n{rows}"));
        scratch
    };
    let whole = prepared();
    assert_eq!(watched(&whole, u64::MAX).code(), Some(2), "nothing ends it at a number that is never reached");
    let most: u64 = whole.read("come-to").and_then(|text| text.parse().ok()).expect("a number");
    let rejects = whole.read("out/rejects.csv").expect("dead letters");
    let (mut seed, mut killed) = (0x9E37_79B9_7F4A_7C15_u64, 0);
    for round in 0..40 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let scratch = prepared();
        killed += u32::from(watched(&scratch, seed % most).code().is_none());
        let replaced = scratch.read("out/replaced.csv").expect("the old file or the new one is there");
        assert!(replaced == "old\n" || replaced == new, "half a file in round {round}: {} bytes", replaced.len());
        let suffixed = scratch.read("out/suffixed.csv");
        assert!(suffixed.is_none() || suffixed.as_ref() == Some(&new), "half a file in round {round}");
        if let Some(found) = scratch.read("out/rejects.csv") {
            assert_eq!(found.lines().count(), rejects.lines().count(), "half of the dead letters in round {round}");
        }
        let outcome = clinker(scratch.path(), &["run", "pipeline.yaml"]);
        assert_eq!(outcome.exit, 2, "the next run after round {round}: {}", outcome.stderr);
        assert_eq!(scratch.read("out/replaced.csv").as_ref(), Some(&new));
    }
    // A moment near the end may come too late.
    assert!(killed > 20, "the moments lie within the run: {killed} of 40");
}
