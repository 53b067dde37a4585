//! What the host tells an evaluation about the run.

use std::sync::Arc;

use clinker_events::Level;

/// The run an evaluation belongs to. Cheap to clone; the engine makes one a batch, with `now` sampled then.
#[derive(Clone, Debug)]
pub struct RunContext {
    /// `$pipeline.name`.
    pub pipeline_name: Arc<str>,
    /// `$pipeline.execution_id`.
    pub execution_id: Arc<str>,
    /// `$pipeline.batch_id`.
    pub batch_id: Arc<str>,
    /// `$pipeline.start_time`, in nanoseconds since 1970-01-01T00:00:00 UTC.
    pub start_time: i128,
    /// `now`, in nanoseconds since 1970-01-01T00:00:00 UTC.
    pub now: i128,
    /// The most detailed level of log events that is wanted, if any is. What would be logged below it is not evaluated.
    pub log_level: Option<Level>,
    /// The Sources of the plan, in the order that `OriginRun::source` counts.
    pub sources: Arc<[SourceContext]>,
}

/// One Source of the run.
#[derive(Clone, Debug)]
pub struct SourceContext {
    /// `$source.name`.
    pub name: Arc<str>,
    /// `$source.batch`.
    pub batch: Arc<str>,
    /// `$source.ingestion_timestamp`, in nanoseconds since 1970-01-01T00:00:00 UTC.
    pub ingestion: i128,
    /// Its files, in the order that `OriginRun::file` counts.
    pub files: Arc<[SourceFile]>,
}

/// One input file of a Source.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// `$source.file`: relative to the base directory where possible.
    pub shown: Arc<str>,
    /// `$source.path`: absolute.
    pub path: Arc<str>,
}
