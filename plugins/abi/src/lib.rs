//! The boundary between clinker and format plugins.
//!
//! A plugin is a shared library with one symbol, [`SYMBOL`]: a [`Table`] of constants and functions that C can fill. It
//! begins with [`MAGIC`], the interface major and its own size; entries past that size are absent. Everything that may
//! grow travels as named values ([`Value`]) and as names of capabilities, so that neither side needs a new function to
//! understand the other. Batches cross by the Arrow C data interface.
//!
//! - [`types`] are the boundary types; `include/clinker_plugin.h` is made from them.
//! - [`Item`] is a named value as a Rust program holds it.
//! - [`layout`] compares the boundary types of two builds.
//! - [`guest`] is the plugin's side, made safe: a trait in, a [`Table`] out. The kit for authors is built on it.

pub mod guest;
mod item;
pub mod layout;
pub mod owned;
pub mod types;

pub use item::{Exported, Item, Malformed};
pub use types::{Bytes, Reply, Str, Strs, Table, Value};

/// The first eight bytes of a [`Table`].
pub const MAGIC: u64 = u64::from_le_bytes(*b"CLNKPLUG");
/// The interface major; both sides must have the same. It stays 0 while the interface is not frozen.
pub const MAJOR: u32 = 0;
/// The interface minor; informational.
pub const MINOR: u32 = if cfg!(feature = "future") { 2 } else { 1 };
/// The symbol under which a plugin exports its [`Table`].
pub const SYMBOL: &str = "clinker_plugin";

/// The capabilities that an engine of this version knows. A plugin may require any of them.
pub const CAPABILITIES: &[&str] = &[
    // Blocks are cut by one thread and decoded by any.
    "blocks",
    // Levels around rows: marks of blocks, and the levels of rows that are written.
    "levels",
    // Fields that the schema does not name, with the order of each row.
    "undeclared_fields",
    // Writers with a stateless half.
    "encoder",
    // Writers that are given typed columns instead of text.
    "native_columns",
    // Outputs whose column set is completed behind the last row.
    "column_union",
    #[cfg(feature = "future")]
    "future",
];
