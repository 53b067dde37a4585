//! Dead letters: every rejected row with its reason.
//!
//! A row is rendered in two steps. Everything that depends only on the row (field, value, category, detail, record
//! columns) is rendered by [`Layout`] wherever the failure was found, on any thread, with room for the rest. Identity and
//! time are filled in by [`DeadLetterFile`] when the failure takes its place in the order of the input, so that ids order
//! as the rows do.

mod file;
pub mod ids;
mod layout;

pub use file::{DeadLetterFile, Worst};
pub use ids::{Clock, IdSource, SystemClock};
pub use layout::{Cause, ColumnMap, Detail, Frame, Layout, Letter, METADATA, SOURCE_RECORD, double_quotes};
