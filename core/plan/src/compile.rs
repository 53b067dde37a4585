//! From the document to the plan.

use std::path::PathBuf;
use std::sync::Arc;

use clinker_diagnostics::Diagnostic;
use clinker_format::{FormatLoader, Registry};

use crate::context::Context;
use crate::document;
use crate::failures;
use crate::faults::Faults;
use crate::formats;
use crate::graph::{self, Wiring, bind, dead_letters, destinations};
use crate::model::CompiledPlan;
use crate::nodes::log::LogDraft;
use crate::nodes::{self, Draft, Kind};
use crate::yaml::{Document, Unreadable};

/// Values of environment variables by name.
pub type Lookup = dyn Fn(&str) -> Option<String>;

/// What is compiled, and under which settings of the command.
pub struct CompileRequest {
    /// The path as given, for messages.
    pub shown: String,
    /// The path of the document.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// `--base-dir`; else the document's directory.
    pub base_dir: Option<PathBuf>,
    /// Whether absolute paths are allowed.
    pub allow_absolute_paths: bool,
    /// Environment references: values by name.
    pub env: Box<Lookup>,
    /// `--memory-limit`.
    pub memory_limit: Option<String>,
    /// The linked formats.
    pub registry: Registry,
    /// Loads the formats that workspace and document name.
    pub loader: Box<dyn FormatLoader>,
    /// Start of the run, in nanoseconds since 1970-01-01T00:00:00 UTC: what `{timestamp}` is checked with.
    pub now: i128,
}

/// A plan, or why there is none.
pub struct Compiled {
    /// The plan; none when a diagnostic is an error.
    pub plan: Option<CompiledPlan>,
    /// Everything found, in document order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles a document: all of it is checked, and every independent fault is reported.
pub fn compile(request: CompileRequest) -> Compiled {
    let mut document = match Document::read(&request.shown, &request.bytes, Some(&*request.env)) {
        Ok(document) => document,
        Err(Unreadable::Bytes(message)) => {
            let diagnostic = Diagnostic::error("E000", format!("{}: {message}", request.shown));
            return Compiled { plan: None, diagnostics: vec![diagnostic] };
        }
        Err(Unreadable::Text(place, found)) => {
            let mut faults = Faults::new(place);
            found.into_iter().for_each(|fault| faults.push(fault));
            return Compiled { plan: None, diagnostics: faults.finish() };
        }
    };
    let mut faults = Faults::new(Arc::clone(&document.place));
    let repeated = std::mem::take(&mut document.faults);
    repeated.into_iter().for_each(|fault| faults.push(fault));
    let plan = assemble(&document, &request, &mut faults);
    let failed = faults.any_error();
    let mut diagnostics = faults.finish();
    if plan.is_none() && !failed {
        diagnostics.push(Diagnostic::uncoded("the document could not be compiled, for a reason that was not reported"));
    }
    Compiled { plan: plan.filter(|_| !failed), diagnostics }
}

fn assemble(document: &Document, request: &CompileRequest, faults: &mut Faults) -> Option<CompiledPlan> {
    let root = document::read(&document.root, request.memory_limit.as_deref(), faults)?;
    let formats = formats::load(request, root.formats.as_ref(), faults);
    let settings = root.settings;
    let mut context = Context {
        base: base(request),
        now: request.now,
        allow_absolute: request.allow_absolute_paths,
        date_formats: settings.date_formats,
        vars: &settings.vars,
        formats,
        inlined: Vec::new(),
    };
    let read: Vec<Option<Draft<'_>>> = root.nodes.iter().map(|node| nodes::read(node, &mut context, faults)).collect();
    let nameless = read.iter().any(Option::is_none);
    let mut drafts: Vec<Draft<'_>> = read.into_iter().flatten().collect();
    let broken = nameless || drafts.iter().any(|draft| matches!(draft.kind, Kind::Broken));
    if let (false, Some(node)) = (broken, root.nodes_node) {
        graph::ends(&drafts, node, faults);
    }
    let wiring = graph::wire(&drafts, nameless, faults);
    let names: Vec<Arc<str>> = drafts.iter().map(|draft| Arc::clone(&draft.name)).collect();
    nodes::log::same_fields(drafts.iter().filter_map(log), faults);
    let failures = {
        let sources = sources(&drafts, &wiring, nameless);
        failures::read(&root.errors, &sources, &context, faults)
    };
    let templates = destinations::check(&mut drafts, &wiring, &failures.files, &context, faults);
    graph::documents::one_envelope(&drafts, &wiring, &templates, faults);
    let contributions = dead_letters::contributions(&drafts);
    let bound = bind::bind(drafts, &wiring, templates, &context, faults);
    let dead_letters = dead_letters::plan(&failures, &names, &contributions, &wiring, &bound, faults);
    let pipeline_hash = hash(document, &context);
    let mut nodes = bind::assemble(&names, &wiring, bound)?;
    graph::edges::classify(&mut nodes);
    Some(CompiledPlan {
        name: settings.name,
        pipeline_hash,
        base: context.base.clone(),
        batch_size: settings.batch_size,
        memory: settings.memory,
        threads: settings.threads,
        failures: failures.policy,
        nodes,
        dead_letters,
        spill: context.formats.spill.clone(),
        vars: settings.vars.into_iter().map(|(name, _, value)| (name, value)).collect(),
    })
}

/// The log directives of a Transform.
fn log<'d>(draft: &'d Draft<'_>) -> Option<&'d [LogDraft<'d>]> {
    match &draft.kind {
        Kind::Transform(transform) => Some(&transform.log),
        _ => None,
    }
}

/// The Sources, for settings that name one.
fn sources<'d>(drafts: &'d [Draft<'_>], wiring: &Wiring, nameless: bool) -> failures::Sources<'d> {
    let named = |wanted: fn(&Kind<'_>) -> bool| {
        let nodes = wiring.order.iter().map(|at| &drafts[*at]).filter(move |draft| wanted(&draft.kind));
        nodes.map(|draft| &*draft.name).collect()
    };
    failures::Sources {
        names: named(|kind| matches!(kind, Kind::Source(_))),
        unclear: named(|kind| matches!(kind, Kind::Broken)),
        nameless,
    }
}

/// The base directory, absolute.
pub(crate) fn base(request: &CompileRequest) -> PathBuf {
    let parent = || match request.path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let base = request.base_dir.clone().unwrap_or_else(parent);
    std::path::absolute(&base).unwrap_or(base)
}

/// BLAKE3 of the substituted text and of the schema files inlined into it.
fn hash(document: &Document, context: &Context<'_>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(document.place.text.as_bytes());
    for inlined in &context.inlined {
        hasher.update(inlined);
    }
    *hasher.finalize().as_bytes()
}
