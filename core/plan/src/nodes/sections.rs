//! `envelope` of a Source, and what `$doc` names below it.

use std::sync::Arc;

use clinker_cxl::{DocumentNames, DocumentSection, DocumentVocabulary};
use clinker_diagnostics::{Span, nearest};
use clinker_format::{Extract, LevelSpec, ReadCapabilities, ReadFactory, Vocabulary};
use clinker_record::Type;
use clinker_record::cast::AdmitRule;

use crate::context::Context;
use crate::decode::{self, Fields, Key, Need, Shape, optional, required};
use crate::documents::{DocumentPlan, FieldPlan, LevelPlan, SectionPlan};
use crate::faults::{Fault, Faults};
use crate::nodes::options;
use crate::yaml::{Core, Entry, Node, NodeKind};

/// What the documents of a Source have.
pub(crate) struct DocumentsDraft {
    /// For the plan, when nothing is wrong.
    pub plan: Option<DocumentPlan>,
    /// For programs; nothing is checked while something is wrong.
    pub names: DocumentNames,
}

/// A section that the user declares.
struct Declared<'a> {
    name: &'a Arc<str>,
    span: Span,
    extract: Arc<str>,
    /// Names with types; none when every field of the header is one.
    fields: Option<Vec<(Arc<str>, Type)>>,
}

pub(super) const ENVELOPE: &[Key] =
    &[required("sections", Shape::Named(&Shape::Map(SECTION)), "sections of the whole file, by name")];

const SECTION: &[Key] = &[
    required("extract", Shape::Map(EXTRACT), "where the section stands"),
    optional("fields", Shape::Named(&Shape::Text), "its fields with their types"),
];

const SEGMENT: Shape = Shape::Any(&[Shape::Text, Shape::Integer(0)]);
const EXTRACT: &[Key] = &[
    optional("segment", SEGMENT, "the tag of the header of the file"),
    optional("xml_path", Shape::Text, "element names from the document element"),
    optional("json_pointer", Shape::Text, "a pointer (RFC 6901)"),
    optional("record_type", SEGMENT, "the tag of a header record type"),
];

/// A Source's format as far as it is known.
pub(crate) struct Reading<'r> {
    pub format: &'static str,
    pub reads: &'static ReadCapabilities,
    pub reader: &'r dyn ReadFactory,
}

/// Reads `envelope` and adds the levels of the format. Without a bound format only the form is checked.
pub(crate) fn read(
    name: &str,
    fields: &Fields<'_>,
    reading: Option<Reading<'_>>,
    context: &Context<'_>,
    faults: &mut Faults,
) -> DocumentsDraft {
    let unknown =
        || DocumentNames { source: name.into(), vocabulary: DocumentVocabulary::Unchecked, sections: Vec::new() };
    let reads = reading.as_ref().map(|reading| reading.reads);
    let declared = match fields.entry("envelope") {
        Some(entry) => declared(entry, reading.as_ref(), reads, faults),
        None => Some(Vec::new()),
    };
    let (Some(reading), Some(declared)) = (reading, declared) else {
        return DocumentsDraft { plan: None, names: unknown() };
    };
    let options = fields.node("options").or(fields.node("type")).map_or(fields.span, |node| node.span);
    let unique = unique(name, &declared, reading.reader.levels(), options, faults);
    let levels: Vec<LevelPlan> = reading.reader.levels().iter().map(|spec| level(spec, &declared, context)).collect();
    let plan = DocumentPlan { levels };
    DocumentsDraft { names: names(name, &plan, reading.reader), plan: Some(plan).filter(|_| unique) }
}

/// The declared sections. None when the block cannot be used, which was reported.
fn declared<'a>(
    entry: &'a Entry,
    reading: Option<&Reading<'_>>,
    reads: Option<&ReadCapabilities>,
    faults: &mut Faults,
) -> Option<Vec<Declared<'a>>> {
    let fields = decode::fields(&entry.value, "`envelope`", ENVELOPE, faults)?;
    let sections = fields.entries("sections")?;
    if let Some(reading) = reading
        && !extracts(reading, entry.key_span, faults)
    {
        return None;
    }
    let extract = reads.and_then(|reads| reads.extract);
    let sections: Vec<Option<Declared<'a>>> =
        sections.iter().map(|section| declare(section, extract, faults)).collect();
    sections.into_iter().collect()
}

