//! What `$doc` can name.

use std::sync::Arc;

use clinker_diagnostics::suggestion;

/// What `$doc` names for the rows of one Source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentNames {
    /// The Source, for messages.
    pub source: Arc<str>,
    /// How its names are checked.
    pub vocabulary: DocumentVocabulary,
    /// The sections that its documents and their levels can have.
    pub sections: Vec<DocumentSection>,
}

/// A section with its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSection {
    /// Its name.
    pub name: Arc<str>,
    /// The declared fields; none when each field of the input is one.
    pub fields: Option<Vec<Arc<str>>>,
}

/// How the names of a Source are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentVocabulary {
    /// Not at all: what is not there is null.
    Unchecked,
    /// Declared sections and fields only.
    Closed,
    /// Declared sections; declared fields, and a prefix with a number of at least two digits.
    Positional {
        /// In front of the number.
        prefix: Arc<str>,
        /// The largest number.
        max: u32,
    },
}

/// A section and a field of it, as a program reads them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DocumentPath {
    /// The section.
    pub section: Arc<str>,
    /// The field.
    pub field: Arc<str>,
}

/// Why a Source cannot have what a path names.
pub(crate) struct Unnamed {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl DocumentNames {
    /// Whether a path can mean something here.
    pub(crate) fn check(&self, section: &str, field: &str) -> Result<(), Unnamed> {
        let code = match self.vocabulary {
            DocumentVocabulary::Unchecked => return Ok(()),
            DocumentVocabulary::Closed => "E341",
            DocumentVocabulary::Positional { .. } => "E348",
        };
        let named = || self.sections.iter().filter(|own| *own.name == *section);
        if named().next().is_none() {
            let names = || self.sections.iter().map(|own| &*own.name);
            let message = format!("`$doc.{section}`: source `{}` has no section `{section}`", self.source);
            return Err(Unnamed { code, message, help: choice(section, "its sections are", names) });
        }
        if named().any(|own| self.has(own, field)) {
            return Ok(());
        }
        let message =
            format!("`$doc.{section}.{field}`: section `{section}` of source `{}` has no `{field}`", self.source);
        let declared = || named().flat_map(|own| own.fields.iter().flatten()).map(|own| &**own);
        let help = match &self.vocabulary {
            DocumentVocabulary::Positional { prefix, max } => {
                let near = suggestion(field, declared()).map(|near| format!("{near}; ")).unwrap_or_default();
                Some(format!("{near}elements are `{prefix}01` to `{prefix}{max:02}`"))
            }
            _ => choice(field, "its fields are", declared),
        };
        Err(Unnamed { code, message, help })
    }

    fn has(&self, section: &DocumentSection, field: &str) -> bool {
        let declared = section.fields.as_ref().map(|fields| fields.iter().any(|own| **own == *field));
        match &self.vocabulary {
            DocumentVocabulary::Positional { prefix, max } => {
                declared == Some(true) || is_position(field, prefix, *max)
            }
            _ => declared.unwrap_or(true),
        }
    }
}

/// Whether a name is a prefix with a number of at least two digits and no other zeros in front.
fn is_position(field: &str, prefix: &str, max: u32) -> bool {
    let Some(digits) = field.strip_prefix(prefix) else { return false };
    let formed = digits.len() >= 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let padded = digits.len() > 2 && digits.starts_with('0');
    formed && !padded && digits.parse::<u32>().is_ok_and(|number| (1..=max).contains(&number))
}

fn choice<'n, I: Iterator<Item = &'n str>>(word: &str, lead: &str, names: impl Fn() -> I) -> Option<String> {
    suggestion(word, names()).or_else(|| {
        let list: Vec<String> = names().map(|name| format!("`{name}`")).collect();
        (!list.is_empty()).then(|| format!("{lead} {}", list.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_1_8_positional_names_have_two_digits_and_no_further_padding() {
        for name in ["e01", "e09", "e10", "e99", "e100"] {
            assert!(is_position(name, "e", 100), "{name}");
        }
        for name in ["e7", "e007", "e00", "e101", "f01", "e1x", "e+1", "e", "", "e0100", "e99999999999"] {
            assert!(!is_position(name, "e", 100), "{name}");
        }
    }
}
