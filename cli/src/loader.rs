//! Formats that are not linked.

use std::path::Path;

use clinker_format::{Format, FormatLoader, LoadFault};

/// Loads what pipelines and workspaces name.
pub(crate) struct Loader;

/// What this version does not load.
fn unavailable(what: &str) -> LoadFault {
    LoadFault {
        code: "E000",
        key: String::new(),
        message: format!("{what} are not available in this version"),
        help: Some("leave it out; nothing is read and then ignored".to_owned()),
    }
}

impl FormatLoader for Loader {
    fn plugin(&self, _path: &Path) -> Result<Vec<&'static dyn Format>, LoadFault> {
        Err(unavailable("format plugins"))
    }

    fn dialect(&self, _description: &serde_json::Value) -> Result<&'static dyn Format, Vec<LoadFault>> {
        Err(vec![unavailable("dialect descriptions")])
    }
}
