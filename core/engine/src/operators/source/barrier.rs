//! The barrier of a Source whose files are said to be in an order: a file is read whole, its rows are held with their keys,
//! and only when the order was verified, or made, do they go on. Before any of them does, everything that was read of the
//! file is counted.
//!
//! Rows go into a sort, which holds them in memory or on disk and leaves rows in order where they are; what the Source
//! rejected waits beside them. Rows that are in order go on with the rejections between them, as the file had them; a file
//! that was put in order begins with its rejections, which have no place among its rows.

use std::sync::Arc;

use clinker_diagnostics::Diagnostic;
use clinker_memory::priority;
use clinker_plan::{NodeId, SourceOrder};
use clinker_record::key::{KeyField, Unordered};
use clinker_record::text::CellWriter;
use clinker_record::{Batch, Column};

use super::admit::admit_block;
use super::reader::SourceReader;
use super::rejected::{Chunk, Rejected, RejectedScan};
use crate::block::{BlockResult, Population};
use crate::destinations::SourceFileAt;
use crate::error::exit;
use crate::feed::{Body, Feed, Work, in_order};
use crate::operators::sort::{Keyed, Part, Sorted, Sorter, Sorting, key_columns, spill_failed};
use crate::runtime::Runtime;
use crate::sequencer::Effects;
use crate::{Books, RunError};

/// The files of a Source, each released when its order is certain.
pub(crate) struct OrderedSource<'a> {
    runtime: &'a Runtime<'a>,
    node: NodeId,
    order: &'a SourceOrder,
    reader: SourceReader<'a>,
    /// The first work of the next file.
    ahead: Option<Work>,
}

/// A block of a file, admitted, with the keys of its rows.
struct Ingested {
    result: BlockResult,
    /// The rows, and the first of them that is smaller than the one before it.
    rows: Option<(Keyed, Option<usize>)>,
}

impl<'a> OrderedSource<'a> {
    pub(crate) fn new(runtime: &'a Runtime<'_>, node: NodeId, order: &'a SourceOrder) -> Self {
        Self { runtime, node, order, reader: SourceReader::new(runtime, node), ahead: None }
    }

    /// Reads the next file; `None` when there is none.
    pub(crate) fn next_file(&mut self, threads: usize) -> Result<Option<Release<'a>>, RunError> {
        let Some(first) = self.ahead.take().or_else(|| self.reader.next()) else { return Ok(None) };
        if let (Body::End, true, true) = (&first.body, first.opened.is_empty(), first.notes.is_empty()) {
            return Ok(None);
        }
        let (runtime, node, order) = (self.runtime, self.node, self.order);
        let name = &*runtime.plan.nodes[node].name;
        let mut barrier = Barrier::new(runtime, node, order);
        let mut file = OneFile { reader: &mut self.reader, first: Some(first), ahead: None };
        let process = |work| ingest(runtime, node, order, work);
        in_order(runtime, name, threads, &mut file, &process, &mut barrier)?;
        self.ahead = file.ahead.take();
        if let Some(ahead) = &mut self.ahead {
            barrier.notes.append(&mut ahead.notes);
        }
        barrier.release().map(Some)
    }
}

/// The work of one file.
struct OneFile<'r, 'a> {
    reader: &'r mut SourceReader<'a>,
    first: Option<Work>,
    ahead: Option<Work>,
}

impl Feed for OneFile<'_, '_> {
    fn next(&mut self) -> Option<Work> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        if self.ahead.is_some() {
            return None;
        }
        let work = self.reader.next()?;
        if work.opened.is_empty() {
            return Some(work);
        }
        self.ahead = Some(work);
        None
    }
}

