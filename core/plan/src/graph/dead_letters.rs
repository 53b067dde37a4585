//! Dead-letter files: the columns of each are those of the record shapes that can reach it.

use std::collections::HashSet;
use std::sync::Arc;

use crate::failures::{DeadLetterFile, Failures};
use crate::faults::{Fault, Faults};
use crate::graph::Wiring;
use crate::graph::bind::{Bound, Shape};
use crate::model::dead_letter_columns::SOURCE_RECORD;
use crate::model::{DeadLetterPlan, Strategy};
use crate::nodes::{Draft, Kind};

/// The prefix of columns that are not the record's own.
const RESERVED: &str = "_cxl_dlq_";

/// What a node adds to the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contribution {
    /// A Source: its declared columns and the source record.
    Declared,
    /// The columns it reads.
    Input,
    /// A Sink: the columns it reads when it can refuse a row.
    InputIfRefusing,
    Nothing,
}

/// What each node adds, by declaration.
pub(crate) fn contributions(drafts: &[Draft<'_>]) -> Vec<Contribution> {
    drafts
        .iter()
        .map(|draft| match &draft.kind {
            Kind::Source(_) => Contribution::Declared,
            Kind::Transform(_) | Kind::Route(_) => Contribution::Input,
            Kind::Sink(_) => Contribution::InputIfRefusing,
            Kind::Merge(_) | Kind::Broken => Contribution::Nothing,
        })
        .collect()
}

/// The plans of the files: to each come the record shapes that may stem from its Sources, united by first occurrence in
/// plan order.
pub(crate) fn plan(
    failures: &Failures,
    names: &[Arc<str>],
    contributions: &[Contribution],
    wiring: &Wiring,
    bound: &[Bound],
    faults: &mut Faults,
) -> Vec<DeadLetterPlan> {
    let own: HashSet<&Arc<str>> = failures.files.iter().filter_map(|file| file.source.as_ref()).collect();
    let is_source = |at: usize| contributions[at] == Contribution::Declared;
    let file_plan = |file: &DeadLetterFile| {
        let feeds = |at: usize| match &file.source {
            Some(source) => is_source(at) && names[at] == *source,
            None => is_source(at) && !own.contains(&names[at]),
        };
        let sources = wiring.order.iter().filter(|at| feeds(**at)).map(|at| Arc::clone(&names[*at])).collect();
        // Under `fail_fast` no row can be written, so no shape reaches a file.
        let written = failures.policy.strategy == Strategy::Continue && failures.include_source_row;
        let header = if written { gather(&feeds, contributions, wiring, bound) } else { Header::default() };
        if let Some(name) = &header.reserved {
            let message =
                format!("column `{name}` would be written to the dead-letter file, where `{RESERVED}` is reserved");
            faults.push(Fault::new("E000", file.span, message).help("rename the column"));
        }
        DeadLetterPlan {
            path: file.path.clone(),
            fallback: file.source.is_none(),
            sources,
            include_reason: failures.include_reason,
            include_source_row: failures.include_source_row,
            record_columns: header.columns,
        }
    };
    failures.files.iter().map(file_plan).collect()
}

/// The record columns of a file.
#[derive(Default)]
struct Header {
    columns: Vec<Arc<str>>,
    seen: HashSet<Arc<str>>,
    /// The first column of a record whose name is kept for other purposes.
    reserved: Option<Arc<str>>,
}

impl Header {
    fn add(&mut self, name: &Arc<str>) {
        if self.seen.insert(Arc::clone(name)) {
            self.columns.push(Arc::clone(name));
        }
    }

    fn add_record(&mut self, shape: &Shape) {
        for (name, _, _) in &shape.columns {
            if self.reserved.is_none() && name.starts_with(RESERVED) {
                self.reserved = Some(Arc::clone(name));
            }
            self.add(name);
        }
    }
}

/// Walks the plan. `feeds` says of which Sources the file takes rows.
fn gather(feeds: &dyn Fn(usize) -> bool, contributions: &[Contribution], wiring: &Wiring, bound: &[Bound]) -> Header {
    let mut header = Header::default();
    // Whether rows of these Sources come out of a node.
    let mut stems = vec![false; bound.len()];
    for at in &wiring.order {
        stems[*at] = feeds(*at) || wiring.edges(*at).any(|edge| stems[edge.node]);
        if !stems[*at] {
            continue;
        }
        let input = || wiring.edges(*at).next().and_then(|edge| bound[edge.node].shape.as_ref());
        let shape = match contributions[*at] {
            Contribution::Declared => bound[*at].shape.as_ref(),
            Contribution::Input => input(),
            Contribution::InputIfRefusing => input().filter(|_| bound[*at].refusing),
            Contribution::Nothing => None,
        };
        shape.into_iter().for_each(|shape| header.add_record(shape));
        if contributions[*at] == Contribution::Declared {
            header.add(&Arc::from(SOURCE_RECORD));
        }
    }
    header
}
