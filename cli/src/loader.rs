//! Formats that are not linked: dialect descriptions and plugins.

use std::path::Path;
use std::sync::Arc;

use clinker_diagnostics::Diagnostic;
use clinker_edi::{Dialect, DialectFormat};
use clinker_format::{Format, FormatLoader, LoadFault};
use clinker_plugin_host::Surroundings;

use crate::Host;
use crate::flags::LogLevel;
use crate::ui::Console;

/// Loads what pipelines and workspaces name. What was loaded stays loaded.
pub(crate) struct Loader {
    /// Plugins are forbidden on this machine.
    forbid: bool,
}

impl Loader {
    /// A loader that obeys the environment of the host.
    pub(crate) fn new(host: &Host) -> Self {
        let stderr = host.stderr.clone();
        let cancel = host.cancel.clone();
        // Set once in a process: the first host's is used.
        clinker_plugin_host::surround(Surroundings {
            report: Arc::new(move |code, reason| {
                let help = "report it to the author of the plugin; nothing was published";
                Console::new(stderr.clone(), LogLevel::Error).report(&Diagnostic::error(code, reason).help(help));
            }),
            cancelled: Arc::new(move || cancel.is_cancelled()),
            ..Surroundings::default()
        });
        let set = (host.env)("CLINKER_FORBID_PLUGINS");
        Self { forbid: set.is_some_and(|value| !value.is_empty()) }
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
    fn plugin(&self, path: &Path) -> Result<Vec<&'static dyn Format>, LoadFault> {
        clinker_plugin_host::load(path, self.forbid)
    }

    fn dialect(&self, description: &serde_json::Value) -> Result<&'static dyn Format, Vec<LoadFault>> {
        let dialect = Dialect::from_description(description, &base)?;
        let summary = format!("Segments, as the dialect `{}` describes them.", dialect.name);
        Ok(Box::leak(Box::new(DialectFormat::new(dialect, &summary))))
    }
}
