//! Dead letters: every rejected row with its reason.
//!
//! A row is rendered in two steps. Everything that depends only on the row (field, value, category, detail, record
//! columns) is rendered by [`Layout`] wherever the failure was found, on any thread. Identity and time are added by
//! [`DeadLetterFile`] when the failure takes its place in the order of the input, so that ids order as the rows do.

mod file;
pub mod ids;
mod layout;

pub use file::{DeadLetterFile, Worst};
pub use ids::{Clock, IdSource, SystemClock};
pub use layout::{ColumnMap, Layout, Letter, METADATA, SOURCE_RECORD};
