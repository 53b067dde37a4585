//! `$doc`: one value for each run of rows inside the same level.

use std::sync::Arc;

use clinker_record::{Level, LevelRun, Value};

use super::cell::Cell;
use super::frame::Frame;
use super::vector::{Builder, Vector};
use crate::check::types::Base;
use crate::document::DocumentPath;

/// A field of the documents around the rows of a frame.
pub(super) fn value(frame: &Frame<'_>, path: &DocumentPath) -> Vector {
    let origin = &frame.batch.origin;
    let Some(runs) = origin.levels() else { return Vector::NULL };
    if let [only] = &**runs
        && only.start == 0
    {
        return Vector::Scalar(read(only.level.as_ref(), path));
    }
    let run_of = |row: u32| run_at(runs, origin.block_row(frame.batch_row(row) as usize));
    let Some(first) = (frame.rows > 0).then(|| run_of(0)) else { return Vector::NULL };
    let mut values: Vec<Option<Value>> = vec![None; runs.len()];
    let mut builder: Option<Builder> = None;
    for row in 0..frame.rows as u32 {
        let run = run_of(row);
        if builder.is_none() && run == first {
            continue;
        }
        let mut of = |run: Option<usize>| match run {
            None => Value::Null,
            Some(run) => values[run].get_or_insert_with(|| read(runs[run].level.as_ref(), path)).clone(),
        };
        let builder = builder.get_or_insert_with(|| {
            // The rows before this one are all inside the first level.
            let (mut builder, before) = (Builder::new(Base::Any, frame.rows), of(first));
            (0..row).for_each(|_| builder.push(Cell::of(&before)));
            builder
        });
        builder.push_value(of(run));
    }
    match builder {
        Some(builder) => builder.finish(),
        None => Vector::Scalar(first.map_or(Value::Null, |run| read(runs[run].level.as_ref(), path))),
    }
}

/// The run that a row of the block lies in.
fn run_at(runs: &[LevelRun], row: u32) -> Option<usize> {
    runs.partition_point(|run| run.start <= row).checked_sub(1)
}

fn read(level: Option<&Arc<Level>>, path: &DocumentPath) -> Value {
    level.and_then(|level| level.section(&path.section)).map_or(Value::Null, |section| section.field(&path.field))
}
