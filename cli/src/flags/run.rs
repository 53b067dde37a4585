//! Flags of `clinker run`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Flags of `clinker run`.
#[derive(Args)]
pub struct RunFlags {
    /// The pipeline document.
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// Memory budget: bytes, or a number with K, M or G (binary). Overrides the document.
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<String>,
    /// Worker threads. Overrides the document; the default is the number of CPUs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Identity of the logical batch; the default is a new UUID.
    #[arg(long, value_name = "ID")]
    pub batch_id: Option<String>,
    /// Print the plan, read no data.
    #[arg(long, value_name = "FORM", num_args = 0..=1, default_missing_value = "text", require_equals = false,
          conflicts_with_all = ["dry_run", "dry_run_n"])]
    pub explain: Option<ExplainForm>,
    /// Validate only; print where outputs would go.
    #[arg(long)]
    pub dry_run: bool,
    /// With `--dry-run`: read at most N records of each Source and print what would be written.
    #[arg(short = 'n', long, value_name = "N", requires = "dry_run", value_parser = clap::value_parser!(u64).range(1..))]
    pub dry_run_n: Option<u64>,
    /// With `-n`: write the preview to a file instead of standard output.
    #[arg(long, value_name = "FILE", requires = "dry_run_n")]
    pub dry_run_output: Option<PathBuf>,
    /// Base of relative paths; the default is the folder of the document.
    #[arg(long, value_name = "DIR")]
    pub base_dir: Option<PathBuf>,
    /// Allow absolute paths in the document.
    #[arg(long)]
    pub allow_absolute_paths: bool,
    /// Environment name, seen by the document as `${CLINKER_ENV}`.
    #[arg(long, value_name = "NAME")]
    pub env: Option<String>,
    /// Let Sinks with `if_exists: error` overwrite in this run.
    #[arg(long)]
    pub force: bool,
    /// No progress bar.
    #[arg(long)]
    pub quiet: bool,
    /// How much is logged on standard error.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub log_level: LogLevel,
}

/// Forms of the printed plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExplainForm {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For Graphviz.
    Dot,
}

/// Levels of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum LogLevel {
    /// Failures only.
    Error,
    /// And warnings.
    Warn,
    /// And the summary.
    Info,
    /// And details.
    Debug,
    /// Everything.
    Trace,
}

impl RunFlags {
    /// What clap cannot check.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(id) = &self.batch_id {
            if id.is_empty() || id.len() > 256 {
                return Err("`--batch-id` needs 1 to 256 bytes".to_owned());
            }
            if id.chars().any(char::is_control) {
                return Err("`--batch-id` must not contain control characters".to_owned());
            }
        }
        Ok(())
    }
}
