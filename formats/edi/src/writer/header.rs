//! Headers that are no records: from a literal, or from the section of a document.

use std::sync::Arc;

use clinker_format::OptionFault;
use clinker_format::charset::{Charset, Encoding};
use clinker_record::text::append_cell;
use clinker_record::{Section, Value};

use super::cells::{Refusal, Segment};
use super::escape::Escape;
use super::options::{HeaderPlan, WriterSpec, leaked};
use super::separators::Separators;
use crate::dialect::{CharsetRule, HeaderRule, OpenFrom, Role};

/// A header, ready to be written.
pub struct Header {
    pub segment: Segment,
    /// What it is written with, and everything behind it.
    pub escape: Arc<Escape>,
    /// The key of its level.
    pub reference: String,
}

/// Where the elements of a header come from.
#[derive(Clone, Copy, Debug)]
enum Text {
    /// An option: text.
    Literal,
    /// The fields of a section: text, or wire text where cells hold that.
    Cells,
}

/// What the writer itself puts into a header.
pub struct Filling<'a> {
    /// The key that the records give.
    pub key: Option<&'a str>,
    /// The key of a level without one.
    pub anonymous: &'a str,
    /// The level's position.
    pub ordinal: u64,
}

/// An element of fixed width, filled up to it.
pub fn padded(rule: &HeaderRule, number: u32, text: &str) -> String {
    let width = rule.widths.get(number as usize - 1).copied().unwrap_or(0);
    if rule.zero_padded.contains(&number) { format!("{text:0>width$}") } else { format!("{text:<width$}") }
}

/// An escape with these separators and character set.
pub fn escape(spec: &WriterSpec, charset: Charset, separators: Separators) -> Arc<Escape> {
    Arc::new(Escape::new(&spec.dialect.framing.escape, &spec.rules, spec.wire, charset, separators))
}

/// The header of a level made of these elements. The outermost header says which separators and which character set
/// everything is written with; another one uses those of `outer`.
///
/// # Errors
/// An element that cannot be written (E443).
pub fn from_elements(
    spec: &WriterSpec,
    level: usize,
    elements: &[String],
    outer: Option<&Arc<Escape>>,
    filling: &Filling<'_>,
) -> Result<Header, Box<Refusal>> {
    let mut elements = elements.to_vec();
    fill(spec, level, &mut elements, filling, false);
    let Some(outer) = outer else { return outermost(spec, level, &elements, Text::Literal, filling) };
    let segment = compose(spec, level, &elements, outer, Text::Literal)?;
    Ok(finished(spec, level, segment, Arc::clone(outer), filling))
}

fn outermost(
    spec: &WriterSpec,
    level: usize,
    elements: &[String],
    kind: Text,
    filling: &Filling<'_>,
) -> Result<Header, Box<Refusal>> {
    let defaults = Separators::defaults(&spec.dialect);
    let charset = charset(spec, level, elements, &defaults)?;
    let plain = escape(spec, charset, defaults);
    let segment = compose(spec, level, elements, &plain, kind)?;
    // Elements that name a separator do so in the bytes, as a reader finds them.
    let declared = Separators::declared_by(&spec.dialect, &terminated(&segment, &plain))
        .map_err(|reason| Refusal::new("E443", &option(spec, level), "", reason))?;
    let escape = escape(spec, charset, declared);
    Ok(finished(spec, level, segment, escape, filling))
}

fn terminated(segment: &Segment, escape: &Escape) -> Vec<u8> {
    segment.bytes.iter().copied().chain(escape.separators.terminator()).collect()
}

fn compose(
    spec: &WriterSpec,
    level: usize,
    elements: &[String],
    escape: &Escape,
    kind: Text,
) -> Result<Segment, Box<Refusal>> {
    let tag = &spec.dialect.levels[level].open;
    let raw = spec.dialect.framing.self_describing.iter().any(|known| known == tag);
    let mut segment = Segment::new(tag);
    for (text, number) in elements.iter().zip(1..) {
        segment
            .push(number, &spec.dialect, &escape.separators, |out| {
                if raw && number == 1 {
                    return escape.encode(text, out);
                }
                match kind {
                    Text::Literal => escape.append_decoded(text, &spec.rules, out),
                    Text::Cells => escape.append(text, None, false, out),
                }
            })
            .map_err(|reason| {
                Refusal::new("E443", &option(spec, level), text, format!("element {number} of {tag}: {reason}"))
            })?;
    }
    Ok(segment)
}

