//! Flags and commands that the product has by its specification and this version lacks: refused by name.

use clap::error::{ContextKind, ContextValue};

const FLAGS: [&str; 10] = [
    "--config",
    "--machine",
    "--lineage",
    "--lineage-events",
    "--rules-path",
    "--metrics-spool-dir",
    "--channel",
    "--group",
    "--no-auto-groups",
    "--field",
];
const COMMANDS: [&str; 6] = ["guess", "metrics", "channels", "refactor", "config", "attempts"];

/// A message of our own for what clap only calls unknown.
pub(super) fn message(error: &clap::Error) -> Option<String> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    if let Some(command) = word(ContextKind::InvalidSubcommand) {
        let known = COMMANDS.contains(&command);
        return known.then(|| format!("error: `clinker {command}` is not available in this version\n"));
    }
    let flag = word(ContextKind::InvalidArg)?.split('=').next()?;
    if flag.replace('_', "-").starts_with("--error-threshold") {
        return Some(format!(
            "error: `{flag}` does not exist; the threshold belongs into the pipeline document:\n\n  \
             error_handling: {{ type_error_threshold: 0.05 }}\n"
        ));
    }
    FLAGS.contains(&flag).then(|| format!("error: `{flag}` is not available in this version\n"))
}
