//! Text forms of values: cells of CSV outputs and dead-letter files, the text form of CXL, previews in messages.
//!
//! Everything appends to a byte buffer, so that a writer needs no allocation per cell. What is appended is UTF-8.

mod cells;
mod excerpt;
mod scalars;
#[cfg(test)]
mod tests;

pub use cells::CellWriter;
pub use excerpt::{PREVIEW_BYTES, RawRow, preview, preview_bytes, raw_row};
pub(crate) use scalars::into_string;
pub use scalars::{
    append_bool, append_cell, append_date, append_date_time, append_decimal, append_float, append_int,
    append_json_float, append_rfc3339, append_text_form, cell, text_form,
};
