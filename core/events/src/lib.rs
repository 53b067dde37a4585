//! What happened in a run, once. Progress, logs and reports are subscribers of the same facts.
//!
//! Counters are written by the engine as things are established (a block applied in input order, a row accepted by its
//! destination), never when they are only attempted. Log events arrive in sequence order.

use std::sync::atomic::{AtomicU64, Ordering};

/// How important a log event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The run cannot go on.
    Error,
    /// Something the user should know.
    Warn,
    /// Ordinary progress.
    Info,
    /// For the curious.
    Debug,
    /// For the author.
    Trace,
}

/// Takes log events. Called in sequence order, from any thread.
pub trait Subscriber: Send + Sync {
    /// Whether events of this level are wanted; makers may skip building others.
    fn wants(&self, level: Level) -> bool;
    /// One event: a line without trailing line break.
    fn event(&self, level: Level, text: &str);
}

/// Running totals of a run, readable while it runs.
#[derive(Debug, Default)]
pub struct Progress {
    /// Compressed bytes read.
    pub bytes_read: AtomicU64,
    /// Bytes of all files of all Sources; 0 when unknown.
    pub bytes_total: AtomicU64,
    /// Body rows read.
    pub rows_read: AtomicU64,
    /// Rows accepted by Sinks.
    pub rows_written: AtomicU64,
    /// Dead-letter rows.
    pub rows_rejected: AtomicU64,
}

impl Progress {
    /// Adds to a counter.
    pub fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }
}
