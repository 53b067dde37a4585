//! Rust files, read just closely enough: code without comments and literals, and the literals by themselves.

use std::fs;
use std::path::{Path, PathBuf};

/// A string literal and the line it begins on.
pub struct Literal {
    pub line: usize,
    pub text: String,
}

/// One Rust file.
pub struct Source {
    /// Path relative to the workspace, with forward slashes.
    pub path: String,
    /// The text as it is.
    pub text: String,
    /// The text with comments and literals blanked out; line breaks are kept.
    pub code: String,
    /// String literals outside of test code.
    pub literals: Vec<Literal>,
}

/// The folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace exists")
}

/// All files below `folder` (relative to the workspace) for which `wanted` holds, sorted.
pub fn files(folder: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("a readable folder").path();
            let name = path.strip_prefix(&root).expect("below the workspace").to_string_lossy().replace('\\', "/");
            if path.is_dir() {
                if !matches!(name.as_str(), "target" | ".git") && !path.is_symlink() {
                    folders.push(path);
                }
            } else if wanted(&name) {
                found.push(name);
            }
        }
    }
    found.sort();
    found
}

/// Reads a file of the workspace. The input of a case may hold bytes that are no text.
pub fn read(path: &str) -> String {
    let bytes = fs::read(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// All Rust files below the given folders.
pub fn sources(folders: &[&str]) -> Vec<Source> {
    folders
        .iter()
        .flat_map(|folder| files(folder, |name| name.ends_with(".rs")))
        .map(|path| Source::new(&path))
        .collect()
}

/// Whether a whole file is test code.
pub fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.starts_with("tests/")
        || path.contains("/tests/")
        || path.contains("/benches/")
        || path.contains("/examples/")
        || name == "tests.rs"
        || name.ends_with("_tests.rs")
}

impl Source {
    /// Reads one file.
    pub fn new(path: &str) -> Self {
        Self::parse(path, read(path))
    }

    /// Takes apart a text.
    pub fn parse(path: &str, text: String) -> Self {
        let (mut code, mut literals) = blank(&text);
        for (start, end) in test_blocks(&code) {
            let first = 1 + code[..start].matches('\n').count();
            let last = 1 + code[..end].matches('\n').count();
            literals.retain(|literal| literal.line < first || literal.line > last);
            let blanked: String = code[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
            code.replace_range(start..end, &blanked);
        }
        Self { path: path.to_owned(), text, code, literals }
    }
}

/// Blanks comments and literals; returns the code and the string literals.
fn blank(text: &str) -> (String, Vec<Literal>) {
    let bytes = text.as_bytes();
    let mut code: Vec<u8> = Vec::with_capacity(bytes.len());
    let mut literals = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = skipped(bytes, at);
        if end == at {
            // A byte of a longer character can only be part of an identifier; blanking it keeps the code ASCII.
            code.push(if bytes[at].is_ascii() { bytes[at] } else { b' ' });
            at += 1;
            continue;
        }
        let token = &text[at..end];
        if let Some(content) = content(token) {
            literals.push(Literal { line: 1 + text[..at].matches('\n').count(), text: content.to_owned() });
        }
        code.extend(token.bytes().map(|byte| if byte == b'\n' { b'\n' } else { b' ' }));
        at = end;
    }
    (String::from_utf8(code).expect("only ASCII was kept"), literals)
}

/// The content of a string literal token, as it is written; none for other tokens.
fn content(token: &str) -> Option<&str> {
    let token = token.trim_start_matches(['b', 'c']).trim_start_matches('r').trim_matches('#');
    token.strip_prefix('"')?.strip_suffix('"')
}

/// The end of the comment or literal that begins at `at`; `at` itself when none does.
fn skipped(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        return at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    }
    if rest.starts_with(b"/*") {
        return block_comment(bytes, at);
    }
    let within_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    if !within_word {
        let prefix = rest.iter().take_while(|byte| matches!(byte, b'b' | b'c' | b'r')).count();
        let hashes = rest[prefix..].iter().take_while(|byte| **byte == b'#').count();
        let raw = prefix > 0 && rest[prefix - 1] == b'r';
        if prefix <= 2 && rest.get(prefix + hashes) == Some(&b'"') && (raw || hashes == 0) {
            let open = at + prefix + hashes;
            return if raw { raw_string(bytes, open, hashes) } else { quoted(bytes, open, b'"') };
        }
    }
    match rest {
        [b'\'', b'\\', ..] => quoted(bytes, at, b'\''),
        [b'\'', _, b'\'', ..] => at + 3,
        // A character of several bytes, as opposed to a lifetime.
        [b'\'', first, ..] if !first.is_ascii() => quoted(bytes, at, b'\''),
        _ => at,
    }
}

fn block_comment(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0;
    let mut end = at;
    while end < bytes.len() {
        if bytes[end..].starts_with(b"/*") {
            depth += 1;
            end += 2;
        } else if bytes[end..].starts_with(b"*/") {
            depth -= 1;
            end += 2;
            if depth == 0 {
                return end;
            }
        } else {
            end += 1;
        }
    }
    end
}

fn raw_string(bytes: &[u8], open: usize, hashes: usize) -> usize {
    let mut end = open + 1;
    while end < bytes.len() {
        let closed =
            bytes[end] == b'"' && bytes[end + 1..].iter().take(hashes).filter(|b| **b == b'#').count() == hashes;
        end += 1;
        if closed {
            return end + hashes;
        }
    }
    end
}

fn quoted(bytes: &[u8], open: usize, quote: u8) -> usize {
    let mut end = open + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' => end += 2,
            byte if byte == quote => return end + 1,
            _ => end += 1,
        }
    }
    end.min(bytes.len())
}

/// The ranges of items under `#[cfg(test)]`.
fn test_blocks(code: &str) -> Vec<(usize, usize)> {
    let mut blocks = Vec::new();
    let mut from = 0;
    while let Some(found) = code[from..].find("#[cfg(test)]") {
        let start = from + found;
        let end = item_end(code, start);
        blocks.push((start, end));
        from = end;
    }
    blocks
}

/// The end of the item that begins at `start`: its closing brace, or its semicolon when that comes first.
pub fn item_end(code: &str, start: usize) -> usize {
    let mut depth = 0usize;
    let mut nested = 0usize;
    for (offset, byte) in code.as_bytes()[start..].iter().enumerate() {
        match byte {
            b'(' | b'[' => nested += 1,
            b')' | b']' => nested = nested.saturating_sub(1),
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return start + offset + 1;
                }
            }
            b';' if depth == 0 && nested == 0 => return start + offset + 1,
            _ => {}
        }
    }
    code.len()
}

#[test]
fn comments_literals_and_tests_are_told_from_code() {
    let text = r##"
fn a<'x>() -> char { /* " /* nested */ */ '"' } // "no"
const S: &str = "E126 \" {"; const R: &str = r#"W002 "quoted" "#; const B: &[u8] = b"bytes";
#[cfg(test)]
mod tests { const T: &str = "E000"; }
fn b() {}
"##;
    let source = Source::parse("a.rs", text.to_owned());
    let literals: Vec<&str> = source.literals.iter().map(|literal| literal.text.as_str()).collect();
    assert_eq!(literals, [r#"E126 \" {"#, r#"W002 "quoted" "#, "bytes"]);
    assert!(source.code.contains("fn a<'x>() -> char {") && source.code.contains("fn b() {}"));
    assert!(!source.code.contains("mod tests") && !source.code.contains("nested"));
    assert_eq!(source.code.matches('\n').count(), text.matches('\n').count());
}
