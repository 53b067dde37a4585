//! One run: discover, stage, run the units, close the books, publish.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clinker_cxl::{SourceContext, SourceFile};
use clinker_diagnostics::Diagnostic;
use clinker_dlq::Worst;
use clinker_events::Level;
use clinker_format::input::FoundFile;
use clinker_plan::{CompiledPlan, LogWhen, NodeId, Operator, SourcePlan, Strategy};
use clinker_publish::Attempt;

use crate::apply::{Applier, LetterFile, Outputs};
use crate::block::{BlockResult, SeenRows};
use crate::breakers::Breakers;
use crate::destinations::Destinations;
use crate::effects::UnitEffects;
use crate::error::exit;
use crate::feed::{Body, SortedFeed, Work, run_feed};
use crate::operators::sink::SinkOperator;
use crate::operators::sort::{Sorter, spill_failed};
use crate::operators::transform::log;
use crate::outputs::sync_all;
use crate::runtime::{InputPaths, Letters, Runtime};
use crate::schedule::run_units;
use crate::slot::Slots;
use crate::unit::{Unit, encoded};
use crate::{Books, RunEnvelope, RunError, sidecar, spill};

/// What a completed run did.
#[derive(Debug)]
pub struct RunReport {
    /// Source rows read.
    pub total: u64,
    /// Source rows with at least one output row.
    pub ok: u64,
    /// Rows written by all Sinks.
    pub written: u64,
    /// Dead-letter rows.
    pub rejected: u64,
    /// Dead-letter rows of each category.
    pub categories: Vec<(&'static str, u64)>,
    /// The books, balanced.
    pub books: Books,
    /// Finals of Sinks.
    pub outputs: Vec<PathBuf>,
    /// Finals of dead letters.
    pub dead_letters: Vec<PathBuf>,
    /// Time spent waiting for outputs to become durable.
    pub sync: Duration,
    /// The most memory that was reserved at one time.
    pub peak_reserved: u64,
    /// Leftovers of publication.
    pub debt: Vec<String>,
    /// Warnings that only a run can know.
    pub warnings: Vec<Diagnostic>,
    /// The stages that have spilled, with the bytes that each of them has written.
    pub spilled: Vec<(Arc<str>, u64)>,
}

/// Runs a plan. Nothing is published unless it succeeds.
///
/// # Errors
/// What ended the run, with its exit code.
pub fn run(plan: &CompiledPlan, mut envelope: RunEnvelope) -> Result<RunReport, RunError> {
    check_baseline(plan, envelope.resident)?;
    spill::prepare(plan)?;
    let (sources, inputs) = discover(plan, &envelope)?;
    let runtime = Runtime::new(plan, &envelope, Arc::clone(&sources), Arc::clone(&inputs))?;
    let preview = envelope.preview.take();
    let destinations = Destinations {
        plan,
        sources,
        inputs,
        execution_id: Arc::clone(&envelope.execution_id),
        batch_id: Arc::clone(&envelope.batch_id),
        start_time: envelope.start_time,
        force: envelope.force,
        preview: preview.is_some(),
    };
    let letter_file_of = runtime.letters.as_ref().map(Letters::of_sources).unwrap_or_default();
    let sinks = sink_operators(plan);
    let mut applier = applier(&runtime, &sinks, envelope, destinations, letter_file_of)?;
    log_boundaries(&runtime, LogWhen::BeforeTransform);
    run_units(&runtime, &sinks, &mut applier)?;
    drain_sorted(&runtime, &sinks, &mut applier)?;
    log_boundaries(&runtime, LogWhen::AfterTransform);
    for sink in &sinks {
        let excluded = applier.books.nodes[sink.node].null_dropped;
        if excluded > 0 {
            let name = &plan.nodes[sink.node].name;
            let text = format!("sink `{name}`: {excluded} record(s) excluded by null_order: drop");
            runtime.subscriber.event(Level::Info, &text);
        }
        applier.warnings.extend(sink.warnings(&plan.nodes[sink.node].schema));
    }
    applier.outputs.close_all(&mut applier.attempt)?;
    applier.finish_letters()?;
    applier.close_books()?;
    if let Some(mut preview) = preview {
        applier.outputs.preview.sort_by_key(|(node, _)| *node);
        for (_, bytes) in &applier.outputs.preview {
            preview.destination.write_all(bytes).and_then(|()| preview.destination.flush()).map_err(|error| {
                RunError::uncoded(exit::INFRASTRUCTURE, format!("the preview cannot be written: {error}"))
            })?;
        }
        return Ok(report(&runtime, &applier));
    }
    publish(&runtime, applier)
}

fn publish(runtime: &Runtime<'_>, mut applier: Applier<'_>) -> Result<RunReport, RunError> {
    sidecar::write_all(runtime, &mut applier)?;
    let sync = sync_all(&mut applier.outputs.complete)?;
    if !runtime.cancel.begin_publishing() {
        return Err(RunError::Cancelled);
    }
    let mut report = report(runtime, &applier);
    let published = applier.attempt.promote()?;
    report.sync = sync;
    report.outputs = published.outputs;
    report.dead_letters = published.dead_letters;
    report.debt = published.debt;
    Ok(report)
}

fn report(runtime: &Runtime<'_>, applier: &Applier<'_>) -> RunReport {
    let sum = |count: &dyn Fn(NodeId) -> u64, sources: bool| -> u64 {
        let of_kind = |id: &NodeId| match &runtime.plan.nodes[*id].operator {
            Operator::Source(_) => sources,
            Operator::Sink(_) => !sources,
            Operator::Transform(_) | Operator::Route(_) | Operator::Merge(_) => false,
        };
        (0..runtime.plan.nodes.len()).filter(of_kind).map(count).sum()
    };
    RunReport {
        total: sum(&|id| applier.books.nodes[id].total_in(), true),
        ok: applier.ok_rows,
        written: sum(&|id| applier.books.nodes[id].total_out(), false),
        rejected: applier.breakers.rejected(),
        categories: applier.worst.categories(),
        books: applier.books.clone(),
        outputs: Vec::new(),
        dead_letters: Vec::new(),
        sync: Duration::ZERO,
        peak_reserved: runtime.budget.peak(),
        debt: Vec::new(),
        warnings: applier.warnings.clone(),
        spilled: runtime.spill.stages(),
    }
}

/// Everything with effects: destinations are checked and opened here, before any record is read.
fn applier<'p>(
    runtime: &Runtime<'p>,
    sinks: &[SinkOperator<'p>],
    envelope: RunEnvelope,
    destinations: Destinations<'p>,
    letter_file_of: Vec<Option<usize>>,
) -> Result<Applier<'p>, RunError> {
    let plan = runtime.plan;
    let kept = plan.failures.strategy == Strategy::Continue && !destinations.preview;
    let letters: Vec<LetterFile> =
        plan.dead_letters.iter().filter(|_| kept).map(|file| LetterFile::new(plan, file)).collect();
    if !destinations.preview {
        destinations.check(&letters)?;
    }
    let mut attempt = Attempt::new(Arc::clone(&envelope.storage), &envelope.execution_id);
    let mut open = Vec::new();
    open.resize_with(plan.nodes.len(), || None);
    for node in destinations.sinks_per_run() {
        open[node] = Some(destinations.begin(node, None, &mut attempt)?);
    }
    Ok(Applier {
        plan,
        attempt,
        destinations,
        outputs: Outputs::new(open),
        letters,
        letter_file_of,
        ids: envelope.ids,
        clock: envelope.clock,
        progress: envelope.progress,
        subscriber: envelope.subscriber,
        books: Books::new(&plan.nodes),
        worst: Worst::default(),
        ok_rows: 0,
        ok_seen: SeenRows::new(plan.nodes.len(), !runtime.reorders_rows, &runtime.budget),
        sorters: sorters(runtime, sinks),
        breakers: Breakers::new(plan),
        logged: vec![0; plan.nodes.len()],
        last_instant: i128::MIN,
        warnings: Vec::new(),
        slots: Slots::new(runtime),
    })
}

