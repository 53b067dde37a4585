//! Where the pipeline writes: templates bound, paths inside the base directory, no two of them one file.

use clinker_diagnostics::Span;

use crate::PathTemplate;
use crate::context::Context;
use crate::failures::DeadLetterFile;
use crate::faults::{Fault, Faults};
use crate::graph::Wiring;
use crate::nodes::{Draft, Kind};
use crate::paths::{self, Destination};
use crate::template::{RenderContext, SourceAbove};

/// Values of a run that every Sink gets alike: equal templates give equal paths.
const ANY_RUN: RenderContext<'static> = RenderContext {
    channel: None,
    pipeline_hash: &[0; 32],
    start_time: 0,
    execution_id: "execution",
    batch_id: "batch",
    n: None,
    width: 0,
    source_path: None,
};

/// Checks all destinations and gives the bound templates, indexed by declaration.
pub(crate) fn check(
    drafts: &mut [Draft<'_>],
    wiring: &Wiring,
    dead_letters: &[DeadLetterFile],
    context: &Context<'_>,
    faults: &mut Faults,
) -> Vec<Option<PathTemplate>> {
    let sources: Vec<Vec<SourceAbove>> = (0..drafts.len()).map(|at| sources_above(at, drafts, wiring)).collect();
    let mut claimed: Vec<(String, Span, Destination)> = Vec::new();
    for file in dead_letters {
        let owner = match &file.source {
            None => "the dead-letter file".to_string(),
            Some(source) => format!("the dead-letter file of source `{source}`"),
        };
        claim(owner, &file.path, file.span, &mut claimed, context, faults);
    }
    let mut templates = Vec::with_capacity(drafts.len());
    for (draft, sources) in drafts.iter_mut().zip(sources) {
        let Kind::Sink(sink) = &mut draft.kind else {
            templates.push(None);
            continue;
        };
        let bound = sink.path.take().and_then(|mut path| {
            if sources.is_empty() {
                // Nothing is known above it, which was reported.
                return Some((path.template, path.span));
            }
            match path.template.bind_sources(&sources) {
                Ok(()) => Some((path.template, path.span)),
                Err(message) => {
                    faults.error("E000", path.span, format!("sink `{}`: `path`: {message}", draft.name));
                    None
                }
            }
        });
        if let Some((template, span)) = &bound {
            match template.render(&RenderContext { start_time: context.now, ..ANY_RUN }) {
                Ok(path) => claim(format!("sink `{}`", draft.name), &path, *span, &mut claimed, context, faults),
                Err(message) => faults.error("E-SEC-001", *span, format!("sink `{}`: {message}", draft.name)),
            }
        }
        templates.push(bound.map(|(template, _)| template));
    }
    templates
}

/// The Sources above a Sink in declaration order, each with the stem of its input path. None at all when something
/// above it could not be read.
fn sources_above(at: usize, drafts: &[Draft<'_>], wiring: &Wiring) -> Vec<SourceAbove> {
    if !matches!(drafts[at].kind, Kind::Sink(_)) {
        return Vec::new();
    }
    let mut above = wiring.above(at);
    above.sort_unstable();
    let mut sources = Vec::new();
    for at in above {
        match &drafts[at].kind {
            Kind::Source(source) => sources.push((drafts[at].name.to_string(), source.stem.clone())),
            Kind::Broken => return Vec::new(),
            _ if wiring.inputs[at].is_empty() || wiring.inputs[at].contains(&None) => return Vec::new(),
            _ => {}
        }
    }
    sources
}

fn claim(
    owner: String,
    path: &str,
    span: Span,
    claimed: &mut Vec<(String, Span, Destination)>,
    context: &Context<'_>,
    faults: &mut Faults,
) {
    if let Some(link) = paths::linked_ancestor(&context.base, path.as_ref()) {
        let message = format!("{owner}: the folder `{}` above the output is a symbolic link", link.display());
        faults.push(Fault::new("E-SEC-001", span, message).help("write to a real folder below the base directory"));
        return;
    }
    let place = Destination::resolve(&context.base, path);
    match claimed.iter().find(|(_, _, other)| other.is(&place)) {
        Some((first, first_span, _)) => {
            let message = format!("{first} and {owner} write one file, `{path}`");
            faults.push(
                Fault::new("E322", span, message).related(*first_span).help("give each output a path of its own"),
            );
        }
        None => claimed.push((owner, span, place)),
    }
}
