//! The workspace file `clinker.toml`: which formats every pipeline of the workspace has.

use std::path::Path;
use std::sync::Arc;

use clinker_diagnostics::{Diagnostic, SourceText, Span};

use crate::model::SpillPlan;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Its name, in the base directory.
const FILE: &str = "clinker.toml";
/// Largest descriptor.
const MAX_BYTES: usize = 1 << 20;
/// The tables of the language; every other one belongs to other tools.
const TABLES: [&str; 6] = ["catalog", "storage", "observability", "channel", "group", "formats"];

/// What the workspace file says.
#[derive(Default)]
pub(crate) struct Workspace {
    /// Its text; none when there is no file.
    pub source: Option<Arc<SourceText>>,
    /// `formats.plugins`, each with its place.
    pub plugins: Vec<(String, Span)>,
    /// `formats.dialects`, each with its place.
    pub dialects: Vec<(String, Span)>,
    /// `storage.spill`.
    pub spill: SpillPlan,
}

/// Reads the workspace file of a base directory. What is wrong is reported, and the rest is used.
pub(crate) fn read(base: &Path, found: &mut Vec<Diagnostic>) -> Workspace {
    let bytes = match std::fs::read(base.join(FILE)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Workspace::default(),
        Err(error) => {
            found.push(Diagnostic::error("E000", format!("the workspace file {FILE} cannot be read: {error}")));
            return Workspace::default();
        }
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) if text.len() <= MAX_BYTES => text,
        Ok(text) => {
            let message = format!("{FILE} has {} bytes; at most {MAX_BYTES} are read", text.len());
            found.push(Diagnostic::error("E000", message));
            return Workspace::default();
        }
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            found.push(Diagnostic::error("E000", format!("{FILE} is not UTF-8: byte {at} cannot be decoded")));
            return Workspace::default();
        }
    };
    let source = SourceText::new(FILE, text.as_str());
    let mut reader = Reader { source: &source, found };
    let mut workspace = reader.document(&text);
    workspace.source = Some(source);
    workspace
}

type Paths = Vec<(String, Span)>;

/// The keys of `[storage.spill]`.
const SPILL_KEYS: &str = "the keys of `[storage.spill]` are dir, disk_cap_bytes, compress";

