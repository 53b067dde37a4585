//! Which files a Source reads (pipeline.md 8.1, 8.2).

use std::cmp::Ordering;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clinker_record::datetime;
use globset::{Glob, GlobBuilder, GlobMatcher};
use regex::Regex;
use walkdir::WalkDir;

use crate::OptionFault;
use crate::options::parse_size;

/// The matcher, filters and order of a Source, as its author wrote them.
#[derive(Clone, Debug, Default)]
pub struct FileSelection {
    /// One file.
    pub path: Option<String>,
    /// These files, in this order unless a sort key is given.
    pub paths: Option<Vec<String>>,
    /// A shell pattern.
    pub glob: Option<String>,
    /// A regular expression, searched in the path relative to the base.
    pub regex: Option<String>,
    /// Patterns of full paths or base names that are left out.
    pub exclude: Vec<String>,
    /// Oldest modification time: a timestamp, or an age before the run started.
    pub modified_after: Option<String>,
    /// Newest modification time.
    pub modified_before: Option<String>,
    /// Smallest size.
    pub min_size: Option<String>,
    /// Largest size.
    pub max_size: Option<String>,
    /// The `files` map.
    pub files: FileOrder,
}

/// The `files` map: order and choice.
#[derive(Clone, Debug, Default)]
pub struct FileOrder {
    /// Sort key; `None` is by name, or the given order of `paths`.
    pub sort_by: Option<SortBy>,
    /// Whether `sort_order: desc` was given.
    pub descending: bool,
    /// Only the first ones after sorting.
    pub take_first: Option<u64>,
    /// Only the last ones after sorting.
    pub take_last: Option<u64>,
    /// Whether directories are descended into; `None` is as deep as the matcher can match.
    pub recursive: Option<bool>,
    /// What happens when nothing is left.
    pub on_no_match: NoMatch,
}

/// What files are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// The path as matched.
    Name,
    /// Creation time, else modification time.
    Created,
    /// Modification time.
    Modified,
}

/// What happens when no file is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoMatch {
    /// E216.
    #[default]
    Error,
    /// A warning.
    Warn,
    /// Nothing.
    Skip,
}

/// A file to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// Absolute and normalised, links not resolved.
    pub absolute: PathBuf,
    /// Relative to the base when it lies below it, else absolute; forward slashes.
    pub shown: String,
    /// Size in bytes.
    pub size: u64,
    /// Modification time, nanoseconds since 1970-01-01T00:00:00 UTC.
    pub modified: i128,
}

/// Why no files can be read: E216.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryFault {
    /// What was looked for and what is wrong.
    pub message: String,
}

impl FileSelection {
    /// Checks everything that needs no file: E210 to E215, E218.
    pub fn check(&self) -> Vec<OptionFault> {
        match Compiled::new(self, 0) {
            Ok(_) => Vec::new(),
            Err(faults) => faults,
        }
    }

    /// Whether an empty selection deserves a warning.
    pub fn warns_on_no_match(&self) -> bool {
        self.files.on_no_match == NoMatch::Warn
    }

    /// The files, in reading order. `now` is the start of the run in nanoseconds since 1970-01-01T00:00:00 UTC.
    ///
    /// # Errors
    /// E216: no file under `on_no_match: error`, a listed file that does not exist, or an I/O error.
    pub fn discover(&self, base: &Path, now: i128) -> Result<Vec<FoundFile>, DiscoveryFault> {
        let compiled = Compiled::new(self, now).map_err(|faults| DiscoveryFault {
            message: faults.into_iter().map(|fault| fault.message).collect::<Vec<_>>().join("; "),
        })?;
        let base = std::path::absolute(base).map_err(|error| unreadable(base, &error))?;
        let (mut found, mut irregular) = (Vec::new(), None);
        compiled.matcher.visit(&normalised(&base), self.files.recursive, &mut |path, meta| {
            if meta.is_file() {
                found.push(Candidate::new(&normalised(&base), path, meta));
            } else {
                irregular.get_or_insert_with(|| irregularity(&shown(&normalised(&base), path), meta));
            }
        })?;
        found.retain(|candidate| compiled.keeps(candidate));
        self.sort(&mut found);
        self.choose(&mut found);
        if found.is_empty() && self.files.on_no_match == NoMatch::Error {
            let because = irregular.map(|what| format!(": {what}")).unwrap_or_default();
            return Err(DiscoveryFault { message: format!("no file matches {}{because}", self.describe()) });
        }
        Ok(found.into_iter().map(|candidate| candidate.file).collect())
    }

