//! Loads a plugin and prints the names of its formats, and what it has of a later minor: `load PATH`. For tests that need
//! an engine of another minor.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else { return ExitCode::from(2) };
    let said = match clinker_plugin_host::examine(Path::new(&path), false, &mut |_| {}) {
        Ok(loaded) => {
            let names: Vec<&str> = loaded.formats.iter().map(|format| format.descriptor().name).collect();
            #[cfg(feature = "future")]
            let used = loaded.future.map_or_else(String::new, |gave| format!(" future {gave}"));
            #[cfg(not(feature = "future"))]
            let used = "";
            format!("{}{used}", names.join("\n"))
        }
        Err(fault) => format!("{} {}", fault.code, fault.message),
    };
    match writeln!(std::io::stdout(), "{said}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
