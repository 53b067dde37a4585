//! The Source: files in order, cut into blocks; blocks decoded and admitted. Where a Source says in which order the records
//! of its files are, each file is held until that was verified.

mod admit;
mod barrier;
mod levels;
mod places;
mod reader;
mod rejected;
mod rejects;

use clinker_plan::NodeId;

use crate::RunError;
use crate::apply::Applier;
use crate::effects::UnitEffects;
use crate::feed::{Feed, run_feed};
use crate::runtime::Runtime;
use crate::unit::Unit;

pub(crate) use admit::admit_block;
pub(crate) use barrier::{OrderedFeed, ReleasedPart};
pub(crate) use reader::{BlockWork, SourceReader};

use barrier::OrderedSource;

/// Runs the unit of a Source to its end.
pub(crate) fn run_source<'p>(
    runtime: &Runtime<'p>,
    source: NodeId,
    unit: &Unit<'_, 'p>,
    applier: &mut Applier<'p>,
) -> Result<(), RunError> {
    let name = &*runtime.plan.nodes[source].name;
    let process = |work| unit.process(runtime, work);
    let mut effects = UnitEffects { runtime, unit, applier };
    let Some(order) = &runtime.source(source).order else {
        return run_feed(runtime, name, &mut SourceReader::new(runtime, source), &process, &mut effects);
    };
    let mut files = OrderedSource::new(runtime, source, order);
    while let Some(mut release) = files.next_file(runtime.threads)? {
        run_feed(runtime, name, &mut release, &process, &mut effects)?;
    }
    Ok(())
}

/// What a Source gives to one who pulls its rows.
pub(crate) fn source_feed<'a>(runtime: &'a Runtime<'_>, source: NodeId) -> Box<dyn Feed + 'a> {
    match &runtime.source(source).order {
        None => Box::new(SourceReader::new(runtime, source)),
        Some(order) => Box::new(OrderedFeed::new(OrderedSource::new(runtime, source, order))),
    }
}
