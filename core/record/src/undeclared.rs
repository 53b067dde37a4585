//! Fields that the schema does not name.

use std::ops::Range;
use std::sync::Arc;

use crate::Column;

/// One undeclared field of the records of a batch.
#[derive(Clone, Debug)]
pub struct Widened {
    /// Input name.
    pub name: Arc<str>,
    /// Its values; null where the record lacks it, too.
    pub column: Column,
}

/// The undeclared fields of the records of a batch, in first-seen order, and which of them each record has.
#[derive(Clone, Debug, Default)]
pub struct Undeclared {
    fields: Arc<[Widened]>,
    /// None when every record has all fields in their order.
    shapes: Option<Shapes>,
}

#[derive(Clone, Debug)]
struct Shapes {
    /// Positions of fields, in the order in which a record of this shape has them.
    fields: Arc<[Vec<u32>]>,
    /// For each record its shape.
    of_row: Arc<[u32]>,
}

impl Undeclared {
    /// Fields that every record has.
    pub fn in_every_row(fields: Vec<Widened>) -> Self {
        Self { fields: fields.into(), shapes: None }
    }

    /// Fields of which each record has some: `runs` says for how many consecutive records which ones, in their order.
    pub fn by_runs(fields: Vec<Widened>, runs: impl IntoIterator<Item = (usize, Vec<u32>)>) -> Self {
        let all: Vec<u32> = (0..fields.len() as u32).collect();
        let mut shapes: Vec<Vec<u32>> = Vec::new();
        let mut of_row = Vec::new();
        for (rows, shape) in runs {
            let at = shapes.iter().position(|known| *known == shape).unwrap_or_else(|| {
                shapes.push(shape);
                shapes.len() - 1
            });
            of_row.extend(std::iter::repeat_n(at as u32, rows));
        }
        if shapes.iter().all(|shape| *shape == all) {
            return Self::in_every_row(fields);
        }
        Self { fields: fields.into(), shapes: Some(Shapes { fields: shapes.into(), of_row: of_row.into() }) }
    }

    /// All fields.
    pub fn fields(&self) -> &[Widened] {
        &self.fields
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Widened> {
        self.fields.iter().find(|field| &*field.name == name)
    }

    /// Positions of the fields that a record has, in its own order.
    pub fn of_row(&self, row: usize) -> Vec<u32> {
        match &self.shapes {
            None => (0..self.fields.len() as u32).collect(),
            Some(shapes) => shapes.fields[shapes.of_row[row] as usize].clone(),
        }
    }

    /// Consecutive records with the same fields in the same order.
    pub fn runs(&self, rows: usize) -> Vec<(Range<usize>, Vec<u32>)> {
        let Some(shapes) = &self.shapes else { return vec![(0..rows, self.of_row(0))] };
        let mut runs = Vec::new();
        let mut start = 0;
        for chunk in shapes.of_row.chunk_by(|one, next| one == next) {
            runs.push((start..start + chunk.len(), shapes.fields[chunk[0] as usize].clone()));
            start += chunk.len();
        }
        runs
    }

    /// Positions of the fields that any of these records has, in first-seen order.
    pub fn first_seen(&self, rows: usize) -> Vec<u32> {
        let mut seen: Vec<u32> = Vec::new();
        let mut shapes_seen: Vec<u32> = Vec::new();
        let Some(shapes) = &self.shapes else { return if rows == 0 { Vec::new() } else { self.of_row(0) } };
        for shape in shapes.of_row.iter() {
            if shapes_seen.contains(shape) {
                continue;
            }
            shapes_seen.push(*shape);
            for field in &shapes.fields[*shape as usize] {
                if !seen.contains(field) {
                    seen.push(*field);
                }
            }
        }
        seen
    }

    /// The same fields with text of their own.
    #[must_use]
    pub(crate) fn compact(self) -> Self {
        let compact = |side: &Widened| Widened { name: Arc::clone(&side.name), column: side.column.clone().compact() };
        Self { fields: self.fields.iter().map(compact).collect(), shapes: self.shapes }
    }

    /// The given records, in the given order.
    #[must_use]
    pub fn take(&self, rows: &[u32]) -> Self {
        let take = |side: &Widened| Widened { name: Arc::clone(&side.name), column: side.column.take(rows) };
        let shapes = self.shapes.as_ref().map(|shapes| Shapes {
            fields: Arc::clone(&shapes.fields),
            of_row: rows.iter().map(|row| shapes.of_row[*row as usize]).collect(),
        });
        Self { fields: self.fields.iter().map(take).collect(), shapes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Value};

    fn fields() -> Vec<Widened> {
        let column = |values: [i64; 3]| Column::from_values(Kind::Int, &values.map(Value::Int));
        vec![
            Widened { name: "a".into(), column: column([1, 2, 3]) },
            Widened { name: "b".into(), column: column([4, 5, 6]) },
        ]
    }

    #[test]
    fn formats_1_5_each_record_keeps_its_own_fields_in_their_order() {
        let undeclared = Undeclared::by_runs(fields(), [(1, vec![0]), (1, vec![1, 0]), (1, vec![])]);
        assert_eq!((undeclared.of_row(0), undeclared.of_row(1), undeclared.of_row(2)), (vec![0], vec![1, 0], vec![]));
        assert_eq!(undeclared.first_seen(3), [0, 1]);
        let taken = undeclared.take(&[1, 2]);
        assert_eq!(taken.first_seen(2), [1, 0], "what only other records have is not seen");
        assert_eq!(taken.runs(2), [(0..1, vec![1, 0]), (1..2, vec![])]);
        assert!(undeclared.take(&[2]).first_seen(1).is_empty());
    }

    #[test]
    fn formats_1_5_records_of_one_shape_are_one_run() {
        let undeclared = Undeclared::by_runs(fields(), [(2, vec![0, 1]), (1, vec![0, 1])]);
        assert_eq!(undeclared.runs(3), [(0..3, vec![0, 1])]);
        assert_eq!(undeclared.first_seen(3), [0, 1]);
        assert!(undeclared.take(&[]).first_seen(0).is_empty());
    }
}
