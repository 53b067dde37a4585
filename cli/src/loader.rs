//! Formats that are not linked: dialect descriptions and plugins.

use std::path::Path;

use clinker_edi::{Dialect, DialectFormat};
use clinker_format::{Format, FormatLoader, LoadFault};

/// Loads what pipelines and workspaces name. What was loaded stays loaded.
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

/// The dialects that a description can start from.
fn base(name: &str) -> Option<Dialect> {
    match name {
        "x12" => Some(clinker_x12::x12()),
        _ => None,
    }
}

impl FormatLoader for Loader {
    fn plugin(&self, _path: &Path) -> Result<Vec<&'static dyn Format>, LoadFault> {
        Err(unavailable("format plugins"))
    }

    fn dialect(&self, description: &serde_json::Value) -> Result<&'static dyn Format, Vec<LoadFault>> {
        let dialect = Dialect::from_description(description, &base)?;
        let summary = format!("Segments, as the dialect `{}` describes them.", dialect.name);
        Ok(Box::leak(Box::new(DialectFormat::new(dialect, &summary))))
    }
}
