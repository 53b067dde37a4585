//! Batches and schemas.

use std::sync::Arc;

use crate::{Column, Origin, Type};

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

/// A column the schema does not name, kept beside the record in first-seen order.
#[derive(Clone, Debug)]
pub struct Widened {
    /// Input name.
    pub name: Arc<str>,
    /// Its values; null where the record lacks it.
    pub column: Column,
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
    pub widened: Arc<[Widened]>,
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
            widened: self.take_widened(rows),
        }
    }

    /// The given rows, in the given order, of the undeclared fields.
    pub fn take_widened(&self, rows: &[u32]) -> Arc<[Widened]> {
        let take = |side: &Widened| Widened { name: Arc::clone(&side.name), column: side.column.take(rows) };
        self.widened.iter().map(take).collect()
    }
}
