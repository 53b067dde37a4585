//! The columns of a dead-letter file and the text of its rows.
//!
//! The file is always comma separated, minimally quoted, with LF line ends and UTF-8 without a mark, whatever the
//! formats of the pipeline. That is a property of dead letters, not of a format, so the few lines that write it live
//! here and depend on no format crate.

use std::sync::Arc;

use clinker_plan::DeadLetterPlan;
use clinker_plan::model::dead_letter_columns::{ERROR_CATEGORY, ERROR_DETAIL};
use clinker_record::{Category, text};
use memchr::{memchr, memchr3};

pub use clinker_plan::model::dead_letter_columns::{METADATA, SOURCE_RECORD};

/// The columns of one file.
#[derive(Clone, Debug)]
pub struct Layout {
    include_reason: bool,
    columns: Vec<Arc<str>>,
}

/// For each record column of the file the position of a record's cell, if the record has one.
#[derive(Clone, Debug)]
pub struct ColumnMap {
    cells: Vec<Option<usize>>,
}

/// A rejected row without identity, time and record.
pub struct Letter<'a> {
    /// `$source.file`.
    pub source_file: &'a str,
    /// The Source's node name.
    pub source_name: &'a str,
    /// `$source.row`.
    pub source_row: u64,
    /// Field the failure names; empty when none.
    pub field: &'a str,
    /// Value the failure reports; empty when none.
    pub value: &'a str,
    /// Category.
    pub category: Category,
    /// Human-readable text.
    pub detail: &'a str,
    /// Stage label.
    pub stage: &'a str,
    /// The branch of the nearest Route above; empty when there is none.
    pub route: &'a str,
}

impl Layout {
    /// The columns that the plan has fixed.
    pub fn new(plan: &DeadLetterPlan) -> Self {
        let columns = if plan.include_source_row { plan.record_columns.clone() } else { Vec::new() };
        Self { include_reason: plan.include_reason, columns }
    }

    /// Metadata columns, then record columns.
    pub fn header(&self) -> Vec<&str> {
        let reason = |name: &&str| self.include_reason || !matches!(*name, ERROR_CATEGORY | ERROR_DETAIL);
        METADATA.into_iter().filter(reason).chain(self.columns.iter().map(|name| &**name)).collect()
    }

    /// The header line.
    pub fn header_line(&self) -> Vec<u8> {
        let mut line = Vec::new();
        for (at, name) in self.header().into_iter().enumerate() {
            if at > 0 {
                line.push(b',');
            }
            push_cell(&mut line, name.as_bytes());
        }
        line.push(b'\n');
        line
    }

    /// Where the cells of records with these columns go.
    ///
    /// # Errors
    /// The first column that the file does not have: the plan has missed a shape.
    pub fn map<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<ColumnMap, String> {
        let mut cells = vec![None; self.columns.len()];
        if !self.columns.is_empty() {
            for (cell, name) in names.into_iter().enumerate() {
                match self.columns.iter().position(|column| &**column == name) {
                    Some(at) => cells[at] = Some(cell),
                    None => return Err(name.to_owned()),
                }
            }
        }
        Ok(ColumnMap { cells })
    }

    /// Appends everything of a row that follows its timestamp, line end included. `cell` appends the text of a cell of
    /// the record.
    pub fn render(
        &self,
        letter: &Letter<'_>,
        map: &ColumnMap,
        mut cell: impl FnMut(usize, &mut Vec<u8>),
        out: &mut Vec<u8>,
    ) {
        for text in [letter.source_file, letter.source_name] {
            out.push(b',');
            push_cell(out, text.as_bytes());
        }
        out.push(b',');
        text::append_int(letter.source_row as i64, out);
        for text in [letter.field, letter.value] {
            out.push(b',');
            push_cell(out, text.as_bytes());
        }
        if self.include_reason {
            for text in [letter.category.word(), letter.detail] {
                out.push(b',');
                push_cell(out, text.as_bytes());
            }
        }
        for text in [letter.stage, letter.route] {
            out.push(b',');
            push_cell(out, text.as_bytes());
        }
        // Its own failure rejected the row: it is a trigger.
        out.extend_from_slice(b",true");
        let mut text = Vec::with_capacity(64);
        for place in &map.cells {
            out.push(b',');
            if let Some(at) = place {
                text.clear();
                cell(*at, &mut text);
                push_cell(out, &text);
            }
        }
        out.push(b'\n');
    }
}

/// The bytes for which a cell is quoted.
const MUST_QUOTE: [bool; 256] = {
    let mut table = [false; 256];
    table[b',' as usize] = true;
    table[b'"' as usize] = true;
    table[b'\r' as usize] = true;
    table[b'\n' as usize] = true;
    table
};

/// One cell, quoted when it must be.
fn push_cell(out: &mut Vec<u8>, text: &[u8]) {
    // The search of many bytes at once pays from about two of its steps on.
    let plain = if text.len() < 32 {
        !text.iter().any(|byte| MUST_QUOTE[usize::from(*byte)])
    } else {
        memchr3(b',', b'"', b'\n', text).is_none() && memchr(b'\r', text).is_none()
    };
    if plain {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    let mut rest = text;
    while let Some(quote) = memchr(b'"', rest) {
        out.extend_from_slice(&rest[..=quote]);
        out.push(b'"');
        rest = &rest[quote + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(include_reason: bool, include_source_row: bool) -> Layout {
        Layout::new(&DeadLetterPlan {
            path: String::new(),
            fallback: true,
            sources: Vec::new(),
            include_reason,
            include_source_row,
            record_columns: vec!["a".into(), "b".into()],
        })
    }

    fn rendered(layout: &Layout, cells: &[(&str, &str)]) -> String {
        let map = layout.map(cells.iter().map(|(name, _)| *name)).expect("known columns");
        let letter = Letter {
            source_file: "in/a,b.csv",
            source_name: "rows",
            source_row: 7,
            field: "b",
            value: "say \"no\"",
            category: Category::ValidationFailure,
            detail: "two\nlines",
            stage: "transform:t",
            route: "big",
        };
        let mut out = Vec::new();
        layout.render(&letter, &map, |at, text| text.extend_from_slice(cells[at].1.as_bytes()), &mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn dlq_25_cells_are_quoted_only_where_they_must_be() {
        let row = rendered(&layout(true, true), &[("b", "-7.25"), ("a", "x\r")]);
        let expected = ",\"in/a,b.csv\",rows,7,b,\"say \"\"no\"\"\",validation_failure,\"two\nlines\",transform:t,big,true,\"x\r\",-7.25\n";
        assert_eq!(row, expected);
    }

    #[test]
    fn dlq_51_columns_follow_the_plan_and_absent_ones_are_empty() {
        assert!(rendered(&layout(true, true), &[("b", "1")]).ends_with(",true,,1\n"));
        assert_eq!(layout(false, false).header().len(), METADATA.len() - 2);
        assert!(rendered(&layout(false, false), &[]).ends_with("\",transform:t,big,true\n"));
    }

    #[test]
    fn dlq_53_a_record_column_outside_the_header_is_never_dropped_in_silence() {
        assert_eq!(layout(true, true).map(["a", "c"]).expect_err("c is not in the header"), "c");
    }
}
