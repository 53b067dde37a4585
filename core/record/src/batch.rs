//! Batches and schemas.

use std::sync::Arc;

use crate::{Column, Origin, Type, Undeclared};

/// Names and types of columns, in order. Shared, never copied for a batch.
#[derive(Debug, PartialEq)]
pub struct Schema {
    /// Column name and type.
    pub columns: Vec<(Arc<str>, Type)>,
}

/// A shared schema.
pub type SchemaRef = Arc<Schema>;

impl Schema {
    /// Position of the column of that name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|(column, _)| &**column == name)
    }
}

/// Rows in columns.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Names and types of `columns`.
    pub schema: SchemaRef,
    /// One column a schema column, each `rows` long.
    pub columns: Vec<Column>,
    /// Number of rows.
    pub rows: usize,
    /// Where each row comes from.
    pub origin: Origin,
    /// Undeclared input fields.
    pub widened: Undeclared,
}

impl Batch {
    /// The given rows, in the given order, of every column.
    #[must_use]
    pub fn take(&self, rows: &[u32]) -> Batch {
        Batch {
            schema: Arc::clone(&self.schema),
            columns: self.columns.iter().map(|column| column.take(rows)).collect(),
            rows: rows.len(),
            origin: self.origin.take(rows),
            widened: self.widened.take(rows),
        }
    }
}
