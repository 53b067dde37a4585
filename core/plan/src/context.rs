//! What reading a node needs to know of the compile it belongs to.

use std::path::PathBuf;

use clinker_record::datetime::DateFormat;
use clinker_record::{Kind, Type, Value};

use crate::formats::Loaded;

/// Settings of the document and of the command.
pub(crate) struct Context<'a> {
    /// The base directory, absolute.
    pub base: PathBuf,
    /// Start of the run, in nanoseconds since 1970-01-01T00:00:00 UTC.
    pub now: i128,
    /// Whether absolute paths are allowed.
    pub allow_absolute: bool,
    /// `pipeline.date_formats`.
    pub date_formats: Vec<DateFormat>,
    /// Static variables with their values.
    pub vars: &'a [(String, Type, Value)],
    /// The formats that nodes can name.
    pub formats: Loaded,
    /// Contents of the schema files that were inlined, in document order.
    pub inlined: Vec<Vec<u8>>,
}

impl Context<'_> {
    /// The patterns that text of this type is tried with in place of the default ones; none means these.
    ///
    /// A date-time takes only the patterns that can give a time of day: a list written for dates leaves the default
    /// forms of date-times alone.
    pub fn formats_for(&self, ty: Type) -> Vec<DateFormat> {
        const TIMES: [&str; 5] = ["%H", "%I", "%T", "%R", "%s"];
        let timed = |format: &DateFormat| TIMES.iter().any(|time| format.source().contains(time));
        match ty.kind {
            Kind::Date => self.date_formats.clone(),
            Kind::DateTime => self.date_formats.iter().filter(|format| timed(format)).cloned().collect(),
            _ => Vec::new(),
        }
    }
}
