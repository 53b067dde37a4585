//! One case folder: run it, compare every byte.

use std::path::Path;

use crate::weather::Weather;
use crate::{Command, Outcome, Scratch, list_into};

/// Runs a case in one weather.
///
/// # Errors
/// What differs from `expected/`, for a person.
pub fn run(case: &Path, weather: Weather) -> Result<(), String> {
    let scratch = Scratch::copy_of(case);
    let document =
        std::fs::read_to_string(case.join("pipeline.yaml")).map_err(|error| format!("pipeline.yaml: {error}"))?;
    if !weather.suits(&document) {
        return Ok(());
    }
    scratch.write("pipeline.yaml", weather.document(&document));
    let before = scratch.files();
    let authored = std::fs::read_to_string(case.join("args")).unwrap_or_default();
    let mut args = vec!["run", "pipeline.yaml"];
    args.extend(authored.split_whitespace());
    args.extend(weather.flags());
    let mut command = Command::new(scratch.path(), &args);
    weather.apply(&mut command);
    let outcome = command.run();
    let mut left: Vec<(String, Vec<u8>)> = Vec::new();
    for name in scratch.files() {
        let bytes = std::fs::read(scratch.path().join(&name)).map_err(|error| format!("{name}: {error}"))?;
        let input = case.join(&name);
        let unchanged =
            before.contains(&name) && (name == "pipeline.yaml" || std::fs::read(&input).ok().as_ref() == Some(&bytes));
        if !unchanged {
            left.push((name, bytes));
        }
    }
    if std::env::var_os("UPDATE").is_some() && weather == Weather::Fair {
        return update(case, &left, &outcome, scratch.path());
    }
    compare(case, &left, &outcome, scratch.path())
}

/// Standard error with the scratch folder masked, and without what a tight memory limit adds: how much was spilled.
fn masked(text: &str, scratch: &Path) -> String {
    let mut text = text.replace(&*scratch.to_string_lossy(), "<case>");
    let volume = text.find("=== Spill Volume").and_then(|start| {
        let total = start + text[start..].find("  Total: ")?;
        Some(start..total + text[total..].find('\n')? + 1)
    });
    if let Some(volume) = volume {
        text.replace_range(volume, "");
    }
    text
}

fn compare(case: &Path, left: &[(String, Vec<u8>)], outcome: &Outcome, scratch: &Path) -> Result<(), String> {
    let expected = case.join("expected");
    let read = |name: &str| std::fs::read_to_string(expected.join(name)).unwrap_or_default();
    let exit = read("exit");
    if exit.trim() != outcome.exit.to_string() {
        return Err(format!("exit {} instead of {}\n{}", outcome.exit, exit.trim(), outcome.stderr));
    }
    same("stderr", &read("stderr"), &masked(&outcome.stderr, scratch))?;
    same("stdout", &read("stdout"), &masked(&outcome.stdout, scratch))?;
    let mut names = Vec::new();
    let files = expected.join("files");
    list_into(&files, &files, &mut names);
    names.sort();
    let found: Vec<&String> = left.iter().map(|(name, _)| name).collect();
    if names.iter().collect::<Vec<_>>() != found {
        return Err(format!("files {found:?} instead of {names:?}\n{}", outcome.stderr));
    }
    for (name, bytes) in left {
        let wanted = std::fs::read(files.join(name)).map_err(|error| format!("{name}: {error}"))?;
        if wanted != *bytes {
            let (wanted, found) = (String::from_utf8_lossy(&wanted), String::from_utf8_lossy(bytes));
            return Err(format!("{name} differs\n--- expected\n{wanted}\n--- found\n{found}"));
        }
    }
    Ok(())
}

fn same(what: &str, expected: &str, found: &str) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    Err(format!("{what} differs\n--- expected\n{expected}\n--- found\n{found}"))
}

/// Records what was found; for an author, who reads the difference before keeping it.
fn update(case: &Path, left: &[(String, Vec<u8>)], outcome: &Outcome, scratch: &Path) -> Result<(), String> {
    let expected = case.join("expected");
    let _ = std::fs::remove_dir_all(&expected);
    let write = |name: &str, bytes: &[u8]| {
        let path = expected.join(name);
        std::fs::create_dir_all(path.parent().expect("below the case"))
            .and_then(|()| std::fs::write(&path, bytes))
            .map_err(|error| format!("{}: {error}", path.display()))
    };
    write("exit", format!("{}\n", outcome.exit).as_bytes())?;
    for (name, text) in [("stderr", &outcome.stderr), ("stdout", &outcome.stdout)] {
        if !text.is_empty() {
            write(name, masked(text, scratch).as_bytes())?;
        }
    }
    for (name, bytes) in left {
        write(&format!("files/{name}"), bytes)?;
    }
    Ok(())
}
