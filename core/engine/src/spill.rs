//! Where state goes that leaves memory: checked before any input is read.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use clinker_memory::spill::{SpillDirectory, Volume, purge_orphans, volume};
use clinker_plan::CompiledPlan;

use crate::error::exit;
use crate::{RunEnvelope, RunError};

/// The directory of this run. Nothing is made before it is needed.
pub(crate) fn directory(plan: &CompiledPlan, envelope: &RunEnvelope) -> Arc<SpillDirectory> {
    let parent = plan.spill.dir.as_deref().unwrap_or(&envelope.temporary);
    SpillDirectory::new(parent, &envelope.execution_id, plan.spill.cap)
}

/// Whether a named directory can hold what is spilled; what dead runs have left there is removed.
pub(crate) fn prepare(plan: &CompiledPlan) -> Result<(), RunError> {
    let Some(parent) = &plan.spill.dir else { return Ok(()) };
    check(parent)?;
    purge_orphans(parent, SystemTime::now());
    Ok(())
}

fn check(parent: &Path) -> Result<(), RunError> {
    let shown = parent.display();
    let refuse = |code, what: &str| {
        Err(RunError::coded(exit::CONFIGURATION, code, format!("the spill directory {shown} is on {what}"))
            .help("name a directory on a local disk with `dir` in `[storage.spill]` of clinker.toml"))
    };
    match volume(parent) {
        Ok(Volume::Disk) => Ok(()),
        Ok(Volume::Memory) => refuse("E330", "a file system in memory: what is spilled would not leave it"),
        Ok(Volume::Network) => {
            refuse("E331", "a file system on the network: it is slow, and its locks cannot be relied on")
        }
        Err(error) => {
            let message = format!("the spill directory {shown} cannot be used: {error}");
            Err(RunError::uncoded(exit::CONFIGURATION, message)
                .help("create it, or name another one with `dir` in `[storage.spill]` of clinker.toml"))
        }
    }
}
