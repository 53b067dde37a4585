//! The steps of loading.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clinker_format::{Format, LoadFault, PluginFacts};
use clinker_plugin_abi::{CAPABILITIES, Item, MAGIC, MAJOR, MINOR, Reply, SYMBOL, Table, layout};

use crate::calls::{Answer, Plugin, one_line};
use crate::codes::Codes;
use crate::corpus::{self, CorpusFile};
use crate::reading::PluginFormat;
use crate::registration;

/// A step of loading, in the order of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Plugins are allowed on this machine.
    Policy,
    /// The path names a readable regular file.
    File,
    /// It is a library with the entry point.
    Library,
    /// The interface major, and what the plugin requires.
    Interface,
    /// The layout of the boundary types, where the plugin states one.
    Layout,
    /// The entry point returns.
    EntryPoint,
    /// The registrations are valid.
    Registration,
    /// Each name is registered once.
    Names,
}

impl Step {
    /// Every step, in order.
    pub const ALL: [Step; 8] = [
        Step::Policy,
        Step::File,
        Step::Library,
        Step::Interface,
        Step::Layout,
        Step::EntryPoint,
        Step::Registration,
        Step::Names,
    ];

    /// What it is called in reports.
    pub fn name(self) -> &'static str {
        match self {
            Step::Policy => "policy",
            Step::File => "file",
            Step::Library => "library",
            Step::Interface => "interface",
            Step::Layout => "layout",
            Step::EntryPoint => "entry point",
            Step::Registration => "registration",
            Step::Names => "names",
        }
    }
}

/// A library that was loaded.
#[derive(Clone)]
pub struct Loaded {
    /// What it says of itself, without codes.
    pub facts: PluginFacts,
    /// Whether it states the layout of the boundary types.
    pub states_layout: bool,
    /// Its formats.
    pub formats: Vec<&'static dyn Format>,
    /// For each format the files that it ships to be tried with.
    pub corpora: Vec<Vec<CorpusFile>>,
    /// What its function of a later minor gives; none when it was made before.
    #[cfg(feature = "future")]
    pub future: Option<u32>,
}

fn fault(code: &'static str, message: String, help: Option<&str>) -> LoadFault {
    LoadFault { code, key: String::new(), message, help: help.map(str::to_owned) }
}

/// Takes a library through the steps of loading and tells each one that it passed.
///
/// # Errors
/// The first step that failed (E460 to E467).
pub fn examine(path: &Path, forbid: bool, passed: &mut dyn FnMut(Step)) -> Result<Loaded, LoadFault> {
    static LOADED: Mutex<Option<HashMap<PathBuf, Loaded>>> = Mutex::new(None);
    let shown = path.display().to_string();
    if forbid {
        let message = format!("plugin {shown}: plugins are forbidden on this machine");
        return Err(fault("E467", message, Some("`CLINKER_FORBID_PLUGINS` is set; run it where plugins are allowed")));
    }
    passed(Step::Policy);
    let place = regular_file(path, &shown)?;
    passed(Step::File);
    // Held while loading: two threads must not run the entry point of one library side by side.
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let loaded = loaded.get_or_insert_default();
    if let Some(known) = loaded.get(&place) {
        Step::ALL[2..].iter().for_each(|step| passed(*step));
        return Ok(known.clone());
    }
    let new = library(&place, &shown, passed)?;
    loaded.insert(place, new.clone());
    Ok(new)
}

fn regular_file(path: &Path, shown: &str) -> Result<PathBuf, LoadFault> {
    let refused = |what: &str| {
        let help = "name a library that exists and may be read; the path is relative to the workspace";
        fault("E460", format!("plugin {shown}: {what}"), Some(help))
    };
    let place = std::fs::canonicalize(path).map_err(|error| refused(&error.to_string()))?;
    let kind = std::fs::metadata(&place).map_err(|error| refused(&error.to_string()))?;
    if !kind.is_file() {
        return Err(refused("it is not a regular file"));
    }
    std::fs::File::open(&place).map_err(|error| refused(&error.to_string()))?;
    Ok(place)
}

fn library(place: &Path, shown: &str, passed: &mut dyn FnMut(Step)) -> Result<Loaded, LoadFault> {
    let table = entry(place, shown, passed)?;
    let plugin: &'static Plugin = Box::leak(Box::new(Plugin { path: shown.to_owned(), table }));
    let (requires, offers) = interface(plugin)?;
    passed(Step::Interface);
    check_layout(plugin)?;
    passed(Step::Layout);
    let registrations = enter(plugin)?;
    passed(Step::EntryPoint);
    let (found, corpora) = register(plugin, &registrations)?;
    passed(Step::Registration);
    // SAFETY: the version was read once before; its pointers are as good as the plugin.
    let version = one_line(unsafe { plugin.table.version.text() }.unwrap_or_default());
    let offers = offers.into_iter().map(|name| (name.clone(), CAPABILITIES.contains(&name.as_str()))).collect();
    let interface = (plugin.table.major, plugin.table.minor);
    let facts = PluginFacts { version, interface, requires, offers, codes: Vec::new() };
    let formats = named(plugin, found, &facts)?;
    passed(Step::Names);
    // SAFETY: it takes nothing.
    #[cfg(feature = "future")]
    let future = plugin
        .table
        .future
        .and_then(|_| plugin.run("future", plugin.table.future, |future, _| unsafe { future() }).ok());
    Ok(Loaded {
        facts,
        states_layout: !plugin.table.layout.is_null(),
        formats,
        corpora,
        #[cfg(feature = "future")]
        future,
    })
}

