//! A crate depends only on crates above it.

use std::collections::BTreeMap;
use std::process::Command;

use crate::source::root;

/// From top to bottom.
const CORE: [&str; 10] =
    ["diagnostics", "events", "memory", "record", "format", "cxl", "plan", "dlq", "publish", "engine"];

/// The crates that a crate may depend on, by the name of its folder.
fn allowed(folder: &str) -> Vec<String> {
    let above = |end: usize| CORE[..end].iter().map(|name| format!("core/{name}")).collect::<Vec<_>>();
    match folder.split_once('/') {
        Some(("core", name)) => {
            above(CORE.iter().position(|core| *core == name).unwrap_or_else(|| panic!("core/{name} has no place")))
        }
        Some(("formats", name)) => {
            let format = CORE.iter().position(|core| *core == "format").expect("a core crate");
            let mut crates = above(format + 1);
            if name != "edi" {
                crates.push("formats/edi".to_owned());
            }
            crates
        }
        _ => vec!["*".to_owned()],
    }
}

/// Folder of each workspace crate, and the folders of the workspace crates it depends on.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let root = root();
    let folder = |path: &str| {
        std::path::Path::new(path).strip_prefix(&root).expect("in the workspace").to_string_lossy().replace('\\', "/")
    };
    let packages = metadata["packages"].as_array().expect("a list of packages");
    packages
        .iter()
        .map(|package| {
            let manifest = package["manifest_path"].as_str().expect("a path");
            let own = folder(manifest.strip_suffix("/Cargo.toml").expect("a manifest"));
            // Development dependencies build tests, not layers.
            let depends = package["dependencies"]
                .as_array()
                .expect("a list")
                .iter()
                .filter(|dependency| dependency["kind"] != "dev")
                .filter_map(|dependency| dependency["path"].as_str())
                .map(folder)
                .collect();
            (own, depends)
        })
        .collect()
}

#[test]
fn crates_depend_only_on_crates_above_them() {
    let mut wrong = Vec::new();
    for (folder, depends) in dependencies() {
        let allowed = allowed(&folder);
        for dependency in depends {
            if allowed != ["*"] && !allowed.contains(&dependency) {
                wrong.push(format!("{folder} depends on {dependency}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_order_is_what_it_says() {
    assert!(allowed("core/diagnostics").is_empty());
    assert_eq!(allowed("core/memory"), ["core/diagnostics", "core/events"]);
    assert!(allowed("formats/csv").contains(&"core/format".to_owned()));
    assert!(!allowed("formats/csv").contains(&"core/plan".to_owned()));
}
