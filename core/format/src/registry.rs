//! Formats by name. A format crate registers itself when it is linked; the binary names each crate it links. Dialects and
//! plugins are added to a registry of the pipeline that names them.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::{Descriptor, OptionFault, ReadFactory, ReadRequest, WriteFactory, WriteRequest};

/// A format. Its methods are pure functions of their arguments.
pub trait Format: Send + Sync {
    /// What it says of itself.
    fn descriptor(&self) -> &'static Descriptor;
    /// Binds reader options.
    ///
    /// # Errors
    /// Everything that is wrong with options and schema, all at once.
    fn bind_reader(&self, request: &ReadRequest<'_>) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>>;
    /// Binds writer options.
    ///
    /// # Errors
    /// Everything that is wrong with the options, all at once.
    fn bind_writer(&self, request: &WriteRequest<'_>) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>>;
    /// Writer options that are accepted and deserve a warning.
    fn writer_warnings(&self, request: &WriteRequest<'_>) -> Vec<OptionFault> {
        let _ = request;
        Vec::new()
    }
    /// What a format of a plugin says beside its descriptor; none for any other one.
    fn plugin(&self) -> Option<&PluginFacts> {
        None
    }
}

/// What a plugin says of itself, and one of its formats beside the descriptor: for listings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginFacts {
    /// The plugin's own version.
    pub version: String,
    /// Major and minor of the interface that it was made for.
    pub interface: (u32, u32),
    /// Capabilities that it requires of the engine.
    pub requires: Vec<String>,
    /// Capabilities that it offers, each with whether this engine knows it.
    pub offers: Vec<(String, bool)>,
    /// The diagnostic codes of the format's own.
    pub codes: Vec<PluginCode>,
}

/// A diagnostic code of a plugin's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PluginCode {
    /// The code: `E-<NAME>-nnn` or `W-<NAME>-nnn`.
    pub code: &'static str,
    /// What it means, in a few words.
    pub title: &'static str,
    /// What it means, one sentence.
    pub meaning: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// The class of the fault, such as `row` or `corruption`.
    pub class: &'static str,
    /// The machine code.
    pub machine: &'static str,
}

/// An entry of the registry: `inventory::submit! { Registration::new(&FORMAT) }`.
pub struct Registration {
    format: &'static dyn Format,
}

impl Registration {
    /// Registers a format.
    pub const fn new(format: &'static dyn Format) -> Self {
        Self { format }
    }
}

inventory::collect!(Registration);

/// Where a format comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatOrigin {
    /// Linked into the binary.
    BuiltIn,
    /// A dialect description at this path.
    Dialect(String),
    /// A plugin library at this path.
    Plugin(String),
}

impl fmt::Display for FormatOrigin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatOrigin::BuiltIn => out.write_str("built in"),
            FormatOrigin::Dialect(path) => write!(out, "dialect {path}"),
            FormatOrigin::Plugin(path) => write!(out, "plugin {path}"),
        }
    }
}

/// The formats that a pipeline can name.
#[derive(Clone)]
pub struct Registry {
    formats: Vec<(&'static dyn Format, FormatOrigin)>,
}

impl Registry {
    /// All linked formats, sorted by name.
    pub fn built_in() -> Self {
        let linked = inventory::iter::<Registration>().map(|entry| (entry.format, FormatOrigin::BuiltIn));
        let mut formats: Vec<_> = linked.collect();
        formats.sort_by_key(|(format, _)| format.descriptor().name);
        Self { formats }
    }

    /// Adds a format behind the others.
    ///
    /// # Errors
    /// Its name is taken; the origin of the format that has it (E463).
    pub fn add(&mut self, format: &'static dyn Format, origin: FormatOrigin) -> Result<(), FormatOrigin> {
        let name = format.descriptor().name;
        if let Some((_, taken)) = self.formats.iter().find(|(known, _)| known.descriptor().name == name) {
            return Err(taken.clone());
        }
        self.formats.push((format, origin));
        Ok(())
    }

    /// The format of that name.
    pub fn find(&self, name: &str) -> Option<&'static dyn Format> {
        self.iter().map(|(format, _)| format).find(|format| format.descriptor().name == name)
    }

    /// All formats with their origin: the linked ones by name, then the others in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&'static dyn Format, &FormatOrigin)> {
        self.formats.iter().map(|(format, origin)| (*format, origin))
    }
}

/// Loads formats that are not linked: the binary knows how, the plan only which ones. What was loaded stays loaded.
pub trait FormatLoader {
    /// The formats of a plugin library.
    ///
    /// # Errors
    /// The first step of loading that failed (E460 to E467).
    fn plugin(&self, path: &Path) -> Result<Vec<&'static dyn Format>, LoadFault>;
    /// The format that a dialect description registers. `description` is the document, read as a tree of JSON values.
    ///
    /// # Errors
    /// Everything that is wrong with it (E411), each with its key.
    fn dialect(&self, description: &serde_json::Value) -> Result<&'static dyn Format, Vec<LoadFault>>;
}

/// Why a format was not loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFault {
    /// The diagnostic code.
    pub code: &'static str,
    /// In a description, the path of keys to the fault (`levels[1].open`); else empty.
    pub key: String,
    /// What is wrong, one sentence.
    pub message: String,
    /// The way out, when one is known.
    pub help: Option<String>,
}
