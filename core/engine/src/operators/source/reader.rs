//! The sequential half: opens the files of a Source in order and cuts them into blocks.

use std::io::{self, Read};
use std::sync::Arc;

use clinker_diagnostics::Diagnostic;
use clinker_events::Progress;
use clinker_format::input::{BlockInput, open_stream};
use clinker_format::{Block, BlockBound, Cutter, Decoder, Fault, FileIdentity, LevelOpen, Note, OpenFile};
use clinker_plan::{NodeId, OnUnmapped, SectionFault, SourcePlan};
use clinker_record::{LevelRun, Section};

use super::levels::OpenLevels;
use super::rejects::{data_error, source_fault};
use crate::RunError;
use crate::destinations::SourceFileAt;
use crate::error::exit;
use crate::feed::{Body, Work};
use crate::runtime::Runtime;

/// A block with what decoding it needs.
pub(crate) struct BlockWork {
    pub block: Block,
    pub decoder: Arc<dyn Decoder>,
    pub shape: Arc<FileShape>,
    pub file: u32,
    /// Ordinal over all files of the Source of the block's first row.
    pub first_ordinal: u64,
    /// The levels around its rows, where the format has any.
    pub levels: Option<Arc<[LevelRun]>>,
}

/// How the columns of a file meet those of the schema.
pub(crate) struct FileShape {
    /// The file's columns that are decoded.
    pub wanted: Vec<usize>,
    /// For each declared column its place among `wanted`.
    pub declared: Vec<Option<usize>>,
    /// Undeclared columns: name and place among `wanted`.
    pub widened: Vec<(Arc<str>, usize)>,
}

struct OpenedFile {
    input: BlockInput,
    cutter: Box<dyn Cutter>,
    decoder: Arc<dyn Decoder>,
    shape: Arc<FileShape>,
    /// Body rows cut so far.
    rows: u64,
    levels: OpenLevels,
}

/// Reads a Source. Workers take turns with it.
pub(crate) struct SourceReader<'a> {
    runtime: &'a Runtime<'a>,
    node: NodeId,
    plan: &'a SourcePlan,
    next_file: u32,
    current: Option<OpenedFile>,
    opened: Vec<SourceFileAt>,
    notes: Vec<Diagnostic>,
    /// Column names of the first file, and the undeclared ones among them, in its order.
    first_columns: Option<Vec<Arc<str>>>,
    /// Rows of the files before the current one.
    rows_before: u64,
    rows_left: u64,
    finished: bool,
}

impl<'a> SourceReader<'a> {
    pub(crate) fn new(runtime: &'a Runtime<'a>, node: NodeId) -> Self {
        Self {
            runtime,
            node,
            plan: runtime.source(node),
            next_file: 0,
            current: None,
            opened: Vec::new(),
            notes: Vec::new(),
            first_columns: None,
            rows_before: 0,
            rows_left: runtime.record_limit.unwrap_or(u64::MAX),
            finished: false,
        }
    }

    /// The next work in input order; `None` after the end or a fault was given.
    pub(crate) fn next(&mut self) -> Option<Work> {
        if self.finished {
            return None;
        }
        let body = match self.advance() {
            Ok(Some(block)) => Body::Block(Box::new(block)),
            Ok(None) => Body::End,
            Err(error) => Body::Fault(error),
        };
        self.finished = !matches!(body, Body::Block(_));
        let (opened, notes) = (std::mem::take(&mut self.opened), std::mem::take(&mut self.notes));
        Some(Work { opened, notes, body })
    }

    fn advance(&mut self) -> Result<Option<BlockWork>, RunError> {
        while self.rows_left > 0 {
            if self.current.is_none() && !self.open_next()? {
                return Ok(None);
            }
            let Some(current) = &mut self.current else { return Ok(None) };
            let rows = usize::try_from(self.rows_left).unwrap_or(usize::MAX).min(self.runtime.bound.rows);
            let bound = BlockBound { rows, bytes: self.runtime.bound.bytes };
            match current.cutter.cut(&mut current.input, bound) {
                Ok(Some(block)) => {
                    let first_ordinal = self.rows_before + block.first_row;
                    current.rows += u64::from(block.rows);
                    self.rows_left -= u64::from(block.rows).min(self.rows_left);
                    let (decoder, shape) = (Arc::clone(&current.decoder), Arc::clone(&current.shape));
                    let (plan, file) = (self.plan, self.next_file - 1);
                    let place = || place(self.runtime, plan, file);
                    let levels = current.levels.follow(&block, |open| sections(plan, place, open))?;
                    self.check_fits(&block)?;
                    return Ok(Some(BlockWork { block, decoder, shape, file, first_ordinal, levels }));
                }
                Ok(None) => {
                    self.rows_before += current.rows;
                    let (notes, all_closed) = (current.cutter.notes(), current.levels.all_closed());
                    if !all_closed {
                        return Err(RunError::contract(&format!("{}: levels are open at the end", self.place())));
                    }
                    self.note(notes);
                    self.current = None;
                }
                Err(fault) => return Err(self.fault(fault)),
            }
        }
        Ok(None)
    }

