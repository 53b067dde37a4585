//! `$pipeline` and `$source`.

use std::sync::Arc;

use clinker_record::{OriginRun, Value};

use super::cell::Cell;
use super::frame::Frame;
use super::vector::{Builder, Vector, int_vector};
use crate::check::types::Base;
use crate::ir::SystemValue;

/// A system value for the rows of a frame.
pub(super) fn value(frame: &Frame<'_>, value: SystemValue) -> Vector {
    let run = frame.run;
    let text = |text: &Arc<str>| Vector::Scalar(Value::String(Arc::clone(text)));
    match value {
        SystemValue::PipelineName => text(&run.pipeline_name),
        SystemValue::ExecutionId => text(&run.execution_id),
        SystemValue::BatchId => text(&run.batch_id),
        SystemValue::StartTime => Vector::Scalar(Value::DateTime(run.start_time)),
        SystemValue::SourceRow => {
            let number = |row| frame.batch.origin.row_in_file(frame.batch_row(row) as usize) as i64;
            int_vector((0..frame.rows as u32).map(number).collect(), None)
        }
        _ => of_run(frame, value),
    }
}

/// A value that is the same for all rows of a file.
fn of_run(frame: &Frame<'_>, value: SystemValue) -> Vector {
    let origin = &frame.batch.origin;
    if let [only] = origin.runs() {
        return Vector::Scalar(in_run(frame, only, value));
    }
    let values: Vec<Value> = origin.runs().iter().map(|run| in_run(frame, run, value)).collect();
    let base = if value == SystemValue::IngestionTimestamp { Base::DateTime } else { Base::String };
    let mut builder = Builder::new(base, frame.rows);
    for row in 0..frame.rows as u32 {
        let (run, _) = origin.locate(frame.batch_row(row) as usize);
        let at = origin.runs().iter().position(|own| own == run).expect("a row lies in a run of its origin");
        builder.push(Cell::of(&values[at]));
    }
    builder.finish()
}

fn in_run(frame: &Frame<'_>, run: &OriginRun, value: SystemValue) -> Value {
    let Some(source) = frame.run.sources.get(usize::from(run.source)) else { return Value::Null };
    let file = source.files.get(run.file as usize);
    let text = |text: &Arc<str>| Value::String(Arc::clone(text));
    match value {
        SystemValue::SourceName => text(&source.name),
        SystemValue::SourceBatch => text(&source.batch),
        SystemValue::IngestionTimestamp => Value::DateTime(source.ingestion),
        SystemValue::SourceFile => file.map_or(Value::Null, |file| text(&file.shown)),
        _ => file.map_or(Value::Null, |file| text(&file.path)),
    }
}
