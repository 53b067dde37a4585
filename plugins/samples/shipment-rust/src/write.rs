//! Writing: rows in order, between a header and a trailer that counts what was written.

use std::io;
use std::sync::Arc;

use clinker_plugin_sdk::arrow_array::Array;
use clinker_plugin_sdk::{Encoded, Encoder, OutputColumn, OutputRows, RefusedRow, WriteFactory, Writer};

pub struct Output {
    pub batch: Option<String>,
}

impl WriteFactory for Output {
    fn encoder(&self) -> Option<Arc<dyn Encoder>> {
        // The header stands in front of the first record: the writer takes the rows itself.
        None
    }

    fn writer(&self, _header: bool) -> Box<dyn Writer> {
        Box::new(Lines { batch: self.batch.clone(), opened: None, count: 0 })
    }
}

struct Lines {
    batch: Option<String>,
    /// The batch of the header that was written.
    opened: Option<String>,
    count: u64,
}

impl Writer for Lines {
    fn columns(&mut self, _names: &[Arc<str>], _out: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }

    fn rows(&mut self, rows: &OutputRows, out: &mut Encoded) {
        let column = |name: &str| rows.names.iter().position(|own| &**own == name).map(|at| &rows.columns[at]);
        let cell = |name: &str, row: usize| match column(name) {
            Some(OutputColumn::Text(texts)) if !texts.is_null(row) => texts.value(row),
            _ => "",
        };
        for row in 0..rows.rows {
            let line = format!("SHP|{}|{}\n", cell("id", row), cell("weight", row));
            if line.matches('|').count() != 2 || line.matches('\n').count() != 1 {
                out.refused.push(RefusedRow {
                    row: row as u32,
                    code: "E443".into(),
                    category: None,
                    column: "id".into(),
                    value: cell("id", row).to_owned(),
                    reason: "a bar or a line break cannot be written".into(),
                });
                return;
            }
            if self.opened.is_none() {
                let batch = self.batch.clone().or_else(|| batch_of(rows, row)).unwrap_or_default();
                out.bytes.extend_from_slice(format!("HDR|{batch}\n").as_bytes());
                self.opened = Some(batch);
            }
            out.bytes.extend_from_slice(line.as_bytes());
            out.ends.push(out.bytes.len() as u32);
            self.count += 1;
        }
    }

    fn records(&mut self, bytes: &[u8], _ends: &[u32], out: &mut dyn io::Write) -> io::Result<()> {
        out.write_all(bytes)
    }

    fn finish(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        match &self.opened {
            Some(batch) => writeln!(out, "TRL|{}|{batch}", self.count),
            None => Ok(()),
        }
    }
}

/// The batch that a row was read from.
fn batch_of(rows: &OutputRows, row: usize) -> Option<String> {
    let level = rows.levels.of_row(row)?;
    let sections = rows.levels.chain(level).flat_map(|level| &level.sections);
    sections.filter_map(|section| section.field("batch")).next().map(str::to_owned)
}
