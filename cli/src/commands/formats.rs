//! `clinker formats`: what each format says of itself: the linked ones, those of the workspace, those of a pipeline.

use std::sync::Arc;

use clinker_diagnostics::{Diagnostic, suggestion};
use clinker_format::{
    Descriptor, Extract, Format, FormatOrigin, OptionKind, OptionSpec, Options, PluginCode, PluginFacts, ReadFactory,
    ReadRequest, Registry, Vocabulary,
};
use clinker_plan::CompileRequest;
use serde_json::{Value, json};

use crate::flags::{FormatsAction, FormatsFlags, ListForm, LogLevel};
use crate::loader::Loader;
use crate::ui::Console;
use crate::{Host, exit};

/// A format and where it comes from.
#[derive(Clone, Copy)]
struct Known<'r> {
    format: &'static dyn Format,
    origin: &'r FormatOrigin,
}

impl Known<'_> {
    fn descriptor(self) -> &'static Descriptor {
        self.format.descriptor()
    }

    /// Its reader under the default options, where these are enough.
    fn reader(self) -> Option<Arc<dyn ReadFactory>> {
        self.descriptor().read.as_ref()?;
        let options = Options::default();
        let bound = self.format.bind_reader(&ReadRequest {
            options: &options,
            fields: &[],
            undeclared: true,
            refuse_undeclared: false,
            expand: &[],
            max_rows: None,
        });
        bound.ok()
    }
}

/// Prints the list, or one format.
pub fn formats(flags: &FormatsFlags, host: &Host) -> u8 {
    let (registry, failed) = match load(flags, host) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let mut known: Vec<Known<'_>> = registry.iter().map(|(format, origin)| Known { format, origin }).collect();
    known.sort_by_key(|known| known.descriptor().name);
    let text = match (&flags.action, flags.format) {
        (None | Some(FormatsAction::List), ListForm::Text) => list(&known),
        (None | Some(FormatsAction::List), ListForm::Json) => document(known.iter().map(|known| brief(*known))),
        (Some(FormatsAction::Show { name }), form) => {
            match known.iter().find(|known| known.descriptor().name == name) {
                Some(known) if form == ListForm::Text => show(*known),
                Some(known) => document([complete(*known)]),
                None => return unknown(name, &known, host),
            }
        }
    };
    match host.deliver(&text) {
        exit::SUCCESS if failed => exit::CONFIGURATION,
        code => code,
    }
}

/// The formats there are, and whether some could not be loaded, which was told.
fn load(flags: &FormatsFlags, host: &Host) -> Result<(Registry, bool), u8> {
    let console = Console::new(host.stderr.clone(), LogLevel::Warn);
    let path = flags.config.as_ref().map(|config| host.current_dir.join(config));
    let bytes = match &path {
        Some(path) => std::fs::read(path).map_err(|error| {
            let shown = path.display();
            let report = Diagnostic::uncoded(format!("cannot read the pipeline document {shown}: {error}"));
            console.report(&report.help("give the path of a pipeline document"));
            exit::CONFIGURATION
        })?,
        None => Vec::new(),
    };
    let base_dir = match (&flags.base_dir, &path) {
        (Some(base), _) => Some(host.current_dir.join(base)),
        (None, Some(_)) => None,
        (None, None) => Some(host.current_dir.clone()),
    };
    let env = Arc::clone(&host.env);
    let request = CompileRequest {
        shown: flags.config.as_ref().map_or_else(String::new, |config| config.display().to_string()),
        path: path.unwrap_or_default(),
        bytes,
        base_dir,
        allow_absolute_paths: (host.env)("CLINKER_ALLOW_ABSOLUTE_PATHS").is_some(),
        env: Box::new(move |name| env(name)),
        memory_limit: None,
        registry: Registry::built_in(),
        loader: Box::new(Loader::new(host)),
        now: host.clock.now(),
    };
    let (registry, found) = clinker_plan::formats(&request, flags.config.is_some());
    console.reports(&found);
    Ok((registry, found.iter().any(Diagnostic::is_error)))
}

