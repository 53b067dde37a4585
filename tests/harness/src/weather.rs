//! The conditions a case is run under. None of them may change a byte.

use std::sync::Arc;

use crate::{Command, Pieces};

/// One set of conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// Two threads, everything else as it comes.
    Fair,
    /// One thread.
    OneThread,
    /// Rows of a batch.
    Batch(usize),
    /// A memory limit.
    Memory(&'static str),
    /// Input in pieces of this many bytes, with interrupted reads.
    Pieces(usize),
}

/// All of them.
pub const ALL: [Weather; 8] = [
    Weather::Fair,
    Weather::OneThread,
    Weather::Batch(1),
    Weather::Batch(3),
    Weather::Batch(2048),
    Weather::Memory("32K"),
    Weather::Memory("64M"),
    Weather::Pieces(7),
];

impl Weather {
    /// Flags that make it.
    pub fn flags(self) -> Vec<&'static str> {
        match self {
            Weather::OneThread => vec!["--threads", "1"],
            Weather::Memory(limit) => vec!["--threads", "2", "--memory-limit", limit],
            _ => vec!["--threads", "2"],
        }
    }

    /// The document as this weather has it: a batch size is set without moving a line.
    pub fn document(self, text: &str) -> String {
        let Weather::Batch(rows) = self else { return text.to_owned() };
        let inline = format!("pipeline: {{ batch_size: {rows}, ");
        text.replacen("pipeline: { ", &inline, 1)
    }

    /// Whether a document can have this weather.
    pub fn suits(self, text: &str) -> bool {
        !matches!(self, Weather::Batch(_)) || (text.contains("pipeline: { ") && !text.contains("batch_size"))
    }

    /// Replaces what surrounds the command.
    pub fn apply(self, command: &mut Command) {
        if let Weather::Pieces(bytes) = self {
            command.inputs = Arc::new(Pieces { bytes });
        }
    }
}
