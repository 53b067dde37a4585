//! The parallel half: a block decoded and admitted becomes a batch of typed rows and the rejections beside it.

use std::sync::Arc;

use clinker_format::Decoded;
use clinker_plan::NodeId;
use clinker_record::cast::{self, Admitted, Cells};
use clinker_record::{Batch, Origin, OriginRun, Undeclared, Widened};

use super::reader::BlockWork;
use super::rejects::{Rejections, reject_structural, reject_typed, source_fault};
use crate::block::BlockResult;
use crate::runtime::Runtime;

/// Decodes and admits a block. Every body row of it is in the batch or among the failures of `out`.
pub(crate) fn admit_block(runtime: &Runtime<'_>, node: NodeId, work: &BlockWork, out: &mut BlockResult) -> Batch {
    let plan = runtime.source(node);
    let Decoded { cells, undeclared: named, shapes, rows, accepted, rejected, fault } =
        work.decoder.decode(&work.block, &work.shape.wanted);
    let mut decoded: Vec<Option<Cells>> = cells.into_iter().map(Some).collect();
    let mut take = |at: usize| decoded[at].take().expect("each wanted column is used once");
    let declared: Vec<Cells> =
        work.shape.declared.iter().map(|place| place.map_or(Cells::Absent(rows), &mut take)).collect();
    let mut undeclared: Vec<(Arc<str>, Cells)> =
        work.shape.widened.iter().map(|(name, at)| (Arc::clone(name), take(*at))).collect();
    undeclared.extend(named);

    let rules: Vec<_> = plan.columns.iter().map(|column| &column.rule).collect();
    let Admitted { columns, failures } = cast::admit(&rules, &declared, rows);
    let origin = origin(runtime, node, work, accepted.as_deref());

    let context = Rejections { runtime, node, work };
    reject_structural(&context, &rejected, out);

    let fields: Vec<Widened> = undeclared
        .iter()
        .map(|(name, cells)| Widened { name: Arc::clone(name), column: cast::untyped_column(cells) })
        .collect();
    // A file names its columns for all of its rows; records that name their own fields say which ones they have.
    let widened = match shapes.is_empty() {
        true => Undeclared::in_every_row(fields),
        false => Undeclared::by_runs(fields, shapes.into_iter().map(|run| (run.rows, run.fields))),
    };
    reject_typed(&context, &declared, &widened, &origin, &failures, out);
    let schema = Arc::clone(&runtime.plan.nodes[node].schema);
    let batch = Batch { schema, columns, rows, origin, widened };
    let batch = if failures.is_empty() { batch } else { batch.take(&passing(rows, &failures)) };

    out.fault = fault.map(|fault| source_fault(&context.place(), fault));
    let rows_before = work.first_ordinal - 1;
    out.turns.push((plan.index, rows_before + u64::from(work.block.rows)));
    let book = &mut out.books.nodes[node];
    book.rows_in[0] += u64::from(work.block.rows);
    book.rows_out[0] += batch.rows as u64;
    batch
}

fn passing(rows: usize, failures: &[cast::CellFailure]) -> Vec<u32> {
    let mut failed = failures.iter().map(|failure| failure.row).peekable();
    (0..rows as u32).filter(|row| failed.next_if_eq(row).is_none()).collect()
}

fn origin(runtime: &Runtime<'_>, node: NodeId, work: &BlockWork, accepted: Option<&[u32]>) -> Origin {
    let run = OriginRun {
        start: 0,
        source: runtime.source(node).index,
        file: work.file,
        row: work.block.first_row,
        ordinal: work.first_ordinal,
    };
    let origin = Origin::block(Arc::from([run]));
    match accepted {
        None => origin,
        Some(rows) => origin.take(rows),
    }
}
