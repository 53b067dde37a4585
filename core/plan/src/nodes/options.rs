//! Format options, by the specifications the formats declare.

use clinker_diagnostics::{Span, nearest};
use clinker_format::{Format, OptionFault, OptionKind, OptionSpec, OptionValue, Options, registry};

use crate::decode;
use crate::faults::{Fault, Faults};
use crate::nodes::values;
use crate::yaml::{Core, Node, NodeKind};

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
pub(crate) fn format(name: &Node, direction: Direction, faults: &mut Faults) -> Option<&'static dyn Format> {
    let word = name.text()?;
    let usable = |format: &dyn Format| match direction {
        Direction::Read => format.descriptor().read.is_some(),
        Direction::Write => format.descriptor().write.is_some(),
    };
    let names: Vec<&str> = registry::formats()
        .into_iter()
        .filter(|format| usable(*format))
        .map(|format| format.descriptor().name)
        .collect();
    let shown = faults.place().shown(name);
    let message = match registry::find(word) {
        Some(format) if usable(format) => return Some(format),
        Some(_) => format!("format `{shown}` cannot be {}", direction.verb()),
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

fn value(node: &Node, spec: &OptionSpec, faults: &mut Faults) -> Option<OptionValue> {
    let NodeKind::Scalar(scalar) = &node.kind else {
        faults.error(
            "E000",
            node.span,
            format!("option `{}` must be {}; it is {}", spec.key, wanted(spec.kind), node.word()),
        );
        return None;
    };
    let value = match spec.kind {
        OptionKind::Text => node.text().map(|text| OptionValue::Text(text.to_string())),
        OptionKind::Word(words) => {
            node.text().filter(|text| words.contains(&&***text)).map(|text| OptionValue::Text(text.to_string()))
        }
        OptionKind::Bool => match scalar.core() {
            Core::Bool(value) => Some(OptionValue::Bool(value)),
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
    };
    if value.is_none() {
        let shown = faults.place().shown(node);
        let message = format!("option `{}` must be {}; it is `{shown}`", spec.key, wanted(spec.kind));
        let help = match spec.kind {
            OptionKind::Text => format!("quote it: `{}: \"{shown}\"`", spec.key),
            _ => format!("{} (default: {})", spec.doc, if spec.default.is_empty() { "none" } else { spec.default }),
        };
        faults.push(Fault::new("E000", node.span, message).help(help));
    }
    value
}

fn wanted(kind: OptionKind) -> String {
    match kind {
        OptionKind::Text => "text".to_string(),
        OptionKind::Bool => "`true` or `false`".to_string(),
        OptionKind::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or "),
        OptionKind::Size => "a size such as `500KB`".to_string(),
        OptionKind::Integer { min, max } => format!("an integer of {min} to {max}"),
    }
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
