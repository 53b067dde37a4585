//! Flags of `clinker plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ListForm;

/// Flags of `clinker plugin`.
#[derive(Args)]
#[command(disable_help_subcommand = true)]
pub struct PluginFlags {
    /// What is done.
    #[command(subcommand)]
    pub action: PluginAction,
}

/// What is done with a plugin.
#[derive(Subcommand)]
pub enum PluginAction {
    /// Examines a library step by step, in a process of its own.
    Check {
        /// The library.
        #[arg(value_name = "PATH")]
        path: PathBuf,
        /// For people, or for programs.
        #[arg(long, value_name = "FORM", default_value = "text")]
        format: ListForm,
    },
    /// What the process of `check` does: one JSON object a line.
    #[command(hide = true)]
    Examine {
        /// The library.
        #[arg(value_name = "PATH")]
        path: PathBuf,
        /// Position of the format with which it begins.
        #[arg(long, value_name = "POSITION", default_value_t = 0)]
        from: usize,
    },
}
