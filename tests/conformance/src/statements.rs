//! The statements.

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clinker_format::{BlockBound, Format, WriteRequest};

use crate::corpus::{Corpus, Sample, options};
use crate::read::{Breach, End, FAIR, Reading, Weather, bind, columns, open, read, shown};
use crate::write::{batches, write};

/// How a statement came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Ok,
    /// It does not: what was seen.
    Failed(String),
    /// The corpus has nothing to try it with.
    Skipped(&'static str),
}

/// A statement that was tried.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its number and what it says.
    pub statement: &'static str,
    /// How it came out.
    pub outcome: Outcome,
}

type Statement = fn(&dyn Format, &Corpus, u32) -> Result<Outcome, Breach>;

const STATEMENTS: [(&str, Statement); 14] = [
    ("C01 events do not depend on the pieces of input", chunks),
    ("C02 rows do not depend on the bounds of blocks", bounds),
    ("C03 blocks decode alike again, in any order, for any columns", any_order),
    ("C04 rows are placed at their bytes", places),
    ("C05 every byte is consumed once", every_byte),
    ("C06 a cut file is never complete with other rows", cut_files),
    ("C07 written files are read with equal cells and written again with equal bytes", round_trip),
    ("C08 faults have a code and a place", faults),
    ("C09 no input makes it panic, hang or contradict itself", hostile),
    ("C10 reading stops at the record limit", limit),
    ("C11 written bytes do not depend on batches", write_batches),
    ("C12 levels nest and are closed", levels),
    ("C13 a bad row leaves its neighbours as they are", neighbours),
    ("C14 changed counts and references are noticed", tampers),
];

/// Runs every statement over a corpus. `mutations` is how many damaged inputs C09 tries.
pub fn check(format: &dyn Format, corpus: &Corpus, mutations: u32) -> Vec<Check> {
    checks(format, corpus, mutations).map(|(_, run)| run()).collect()
}

/// The statements one by one, each with what runs it: for a format that may not come back from one.
pub fn checks<'a>(
    format: &'a dyn Format,
    corpus: &'a Corpus,
    mutations: u32,
) -> impl Iterator<Item = (&'static str, impl FnOnce() -> Check + 'a)> {
    STATEMENTS.into_iter().map(move |(statement, run)| {
        let run = move || {
            let outcome = match catch_unwind(AssertUnwindSafe(|| run(format, corpus, mutations))) {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(breach)) => Outcome::Failed(breach),
                Err(panic) => Outcome::Failed(format!("it panicked: {}", panic_text(&*panic))),
            };
            Check { statement, outcome }
        };
        (statement, run)
    })
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

/// All samples, the valid ones first.
fn all(corpus: &Corpus) -> impl Iterator<Item = &Sample> {
    corpus.valid.iter().chain(corpus.invalid.iter().map(|bad| &bad.sample))
}

fn whole(format: &dyn Format, sample: &Sample) -> Result<Reading, Breach> {
    read(&*bind(format, sample)?, &sample.bytes, FAIR).map_err(|breach| format!("{}: {breach}", sample.name))
}

fn chunks(format: &dyn Format, corpus: &Corpus, _: u32) -> Result<Outcome, Breach> {
    for sample in all(corpus) {
        let expected = whole(format, sample)?;
        let factory = bind(format, sample)?;
        for chunk in [1, 7, 4096] {
            let got = read(&*factory, &sample.bytes, Weather { chunk, ..FAIR })?;
            if got != expected {
                return Err(format!("{} in pieces of {chunk}: {}", sample.name, difference(&expected, &got)));
            }
        }
    }
    Ok(Outcome::Ok)
}

fn bounds(format: &dyn Format, corpus: &Corpus, _: u32) -> Result<Outcome, Breach> {
    for sample in all(corpus) {
        let expected = whole(format, sample)?;
        let factory = bind(format, sample)?;
        for (rows, bytes) in [(1, 1 << 20), (3, 1 << 20), (1024, 1), (1024, 64)] {
            let got = read(&*factory, &sample.bytes, Weather { rows, bytes, ..FAIR })?;
            if got != expected {
                let bounds = format!("blocks of {rows} rows and {bytes} bytes");
                return Err(format!("{} in {bounds}: {}", sample.name, difference(&expected, &got)));
            }
        }
    }
    Ok(Outcome::Ok)
}

