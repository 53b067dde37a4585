//! Every case folder, in all weathers.

use std::path::{Path, PathBuf};

use clinker_harness::{case, weather};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases")
}

/// Folders that hold a `pipeline.yaml`, sorted.
fn cases(dir: &Path, found: &mut Vec<PathBuf>) {
    if dir.join("pipeline.yaml").is_file() {
        found.push(dir.to_owned());
        return;
    }
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut below: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    below.sort();
    for dir in below {
        cases(&dir, found);
    }
}

/// `CASE=part-of-a-path` runs a few; `UPDATE=1` records what is found.
#[test]
fn every_case_gives_the_same_bytes_in_all_weathers() {
    let mut found = Vec::new();
    cases(&root(), &mut found);
    assert!(found.len() > 20, "the case folders are there");
    let only = std::env::var("CASE").unwrap_or_default();
    let mut failures = Vec::new();
    for case in found.iter().filter(|case| case.to_string_lossy().contains(&only)) {
        for weather in weather::ALL {
            if let Err(difference) = case::run(case, weather) {
                failures.push(format!("{} in {weather:?}: {difference}", case.display()));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} case(s) differ\n\n{}", failures.len(), failures.join("\n\n"));
}