/// Admits a block and makes the keys of its rows. Pure.
fn ingest(runtime: &Runtime<'_>, node: NodeId, order: &SourceOrder, work: Work) -> Ingested {
    let mut result = BlockResult::new(&runtime.plan.nodes, work.opened);
    result.notes = work.notes;
    let block = match work.body {
        Body::Block(block) => block,
        Body::Fault(error) => {
            result.fault = Some(error);
            return Ingested { result, rows: None };
        }
        _ => return Ingested { result, rows: None },
    };
    result.memory = Some(runtime.budget.reserve("block", block.block.data.len() as u64));
    let rows = admit_block(runtime, node, &block, &mut result);
    result.sort();
    let fields: Vec<KeyField> = order.keys.iter().map(|key| key.key).collect();
    let columns = key_columns(&order.keys, &rows);
    match Keyed::new(rows.clone(), &fields, &columns) {
        Ok(keyed) => {
            let inversion = (1..keyed.batch.rows).find(|row| keyed.keys.key(*row) < keyed.keys.key(row - 1));
            Ingested { result, rows: Some((keyed, inversion)) }
        }
        Err(Unordered { row, field }) => {
            let (name, word) = (&order.keys[field].name, columns[field].value(row).type_name());
            let message = format!(
                "source `{}`, file {}, row {}: the sort key `{name}` is {word}, which has no order",
                runtime.plan.nodes[node].name,
                shown(runtime, &rows, row),
                rows.origin.row_in_file(row)
            );
            let error = RunError::uncoded(exit::DATA, message);
            result.fault.get_or_insert(error.help("order by a column of single values"));
            Ingested { result, rows: None }
        }
    }
}

/// What is held of a file.
struct Barrier<'a> {
    runtime: &'a Runtime<'a>,
    node: NodeId,
    order: &'a SourceOrder,
    sorter: Sorter,
    rejected: Rejected,
    opened: Vec<SourceFileAt>,
    notes: Vec<Diagnostic>,
    books: Books,
    population: Population,
    /// The last row so far, with its key.
    last: Option<Keyed>,
    /// The report of the first row that is out of order.
    violation: Option<Diagnostic>,
}

impl<'a> Barrier<'a> {
    fn new(runtime: &'a Runtime<'_>, node: NodeId, order: &'a SourceOrder) -> Self {
        let schema = Arc::clone(&runtime.plan.nodes[node].schema);
        let keys = order.keys.clone();
        let sorting = Sorting {
            fields: keys.iter().map(|key| key.key).collect(),
            columns: Arc::new(move |batch| key_columns(&keys, batch)),
            budget: Arc::clone(&runtime.budget),
            spill: Arc::clone(&runtime.spill),
            stage: Arc::clone(&runtime.plan.nodes[node].name),
            rows: runtime.plan.batch_size,
            bytes: runtime.bound.bytes,
            threads: runtime.threads,
            compress: runtime.compresses(schema.columns.len()),
            schema,
        };
        let source = runtime.source(node).index;
        Self {
            runtime,
            node,
            order,
            sorter: Sorter::new(sorting, "file of a source", priority::BARRIER),
            rejected: Rejected::new(runtime, node),
            opened: Vec::new(),
            notes: Vec::new(),
            books: Books::new(&runtime.plan.nodes),
            population: Population { source, ordinal: 0, typed: 0 },
            last: None,
            violation: None,
        }
    }

    /// Looks at the order of the next rows.
    fn verify(&mut self, rows: &Keyed, inversion: Option<usize>) -> Result<(), RunError> {
        let Some(end) = rows.batch.rows.checked_sub(1) else { return Ok(()) };
        if self.violation.is_none() {
            let boundary = self.last.as_ref().filter(|last| rows.keys.key(0) < last.keys.key(0));
            let pair = match (boundary, inversion) {
                (Some(last), _) => Some(((&last.batch, 0), (&rows.batch, 0))),
                (None, Some(row)) => Some(((&rows.batch, row - 1), (&rows.batch, row))),
                (None, None) => None,
            };
            if let Some((before, after)) = pair {
                let text = self.described(before, after);
                if self.order.refuses {
                    return Err(RunError::coded(exit::CONFIGURATION, "E366", text)
                        .help("correct the file, or let it be put in order with `on_unsorted: warn`"));
                }
                let help = "correct the producer of the file; the file was put in order";
                self.violation = Some(Diagnostic::warning("W307", text).help(help));
            }
        }
        let row = rows.batch.take(&[end as u32]);
        let columns = key_columns(&self.order.keys, &row);
        let fields: Vec<KeyField> = self.order.keys.iter().map(|key| key.key).collect();
        self.last = Keyed::new(row, &fields, &columns).ok();
        Ok(())
    }

