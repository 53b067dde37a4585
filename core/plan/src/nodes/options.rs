//! Format options, by the specifications the formats declare.

use clinker_diagnostics::{Span, nearest};
use clinker_format::{Format, OptionFault, OptionKind, OptionSpec, OptionValue, Options};
use clinker_record::{Kind, Type};

use crate::decode;
use crate::faults::{Fault, Faults};
use crate::formats::Loaded;
use crate::nodes::values;
use crate::yaml::{Core, Entry, Node, NodeKind};

/// Which way a format is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

impl Direction {
    fn verb(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "written",
        }
    }
}

/// The format of that name, if it can be used that way.
pub(crate) fn format(
    name: &Node,
    direction: Direction,
    formats: &Loaded,
    faults: &mut Faults,
) -> Option<&'static dyn Format> {
    let word = name.text()?;
    let usable = |format: &dyn Format| match direction {
        Direction::Read => format.descriptor().read.is_some(),
        Direction::Write => format.descriptor().write.is_some(),
    };
    let registry = &formats.registry;
    let names: Vec<&str> = registry
        .iter()
        .map(|(format, _)| format)
        .filter(|format| usable(*format))
        .map(|format| format.descriptor().name)
        .collect();
    let shown = faults.place().shown(name);
    let message = match registry.find(word) {
        Some(format) if usable(format) => return Some(format),
        Some(_) => format!("format `{shown}` cannot be {}", direction.verb()),
        // It may be one of those that could not be loaded, which was reported.
        None if !formats.complete => return None,
        None => format!("no format is named `{shown}`"),
    };
    let help = match nearest(word, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("the formats that can be {} are {}", direction.verb(), names.join(", ")),
    };
    faults.push(Fault::new("E400", name.span, message).help(help));
    None
}

/// Reads an `options:` map against a format's specifications: the options that are right, so that the format can check
/// them even beside wrong ones. `None` when it is no map.
pub(crate) fn options(
    node: Option<&Node>,
    format: &str,
    specs: &'static [OptionSpec],
    later: &[&str],
    faults: &mut Faults,
) -> Option<Options> {
    let mut options = Options::default();
    let Some(node) = node else { return Some(options) };
    let NodeKind::Map(entries) = &node.kind else {
        faults.error("E000", node.span, format!("`options` must be a map; it is {}", node.word()));
        return None;
    };
    for entry in entries {
        let Some(spec) = specs.iter().find(|spec| spec.key == &*entry.key) else {
            if later.contains(&&*entry.key) {
                decode::unavailable(&format!("`{}`", entry.key), "`options`", entry.key_span, faults);
                continue;
            }
            let keys = specs.iter().map(|spec| spec.key);
            let help = match nearest(&entry.key, keys.clone()) {
                Some(key) => format!("did you mean `{key}`?"),
                None if specs.is_empty() => format!("format `{format}` has no options here"),
                None => format!("the options of `{format}` are {}", keys.collect::<Vec<_>>().join(", ")),
            };
            let message = format!("format `{format}` has no option `{}`", entry.key);
            faults.push(Fault::new("E000", entry.key_span, message).help(help));
            continue;
        };
        if let Some(value) = value(&entry.value, spec, faults) {
            options.set(spec.key, value);
        }
    }
    Some(options)
}

fn value(node: &Node, spec: &'static OptionSpec, faults: &mut Faults) -> Option<OptionValue> {
    match spec.kind {
        OptionKind::Texts { count } => texts(node, spec, count, faults),
        OptionKind::Fields => fields(node, spec, faults),
        OptionKind::Map(specs) => map(node, spec, specs, faults).map(OptionValue::Map),
        OptionKind::Maps(specs) => {
            let NodeKind::List(items) = &node.kind else { return misshapen(node, spec, faults) };
            let maps: Vec<_> = items.iter().map(|item| map(item, spec, specs, faults)).collect();
            maps.into_iter().collect::<Option<_>>().map(OptionValue::Maps)
        }
        _ => scalar(node, spec, faults),
    }
}

/// Reports a value of another shape.
fn misshapen<T>(node: &Node, spec: &OptionSpec, faults: &mut Faults) -> Option<T> {
    let message = format!("option `{}` must be {}; it is {}", spec.key, spec.kind.wanted(), node.word());
    faults.error("E000", node.span, message);
    None
}

fn scalar(node: &Node, spec: &OptionSpec, faults: &mut Faults) -> Option<OptionValue> {
    let NodeKind::Scalar(scalar) = &node.kind else { return misshapen(node, spec, faults) };
    let word = |words: &[&str]| {
        node.text().filter(|text| words.contains(&&***text)).map(|text| OptionValue::Text(text.to_string()))
    };
    let value = match spec.kind {
        OptionKind::Text => node.text().map(|text| OptionValue::Text(text.to_string())),
        OptionKind::Word(words) => word(words),
        OptionKind::Bool | OptionKind::BoolOr(_) => match (scalar.core(), spec.kind) {
            (Core::Bool(value), _) => Some(OptionValue::Bool(value)),
            (_, OptionKind::BoolOr(words)) => word(words),
            _ => None,
        },
        OptionKind::Size => values::decimal_size(scalar).map(OptionValue::Number),
        OptionKind::Integer { min, max } => match scalar.core() {
            Core::Int(value) => match u64::try_from(value).ok().filter(|value| (min..=max).contains(value)) {
                Some(value) => Some(OptionValue::Number(value)),
                None => {
                    let message = format!("option `{}` is {value}; it must be {min} to {max}", spec.key);
                    faults.error("E403", node.span, message);
                    return None;
                }
            },
            _ => None,
        },
        OptionKind::Texts { .. } | OptionKind::Fields | OptionKind::Map(_) | OptionKind::Maps(_) => None,
    };
    if value.is_none() {
        let shown = faults.place().shown(node);
        let message = format!("option `{}` must be {}; it is `{shown}`", spec.key, spec.kind.wanted());
        let help = match spec.kind {
            OptionKind::Text => format!("quote it: `{}: \"{shown}\"`", spec.key),
            _ => format!("{} (default: {})", spec.doc, if spec.default.is_empty() { "none" } else { spec.default }),
        };
        faults.push(Fault::new("E000", node.span, message).help(help));
    }
    value
}

