//! A dead-letter file that is being written.

use std::io::{self, Write};
use std::sync::Arc;

use clinker_record::{Category, text};

use crate::{IdSource, Layout};

/// The one buffer in front of the staged copy.
const BUFFER: usize = 64 << 10;

/// Writes rows as they occur, through one buffer of fixed size: memory does not depend on how many rows fail.
pub struct DeadLetterFile<W: Write> {
    out: W,
    buffer: Vec<u8>,
    rows: u64,
}

/// How many dead letters each stage and category has, for the one message that names the worst.
#[derive(Debug, Default)]
pub struct Worst {
    counts: Vec<(Arc<str>, Category, u64)>,
}

impl Worst {
    /// Counts rows of one stage and category.
    pub fn add(&mut self, stage: &Arc<str>, category: Category, rows: u64) {
        match self.counts.iter_mut().find(|(known, kind, _)| known == stage && *kind == category) {
            Some((_, _, count)) => *count += rows,
            None => self.counts.push((Arc::clone(stage), category, rows)),
        }
    }

    /// The pair with the most rows; among equals the first seen.
    pub fn pair(&self) -> Option<(&str, &'static str)> {
        let mut worst: Option<&(Arc<str>, Category, u64)> = None;
        for entry in &self.counts {
            if worst.is_none_or(|best| entry.2 > best.2) {
                worst = Some(entry);
            }
        }
        worst.map(|(stage, category, _)| (&**stage, category.word()))
    }

    /// Rows of each category, in the order they were first seen.
    pub fn categories(&self) -> Vec<(&'static str, u64)> {
        let mut totals: Vec<(&'static str, u64)> = Vec::new();
        for (_, category, rows) in &self.counts {
            match totals.iter_mut().find(|(word, _)| *word == category.word()) {
                Some((_, total)) => *total += rows,
                None => totals.push((category.word(), *rows)),
            }
        }
        totals
    }
}

impl<W: Write> DeadLetterFile<W> {
    /// Starts a file with its header line.
    pub fn new(out: W, layout: &Layout) -> Self {
        let mut buffer = Vec::with_capacity(BUFFER);
        buffer.extend_from_slice(&layout.header_line());
        Self { out, buffer, rows: 0 }
    }

    /// Writes a trigger row: `rest` is what [`Layout::render`] made, `now` the moment its failure was observed.
    ///
    /// # Errors
    /// Those of the destination.
    pub fn trigger(&mut self, ids: &mut IdSource, now: i128, rest: &[u8]) -> io::Result<()> {
        let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
        let id = ids.next(now).hyphenated().encode_lower(&mut text).as_bytes();
        if self.buffer.len() + 2 * id.len() + 64 + rest.len() > BUFFER {
            self.drain()?;
        }
        self.buffer.extend_from_slice(id);
        self.buffer.push(b',');
        self.buffer.extend_from_slice(id);
        self.buffer.push(b',');
        text::append_rfc3339(now, 6, &mut self.buffer);
        if self.buffer.len() + rest.len() > BUFFER {
            self.drain()?;
        }
        if rest.len() > BUFFER {
            self.out.write_all(rest)?;
        } else {
            self.buffer.extend_from_slice(rest);
        }
        self.rows += 1;
        Ok(())
    }

    /// Rows written so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn drain(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Writes what is left and gives the destination back.
    ///
    /// # Errors
    /// Those of the destination.
    pub fn finish(mut self) -> io::Result<W> {
        self.drain()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use clinker_plan::DeadLetterPlan;

    use super::*;

    /// Counts writes and keeps what was written.
    #[derive(Default)]
    struct Destination {
        writes: Vec<usize>,
        bytes: Vec<u8>,
    }

    impl Write for Destination {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.writes.push(bytes.len());
            self.bytes.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn layout() -> Layout {
        Layout::new(&DeadLetterPlan {
            path: String::new(),
            fallback: true,
            sources: Vec::new(),
            include_reason: true,
            include_source_row: true,
            record_columns: vec!["note".into()],
        })
    }

    #[test]
    fn dlq_27_rows_pass_through_one_buffer_of_64_kib_however_many_and_however_long() {
        let mut file = DeadLetterFile::new(Destination::default(), &layout());
        let mut ids = IdSource::seeded(1);
        let long = format!(",{}\n", "x".repeat(100 << 10));
        for row in 0..3_000 {
            let rest = if row == 1_500 { long.as_bytes() } else { b",short\n" };
            file.trigger(&mut ids, 0, rest).expect("memory takes it");
            assert!(file.buffer.len() <= BUFFER);
        }
        assert_eq!(file.rows(), 3_000);
        let Destination { writes, bytes } = file.finish().expect("memory takes it");
        assert!(writes.len() > 2, "rows are written while others are still to come");
        let text = String::from_utf8(bytes).expect("text");
        assert_eq!(text.lines().count(), 3_001);
        assert!(text.starts_with("_cxl_dlq_id,_cxl_dlq_trigger_id,_cxl_dlq_timestamp,"));
        assert!(text.lines().nth(1).expect("a row").ends_with(",1970-01-01T00:00:00.000000Z,short"));
    }

    #[test]
    fn dlq_34_the_worst_pair_is_the_one_with_the_most_rows() {
        let mut worst = Worst::default();
        let (source, transform): (Arc<str>, Arc<str>) = ("source".into(), "transform:t".into());
        worst.add(&source, Category::StructuralValidation, 2);
        worst.add(&transform, Category::TypeCoercionFailure, 3);
        worst.add(&source, Category::TypeCoercionFailure, 3);
        assert_eq!(worst.pair(), Some(("transform:t", "type_coercion_failure")), "the first seen among equals");
        assert_eq!(worst.categories(), [("structural_validation", 2), ("type_coercion_failure", 6)]);
    }
}
