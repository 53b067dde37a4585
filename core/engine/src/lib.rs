//! Runs a compiled plan.
//!
//! A Source and the row-wise nodes below it form a unit. Any worker takes the next block of the input under the
//! reader's turn, decodes it, admits its rows, pushes them through the operators and encodes them for the Sinks; all
//! of that is pure. What it yields goes to the [`sequencer`], which applies effects strictly in input order: bytes to
//! staged files, dead letters with their ids, counters, the books. So output bytes depend on nothing but plan and
//! input, and only a few blocks are alive at any time.

mod apply;
mod block;
mod books;
mod breakers;
mod cancel;
mod destinations;
mod effects;
mod envelope;
mod error;
mod feed;
mod interleave;
mod liveness;
mod operators;
mod outputs;
mod run;
mod runtime;
mod schedule;
mod sequencer;
mod sidecar;
mod slot;
mod spill;
mod split;
mod unit;

pub use books::{Books, NodeBook};
pub use cancel::CancelToken;
pub use envelope::{InputOpener, OsInputs, Preview, RunEnvelope};
pub use error::RunError;
pub use run::{RunReport, run};
