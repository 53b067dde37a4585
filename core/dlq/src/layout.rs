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

use crate::file::STAMP;

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

/// What the dead letters of one cause have in common.
pub struct Cause<'a> {
    /// `$source.file`.
    pub source_file: &'a str,
    /// The Source's node name.
    pub source_name: &'a str,
    /// Field the failure names; empty when none.
    pub field: &'a str,
    /// Category.
    pub category: Category,
    /// Stage label.
    pub stage: &'a str,
    /// The branch of the nearest Route above; empty when there is none.
    pub route: &'a str,
}

/// A [`Cause`] as it stands in a file, between the cells that each row has for itself. Made once and used for many rows:
/// where everything is rejected these cells are half of what is written.
#[derive(Clone, Debug)]
pub struct Frame {
    before_row: Vec<u8>,
    before_value: Vec<u8>,
    before_detail: Vec<u8>,
    before_record: Vec<u8>,
}

/// A rejected row without identity, time and record.
pub struct Letter<'a> {
    /// What it has in common with others.
    pub frame: &'a Frame,
    /// `$source.row`.
    pub source_row: u64,
    /// Value the failure reports; empty when none.
    pub value: &'a str,
    /// Human-readable text.
    pub detail: Detail<'a>,
}

/// The human-readable text of a dead letter.
#[derive(Clone, Copy)]
pub enum Detail<'a> {
    /// Any text.
    Text(&'a str),
    /// Appends a text that has to be quoted, with its quotes doubled as by [`double_quotes`].
    Doubled(&'a dyn Fn(&mut Vec<u8>)),
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

    /// The cells of a cause.
    pub fn frame(&self, cause: &Cause<'_>) -> Frame {
        let cells = |start: &[u8], texts: &[&str]| {
            let mut cells = start.to_vec();
            for text in texts {
                cells.push(b',');
                push_cell(&mut cells, text.as_bytes());
            }
            cells
        };
        let reason: &[&str] = if self.include_reason { &[cause.category.word()] } else { &[] };
        let mut frame = Frame {
            before_row: cells(&[b' '; STAMP], &[cause.source_file, cause.source_name]),
            before_value: cells(b"", &[cause.field]),
            before_detail: cells(b"", reason),
            before_record: cells(b"", &[cause.stage, cause.route]),
        };
        frame.before_row.push(b',');
        frame.before_value.push(b',');
        // Its own failure rejected the row: it is a trigger.
        frame.before_record.extend_from_slice(b",true");
        frame
    }

    /// Appends a row, line end included, with room for the stamp. `cell` appends the text of a cell of the record.
    pub fn render(
        &self,
        letter: &Letter<'_>,
        map: &ColumnMap,
        mut cell: impl FnMut(usize, &mut Vec<u8>),
        out: &mut Vec<u8>,
    ) {
        let frame = letter.frame;
        out.extend_from_slice(&frame.before_row);
        text::append_int(letter.source_row as i64, out);
        out.extend_from_slice(&frame.before_value);
        push_cell(out, letter.value.as_bytes());
        out.extend_from_slice(&frame.before_detail);
        if self.include_reason {
            out.push(b',');
            match letter.detail {
                Detail::Text(text) => push_cell(out, text.as_bytes()),
                Detail::Doubled(append) => {
                    out.push(b'"');
                    append(out);
                    out.push(b'"');
                }
            }
        }
        out.extend_from_slice(&frame.before_record);
        for place in &map.cells {
            out.push(b',');
            if let Some(at) = place {
                let start = out.len();
                cell(*at, out);
                quote_from(out, start);
            }
        }
        out.push(b'\n');
    }
}

/// Whether a cell is quoted.
fn must_quote(text: &[u8]) -> bool {
    // The search of many bytes at once pays from about two of its steps on.
    if text.len() >= 32 {
        return memchr3(b',', b'"', b'\n', text).is_some() || memchr(b'\r', text).is_some();
    }
    // Without an early end: the compiler looks at many bytes at once.
    text.iter().fold(false, |must, byte| must | matches!(byte, b',' | b'"' | b'\r' | b'\n'))
}

/// One cell, quoted when it must be.
fn push_cell(out: &mut Vec<u8>, text: &[u8]) {
    if !must_quote(text) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    double(text, out);
    out.push(b'"');
}

/// Makes a cell of what was appended from `start` on.
fn quote_from(out: &mut Vec<u8>, start: usize) {
    if must_quote(&out[start..]) {
        let text = out.split_off(start);
        push_cell(out, &text);
    }
}

/// Appends a text that stands between quotes.
pub fn double_quotes(text: &str, out: &mut Vec<u8>) {
    double(text.as_bytes(), out);
}

fn double(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(quote) = memchr(b'"', rest) {
        out.extend_from_slice(&rest[..=quote]);
        out.push(b'"');
        rest = &rest[quote + 1..];
    }
    out.extend_from_slice(rest);
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
        let frame = layout.frame(&Cause {
            source_file: "in/a,b.csv",
            source_name: "rows",
            field: "b",
            category: Category::ValidationFailure,
            stage: "transform:t",
            route: "big",
        });
        let detail = Detail::Text("two\nlines");
        let letter = Letter { frame: &frame, source_row: 7, value: "say \"no\"", detail };
        let mut out = Vec::new();
        layout.render(&letter, &map, |at, text| text.extend_from_slice(cells[at].1.as_bytes()), &mut out);
        assert!(out.starts_with(&[b' '; STAMP]), "room for identity and time");
        String::from_utf8(out.split_off(STAMP)).expect("text")
    }

    #[test]
    fn dlq_25_cells_are_quoted_only_where_they_must_be() {
        let row = rendered(&layout(true, true), &[("b", "-7.25"), ("a", "x\r")]);
        let expected = ",\"in/a,b.csv\",rows,7,b,\"say \"\"no\"\"\",validation_failure,\"two\nlines\",transform:t,big,true,\"x\r\",-7.25\n";
        assert_eq!(row, expected);
    }

    #[test]
    fn dlq_25_a_text_that_is_quoted_in_any_case_can_be_written_piece_by_piece() {
        let layout = layout(true, false);
        let (source_file, source_name, field, stage, route) = ("f", "rows", "", "source", "");
        let category = Category::TypeCoercionFailure;
        let frame = layout.frame(&Cause { source_file, source_name, field, category, stage, route });
        let map = layout.map([]).expect("no columns");
        let rendered = |detail| {
            let mut out = Vec::new();
            layout.render(&Letter { frame: &frame, source_row: 1, value: "", detail }, &map, |_, _| {}, &mut out);
            out
        };
        let pieces = |out: &mut Vec<u8>| ["a \"b", "\"\", c", ""].iter().for_each(|piece| double_quotes(piece, out));
        assert_eq!(rendered(Detail::Doubled(&pieces)), rendered(Detail::Text("a \"b\"\", c")));
    }

    #[test]
    fn dlq_25_every_byte_for_which_a_cell_is_quoted_is_found_wherever_it_stands() {
        for length in 1..70 {
            for at in 0..length {
                for (byte, must) in [(b',', true), (b'"', true), (b'\r', true), (b'\n', true), (b';', false)] {
                    let mut text = vec![b'x'; length];
                    text[at] = byte;
                    assert_eq!(must_quote(&text), must, "{length} {at} {byte}");
                }
            }
        }
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