    /// Opens the next file; `false` when there is none.
    fn open_next(&mut self) -> Result<bool, RunError> {
        let files = &self.runtime.context.sources[usize::from(self.plan.index)].files;
        let Some(file) = files.get(self.next_file as usize) else { return Ok(false) };
        self.next_file += 1;
        let identity = FileIdentity {
            source: Arc::clone(&self.runtime.plan.nodes[self.node].name),
            shown: Arc::clone(&file.shown),
        };
        let path = &self.runtime.input_paths[usize::from(self.plan.index)][self.next_file as usize - 1];
        let raw = self.runtime.inputs.open(path).map_err(|error| self.fault(Fault::Io(error)))?;
        let counted = Counted { inner: raw, progress: Arc::clone(&self.runtime.progress) };
        let stream = open_stream(Box::new(counted), self.plan.compression).map_err(|fault| self.fault(fault))?;
        let mut input = BlockInput::new(stream);
        if let Some(piece) = self.runtime.inputs.piece() {
            input = input.with_chunk(piece);
        }
        let opened = self.plan.reader.open(&identity, &mut input).map_err(|fault| self.fault(fault))?;
        let shape = Arc::new(self.shape(&opened)?);
        self.opened.push(SourceFileAt { source: self.node, file: self.next_file - 1 });
        let levels = OpenLevels::new(self.plan.reader.levels());
        self.current =
            Some(OpenedFile { input, cutter: opened.cutter, decoder: opened.decoder, shape, rows: 0, levels });
        Ok(true)
    }

    /// Meets the file's columns with the schema's.
    fn shape(&mut self, file: &OpenFile) -> Result<FileShape, RunError> {
        self.check_names(file)?;
        let position = |name: &str| file.columns.iter().position(|column| &**column == name);
        let declared: Vec<Option<usize>> =
            self.plan.columns.iter().map(|column| position(&column.input_name)).collect();
        // A file without columns has no rows either; it decides nothing for the others.
        if self.first_columns.is_none() && !file.columns.is_empty() {
            self.first_columns = Some(file.columns.clone());
        }
        let order = self.first_columns.as_deref().unwrap_or_default();
        let is_declared = |name: &Arc<str>| self.plan.columns.iter().any(|column| column.input_name == *name);
        let undeclared: Vec<Arc<str>> = order.iter().filter(|name| !is_declared(name)).cloned().collect();
        let keep = self.plan.on_unmapped == OnUnmapped::AutoWiden;
        let mut wanted = Vec::new();
        let mut place = |file_column: usize| {
            wanted.push(file_column);
            wanted.len() - 1
        };
        let declared = declared.into_iter().map(|column| column.map(&mut place)).collect();
        let widened = undeclared
            .into_iter()
            .filter(|_| keep)
            .filter_map(|name| position(&name).map(|column| (name, place(column))))
            .collect();
        Ok(FileShape { wanted, declared, widened })
    }

    fn check_names(&self, file: &OpenFile) -> Result<(), RunError> {
        let has = |name: &str| file.columns.iter().any(|column| &**column == name);
        let bound = |name: &str| self.plan.columns.iter().any(|column| &*column.input_name == name);
        for column in &self.plan.columns {
            let exposed = &column.rule.name;
            if file.named_by_file && *exposed != column.input_name && has(exposed) && !bound(exposed) {
                let reason = format!(
                    "column `{exposed}` is read from field `{}`, but the file has a real field `{exposed}`, which would \
                     be hidden",
                    column.input_name
                );
                return Err(RunError::coded(exit::INFRASTRUCTURE, "E397", self.at_header(file, &reason))
                    .help(format!("expose `{}` under another name", column.input_name)));
            }
        }
        if self.plan.on_unmapped == OnUnmapped::Reject
            && let Some(field) = file.columns.iter().find(|name| !bound(name))
        {
            let reason = format!("field `{field}` is not declared");
            return Err(RunError::coded(exit::INFRASTRUCTURE, "E430", self.at_header(file, &reason))
                .help(format!("declare `{field}` in the schema, or set `on_unmapped: {{ mode: drop }}`")));
        }
        self.check_against_first(file)
    }

