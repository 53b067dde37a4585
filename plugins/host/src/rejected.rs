//! The rejected rows of a batch.

use clinker_format::{Block, RejectedRow};

use crate::cells;
use crate::codes::{Codes, Use};
use crate::strings::Given;

/// Reads the second batch of a decoder.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn read(batch: &Given, block: &Block, codes: &Codes) -> Result<Vec<RejectedRow>, String> {
    let column = |name: &str| {
        for at in 0..batch.width {
            let child = batch.child(at)?;
            if child.name == name {
                return Ok(child);
            }
        }
        Err(format!("the rejected rows have no column `{name}`"))
    };
    let nothing = cells::Given::new(&block.data);
    let texts = |name: &str| nothing.cells(&column(name)?);
    let (code, reason, raw) = (texts("code")?, texts("reason")?, texts("raw")?);
    let rows = column("row")?.numbers::<4>("I")?;
    let lines = column("line")?.numbers::<8>("L")?;
    let offsets = column("offset")?.numbers::<8>("L")?;
    let mut found: Vec<RejectedRow> = Vec::with_capacity(batch.rows);
    for at in 0..batch.rows {
        let row = u32::from_ne_bytes(rows[at]);
        if row >= block.rows || found.last().is_some_and(|last| last.row >= row) {
            return Err(format!("rejected row {row} is out of place in a block of {} rows", block.rows));
        }
        let text = code.text(at).unwrap_or_default();
        let code = codes.find(text, Use::Row).ok_or_else(|| format!("code {text:?} may not reject a row"))?;
        let offset = u64::from_ne_bytes(offsets[at]);
        if !(block.offset..=block.offset + block.data.len() as u64).contains(&offset) {
            return Err(format!("rejected row {row} stands at byte {offset}, outside of its block"));
        }
        found.push(RejectedRow {
            row,
            code,
            line: u64::from_ne_bytes(lines[at]),
            offset,
            reason: crate::calls::one_line(reason.text(at).unwrap_or_default()),
            raw: raw.text(at).unwrap_or_default().to_owned(),
        });
    }
    Ok(found)
}
