//! Flags: declared once, from which parsing and help are made. Usage errors exit 1 before any file is opened.

mod formats;
mod later;
mod plugin;
mod run;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};

pub use formats::{FormatsAction, FormatsFlags, ListForm};
pub use plugin::{PluginAction, PluginFlags};
pub use run::{ExplainForm, LogLevel, RunFlags};

use crate::exit;

/// Turns partner feeds into clean files: typed, checked, each rejected row kept with its reason.
#[derive(Parser)]
#[command(name = "clinker", version, about, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// A command with its flags.
#[derive(Subcommand)]
pub enum Command {
    /// Validates, explains or runs a pipeline.
    Run(Box<RunFlags>),
    /// Explains diagnostic codes.
    Explain(ExplainFlags),
    /// Shows the formats that can be read and written, and their options.
    Formats(FormatsFlags),
    /// Examines format plugins.
    Plugin(PluginFlags),
    /// Prints the JSON Schema of pipelines, for editors.
    Schema,
    /// Prints the completions of a shell.
    Completions(CompletionsFlags),
    /// Prints a manual page.
    Man(ManFlags),
}

/// Flags of `clinker explain`.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(false))]
pub struct ExplainFlags {
    /// Show one code with its page.
    #[arg(long, value_name = "CODE", group = "what")]
    pub code: Option<String>,
    /// List every registered code.
    #[arg(long, group = "what")]
    pub list: bool,
    /// With `--list`: only codes of this status.
    #[arg(long, value_name = "STATUS", requires = "list")]
    pub status: Option<String>,
    /// With `--list`: only codes of this category.
    #[arg(long, value_name = "CATEGORY", requires = "list")]
    pub category: Option<String>,
}

/// Flags of `clinker completions`.
#[derive(Args)]
pub struct CompletionsFlags {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// Flags of `clinker man`.
#[derive(Args)]
pub struct ManFlags {
    /// The page of one command; without it the page of `clinker` itself.
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// The definitions from which parsing, help, completions and manual pages are made.
pub fn definitions() -> clap::Command {
    Cli::command()
}

/// The command line asks for nothing to be run.
pub struct Stop {
    pub text: String,
    pub exit: u8,
    pub to_stdout: bool,
}

/// Parses a command line, program name first.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, Stop> {
    let cli = Cli::try_parse_from(args).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            Stop { text: error.to_string(), exit: exit::SUCCESS, to_stdout: true }
        }
        _ => Stop {
            text: later::message(&error).unwrap_or_else(|| error.to_string()),
            exit: exit::CONFIGURATION,
            to_stdout: false,
        },
    })?;
    if let Command::Run(flags) = &cli.command
        && let Err(reason) = flags.check()
    {
        return Err(Stop { text: format!("error: {reason}\n"), exit: exit::CONFIGURATION, to_stdout: false });
    }
    Ok(cli.command)
}
