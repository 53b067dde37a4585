//! The engine's side of format plugins: find, check, load, contain, and adapt to the format contract.
//!
//! [`load`] takes a library through the steps of loading (E460 to E467) and gives formats like any other. Libraries are
//! never unloaded. Everything that crosses the boundary at run time is checked; a breach is E468 and names plugin and call.
//! What a check cannot stop, a call that never returns, is reported by a watchdog that ends the process.

mod calls;
mod cells;
mod codes;
mod corpus;
mod decoding;
mod export;
mod load;
mod reading;
mod registration;
mod rejected;
mod strings;
mod watch;
mod writing;

use std::path::Path;

use clinker_format::{Format, LoadFault};

pub use corpus::CorpusFile;
pub use load::{Loaded, Step, examine};
pub use watch::{Report, Surroundings, surround};

/// The formats of a plugin library. A library that was loaded before is not loaded again.
///
/// # Errors
/// The first step of loading that failed (E460 to E467). `forbid` says whether plugins are forbidden on this machine.
pub fn load(path: &Path, forbid: bool) -> Result<Vec<&'static dyn Format>, LoadFault> {
    examine(path, forbid, &mut |_| {}).map(|loaded| loaded.formats)
}
