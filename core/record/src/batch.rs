//! Batches and schemas.

use std::sync::Arc;

use crate::{Column, LevelRun, Origin, OriginRun, Type, Undeclared, Widened};

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

    /// Rows of several batches of one schema: each pair is a batch and a row of it. `places` are their positions in the
    /// order of effects, one a row, ascending.
    ///
    /// # Panics
    /// When a row is out of range.
    #[must_use]
    pub fn gather(schema: SchemaRef, batches: &[Batch], rows: &[(usize, usize)], places: &[u32]) -> Batch {
        let column = |at: usize| gathered(batches, rows, |batch| batch.columns[at].clone());
        let columns = (0..schema.columns.len()).map(column).collect();
        let (origin, widened) = (gathered_origin(batches, rows, places), gathered_fields(batches, rows));
        Batch { schema, columns, rows: rows.len(), origin, widened }
    }

    /// The rows of several batches of one schema, one after the other; their places are counted anew.
    #[must_use]
    pub fn concat(schema: SchemaRef, batches: &[Batch]) -> Batch {
        let rows = batches.iter().map(|batch| batch.rows).sum();
        let pairs = || batches.iter().enumerate().flat_map(|(at, batch)| (0..batch.rows).map(move |row| (at, row)));
        let column = |at: usize| Column::concat(&batches.iter().map(|batch| &batch.columns[at]).collect::<Vec<_>>());
        let columns = (0..schema.columns.len()).map(column).collect();
        let places: Vec<u32> = (0..rows as u32).collect();
        let pairs: Vec<(usize, usize)> = pairs().collect();
        let (origin, widened) = (gathered_origin(batches, &pairs, &places), gathered_fields(batches, &pairs));
        Batch { schema, columns, rows, origin, widened }
    }

    /// The same rows with text of their own, apart from the block they were read from.
    #[must_use]
    pub fn compact(self) -> Batch {
        let columns = self.columns.into_iter().map(Column::compact).collect();
        Batch { columns, widened: self.widened.compact(), ..self }
    }

    /// Bytes that the rows hold, shared buffers included.
    pub fn memory_size(&self) -> usize {
        let columns = self.columns.iter().map(Column::memory_size).sum::<usize>();
        columns + self.widened.fields().iter().map(|field| field.column.memory_size()).sum::<usize>()
    }
}

/// The rows of a column that `of` gives for each batch.
fn gathered(batches: &[Batch], rows: &[(usize, usize)], of: impl Fn(&Batch) -> Column) -> Column {
    let columns: Vec<Column> = batches.iter().map(of).collect();
    Column::gather(&columns.iter().collect::<Vec<_>>(), rows)
}

/// The undeclared fields of all batches, by name.
fn gathered_fields(batches: &[Batch], rows: &[(usize, usize)]) -> Undeclared {
    let mut names: Vec<Arc<str>> = Vec::new();
    // For each batch the common position of each of its fields.
    let mut positions: Vec<Vec<u32>> = Vec::new();
    for batch in batches {
        let place = |field: &Widened| {
            let known = names.iter().position(|name| *name == field.name).unwrap_or_else(|| {
                names.push(Arc::clone(&field.name));
                names.len() - 1
            });
            known as u32
        };
        positions.push(batch.widened.fields().iter().map(place).collect());
    }
    if names.is_empty() {
        return Undeclared::default();
    }
    let field = |name: &Arc<str>| {
        let of = |batch: &Batch| match batch.widened.field(name) {
            Some(field) => field.column.clone(),
            None => Column::Null(batch.rows),
        };
        Widened { name: Arc::clone(name), column: gathered(batches, rows, of) }
    };
    let shape = |(batch, row): &(usize, usize)| {
        let own = batches[*batch].widened.of_row(*row);
        (1, own.into_iter().map(|field| positions[*batch][field as usize]).collect())
    };
    Undeclared::by_runs(names.iter().map(field).collect(), rows.iter().map(shape))
}

fn gathered_origin(batches: &[Batch], rows: &[(usize, usize)], places: &[u32]) -> Origin {
    let run = |(place, (batch, row)): (&u32, &(usize, usize))| {
        let (run, distance) = batches[*batch].origin.locate(*row);
        OriginRun { start: *place, row: run.row + distance, ordinal: run.ordinal + distance, ..*run }
    };
    let runs: Arc<[OriginRun]> = places.iter().zip(rows).map(run).collect();
    let in_place = places.iter().enumerate().all(|(at, place)| *place == at as u32);
    let origin = Origin::block(runs);
    let origin = if in_place { origin } else { origin.take(places) };
    if batches.iter().all(|batch| batch.origin.levels().is_none()) {
        return origin;
    }
    let level = |(place, (batch, row)): (&u32, &(usize, usize))| LevelRun {
        start: *place,
        level: batches[*batch].origin.level(*row).cloned(),
    };
    origin.inside(places.iter().zip(rows).map(level).collect())
}
