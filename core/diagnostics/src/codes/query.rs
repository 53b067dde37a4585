//! What `clinker explain` prints about codes.

use super::entry::{Category, Code, Status};
use super::{all, lookup, page};
use crate::{Severity, suggestion};

/// The seven lines that describe a code, or a message that lists all codes.
pub fn descriptor(id: &str) -> Result<String, String> {
    lookup(id).map(describe).ok_or_else(|| unknown(id))
}

/// The descriptor of a code followed by its detail page.
pub fn explain(id: &str) -> Result<String, String> {
    let mut text = descriptor(id)?;
    match page(id) {
        Some(page) => {
            text.push_str("\nDetail page:\n\n");
            text.push_str(page.trim_end());
            text.push('\n');
        }
        None => text.push_str("\nDetail page: none; the descriptor above is authoritative.\n"),
    }
    Ok(text)
}

/// The descriptors of all codes that pass the filters, in code order, separated by blank lines.
pub fn list(status: Option<&str>, category: Option<&str>) -> Result<String, String> {
    let status = status.map(|word| choose("status", word, Status::ALL, |value| value.word())).transpose()?;
    let category = category.map(|word| choose("category", word, Category::ALL, |value| value.word())).transpose()?;
    let chosen: Vec<String> = all()
        .iter()
        .filter(|code| status.is_none_or(|wanted| code.status == wanted))
        .filter(|code| category.is_none_or(|wanted| code.category() == wanted))
        .map(|code| describe(code))
        .collect();
    if chosen.is_empty() {
        return Err("no code has both that status and that category".to_owned());
    }
    Ok(chosen.join("\n"))
}

fn describe(code: &Code) -> String {
    let severity = match code.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    format!(
        "Code: {}\nSeverity: {severity}\nStatus: {}\nCategory: {}\nRetryability: {}\nMeaning: {}. {}\nCorrection: {}\n",
        code.id,
        code.status.word(),
        code.category().word(),
        code.advice().word(),
        code.title,
        code.meaning,
        code.correction,
    )
}

fn choose<T: Copy>(filter: &str, word: &str, values: &[T], name: impl Fn(T) -> &'static str) -> Result<T, String> {
    values.iter().copied().find(|value| name(*value) == word).ok_or_else(|| {
        let known: Vec<&str> = values.iter().map(|value| name(*value)).collect();
        let near = suggestion(word, known.iter().copied()).map(|text| format!("; {text}")).unwrap_or_default();
        format!("unknown {filter} `{word}`{near}; the values are: {}", known.join(", "))
    })
}

fn unknown(id: &str) -> String {
    let known: Vec<&str> = all().iter().map(|code| code.id).collect();
    format!("unknown code `{id}`; the codes are: {}", known.join(", "))
}