/// The first thing in which two readings differ.
fn difference(expected: &Reading, got: &Reading) -> String {
    let pair = expected.rows.iter().zip(&got.rows).find(|(one, other)| one != other);
    if let Some((one, other)) = pair {
        return format!("row {one:?} became {other:?}");
    }
    if expected.rows.len() != got.rows.len() {
        return format!("{} rows became {}", expected.rows.len(), got.rows.len());
    }
    if expected.rejected != got.rejected {
        return format!("rejected rows {:?} became {:?}", expected.rejected, got.rejected);
    }
    if expected.marks != got.marks {
        return format!("levels {:?} became {:?}", expected.marks, got.marks);
    }
    format!("the end {:?} {:?} became {:?} {:?}", expected.end, expected.notes, got.end, got.notes)
}

fn any_order(format: &dyn Format, corpus: &Corpus, _: u32) -> Result<Outcome, Breach> {
    for sample in &corpus.valid {
        let count = Arc::default();
        let factory = bind(format, sample)?;
        let mut session = open(&*factory, io::Cursor::new(sample.bytes.clone()), FAIR, &count)
            .map_err(|fault| format!("{fault:?}"))?;
        let mut blocks = Vec::new();
        let bound = BlockBound { rows: 2, bytes: 1 << 20 };
        while let Some(block) =
            session.open.cutter.cut(&mut session.input, bound).map_err(|fault| format!("{fault:?}"))?
        {
            blocks.push(block);
        }
        let wanted: Vec<usize> = (0..session.open.columns.len()).collect();
        let decode = |at: usize, wanted: &[usize]| {
            let decoded = session.open.decoder.decode(&blocks[at], wanted);
            let columns = columns(&session.open, &decoded, wanted);
            let text = |row: usize| columns.iter().map(move |(name, column)| (name, column.value(row))).collect();
            let rows: Vec<Vec<_>> = (0..decoded.rows).map(text).collect();
            rows.iter()
                .map(|row| row.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect())
                .collect::<Vec<Vec<String>>>()
        };
        let forwards: Vec<_> = (0..blocks.len()).map(|at| decode(at, &wanted)).collect();
        for at in (0..blocks.len()).rev() {
            if decode(at, &wanted) != forwards[at] {
                return Err(format!("{}: block {at} decodes differently the second time", sample.name));
            }
            for column in &wanted {
                let alone = decode(at, &[*column]);
                let same = alone.iter().zip(&forwards[at]).all(|(one, all)| one.first() == all.get(*column));
                if alone.len() != forwards[at].len() || !same {
                    return Err(format!("{}: column {column} of block {at} differs when read alone", sample.name));
                }
            }
        }
    }
    Ok(Outcome::Ok)
}

fn places(format: &dyn Format, corpus: &Corpus, _: u32) -> Result<Outcome, Breach> {
    for sample in all(corpus) {
        let count = Arc::default();
        let factory = bind(format, sample)?;
        let Ok(mut session) = open(&*factory, io::Cursor::new(sample.bytes.clone()), FAIR, &count) else { continue };
        let bound = BlockBound { rows: 3, bytes: 1 << 20 };
        let mut last = 0;
        while let Ok(Some(block)) = session.open.cutter.cut(&mut session.input, bound) {
            let start = block.offset as usize;
            if sample.bytes.get(start..start + block.data.len()) != Some(block.data.as_slice()) {
                return Err(format!("{}: a block at byte {start} is not what stands there", sample.name));
            }
            for row in 0..block.rows {
                let text = session.open.decoder.row_text(&block, row);
                let at = text.offset as usize;
                let raw = sample.bytes.get(at..).unwrap_or_default();
                // A row whose bytes do not decode is shown with escapes.
                if !raw.starts_with(text.raw.as_bytes()) && !text.raw.contains("\\x") {
                    return Err(format!("{}: `{}` does not stand at byte {at}", sample.name, text.raw));
                }
                if at < last || text.line == 0 {
                    return Err(format!("{}: row {row} is placed at byte {at}, line {}", sample.name, text.line));
                }
                last = at;
            }
        }
    }
    Ok(Outcome::Ok)
}

