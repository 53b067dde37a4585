//! Formats that a pipeline or its workspace names: loaded before the nodes are read, added to the linked ones.

use std::path::PathBuf;
use std::sync::Arc;

use clinker_diagnostics::{Diagnostic, SourceText, Span};
use clinker_format::{Format, FormatLoader, FormatOrigin, LoadFault, Registry};
use serde_json::{Map, Number, Value};

use crate::compile::{CompileRequest, base};
use crate::decode::Fields;
use crate::document;
use crate::faults::{Fault, Faults};
use crate::model::SpillPlan;
use crate::paths;
use crate::workspace::{self, Workspace};
use crate::yaml::{Core, Document, Node, NodeKind, Unreadable};

/// The formats that a pipeline can name.
pub(crate) struct Loaded {
    pub registry: Registry,
    /// Whether nothing failed to load: a name that nothing has may belong to what did.
    pub complete: bool,
    /// Where state goes that leaves memory.
    pub spill: SpillPlan,
}

/// The formats of a workspace and of the pipeline document in it, without a compile of that.
///
/// Returns all formats that could be loaded, and what is wrong with the others.
pub fn formats(request: &CompileRequest, document: bool) -> (Registry, Vec<Diagnostic>) {
    let bytes: &[u8] = if document { &request.bytes } else { b"{}" };
    match Document::read(&request.shown, bytes, Some(&*request.env)) {
        Ok(document) => {
            let mut faults = Faults::new(Arc::clone(&document.place));
            let given = document::formats(&document.root, &mut faults);
            let loaded = load(request, given.as_ref(), &mut faults);
            (loaded.registry, faults.finish())
        }
        Err(Unreadable::Bytes(message)) => {
            let diagnostic = Diagnostic::error("E000", format!("{}: {message}", request.shown));
            (request.registry.clone(), vec![diagnostic])
        }
        Err(Unreadable::Text(place, found)) => {
            let mut faults = Faults::new(place);
            found.into_iter().for_each(|fault| faults.push(fault));
            (request.registry.clone(), faults.finish())
        }
    }
}

/// Loads what the workspace and the document name, the workspace's first.
pub(crate) fn load(request: &CompileRequest, given: Option<&Fields<'_>>, faults: &mut Faults) -> Loaded {
    let base = base(request);
    let mut found = Vec::new();
    let Workspace { source, plugins, dialects, mut spill } = workspace::read(&base, &mut found);
    spill.dir = spill.dir.map(|dir| base.join(dir));
    let readable = found.is_empty();
    faults.adopt(START, found);
    let mut loading = Loading {
        registry: request.registry.clone(),
        loader: &*request.loader,
        base,
        allow_absolute: request.allow_absolute_paths,
        seen: Vec::new(),
        complete: readable,
    };
    if let Some(source) = &source {
        let at = |span| Place::Workspace(source, span);
        plugins.iter().for_each(|(path, span)| loading.plugin(path, at(*span), faults));
        dialects.iter().for_each(|(path, span)| loading.dialect(path, at(*span), faults));
    }
    let listed = |key: &str| given.and_then(|given| given.items(key)).unwrap_or_default().iter();
    for item in listed("plugins") {
        item.text().into_iter().for_each(|path| loading.plugin(path, Place::Document(item.span), faults));
    }
    for item in listed("dialects") {
        item.text().into_iter().for_each(|path| loading.dialect(path, Place::Document(item.span), faults));
    }
    Loaded { registry: loading.registry, complete: loading.complete, spill }
}

/// The front of the document, where what is said of the workspace belongs.
const START: Span = Span { start: 0, end: 0 };

/// Where a path is named.
#[derive(Clone, Copy)]
enum Place<'w> {
    Document(Span),
    Workspace(&'w Arc<SourceText>, Span),
}

impl Place<'_> {
    fn report(self, code: &'static str, message: String, help: Option<String>, faults: &mut Faults) {
        match self {
            Place::Document(span) => faults.push(Fault::new(code, span, message).maybe_help(help)),
            Place::Workspace(source, span) => {
                let report = Diagnostic::error(code, message).label(source, span, "declared here");
                faults.adopt(START, vec![Diagnostic { help, ..report }]);
            }
        }
    }

    fn span(self) -> Span {
        match self {
            Place::Document(span) => span,
            Place::Workspace(..) => START,
        }
    }
}

struct Loading<'l> {
    registry: Registry,
    loader: &'l dyn FormatLoader,
    base: PathBuf,
    allow_absolute: bool,
    /// The files that were loaded, or failed to.
    seen: Vec<PathBuf>,
    complete: bool,
}