    fn sort(&self, found: &mut [Candidate]) {
        let order = &self.files;
        if self.paths.is_some() && order.sort_by.is_none() && !order.descending {
            return;
        }
        found.sort_by(|a, b| {
            let name = a.file.absolute.as_os_str().cmp(b.file.absolute.as_os_str());
            let key = match order.sort_by.unwrap_or(SortBy::Name) {
                SortBy::Name => name,
                SortBy::Created => a.created.cmp(&b.created),
                SortBy::Modified => a.file.modified.cmp(&b.file.modified),
            };
            let key = if order.descending { key.reverse() } else { key };
            if key == Ordering::Equal { name } else { key }
        });
    }

    fn choose(&self, found: &mut Vec<Candidate>) {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(first) = self.files.take_first {
            found.truncate(count(first));
        }
        if let Some(last) = self.files.take_last {
            found.drain(..found.len().saturating_sub(count(last)));
        }
    }

    fn describe(&self) -> String {
        if let Some(path) = &self.path {
            return format!("path `{path}`");
        }
        if let Some(paths) = &self.paths {
            return format!("paths [{}]", paths.join(", "));
        }
        match (&self.glob, &self.regex) {
            (Some(glob), _) => format!("glob `{glob}`"),
            (_, Some(regex)) => format!("regex `{regex}`"),
            _ => "the selection".into(),
        }
    }
}

/// A file with what it is sorted and filtered by.
struct Candidate {
    file: FoundFile,
    created: i128,
}

impl Candidate {
    fn new(base: &Path, path: &Path, meta: &fs::Metadata) -> Self {
        let modified = meta.modified().map_or(0, nanos);
        let created = meta.created().map_or(modified, nanos);
        let file = FoundFile { absolute: path.to_path_buf(), shown: shown(base, path), size: meta.len(), modified };
        Self { file, created }
    }
}

/// A selection whose patterns, bounds and sizes are understood.
struct Compiled {
    matcher: Matcher,
    exclude: Vec<GlobMatcher>,
    modified: (i128, i128),
    size: (u64, u64),
}

impl Compiled {
    fn new(selection: &FileSelection, now: i128) -> Result<Self, Vec<OptionFault>> {
        let mut faults = Vec::new();
        let matcher = Matcher::new(selection, &mut faults);
        let exclude = selection.exclude.iter().filter_map(|pattern| glob("exclude", pattern, &mut faults)).collect();
        let mut time = |key, text: &Option<String>, default| match text {
            None => default,
            Some(text) => time_bound(text, now).unwrap_or_else(|| {
                let message =
                    format!("{key} is {text:?}; it must be a time like `2024-05-01T06:00:00Z` or an age like `36h`");
                faults.push(OptionFault { key, code: "E214", message, help: None });
                default
            }),
        };
        let after = time("modified_after", &selection.modified_after, i128::MIN);
        let before = time("modified_before", &selection.modified_before, i128::MAX);
        let mut size = |key, text: &Option<String>, default| match text {
            None => default,
            Some(text) => parse_size(text).unwrap_or_else(|| {
                let message = format!("{key} is {text:?}; it must be a number of bytes, or one like `500KB`");
                faults.push(OptionFault { key, code: "E215", message, help: None });
                default
            }),
        };
        let size = (size("min_size", &selection.min_size, 0), size("max_size", &selection.max_size, u64::MAX));
        if selection.files.take_first.is_some() && selection.files.take_last.is_some() {
            let message = "files.take_first and files.take_last are both set".into();
            faults.push(OptionFault { key: "files", code: "E218", message, help: Some("keep one of them".into()) });
        }
        match matcher {
            Some(matcher) if faults.is_empty() => Ok(Self { matcher, exclude, modified: (after, before), size }),
            _ => Err(faults),
        }
    }

    fn keeps(&self, candidate: &Candidate) -> bool {
        let file = &candidate.file;
        let name = file.absolute.file_name().unwrap_or_default();
        let excluded = |glob: &GlobMatcher| {
            glob.is_match(&file.shown) || glob.is_match(slashed(&file.absolute)) || glob.is_match(Path::new(name))
        };
        (self.modified.0..=self.modified.1).contains(&file.modified)
            && (self.size.0..=self.size.1).contains(&file.size)
            && !self.exclude.iter().any(excluded)
    }
}