fn every_byte(format: &dyn Format, corpus: &Corpus, _: u32) -> Result<Outcome, Breach> {
    for sample in &corpus.valid {
        let reading = whole(format, sample)?;
        if reading.end != End::Complete {
            return Err(format!("{}: a valid file ended in {:?}", sample.name, reading.end));
        }
        let rows = reading.rows.len() as u64 + reading.rejected.len() as u64;
        if rows != sample.rows || !reading.rejected.is_empty() {
            return Err(format!("{}: {rows} rows, {} expected", sample.name, sample.rows));
        }
    }
    Ok(Outcome::Ok)
}

fn cut_files(format: &dyn Format, corpus: &Corpus, _: u32) -> Result<Outcome, Breach> {
    for sample in &corpus.valid {
        let expected = whole(format, sample)?;
        let factory = bind(format, sample)?;
        for end in 0..sample.bytes.len() {
            let got = read(&*factory, &sample.bytes[..end], FAIR)?;
            if got.end != End::Complete || !got.rejected.is_empty() {
                continue;
            }
            // All rows but the last one are those of the whole file, and what has a trailer is not complete without it.
            let same = got.rows.iter().zip(&expected.rows).take(got.rows.len().saturating_sub(1));
            let closed = factory.levels().is_empty()
                || got.marks == expected.marks
                || (sample.several && expected.marks.starts_with(&got.marks));
            if !closed || got.rows.len() > expected.rows.len() || !same.into_iter().all(|(one, other)| one == other) {
                return Err(format!("{}: the first {end} bytes are taken for a complete file", sample.name));
            }
        }
    }
    Ok(Outcome::Ok)
}

fn output(format: &dyn Format, corpus: &Corpus) -> Result<Option<Arc<dyn clinker_format::WriteFactory>>, Breach> {
    let Some(given) = &corpus.write else { return Ok(None) };
    let options = options(given);
    let request = WriteRequest { options: &options, header: true, preserve_nulls: false, joins: &[] };
    let bound =
        format.bind_writer(&request).map_err(|faults| format!("the writer's options are refused: {faults:?}"))?;
    Ok(Some(bound))
}

const ONLY_READ: Outcome = Outcome::Skipped("the corpus has no writer options");

fn round_trip(format: &dyn Format, corpus: &Corpus, _: u32) -> Result<Outcome, Breach> {
    let Some(output) = output(format, corpus)? else { return Ok(ONLY_READ) };
    for sample in &corpus.valid {
        let factory = bind(format, sample)?;
        let written = write(&*output, &batches(&*factory, &sample.bytes)?, 1024)
            .map_err(|breach| format!("{}: {breach}", sample.name))?;
        // Without a record there may be nothing to write an envelope around.
        if written.is_empty() && sample.rows == 0 {
            continue;
        }
        if sample.round_trip && written != sample.bytes {
            let text = String::from_utf8_lossy(&written).into_owned();
            return Err(format!("{}: it is written back as {text:?}", sample.name));
        }
        let again = read(&*factory, &written, FAIR)?;
        if again.rows != whole(format, sample)?.rows {
            return Err(format!("{}: what was written is read with other cells", sample.name));
        }
        let twice = write(&*output, &batches(&*factory, &written)?, 1024)?;
        if twice != written {
            return Err(format!("{}: written again, the bytes differ", sample.name));
        }
    }
    Ok(Outcome::Ok)
}

fn write_batches(format: &dyn Format, corpus: &Corpus, _: u32) -> Result<Outcome, Breach> {
    let Some(output) = output(format, corpus)? else { return Ok(ONLY_READ) };
    for sample in &corpus.valid {
        let rows = batches(&*bind(format, sample)?, &sample.bytes)?;
        let expected = write(&*output, &rows, 1024)?;
        for piece in [1, 2, 7] {
            if write(&*output, &rows, piece)? != expected {
                return Err(format!("{}: the bytes of batches of {piece} differ", sample.name));
            }
        }
    }
    Ok(Outcome::Ok)
}