/// The smallest table: everything up to the entry point.
const SMALLEST: usize = std::mem::offset_of!(Table, load) + size_of::<usize>();

/// Opens the library and copies its table. Only the head of a table of another major is read.
fn entry(place: &Path, shown: &str, passed: &mut dyn FnMut(Step)) -> Result<Table, LoadFault> {
    let refused = |what: String| {
        let help = "build it for this platform with the plugin SDK";
        fault("E461", format!("plugin {shown}: {}", one_line(&what)), Some(help))
    };
    // SAFETY: a plugin is trusted like the program itself: opening it runs its initialisers.
    let library = unsafe { libloading::Library::new(place) }
        .map_err(|error| refused(format!("it is not a library of this platform: {error}")))?;
    // Never unloaded: formats, threads and destructors of it may live as long as the process.
    let library: &'static libloading::Library = Box::leak(Box::new(library));
    // SAFETY: the symbol is the table by the interface; nothing is read before its magic was seen.
    let symbol: libloading::Symbol<'_, *const Table> =
        unsafe { library.get(SYMBOL.as_bytes()) }.map_err(|_| refused(format!("it has no symbol `{SYMBOL}`")))?;
    let theirs: *const Table = *symbol;
    if theirs.is_null() || !theirs.is_aligned() {
        return Err(refused(format!("its symbol `{SYMBOL}` is not a plugin's table")));
    }
    // SAFETY: the symbol exists; every table begins with its magic.
    if unsafe { (&raw const (*theirs).magic).read() } != MAGIC {
        return Err(refused(format!("its symbol `{SYMBOL}` does not begin as a plugin's table does")));
    }
    // SAFETY: behind the magic stand the versions in every major.
    let (major, minor) = unsafe { ((&raw const (*theirs).major).read(), (&raw const (*theirs).minor).read()) };
    if major != MAJOR {
        passed(Step::Library);
        let message =
            format!("plugin {shown} is made for interface {major}.{minor}, this engine has interface {MAJOR}.{MINOR}");
        return Err(fault("E462", message, Some("use a plugin that is made for the major of this engine")));
    }
    // SAFETY: the major is ours, and so is the head of the table.
    let size = unsafe { (&raw const (*theirs).size).read() };
    if size < SMALLEST {
        return Err(refused(format!("its table of {size} bytes ends before the entry point")));
    }
    passed(Step::Library);
    let mut table = MaybeUninit::<Table>::zeroed();
    // SAFETY: the plugin's table has `size` bytes; zeroes are absent functions, null pointers and empty texts.
    Ok(unsafe {
        std::ptr::copy_nonoverlapping(
            theirs.cast::<u8>(),
            table.as_mut_ptr().cast::<u8>(),
            size.min(size_of::<Table>()),
        );
        table.assume_init()
    })
}

/// What the plugin requires and offers, when this engine has all that it requires.
fn interface(plugin: &Plugin) -> Result<(Vec<String>, Vec<String>), LoadFault> {
    let texts = |texts: clinker_plugin_abi::Strs, what: &str| {
        // SAFETY: the table is the plugin's own; its pointers are as good as the plugin.
        let read = unsafe { texts.texts() }.map(|texts| texts.into_iter().map(str::to_owned).collect::<Vec<_>>());
        read.map_err(|malformed| invalid(plugin, &format!("{what}: {malformed}")))
    };
    let requires = texts(plugin.table.requires, "requires")?;
    let offers = texts(plugin.table.offers, "offers")?;
    // SAFETY: the same.
    unsafe { plugin.table.version.text() }.map_err(|malformed| invalid(plugin, &format!("version: {malformed}")))?;
    let missing: Vec<String> =
        requires.iter().filter(|name| !CAPABILITIES.contains(&name.as_str())).map(|name| format!("`{name}`")).collect();
    if !missing.is_empty() {
        let message = format!("plugin {} requires what this engine lacks: {}", plugin.path, missing.join(", "));
        return Err(fault("E462", message, Some("use a newer engine, or an older version of the plugin")));
    }
    Ok((requires, offers))
}

