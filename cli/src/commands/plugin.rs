//! `clinker plugin check`: a library is examined step by step, in a process that it may take with it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use clinker_conformance::{self as conformance, Bad, Corpus, Outcome, Sample};
use clinker_plugin_host::{CorpusFile, Loaded, Step, Surroundings, examine};
use serde_json::{Value, json};

use crate::flags::{ListForm, PluginAction, PluginFlags};
use crate::{Host, exit};

/// How long the process may say nothing: the 60 s of the watchdog inside of it, which says more, and a little longer.
const SILENCE: Duration = Duration::from_secs(62);

/// Runs `clinker plugin`.
pub fn plugin(flags: &PluginFlags, host: &Host) -> u8 {
    match &flags.action {
        PluginAction::Check { path, format } => check(path, *format, host),
        PluginAction::Examine { path, from } => {
            let stdout = host.stdout.clone();
            clinker_plugin_host::surround(Surroundings {
                report: Arc::new(move |code, reason| {
                    stdout.write(&format!("{}\n", Line::Lost { code, reason }.value()))
                }),
                ..Surroundings::default()
            });
            examine_from(path, *from, host, &mut |line| host.stdout.write(&format!("{line}\n")));
            exit::SUCCESS
        }
    }
}

fn check(path: &Path, form: ListForm, host: &Host) -> u8 {
    let mut found = Found::default();
    match &host.executable {
        Some(binary) => elsewhere(binary, path, &mut found),
        None => examine_from(path, 0, host, &mut |line| found.take(line)),
    }
    let failed = found.checks.iter().any(|check| check["result"] == "FAIL");
    let text = match form {
        ListForm::Text => text(&found.checks),
        ListForm::Json => {
            let document = json!({
                "schema_version": "1",
                "path": path.display().to_string(),
                "version": found.facts["version"],
                "interface": found.facts["interface"],
                "checks": found.checks,
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

/// What the process of a check says beside results.
enum Line<'a> {
    /// A check of a format begins, from which the process may not come back.
    Begins { check: &'a str, format: &'a str, at: usize },
    /// The process ends.
    Lost { code: &'a str, reason: &'a str },
}

impl Line<'_> {
    fn value(&self) -> Value {
        match self {
            Line::Begins { check, format, at } => json!({ "begins": check, "format": format, "at": at }),
            Line::Lost { code, reason } => json!({ "lost": reason, "code": code }),
        }
    }
}

/// What was said so far.
#[derive(Default)]
struct Found {
    checks: Vec<Value>,
    /// Version and interface.
    facts: Value,
    /// The check of a format that has begun and has no result.
    begun: Option<Value>,
    /// Why the process ends, in its own words.
    lost: Option<Value>,
}

impl Found {
    fn take(&mut self, line: Value) {
        if line["result"].is_string() {
            self.begun = None;
            self.checks.push(line);
        } else if line["begins"].is_string() {
            self.begun = Some(line);
        } else if line["lost"].is_string() {
            self.lost = Some(line);
        } else if line["version"].is_string() {
            self.facts = line;
        }
    }

    /// Notes that the process was lost; gives the position of the format behind the one at hand.
    fn lose(&mut self, how: &str) -> Option<usize> {
        let lost = self.lost.take().unwrap_or_default();
        let detail = lost["lost"].as_str().unwrap_or(how);
        let Some(begun) = self.begun.take() else {
            let step = Step::ALL.get(self.checks.len()).map_or("names", |step| step.name());
            self.checks.push(line(step, "FAIL", "E465", detail));
            return None;
        };
        let mut failed = line(begun["begins"].as_str().unwrap_or_default(), "FAIL", "", detail);
        failed["format"] = begun["format"].clone();
        if let Some(code) = lost["code"].as_str() {
            failed["code"] = json!(code);
        }
        self.checks.push(failed);
        begun["at"].as_u64().and_then(|at| usize::try_from(at).ok()).map(|at| at + 1)
    }
}

/// The steps of loading in this process, each told when it is over, then the formats from a position on. Of a further
/// process the steps were told before.
fn examine_from(path: &Path, from: usize, host: &Host, tell: &mut dyn FnMut(Value)) {
    let forbid = (host.env)("CLINKER_FORBID_PLUGINS").is_some_and(|value| !value.is_empty());
    let mut passed = 0;
    let examined = examine(path, forbid, &mut |step| {
        passed += 1;
        if from == 0 {
            tell(line(step.name(), "ok", "", ""));
        }
    });
    match examined {
        Ok(loaded) => describe(&loaded, from, tell),
        Err(fault) => {
            let step = Step::ALL.get(passed).map_or("loading", |step| step.name());
            tell(line(step, "FAIL", fault.code, &fault.message));
        }
    }
}

fn describe(loaded: &Loaded, from: usize, tell: &mut dyn FnMut(Value)) {
    let (major, minor) = loaded.facts.interface;
    tell(json!({ "version": loaded.facts.version, "interface": format!("{major}.{minor}") }));
    for (at, (format, files)) in loaded.formats.iter().zip(&loaded.corpora).enumerate().skip(from) {
        let name = format.descriptor().name;
        let with_name = |mut line: Value| {
            line["format"] = json!(name);
            line
        };
        if files.is_empty() {
            tell(with_name(line("conformance", "skip", "", "the plugin ships no files to try it with")));
            continue;
        }
        let corpus = corpus(files);
        for (check, run) in conformance::checks(*format, &corpus, MUTATIONS) {
            tell(Line::Begins { check, format: name, at }.value());
            tell(with_name(match &run().outcome {
                Outcome::Ok => line(check, "ok", "", ""),
                Outcome::Skipped(why) => line(check, "skip", "", why),
                Outcome::Failed(seen) => {
                    // A breach of the contract is told as one; it names the call.
                    let code = if seen.contains("broke the contract") { "E468" } else { "" };
                    line(check, "FAIL", code, seen)
                }
            }));
        }
    }
}

/// Damaged copies of its files that a format is tried with.
const MUTATIONS: u32 = 2_000;

/// The files that a format ships, as the kit takes them.
fn corpus(files: &[CorpusFile]) -> Corpus {
    let mut corpus = Corpus::default();
    for file in files {
        let (name, bytes, options) = (file.name.clone(), file.bytes.clone(), file.options.clone());
        let (rows, round_trip) = (file.rows, file.round_trip);
        let sample = Sample { name, options, bytes, rows, round_trip, ..Sample::default() };
        match &file.code {
            None => corpus.valid.push(sample),
            // A check ends with its process.
            Some(code) => corpus.invalid.push(Bad { sample, code: code.clone().leak(), bounded: file.bounded }),
        }
    }
    corpus.write = files.iter().any(|file| file.round_trip).then(Vec::new);
    corpus
}

/// The same in a process of its own, which may crash or never answer. What a format took with it is one failed check; the
/// formats behind it get a process of their own.
fn elsewhere(binary: &Path, path: &Path, found: &mut Found) {
    let mut from = Some(0);
    while let Some(at) = from {
        from = process(binary, path, at, found);
    }
}

/// One process; the format from which another one is to go on.
fn process(binary: &Path, path: &Path, from: usize, found: &mut Found) -> Option<usize> {
    let mut command = Command::new(binary);
    command.args(["plugin", "examine", "--from", &from.to_string(), "--"]).arg(path);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            found.checks.push(line("process", "FAIL", "", &format!("no process can be started: {error}")));
            return None;
        }
    };
    let lines = reader(&mut child);
    let silent = loop {
        match lines.recv_timeout(SILENCE) {
            Ok(line) => found.take(line),
            Err(RecvTimeoutError::Disconnected) => break false,
            Err(RecvTimeoutError::Timeout) => break true,
        }
    };
    if silent {
        // It may have ended by itself just now.
        let _ = child.kill();
    }
    match child.wait() {
        _ if silent => found.lose(&format!("the process did not answer for {} s", SILENCE.as_secs())),
        Ok(status) if status.success() => None,
        Ok(status) => found.lose(&format!("the process ended with {status}")),
        Err(error) => found.lose(&format!("the process was lost: {error}")),
    }
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
