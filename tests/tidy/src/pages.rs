//! The complete examples of detail pages are compiled, and raise exactly the code they explain.

use std::path::{Path, PathBuf};

use clinker_csv as _;
use clinker_format::{Format, FormatLoader, LoadFault, Registry};
use clinker_json as _;
use clinker_plan::{CompileRequest, compile};
use clinker_x12 as _;

use crate::source::{files, read};

/// The info string of a block that is a whole pipeline.
const COMPLETE: &str = "```yaml,complete\n";

/// Code and document of each complete example.
pub fn complete_examples() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for path in files("docs/codes", |name| name.ends_with(".md")) {
        let code = path.trim_start_matches("docs/codes/").trim_end_matches(".md");
        let page = read(&path);
        for block in page.split(COMPLETE).skip(1) {
            let document = block.split("```").next().expect("a split has a first part");
            found.push((code.to_owned(), document.to_owned()));
        }
    }
    found
}

/// Loads nothing: examples use the linked formats, and files that are not there.
struct NoFormats;

impl FormatLoader for NoFormats {
    fn plugin(&self, _path: &Path) -> Result<Vec<&'static dyn Format>, LoadFault> {
        unreachable!("an example has no plugin")
    }

    fn dialect(&self, _description: &serde_json::Value) -> Result<&'static dyn Format, Vec<LoadFault>> {
        unreachable!("an example has no dialect")
    }
}

/// The codes that compiling a document raises.
fn raised(document: &str) -> Vec<String> {
    let compiled = compile(CompileRequest {
        shown: "pipeline.yaml".to_owned(),
        path: PathBuf::from("pipeline.yaml"),
        bytes: document.as_bytes().to_vec(),
        base_dir: None,
        allow_absolute_paths: false,
        env: Box::new(|_| None),
        memory_limit: None,
        registry: Registry::built_in(),
        loader: Box::new(NoFormats),
        now: 0,
    });
    compiled
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code.map_or_else(|| format!("({})", diagnostic.message), str::to_owned))
        .collect()
}

#[test]
fn dia_17_complete_examples_raise_exactly_their_code() {
    let examples = complete_examples();
    assert!(examples.len() > 30, "found {} complete examples", examples.len());
    let wrong: Vec<String> = examples
        .iter()
        .map(|(code, document)| (code, raised(document)))
        .filter(|(code, raised)| raised != &[code.as_str()])
        .map(|(code, raised)| format!("{code}: its example raises {raised:?}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
