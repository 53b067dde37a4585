//! The shape of one entry of the table.

use super::machine::{self, Advice};
use crate::Severity;

/// When a condition is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Parsing, binding and planning; also under `--explain` and `--dry-run`.
    Compile,
    /// After compile, before a record is read or an output created.
    Start,
    /// While records flow, or at publication.
    Run,
    /// In a command that runs no pipeline.
    Tool,
}

/// Whether the engine may still raise a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// In use.
    Active,
    /// Retired or set aside; its number is never reused.
    RetiredReserved,
}

impl Status {
    /// All words of the closed vocabulary.
    pub const ALL: &[Status] = &[Status::Active, Status::RetiredReserved];

    /// The word printed and accepted for it.
    pub const fn word(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::RetiredReserved => "retired-reserved",
        }
    }
}

/// The subject a code belongs to; it follows from the code alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Documents, names, plugins.
    Configuration,
    /// Compositions, channels, windows, variables.
    Composition,
    /// Source declarations and expressions.
    SourceAndExpression,
    /// Planning of operators, running and formats.
    ExecutionAndFormat,
    /// Retired names of terminal nodes.
    TerminalAuthoring,
    /// Refused for safety.
    Security,
    /// Warnings.
    Advisory,
}

impl Category {
    /// All words of the closed vocabulary.
    pub const ALL: &[Category] = &[
        Category::Configuration,
        Category::Composition,
        Category::SourceAndExpression,
        Category::ExecutionAndFormat,
        Category::TerminalAuthoring,
        Category::Security,
        Category::Advisory,
    ];

    /// The word printed and accepted for it.
    pub const fn word(self) -> &'static str {
        match self {
            Category::Configuration => "configuration",
            Category::Composition => "composition",
            Category::SourceAndExpression => "source-and-expression",
            Category::ExecutionAndFormat => "execution-and-format",
            Category::TerminalAuthoring => "terminal-authoring",
            Category::Security => "security",
            Category::Advisory => "advisory",
        }
    }
}

/// One entry of the table.
#[derive(Debug)]
pub struct Code {
    /// The code as printed.
    pub id: &'static str,
    /// A few words that name the condition.
    pub title: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Whether it may be raised.
    pub status: Status,
    /// When it may be found; empty for a code that is never raised.
    pub phases: &'static [Phase],
    /// What is wrong, in one or two sentences.
    pub meaning: &'static str,
    /// What to do about it.
    pub correction: &'static str,
    /// Exit codes when the condition ends the process, the usual one first; empty when it never does.
    pub exits: &'static [u8],
    /// The machine failure codes it is reported under; the first is the usual one.
    pub machine: &'static [&'static str],
}

impl Code {
    /// Whether the correction is to choose from a list, which a report without a help of its own does not give.
    pub(crate) fn corrects_by_list(&self) -> bool {
        self.correction.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "listed")
    }

    /// An error found while compiling.
    pub(super) const fn compile(
        id: &'static str,
        title: &'static str,
        meaning: &'static str,
        correction: &'static str,
    ) -> Self {
        Self {
            id,
            title,
            severity: Severity::Error,
            status: Status::Active,
            phases: &[Phase::Compile],
            meaning,
            correction,
            exits: &[1],
            machine: &[machine::CONFIGURATION_INVALID],
        }
    }

    /// A warning; it never ends a process.
    pub(super) const fn warning(
        id: &'static str,
        title: &'static str,
        meaning: &'static str,
        correction: &'static str,
    ) -> Self {
        Self { severity: Severity::Warning, exits: &[], machine: &[], ..Self::compile(id, title, meaning, correction) }
    }

    /// An error found while records flow, caused by the data, that ends the run with exit 4.
    pub(super) const fn data(
        id: &'static str,
        title: &'static str,
        meaning: &'static str,
        correction: &'static str,
    ) -> Self {
        Self::compile(id, title, meaning, correction)
            .phases(&[Phase::Run])
            .exits(&[4])
            .machine(&[machine::SOURCE_DATA_INVALID])
    }

    /// The moments it may be found at.
    pub(super) const fn phases(mut self, phases: &'static [Phase]) -> Self {
        self.phases = phases;
        self
    }

    /// The exit codes it may lead to.
    pub(super) const fn exits(mut self, exits: &'static [u8]) -> Self {
        self.exits = exits;
        self
    }

    /// The machine failure codes it is reported under.
    pub(super) const fn machine(mut self, machine: &'static [&'static str]) -> Self {
        self.machine = machine;
        self
    }

    /// Registered, but no longer or not yet raised by any command.
    pub(super) const fn retired(mut self) -> Self {
        self.status = Status::RetiredReserved;
        self
    }

    /// The subject it belongs to.
    pub fn category(&self) -> Category {
        let id = self.id;
        if id.starts_with('W') {
            Category::Advisory
        } else if id.starts_with("E-SEC") {
            Category::Security
        } else if id == "E376" {
            Category::TerminalAuthoring
        } else if id.starts_with("E0") || id == "E377" || (id.starts_with("E46") && id != "E468") {
            Category::Configuration
        } else if id.starts_with("E1") {
            Category::Composition
        } else if id.starts_with("E2") || id == "E395" {
            Category::SourceAndExpression
        } else {
            Category::ExecutionAndFormat
        }
    }

    /// Whether running again may help: the strictest advice among its machine codes.
    pub fn advice(&self) -> Advice {
        self.machine
            .iter()
            .filter_map(|id| machine::lookup(id))
            .map(|failure| failure.advice)
            .min()
            .unwrap_or(Advice::DoNotRetry)
    }

    /// The exit code it usually leads to, if it ends a process at all.
    pub fn exit(&self) -> Option<u8> {
        self.exits.first().copied()
    }
}
