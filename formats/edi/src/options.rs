//! The reader options of a dialect: what it accepts, and how they are bound (formats.md 7.1, 7.5, 7.6).

use std::sync::Arc;

use clinker_format::charset::Charset;
use clinker_format::{
    Extract, InputField, LevelSpec, OptionFault, OptionKind, OptionSpec, Options, ReadCapabilities, ReadRequest,
};

use crate::dialect::{CharsetRule, Dialect, Role};
use crate::reader::{Bound, ColumnKind, Key, charset_named, positional};
use crate::split::{self, SplitRule};

/// The largest `max_elements`.
const MOST_ELEMENTS: u64 = 999;
/// What `encoding` accepts (formats.md 1.6).
const ENCODINGS: [Charset; 2] = [Charset::Utf8, Charset::Latin1];

/// Text that lives as long as the process, as formats do.
pub(crate) fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn spec(key: &'static str, kind: OptionKind, default: &'static str, doc: &'static str) -> OptionSpec {
    OptionSpec { key, kind, default, required: false, doc }
}

/// What a reader of the dialect can do, with its options.
pub(crate) fn read_capabilities(dialect: &Dialect) -> ReadCapabilities {
    let file = dialect.levels.iter().find(|level| level.file);
    let extract = file.map(|level| Extract::Segment(vec![leak(&level.open)].leak()));
    ReadCapabilities {
        options: reader_options(dialect).leak(),
        split_to_rows: false,
        split_values: false,
        native_arrays: false,
        split_escapes: false,
        undeclared_fields: true,
        positional_layout: false,
        multi_record: false,
        extract,
        generated_columns: true,
    }
}

fn reader_options(dialect: &Dialect) -> Vec<OptionSpec> {
    let columns = &dialect.columns;
    let mut options = vec![
        spec(
            leak(&columns.max_option),
            OptionKind::Integer { min: 1, max: MOST_ELEMENTS },
            leak(&columns.max.to_string()),
            "The most data elements of one segment; more stop the reading.",
        ),
        spec(
            "element_text",
            OptionKind::Word(&["decoded", "wire"]),
            "decoded",
            "Whether escaped separators are resolved, or elements stay as they are on the wire.",
        ),
        spec(
            "envelopes",
            OptionKind::Word(&["single", "many"]),
            "single",
            "Whether a file holds one interchange, or any number back to back.",
        ),
    ];
    if let CharsetRule::Option(default) = &dialect.charset {
        let doc = "The character set of the file: utf-8 or iso-8859-1.";
        options.push(spec("encoding", OptionKind::Text, leak(default), doc));
    }
    for level in &dialect.levels {
        if let Some(key) = &level.section_option {
            const SECTION: &[OptionSpec] = &[
                OptionSpec {
                    key: "name",
                    kind: OptionKind::Text,
                    default: "",
                    required: false,
                    doc: "What `$doc` calls the section.",
                },
                OptionSpec {
                    key: "fields",
                    kind: OptionKind::Fields,
                    default: "",
                    required: false,
                    doc: "The fields of the section with their types; without it all of them, as text.",
                },
            ];
            let doc = "Name and fields of the section that the level's first segment gives.";
            options.push(spec(leak(key), OptionKind::Map(SECTION), "", doc));
        }
        for option in level.columns.iter().filter_map(|column| column.option.as_ref()) {
            options.push(spec(leak(option), OptionKind::Bool, "false", "Whether the key of this level is a column."));
        }
    }
    if let Some(key) = &dialect.split_option {
        options.push(split_option(dialect, leak(key)));
    }
    options
}

fn split_option(dialect: &Dialect, key: &'static str) -> OptionSpec {
    let width = |key, doc| spec(key, OptionKind::Integer { min: 0, max: u64::MAX }, "1", doc);
    let element = split::element_key(key);
    let mut keys = vec![
        OptionSpec { required: true, ..spec(element, OptionKind::Text, "", "The generated column that is split.") },
        OptionSpec { required: true, default: "", ..width("components", "Columns for each repetition.") },
    ];
    if dialect.framing.delimiters.iter().any(|(role, _)| *role == Role::Subcomponent) {
        keys.push(width("subcomponents", "Columns for each component."));
    }
    keys.push(width("repetitions", "Repetitions that are kept apart."));
    spec(key, OptionKind::Maps(keys.leak()), "", "Composite elements that become several columns.")
}

