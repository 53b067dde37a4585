//! Writing what was read, as an engine would.

use std::io;
use std::sync::Arc;

use clinker_format::{BlockBound, Encoded, OutputRows, ReadFactory, WriteFactory};
use clinker_record::{Column, LevelRun, Origin, OriginRun};

use crate::read::{Breach, FAIR, Stack, columns, open};

/// Rows of a file in batches, ready to be written.
pub struct Batch {
    pub names: Vec<Arc<str>>,
    pub columns: Vec<Column>,
    pub rows: usize,
    pub origin: Origin,
}

/// The accepted rows of a valid file.
pub fn batches(factory: &dyn ReadFactory, bytes: &[u8]) -> Result<Vec<Batch>, Breach> {
    let count = Arc::default();
    let mut session =
        open(factory, io::Cursor::new(bytes.to_vec()), FAIR, &count).map_err(|fault| format!("{fault:?}"))?;
    let (mut stack, mut batches) = (Stack::default(), Vec::new());
    let bound = BlockBound { rows: FAIR.rows, bytes: FAIR.bytes };
    while let Some(block) = session.open.cutter.cut(&mut session.input, bound).map_err(|fault| format!("{fault:?}"))? {
        let mut runs = vec![LevelRun { start: 0, level: stack.innermost.clone() }];
        for mark in &block.marks {
            stack.follow(&session.levels, &mark.event)?;
            runs.push(LevelRun { start: mark.row, level: stack.innermost.clone() });
        }
        let wanted: Vec<usize> = (0..session.open.columns.len()).collect();
        let decoded = session.open.decoder.decode(&block, &wanted);
        let run = OriginRun { start: 0, source: 0, file: 0, row: block.first_row, ordinal: block.first_row };
        let origin = Origin::block(Arc::from([run]));
        let origin = if session.levels.is_empty() { origin } else { origin.inside(last_of_each(runs).into()) };
        let origin = match &decoded.accepted {
            Some(accepted) => origin.take(accepted),
            None => origin,
        };
        let (names, columns) = columns(&session.open, &decoded, &wanted).into_iter().unzip();
        batches.push(Batch { names, columns, rows: decoded.rows, origin });
    }
    Ok(batches)
}

/// Of several runs that begin at one row the last one holds.
fn last_of_each(runs: Vec<LevelRun>) -> Vec<LevelRun> {
    let mut kept: Vec<LevelRun> = Vec::new();
    for run in runs {
        kept.pop_if(|last| last.start == run.start);
        kept.push(run);
    }
    kept
}

/// Writes batches in pieces of at most so many rows.
pub fn write(factory: &dyn WriteFactory, batches: &[Batch], piece: usize) -> Result<Vec<u8>, Breach> {
    let (encoder, mut writer, mut out) = (factory.encoder(), factory.writer(), Vec::new());
    let mut begun = false;
    for batch in batches {
        if !begun {
            writer.columns(&batch.names, &mut out).map_err(|error| error.to_string())?;
            begun = true;
        }
        for from in (0..batch.rows).step_by(piece) {
            let rows = piece.min(batch.rows - from);
            let columns: Vec<Column> = batch.columns.iter().map(|column| column.slice(from, rows)).collect();
            let origin = batch.origin.take(&(from as u32..(from + rows) as u32).collect::<Vec<_>>());
            let output = OutputRows { names: &batch.names, columns: &columns, rows, origin: &origin };
            let mut encoded = Encoded::default();
            match &encoder {
                Some(encoder) => encoder.encode(&output, &mut encoded),
                None => writer.rows(&output, &mut encoded),
            }
            if let Some(refused) = encoded.refused.first() {
                return Err(format!("a row that was read is refused: {refused:?}"));
            }
            if encoded.ends.last().map_or(0, |end| *end as usize) != encoded.bytes.len() {
                return Err("the ends of the records do not cover the encoded bytes".to_owned());
            }
            writer.records(&encoded, &mut out).map_err(|error| error.to_string())?;
        }
    }
    if begun {
        writer.finish(&mut out).map_err(|error| error.to_string())?;
    }
    Ok(out)
}
