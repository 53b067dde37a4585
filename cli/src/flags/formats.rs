//! Flags of `clinker formats`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Flags of `clinker formats`.
#[derive(Args)]
#[command(disable_help_subcommand = true)]
pub struct FormatsFlags {
    /// What is shown; the list when nothing is named.
    #[command(subcommand)]
    pub action: Option<FormatsAction>,
    /// For people, or for programs.
    #[arg(long, value_name = "FORM", default_value = "text", global = true)]
    pub format: ListForm,
    /// Also the formats that this pipeline names.
    #[arg(long, value_name = "CONFIG", global = true)]
    pub config: Option<PathBuf>,
    /// The workspace, whose `clinker.toml` may name formats; by default the folder of the pipeline, else this one.
    #[arg(long, value_name = "DIR", global = true)]
    pub base_dir: Option<PathBuf>,
}

/// What `clinker formats` shows.
#[derive(Subcommand)]
pub enum FormatsAction {
    /// Every format on a line.
    List,
    /// One format: what it can do, and its options.
    Show {
        /// Its name.
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// Forms of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListForm {
    /// For people.
    Text,
    /// For programs.
    Json,
}
