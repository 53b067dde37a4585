//! Formats of plugins: blocks to columns.

use std::collections::HashSet;
use std::sync::Arc;

use clinker_format::{Block, Decoded, Decoder, Fault, RowText, ShapeRun};
use clinker_plugin_abi::owned::Lent;
use clinker_plugin_abi::types::{self, ArrowArray, ArrowSchema};
use clinker_plugin_abi::{Item, Reply};
use clinker_record::cast::Cells;

use crate::calls::{Answer, Asked, Handle, Session};
use crate::cells;
use crate::reading::{Calls, Context, Shared};
use crate::rejected;
use crate::strings::Given;

/// Decodes the blocks of one file.
pub(crate) struct PluginDecoder {
    pub handle: Handle,
    pub shared: Arc<Shared>,
}

/// A block in the form of the boundary. `lent` holds its bytes.
fn block_of(block: &Block, lent: &Lent) -> types::Block {
    let context = block.context.as_ref().and_then(|context| context.downcast_ref::<Context>());
    types::Block {
        data: lent.bytes(),
        rows: u64::from(block.rows),
        first_row: block.first_row,
        first_line: block.first_line,
        offset: block.offset,
        context: context.map_or(std::ptr::null_mut(), |context| context.handle.raw),
    }
}

impl Decoder for PluginDecoder {
    fn decode(&self, block: &Block, wanted: &[usize]) -> Decoded {
        let calls = Calls { plugin: self.handle.plugin, name: "decode" };
        self.decoded(calls, block, wanted).unwrap_or_else(|what| Decoded {
            cells: wanted.iter().map(|_| Cells::Absent(0)).collect(),
            accepted: Some(Vec::new()),
            fault: Some(what),
            ..Decoded::default()
        })
    }

    fn row_text(&self, block: &Block, row: u32) -> RowText {
        // The engine asks with `try_row_text`.
        self.try_row_text(block, row).unwrap_or(RowText { line: 0, offset: 0, raw: String::new() })
    }

    fn try_row_text(&self, block: &Block, row: u32) -> Result<RowText, Fault> {
        let plugin = self.handle.plugin;
        let calls = Calls { plugin, name: "row_text" };
        let lent = Lent::new(block.data.clone());
        let given = block_of(block, &lent);
        let mut reply = Reply::EMPTY;
        let status = plugin.run("row_text", plugin.table.row_text, |row_text, _| {
            // SAFETY: everything is valid for the call.
            unsafe { row_text(self.handle.raw, &given, u64::from(row), &raw mut reply) }
        });
        let said = status.and_then(|status| plugin.answer("row_text", status, &mut reply));
        let (answer, item) = said.map_err(|reason| Fault::Contract { reason })?;
        let parts = item.get("line").number().zip(item.get("offset").number()).zip(item.get("raw").text());
        let Some(((line, offset), raw)) = parts.filter(|_| answer == Answer::Done) else {
            return Err(calls.breach("it gave no line, offset and text"));
        };
        if !(block.offset..=block.offset + block.data.len() as u64).contains(&offset) {
            return Err(calls.breach(&format!("row {row} stands at byte {offset}, outside of its block")));
        }
        Ok(RowText { line, offset, raw: raw.to_owned() })
    }
}

impl PluginDecoder {
    fn decoded(&self, calls: Calls, block: &Block, wanted: &[usize]) -> Result<Decoded, Fault> {
        if let Some(outside) = wanted.iter().find(|at| **at >= self.shared.columns) {
            return Err(calls.breach(&format!("it opened a file without a column {outside}")));
        }
        let plugin = calls.plugin;
        let lent = Lent::new(block.data.clone());
        let given = block_of(block, &lent);
        let places: Vec<u64> = wanted.iter().map(|at| *at as u64).collect();
        let mut out = types::Decoded {
            schema: ArrowSchema::empty(),
            array: ArrowArray::empty(),
            rejected_schema: ArrowSchema::empty(),
            rejected: ArrowArray::empty(),
            reply: Reply::EMPTY,
        };
        let mut asked = Asked::default();
        let status = plugin.run("decode", plugin.table.decode, |decode, guard| {
            let mut session = Session::new(guard);
            let call = session.call();
            // SAFETY: everything is valid for the call.
            let status = unsafe { decode(self.handle.raw, &call, &given, places.as_ptr(), places.len(), &raw mut out) };
            asked = session.asked();
            status
        });
        // Whatever came is released, whatever it is.
        let rows = Given::take(&mut out.schema, &mut out.array);
        let refused = Given::take(&mut out.rejected_schema, &mut out.rejected);
        let said = status.and_then(|status| plugin.answer("decode", status, &mut out.reply));
        let (answer, item) = said.map_err(|reason| Fault::Contract { reason })?;
        if let Some(misused) = asked.misused {
            return Err(calls.breach(&misused));
        }
        if answer == Answer::Host && (crate::watch::surroundings().cancelled)() {
            return Err(Fault::Io(std::io::ErrorKind::Interrupted.into()));
        }
        if answer != Answer::Done {
            return Err(calls.breach(&format!("it answered {answer:?}")));
        }
        let breach = |what: String| calls.breach(&what);
        let rows = rows.map_err(breach)?.ok_or_else(|| calls.breach("it gave no columns"))?;
        let refused = refused.map_err(breach)?;
        // Before anything is looked at: columns as long as a false count says lie anywhere.
        let (good, bad) = (rows.rows, refused.as_ref().map_or(0, |batch| batch.rows));
        if good.checked_add(bad).is_none_or(|sum| sum > block.rows as usize) {
            return Err(calls.breach(&format!(
                "{good} rows and {bad} rejected ones are more than the {} of the block",
                block.rows
            )));
        }
        let rejected = match &refused {
            Some(batch) => rejected::read(batch, block, &self.shared.codes).map_err(breach)?,
            None => Vec::new(),
        };
        let fault = match item.get("fault") {
            Item::Null => None,
            fault => Some(calls.fault(fault, &self.shared.codes)),
        };
        let mut decoded = columns(block, wanted.len(), &rows, item.get("shapes")).map_err(breach)?;
        decoded.accepted = accepted(block.rows, rows.rows, &rejected, fault.is_some()).map_err(breach)?;
        (decoded.rejected, decoded.fault) = (rejected, fault);
        Ok(decoded)
    }
}

