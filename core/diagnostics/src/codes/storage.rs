//! Memory, spill and staging.

use super::entry::{Code, Phase};

const fn start(id: &'static str, title: &'static str, meaning: &'static str, correction: &'static str) -> Code {
    Code::compile(id, title, meaning, correction).phases(&[Phase::Start])
}

pub(super) const CODES: &[Code] = &[
    Code::compile(
        "E310",
        "Memory budget exceeded",
        "Something that cannot be divided does not fit the memory limit even with everything else spilled; \
         node, category, bytes and limit are named.",
        "Raise `memory.limit`, or shrink the named state.",
    )
    .phases(&[Phase::Run])
    .machine(&["runtime.resource.memory_budget_exceeded"]),
    start(
        "E312",
        "Limit below baseline",
        "Before reading a record the process already holds more than the memory limit.",
        "Raise the limit.",
    )
    .machine(&["admission.configuration.memory_budget_unsatisfiable"]),
    Code::compile(
        "E320",
        "Spill cap reached",
        "Live spill files would pass `storage.spill.disk_cap_bytes`.",
        "Raise the cap, or the memory limit.",
    )
    .phases(&[Phase::Run])
    .exits(&[4])
    .machine(&["runtime.resource.spill_cap_exceeded"]),
    Code::compile(
        "E321",
        "Spill volume full",
        "The volume of the spill directory has no space left.",
        "Free space, or move `storage.spill.dir`.",
    )
    .phases(&[Phase::Run])
    .exits(&[4])
    .machine(&["runtime.resource.spill_failed"]),
    Code::compile(
        "E324",
        "Resume threshold",
        "`resume_threshold` is not above 0 and below 0.80.",
        "Choose a value inside these bounds.",
    ),
    start(
        "E330",
        "Spill on memory filesystem",
        "`storage.spill.dir` is backed by memory.",
        "Use a directory on a disk.",
    ),
    start(
        "E331",
        "Spill on network filesystem",
        "`storage.spill.dir` is on a network or user-space filesystem.",
        "Use a local disk.",
    ),
    start(
        "E332",
        "Staging on network filesystem",
        "`storage.staging.dir` is on a network or user-space filesystem.",
        "Use a local disk.",
    ),
    start(
        "E333",
        "Staging on source device",
        "The staging directory shares a device with a staged source.",
        "Use another device.",
    ),
    start(
        "E334",
        "Spill equals staging",
        "The spill and the staging directory resolve to one directory.",
        "Separate them.",
    ),
    start(
        "E335",
        "Staged copy corrupt",
        "A staged copy does not have the checksum of its source.",
        "Check the share, then run again.",
    ),
    start(
        "E336",
        "Staging cap",
        "The next staged file would pass `storage.staging.disk_cap_bytes`.",
        "Raise the cap, or narrow the patterns.",
    ),
    start(
        "E337",
        "Staged copy exists",
        "A staged copy is present under `on_existing: error`.",
        "Remove it, or use `reuse` or `overwrite`.",
    ),
];
