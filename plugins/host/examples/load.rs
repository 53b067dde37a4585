//! Loads a plugin and prints the names of its formats: `load PATH`. For tests that need an engine of another minor.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else { return ExitCode::from(2) };
    let said = match clinker_plugin_host::load(Path::new(&path), false) {
        Ok(formats) => formats.iter().map(|format| format.descriptor().name).collect::<Vec<_>>().join("\n"),
        Err(fault) => format!("{} {}", fault.code, fault.message),
    };
    match writeln!(std::io::stdout(), "{said}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