/// The sorts of the Sinks that have an order of their own, by node.
fn sorters<'p>(runtime: &Runtime<'p>, sinks: &[SinkOperator<'p>]) -> Vec<Option<Sorter>> {
    let mut sorters: Vec<Option<Sorter>> = runtime.plan.nodes.iter().map(|_| None).collect();
    for sink in sinks {
        sorters[sink.node] = sink.sorter(runtime);
    }
    sorters
}

/// Writes what the Sinks have put in order, in plan order.
fn drain_sorted<'p>(
    runtime: &Runtime<'p>,
    sinks: &[SinkOperator<'p>],
    applier: &mut Applier<'p>,
) -> Result<(), RunError> {
    let unit = Unit::of_sinks(sinks);
    for sink in sinks {
        let Some(sorter) = applier.sorters[sink.node].take() else { continue };
        let name = &runtime.plan.nodes[sink.node].name;
        let sorted = sorter.finish().map_err(|error| spill_failed(name, error))?;
        let mut feed = SortedFeed::new(runtime, sink.node, sorted);
        let process = |work: Work| match work.body {
            Body::Sorted(part) => encoded(runtime, sink, part.rows()),
            body => {
                let mut result = BlockResult::new(&runtime.plan.nodes, Vec::new());
                result.fault = if let Body::Fault(error) = body { Some(error) } else { None };
                result
            }
        };
        run_feed(runtime, name, &mut feed, &process, &mut UnitEffects { runtime, unit: &unit, applier })?;
    }
    Ok(())
}