    fn check_against_first(&self, file: &OpenFile) -> Result<(), RunError> {
        let Some(first) = &self.first_columns else { return Ok(()) };
        let sorted = |names: &[Arc<str>]| {
            let mut names = names.to_vec();
            names.sort();
            names
        };
        if file.columns.is_empty() || sorted(first) == sorted(&file.columns) {
            return Ok(());
        }
        let list = |names: &[Arc<str>]| names.iter().map(|name| &**name).collect::<Vec<_>>().join(", ");
        let reason =
            format!("its columns ({}) are not those of the Source's first file ({})", list(&file.columns), list(first));
        Err(RunError::coded(exit::INFRASTRUCTURE, "E217", self.at_header(file, &reason))
            .help("align the files, or read them with Sources of their own"))
    }

    /// The text of an error in the names of a file's columns, which stand in its header or else at its start.
    fn at_header(&self, file: &OpenFile, reason: &str) -> String {
        let (line, offset) = file.cutter.header_place().unwrap_or_default();
        data_error(&self.place(), line, offset, reason)
    }

    /// A record cannot be divided: one that is larger than the budget ends the run. A block goes on until it has the
    /// bytes that it is meant to have, so only its last record can be large.
    fn check_fits(&self, block: &Block) -> Result<(), RunError> {
        let (used, limit) = (block.data.len() as u64, self.runtime.budget.limit());
        let before = if block.rows > 1 { self.runtime.bound.bytes as u64 } else { 0 };
        if used.saturating_sub(before) <= limit {
            return Ok(());
        }
        let (node, shown) = (&self.runtime.plan.nodes[self.node].name, self.shown());
        let message = format!(
            "{node}: node_buffer exceeded budget ({used}/{limit}) [record of {shown}, at or after line {}]",
            block.first_line
        );
        let help = "raise `pipeline.memory.limit` or `--memory-limit`, or look for a quote that is never closed";
        Err(RunError::coded(exit::CONFIGURATION, "E310", message).help(help))
    }

    /// Keeps what a format notes about a file that ended.
    fn note(&mut self, notes: Vec<Note>) {
        let place = self.place();
        let warning = |note: Note| Diagnostic::warning(note.code, format!("{place}: {} ({})", note.text, note.count));
        self.notes.extend(notes.into_iter().map(warning));
    }

    /// The file that is read, for messages.
    fn shown(&self) -> &str {
        shown(self.runtime, self.plan, self.next_file.saturating_sub(1))
    }

    /// Source and file, for messages.
    fn place(&self) -> String {
        place(self.runtime, self.plan, self.next_file.saturating_sub(1))
    }

    fn fault(&self, fault: Fault) -> RunError {
        source_fault(&self.place(), fault)
    }
}

/// A file as messages show it.
fn shown<'a>(runtime: &'a Runtime<'_>, plan: &SourcePlan, file: u32) -> &'a str {
    let source = &runtime.context.sources[usize::from(plan.index)];
    source.files.get(file as usize).map_or("", |file| &*file.shown)
}

/// Source and file, for messages.
fn place(runtime: &Runtime<'_>, plan: &SourcePlan, file: u32) -> String {
    let source = &runtime.context.sources[usize::from(plan.index)];
    format!("source `{}`, file {}", source.name, shown(runtime, plan, file))
}

/// What a level that opens tells about its rows.
fn sections(plan: &SourcePlan, place: impl Fn() -> String, open: &LevelOpen) -> Result<Vec<Section>, RunError> {
    let Some(level) = plan.documents.levels.get(usize::from(open.level)) else { return Ok(Vec::new()) };
    let made = level.sections.iter().map(|section| clinker_plan::documents::section(section, open));
    made.collect::<Result<_, SectionFault>>().map_err(|fault| {
        let text = data_error(&place(), open.line, open.offset, &fault.to_string());
        let help = "declare the field as `string`, or correct the file";
        RunError::coded(exit::INFRASTRUCTURE, SectionFault::CODE, text).help(help)
    })
}

/// Counts the bytes that leave a file.
struct Counted {
    inner: Box<dyn Read + Send>,
    progress: Arc<Progress>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        Progress::add(&self.progress.bytes_read, read as u64);
        Ok(read)
    }
}
