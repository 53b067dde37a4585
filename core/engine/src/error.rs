//! What ends a run.

use clinker_diagnostics::{Diagnostic, Label};
use clinker_publish::PublishError;

/// Exit codes of failures.
pub(crate) mod exit {
    /// Configuration or internal invariant.
    pub const CONFIGURATION: u8 = 1;
    /// Evaluation under `fail_fast`, ceilings.
    pub const DATA: u8 = 3;
    /// Files, formats, publication.
    pub const INFRASTRUCTURE: u8 = 4;
}

/// Why a run ended without publishing.
#[derive(Debug)]
pub enum RunError {
    /// The user said so before publication began.
    Cancelled,
    /// A failure, with the exit code of its class.
    Failed {
        /// 1, 3 or 4.
        exit: u8,
        /// The report.
        diagnostic: Box<Diagnostic>,
    },
}

impl RunError {
    pub(crate) fn coded(exit: u8, code: &'static str, message: impl Into<String>) -> Self {
        RunError::Failed { exit, diagnostic: Box::new(Diagnostic::error(code, message)) }
    }

    pub(crate) fn uncoded(exit: u8, message: impl Into<String>) -> Self {
        RunError::Failed { exit, diagnostic: Box::new(Diagnostic::uncoded(message)) }
    }

    /// An engine defect: never the user's fault.
    pub(crate) fn internal(message: impl std::fmt::Display) -> Self {
        Self::uncoded(exit::CONFIGURATION, format!("internal error: {message}; this is a defect of the engine"))
    }

    /// A plugin that broke the contract: neither the data's nor the user's fault.
    pub(crate) fn contract(message: &str) -> Self {
        Self::coded(exit::CONFIGURATION, "E468", message)
            .help("report it to the author of the plugin; `clinker plugin check` examines the library")
    }

    #[must_use]
    pub(crate) fn labelled(mut self, label: Option<Label>) -> Self {
        if let RunError::Failed { diagnostic, .. } = &mut self {
            diagnostic.labels.extend(label);
        }
        self
    }

    #[must_use]
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        match self {
            RunError::Failed { exit, diagnostic } => {
                RunError::Failed { exit, diagnostic: Box::new(diagnostic.help(help)) }
            }
            RunError::Cancelled => RunError::Cancelled,
        }
    }
}

impl From<PublishError> for RunError {
    fn from(error: PublishError) -> Self {
        let message = error.to_string();
        let help = match &error {
            PublishError::Exists { .. } => "remove the file, choose another `if_exists`, or run with `--force`",
            PublishError::Reserved { .. } => "let the other run finish, or stop it, and run again",
            PublishError::Collision { .. } => "give each output a path of its own",
            PublishError::Io { error, .. } if error.kind() == std::io::ErrorKind::NotFound => {
                "create the output folder: outputs are only written into folders that exist"
            }
            PublishError::Io { error, .. } if error.kind() == std::io::ErrorKind::StorageFull => {
                "free space on the destination's file system and run again; nothing was published"
            }
            PublishError::Io { .. } => "mend the destination and run again; nothing was published",
            PublishError::Incomplete { .. } => "mend the destination and run again: each visible file is complete",
        };
        match error {
            PublishError::Collision { .. } => Self::coded(exit::CONFIGURATION, "E322", message).help(help),
            _ => Self::uncoded(exit::INFRASTRUCTURE, message).help(help),
        }
    }
}
