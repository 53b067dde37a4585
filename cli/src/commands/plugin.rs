//! `clinker plugin check`: a library is examined step by step, in a process that it may take with it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use clinker_conformance::{self as conformance, Bad, Corpus, Outcome, Sample};
use clinker_plugin_host::{CorpusFile, Loaded, Step, examine};
use serde_json::{Value, json};

use crate::flags::{ListForm, PluginAction, PluginFlags};
use crate::{Host, exit};

/// How long the process may say nothing.
const SILENCE: Duration = Duration::from_secs(60);

/// Runs `clinker plugin`.
pub fn plugin(flags: &PluginFlags, host: &Host) -> u8 {
    match &flags.action {
        PluginAction::Check { path, format } => check(path, *format, host),
        PluginAction::Examine { path } => {
            steps(path, host, &mut |line| host.stdout.write(&format!("{line}\n")));
            exit::SUCCESS
        }
    }
}

fn check(path: &Path, form: ListForm, host: &Host) -> u8 {
    let mut found = Vec::new();
    match &host.executable {
        Some(binary) => elsewhere(binary, path, &mut found),
        None => steps(path, host, &mut |line| found.push(line)),
    }
    let (facts, checks): (Vec<Value>, Vec<Value>) = found.into_iter().partition(|line| line["version"].is_string());
    let failed = checks.iter().any(|check| check["result"] == "FAIL");
    let text = match form {
        ListForm::Text => text(&checks),
        ListForm::Json => {
            let facts = facts.first().cloned().unwrap_or_default();
            let document = json!({
                "schema_version": "1",
                "path": path.display().to_string(),
                "version": facts["version"],
                "interface": facts["interface"],
                "checks": checks,
            });
            format!("{document:#}\n")
        }
    };
    match host.deliver(&text) {
        exit::SUCCESS if failed => exit::CONFIGURATION,
        code => code,
    }
}

fn text(checks: &[Value]) -> String {
    let mut text = String::new();
    for check in checks {
        let word = |key: &str| check[key].as_str().unwrap_or_default();
        let format = check["format"].as_str().map(|format| format!("{format}: ")).unwrap_or_default();
        text.push_str(&format!("{:5}{format}{}", word("result"), word("check")));
        let said = [word("code"), word("detail")].into_iter().filter(|said| !said.is_empty()).collect::<Vec<_>>();
        if !said.is_empty() {
            text.push_str(&format!(": {}", said.join(" ")));
        }
        text.push('\n');
    }
    let count = |word: &str| checks.iter().filter(|check| check["result"] == word).count();
    text.push_str(&format!("{} passed, {} failed, {} skipped\n", count("ok"), count("FAIL"), count("skip")));
    text
}

fn line(check: &str, result: &str, code: &str, detail: &str) -> Value {
    let mut line = json!({ "check": check, "result": result });
    for (key, text) in [("code", code), ("detail", detail)] {
        if !text.is_empty() {
            line[key] = json!(text);
        }
    }
    line
}

/// The steps of loading in this process, each told when it is over.
fn steps(path: &Path, host: &Host, tell: &mut dyn FnMut(Value)) {
    let forbid = (host.env)("CLINKER_FORBID_PLUGINS").is_some_and(|value| !value.is_empty());
    let mut passed = 0;
    let examined = examine(path, forbid, &mut |step| {
        passed += 1;
        tell(line(step.name(), "ok", "", ""));
    });
    match examined {
        Ok(loaded) => describe(&loaded, tell),
        Err(fault) => {
            let step = Step::ALL.get(passed).map_or("loading", |step| step.name());
            tell(line(step, "FAIL", fault.code, &fault.message));
        }
    }
}

fn describe(loaded: &Loaded, tell: &mut dyn FnMut(Value)) {
    let (major, minor) = loaded.interface;
    tell(json!({ "version": loaded.version, "interface": format!("{major}.{minor}") }));
    for (format, files) in loaded.formats.iter().zip(&loaded.corpora) {
        let mut told = |mut line: Value| {
            line["format"] = json!(format.descriptor().name);
            tell(line);
        };
        if files.is_empty() {
            told(line("conformance", "skip", "", "the plugin ships no files to try it with"));
            continue;
        }
        for check in conformance::check(*format, &corpus(files), MUTATIONS) {
            told(match &check.outcome {
                Outcome::Ok => line(check.statement, "ok", "", ""),
                Outcome::Skipped(why) => line(check.statement, "skip", "", why),
                Outcome::Failed(seen) => {
                    // A breach of the contract is told as one; it names the call.
                    let code = if seen.contains("broke the contract") { "E468" } else { "" };
                    line(check.statement, "FAIL", code, seen)
                }
            });
        }
    }
}

/// Damaged copies of its files that a format is tried with.
const MUTATIONS: u32 = 2_000;

/// The files that a format ships, as the kit takes them.
fn corpus(files: &[CorpusFile]) -> Corpus {
    let mut corpus = Corpus::default();
    for file in files {
        let (name, bytes) = (file.name.clone(), file.bytes.clone());
        let sample = Sample { name, bytes, rows: file.rows, round_trip: file.round_trip, ..Sample::default() };
        match &file.code {
            None => corpus.valid.push(sample),
            // A check ends with its process.
            Some(code) => corpus.invalid.push(Bad { sample, code: code.clone().leak(), bounded: file.bounded }),
        }
    }
    corpus.write = files.iter().any(|file| file.round_trip).then(Vec::new);
    corpus
}

/// The same in a process of its own, which may crash or never answer.
fn elsewhere(binary: &Path, path: &Path, found: &mut Vec<Value>) {
    let mut command = Command::new(binary);
    command.arg("plugin").arg("examine").arg(path).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = match command.stderr(Stdio::null()).spawn() {
        Ok(child) => child,
        Err(error) => {
            found.push(line("process", "FAIL", "", &format!("no process can be started: {error}")));
            return;
        }
    };
    let lines = reader(&mut child);
    let silent = loop {
        match lines.recv_timeout(SILENCE) {
            Ok(line) => found.push(line),
            Err(RecvTimeoutError::Disconnected) => break false,
            Err(RecvTimeoutError::Timeout) => break true,
        }
    };
    if silent {
        // It may have ended by itself just now.
        let _ = child.kill();
    }
    let status = child.wait();
    let ended = status.as_ref().is_ok_and(std::process::ExitStatus::success) && !silent;
    if ended {
        return;
    }
    let passed = found.iter().filter(|line| line["result"] == "ok").count();
    let step = Step::ALL.get(passed).map_or("formats", |step| step.name());
    let detail = match (silent, status) {
        (true, _) => format!("the process did not answer for {} s", SILENCE.as_secs()),
        (false, Ok(status)) => format!("the process ended with {status}"),
        (false, Err(error)) => format!("the process was lost: {error}"),
    };
    found.push(line(step, "FAIL", "E465", &detail));
}

/// The lines of a child, as they come.
fn reader(child: &mut Child) -> Receiver<Value> {
    let (send, receive) = channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { return };
                if let Ok(value) = serde_json::from_str(&line)
                    && send.send(value).is_err()
                {
                    return;
                }
            }
        });
    }
    receive
}