struct Reader<'r> {
    source: &'r Arc<SourceText>,
    found: &'r mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn error(&mut self, span: Span, message: String, help: impl Into<String>) {
        let report = Diagnostic::error("E000", message).label(self.source, span, "declared here");
        self.found.push(report.help(help));
    }

    fn document(&mut self, text: &str) -> Workspace {
        let table = match DeTable::parse(text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                let span = error.span().map_or(Span::new(0, 0), |range| Span::new(range.start, range.end));
                self.error(span, format!("{FILE} is no TOML: {}", error.message()), "correct the file");
                return Default::default();
            }
        };
        let mut workspace = Workspace::default();
        for (key, value) in &table {
            let (name, span) = (&**key.get_ref(), place(key));
            if name == "formats" {
                (workspace.plugins, workspace.dialects) = self.formats(value);
            } else if name == "storage" {
                self.storage(value, &mut workspace.spill);
            } else if TABLES.contains(&name) {
                if value.get_ref().as_table().is_none_or(|table| !table.is_empty()) {
                    let message = format!("table `[{name}]` of {FILE} is not available in this version");
                    self.error(span, message, "leave it out; nothing is read and then ignored");
                }
            } else if let Some(meant) = misspelled(name) {
                let help = format!("write `[{meant}]`, or give the table another name");
                self.error(span, format!("table `[{name}]` of {FILE} looks like `[{meant}]`"), help);
            } else if !is_table(value.get_ref()) {
                let help = format!("the tables are {}", TABLES.map(|table| format!("`[{table}]`")).join(", "));
                self.error(span, format!("key `{name}` of {FILE} stands outside of every table"), help);
            }
        }
        workspace
    }

    fn storage(&mut self, value: &Spanned<DeValue<'_>>, spill: &mut SpillPlan) {
        let Some(table) = value.get_ref().as_table() else {
            self.error(place(value), format!("`storage` of {FILE} must be a table"), "write `[storage.spill]`");
            return;
        };
        for (key, value) in table {
            match (&**key.get_ref(), value.get_ref().as_table()) {
                ("spill", Some(keys)) => keys.iter().for_each(|(key, value)| self.spill(key, value, spill)),
                ("spill", None) => self.error(place(value), "`storage.spill` must be a table".to_owned(), SPILL_KEYS),
                (name @ ("staging" | "publication"), keys) => {
                    if keys.is_none_or(|keys| !keys.is_empty()) {
                        let message = format!("table `[storage.{name}]` of {FILE} is not available in this version");
                        self.error(place(key), message, "leave it out; nothing is read and then ignored");
                    }
                }
                (name, _) => {
                    let message = format!("unknown key `{name}` in `[storage]`");
                    self.error(place(key), message, "the tables of `[storage]` are spill, staging, publication");
                }
            }
        }
    }

    fn spill(&mut self, key: &Spanned<std::borrow::Cow<'_, str>>, value: &Spanned<DeValue<'_>>, spill: &mut SpillPlan) {
        let text = value.get_ref().as_str();
        match &**key.get_ref() {
            "dir" => match text.filter(|path| !path.is_empty()) {
                Some(path) => spill.dir = Some(path.into()),
                None => self.error(place(value), "`dir` must be a path".to_owned(), "write `dir = \"/var/spill\"`"),
            },
            "disk_cap_bytes" => {
                let number = value.get_ref().as_integer().and_then(|number| number.as_str().parse().ok());
                match number.or(text.and_then(clinker_format::parse_size)) {
                    Some(bytes) => spill.cap = Some(bytes),
                    None => {
                        let message = "`disk_cap_bytes` must be a size".to_owned();
                        self.error(
                            place(value),
                            message,
                            "write a number of bytes, or one with KB, MB or GB: `\"20GB\"`",
                        );
                    }
                }
            }
            "compress" => match text {
                Some("auto") => spill.compress = None,
                Some("on") => spill.compress = Some(true),
                Some("off") => spill.compress = Some(false),
                _ => self.error(place(value), "`compress` must be `auto`, `on` or `off`".to_owned(), "quote the word"),
            },
            other => self.error(place(key), format!("unknown key `{other}` in `[storage.spill]`"), SPILL_KEYS),
        }
    }

    fn formats(&mut self, value: &Spanned<DeValue<'_>>) -> (Paths, Paths) {
        let Some(table) = value.get_ref().as_table() else {
            self.error(place(value), format!("`formats` of {FILE} must be a table"), "write `[formats]`");
            return Default::default();
        };
        let (mut plugins, mut dialects) = Default::default();
        for (key, value) in table {
            match &**key.get_ref() {
                "plugins" => plugins = self.paths("plugins", value),
                "dialects" => dialects = self.paths("dialects", value),
                other => {
                    let message = format!("unknown key `{other}` in `[formats]`");
                    self.error(place(key), message, "the keys of `[formats]` are plugins, dialects");
                }
            }
        }
        (plugins, dialects)
    }

    fn paths(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Paths {
        let help = format!("write `{key} = [\"path\"]`");
        let Some(items) = value.get_ref().as_array() else {
            self.error(place(value), format!("`{key}` of `[formats]` must be a list of paths"), help);
            return Vec::new();
        };
        let mut paths = Vec::with_capacity(items.len());
        for item in items {
            match item.get_ref().as_str() {
                Some(path) => paths.push((path.to_owned(), place(item))),
                None => self.error(place(item), format!("an item of `{key}` must be text"), help.as_str()),
            }
        }
        paths
    }
}

fn place<T>(item: &Spanned<T>) -> Span {
    let range = item.span();
    Span::new(range.start, range.end)
}

/// Whether a value is a table, or a list of tables.
fn is_table(value: &DeValue<'_>) -> bool {
    let tables = |items: &toml::de::DeArray<'_>| items.iter().any(|item| item.get_ref().is_table());
    value.is_table() || value.as_array().is_some_and(tables)
}

