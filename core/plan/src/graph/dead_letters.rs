//! The dead-letter file: its columns are those of the record shapes that can reach it.

use std::sync::Arc;

use crate::failures::Failures;
use crate::faults::{Fault, Faults};
use crate::graph::Wiring;
use crate::graph::bind::Bound;
use crate::model::{DeadLetterPlan, Strategy};
use crate::nodes::{Draft, Kind};

/// The column that holds what a Source rejected.
const SOURCE_RECORD: &str = "_cxl_dlq_source_record";
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
            Kind::Transform(_) => Contribution::Input,
            Kind::Sink(_) => Contribution::InputIfRefusing,
            Kind::Broken => Contribution::Nothing,
        })
        .collect()
}

/// The plan of the file: shapes united by first occurrence in plan order.
pub(crate) fn plan(
    failures: &Failures,
    names: &[Arc<str>],
    contributions: &[Contribution],
    wiring: &Wiring,
    bound: &[Bound],
    faults: &mut Faults,
) -> Vec<DeadLetterPlan> {
    let Some(file) = failures.file.as_ref() else { return Vec::new() };
    let mut columns: Vec<Arc<str>> = Vec::new();
    let mut reserved = None;
    let mut add = |name: &Arc<str>| {
        if !columns.contains(name) {
            columns.push(Arc::clone(name));
        }
    };
    // Under `fail_fast` no row can be written, so no shape reaches the file.
    let written = failures.policy.strategy == Strategy::Continue && file.include_source_row;
    for at in wiring.order.iter().filter(|_| written) {
        let input = || wiring.inputs[*at].and_then(|input| bound[input].shape.as_ref());
        let shape = match contributions[*at] {
            Contribution::Declared => bound[*at].shape.as_ref(),
            Contribution::Input => input(),
            Contribution::InputIfRefusing => input().filter(|_| bound[*at].refusing),
            Contribution::Nothing => None,
        };
        for (name, _, _) in shape.into_iter().flat_map(|shape| &shape.columns) {
            reserved = reserved.or_else(|| name.starts_with(RESERVED).then(|| Arc::clone(name)));
            add(name);
        }
        if contributions[*at] == Contribution::Declared {
            add(&Arc::from(SOURCE_RECORD));
        }
    }
    if let Some(name) = reserved {
        let message =
            format!("column `{name}` would be written to the dead-letter file, where `{RESERVED}` is reserved");
        faults.push(Fault::new("E000", file.span, message).help("rename the column"));
    }
    let sources = wiring.order.iter().filter(|at| contributions[**at] == Contribution::Declared);
    vec![DeadLetterPlan {
        path: file.path.clone(),
        fallback: true,
        sources: sources.map(|at| Arc::clone(&names[*at])).collect(),
        include_reason: file.include_reason,
        include_source_row: file.include_source_row,
        record_columns: columns,
    }]
}
