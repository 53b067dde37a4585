//! Effects, in the order of the input: bytes to outputs, dead letters with identity and time, counters, books.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clinker_diagnostics::Diagnostic;
use clinker_dlq::{Clock, DeadLetterFile, IdSource, Layout, Worst};
use clinker_events::{Progress, Subscriber};
use clinker_plan::{CompiledPlan, DeadLetterPlan, NodeId};
use clinker_publish::{ArtifactKind, Attempt, CollisionPolicy, StagedFile};

use crate::block::{BlockResult, PendingFailure, SeenRows};
use crate::breakers::Breakers;
use crate::destinations::{Destinations, SourceFileAt};
use crate::operators::sort::{Sorter, spill_failed};
use crate::outputs::{Closed, Complete, Output, Target, write_failed};
use crate::runtime::Runtime;
use crate::sidecar::FinalFile;
use crate::slot::Slots;
use crate::split::Split;
use crate::{Books, RunError};

/// Everything observable of a run, owned by whoever applies the next block.
pub(crate) struct Applier<'p> {
    pub plan: &'p CompiledPlan,
    pub attempt: Attempt,
    pub destinations: Destinations<'p>,
    pub outputs: Outputs<'p>,
    /// The dead-letter files of the plan, in its order.
    pub letters: Vec<LetterFile>,
    /// For each Source the dead-letter file its rows go to.
    pub letter_file_of: Vec<Option<usize>>,
    pub breakers: Breakers,
    /// Records that the log directives of each node have counted.
    pub logged: Vec<u64>,
    pub ids: IdSource,
    pub clock: Arc<dyn Clock>,
    pub progress: Arc<Progress>,
    pub subscriber: Arc<dyn Subscriber>,
    pub books: Books,
    pub worst: Worst,
    pub ok_rows: u64,
    /// Which source rows were counted so.
    pub ok_seen: SeenRows,
    /// The sort of each node that is a Sink with an order of its own.
    pub sorters: Vec<Option<Sorter>>,
    /// Time of the last dead letter: the clock may step back, the file may not.
    pub last_instant: i128,
    /// Reported when the run has completed.
    pub warnings: Vec<Diagnostic>,
    /// Rows that are held for readers whose turn has not come.
    pub slots: Slots,
}

/// The output of a Sink: one file, or several.
pub(crate) enum OpenOutput<'p> {
    One(Box<Output>),
    Split(Box<Split<'p>>),
}

/// The outputs of all Sinks.
pub(crate) struct Outputs<'p> {
    /// The open output of each node that is a Sink.
    pub open: Vec<Option<OpenOutput<'p>>>,
    /// Files that take no more records. A column that comes late still reaches them.
    full: Vec<(NodeId, Closed)>,
    /// For each Sink the columns of all of its records so far, where they share one set.
    columns: Vec<Arc<[Arc<str>]>>,
    /// Complete outputs, not yet synchronised.
    pub complete: Vec<(PathBuf, StagedFile)>,
    /// Every file that a Sink has completed.
    pub finals: Vec<FinalFile>,
    /// Bytes of a preview, by node.
    pub preview: Vec<(NodeId, Vec<u8>)>,
}

/// The dead-letter file: where it goes, and the open file once a row was written.
pub(crate) struct LetterFile {
    pub authored: String,
    pub destination: PathBuf,
    pub layout: Layout,
    pub file: Option<DeadLetterFile<StagedFile>>,
}

/// Letters of one file that follow each other in the text of a block: they are written at once.
#[derive(Default)]
struct LetterRun {
    file: usize,
    letters: std::ops::Range<usize>,
}

impl LetterRun {
    /// Takes one more letter, if it is the next one of the same file.
    fn join(&mut self, file: usize, letter: &std::ops::Range<usize>) -> bool {
        let joins = self.file == file && self.letters.end == letter.start;
        if joins {
            self.letters.end = letter.end;
        }
        joins
    }
}

impl LetterFile {
    pub(crate) fn new(plan: &CompiledPlan, file: &DeadLetterPlan) -> Self {
        Self {
            authored: file.path.clone(),
            destination: plan.base.join(&file.path),
            layout: Layout::new(file),
            file: None,
        }
    }

    /// The open file; the first row opens it.
    fn open(&mut self, attempt: &mut Attempt) -> Result<&mut DeadLetterFile<StagedFile>, RunError> {
        Ok(match &mut self.file {
            Some(file) => file,
            none => {
                let producer = format!("the dead-letter file {}", self.authored);
                let staged =
                    attempt.stage(ArtifactKind::DeadLetters, &producer, &self.destination, CollisionPolicy::Replace)?;
                none.insert(DeadLetterFile::new(staged, &self.layout))
            }
        })
    }
}

