//! Records in columns: types, values, batches, the one cast, origins and failures.
//!
//! A [`Batch`] holds rows as Arrow columns. Decoders deliver [`TextCells`] or native columns; [`cast`] (admission)
//! turns them into columns of declared types or says which rows do not fit. A row that fails is one [`Failure`]
//! with a reason, travelling beside the batch it came from.

pub mod batch;
pub mod cast;
pub mod cells;
pub mod column;
pub mod datetime;
pub mod decimal;
pub mod failure;
pub mod json;
pub mod key;
pub mod level;
pub mod origin;
pub mod stored;
pub mod text;
pub mod types;
pub mod undeclared;
pub mod value;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use batch::{Batch, Schema, SchemaRef};
pub use cells::{CellRef, JsonCells, JsonKind, TextCells};
pub use column::Column;
pub use decimal::Decimal;
pub use failure::{Category, Failure};
pub use level::{Frame, Level, LevelRun, Section};
pub use origin::{Origin, OriginRun};
pub use types::{Kind, Type};
pub use undeclared::{Undeclared, Widened};
pub use value::Value;
