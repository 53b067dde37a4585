//! An output in several files. Thresholds are looked at before each record; with a group key a file ends only where the
//! key changes, so that no group is torn apart.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clinker_diagnostics::{Diagnostic, Severity};
use clinker_format::Encoded;
use clinker_plan::{NodeId, OversizeGroup, SplitPlan};
use clinker_publish::Attempt;

use crate::RunError;
use crate::block::{Keys, SinkBytes};
use crate::destinations::{Destinations, SourceFileAt};
use crate::error::exit;
use crate::outputs::{Closed, Output};

/// The files of a Sink that is split.
pub(crate) struct Split<'p> {
    node: NodeId,
    plan: &'p SplitPlan,
    source: Option<SourceFileAt>,
    /// The file that is being written and its number.
    current: Output,
    sequence: u64,
    records: u64,
    group: Group,
    /// Files that are full. Their columns may still be completed.
    full: Vec<Closed>,
}

/// The group that is being written.
#[derive(Default)]
struct Group {
    key: Option<Arc<[u8]>>,
    is_null: bool,
    any: bool,
    records: u64,
    /// Bytes of its file before it.
    start: u64,
    /// Whether its size was complained about.
    noted: bool,
}

impl<'p> Split<'p> {
    /// Starts the first file.
    pub(crate) fn begin(
        destinations: &Destinations<'p>,
        node: NodeId,
        plan: &'p SplitPlan,
        source: Option<SourceFileAt>,
        attempt: &mut Attempt,
    ) -> Result<Self, RunError> {
        let current = destinations.begin_file(node, source, Some(1), attempt)?;
        Ok(Self { node, plan, source, current, sequence: 1, records: 0, group: Group::default(), full: Vec::new() })
    }

    /// Writes records, each into the file it belongs to.
    pub(crate) fn records(
        &mut self,
        destinations: &Destinations<'p>,
        bytes: &SinkBytes,
        attempt: &mut Attempt,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<(), RunError> {
        let SinkBytes { names, encoded, keys, .. } = bytes;
        let keys = keys.as_ref();
        let mut from = 0;
        for record in 0..encoded.ends.len() {
            let same_group = keys.is_some_and(|keys| self.group.continues(keys, record));
            if self.is_full(encoded, from, record) && !(keys.is_some() && same_group) {
                self.current.records(names, &part(encoded, from, record))?;
                from = record;
                self.rotate(destinations, attempt)?;
            }
            if let Some(keys) = keys {
                let bytes = self.current.bytes() + length(encoded, from, record);
                self.group.enter(keys, record, same_group, bytes);
                let size = self.current.bytes() + length(encoded, from, record + 1) - self.group.start;
                self.check_group(size, warnings)?;
            }
            self.records += 1;
            // How much a file holds is known when the record is in it: names stand before the first, and a format may
            // put something between two of them.
            if self.plan.max_bytes.is_some() {
                self.current.records(names, &part(encoded, from, record + 1))?;
                from = record + 1;
            }
        }
        self.current.records(names, &part(encoded, from, encoded.ends.len()))
    }

    /// Whether the file takes no more records, with those of `encoded` up to `record` in it.
    fn is_full(&self, encoded: &Encoded, from: usize, record: usize) -> bool {
        let bytes = || self.current.bytes() + length(encoded, from, record);
        self.records > 0
            && (self.plan.max_records.is_some_and(|most| self.records >= most)
                || self.plan.max_bytes.is_some_and(|most| bytes() >= most))
    }

    fn rotate(&mut self, destinations: &Destinations<'p>, attempt: &mut Attempt) -> Result<(), RunError> {
        self.sequence += 1;
        let next = destinations.begin_file(self.node, self.source, Some(self.sequence), attempt)?;
        let mut closed = std::mem::replace(&mut self.current, next).close()?;
        // A full file is made durable at once and its handle given back: there may be many.
        closed.settle()?;
        self.full.push(closed);
        self.records = 0;
        self.group.noted = false;
        Ok(())
    }

    fn check_group(&mut self, bytes: u64, warnings: &mut Vec<Diagnostic>) -> Result<(), RunError> {
        let too_large = self.plan.max_records.is_some_and(|most| self.group.records > most)
            || self.plan.max_bytes.is_some_and(|most| bytes > most && self.group.records > 1);
        if !too_large || self.group.noted || self.plan.oversize_group == OversizeGroup::Allow {
            return Ok(());
        }
        self.group.noted = true;
        let file = self.current.destination.display();
        let message = format!("{file}: one group is larger than the threshold of `split`, so the file is, too");
        match self.plan.oversize_group {
            OversizeGroup::Error => Err(RunError::uncoded(exit::INFRASTRUCTURE, message)
                .help("raise the threshold, or set `oversize_group: allow`")),
            _ => {
                warnings.push(Diagnostic { severity: Severity::Warning, ..Diagnostic::uncoded(message) });
                Ok(())
            }
        }
    }

    /// Closes the last file.
    pub(crate) fn close(self) -> Result<Vec<Closed>, RunError> {
        let mut files = self.full;
        files.push(self.current.close()?);
        Ok(files)
    }
}

impl Group {
    fn continues(&self, keys: &Keys, record: usize) -> bool {
        self.any && if record == 0 { self.is(keys.first()) } else { !keys.changes(record) }
    }