/// Whether the format has sections of the whole file.
fn extracts(reading: &Reading<'_>, span: Span, faults: &mut Faults) -> bool {
    let format = reading.format;
    match reading.reads.extract {
        Some(_) if reading.reader.levels().iter().any(|level| level.file) => return true,
        None if reading.reader.vocabulary() == Vocabulary::Open => {
            let message = format!("files of format `{format}` are no documents with an `envelope`");
            faults.push(Fault::new("E356", span, message).help("remove it"));
        }
        _ => decode::unavailable("`envelope`", &format!("a source of format `{format}`"), span, faults),
    }
    false
}

fn declare<'a>(entry: &'a Entry, extract: Option<Extract>, faults: &mut Faults) -> Option<Declared<'a>> {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let named = entry.key.bytes().next().is_some_and(letter)
        && entry.key.bytes().all(|byte| letter(byte) || byte.is_ascii_digit());
    if !named {
        let fault = Fault::new("E000", entry.key_span, format!("section name `{}` is no identifier", entry.key));
        faults.push(fault.help("write letters, digits and `_`: programs read `$doc.<section>.<field>`"));
    }
    let fields = decode::fields(&entry.value, &format!("section `{}`", entry.key), SECTION, faults)?;
    let located = fields.node("extract").and_then(|node| locator(&entry.key, node, extract, faults));
    let typed = match fields.node("fields").map(|node| &node.kind) {
        Some(NodeKind::Map(entries)) => Some(options::section_fields(entries, faults)?),
        _ => None,
    };
    let owned = |fields: Vec<(String, Type)>| fields.into_iter().map(|(name, ty)| (Arc::from(name), ty)).collect();
    let declared = Declared { name: &entry.key, span: entry.key_span, extract: located?, fields: typed.map(owned) };
    named.then_some(declared)
}

/// The value of the one key of `extract`. None when it is not one for the format.
fn locator(section: &str, node: &Node, wanted: Option<Extract>, faults: &mut Faults) -> Option<Arc<str>> {
    let fields = decode::fields(node, &format!("`extract` of section `{section}`"), EXTRACT, faults)?;
    let keys = || EXTRACT.iter().filter(|key| key.need == Need::Optional).map(|key| key.name);
    let mut given = keys().filter_map(|key| fields.entry(key));
    let (entry, second) = (given.next(), given.next());
    let one_of = || keys().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    let Some(entry) = entry.filter(|_| second.is_none()) else {
        // A key that was refused is missing, too.
        if second.is_some() || matches!(&node.kind, NodeKind::Map(entries) if entries.is_empty()) {
            let message = format!("`extract` of section `{section}` must have exactly one of {}", one_of());
            faults.error("E000", node.span, message);
        }
        return None;
    };
    let NodeKind::Scalar(scalar) = &entry.value.kind else {
        let message = format!("`{}` of `extract` must be text; it is {}", entry.key, entry.value.word());
        faults.error("E000", entry.value.span, message);
        return None;
    };
    if !matches!(scalar.core(), Core::Text | Core::Int(_)) {
        let message = format!("`{}` of `extract` must be text; it is {}", entry.key, entry.value.word());
        faults.error("E000", entry.value.span, message);
        return None;
    }
    let wanted = wanted?;
    let wrong = match (wanted, &*entry.key) {
        (Extract::Segment(tags), "segment") if !tags.contains(&&*scalar.text) => {
            let help = match nearest(&scalar.text, tags.iter().copied()) {
                Some(tag) => format!("did you mean `{tag}`?"),
                None => format!(
                    "the header of the file is {}; levels are read by `$doc` without a declaration",
                    tags.join(", ")
                ),
            };
            Some(("E357", format!("section `{section}`: `{}` is not the header of the file", scalar.text), help))
        }
        (_, key) if key == wanted.key() => malformed(section, key, &scalar.text),
        (_, key) => {
            let code = if matches!(wanted, Extract::Segment(_)) { "E357" } else { "E413" };
            let message = format!("section `{section}`: `{key}` locates nothing in this format");
            Some((code, message, format!("write `{}`", wanted.key())))
        }
    };
    match wrong {
        Some((code, message, help)) => {
            faults.push(Fault::new(code, entry.value.span, message).help(help));
            None
        }
        None => Some(Arc::clone(&scalar.text)),
    }
}

