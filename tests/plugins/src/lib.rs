//! Builds plugins outside of the workspace, as their authors do.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// The root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project")
}

/// The folder that holds what is built.
fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir));
    target.join("plugins")
}

/// One build at a time: they share a folder.
static BUILDING: Mutex<()> = Mutex::new(());

/// Builds a plugin crate and gives its library.
///
/// # Panics
/// It does not build.
pub fn build_rust(folder: &str, library: &str, features: &[&str]) -> PathBuf {
    let _one = BUILDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = root().join(folder).join("Cargo.toml");
    let mut command = Command::new(cargo);
    command.arg("build").arg("--quiet").arg("--locked").arg("--manifest-path").arg(manifest);
    command.args(features.iter().flat_map(|feature| ["--features", feature]));
    command.env("CARGO_TARGET_DIR", target()).env_remove("RUSTFLAGS");
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{folder}: {}", String::from_utf8_lossy(&output.stderr));
    let name = format!("{}{library}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    target().join("debug").join(name)
}

/// Builds a plugin of one C file against the header and gives its library.
///
/// # Panics
/// It does not build.
pub fn build_c(file: &str, library: &str) -> PathBuf {
    build_c_with(file, library, &[])
}

/// As [`build_c`], with further arguments for the compiler.
///
/// # Panics
/// It does not build.
pub fn build_c_with(file: &str, library: &str, arguments: &[&str]) -> PathBuf {
    let _one = BUILDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let folder = target().join("c");
    std::fs::create_dir_all(&folder).expect("a folder");
    let built = folder.join(format!("{}{library}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX));
    let mut command = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    command.args(["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-I"]);
    command.arg(root().join("plugins/abi/include")).args(arguments).arg("-o").arg(&built).arg(root().join(file));
    let output = command.output().expect("a C compiler runs");
    assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
    built
}

/// Builds the program that only loads plugins, as an engine of a later minor, and gives its path.
///
/// # Panics
/// It does not build.
pub fn build_later_host() -> PathBuf {
    let _one = BUILDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--locked", "-p", "clinker-plugin-host", "--example", "load"]);
    command.args(["--features", "future"]).current_dir(root());
    command.env("CARGO_TARGET_DIR", target()).env_remove("RUSTFLAGS");
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target().join("debug/examples/load")
}
