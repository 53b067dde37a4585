//! The header row, and the width of a first row.

use std::collections::HashMap;
use std::sync::Arc;

use clinker_format::{Block, Fault};

use crate::framing::Framing;
use crate::index::Index;

/// Physical line and byte offset of the header row, the only row of `block`: blank lines may stand in front of it.
pub fn place(framing: &Framing, block: &Block) -> (u64, u64) {
    let data = block.data.as_slice();
    let start = Index::of(framing, data, 1).row(0).start;
    (block.first_line + framing.lines(&data[..start]), block.offset + start as u64)
}

/// The names in the header row, the only row of `block`.
pub fn names(framing: &Framing, block: &Block) -> Result<Vec<Arc<str>>, Fault> {
    let data = block.data.as_slice();
    let index = Index::of(framing, data, 1);
    let row = index.row(0);
    let line = block.first_line + framing.lines(&data[..row.start]);
    if let Some(bad) = framing.charset.first_undecodable(&data[row.clone()]) {
        let at = row.start + bad.offset;
        let bytes: Vec<String> = data[at..at + bad.len].iter().map(|byte| format!("{byte:02X}")).collect();
        return Err(Fault::Corruption {
            code: "E420",
            line,
            offset: block.offset + at as u64,
            reason: format!("the header row is not valid {}: {}", framing.charset.name(), bytes.join(" ")),
            help: Some("name the file's character set with the option `encoding`".into()),
        });
    }
    let names: Vec<Arc<str>> = (0..index.width(0)).map(|cell| name(framing, data, &index, cell)).collect();
    let mut places = HashMap::new();
    for (place, name) in names.iter().enumerate() {
        if let Some(first) = places.insert(name, place) {
            let (start, ..) = index.cell(index.starts()[0], place, framing.unit);
            return Err(Fault::Corruption {
                code: "E422",
                line,
                offset: block.offset + start as u64,
                reason: format!("columns {} and {} of the header are both named `{name}`", first + 1, place + 1),
                help: Some("give each column a name of its own".into()),
            });
        }
    }
    Ok(names)
}

fn name(framing: &Framing, data: &[u8], index: &Index, cell: usize) -> Arc<str> {
    let (start, end, quoted) = index.cell(index.starts()[0], cell, framing.unit);
    let mut unquoted = Vec::new();
    let bytes = if quoted {
        framing.unquote(&data[start..end], &mut unquoted);
        &unquoted
    } else {
        &data[start..end]
    };
    let mut text = Vec::new();
    // The row was checked as a whole; its cells are whole units of it.
    framing.charset.decode(bytes, &mut text).expect("cells of a row that decodes decode");
    String::from_utf8(text).expect("decoding gives text").into()
}

/// Number of cells of the only row of `data`.
pub fn width(framing: &Framing, data: &[u8]) -> usize {
    Index::of(framing, data, 1).width(0)
}