/// The header of a level made of a section: its bytes unchanged, or rebuilt from its fields.
///
/// # Errors
/// A field that has no text (E440), or one that cannot be written (E443).
pub fn from_section(
    spec: &WriterSpec,
    level: usize,
    section: &Section,
    from: Option<&Separators>,
    outer: Option<&Arc<Escape>>,
    filling: &Filling<'_>,
) -> Result<Header, Box<Refusal>> {
    let Some(raw) = section.key("$raw") else {
        let mut elements = fields(spec, level, section)?;
        fill(spec, level, &mut elements, filling, true);
        let widths = spec.rule(level);
        let elements: Vec<_> = match widths.filter(|rule| !rule.widths.is_empty()) {
            Some(rule) => widened(spec, level, rule, elements)?,
            None => elements,
        };
        let header = match outer {
            Some(outer) => Ok(finished(
                spec,
                level,
                compose(spec, level, &elements, outer, Text::Cells)?,
                Arc::clone(outer),
                filling,
            )),
            None => outermost(spec, level, &elements, Text::Cells, filling),
        };
        return header;
    };
    let tag = &spec.dialect.levels[level].open;
    if !raw.starts_with(tag.as_bytes()) {
        let found = String::from_utf8_lossy(&raw[..raw.len().min(tag.len())]).into_owned();
        let reason = format!("section `{}` is no {tag} segment", section.name);
        return Err(Refusal::new("E446", &option(spec, level), &found, reason));
    }
    let from = from
        .copied()
        .unwrap_or_else(|| outer.map_or_else(|| Separators::defaults(&spec.dialect), |outer| outer.separators));
    let escape = match outer {
        Some(outer) => outer.clone(),
        None => {
            let separators = if spec.rules.adopt_delimiters { from } else { Separators::defaults(&spec.dialect) };
            let plain = escape(spec, Charset::Latin1, from);
            let elements = Segment::of_wire(tag, raw.to_vec(), &spec.dialect, &plain, &from).decoded(&plain);
            escape(spec, charset(spec, level, &elements, &from)?, separators)
        }
    };
    let segment = echoed(spec, level, raw, &from, &escape, filling)?;
    Ok(finished(spec, level, segment, escape, filling))
}

/// The bytes of a header, with the key that the records give, and with the separators in use.
fn echoed(
    spec: &WriterSpec,
    level: usize,
    raw: &[u8],
    from: &Separators,
    escape: &Escape,
    filling: &Filling<'_>,
) -> Result<Segment, Box<Refusal>> {
    let tag = &spec.dialect.levels[level].open;
    let refuse = |reason: String| Refusal::new("E443", &option(spec, level), "", format!("{tag}: {reason}"));
    if escape.charset.first_undecodable(raw).is_some() {
        return Err(refuse(format!("its bytes are no {} text", escape.charset.name())));
    }
    let segment = Segment::of_wire(tag, raw.to_vec(), &spec.dialect, escape, from);
    let number = key_element(spec, level);
    let kept = number.and_then(|number| segment.element(number)).map(|bytes| escape.cell(bytes)).unwrap_or_default();
    let key = filling.key.or_else(|| kept.is_empty().then_some(filling.anonymous));
    let replaced = number.zip(key).filter(|(_, key)| *key != kept);
    if replaced.is_none() && *from == escape.separators {
        return Ok(segment);
    }
    let mut written = Segment::new(tag);
    for at in 1..=segment.elements().max(replaced.map_or(0, |(number, _)| number)) {
        written
            .push(at, &spec.dialect, &escape.separators, |out| match (replaced, segment.element(at)) {
                (Some((number, key)), _) if number == at => escape.append(key, None, false, out),
                (_, Some(bytes)) if *from == escape.separators => {
                    out.extend_from_slice(bytes);
                    Ok(())
                }
                (_, Some(bytes)) => escape.rewrite(bytes, from, out),
                (_, None) => Ok(()),
            })
            .map_err(refuse)?;
    }
    Ok(written)
}