fn faults(format: &dyn Format, corpus: &Corpus, _: u32) -> Result<Outcome, Breach> {
    for bad in &corpus.invalid {
        let (name, reading) = (&bad.sample.name, whole(format, &bad.sample)?);
        let len = bad.sample.bytes.len() as u64;
        let seen = match (&reading.end, reading.rejected.first()) {
            (End::Fault { code, offset, reason, .. }, None) if !bad.bounded => {
                if reason.is_empty() || *offset > len {
                    return Err(format!("{name}: {code} at byte {offset} of {len}: {reason:?}"));
                }
                code.clone()
            }
            (End::Complete, Some(rejected)) if bad.bounded => {
                if rejected.offset > len || rejected.number == 0 {
                    return Err(format!("{name}: {rejected:?} is not in the file"));
                }
                rejected.code.to_owned()
            }
            (end, rejected) => return Err(format!("{name}: it ended {end:?}, the first rejected row is {rejected:?}")),
        };
        if seen != bad.code {
            return Err(format!("{name}: {seen}, {} expected ({:?})", bad.code, reading.end));
        }
        if reading.rows.len() as u64 != bad.sample.rows {
            return Err(format!("{name}: {} rows, {} expected", reading.rows.len(), bad.sample.rows));
        }
    }
    Ok(Outcome::Ok)
}

/// A damaged copy of a sample: the same one for the same number.
pub fn mutate(bytes: &[u8], other: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let mut out = bytes.to_vec();
    for _ in 0..=next(4) {
        let (at, len) = (next(out.len() + 1), next(24) + 1);
        let end = (at + len).min(out.len());
        match next(7) {
            0 if at < out.len() => out[at] = next(256) as u8,
            1 if at < out.len() => out[at] ^= 1 << next(8),
            2 => drop(out.drain(at..end)),
            3 => {
                let copy = out[at..end].to_vec();
                let to = next(out.len() + 1);
                out.splice(to..to, copy);
            }
            4 => out.truncate(at),
            5 => {
                let from = next(other.len() + 1);
                let piece = other[from..(from + len).min(other.len())].to_vec();
                out.splice(at..at, piece);
            }
            // A byte that occurs elsewhere in the file: separators are hit often.
            _ if !bytes.is_empty() => out.insert(at, bytes[next(bytes.len())]),
            _ => {}
        }
    }
    out
}

fn hostile(format: &dyn Format, corpus: &Corpus, mutations: u32) -> Result<Outcome, Breach> {
    let samples: Vec<&Sample> = all(corpus).collect();
    if samples.is_empty() {
        return Ok(Outcome::Skipped("the corpus has no files"));
    }
    let factories: Vec<_> = samples.iter().map(|sample| bind(format, sample)).collect::<Result<_, _>>()?;
    for number in 0..mutations {
        let at = number as usize % samples.len();
        let other = &samples[(number as usize / samples.len()) % samples.len()].bytes;
        let bytes = mutate(&samples[at].bytes, other, u64::from(number) + 1);
        let seen = catch_unwind(AssertUnwindSafe(|| {
            let whole = read(&*factories[at], &bytes, FAIR)?;
            // The other weathers now and then: they cost more than the reading itself.
            if number % 8 == 0 {
                let rough = read(&*factories[at], &bytes, Weather { chunk: 3, rows: 2, bytes: 16 })?;
                if rough != whole {
                    return Err(difference(&whole, &rough));
                }
            }
            Ok(())
        }));
        let shown = || format!("{}, damage {number}: {:?}", samples[at].name, String::from_utf8_lossy(&bytes));
        match seen {
            Ok(Ok(())) => {}
            Ok(Err(breach)) => return Err(format!("{}: {breach}", shown())),
            Err(panic) => return Err(format!("{}: it panicked: {}", shown(), panic_text(&*panic))),
        }
    }
    Ok(Outcome::Ok)
}

/// Bytes without an end, up to a ceiling that no correct reader reaches.
struct Stream {
    head: Vec<u8>,
    body: Vec<u8>,
    at: usize,
    ceiling: usize,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = 0;
        while read < buffer.len() && self.at < self.ceiling {
            let byte = match self.head.get(self.at) {
                Some(byte) => *byte,
                None => self.body[(self.at - self.head.len()) % self.body.len()],
            };
            buffer[read] = byte;
            read += 1;
            self.at += 1;
        }
        Ok(read)
    }
}

