//! What the workers of a unit take their work from, one after the other, and what they do with it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use clinker_diagnostics::Diagnostic;
use clinker_plan::NodeId;
use clinker_record::Batch;

use crate::RunError;
use crate::block::BlockResult;
use crate::destinations::SourceFileAt;
use crate::effects::UnitEffects;
use crate::error::exit;
use crate::operators::sort::{Part, Sorted, spill_failed};
use crate::operators::source::{BlockWork, ReleasedPart, SourceReader};
use crate::runtime::Runtime;
use crate::sequencer::{Effects, Sequencer};
use crate::slot::{Entry, Scan};

/// The next thing to do for a unit.
pub(crate) struct Work {
    /// Files opened since the last work, in order.
    pub opened: Vec<SourceFileAt>,
    /// What is to be noted about files that ended since then.
    pub notes: Vec<Diagnostic>,
    pub body: Body,
}

pub(crate) enum Body {
    /// A block of a file.
    Block(Box<BlockWork>),
    /// Rows that were held.
    Rows(Batch),
    /// Rows that were put in order.
    Sorted(Part),
    /// Rows of a file whose order was verified.
    Released(Box<ReleasedPart>),
    /// The input cannot be read on; what came before counts.
    Fault(RunError),
    End,
}

impl Body {
    /// Whether nothing follows.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self, Body::Fault(_) | Body::End)
    }
}

/// Gives work in the order of its effects. Workers take turns with it.
pub(crate) trait Feed: Send {
    /// The next work; `None` after the last one.
    fn next(&mut self) -> Option<Work>;
}

impl Feed for SourceReader<'_> {
    fn next(&mut self) -> Option<Work> {
        SourceReader::next(self)
    }
}

/// Rows that a slot held.
impl Feed for Scan {
    fn next(&mut self) -> Option<Work> {
        let mut opened = Vec::new();
        loop {
            let body = match Scan::next(self) {
                Ok(Some(Entry::Opened(at))) => {
                    opened.push(at);
                    continue;
                }
                Ok(Some(Entry::Rows(rows))) => Body::Rows(rows),
                Ok(None) if opened.is_empty() => return None,
                Ok(None) => Body::End,
                Err(error) => Body::Fault(error),
            };
            return Some(Work { opened, notes: Vec::new(), body });
        }
    }
}

/// Rows that a Sink has put in order.
pub(crate) struct SortedFeed<'a> {
    runtime: &'a Runtime<'a>,
    node: NodeId,
    sorted: Sorted,
}

impl<'a> SortedFeed<'a> {
    pub(crate) fn new(runtime: &'a Runtime<'a>, node: NodeId, sorted: Sorted) -> Self {
        Self { runtime, node, sorted }
    }
}

impl Feed for SortedFeed<'_> {
    fn next(&mut self) -> Option<Work> {
        let body = match self.sorted.next() {
            Ok(Some(part)) => Body::Sorted(part),
            Ok(None) => return None,
            Err(error) => Body::Fault(spill_failed(&self.runtime.plan.nodes[self.node].name, error)),
        };
        Some(Work { opened: Vec::new(), notes: Vec::new(), body })
    }
}

/// Takes all work of a feed through `process` on all threads, and applies the results in order.
pub(crate) fn run_feed(
    runtime: &Runtime<'_>,
    name: &str,
    feed: &mut dyn Feed,
    process: &(dyn Fn(Work) -> BlockResult + Sync),
    effects: &mut UnitEffects<'_, '_>,
) -> Result<(), RunError> {
    in_order(runtime, name, runtime.threads, feed, process, effects)
}

/// As [`run_feed`], for any results.
pub(crate) fn in_order<R: Send, E: Effects<R>>(
    runtime: &Runtime<'_>,
    name: &str,
    threads: usize,
    feed: &mut dyn Feed,
    process: &(dyn Fn(Work) -> R + Sync),
    effects: &mut E,
) -> Result<(), RunError> {
    let sequencer = Sequencer::new(effects, if threads == 1 { 1 } else { runtime.in_flight });
    let turn = Mutex::new(Turn { feed, sequence: 0 });
    let work = || {
        // A panic is an engine defect; it must not leave other workers waiting for a result that never comes.
        if catch_unwind(AssertUnwindSafe(|| worker(runtime, process, &turn, &sequencer))).is_err() {
            sequencer.end(RunError::internal(format!("a worker of `{name}` panicked")));
        }
    };
    if threads == 1 {
        work();
    } else {
        std::thread::scope(|scope| {
            for number in 0..threads {
                let builder = std::thread::Builder::new().name(format!("worker-{number}"));
                if let Err(error) = builder.spawn_scoped(scope, work) {
                    let error = RunError::uncoded(exit::INFRASTRUCTURE, format!("cannot start a thread: {error}"))
                        .help("raise the limit of threads, or run with `--threads 1`");
                    sequencer.end(error);
                    break;
                }
            }
        });
    }
    sequencer.into_outcome()
}

/// The next work and its place in the order, taken under one lock so that the two cannot differ.
struct Turn<'f> {
    feed: &'f mut dyn Feed,
    sequence: u64,
}

fn worker<R: Send, E: Effects<R>>(
    runtime: &Runtime<'_>,
    process: &(dyn Fn(Work) -> R + Sync),
    turn: &Mutex<Turn<'_>>,
    sequencer: &Sequencer<'_, R, E>,
) {
    loop {
        if runtime.cancel.is_cancelled() {
            sequencer.end(RunError::Cancelled);
            return;
        }
        let (sequence, work) = {
            let Ok(mut turn) = turn.lock() else { return };
            if !sequencer.admit(turn.sequence) {
                return;
            }
            let Some(work) = turn.feed.next() else { return };
            turn.sequence += 1;
            (turn.sequence - 1, work)
        };
        let last = work.body.is_last();
        sequencer.submit(sequence, process(work));
        if last {
            return;
        }
    }
}