/// The table that a name is a likely misspelling of.
fn misspelled(name: &str) -> Option<&'static str> {
    let folded: String =
        name.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase).collect();
    let most = 1 + folded.len() / 8;
    TABLES.into_iter().find(|table| strsim::levenshtein(&folded, table) <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (Workspace, Vec<String>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join(FILE), text).expect("the file is written");
        let mut found = Vec::new();
        let workspace = read(folder.path(), &mut found);
        (workspace, found.into_iter().map(|report| report.message).collect())
    }

    #[test]
    fn pipeline_14_formats_of_a_workspace_are_lists_of_paths() {
        let text = "[formats]\nplugins = [\"a.so\"]\ndialects = ['d/x.dialect.yaml', \"y\"]\n[tool.other]\nx = 1\n";
        let (workspace, found) = read_text(text);
        assert!(found.is_empty(), "{found:?}");
        let names = |paths: &[(String, Span)]| paths.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
        assert_eq!(names(&workspace.plugins), ["a.so"]);
        assert_eq!(names(&workspace.dialects), ["d/x.dialect.yaml", "y"]);
        let span = workspace.plugins[0].1;
        assert_eq!(&text[span.start..span.end], "\"a.so\"");
    }

    #[test]
    fn eng_9_1_where_state_is_spilled() {
        let text =
            "[storage.spill]\ndir = \"/scratch\"\ndisk_cap_bytes = \"20GB\"\ncompress = \"off\"\n[storage.staging]\n";
        let (workspace, found) = read_text(text);
        assert!(found.is_empty(), "{found:?}");
        let spill = SpillPlan { dir: Some("/scratch".into()), cap: Some(20_000_000_000), compress: Some(false) };
        assert_eq!(workspace.spill, spill);
        let (workspace, _) = read_text("[storage.spill]\ndisk_cap_bytes = 4096\ncompress = \"auto\"\n");
        assert_eq!(workspace.spill, SpillPlan { cap: Some(4096), ..SpillPlan::default() });
    }

    #[test]
    fn pipeline_14_a_missing_file_means_defaults() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut found = Vec::new();
        let workspace = read(folder.path(), &mut found);
        assert!(found.is_empty() && workspace.source.is_none() && workspace.plugins.is_empty());
    }

    #[test]
    fn pipeline_14_the_file_is_strict() {
        for (text, said) in [
            ("[formats]\nplugin = []", "unknown key `plugin` in `[formats]`"),
            ("[formats]\nplugins = \"a.so\"", "`plugins` of `[formats]` must be a list of paths"),
            ("[formats]\ndialects = [1]", "an item of `dialects` must be text"),
            ("[[formats]]\nplugins = []", "`formats` of clinker.toml must be a table"),
            ("[Format_s]\nx = 1", "table `[Format_s]` of clinker.toml looks like `[formats]`"),
            ("[observabilty]\nx = 1", "table `[observabilty]` of clinker.toml looks like `[observability]`"),
            (
                "[storage.staging]\ndir = \"x\"",
                "table `[storage.staging]` of clinker.toml is not available in this version",
            ),
            ("[storage.spill]\nsize = 1", "unknown key `size` in `[storage.spill]`"),
            ("[storage.spill]\ncompress = \"maybe\"", "`compress` must be `auto`, `on` or `off`"),
            ("[storage.spill]\ndisk_cap_bytes = \"2 GB\"", "`disk_cap_bytes` must be a size"),
            ("plugins = []", "key `plugins` of clinker.toml stands outside of every table"),
            ("[formats]\nplugins = []\nplugins = []", "clinker.toml is no TOML: duplicate key"),
            ("[formats", "clinker.toml is no TOML: "),
        ] {
            let (_, found) = read_text(text);
            assert!(matches!(&*found, [only] if only.starts_with(said)), "{text}: {found:?}");
        }
    }

    #[test]
    fn pipeline_14_tables_of_other_tools_are_ignored() {
        for text in ["[package]\nname = 1", "[[bin]]\nname = 1", "[catalog]\n", ""] {
            let (_, found) = read_text(text);
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }
}