/// Checks the columns and makes cells of them.
fn columns(block: &Block, wanted: usize, rows: &Given, shapes: &Item) -> Result<Decoded, String> {
    if rows.width < wanted {
        return Err(format!("it gave {} columns of the {wanted} that were wanted", rows.width));
    }
    let given = cells::Given::new(&block.data);
    let mut decoded = Decoded { rows: rows.rows, ..Decoded::default() };
    let mut names = HashSet::new();
    for at in 0..rows.width {
        let child = rows.child(at)?;
        let cells = Cells::Text(given.cells(&child)?);
        if at < wanted {
            decoded.cells.push(cells);
        } else {
            if !names.insert(child.name) {
                return Err(format!("two further columns have the name {:?}", child.name));
            }
            decoded.undeclared.push((child.name.into(), cells));
        }
    }
    decoded.shapes = shape_runs(shapes, rows.rows, decoded.undeclared.len())?;
    Ok(decoded)
}

/// Which rows of the block were accepted: those that were not rejected.
fn accepted(
    block: u32,
    rows: usize,
    rejected: &[clinker_format::RejectedRow],
    ended: bool,
) -> Result<Option<Vec<u32>>, String> {
    let sum = rows + rejected.len();
    if sum != block as usize && !(ended && sum < block as usize) {
        return Err(format!("{rows} rows and {} rejected ones do not make the {block} of the block", rejected.len()));
    }
    if rejected.last().is_some_and(|last| last.row as usize >= sum) {
        return Err("a row is rejected behind the fault that ends the file".into());
    }
    if rejected.is_empty() && !ended {
        return Ok(None);
    }
    let mut rest = rejected.iter().map(|row| row.row).peekable();
    let positions = (0..block).filter(|row| rest.next_if_eq(row).is_none()).take(rows);
    Ok(Some(positions.collect()))
}

/// The order of undeclared fields, as words: rows, number of fields, fields.
fn shape_runs(item: &Item, rows: usize, fields: usize) -> Result<Vec<ShapeRun>, String> {
    let wrong = || "the shapes of its rows do not add up".to_owned();
    let (words, rest) = item.bytes().unwrap_or_default().as_chunks::<4>();
    if !rest.is_empty() || (words.is_empty() && fields > 0 && rows > 0) {
        return Err(wrong());
    }
    let mut words = words.iter().map(|word| u32::from_le_bytes(*word));
    let (mut runs, mut sum) = (Vec::new(), 0);
    while let Some(count) = words.next() {
        let held = words.next().ok_or_else(wrong)? as usize;
        let named: Vec<u32> = words.by_ref().take(held.min(fields)).collect();
        if named.len() != held || named.iter().any(|field| *field as usize >= fields) {
            return Err(wrong());
        }
        sum += count as usize;
        runs.push(ShapeRun { rows: count as usize, fields: named });
    }
    if runs.is_empty() || sum == rows { Ok(runs) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_15_2_row_counts_must_add_up() {
        let refused = |row| clinker_format::RejectedRow {
            row,
            code: "E423",
            line: 1,
            offset: 0,
            reason: String::new(),
            raw: String::new(),
        };
        assert_eq!(accepted(3, 3, &[], false), Ok(None));
        assert_eq!(accepted(4, 2, &[refused(0), refused(2)], false), Ok(Some(vec![1, 3])));
        assert_eq!(accepted(4, 1, &[refused(0)], true), Ok(Some(vec![1])));
        assert!(accepted(3, 2, &[], false).is_err());
        assert!(accepted(3, 3, &[refused(0)], false).is_err());
        assert!(accepted(3, 4, &[], true).is_err());
    }

    #[test]
    fn formats_15_3_shapes_name_fields_that_exist() {
        let words = |words: &[u32]| Item::Bytes(words.iter().flat_map(|word| word.to_le_bytes()).collect());
        let runs = shape_runs(&words(&[2, 1, 0, 1, 0]), 3, 1).unwrap();
        assert_eq!(runs, [ShapeRun { rows: 2, fields: vec![0] }, ShapeRun { rows: 1, fields: vec![] }]);
        for bad in [&[2, 1, 1, 1, 0][..], &[2, 1, 0], &[3, 9, 0], &[3]] {
            assert!(shape_runs(&words(bad), 3, 1).is_err(), "{bad:?}");
        }
        assert!(shape_runs(&Item::Null, 3, 1).is_err());
        assert_eq!(shape_runs(&Item::Null, 3, 0), Ok(Vec::new()));
    }
}