/// What is wrong with the text of a locator of the right kind.
fn malformed(section: &str, key: &str, text: &str) -> Option<(&'static str, String, String)> {
    let message = |what: &str| format!("section `{section}`: `{text}` is no {what}");
    match key {
        "json_pointer" => {
            let escapes = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
            let formed = (text.is_empty() || text.starts_with('/')) && escapes;
            let help = "write `/manifest`; `~0` stands for `~` and `~1` for `/`";
            (!formed).then(|| ("E222", message("JSON pointer"), help.to_owned()))
        }
        "xml_path" => {
            let formed = text.strip_prefix('/').unwrap_or(text).split('/').all(|name| !name.is_empty());
            (!formed).then(|| ("E413", message("path of elements"), "write `/batch/head`".to_owned()))
        }
        _ => None,
    }
}

/// Whether each section has a name of its own, or one that the user shares on purpose.
fn unique(node: &str, declared: &[Declared<'_>], levels: &[LevelSpec], options: Span, faults: &mut Faults) -> bool {
    let inner: Vec<&LevelSpec> = levels.iter().filter(|level| !level.file && !level.section.is_empty()).collect();
    // A level has a name by itself; another one was given to it.
    let chosen = |level: &LevelSpec| level.section != level.name;
    let mut fine = true;
    let mut shared = |section: &str, span: Span, outer: &str, level: &LevelSpec, on_purpose: bool| {
        let what = format!("`{node}`: the section of level `{}` has the name `{section}` of {outer}", level.name);
        faults.push(if on_purpose {
            Fault::note(span, format!("{what}, which it hides inside"))
        } else {
            fine = false;
            Fault::new("E406", span, what).help("give one of them another name")
        });
    };
    for own in declared {
        if let Some(level) = inner.iter().find(|level| *level.section == **own.name) {
            shared(own.name, own.span, "a declared section", level, chosen(level));
        }
    }
    for (at, level) in inner.iter().enumerate() {
        if let Some(outer) = inner[..at].iter().find(|outer| outer.section == level.section) {
            let of = format!("that of level `{}`", outer.name);
            shared(&level.section, options, &of, level, chosen(outer) && chosen(level));
        }
    }
    fine
}

fn level(spec: &LevelSpec, declared: &[Declared<'_>], context: &Context<'_>) -> LevelPlan {
    let typed = |fields: &[(Arc<str>, Type)]| {
        let field = |(name, ty): &(Arc<str>, Type)| {
            let ty = Type::nullable(ty.kind);
            let rule = AdmitRule { formats: context.formats_for(ty), ..AdmitRule::new(Arc::clone(name), ty) };
            FieldPlan { rule, read: false }
        };
        fields.iter().map(field).collect()
    };
    let sections = if spec.file {
        let section = |own: &Declared<'_>| SectionPlan {
            name: Arc::clone(own.name),
            extract: Some(Arc::clone(&own.extract)),
            fields: own.fields.as_deref().map(typed),
        };
        declared.iter().map(section).collect()
    } else if spec.section.is_empty() {
        Vec::new()
    } else {
        let fields = spec.fields.as_deref().map(typed);
        vec![SectionPlan { name: Arc::clone(&spec.section), extract: None, fields }]
    };
    LevelPlan { name: Arc::clone(&spec.name), frame: spec.frame, file: spec.file, sections }
}

fn names(node: &str, plan: &DocumentPlan, reader: &dyn ReadFactory) -> DocumentNames {
    let vocabulary = match reader.vocabulary() {
        Vocabulary::Closed => DocumentVocabulary::Closed,
        Vocabulary::Open => DocumentVocabulary::Unchecked,
        Vocabulary::Positional { prefix, max } => DocumentVocabulary::Positional { prefix, max },
    };
    let section = |section: &SectionPlan| DocumentSection {
        name: Arc::clone(&section.name),
        fields: section.fields.as_ref().map(|fields| fields.iter().map(|field| Arc::clone(&field.rule.name)).collect()),
    };
    let sections = plan.levels.iter().flat_map(|level| &level.sections).map(section).collect();
    DocumentNames { source: node.into(), vocabulary, sections }
}
