//! Codes that need conditions which no case folder can state.

use clinker_harness::{Command, Scratch};

#[test]
fn e312_a_limit_below_what_the_process_holds_is_refused_before_anything_is_read() {
    let scratch = Scratch::new();
    let document = "pipeline: { name: small }\nnodes:\n  - type: source\n    name: rows\n    config:\n      name: rows\n      \
                    type: csv\n      path: in.csv\n      schema: [ { name: id, type: int } ]\n  - type: sink\n    name: \
                    out\n    input: rows\n    config: { name: out, type: csv, path: out.csv }\n";
    scratch.write("pipeline.yaml", document).write("in.csv", "id\nnot a number\n");
    let mut command = Command::new(scratch.path(), &["run", "pipeline.yaml", "--memory-limit", "1M"]);
    command.resident = Some(9_000_000);
    let outcome = command.run();
    assert_eq!(outcome.exit, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.starts_with("E312\n"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("1048576 bytes") && outcome.stderr.contains("9000000"), "{}", outcome.stderr);
    assert_eq!(scratch.files(), ["in.csv", "pipeline.yaml"]);
}