fn unknown(name: &str, known: &[Known<'_>], host: &Host) -> u8 {
    let names = || known.iter().map(|known| known.descriptor().name);
    let near = suggestion(name, names()).map(|near| format!("{near}; ")).unwrap_or_default();
    let all = names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let report = Diagnostic::error("E400", format!("there is no format `{name}`"));
    Console::new(host.stderr.clone(), LogLevel::Warn).report(&report.help(format!("{near}the formats are {all}")));
    exit::CONFIGURATION
}

/// The origin as listings show it.
fn origin(known: Known<'_>) -> String {
    match (known.origin, known.format.plugin()) {
        (FormatOrigin::BuiltIn, _) => "built-in".to_owned(),
        (origin, Some(facts)) => format!("{origin} {}", facts.version),
        (origin, None) => origin.to_string(),
    }
}

/// One direction: its verb, its options, and what it can do.
struct Direction {
    verb: &'static str,
    options: &'static [OptionSpec],
    capabilities: Vec<(&'static str, bool)>,
}

fn directions(format: &Descriptor) -> Vec<Direction> {
    let read = format.read.as_ref().map(|read| Direction {
        verb: "read",
        options: read.options,
        capabilities: read.capabilities(),
    });
    let write = format.write.as_ref().map(|write| Direction {
        verb: "write",
        options: write.options,
        capabilities: write.capabilities(),
    });
    read.into_iter().chain(write).collect()
}

fn verbs(format: &Descriptor) -> Vec<&'static str> {
    directions(format).iter().map(|direction| direction.verb).collect()
}

fn list(known: &[Known<'_>]) -> String {
    let names = known.iter().map(|known| known.descriptor().name.len()).max().unwrap_or(0);
    let origins = known.iter().map(|known| origin(*known).len()).max().unwrap_or(0);
    let line = |known: &Known<'_>| {
        let Descriptor { name, summary, .. } = known.descriptor();
        let (origin, verbs) = (origin(*known), verbs(known.descriptor()).join("+"));
        format!("{name:names$}  {origin:origins$}  {verbs:10}  {summary}\n")
    };
    known.iter().map(line).collect()
}

fn show(known: Known<'_>) -> String {
    let format = known.descriptor();
    let mut text = format!("{}: {}\norigin: {}\n", format.name, format.summary, origin(known));
    if let Some(facts) = known.format.plugin() {
        text.push_str(&shown_plugin(facts));
    }
    text.push_str(&format!("directions: {}\n", verbs(format).join("+")));
    if let Some(reader) = known.reader() {
        text.push_str(&shown_documents(format, &*reader));
    }
    for direction in directions(format) {
        text.push_str(&format!("\n{}\n", direction.verb));
        for (word, wanted) in [("yes", true), ("no", false)] {
            let found = direction.capabilities.iter().filter(|(_, can)| *can == wanted);
            let names: Vec<&str> = found.map(|(name, _)| *name).collect();
            if !names.is_empty() {
                text.push_str(&format!("  {word}: {}\n", names.join(", ")));
            }
        }
        for option in direction.options {
            let default = match option.default {
                "" => "no default".to_owned(),
                default => format!("default `{default}`"),
            };
            text.push_str(&format!("  {}: {}; {default}\n      {}\n", option.key, option.kind.wanted(), option.doc));
        }
    }
    text
}

fn document(formats: impl IntoIterator<Item = Value>) -> String {
    let document = json!({ "schema_version": "1", "formats": formats.into_iter().collect::<Vec<_>>() });
    format!("{document:#}\n")
}

fn brief(known: Known<'_>) -> Value {
    let origin = match known.origin {
        FormatOrigin::BuiltIn => json!({ "kind": "built-in" }),
        FormatOrigin::Dialect(path) => json!({ "kind": "dialect", "path": path }),
        FormatOrigin::Plugin(path) => {
            let mut origin = json!({ "kind": "plugin", "path": path });
            if let Some(PluginFacts { version, interface: (major, minor), .. }) = known.format.plugin() {
                origin["version"] = json!(version);
                origin["interface"] = json!(format!("{major}.{minor}"));
            }
            origin
        }
    };
    json!({
        "name": known.descriptor().name,
        "origin": origin,
        "directions": verbs(known.descriptor()),
        "description": known.descriptor().summary,
    })
}

fn complete(known: Known<'_>) -> Value {
    let mut value = brief(known);
    let format = known.descriptor();
    if let Some(reader) = known.reader() {
        value["generated_columns"] =
            reader.generated_columns().map_or(Value::Null, |names| names.iter().map(|name| json!(&**name)).collect());
        value["documents"] = documents(format, &*reader);
    }
    for direction in directions(format) {
        let capabilities: serde_json::Map<String, Value> =
            direction.capabilities.iter().map(|(name, can)| ((*name).to_owned(), json!(can))).collect();
        let options: Vec<Value> = direction.options.iter().map(option).collect();
        value[direction.verb] = json!({ "capabilities": capabilities, "options": options });
    }
    if let Some(facts) = known.format.plugin() {
        let offer = |(name, known): &(String, bool)| json!({ "name": name, "known": known });
        value["requires"] = json!(facts.requires);
        value["offers"] = facts.offers.iter().map(offer).collect();
        value["codes"] = facts.codes.iter().map(code).collect();
    }
    value
}

fn option(option: &OptionSpec) -> Value {
    let mut value = json!({ "key": option.key, "type": option.kind.word() });
    match option.kind {
        OptionKind::Word(words) | OptionKind::BoolOr(words) => value["values"] = json!(words),
        OptionKind::Integer { min, max } => {
            value["min"] = json!(min);
            value["max"] = json!(max);
        }
        OptionKind::Texts { count: Some(count) } => value["count"] = json!(count),
        OptionKind::Map(specs) | OptionKind::Maps(specs) => {
            value["keys"] = specs.iter().map(self::option).collect();
        }
        _ => {}
    }
    // An absent default is told from an empty one by its type: no option has an empty text as its default.
    value["default"] = if option.default.is_empty() { Value::Null } else { json!(option.default) };
    value["required"] = json!(option.required);
    value["description"] = json!(option.doc);
    value
}

fn code(own: &PluginCode) -> Value {
    let PluginCode { code, title, meaning, remedy, class, machine } = own;
    json!({ "code": code, "title": title, "meaning": meaning, "remedy": remedy, "class": class, "machine": machine })
}

/// What a plugin says of itself, and the codes of one of its formats.
fn shown_plugin(facts: &PluginFacts) -> String {
    let (major, minor) = facts.interface;
    let offer = |(name, known): &(String, bool)| if *known { name.clone() } else { format!("{name} (ignored)") };
    let offers: Vec<String> = facts.offers.iter().map(offer).collect();
    let mut text = format!("interface: {major}.{minor}\n");
    for (word, names) in [("requires", facts.requires.join(", ")), ("offers", offers.join(", "))] {
        if !names.is_empty() {
            text.push_str(&format!("{word}: {names}\n"));
        }
    }
    for PluginCode { code, title, meaning, remedy, class, .. } in &facts.codes {
        text.push_str(&format!("code {code} ({class}): {title}\n    {meaning} {remedy}\n"));
    }
    text
}

/// What `$doc` names beside the declared sections, in words.
fn vocabulary(reader: &dyn ReadFactory) -> String {
    match reader.vocabulary() {
        Vocabulary::Closed => "declared names only".to_owned(),
        Vocabulary::Open => "any name".to_owned(),
        Vocabulary::Positional { prefix, max } => format!("declared names, and {prefix}01 to {prefix}{max:02}"),
    }
}

/// Columns and sections that the format makes itself.
fn shown_documents(format: &Descriptor, reader: &dyn ReadFactory) -> String {
    let mut text = String::new();
    if let Some(names) = reader.generated_columns() {
        let shown = match &*names {
            [first, .., last] if names.len() > 8 => format!("{first} to {last}, {} columns", names.len()),
            names => names.join(", "),
        };
        text.push_str(&format!("generated columns: {shown}\n"));
    }
    text.push_str(&format!("$doc: {}\n", vocabulary(reader)));
    match format.read.as_ref().and_then(|reads| reads.extract) {
        Some(Extract::Segment(tags)) => text.push_str(&format!("extract: segment: {}\n", tags.join(", "))),
        Some(other) => text.push_str(&format!("extract: {}\n", other.key())),
        None => {}
    }
    for level in reader.levels() {
        let section = match &*level.section {
            _ if level.file => "sections by `extract`".to_owned(),
            "" => "no section".to_owned(),
            section => format!("section {section}"),
        };
        text.push_str(&format!("level {}: {section}\n", level.name));
    }
    text
}

fn documents(format: &Descriptor, reader: &dyn ReadFactory) -> Value {
    let vocabulary = match reader.vocabulary() {
        Vocabulary::Closed => json!({ "kind": "closed" }),
        Vocabulary::Open => json!({ "kind": "open" }),
        Vocabulary::Positional { prefix, max } => json!({ "kind": "positional", "prefix": &*prefix, "max": max }),
    };
    let extract = format.read.as_ref().and_then(|reads| reads.extract).map(|extract| match extract {
        Extract::Segment(tags) => json!({ "rule": extract.key(), "values": tags }),
        _ => json!({ "rule": extract.key() }),
    });
    let level = |level: &clinker_format::LevelSpec| {
        let section = Some(&*level.section).filter(|section| !level.file && !section.is_empty());
        json!({ "name": &*level.name, "section": section, "file": level.file })
    };
    let levels: Vec<Value> = reader.levels().iter().map(level).collect();
    json!({ "vocabulary": vocabulary, "extract": extract, "levels": levels })
}
