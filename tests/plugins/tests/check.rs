//! `clinker plugin check` and its process.

use std::path::Path;
use std::process::{Command, Output};

use clinker_plugin_tests::build_rust;

fn clinker(args: &[&str], env: Option<(&str, &str)>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clinker-process"));
    command.args(args).env_remove("CLINKER_FORBID_PLUGINS").envs(env);
    command.output().expect("it runs")
}

fn check(path: &Path, more: &[&str]) -> (Option<i32>, String) {
    let path = path.display().to_string();
    let args: Vec<&str> = ["plugin", "check", &path].into_iter().chain(more.iter().copied()).collect();
    let output = clinker(&args, None);
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The misbehaving plugin with a feature, under a name of its own.
fn misbehaving(feature: &str) -> std::path::PathBuf {
    let library = build_rust("plugins/misbehaving", "misbehaving", &[feature]);
    let kept = library.with_file_name(format!("misbehaving-check-{feature}.so"));
    std::fs::copy(&library, &kept).expect("it is kept");
    kept
}

#[test]
fn operations_2_11_a_library_is_checked_in_a_process_of_its_own() {
    let shipment = build_rust("plugins/samples/shipment-rust", "shipment", &[]);
    let (exit, stdout) = check(&shipment, &[]);
    assert_eq!(exit, Some(0), "{stdout}");
    assert!(stdout.starts_with("ok   policy\nok   file\nok   library\n"), "{stdout}");
    assert!(stdout.ends_with("20 passed, 0 failed, 2 skipped\n"), "{stdout}");
    let (_, json) = check(&shipment, &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["schema_version"], &json["version"]), (&"1".into(), &"0.1.0".into()));
    assert_eq!(json["checks"].as_array().map(Vec::len), Some(22));
    assert_eq!(json["checks"][8]["format"], "shipment");
    let forbidden =
        clinker(&["plugin", "check", &shipment.display().to_string()], Some(("CLINKER_FORBID_PLUGINS", "1")));
    let stdout = String::from_utf8_lossy(&forbidden.stdout).into_owned();
    assert!(forbidden.status.code() == Some(1) && stdout.starts_with("FAIL policy: E467 "), "{stdout}");
}

#[test]
fn e465_a_library_that_takes_the_process_with_it_while_loading() {
    let (exit, stdout) = check(&misbehaving("aborting_load"), &[]);
    assert_eq!(exit, Some(1), "{stdout}");
    let last: Vec<&str> = stdout.lines().rev().take(2).collect();
    assert_eq!(last[0], "5 passed, 1 failed, 0 skipped", "{stdout}");
    assert!(last[1].starts_with("FAIL entry point: E465 the process ended with signal"), "{stdout}");
}

#[test]
fn operations_2_11_a_format_that_takes_the_process_with_it_fails_and_the_next_one_is_checked() {
    let (exit, stdout) = check(&misbehaving("crashing"), &[]);
    assert_eq!(exit, Some(1), "{stdout}");
    let lost: Vec<&str> = stdout.lines().filter(|line| line.contains("the process ended with signal")).collect();
    assert_eq!(lost.len(), 1, "{stdout}");
    assert!(lost[0].starts_with("FAIL misbehaving: C01 ") && !lost[0].contains("E465"), "{stdout}");
    assert_eq!(stdout.matches("ok   policy").count(), 1, "the steps are told once: {stdout}");
    assert!(stdout.contains("ok   steady: C01 "), "{stdout}");
    assert_eq!(stdout.lines().filter(|line| line.contains("steady: C")).count(), 14, "{stdout}");
}
