//! Diagnostic codes, source spans, labels and their rendering.
//!
//! A [`Diagnostic`] is what a user reads when something is wrong: a registered code, one message, the places it
//! concerns and a way out. [`codes`] is the one table of codes; [`render`] draws reports.

pub mod codes;
mod nearest;
pub mod render;
mod report;

pub use nearest::{name_suggestion, nearest, nearest_name, suggestion};
pub use render::{Style, render};
pub use report::{Diagnostic, Label, Origin, Quote, Severity, SourceText, Span};