    fn described(&self, before: (&Batch, usize), after: (&Batch, usize)) -> String {
        let row = |(rows, row): (&Batch, usize)| {
            let columns = key_columns(&self.order.keys, rows);
            let keys = self.order.keys.iter().zip(&columns);
            let keys: Vec<String> = keys.map(|(key, column)| format!("{} = {}", key.name, text(column, row))).collect();
            format!("row {} ({})", rows.origin.row_in_file(row), keys.join(", "))
        };
        format!(
            "source `{}`, file {}: {} comes behind {}, against `sort_order`",
            self.runtime.plan.nodes[self.node].name,
            shown(self.runtime, after.0, after.1),
            row(after),
            row(before)
        )
    }

    /// The file as it goes on.
    fn release(self) -> Result<Release<'a>, RunError> {
        let name = &self.runtime.plan.nodes[self.node].name;
        let sorted = self.sorter.finish().map_err(|error| spill_failed(name, error))?;
        let mut notes = self.notes;
        let in_order = self.violation.is_none();
        notes.extend(self.violation);
        let head = Head { opened: self.opened, notes, books: self.books, population: self.population };
        let rejected = self.rejected.scan();
        Ok(Release {
            runtime: self.runtime,
            node: self.node,
            head: Some(head),
            sorted: Some(sorted),
            rejected,
            in_order,
        })
    }
}

impl Effects<Ingested> for Barrier<'_> {
    fn apply(&mut self, ingested: Ingested) -> Result<(), RunError> {
        let Ingested { mut result, rows } = ingested;
        let name = &self.runtime.plan.nodes[self.node].name;
        self.opened.append(&mut result.opened);
        self.notes.append(&mut result.notes);
        self.books.add(&result.books);
        for turn in &result.turns {
            self.population.ordinal = self.population.ordinal.max(turn.ordinal);
        }
        if let Some(failure) = result.failures.iter_mut().find(|failure| failure.stop.is_some()) {
            return failure.stop.take().map_or(Ok(()), Err);
        }
        self.population.typed += result.failures.iter().filter(|failure| failure.typed).count() as u64;
        self.rejected.push(Chunk { failures: result.failures, letters: result.letters });
        if let Some((rows, inversion)) = rows {
            self.verify(&rows, inversion)?;
            self.sorter.push(rows).map_err(|error| spill_failed(name, error))?;
        }
        self.rejected.relieve().map_err(|error| spill_failed(name, error))?;
        result.fault.map_or(Ok(()), Err)
    }
}

/// What goes on in front of the rows of a file.
struct Head {
    opened: Vec<SourceFileAt>,
    notes: Vec<Diagnostic>,
    books: Books,
    population: Population,
}

/// A file on its way out.
pub(crate) struct Release<'a> {
    runtime: &'a Runtime<'a>,
    node: NodeId,
    head: Option<Head>,
    /// None behind the last row.
    sorted: Option<Sorted>,
    rejected: RejectedScan,
    in_order: bool,
}

/// Rows of a file whose order is certain, with what was rejected between them.
pub(crate) struct ReleasedPart {
    head: Option<(Books, Population)>,
    rejected: Chunk,
    rows: Option<Part>,
}

