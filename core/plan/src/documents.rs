//! Sections of documents: which ones a Source has, and how a level that opens becomes them.

use std::fmt;
use std::sync::Arc;

use clinker_format::LevelOpen;
use clinker_record::cast::{AdmitRule, Cell, admit_cell};
use clinker_record::{Frame, Kind, Section, Type, Value, text};

/// The levels of a Source's files and the sections they contribute.
#[derive(Clone, Debug, Default)]
pub struct DocumentPlan {
    /// One a level of the reader (`ReadFactory::levels`), outermost first. Empty for a format without levels.
    pub levels: Vec<LevelPlan>,
}

/// A level and what it says about the rows inside.
#[derive(Clone, Debug)]
pub struct LevelPlan {
    /// Its name.
    pub name: Arc<str>,
    /// How its sections meet those around it.
    pub frame: Frame,
    /// Whether it is the file level, whose sections are those of `envelope:`.
    pub file: bool,
    /// The sections that it contributes when it opens.
    pub sections: Vec<SectionPlan>,
}

/// A section of a level.
#[derive(Clone, Debug)]
pub struct SectionPlan {
    /// Its name in `$doc`.
    pub name: Arc<str>,
    /// What `extract:` names, for a section of the file level.
    pub extract: Option<Arc<str>>,
    /// The declared fields; none when every field of the opener is one, as text.
    pub fields: Option<Vec<FieldPlan>>,
}

/// A declared field of a section.
#[derive(Clone, Debug)]
pub struct FieldPlan {
    /// How its text is admitted; the rule's name is the field's.
    pub rule: AdmitRule,
    /// Whether a program reads it. A field that none reads is kept as text: it cannot fail.
    pub read: bool,
}

/// A field of a section whose text is no value of its declared type (E433).
#[derive(Clone, Debug, PartialEq)]
pub struct SectionFault {
    /// The section.
    pub section: Arc<str>,
    /// The field.
    pub field: Arc<str>,
    /// Its declared type.
    pub ty: Type,
    /// The text of the input.
    pub value: Arc<str>,
    /// Why it is not admitted.
    pub reason: String,
}

impl SectionFault {
    /// The diagnostic code.
    pub const CODE: &'static str = "E433";
}

impl fmt::Display for SectionFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { section, field, ty, value, reason } = self;
        let ty = ty.kind.word();
        let value = text::preview(value);
        write!(out, "section `{section}`, field `{field}`: `{value}` cannot be converted to {ty}: {reason}")
    }
}

/// Makes a section of a level that opens: the declared fields that are present, converted where a program reads them.
/// Engine keys go into every section of the level.
///
/// # Errors
/// The first field in declared order that does not have its type.
pub fn section(plan: &SectionPlan, open: &LevelOpen) -> Result<Section, SectionFault> {
    let fields = match &plan.fields {
        None => open.fields.iter().map(|(name, text)| (Arc::clone(name), Value::String(Arc::clone(text)))).collect(),
        Some(declared) => {
            let mut fields = Vec::with_capacity(declared.len());
            for field in declared {
                let Some(raw) = raw(plan, &field.rule.name, open) else { continue };
                if let Some(value) = value(plan, field, raw)? {
                    fields.push((Arc::clone(&field.rule.name), value));
                }
            }
            fields
        }
    };
    Ok(Section { name: Arc::clone(&plan.name), fields, keys: open.keys.clone() })
}

/// The text of a field. The first of a repeated name counts. An opener that stands for several headers, of which
/// `extract:` names one, gives their fields behind the header's name: `1.body`.
fn raw<'o>(plan: &SectionPlan, field: &str, open: &'o LevelOpen) -> Option<&'o Arc<str>> {
    let found = open.fields.iter().find(|(name, _)| **name == *field || of_header(plan, name) == Some(field));
    found.map(|(_, text)| text)
}

fn of_header<'n>(plan: &SectionPlan, name: &'n str) -> Option<&'n str> {
    name.strip_prefix(plan.extract.as_deref()?)?.strip_prefix('.')
}

/// A value of the declared type; none for text that is nothing.
fn value(plan: &SectionPlan, field: &FieldPlan, raw: &Arc<str>) -> Result<Option<Value>, SectionFault> {
    let FieldPlan { rule, read } = field;
    if rule.ty.kind == Kind::String || !read {
        return Ok((!raw.is_empty()).then(|| Value::String(Arc::clone(raw))));
    }
    // Elements of a header of fixed widths are padded, and only text keeps the padding.
    let unpadded = if plan.extract.is_some() { raw.trim_matches(' ') } else { raw };
    match admit_cell(rule, Cell::Text(unpadded)) {
        Ok(Value::Null) => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(rejection) => Err(SectionFault {
            section: Arc::clone(&plan.name),
            field: Arc::clone(&rule.name),
            ty: rule.ty,
            value: Arc::clone(raw),
            reason: rejection.into_reason(),
        }),
    }
}

