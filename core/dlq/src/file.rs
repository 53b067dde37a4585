//! A dead-letter file that is being written.

use std::io::{self, Write};
use std::sync::Arc;

use clinker_record::{Category, text};

use crate::{IdSource, Layout};

/// The one buffer in front of the staged copy.
const BUFFER: usize = 64 << 10;
const ID: usize = uuid::fmt::Hyphenated::LENGTH;
/// Bytes of `2031-08-09T06:05:00.250000Z`.
const TIME: usize = 27;
const FRACTION: usize = 20;
/// Bytes of identity and time: a row begins with as many, to be filled in.
pub(crate) const STAMP: usize = ID + 1 + ID + 1 + TIME;
const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// Writes rows as they occur, small ones through one buffer of fixed size: memory does not depend on how many rows fail.
pub struct DeadLetterFile<W: Write> {
    out: W,
    buffer: Vec<u8>,
    rows: u64,
    second: Second,
}

/// The text of the second in which the last row failed: many rows fail in one.
struct Second {
    start: i128,
    text: Vec<u8>,
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
        Self { out, buffer, rows: 0, second: Second::at(0) }
    }

    /// Makes a trigger row complete: `letter` is what [`Layout::render`] made, `now` the moment its failure was observed.
    pub fn stamp(&mut self, ids: &mut IdSource, now: i128, letter: &mut [u8]) {
        let (id, rest) = letter.split_at_mut(ID);
        ids.next(now).hyphenated().encode_lower(id);
        rest[0] = b',';
        rest[1..=ID].copy_from_slice(id);
        rest[ID + 1] = b',';
        self.second.write(now, &mut rest[ID + 2..][..TIME]);
        self.rows += 1;
    }

    /// Writes complete rows.
    ///
    /// # Errors
    /// Those of the destination.
    pub fn write(&mut self, letters: &[u8]) -> io::Result<()> {
        if self.buffer.len() + letters.len() > BUFFER {
            self.drain()?;
        }
        if letters.len() > BUFFER {
            // In pieces: single writes of megabytes have cost several times the system time of these.
            return letters.chunks(BUFFER).try_for_each(|piece| self.out.write_all(piece));
        }
        self.buffer.extend_from_slice(letters);
        Ok(())
    }

    /// Rows so far.
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

impl Second {
    fn at(start: i128) -> Self {
        let mut text = Vec::with_capacity(TIME);
        text::append_rfc3339(start, 6, &mut text);
        Self { start, text }
    }

    /// Writes a moment with six digits after its second.
    fn write(&mut self, now: i128, into: &mut [u8]) {
        let mut nanos = now - self.start;
        if !(0..NANOS_PER_SECOND).contains(&nanos) {
            nanos = now.rem_euclid(NANOS_PER_SECOND);
            *self = Self::at(now - nanos);
        }
        into.copy_from_slice(&self.text);
        let mut micros = nanos as u32 / 1_000;
        for digit in into[FRACTION..TIME - 1].iter_mut().rev() {
            *digit = b'0' + (micros % 10) as u8;
            micros /= 10;
        }
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
        for row in 0..3_000 {
            let rest = if row == 1_500 { "x".repeat(100 << 10) } else { "short".to_owned() };
            let mut letter = format!("{}{rest}\n", " ".repeat(STAMP)).into_bytes();
            file.stamp(&mut ids, 0, &mut letter);
            file.write(&letter).expect("memory takes it");
            assert!(file.buffer.len() <= BUFFER);
        }
        assert_eq!(file.rows(), 3_000);
        let Destination { writes, bytes } = file.finish().expect("memory takes it");
        assert!(writes.iter().all(|written| *written <= BUFFER));
        assert!(writes.len() > 2, "rows are written while others are still to come");
        let text = String::from_utf8(bytes).expect("text");
        assert_eq!(text.lines().count(), 3_001);
        assert!(text.starts_with("_cxl_dlq_id,_cxl_dlq_trigger_id,_cxl_dlq_timestamp,"));
        assert!(text.lines().nth(1).expect("a row").ends_with(",1970-01-01T00:00:00.000000Zshort"));
    }

    #[test]
    fn dlq_37_the_time_of_a_row_is_that_of_its_failure() {
        let mut file = DeadLetterFile::new(Vec::new(), &layout());
        let mut ids = IdSource::seeded(1);
        let noon = 1_927_281_600_000_000_000;
        for now in [noon, noon + 999_999_999, noon + 1_000_000_000, noon + 1, noon - 1, -1, -1_000_000_001, 0] {
            let mut letter = [b' '; STAMP];
            file.stamp(&mut ids, now, &mut letter);
            let mut time = Vec::new();
            text::append_rfc3339(now, 6, &mut time);
            assert_eq!(letter[STAMP - TIME..], time, "{now}");
            assert_eq!(letter[..ID], letter[ID + 1..][..ID], "a trigger is its own trigger");
            assert_eq!((letter[ID], letter[2 * ID + 1]), (b',', b','));
        }
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