enum Matcher {
    /// Listed files.
    Listed(Vec<String>, NoMatch),
    /// Files below the literal prefix of a pattern, with the depth it can reach.
    Glob { matcher: GlobMatcher, prefix: PathBuf, depth: usize },
    /// All files whose relative path holds a match.
    Regex(Regex),
}

impl Matcher {
    fn new(selection: &FileSelection, faults: &mut Vec<OptionFault>) -> Option<Self> {
        let given: Vec<&'static str> = [
            ("path", selection.path.is_some()),
            ("paths", selection.paths.is_some()),
            ("glob", selection.glob.is_some()),
            ("regex", selection.regex.is_some()),
        ]
        .into_iter()
        .filter_map(|(key, given)| given.then_some(key))
        .collect();
        match given.as_slice() {
            [] => {
                let message = "none of path, paths, glob and regex is set".into();
                faults.push(OptionFault { key: "path", code: "E211", message, help: Some("add one of them".into()) });
            }
            [_] => {}
            [first, .., last] => {
                let message = format!("{first} and {last} are both set; a source has one matcher");
                faults.push(OptionFault { key: last, code: "E210", message, help: Some("keep one of them".into()) });
            }
        }
        let no_match = selection.files.on_no_match;
        if let Some(path) = &selection.path {
            return Some(Matcher::Listed(vec![path.clone()], no_match));
        }
        if let Some(paths) = &selection.paths {
            return Some(Matcher::Listed(paths.clone(), no_match));
        }
        if let Some(pattern) = &selection.glob {
            let (prefix, depth) = reach(pattern);
            return glob("glob", pattern, faults).map(|matcher| Matcher::Glob { matcher, prefix, depth });
        }
        let pattern = selection.regex.as_ref()?;
        match Regex::new(pattern) {
            Ok(regex) => Some(Matcher::Regex(regex)),
            Err(error) => {
                let message = format!("regex {pattern:?} cannot be read: {error}");
                faults.push(OptionFault { key: "regex", code: "E213", message, help: None });
                None
            }
        }
    }

    /// Calls `found` for each match that exists, whatever it is.
    fn visit(
        &self,
        base: &Path,
        recursive: Option<bool>,
        found: &mut dyn FnMut(&Path, &fs::Metadata),
    ) -> Result<(), DiscoveryFault> {
        match self {
            Matcher::Listed(paths, no_match) => {
                for path in paths {
                    let path = normalised(&base.join(path));
                    match fs::metadata(&path) {
                        Ok(meta) => found(&path, &meta),
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {
                            if *no_match == NoMatch::Error {
                                let message = format!("file `{}` does not exist", shown(base, &path));
                                return Err(DiscoveryFault { message });
                            }
                        }
                        Err(error) => return Err(unreadable(&path, &error)),
                    }
                }
                Ok(())
            }
            Matcher::Glob { matcher, prefix, depth } => {
                let depth = match recursive {
                    None => *depth,
                    Some(true) => usize::MAX,
                    Some(false) => 1,
                };
                let absolute = prefix.is_absolute();
                walk(&base.join(prefix), depth, &mut |path, meta| {
                    let subject = if absolute { slashed(path) } else { shown(base, path) };
                    if matcher.is_match(subject) {
                        found(path, meta);
                    }
                })
            }
            Matcher::Regex(regex) => {
                let depth = if recursive == Some(false) { 1 } else { usize::MAX };
                walk(base, depth, &mut |path, meta| {
                    if regex.is_match(&shown(base, path)) {
                        found(path, meta);
                    }
                })
            }
        }
    }
}

/// Walks the files below a directory, through links. A link back to a directory that the walk is inside is not
/// entered; a dangling one is dropped.
fn walk(root: &Path, depth: usize, found: &mut dyn FnMut(&Path, &fs::Metadata)) -> Result<(), DiscoveryFault> {
    for entry in WalkDir::new(root).follow_links(true).min_depth(1).max_depth(depth) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) if error.loop_ancestor().is_some() => continue,
            Err(error) => match error.io_error() {
                Some(inner) if inner.kind() == io::ErrorKind::NotFound => continue,
                // What a link points to may also be no directory on the way, or links in a circle: it dangles.
                Some(inner) if error.path().is_some_and(Path::is_symlink) && !is_denied(inner) => continue,
                Some(inner) => return Err(unreadable(error.path().unwrap_or(root), inner)),
                None => continue,
            },
        };
        if entry.file_type().is_dir() {
            continue;
        }
        match fs::metadata(entry.path()) {
            Ok(meta) => found(&normalised(entry.path()), &meta),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(entry.path(), &error)),
        }
    }
    Ok(())
}