impl Release<'_> {
    fn step(&mut self) -> Result<Option<Work>, RunError> {
        let failed = |error| spill_failed(&self.runtime.plan.nodes[self.node].name, error);
        if let Some(Head { opened, notes, books, population }) = self.head.take() {
            let part = ReleasedPart { head: Some((books, population)), rejected: Chunk::default(), rows: None };
            return Ok(Some(Work { opened, notes, body: Body::Released(Box::new(part)) }));
        }
        let work = |rejected, rows| {
            let part = ReleasedPart { head: None, rejected, rows };
            Work { opened: Vec::new(), notes: Vec::new(), body: Body::Released(Box::new(part)) }
        };
        if !self.in_order {
            let rejected = self.rejected.all().map_err(failed)?;
            if !rejected.failures.is_empty() {
                return Ok(Some(work(rejected, None)));
            }
        }
        if let Some(sorted) = &mut self.sorted {
            if let Some(rows) = sorted.next().map_err(failed)? {
                let before = rows.last_ordinal();
                return Ok(Some(work(self.rejected.before(before).map_err(failed)?, Some(rows))));
            }
            self.sorted = None;
        }
        let rest = self.rejected.all().map_err(failed)?;
        Ok((!rest.failures.is_empty()).then(|| work(rest, None)))
    }
}

impl Feed for Release<'_> {
    fn next(&mut self) -> Option<Work> {
        self.step()
            .unwrap_or_else(|error| Some(Work { opened: Vec::new(), notes: Vec::new(), body: Body::Fault(error) }))
    }
}

impl ReleasedPart {
    /// The rows; everything else goes to the result.
    pub(crate) fn into_rows(self, result: &mut BlockResult) -> Option<Batch> {
        if let Some((books, population)) = self.head {
            result.books.add(&books);
            result.populations.push(population);
        }
        let rows = self.rows.map(Part::rows);
        let Chunk { mut failures, letters } = self.rejected;
        for failure in &mut failures {
            // In front of the first row that comes behind it.
            failure.row = rows.as_ref().map_or(0, |rows| place(rows, failure.ordinal));
            // It was counted with the file.
            failure.typed = false;
        }
        (result.failures, result.letters) = (failures, letters);
        rows
    }
}

/// The place of the first row behind an ordinal. Rows are in the order of their ordinals.
fn place(rows: &Batch, ordinal: u64) -> u32 {
    let (mut low, mut high) = (0, rows.rows);
    while low < high {
        let middle = (low + high) / 2;
        let (run, distance) = rows.origin.locate(middle);
        if run.ordinal + distance <= ordinal { low = middle + 1 } else { high = middle }
    }
    if low == rows.rows { u32::MAX } else { rows.origin.block_row(low) }
}

/// Reads the files of a Source for one who pulls its rows.
pub(crate) struct OrderedFeed<'a> {
    files: OrderedSource<'a>,
    release: Option<Release<'a>>,
}

impl<'a> OrderedFeed<'a> {
    pub(crate) fn new(files: OrderedSource<'a>) -> Self {
        Self { files, release: None }
    }
}

impl Feed for OrderedFeed<'_> {
    fn next(&mut self) -> Option<Work> {
        loop {
            if let Some(work) = self.release.as_mut().and_then(Feed::next) {
                return Some(work);
            }
            match self.files.next_file(1) {
                Ok(release) => self.release = Some(release?),
                Err(error) => {
                    return Some(Work { opened: Vec::new(), notes: Vec::new(), body: Body::Fault(error) });
                }
            }
        }
    }
}

fn text(column: &Column, row: usize) -> String {
    if column.is_null(row) {
        return "null".to_owned();
    }
    let mut text = Vec::new();
    CellWriter::new(column).append(row, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The file of a row, as messages show it.
fn shown<'r>(runtime: &'r Runtime<'_>, rows: &Batch, row: usize) -> &'r str {
    let (run, _) = rows.origin.locate(row);
    &runtime.context.sources[usize::from(run.source)].files[run.file as usize].shown
}