impl DocumentPlan {
    /// Notes that a program reads a field.
    pub(crate) fn note_read(&mut self, section: &str, field: &str) {
        let sections = self.levels.iter_mut().flat_map(|level| &mut level.sections);
        let fields = sections.filter(|own| *own.name == *section).flat_map(|own| own.fields.iter_mut().flatten());
        fields.filter(|own| *own.rule.name == *field).for_each(|own| own.read = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str, kind: Kind) -> AdmitRule {
        AdmitRule::new(name, Type::nullable(kind))
    }

    fn plan(extract: Option<&str>, fields: &[(&str, Kind, bool)]) -> SectionPlan {
        let fields = fields.iter().map(|(name, kind, read)| FieldPlan { rule: rule(name, *kind), read: *read });
        SectionPlan { name: "head".into(), extract: extract.map(Arc::from), fields: Some(fields.collect()) }
    }

    fn open(fields: &[(&str, &str)]) -> LevelOpen {
        LevelOpen {
            level: 0,
            fields: fields.iter().map(|(name, text)| (Arc::from(*name), Arc::from(*text))).collect(),
            keys: vec![("$raw", Arc::from(&b"HDR"[..]))],
            line: 1,
            offset: 0,
        }
    }

    #[test]
    fn formats_1_8_section_values_have_their_declared_types() {
        let plan = plan(None, &[("e02", Kind::Date, true), ("e01", Kind::Int, true), ("e03", Kind::String, true)]);
        let made = section(&plan, &open(&[("e01", "0417"), ("e02", "2026-01-15"), ("e04", "x")])).expect("a section");
        // In declared order; what is absent is left out, what is not declared is dropped.
        assert_eq!(made.fields, [("e02".into(), Value::Date(20468)), ("e01".into(), Value::Int(417))]);
        assert_eq!(made.field("e03"), Value::Null);
        assert_eq!(made.key("$raw"), Some(&b"HDR"[..]));
    }

    #[test]
    fn formats_7_6_without_declared_fields_every_field_is_text() {
        let plan = SectionPlan { name: "group".into(), extract: None, fields: None };
        let made = section(&plan, &open(&[("e01", "SH"), ("e06", "88")])).expect("a section");
        assert_eq!(made.field("e06"), Value::String("88".into()));
        assert_eq!(made.fields.len(), 2);
    }

    #[test]
    fn formats_7_6_padding_stays_in_text_and_goes_from_every_other_type() {
        let plan =
            plan(Some("ISA"), &[("e06", Kind::String, true), ("e13", Kind::Int, true), ("e02", Kind::Int, true)]);
        let made =
            section(&plan, &open(&[("e06", "NORTH    "), ("e13", " 417 "), ("e02", "    ")])).expect("a section");
        assert_eq!(made.fields, [("e06".into(), Value::String("NORTH    ".into())), ("e13".into(), Value::Int(417))]);
    }

    #[test]
    fn formats_1_8_a_value_that_does_not_convert_is_e433_only_where_it_is_read() {
        let opened = open(&[("e01", "4<7")]);
        let fault = section(&plan(None, &[("e01", Kind::Int, true)]), &opened).expect_err("no integer");
        let said = fault.to_string();
        assert!(said.starts_with("section `head`, field `e01`: `4\\u{003C}7` cannot be converted to int: "), "{said}");
        let made = section(&plan(None, &[("e01", Kind::Int, false)]), &opened).expect("nobody reads it");
        assert_eq!(made.field("e01"), Value::String("4<7".into()));
    }

    #[test]
    fn formats_1_8_the_first_of_a_repeated_name_counts() {
        let made = section(&plan(None, &[("a", Kind::String, true)]), &open(&[("a", "1"), ("a", "2")]));
        assert_eq!(made.expect("a section").field("a"), Value::String("1".into()));
    }

    #[test]
    fn formats_11_4_one_opener_holds_several_headers() {
        let opened = open(&[("1.body", "F01"), ("3.body", "{108:X}")]);
        let read = |extract| section(&plan(Some(extract), &[("body", Kind::String, true)]), &opened);
        assert_eq!(read("3").expect("a section").field("body"), Value::String("{108:X}".into()));
        assert!(read("5").expect("a section").fields.is_empty());
    }
}