/// Binds checked options to a dialect. `options` are those of its descriptor.
pub(crate) fn bind(
    dialect: &Arc<Dialect>,
    options: &'static [OptionSpec],
    request: &ReadRequest<'_>,
) -> Result<Bound, Vec<OptionFault>> {
    let mut faults = Vec::new();
    let given = request.options;
    let max_elements = max_elements(dialect, options, given, &mut faults);
    let charset = charset(dialect, given, &mut faults);
    let key = |name: &str| options.iter().find(|spec| spec.key == name).map(|spec| spec.key);
    let split_key = dialect.split_option.as_ref().and_then(|name| key(name));
    let splits = split_key.map(|key| split::bind(dialect, key, given, max_elements, &mut faults)).unwrap_or_default();
    let names: Vec<Arc<str>> =
        (1..=max_elements.max(16) as usize).map(|number| positional(&dialect.columns.prefix, number)).collect();
    let (columns, kinds, keys) = columns(dialect, given, &splits, max_elements);
    check_fields(dialect, request.fields, &columns, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(Bound {
        dialect: Arc::clone(dialect),
        charset,
        many: given.text("envelopes") == Some("many"),
        decoded: given.text("element_text") != Some("wire"),
        max_elements,
        levels: levels(dialect, given),
        columns: columns.into(),
        kinds,
        keys,
        splits,
        names,
    })
}

fn max_elements(
    dialect: &Dialect,
    options: &'static [OptionSpec],
    given: &Options,
    faults: &mut Vec<OptionFault>,
) -> u32 {
    let name = &*dialect.columns.max_option;
    let max = given.number(name).unwrap_or(u64::from(dialect.columns.max));
    match u32::try_from(max) {
        Ok(max) if (1..=MOST_ELEMENTS).contains(&u64::from(max)) => max,
        _ => {
            let message = format!("{name} is {max}; it must lie between 1 and {MOST_ELEMENTS}");
            let key = options.iter().find(|spec| spec.key == name).map_or("", |spec| spec.key);
            faults.push(OptionFault { key, code: "E403", message, help: None });
            1
        }
    }
}

fn charset(dialect: &Dialect, given: &Options, faults: &mut Vec<OptionFault>) -> Option<Charset> {
    match &dialect.charset {
        CharsetRule::Element { .. } => None,
        CharsetRule::Fixed(name) => Some(charset_named(name).unwrap_or(Charset::Utf8)),
        CharsetRule::Option(default) => {
            let default = charset_named(default).unwrap_or(Charset::Utf8);
            let Some(name) = given.text("encoding") else { return Some(default) };
            match charset_named(name).filter(|charset| *charset == default || ENCODINGS.contains(charset)) {
                Some(charset) => Some(charset),
                None => {
                    let accepted: Vec<&str> = ENCODINGS.iter().map(|charset| charset.name()).collect();
                    let message = format!("encoding {name:?} is not accepted; accepted are {}", accepted.join(", "));
                    faults.push(OptionFault { key: "encoding", code: "E402", message, help: None });
                    Some(default)
                }
            }
        }
    }
}

/// The columns of a reader: tag, keys from the innermost level outward, elements with their splits in place.
fn columns(
    dialect: &Dialect,
    given: &Options,
    splits: &[SplitRule],
    max_elements: u32,
) -> (Vec<Arc<str>>, Vec<ColumnKind>, Vec<Key>) {
    let mut names = vec![Arc::clone(&dialect.columns.tag_column)];
    let mut kinds = vec![ColumnKind::Tag];
    let mut keys = Vec::new();
    for (level, rule) in dialect.levels.iter().enumerate().rev() {
        for column in &rule.columns {
            let wanted = column.option.as_ref().is_none_or(|option| given.bool(option) == Some(true));
            if wanted && let Ok(level) = u16::try_from(level) {
                names.push(Arc::clone(&column.name));
                kinds.push(ColumnKind::Key(keys.len()));
                keys.push(Key { level, element: column.element });
            }
        }
    }
    for number in 1..=max_elements {
        let split = splits.iter().position(|rule| rule.element == number);
        match split {
            None => {
                names.push(positional(&dialect.columns.prefix, number as usize));
                kinds.push(ColumnKind::Element(number));
            }
            Some(at) => {
                names.extend(splits[at].names(&dialect.columns.prefix));
                kinds.extend((0..splits[at].width()).map(|part| ColumnKind::Part(at, part)));
            }
        }
    }
    (names, kinds, keys)
}

/// Declared columns that the format can never produce (E407).
fn check_fields(dialect: &Dialect, fields: &[InputField], columns: &[Arc<str>], faults: &mut Vec<OptionFault>) {
    let known: std::collections::HashSet<&str> = columns.iter().map(|name| &**name).collect();
    for field in fields.iter().filter(|field| !known.contains(&*field.input_name)) {
        let help = format!("its columns are {}, … and those of options", columns[..columns.len().min(5)].join(", "));
        let message = format!("{} never makes a column `{}`", dialect.name, field.input_name);
        faults.push(OptionFault { key: "", code: "E407", message, help: Some(help) });
    }
}

/// The levels with the names and fields that the user gave their sections.
fn levels(dialect: &Dialect, given: &Options) -> Vec<LevelSpec> {
    let spec = |level: &crate::dialect::LevelRule| {
        let option = level.section_option.as_ref().and_then(|key| given.map(key));
        let fields = option
            .and_then(|option| option.fields("fields"))
            .map(|fields| fields.iter().map(|(name, ty)| (Arc::from(name.as_str()), *ty)).collect::<Vec<_>>());
        LevelSpec {
            name: Arc::clone(&level.name),
            section: option.and_then(|option| option.text("name")).map_or(Arc::clone(&level.name), Arc::from),
            fields: fields.or_else(|| level.fields.clone()),
            frame: level.frame,
            file: level.file,
        }
    };
    dialect.levels.iter().map(spec).collect()
}
