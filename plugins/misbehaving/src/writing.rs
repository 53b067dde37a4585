//! Lines of nothing, with every lie.

use std::io;
use std::sync::Arc;

use clinker_plugin_sdk::{Encoded, Encoder, OutputRows, RefusedRow, WriteFactory, Writer};

pub struct Output {
    pub how: Arc<str>,
}

impl WriteFactory for Output {
    fn encoder(&self) -> Option<Arc<dyn Encoder>> {
        if &*self.how == "panic_rows" {
            return None;
        }
        Some(Arc::new(Lines { how: Arc::clone(&self.how) }))
    }

    fn writer(&self, _header: bool) -> Box<dyn Writer> {
        assert!(&*self.how != "panic_writer", "as asked");
        Box::new(Lines { how: Arc::clone(&self.how) })
    }
}

struct Lines {
    how: Arc<str>,
}

impl Encoder for Lines {
    fn encode(&self, rows: &OutputRows, out: &mut Encoded) {
        assert!(&*self.how != "panic_encode", "as asked");
        for row in 0..rows.rows {
            out.bytes.extend_from_slice(b"line\n");
            out.ends.push(out.bytes.len() as u32);
            if &*self.how == "refused_beyond" {
                out.refused.push(RefusedRow {
                    row: row as u32 + 1000,
                    code: "E443".into(),
                    category: None,
                    column: "a".into(),
                    value: String::new(),
                    reason: "made up".into(),
                });
            }
        }
        if &*self.how == "wrong_ends" {
            out.ends.push(1_000_000);
        }
    }
}

impl Writer for Lines {
    fn columns(&mut self, _names: &[Arc<str>], _out: &mut dyn io::Write) -> io::Result<()> {
        assert!(&*self.how != "panic_columns", "as asked");
        Ok(())
    }

    fn rows(&mut self, _rows: &OutputRows, _out: &mut Encoded) {
        panic!("as asked");
    }

    fn records(&mut self, bytes: &[u8], _ends: &[u32], out: &mut dyn io::Write) -> io::Result<()> {
        assert!(&*self.how != "panic_records", "as asked");
        out.write_all(bytes)
    }

    fn finish(&mut self, _out: &mut dyn io::Write) -> io::Result<()> {
        assert!(&*self.how != "panic_finish", "as asked");
        Ok(())
    }
}