impl<'p> Outputs<'p> {
    /// The given outputs, opened, one a node.
    pub(crate) fn new(open: Vec<Option<OpenOutput<'p>>>) -> Self {
        let columns = vec![Arc::from([]); open.len()];
        Self { open, full: Vec::new(), columns, complete: Vec::new(), finals: Vec::new(), preview: Vec::new() }
    }

    fn close(&mut self, node: NodeId) -> Result<(), RunError> {
        let files = match self.open[node].take() {
            None => return Ok(()),
            Some(OpenOutput::One(output)) => vec![output.close()?],
            Some(OpenOutput::Split(split)) => split.close()?,
        };
        self.full.extend(files.into_iter().map(|file| (node, file)));
        Ok(())
    }

    /// Closes the output of a Sink that goes on in another file.
    fn close_before_next(&mut self, node: NodeId) -> Result<(), RunError> {
        let from = self.full.len();
        self.close(node)?;
        // There may be many of them: their handles are given back.
        self.full[from..].iter_mut().try_for_each(|(_, file)| file.settle())
    }

    /// All records of a Sink have these columns, or a beginning of them.
    fn note_columns(&mut self, node: NodeId, names: &Arc<[Arc<str>]>) {
        if names.len() > self.columns[node].len() {
            self.columns[node] = Arc::clone(names);
        }
    }

    /// Fills the records of all files up to the columns of their Sink.
    fn complete_all(&mut self, attempt: &mut Attempt) -> Result<(), RunError> {
        for (node, file) in std::mem::take(&mut self.full) {
            let Complete { destination, target, records, bytes } = file.complete(&self.columns[node], attempt)?;
            match target {
                Some(Target::Staged(file)) => self.complete.push((destination.clone(), file)),
                Some(Target::Memory(bytes)) => self.preview.push((node, bytes)),
                None => {}
            }
            self.finals.push(FinalFile { node, destination, records, bytes });
        }
        Ok(())
    }

    /// Closes every output that is still open, in plan order.
    pub(crate) fn close_all(&mut self, attempt: &mut Attempt) -> Result<(), RunError> {
        for node in 0..self.open.len() {
            self.close(node)?;
        }
        self.complete_all(attempt)
    }
}