/// What a reader may hold beside the record: the host hands over up to a megabyte at once.
const SLACK: usize = 4 << 20;

fn limit(format: &dyn Format, corpus: &Corpus, _: u32) -> Result<Outcome, Breach> {
    let Some(endless) = &corpus.endless else { return Ok(Outcome::Skipped("the corpus has no endless input")) };
    let sample = Sample { name: "endless input".to_owned(), options: endless.options.clone(), ..Sample::default() };
    let factory = bind(format, &sample)?;
    for chunk in [4096, 1 << 20] {
        let ceiling = endless.limit * 4 + SLACK * 2;
        let stream = Stream { head: endless.head.clone(), body: endless.body.clone(), at: 0, ceiling };
        let count = Arc::new(AtomicU64::new(0));
        let mut fault = None;
        match open(&*factory, stream, Weather { chunk, ..FAIR }, &count) {
            Err(found) => fault = Some(found),
            Ok(mut session) => {
                let bound = BlockBound { rows: FAIR.rows, bytes: FAIR.bytes };
                loop {
                    match session.open.cutter.cut(&mut session.input, bound) {
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        Err(found) => {
                            fault = Some(found);
                            break;
                        }
                    }
                }
            }
        }
        let end = fault.map(crate::read::ended).transpose()?;
        let read = count.load(Ordering::Relaxed) as usize;
        match end {
            Some(End::Fault { code, .. }) if code == "E426" && read <= endless.limit + SLACK => {}
            end => return Err(format!("after {read} bytes of a record with limit {}: {end:?}", endless.limit)),
        }
    }
    Ok(Outcome::Ok)
}

fn levels(format: &dyn Format, corpus: &Corpus, _: u32) -> Result<Outcome, Breach> {
    let mut any = false;
    for sample in &corpus.valid {
        // Reading checks that they nest and close; a valid file of a format with levels opens some.
        let reading = whole(format, sample)?;
        let opens = reading.marks.iter().filter(|(_, mark)| mark.starts_with("open")).count();
        any |= opens > 0;
        if opens * 2 != reading.marks.len() {
            return Err(format!("{}: {opens} levels open, {} close", sample.name, reading.marks.len() - opens));
        }
        if !bind(format, sample)?.levels().is_empty() && opens == 0 && sample.rows > 0 {
            return Err(format!("{}: no level opens around its rows", sample.name));
        }
    }
    Ok(if any { Outcome::Ok } else { Outcome::Skipped("the format has no levels") })
}

fn neighbours(format: &dyn Format, corpus: &Corpus, _: u32) -> Result<Outcome, Breach> {
    let mut any = false;
    for bad in corpus.invalid.iter().filter(|bad| bad.bounded) {
        any = true;
        let reading = whole(format, &bad.sample)?;
        let numbers: Vec<u64> = reading.rows.iter().map(|row| row.number).collect();
        let rejected: Vec<u64> = reading.rejected.iter().map(|row| row.number).collect();
        let mut together: Vec<u64> = numbers.iter().chain(&rejected).copied().collect();
        together.sort_unstable();
        if together != (1..=together.len() as u64).collect::<Vec<_>>() {
            return Err(format!("{}: rows {numbers:?} and rejected rows {rejected:?}", bad.sample.name));
        }
    }
    Ok(if any { Outcome::Ok } else { Outcome::Skipped("no row of the format is bounded") })
}

fn tampers(format: &dyn Format, corpus: &Corpus, _: u32) -> Result<Outcome, Breach> {
    if corpus.tampers.is_empty() {
        return Ok(Outcome::Skipped("the format has no counts and references"));
    }
    for tamper in &corpus.tampers {
        let sample = &corpus.valid[tamper.sample];
        let mut bytes = sample.bytes.clone();
        bytes[tamper.at] = tamper.byte;
        match read(&*bind(format, sample)?, &bytes, FAIR)?.end {
            End::Fault { code, document, .. } if code == tamper.code && document == (code == "E428") => {}
            end => {
                let changed = format!("byte {} changed to `{}`", tamper.at, char::from(tamper.byte));
                return Err(format!("{}, {changed}: {end:?}, {} expected", sample.name, tamper.code));
            }
        }
    }
    Ok(Outcome::Ok)
}
