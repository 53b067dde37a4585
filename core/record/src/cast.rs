//! Admission: the one cast from what a reader delivers to declared types.
//!
//! [`admit`] takes the cells of a block column by column. Each column is one tight loop over bytes; a row that fails is
//! only noted there, and its reason is found afterwards by [`admit_cell`], the plain cast of a single cell. Nothing is
//! trimmed, guessed, rounded or matched against null words; what is accepted is the table of `formats.md` 1.4, and:
//!
//! - `int` is an optional sign and ASCII digits within 64 bits: `+1` and `007` are accepted, `1.0` and `1e3` are not.
//! - `float` is an optional sign, digits with an optional fraction (`5.` and `.5` are accepted) and an optional
//!   exponent. `inf` and `nan` fail, and so does what overflows; what underflows is the nearest number, which may be zero.
//! - `decimal` is an optional sign, digits and an optional fraction with at least one digit, without exponent.

mod columns;
mod json_cells;
#[cfg(test)]
mod json_tests;
#[cfg(test)]
mod oracle;
mod primitives;
mod report;
mod scalar;
mod split;
#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::sync::Arc;

pub use columns::{text_column, untyped_column};
pub use primitives::{parse_bool, parse_float, parse_int};
pub use report::{E126Lines, append_original, original_text};
pub use scalar::{Cell, Rejection, admit_cell};

use crate::datetime::DateFormat;
use crate::json::Json;
use crate::{Category, Column, JsonCells, TextCells, Type, Value};

/// One declared column as a reader delivers it.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Text.
    Text(TextCells),
    /// Typed values.
    Native(Column),
    /// JSON values.
    Json(JsonCells),
    /// The input does not have this column; the number of rows.
    Absent(usize),
}

impl Cells {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Cells::Text(cells) => cells.len(),
            Cells::Native(column) => column.len(),
            Cells::Json(cells) => cells.kinds.len(),
            Cells::Absent(rows) => *rows,
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a cell that is delivered as text.
    pub fn bytes(&self, row: usize) -> Option<&[u8]> {
        match self {
            Cells::Text(cells) => cells.bytes(row),
            Cells::Native(_) | Cells::Json(_) | Cells::Absent(_) => None,
        }
    }

    /// The text of a cell that is delivered as text.
    pub fn text(&self, row: usize) -> Option<&str> {
        match self {
            Cells::Text(cells) => cells.text(row),
            Cells::Native(_) | Cells::Json(_) | Cells::Absent(_) => None,
        }
    }
}

/// How a cell's text is cut into several values: an entry of `split_values`.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitRule {
    /// What stands between two values. Not empty, unless the cell is JSON.
    pub delimiter: String,
    /// The character that makes the next one literal.
    pub escape: Option<char>,
    /// The whole cell is a JSON array instead.
    pub json: bool,
}

/// What a declared column admits.
#[derive(Clone, Debug)]
pub struct AdmitRule {
    /// The exposed name.
    pub name: Arc<str>,
    /// The declared type; of one element where `multiple` is set.
    pub ty: Type,
    /// The column holds an array of values.
    pub multiple: bool,
    /// How text is cut into the values of a multiple column.
    pub split: Option<SplitRule>,
    /// Absent and null fail, whatever the type.
    pub required: bool,
    /// What replaces an absent or null cell. An empty text is neither.
    pub default: Option<Value>,
    /// The only texts admitted.
    pub enumeration: Option<Vec<String>>,
    /// Whether values of another native type, text included, are converted.
    pub coerce: bool,
    /// The formats of dates and date-times, tried in order; none for the default forms.
    pub formats: Vec<DateFormat>,
    /// The most digits of a decimal's unscaled value.
    pub precision: Option<u8>,
    /// The digits after the point that a decimal is stored with.
    pub scale: Option<u8>,
}

impl AdmitRule {
    /// A rule that says no more than name and type.
    pub fn new(name: impl Into<Arc<str>>, ty: Type) -> AdmitRule {
        AdmitRule {
            name: name.into(),
            ty,
            multiple: false,
            split: None,
            required: false,
            default: None,
            enumeration: None,
            coerce: true,
            formats: Vec::new(),
            precision: None,
            scale: None,
        }
    }
}

/// Why a row is not admitted.
#[derive(Clone, Debug, PartialEq)]
pub struct CellFailure {
    /// Position of the row among the cells.
    pub row: u32,
    /// Position of the column that decided.
    pub column: usize,
    /// The category of the dead letter.
    pub category: Category,
    /// The reason part of the E126 line, or of the E422 message of a structural failure.
    pub reason: String,
    /// The form of the cell is broken (E422: a JSON array that is none), not its value (E126).
    pub structural: bool,
}

/// Cells turned into columns of the declared types.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// One column a rule. A row that failed holds arbitrary values: the caller drops it.
    pub columns: Vec<Column>,
    /// The rows that failed, in order, each once: for the first declared column whose form is broken, or else for the
    /// first one that does not admit its cell.
    pub failures: Vec<CellFailure>,
}

/// A failing cell, before its reason is known.
#[derive(Clone, Copy, Debug)]
struct Failing {
    row: u32,
    column: u32,
    structural: bool,
}

/// Admits `rows` rows of cells, one entry of `cells` a rule.
///
/// # Panics
/// When `cells` does not match `rules` and `rows`.
pub fn admit<R: Borrow<AdmitRule>>(rules: &[R], cells: &[Cells], rows: usize) -> Admitted {
    assert_eq!(rules.len(), cells.len(), "each rule has its cells");
    let mut failing = Vec::new();
    let mut columns = Vec::with_capacity(rules.len());
    for (at, (rule, cells)) in rules.iter().zip(cells).enumerate() {
        let mut failures = columns::Failures::new(at, &mut failing);
        let column = columns::admit_column(rule.borrow(), cells, &mut failures);
        assert_eq!(column.len(), rows, "each column has all rows");
        columns.push(column);
    }
    failing.sort_unstable_by_key(|cell| (cell.row, !cell.structural, cell.column));
    failing.dedup_by_key(|cell| cell.row);
    let failures = failing.into_iter().map(|cell| explain(cell, rules, cells)).collect();
    Admitted { columns, failures }
}

/// Finds the reason of a failure by casting the cell once more, the plain way.
fn explain<R: Borrow<AdmitRule>>(failing: Failing, rules: &[R], cells: &[Cells]) -> CellFailure {
    let column = failing.column as usize;
    let rule = rules[column].borrow();
    let row = failing.row as usize;
    let result = match &cells[column] {
        Cells::Absent(_) => admit_cell(rule, Cell::Absent),
        Cells::Text(cells) => admit_cell(rule, cells.text(row).map_or(Cell::Absent, Cell::Text)),
        Cells::Native(column) => admit_cell(rule, Cell::Native(&column.value(row))),
        Cells::Json(cells) => admit_cell(rule, Cell::json(cells, row)),
    };
    let rejection = result.expect_err("the column loop and the cast of one cell accept the same");
    let category = match rejection {
        Rejection::Structural(_) => Category::StructuralValidation,
        Rejection::Missing(_) if rule.required => Category::MissingRequiredField,
        Rejection::Conversion(_) if rule.required => Category::RequiredFieldConversionFailure,
        Rejection::Missing(_) | Rejection::Conversion(_) => Category::TypeCoercionFailure,
    };
    let structural = matches!(rejection, Rejection::Structural(_));
    CellFailure { row: failing.row, column, category, reason: rejection.into_reason(), structural }
}