/// The positional fields of a section, up to the highest.
fn fields(spec: &WriterSpec, level: usize, section: &Section) -> Result<Vec<String>, Box<Refusal>> {
    let mut elements = Vec::new();
    for (name, value) in &section.fields {
        let Some(number) = name.strip_prefix(&*spec.dialect.columns.prefix).and_then(position) else { continue };
        let mut text = Vec::new();
        append_cell(value, &mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        if matches!(value, Value::Array(_) | Value::Map(_)) {
            let reason = format!("field `{name}` of section `{}` holds several values", section.name);
            return Err(Refusal::new("E440", &option(spec, level), &text, reason));
        }
        if elements.len() < number {
            elements.resize(number, String::new());
        }
        elements[number - 1] = text;
    }
    Ok(elements)
}

/// `01`, `12`, `100`: the number of a positional field.
fn position(digits: &str) -> Option<usize> {
    let number = digits.parse().ok().filter(|number| (1..=999).contains(number))?;
    (digits.bytes().all(|byte| byte.is_ascii_digit()) && digits == format!("{number:02}")).then_some(number)
}

/// A rebuilt header of fixed width: all elements, filled up; a separator that it lacks is the usual one.
fn widened(
    spec: &WriterSpec,
    level: usize,
    rule: &HeaderRule,
    mut elements: Vec<String>,
) -> Result<Vec<String>, Box<Refusal>> {
    elements.resize(rule.widths.len().max(elements.len()), String::new());
    if let (Some(last), Some(1), Some(component)) =
        (elements.last_mut(), rule.widths.last(), Separators::defaults(&spec.dialect).get(Role::Component))
        && last.is_empty()
    {
        last.push(char::from(component));
    }
    for (text, number) in elements.iter_mut().zip(1..) {
        let width = rule.widths.get(number as usize - 1).copied().unwrap_or(usize::MAX);
        if text.len() > width || !text.is_ascii() {
            let tag = &spec.dialect.levels[level].open;
            let reason = format!("element {number} of {tag} is {width} bytes of ASCII wide");
            return Err(Refusal::new("E443", &option(spec, level), text, reason));
        }
        *text = padded(rule, number, text);
    }
    Ok(elements)
}

/// Puts the writer's own elements into a header. A section keeps a key of its own.
fn fill(spec: &WriterSpec, level: usize, elements: &mut Vec<String>, filling: &Filling<'_>, keep: bool) {
    let Some(rule) = spec.rule(level) else { return };
    for (number, from) in &rule.set {
        let at = (*number as usize).saturating_sub(1);
        let kept = keep && elements.get(at).is_some_and(|text| !text.is_empty());
        let text = match (from, filling.key) {
            (OpenFrom::Key, Some(key)) => key.to_owned(),
            (OpenFrom::Key, None) if !kept => filling.anonymous.to_owned(),
            (OpenFrom::Count, _) => filling.ordinal.to_string(),
            _ => continue,
        };
        if elements.len() <= at {
            elements.resize(at + 1, String::new());
        }
        elements[at] = text;
    }
}

fn finished(spec: &WriterSpec, level: usize, segment: Segment, escape: Arc<Escape>, filling: &Filling<'_>) -> Header {
    let written = key_element(spec, level).and_then(|number| segment.element(number)).map(|bytes| escape.cell(bytes));
    let reference = written.unwrap_or_else(|| filling.key.unwrap_or_default().to_owned());
    Header { segment, escape, reference }
}

/// The element that holds the key of a level.
fn key_element(spec: &WriterSpec, level: usize) -> Option<u32> {
    let set = spec.rule(level).and_then(|rule| rule.set.iter().find(|(_, from)| *from == OpenFrom::Key));
    let column = || spec.dialect.levels[level].columns.first().map(|key| key.element);
    set.map(|(number, _)| *number).or_else(column)
}

/// The key that the header of a section has.
pub fn own_key(spec: &WriterSpec, level: usize, section: &Section) -> Option<String> {
    let number = key_element(spec, level)?;
    let Some(raw) = section.key("$raw") else {
        return fields(spec, level, section).ok()?.into_iter().nth((number as usize).checked_sub(1)?);
    };
    let separators = Separators::of_key(&spec.dialect, section.key("$delims")?)?;
    let escape = escape(spec, spec.charset, separators);
    let tag = &spec.dialect.levels[level].open;
    let segment = Segment::of_wire(tag, raw.to_vec(), &spec.dialect, &escape, &separators);
    Some(escape.cell(segment.element(number)?))
}

/// The character set of the output: an option, a fixed one, or the one that the outermost header names.
fn charset(spec: &WriterSpec, level: usize, elements: &[String], used: &Separators) -> Result<Charset, Box<Refusal>> {
    let CharsetRule::Element { header, element, component, map } = &spec.dialect.charset else {
        return Ok(spec.charset);
    };
    if *header != spec.dialect.levels[level].open {
        return Ok(spec.charset);
    }
    let whole = elements.get((*element as usize).saturating_sub(1)).map(String::as_str).unwrap_or_default();
    let value = match (component, used.get(Role::Component)) {
        (Some(number), Some(separator)) => component_of(whole, *number, separator),
        _ => whole,
    };
    let named = map.iter().find(|(known, _)| **known == *value).and_then(|(_, name)| Encoding::parse(name));
    match named {
        Some(Encoding::Known(charset)) if charset.unit() == 1 => Ok(charset),
        _ => {
            let accepted: Vec<_> = map.iter().map(|(known, _)| format!("`{known}`")).collect();
            let reason = format!("{header} names the repertoire `{value}`; accepted are {}", accepted.join(", "));
            Err(Refusal::new("E443", &option(spec, level), value, reason))
        }
    }
}

/// Component `number` of an element, from 1; empty when it is not there.
fn component_of(text: &str, number: u32, separator: u8) -> &str {
    text.split(char::from(separator)).nth((number as usize).saturating_sub(1)).unwrap_or_default()
}

/// The option that a header comes from, for messages.
pub fn option(spec: &WriterSpec, level: usize) -> Arc<str> {
    let rule = spec.rule(level);
    let key = match &spec.headers[level] {
        HeaderPlan::Echo(_) => rule.and_then(|rule| rule.echo.as_ref()),
        _ => rule.and_then(|rule| rule.literal.as_ref()),
    };
    key.map_or_else(|| Arc::clone(&spec.dialect.levels[level].name), Arc::clone)
}

/// Checks what a literal header says about separators. An element that cannot be written is found when a file is opened.
pub fn check_literals(spec: &WriterSpec, faults: &mut Vec<OptionFault>) {
    let Some((level, elements)) = outermost_literal(spec) else { return };
    let defaults = Separators::defaults(&spec.dialect);
    let Ok(charset) = charset(spec, level, elements, &defaults) else { return };
    let plain = escape(spec, charset, defaults);
    let Ok(segment) = compose(spec, level, elements, &plain, Text::Literal) else { return };
    if let Err(fault) = Separators::declared_by(&spec.dialect, &terminated(&segment, &plain)) {
        let key = leaked(&spec.dialect, spec.rule(level).and_then(|rule| rule.literal.as_ref()));
        faults.push(OptionFault { key, code: "E403", message: format!("`{key}`: {fault}"), help: None });
    }
}

/// The outermost header, when it is a literal.
pub fn outermost_literal(spec: &WriterSpec) -> Option<(usize, &[String])> {
    let (level, plan) = spec.headers.iter().enumerate().find(|(_, plan)| **plan != HeaderPlan::Absent)?;
    match plan {
        HeaderPlan::Literal(elements) => Some((level, elements)),
        _ => None,
    }
}
