//! The parallel half: a block decoded and admitted becomes a batch of typed rows and the rejections beside it.

use std::sync::Arc;

use clinker_format::{Decoded, Overruns, ShapeRun};
use clinker_plan::NodeId;
use clinker_record::cast::{self, Admitted, Cells};
use clinker_record::{Batch, Undeclared, Widened};

use super::places::Places;
use super::reader::BlockWork;
use super::rejects::{Rejections, reject_overruns, reject_structural, reject_typed, source_fault};
use crate::block::{BlockResult, Turn};
use crate::runtime::Runtime;

/// Decodes and admits a block. Every body row of it is in the batch or among the failures of `out`.
pub(crate) fn admit_block(runtime: &Runtime<'_>, node: NodeId, work: &BlockWork, out: &mut BlockResult) -> Batch {
    let plan = runtime.source(node);
    let decoded = work.decoder.decode(&work.block, &work.shape.wanted);
    let places = Places::of(plan.expands, &decoded);
    let (expanded, empty) = (places.expanded(), decoded.dropped);
    let Decoded { cells, undeclared: named, shapes, rows, rejected, overruns, fault, .. } = decoded;
    let (declared, undeclared) = meet(work, cells, named, rows);

    let rules: Vec<_> = plan.columns.iter().map(|column| &column.rule).collect();
    let Admitted { columns, failures } = cast::admit(&rules, &declared, rows);
    let origin = places.origin(plan.index, work);
    // A format with levels expands no records: block positions are places.
    let origin = match &work.levels {
        Some(levels) => origin.inside(Arc::clone(levels)),
        None => origin,
    };

    let context = Rejections { runtime, node, work, places: &places };
    reject_structural(&context, &rejected, out);
    if let Some(overruns) = overruns {
        let Overruns { places, records } = *overruns;
        let (declared, undeclared) = meet(work, records.cells, records.undeclared, records.rows);
        reject_overruns(&context, &places, &declared, &widen(&undeclared, records.shapes), out);
    }

    let widened = widen(&undeclared, shapes);
    reject_typed(&context, &declared, &widened, &origin, &failures, out);
    let schema = Arc::clone(&runtime.plan.nodes[node].schema);
    let batch = Batch { schema, columns, rows, origin, widened };
    let batch = if failures.is_empty() { batch } else { batch.take(&passing(rows, &failures)) };

    out.fault = fault.map(|fault| source_fault(&context.place(), fault));
    let rows_before = work.first_ordinal - 1;
    // Each failure brings the turn of its own row, and behind all of them stands what went nowhere.
    let ordinal = rows_before + u64::from(work.block.rows);
    out.turns.push_back(Turn { place: u32::MAX, source: plan.index, ordinal });
    let book = &mut out.books.nodes[node];
    book.rows_in[0] += u64::from(work.block.rows);
    book.rows_out[0] += batch.rows as u64;
    book.expanded += expanded;
    book.empty += empty;
    batch
}

/// The decoded columns as those that are declared and the others.
fn meet(
    work: &BlockWork,
    cells: Vec<Cells>,
    named: Vec<(Arc<str>, Cells)>,
    rows: usize,
) -> (Vec<Cells>, Vec<(Arc<str>, Cells)>) {
    let mut decoded: Vec<Option<Cells>> = cells.into_iter().map(Some).collect();
    let mut take = |at: usize| decoded[at].take().expect("each wanted column is used once");
    let declared = work.shape.declared.iter().map(|place| place.map_or(Cells::Absent(rows), &mut take)).collect();
    let mut undeclared: Vec<(Arc<str>, Cells)> =
        work.shape.widened.iter().map(|(name, at)| (Arc::clone(name), take(*at))).collect();
    undeclared.extend(named);
    (declared, undeclared)
}

/// The undeclared fields of rows. A file names its columns for all of its rows; records that name their own fields say
/// which ones they have.
fn widen(undeclared: &[(Arc<str>, Cells)], shapes: Vec<ShapeRun>) -> Undeclared {
    let field =
        |(name, cells): &(Arc<str>, Cells)| Widened { name: Arc::clone(name), column: cast::untyped_column(cells) };
    let fields = undeclared.iter().map(field).collect();
    match shapes.is_empty() {
        true => Undeclared::in_every_row(fields),
        false => Undeclared::by_runs(fields, shapes.into_iter().map(|run| (run.rows, run.fields))),
    }
}

fn passing(rows: usize, failures: &[cast::CellFailure]) -> Vec<u32> {
    let mut failed = failures.iter().map(|failure| failure.row).peekable();
    (0..rows as u32).filter(|row| failed.next_if_eq(row).is_none()).collect()
}