fn is_denied(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// The directory that a pattern begins in, and how many levels below it can match.
fn reach(pattern: &str) -> (PathBuf, usize) {
    let segments: Vec<&str> = pattern.split('/').filter(|segment| *segment != ".").collect();
    let special = |segment: &&str| segment.contains(['*', '?', '[', '{', '\\']);
    let literal = segments.iter().position(special).unwrap_or(segments.len()).min(segments.len() - 1);
    let root = if pattern.starts_with('/') { "/" } else { "" };
    let prefix = segments[..literal].iter().fold(PathBuf::from(root), |path, segment| path.join(segment));
    let depth = if pattern.contains("**") { usize::MAX } else { segments.len() - literal };
    // Braces may hold separators.
    (prefix, if pattern.contains('{') { usize::MAX } else { depth })
}

fn glob(key: &'static str, pattern: &str, faults: &mut Vec<OptionFault>) -> Option<GlobMatcher> {
    let plain = pattern.strip_prefix("./").unwrap_or(pattern);
    match GlobBuilder::new(plain).literal_separator(true).build() {
        Ok(glob) => Some(Glob::compile_matcher(&glob)),
        Err(error) => {
            let message = format!("{key} {pattern:?} cannot be read: {}", error.kind());
            faults.push(OptionFault { key, code: "E212", message, help: None });
            None
        }
    }
}

/// A time bound: a timestamp with its zone, or an age before `now`.
fn time_bound(text: &str, now: i128) -> Option<i128> {
    if let Some(seconds) = age(text) {
        return Some(now - i128::from(seconds) * 1_000_000_000);
    }
    let (local, minutes) = match text.strip_suffix(['Z', 'z']) {
        Some(local) => (local, 0),
        None => {
            let at = text.len().checked_sub(6).filter(|at| text.is_char_boundary(*at))?;
            (&text[..at], zone_minutes(&text.as_bytes()[at..])?)
        }
    };
    // The date and the time are separated; the default forms know `T` and a space.
    let nanos = datetime::parse_iso_date_time(local.replace('t', "T").as_bytes())?;
    Some(nanos - i128::from(minutes) * 60_000_000_000)
}

fn age(text: &str) -> Option<u64> {
    let unit = text.chars().next_back()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    let number = text[..text.len() - 1].trim_end();
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    number.parse::<u64>().ok()?.checked_mul(seconds)
}

/// `+hh:mm` or `-hh:mm` in minutes east.
fn zone_minutes(zone: &[u8]) -> Option<i64> {
    let [sign @ (b'+' | b'-'), a, b, b':', c, d] = *zone else { return None };
    if ![a, b, c, d].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let two = |high: u8, low: u8| i64::from(high - b'0') * 10 + i64::from(low - b'0');
    let (hours, minutes) = (two(a, b), two(c, d));
    let total = hours * 60 + minutes;
    (hours < 24 && minutes < 60).then_some(if sign == b'-' { -total } else { total })
}

fn nanos(time: SystemTime) -> i128 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i128::try_from(after.as_nanos()).unwrap_or(i128::MAX),
        Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX),
    }
}

/// Without `.` and `..`, by the text of the path alone.
fn normalised(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

fn slashed(path: &Path) -> String {
    let text = path.to_string_lossy().into_owned();
    if std::path::MAIN_SEPARATOR == '/' { text } else { text.replace(std::path::MAIN_SEPARATOR, "/") }
}

/// What stands in the place of a file.
fn irregularity(shown: &str, meta: &fs::Metadata) -> String {
    let kind = if meta.is_dir() { "a folder" } else { "a device, a pipe or a socket" };
    format!("`{shown}` is {kind}, not a regular file")
}

fn shown(base: &Path, path: &Path) -> String {
    slashed(path.strip_prefix(base).unwrap_or(path))
}

fn unreadable(path: &Path, error: &io::Error) -> DiscoveryFault {
    DiscoveryFault { message: format!("cannot look for files at `{}`: {error}", slashed(path)) }
}