    fn is(&self, key: Option<&[u8]>) -> bool {
        match key {
            None => self.is_null,
            Some(key) => self.key.as_deref() == Some(key),
        }
    }

    /// A record is written into this group, or begins the next one.
    fn enter(&mut self, keys: &Keys, record: usize, same: bool, bytes: u64) {
        if same {
            self.records += 1;
        } else {
            *self = Group { any: true, records: 1, start: bytes, noted: self.noted, ..Group::default() };
        }
        if record + 1 == keys.len() {
            self.is_null = keys.last().is_none();
            self.key = keys.last().map(Arc::from);
        }
    }
}

/// Bytes of the records `from..to`.
fn length(encoded: &Encoded, from: usize, to: usize) -> u64 {
    u64::from(end(encoded, to) - end(encoded, from))
}

fn end(encoded: &Encoded, records: usize) -> u32 {
    records.checked_sub(1).map_or(0, |last| encoded.ends[last])
}

/// The records `from..to` by themselves.
fn part(encoded: &Encoded, from: usize, to: usize) -> Encoded {
    let (start, stop) = (end(encoded, from), end(encoded, to));
    Encoded {
        bytes: encoded.bytes[start as usize..stop as usize].to_vec(),
        ends: encoded.ends[from..to].iter().map(|end| end - start).collect(),
        refused: Vec::new(),
    }
}

/// The name of one file of a split output.
pub(crate) fn file_name(base: &Path, naming: &str, sequence: u64) -> PathBuf {
    let part = |text: Option<&std::ffi::OsStr>, otherwise: &str| {
        text.map_or(otherwise.to_owned(), |text| text.to_string_lossy().into_owned())
    };
    let (stem, extension) = (part(base.file_stem(), "output"), part(base.extension(), "dat"));
    let mut name = String::new();
    let mut rest = naming;
    // The plan has checked the template.
    while let Some((before, token)) = rest.split_once('{') {
        name.push_str(before);
        let (token, after) = token.split_once('}').unwrap_or((token, ""));
        match token {
            "stem" => name.push_str(&stem),
            "ext" => name.push_str(&extension),
            _ => {
                let width = token.split_once(':').and_then(|(_, width)| width.parse().ok()).unwrap_or(0);
                name.push_str(&format!("{sequence:0width$}"));
            }
        }
        rest = after;
    }
    name.push_str(rest);
    base.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_11_4_names_of_files_come_from_stem_number_and_extension() {
        let name = |base: &str, naming: &str| file_name(Path::new(base), naming, 7).display().to_string();
        assert_eq!(name("out/board.csv", "{stem}_{seq:04}.{ext}"), "out/board_0007.csv");
        assert_eq!(name("out/board", "{stem}_{seq:2}.{ext}"), "out/board_07.dat");
        assert_eq!(name("b.csv", "part-{seq:1}"), "part-7");
    }
}