/// A list of texts; a wrong number of them is a matter of the value (E403).
fn texts(node: &Node, spec: &OptionSpec, count: Option<usize>, faults: &mut Faults) -> Option<OptionValue> {
    let NodeKind::List(items) = &node.kind else { return misshapen(node, spec, faults) };
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        match item.text() {
            Some(text) => texts.push(text.to_string()),
            None => {
                let message = format!("an item of option `{}` must be text; it is {}", spec.key, item.word());
                let help = format!("quote it: `\"{}\"`", faults.place().shown(item));
                faults.push(Fault::new("E000", item.span, message).help(help));
            }
        }
    }
    if let Some(count) = count.filter(|count| *count != items.len()) {
        let message = format!("option `{}` has {} items; it must have {count}", spec.key, items.len());
        faults.error("E403", node.span, message);
        return None;
    }
    (texts.len() == items.len()).then_some(OptionValue::Texts(texts))
}

/// A map from names to declared types.
fn fields(node: &Node, spec: &OptionSpec, faults: &mut Faults) -> Option<OptionValue> {
    let NodeKind::Map(entries) = &node.kind else { return misshapen(node, spec, faults) };
    section_fields(entries, faults).map(OptionValue::Fields)
}

/// The types that fields of a section may have.
const FIELD_TYPES: [Kind; 6] = [Kind::String, Kind::Int, Kind::Float, Kind::Bool, Kind::Date, Kind::DateTime];

/// The fields of a section: names with types.
pub(crate) fn section_fields(entries: &[Entry], faults: &mut Faults) -> Option<Vec<(String, Type)>> {
    let mut fields = Vec::with_capacity(entries.len());
    for entry in entries {
        let kind = entry.value.text().and_then(|word| Kind::from_word(word)).filter(|kind| FIELD_TYPES.contains(kind));
        match kind {
            Some(kind) => fields.push((entry.key.to_string(), Type::nullable(kind))),
            None => {
                let message = format!(
                    "the type of field `{}` must be one of {}",
                    entry.key,
                    FIELD_TYPES.map(Kind::word).join(", ")
                );
                faults.error("E000", entry.value.span, message);
            }
        }
    }
    (fields.len() == entries.len()).then_some(fields)
}

/// A map with these keys.
fn map(node: &Node, spec: &OptionSpec, specs: &'static [OptionSpec], faults: &mut Faults) -> Option<Options> {
    let NodeKind::Map(entries) = &node.kind else { return misshapen(node, spec, faults) };
    let mut options = Options::default();
    let mut right = true;
    for entry in entries {
        let Some(own) = specs.iter().find(|own| own.key == &*entry.key) else {
            let message = format!("option `{}` has no key `{}`", spec.key, entry.key);
            let keys = specs.iter().map(|own| own.key);
            let help = match nearest(&entry.key, keys.clone()) {
                Some(key) => format!("did you mean `{key}`?"),
                None => format!("its keys are {}", keys.collect::<Vec<_>>().join(", ")),
            };
            faults.push(Fault::new("E000", entry.key_span, message).help(help));
            right = false;
            continue;
        };
        match value(&entry.value, own, faults) {
            Some(value) => options.set(own.key, value),
            None => right = false,
        }
    }
    for own in specs.iter().filter(|own| own.required) {
        if !entries.iter().any(|entry| &*entry.key == own.key) {
            faults.error("E000", node.span, format!("option `{}` needs the key `{}`", spec.key, own.key));
            right = false;
        }
    }
    right.then_some(options)
}

/// Reports what a format found wrong with its options, each at the option.
pub(crate) fn refuse(
    found: Vec<OptionFault>,
    node: &str,
    options: Option<&Node>,
    otherwise: Span,
    faults: &mut Faults,
) {
    for fault in found {
        let (span, message) = placed(&fault, node, options, otherwise);
        faults.push(Fault::new(fault.code, span, message).maybe_help(fault.help));
    }
}

/// Reports what a format finds odd about options that it accepts.
pub(crate) fn warn(found: Vec<OptionFault>, node: &str, options: Option<&Node>, otherwise: Span, faults: &mut Faults) {
    for fault in found {
        let (span, message) = placed(&fault, node, options, otherwise);
        faults.push(Fault::warning(Some(fault.code), span, message).maybe_help(fault.help));
    }
}

/// Where the option of a fault stands, and the message with the node's name.
fn placed(fault: &OptionFault, node: &str, options: Option<&Node>, otherwise: Span) -> (Span, String) {
    let entry = options.and_then(|options| options.get(fault.key));
    (entry.map_or(otherwise, |entry| entry.value.span), format!("`{node}`: {}", fault.message))
}
