//! Which paths a document may name.

use std::path::{Component, Path, PathBuf};

/// Checks the text of a path: nothing that leads out of the base directory.
pub(crate) fn check_text(path: &str, allow_absolute: bool) -> Result<(), String> {
    if path.is_empty() {
        return Err("the path is empty".to_string());
    }
    if path.contains('\0') {
        return Err("the path contains a NUL character".to_string());
    }
    if path.to_ascii_lowercase().contains("%2e%2e") {
        return Err(format!("`{path}` contains an encoded `..`"));
    }
    if path.split(['/', '\\']).any(|component| component == "..") {
        return Err(format!("`{path}` contains a `..` component"));
    }
    if !allow_absolute && is_anchored(path) {
        return Err(format!("`{path}` is absolute; paths are relative to the base directory"));
    }
    Ok(())
}

/// Whether a path is absolute, begins at a root, or names a drive.
pub(crate) fn is_anchored(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with(['/', '\\']) || matches!(bytes, [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// The first symbolic link among the existing directories between `base` and a relative output path.
pub(crate) fn linked_ancestor(base: &Path, path: &Path) -> Option<PathBuf> {
    if path.is_absolute() {
        // The anchor is the existing parent as resolved now; nothing below it exists.
        return None;
    }
    let mut at = base.to_path_buf();
    let mut components = path.components().filter(|component| *component != Component::CurDir).peekable();
    while let Some(component) = components.next() {
        at.push(component);
        // The last component is the file itself: a rename replaces it, link or not.
        components.peek()?;
        match at.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => return Some(at),
            Ok(_) => {}
            Err(_) => return None,
        }
    }
    None
}

/// The file name without its extension.
pub(crate) fn stem(path: &str) -> &str {
    Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

/// One real destination, for telling whether two paths name one file.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    /// The longest existing ancestor, links resolved.
    root: PathBuf,
    /// The whole path.
    path: PathBuf,
    /// The same without regard to case.
    folded: String,
}

impl Destination {
    /// Resolves a path against `base`.
    pub fn resolve(base: &Path, path: &str) -> Destination {
        let full: PathBuf = base.join(path).components().filter(|part| *part != Component::CurDir).collect();
        let existing = full.ancestors().find_map(|root| Some((root, root.canonicalize().ok()?)));
        let (root, path) = match existing {
            Some((root, resolved)) => {
                let rest = full.strip_prefix(root).ok().filter(|rest| !rest.as_os_str().is_empty());
                let path = rest.map_or_else(|| resolved.clone(), |rest| resolved.join(rest));
                (resolved, path)
            }
            None => (full.clone(), full),
        };
        let folded = path.to_string_lossy().to_lowercase();
        Destination { root, path, folded }
    }

    /// Whether both are one file.
    pub fn is(&self, other: &Destination) -> bool {
        if self.folded != other.folded {
            return false;
        }
        // Case matters unless the volume says otherwise, and it is asked only when case is all that differs.
        self.path == other.path || ignores_case(&self.root) && ignores_case(&other.root)
    }
}

/// Probes the volume: does the existing path answer to its name in the other case?
fn ignores_case(existing: &Path) -> bool {
    let text = existing.to_string_lossy();
    let swapped: String = text
        .chars()
        .map(
            |letter| {
                if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
            },
        )
        .collect();
    swapped != text && Path::new(&swapped).canonicalize().is_ok_and(|found| found == existing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipeline_8_1_paths_stay_below_the_base() {
        for path in ["../x", "a/../../x", "a\\..\\x", "%2E%2e/x", "a\0b", "", "/etc/x", "C:\\x", "\\x"] {
            assert!(check_text(path, false).is_err(), "{path:?}");
        }
        for path in ["a/b.csv", "./a", "a..b/c", "a b"] {
            assert!(check_text(path, false).is_ok(), "{path:?}");
        }
        assert!(check_text("/data/x", true).is_ok());
        assert!(check_text("/data/../x", true).is_err());
    }

    #[test]
    fn dlq_3_one_file_under_several_spellings() {
        let folder = std::env::temp_dir().canonicalize().expect("a temporary directory");
        let absolute = folder.join("sub/x.csv");
        let plain = Destination::resolve(&folder, "sub/x.csv");
        assert!(plain.is(&Destination::resolve(&folder, "./sub/./x.csv")));
        assert!(plain.is(&Destination::resolve(&folder, absolute.to_str().expect("text"))));
        assert!(!plain.is(&Destination::resolve(&folder, "sub/y.csv")));
    }
}
