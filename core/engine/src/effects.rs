//! The effects of a unit, in their order: what had to wait for its turn is done, then everything is applied.

use clinker_cxl::TooLarge;
use clinker_plan::{NodeId, Operator};
use clinker_record::Batch;

use crate::RunError;
use crate::apply::{Applier, OpenOutput};
use crate::block::BlockResult;
use crate::destinations::SourceFileAt;
use crate::error::exit;
use crate::operators::sort::{Part, spill_failed};
use crate::runtime::{Runtime, sources_above};
use crate::sequencer::Effects;
use crate::unit::{Unit, encoded};

/// Applies what the blocks of a unit cause.
pub(crate) struct UnitEffects<'u, 'p> {
    pub runtime: &'u Runtime<'p>,
    pub unit: &'u Unit<'u, 'p>,
    pub applier: &'u mut Applier<'p>,
}

impl Effects<BlockResult> for UnitEffects<'_, '_> {
    fn apply(&mut self, mut result: BlockResult) -> Result<(), RunError> {
        if let Some(batch) = result.oversized.take() {
            self.apply_in_pieces(batch, &mut result)?;
        }
        self.settle_and_apply(result)
    }
}

impl UnitEffects<'_, '_> {
    fn settle_and_apply(&mut self, mut result: BlockResult) -> Result<(), RunError> {
        self.open_files(std::mem::take(&mut result.opened))?;
        let mut outputs = Vec::new();
        let mut settled = false;
        for mut output in std::mem::take(&mut result.outputs) {
            let sink = self.unit.sinks.iter().find(|sink| sink.node == output.node);
            if let (Some(sink), Some(batch)) = (sink, output.waiting.take()) {
                settled = true;
                if sink.writes_rows() {
                    let Some(OpenOutput::One(output)) = &mut self.applier.outputs.open[sink.node] else {
                        return Err(RunError::internal("a format without an encoder has an output in several files"));
                    };
                    outputs.extend(sink.write(self.runtime, &batch, output, &mut result)?);
                } else {
                    outputs.extend(sink.settle(self.runtime, &batch, &mut result));
                }
            } else {
                outputs.push(output);
            }
        }
        for log in std::mem::take(&mut result.logs) {
            if let Operator::Transform(plan) = &self.runtime.plan.nodes[log.node].operator {
                log.events(self.runtime, plan, &mut self.applier.logged[log.node], &mut result.events);
                settled = true;
            }
        }
        result.outputs = outputs;
        if settled {
            result.sort();
        }
        let held = std::mem::take(&mut result.slots);
        self.applier.apply_block(result)?;
        for input in held {
            self.applier.slots.push(self.runtime, input)?;
        }
        self.applier.relieve(self.runtime)
    }

    /// Begins the outputs of files that were opened, and notes them where rows are held.
    fn open_files(&mut self, opened: Vec<SourceFileAt>) -> Result<(), RunError> {
        for at in opened {
            for node in self.applier.destinations.sinks_per_file(at.source) {
                if self.unit.sinks.iter().any(|sink| sink.node == node) {
                    // What was sorted for the file before is written first.
                    self.drain(node)?;
                    self.applier.begin_file(node, at)?;
                }
            }
            for from in &self.unit.stores {
                if sources_above(self.runtime.plan, from.node).contains(&at.source) {
                    self.applier.slots.open_file(*from, at)?;
                }
            }
        }
        Ok(())
    }

    /// Writes what a Sink has put in order.
    fn drain(&mut self, node: NodeId) -> Result<(), RunError> {
        let Some(sink) = self.unit.sinks.iter().find(|sink| sink.node == node) else { return Ok(()) };
        let next = sink.sorter(self.runtime);
        let Some(sorter) = std::mem::replace(&mut self.applier.sorters[node], next) else { return Ok(()) };
        let failed = |error| spill_failed(&self.runtime.plan.nodes[node].name, error);
        let mut sorted = sorter.finish().map_err(failed)?;
        while let Some(part) = sorted.next().map_err(failed)? {
            if self.runtime.cancel.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            self.settle_and_apply(encoded(self.runtime, sink, Part::rows(part)))?;
        }
        Ok(())
    }

    /// Takes rows through the unit in pieces that fit, and applies each before the next one is made. What the Source
    /// itself rejected takes its place between them.
    fn apply_in_pieces(&mut self, batch: Batch, result: &mut BlockResult) -> Result<(), RunError> {
        self.open_files(std::mem::take(&mut result.opened))?;
        for population in std::mem::take(&mut result.populations) {
            self.applier.breakers.population(&population)?;
        }
        let evaluation = self.runtime.evaluation();
        let mut pieces = vec![batch];
        while let Some(piece) = pieces.pop() {
            let Some(last) = piece.rows.checked_sub(1) else { continue };
            match self.unit.flow(self.runtime, piece.clone(), &evaluation) {
                Ok(mut part) => {
                    result.hand_over(piece.origin.block_row(last), &mut part);
                    part.sort();
                    self.settle_and_apply(part)?;
                }
                Err(TooLarge) if last == 0 => return Err(row_too_large(self.runtime, &piece)),
                Err(TooLarge) => {
                    let middle = (piece.rows / 2) as u32;
                    pieces.push(piece.take(&(middle..piece.rows as u32).collect::<Vec<_>>()));
                    pieces.push(piece.take(&(0..middle).collect::<Vec<_>>()));
                }
            }
        }
        Ok(())
    }
}

/// E310: one row needs more memory than the share of the budget that a program has. A row cannot be divided.
pub(crate) fn row_too_large(runtime: &Runtime<'_>, row: &Batch) -> RunError {
    let (run, distance) = row.origin.locate(0);
    let source = &runtime.context.sources[usize::from(run.source)];
    let (used, limit) = (runtime.batch_budget, runtime.budget.limit());
    let message = format!(
        "{}: arena exceeded budget (over {used}/{limit}) [one row is too large to evaluate: file {}, row {}]",
        source.name,
        source.files[run.file as usize].shown,
        run.row + distance
    );
    RunError::coded(exit::CONFIGURATION, "E310", message).help("raise `pipeline.memory.limit` or `--memory-limit`")
}