/// Log events that stand before the first or after the last record of a Transform.
fn log_boundaries(runtime: &Runtime<'_>, when: LogWhen) {
    for (id, node) in runtime.plan.nodes.iter().enumerate() {
        if let Operator::Transform(plan) = &node.operator {
            log::boundary(runtime, id, plan, when);
        }
    }
}

/// The Sinks of the plan. They live as long as the run: what one Source has shown holds for the next one.
fn sink_operators(plan: &CompiledPlan) -> Vec<SinkOperator<'_>> {
    let sinks = plan.nodes.iter().enumerate().filter_map(|(id, node)| match &node.operator {
        Operator::Sink(sink) => Some(SinkOperator::new(id, sink)),
        _ => None,
    });
    sinks.collect()
}

/// Finds the files of every Source, in plan order.
fn discover(plan: &CompiledPlan, envelope: &RunEnvelope) -> Result<(Arc<[SourceContext]>, InputPaths), RunError> {
    let (mut contexts, mut inputs) = (Vec::new(), Vec::new());
    let mut ids = envelope.ids.fork();
    let mut total = 0;
    for node in &plan.nodes {
        let Operator::Source(source) = &node.operator else { continue };
        let found = find_files(plan, &node.name, source, envelope)?;
        total += found.iter().map(|file| file.size).sum::<u64>();
        contexts.push(SourceContext {
            name: Arc::clone(&node.name),
            batch: ids.next(envelope.start_time).to_string().into(),
            ingestion: envelope.clock.now(),
            files: found.iter().map(source_file).collect(),
        });
        inputs.push(found.into_iter().map(|file| file.absolute).collect());
    }
    envelope.progress.bytes_total.store(total, Ordering::Relaxed);
    Ok((contexts.into(), inputs.into()))
}

/// A file as programs and messages see it: text, even where its path is none.
fn source_file(file: &FoundFile) -> SourceFile {
    SourceFile { shown: file.shown.as_str().into(), path: file.absolute.to_string_lossy().into() }
}

fn find_files(
    plan: &CompiledPlan,
    name: &str,
    source: &SourcePlan,
    envelope: &RunEnvelope,
) -> Result<Vec<FoundFile>, RunError> {
    let found = source.files.discover(&plan.base, envelope.start_time).map_err(|fault| {
        RunError::coded(exit::CONFIGURATION, "E216", format!("source `{name}`: {}", fault.message))
            .help("check the location; `files: { on_no_match: skip }` accepts that there is none")
    })?;
    if found.is_empty() && source.files.warns_on_no_match() {
        envelope.subscriber.event(Level::Warn, &format!("source `{name}`: no file matches; it reads nothing"));
    }
    Ok(found)
}

/// E312: a budget below what the process already holds cannot be kept.
fn check_baseline(plan: &CompiledPlan, resident: Option<u64>) -> Result<(), RunError> {
    match resident {
        Some(resident) if resident > plan.memory.limit && plan.memory.backpressure != "spill" => {
            let limit = plan.memory.limit;
            let message = format!("the memory limit of {limit} bytes is below the {resident} bytes the process holds");
            Err(RunError::coded(exit::CONFIGURATION, "E312", message)
                .help("raise `pipeline.memory.limit` or `--memory-limit`"))
        }
        _ => Ok(()),
    }
}
