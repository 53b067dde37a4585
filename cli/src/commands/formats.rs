//! `clinker formats`: what each linked format says of itself.

use clinker_diagnostics::{Diagnostic, suggestion};
use clinker_format::{Descriptor, OptionKind, OptionSpec, Registry};
use serde_json::{Value, json};

use crate::flags::{FormatsAction, FormatsFlags, ListForm, LogLevel};
use crate::ui::Console;
use crate::{Host, exit};

/// Prints the list, or one format.
pub fn formats(flags: &FormatsFlags, host: &Host) -> u8 {
    let known: Vec<&Descriptor> = Registry::built_in().iter().map(|(format, _)| format.descriptor()).collect();
    let text = match (&flags.action, flags.format) {
        (None | Some(FormatsAction::List), ListForm::Text) => list(&known),
        (None | Some(FormatsAction::List), ListForm::Json) => document(known.iter().map(|format| brief(format))),
        (Some(FormatsAction::Show { name }), form) => match known.iter().find(|format| format.name == name) {
            Some(format) if form == ListForm::Text => show(format),
            Some(format) => document([complete(format)]),
            None => return unknown(name, &known, host),
        },
    };
    host.deliver(&text)
}

fn unknown(name: &str, known: &[&Descriptor], host: &Host) -> u8 {
    let names = || known.iter().map(|format| format.name);
    let near = suggestion(name, names()).map(|near| format!("{near}; ")).unwrap_or_default();
    let all = names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let report = Diagnostic::error("E400", format!("there is no format `{name}`"));
    Console::new(host.stderr.clone(), LogLevel::Warn).report(&report.help(format!("{near}the formats are {all}")));
    exit::CONFIGURATION
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

fn list(known: &[&Descriptor]) -> String {
    let width = known.iter().map(|format| format.name.len()).max().unwrap_or(0);
    let line = |format: &&Descriptor| {
        format!("{:width$}  built-in  {:10}  {}\n", format.name, verbs(format).join("+"), format.summary)
    };
    known.iter().map(line).collect()
}

fn show(format: &Descriptor) -> String {
    let mut text = format!("{}: {}\norigin: built-in\n", format.name, format.summary);
    text.push_str(&format!("directions: {}\n", verbs(format).join("+")));
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

fn brief(format: &Descriptor) -> Value {
    json!({
        "name": format.name,
        "origin": { "kind": "built-in" },
        "directions": verbs(format),
        "description": format.summary,
    })
}

fn complete(format: &Descriptor) -> Value {
    let mut value = brief(format);
    for direction in directions(format) {
        let capabilities: serde_json::Map<String, Value> =
            direction.capabilities.iter().map(|(name, can)| ((*name).to_owned(), json!(can))).collect();
        let options: Vec<Value> = direction.options.iter().map(option).collect();
        value[direction.verb] = json!({ "capabilities": capabilities, "options": options });
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
