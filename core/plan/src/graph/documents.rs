//! Documents along the edges: who reads them, and where several would meet in one envelope.

use clinker_cxl::DocumentPath;
use clinker_diagnostics::Span;

use crate::PathTemplate;
use crate::faults::{Fault, Faults};
use crate::graph::Wiring;
use crate::graph::bind::Bound;
use crate::model::{Check, Operator};
use crate::nodes::{Draft, Kind};

/// Notes at each Source which fields of its documents are read below it.
pub(crate) fn note_reads(wiring: &Wiring, bound: &mut [Bound]) {
    for at in 0..bound.len() {
        let paths = bound[at].operator.as_ref().map(paths_read).unwrap_or_default();
        if paths.is_empty() {
            continue;
        }
        for above in wiring.above(at) {
            if let Some(Operator::Source(source)) = &mut bound[above].operator {
                paths.iter().for_each(|path| source.documents.note_read(&path.section, &path.field));
            }
        }
    }
}

/// What the texts of a node read of documents.
fn paths_read(operator: &Operator) -> Vec<DocumentPath> {
    match operator {
        Operator::Transform(transform) => {
            let checks = transform.validations.iter().filter_map(|validation| match &validation.check {
                Check::Expression(expression) => Some(expression),
                Check::NotEmpty => None,
            });
            let conditions = transform.log.iter().filter_map(|event| event.condition.as_ref());
            let expressions = checks.chain(conditions).flat_map(|expression| expression.documents_read());
            transform.program.documents_read().chain(expressions).cloned().collect()
        }
        Operator::Route(route) => {
            route.branches.iter().flat_map(|(_, condition)| condition.documents_read()).cloned().collect()
        }
        Operator::Source(_) | Operator::Merge(_) | Operator::Sink(_) => Vec::new(),
    }
}

/// A Sink that writes one envelope must not be fed by several documents, as far as the shape of the pipeline tells.
pub(crate) fn one_envelope(
    drafts: &[Draft<'_>],
    wiring: &Wiring,
    templates: &[Option<PathTemplate>],
    faults: &mut Faults,
) {
    for (at, draft) in drafts.iter().enumerate() {
        let Kind::Sink(sink) = &draft.kind else { continue };
        let one = sink.writes.is_some_and(|writes| writes.one_envelope);
        let shared = templates[at].as_ref().is_some_and(|template| !template.per_source_file());
        let Some((what, span)) = (one && shared).then(|| several(at, drafts, wiring)).flatten() else { continue };
        let message = format!("sink `{}` writes one envelope into its file, and {what}", draft.name);
        let help = "put `{source_file}` into `path`, or write each input to a sink of its own";
        faults.push(Fault::new("E355", draft.name_span, message).related(span).help(help));
    }
}

/// What feeds several documents to a node, and where that stands.
fn several(at: usize, drafts: &[Draft<'_>], wiring: &Wiring) -> Option<(String, Span)> {
    let mut above = wiring.above(at);
    above.sort_unstable();
    above.into_iter().find_map(|node| {
        let Draft { name, name_span, inputs, kind } = &drafts[node];
        let what = match kind {
            Kind::Merge(_) if inputs.len() > 1 => format!("merge `{name}` feeds it from {} inputs", inputs.len()),
            Kind::Source(source) if source.listed > 1 => {
                format!("source `{name}` feeds it from {} files", source.listed)
            }
            _ => return None,
        };
        Some((what, *name_span))
    })
}
