//! Several values in one cell: `split_values`.

use super::SplitRule;
use crate::json::{self, Json};

/// One value of a cell.
#[derive(Debug, PartialEq)]
pub(super) enum Element<'a> {
    /// A part of the text, escapes resolved.
    Text(String),
    /// An element of a JSON array.
    Json(Json<'a>),
}

/// Cuts a text. An empty cell holds no values; without a rule the text is the one value.
///
/// # Errors
/// The cell must be a JSON array and is none, or holds an integer beyond 64 bits.
pub(super) fn split<'a>(rule: Option<&SplitRule>, text: &'a str) -> Result<Vec<Element<'a>>, String> {
    let Some(rule) = rule else {
        return Ok(vec![Element::Text(text.to_owned())]);
    };
    if text.is_empty() {
        return Ok(Vec::new());
    }
    if rule.json {
        return split_json(text);
    }
    Ok(parts(rule, text).into_iter().map(Element::Text).collect())
}

/// The parts of a cell that is not JSON.
pub(super) fn parts(rule: &SplitRule, text: &str) -> Vec<String> {
    let Some(escape) = rule.escape else {
        return text.split(&rule.delimiter).map(str::to_owned).collect();
    };
    let (mut parts, mut part) = (Vec::new(), String::new());
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        if next == escape {
            // Escaped, the next character is literal; an escape at the end is literal itself.
            part.push(rest.next().unwrap_or(escape));
        } else if rule.delimiter.starts_with(next) && rest.as_str().starts_with(&rule.delimiter[next.len_utf8()..]) {
            rest = rest.as_str()[rule.delimiter.len() - next.len_utf8()..].chars();
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(next);
        }
    }
    parts.push(part);
    parts
}

fn split_json(text: &str) -> Result<Vec<Element<'_>>, String> {
    let json = json::parse(text, json::MAX_DEPTH).map_err(|error| format!("the cell is not a JSON array: {error}"))?;
    let Json::Array(elements) = json else {
        return Err("the cell is JSON, but not an array".to_owned());
    };
    match elements.iter().find_map(beyond_64_bits) {
        Some(literal) => {
            let shown = crate::text::preview(literal);
            Err(format!("the JSON array holds the integer {shown}, which is beyond the signed 64-bit range"))
        }
        None => Ok(elements.into_iter().map(Element::Json).collect()),
    }
}

fn beyond_64_bits<'a>(json: &Json<'a>) -> Option<&'a str> {
    match json {
        Json::Number(literal) => (json::is_integer(literal) && literal.parse::<i64>().is_err()).then_some(*literal),
        Json::Array(elements) => elements.iter().find_map(beyond_64_bits),
        Json::Object(members) => members.iter().find_map(|(_, value)| beyond_64_bits(value)),
        Json::Null | Json::Bool(_) | Json::String(_) => None,
    }
}
