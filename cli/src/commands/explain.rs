//! `clinker explain`: the registry of diagnostic codes.

use clinker_diagnostics::codes;

use crate::flags::ExplainFlags;
use crate::{Host, exit};

/// Prints one code or the list.
pub fn explain(flags: &ExplainFlags, host: &Host) -> u8 {
    let text = match &flags.code {
        Some(code) => codes::explain(code),
        None => codes::list(flags.status.as_deref(), flags.category.as_deref()),
    };
    match text {
        Ok(text) => host.deliver(&text),
        Err(reason) => {
            host.stderr.write(&format!("error: {reason}\n"));
            exit::CONFIGURATION
        }
    }
}