impl Loading<'_> {
    fn plugin(&mut self, path: &str, place: Place<'_>, faults: &mut Faults) {
        let Some(file) = self.file(path, "plugin", place, faults) else { return };
        match self.loader.plugin(&file) {
            Ok(formats) => formats
                .into_iter()
                .for_each(|format| self.add(format, FormatOrigin::Plugin(path.to_owned()), place, faults)),
            Err(LoadFault { code, message, help, .. }) => {
                self.refuse(code, format!("plugin `{path}`: {message}"), help, place, faults);
            }
        }
    }

    fn dialect(&mut self, path: &str, place: Place<'_>, faults: &mut Faults) {
        let Some(file) = self.file(path, "dialect", place, faults) else { return };
        let bytes = match std::fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) => {
                let message = format!("the dialect description `{path}` cannot be read: {error}");
                return self.refuse("E460", message, None, place, faults);
            }
        };
        let format = match Document::read(path, &bytes, None) {
            Ok(document) => self.description(path, document, place, faults),
            Err(Unreadable::Bytes(message)) => {
                self.refuse("E411", format!("the dialect description `{path}`: {message}"), None, place, faults);
                None
            }
            Err(Unreadable::Text(text, found)) => {
                faults.within(text, place.span(), "E411", |faults| {
                    found.into_iter().for_each(|fault| faults.push(fault));
                });
                None
            }
        };
        match format {
            Some(format) => self.add(format, FormatOrigin::Dialect(path.to_owned()), place, faults),
            None => self.complete = false,
        }
    }

    /// The format of a description that could be parsed.
    fn description(
        &self,
        path: &str,
        document: Document,
        place: Place<'_>,
        faults: &mut Faults,
    ) -> Option<&'static dyn Format> {
        let Document { place: text, root, faults: repeated } = document;
        faults.within(text, place.span(), "E411", |faults| {
            let whole = repeated.is_empty();
            repeated.into_iter().for_each(|fault| faults.push(fault));
            let description = tree(&root, faults).filter(|_| whole)?;
            match self.loader.dialect(&description) {
                Ok(format) => Some(format),
                Err(found) => {
                    for fault in found {
                        let message = match &*fault.key {
                            "" => format!("the dialect description `{path}`: {}", fault.message),
                            key => format!("the dialect description `{path}`: `{key}`: {}", fault.message),
                        };
                        let span = locate(&root, &fault.key);
                        faults.push(Fault::new(fault.code, span, message).maybe_help(fault.help));
                    }
                    None
                }
            }
        })
    }

    /// The file of a path. None when it cannot be loaded, which was reported, or was before.
    fn file(&mut self, path: &str, what: &str, place: Place<'_>, faults: &mut Faults) -> Option<PathBuf> {
        if let Err(message) = paths::check_text(path, self.allow_absolute) {
            self.refuse("E-SEC-001", format!("{what}: {message}"), None, place, faults);
            return None;
        }
        let file: PathBuf = self.base.join(path).components().collect();
        if self.seen.contains(&file) {
            return None;
        }
        self.seen.push(file.clone());
        let problem = match std::fs::metadata(&file) {
            Ok(metadata) if metadata.is_file() => return Some(file),
            Ok(_) => "is no regular file".to_owned(),
            Err(error) => format!("cannot be read: {error}"),
        };
        let help = Some("the path is relative to the base directory".to_owned());
        self.refuse("E460", format!("the {what} `{path}` {problem}"), help, place, faults);
        None
    }

    fn refuse(&mut self, code: &'static str, message: String, help: Option<String>, place: Place<'_>, to: &mut Faults) {
        self.complete = false;
        place.report(code, message, help, to);
    }

    fn add(&mut self, format: &'static dyn Format, origin: FormatOrigin, place: Place<'_>, faults: &mut Faults) {
        let name = format.descriptor().name;
        if let Err(taken) = self.registry.add(format, origin.clone()) {
            let message = format!("the format name `{name}` of {origin} is taken: it is {}", described(&taken));
            place.report("E463", message, Some("drop or rename one of them".to_owned()), faults);
        }
    }
}

fn described(origin: &FormatOrigin) -> String {
    match origin {
        FormatOrigin::BuiltIn => "built in".to_owned(),
        other => format!("registered by {other}"),
    }
}

/// A description as a tree of values. None when a scalar is none that such a tree can hold, which was reported.
fn tree(node: &Node, faults: &mut Faults) -> Option<Value> {
    let NodeKind::Scalar(scalar) = &node.kind else { return nested(node, faults) };
    Some(match scalar.core() {
        Core::Null => Value::Null,
        Core::Bool(value) => Value::Bool(value),
        Core::Int(value) => Value::Number(value.into()),
        Core::Text => Value::String(scalar.text.to_string()),
        Core::Float(value) if value.is_finite() => Value::Number(Number::from_f64(value)?),
        Core::Float(_) | Core::HugeInt => {
            let message = format!("`{}` is no number of a description", faults.place().shown(node));
            faults.error("E411", node.span, message);
            return None;
        }
    })
}

/// The parser bounds how deep nodes are nested.
fn nested(node: &Node, faults: &mut Faults) -> Option<Value> {
    match &node.kind {
        NodeKind::List(items) => {
            let items: Vec<Option<Value>> = items.iter().map(|item| tree(item, faults)).collect();
            items.into_iter().collect::<Option<Vec<_>>>().map(Value::Array)
        }
        NodeKind::Map(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|entry| Some((entry.key.to_string(), tree(&entry.value, faults)?))).collect();
            entries.into_iter().collect::<Option<Map<_, _>>>().map(Value::Object)
        }
        NodeKind::Scalar(_) => None,
    }
}

/// The place of a path of keys (`levels[1].open`): of the innermost part of it that is there.
fn locate(root: &Node, key: &str) -> Span {
    let (mut at, mut span) = (root, root.span);
    for part in key.split(['.', '[']).filter(|part| !part.is_empty()) {
        let inner = match (&at.kind, part.strip_suffix(']')) {
            (NodeKind::List(items), Some(index)) => index.parse::<usize>().ok().and_then(|index| items.get(index)),
            (_, None) => at.get(part).map(|entry| &entry.value),
            _ => None,
        };
        let Some(inner) = inner else { break };
        (at, span) = (inner, inner.span);
    }
    span
}