fn check_layout(plugin: &Plugin) -> Result<(), LoadFault> {
    if plugin.table.layout.is_null() {
        return Ok(());
    }
    let refused = |what: &str| {
        let message = format!("plugin {} was built with other boundary types: {}", plugin.path, one_line(what));
        fault("E464", message, Some("build it again with the plugin SDK of this engine"))
    };
    // SAFETY: the table is the plugin's own; its pointers are as good as the plugin.
    let kit = unsafe { plugin.table.layout_kit.text() }.unwrap_or_default();
    if kit != layout::KIT {
        return Err(refused(&format!("they are described by {kit:?}, this engine uses {:?}", layout::KIT)));
    }
    // SAFETY: the description was made by the same kit.
    let compared = catch_unwind(AssertUnwindSafe(|| unsafe { layout::compare(plugin.table.layout) }));
    compared.unwrap_or_else(|_| Err("the comparison failed".into())).map_err(|what| refused(&what))
}

/// Calls the entry point.
fn enter(plugin: &Plugin) -> Result<Item, LoadFault> {
    let failed = |what: String| {
        // The plugin and the call are named in front of it already.
        let what = what.strip_prefix(&plugin.breach("load", "")).unwrap_or(&what);
        let message = format!("plugin {} failed while loading: {}", plugin.path, one_line(what));
        fault("E465", message, Some("report it to the author of the plugin"))
    };
    let mut reply = Reply::EMPTY;
    // SAFETY: the reply may be written.
    let status = plugin.run("load", plugin.table.load, |load, _| unsafe { load(&raw mut reply) }).map_err(failed)?;
    match plugin.answer("load", status, &mut reply).map_err(failed)? {
        (Answer::Done, item) => Ok(item),
        _ => Err(failed(format!("its entry point gave the status {status}"))),
    }
}

fn invalid(plugin: &Plugin, what: &str) -> LoadFault {
    let message = format!("plugin {}: {}", plugin.path, one_line(what));
    fault("E466", message, Some("report it to the author of the plugin"))
}

type Found = (&'static clinker_format::Descriptor, Codes);

fn register(plugin: &Plugin, registrations: &Item) -> Result<(Vec<Found>, Vec<Vec<CorpusFile>>), LoadFault> {
    let items = registrations.items();
    if items.is_empty() {
        return Err(invalid(plugin, "it registers no format"));
    }
    let found: Result<Vec<_>, _> = items.iter().map(registration::read).collect();
    let found = found.map_err(|what| invalid(plugin, &what))?;
    for (descriptor, _) in &found {
        if let Some(missing) = missing_functions(plugin, descriptor) {
            let what = format!("format `{}`: the table lacks `{missing}`", descriptor.name);
            return Err(invalid(plugin, &what));
        }
    }
    let shipped = items.iter().zip(&found).map(|(item, (descriptor, _))| corpus::read(item, descriptor));
    let shipped = shipped.collect::<Result<_, _>>().map_err(|what: String| invalid(plugin, &what))?;
    Ok((found, shipped))
}

/// The first function that a direction of a format needs and the table lacks.
fn missing_functions(plugin: &Plugin, descriptor: &clinker_format::Descriptor) -> Option<&'static str> {
    let table = &plugin.table;
    let reading = [
        ("bind_reader", table.bind_reader.is_some()),
        ("open", table.open.is_some()),
        ("cut", table.cut.is_some()),
        ("decode", table.decode.is_some()),
        ("row_text", table.row_text.is_some()),
    ];
    let writing = [
        ("bind_writer", table.bind_writer.is_some()),
        ("writer_open", table.writer_open.is_some()),
        ("writer_columns", table.writer_columns.is_some()),
        ("writer_records", table.writer_records.is_some()),
        ("writer_finish", table.writer_finish.is_some()),
    ];
    let lacking = |functions: [(&'static str, bool); 5]| functions.into_iter().find(|(_, there)| !there);
    let read = descriptor.read.as_ref().and_then(|_| lacking(reading));
    read.or_else(|| descriptor.write.as_ref().and_then(|_| lacking(writing))).map(|(name, _)| name)
}

fn named(
    plugin: &'static Plugin,
    found: Vec<Found>,
    facts: &PluginFacts,
) -> Result<Vec<&'static dyn Format>, LoadFault> {
    let mut formats: Vec<&'static dyn Format> = Vec::new();
    for (at, (descriptor, codes)) in found.into_iter().enumerate() {
        if formats.iter().any(|format| format.descriptor().name == descriptor.name) {
            let message = format!("plugin {} registers the format `{}` twice", plugin.path, descriptor.name);
            return Err(fault("E463", message, Some("report it to the author of the plugin")));
        }
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        let facts = PluginFacts { codes: codes.0.clone(), ..facts.clone() };
        formats.push(Box::leak(Box::new(PluginFormat { plugin, at, descriptor, codes: Arc::new(codes), facts })));
    }
    Ok(formats)
}