impl Applier<'_> {
    /// Begins the output that a Sink has for a file of its Source.
    pub(crate) fn begin_file(&mut self, node: NodeId, at: SourceFileAt) -> Result<(), RunError> {
        self.outputs.close_before_next(node)?;
        self.outputs.open[node] = Some(self.destinations.begin(node, Some(at), &mut self.attempt)?);
        Ok(())
    }

    /// Whoever the budget asks for it gives memory back.
    pub(crate) fn relieve(&mut self, runtime: &Runtime<'_>) -> Result<(), RunError> {
        for (node, sorter) in self.sorters.iter_mut().enumerate() {
            if let Some(sorter) = sorter {
                sorter.relieve().map_err(|error| spill_failed(&self.plan.nodes[node].name, error))?;
            }
        }
        self.slots.relieve(runtime)
    }

    /// Applies one block. What comes after an error is not applied.
    pub(crate) fn apply_block(&mut self, mut block: BlockResult) -> Result<(), RunError> {
        for population in &block.populations {
            self.breakers.population(population)?;
        }
        self.warnings.append(&mut block.notes);
        let events = std::mem::take(&mut block.events);
        let mut events = events.iter().peekable();
        let mut letters = LetterRun::default();
        for failure in std::mem::take(&mut block.failures) {
            // What is logged about a row comes before the row is rejected, and nothing after the row that ends the run.
            let place = (failure.row, failure.node);
            while let Some(event) = events.next_if(|event| (event.row, event.node) <= place) {
                self.subscriber.event(event.level, &event.text);
            }
            while let Some(turn) = block.next_turn(failure.row) {
                self.breakers.reach(turn.source, turn.ordinal);
            }
            self.reject(failure, &mut block.letters, &mut letters)?;
        }
        self.write_letters(&letters, &block.letters)?;
        for event in events {
            self.subscriber.event(event.level, &event.text);
        }
        for output in &block.outputs {
            self.outputs.note_columns(output.node, &output.names);
            let Some(open) = &mut self.outputs.open[output.node] else {
                return Err(RunError::internal(format!("no open output for {}", self.plan.nodes[output.node].stage)));
            };
            match open {
                OpenOutput::One(open) => open.records(&output.names, &output.encoded)?,
                OpenOutput::Split(open) => {
                    open.records(&self.destinations, output, &mut self.attempt, &mut self.warnings)?
                }
            }
            Progress::add(&self.progress.rows_written, output.encoded.ends.len() as u64);
        }
        for input in std::mem::take(&mut block.sorts) {
            if let Some(sorter) = &mut self.sorters[input.node] {
                let pushed = sorter.push(input.rows);
                pushed.map_err(|error| spill_failed(&self.plan.nodes[input.node].name, error))?;
            }
        }
        let sources = self.plan.nodes.iter().zip(&block.books.nodes).filter(|(node, _)| node.inputs.is_empty());
        Progress::add(&self.progress.rows_read, sources.map(|(_, book)| book.total_in()).sum());
        for turn in &block.turns {
            self.breakers.reach(turn.source, turn.ordinal);
        }
        self.books.add(&block.books);
        self.ok_rows += std::mem::take(&mut block.written).count(&mut self.ok_seen);
        match block.fault {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Rejects a row. Its letter is complete then, and joins those before it that are still to be written.
    fn reject(&mut self, failure: PendingFailure, text: &mut [u8], run: &mut LetterRun) -> Result<(), RunError> {
        if let Some(error) = failure.stop {
            return Err(error);
        }
        self.breakers.reach(failure.source, failure.ordinal);
        self.breakers.count(failure.source);
        self.progress.rows_rejected.store(self.breakers.rejected(), Ordering::Relaxed);
        self.worst.add(&self.plan.nodes[failure.node].stage, failure.category, 1);
        let at = self.letter_file_of.get(usize::from(failure.source)).copied().flatten();
        if let Some((at, letters)) = at.and_then(|at| Some((at, self.letters.get_mut(at)?))) {
            self.last_instant = self.last_instant.max(self.clock.now());
            let file = letters.open(&mut self.attempt)?;
            file.stamp(&mut self.ids, self.last_instant, &mut text[failure.letter.clone()]);
            if !run.join(at, &failure.letter) {
                self.write_letters(run, text)?;
                *run = LetterRun { file: at, letters: failure.letter };
            }
        }
        self.breakers.check(failure.source, failure.typed)
    }

    fn write_letters(&mut self, run: &LetterRun, text: &[u8]) -> Result<(), RunError> {
        let Some(letters) = self.letters.get_mut(run.file) else { return Ok(()) };
        let Some(file) = &mut letters.file else { return Ok(()) };
        let written = file.write(&text[run.letters.clone()]);
        written.map_err(|error| letters_failed(letters, &self.worst, self.breakers.rejected(), error))
    }

    /// Completes the dead-letter files that were opened.
    pub(crate) fn finish_letters(&mut self) -> Result<(), RunError> {
        for letters in &mut self.letters {
            if let Some(file) = letters.file.take() {
                let staged = file
                    .finish()
                    .map_err(|error| letters_failed(letters, &self.worst, self.breakers.rejected(), error))?;
                self.outputs.complete.push((letters.destination.clone(), staged));
            }
        }
        Ok(())
    }

    /// Closes the books of the whole run.
    pub(crate) fn close_books(&self) -> Result<(), RunError> {
        self.books.close(self.plan).map_err(RunError::internal)
    }
}

fn letters_failed(letters: &LetterFile, worst: &Worst, rows: u64, error: std::io::Error) -> RunError {
    let (stage, category) = worst.pair().unwrap_or(("source", "structural_validation"));
    let note = format!(
        "dead-letter output {} could not be written after {rows} dead-lettered rows (most from stage {stage}, category \
         {category})",
        letters.authored
    );
    match write_failed(&letters.destination, error) {
        RunError::Failed { exit, mut diagnostic } => {
            diagnostic.message = format!("{}: {note}", diagnostic.message);
            diagnostic.help = Some(
                "stop the run before dead letters fill the destination, for example:\n\n  error_handling:\n    \
                 type_error_threshold: 0.05\n    dlq:\n      max_rate: 0.05\n\nThese breakers bound how many rows can \
                 dead-letter; disk at the staging destination bounds their volume."
                    .to_owned(),
            );
            RunError::Failed { exit, diagnostic }
        }
        cancelled => cancelled,
    }
}
