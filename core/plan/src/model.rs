//! The compiled plan: what the engine runs.

use std::path::PathBuf;
use std::sync::Arc;

use clinker_cxl::{Expression, Program};
use clinker_events::Level;
use clinker_format::input::{Compression, FileSelection};
use clinker_format::{ReadFactory, WriteFactory};
use clinker_record::cast::AdmitRule;
use clinker_record::key::KeyField;
use clinker_record::{SchemaRef, Value};

use crate::PathTemplate;
use crate::documents::DocumentPlan;
use crate::graph::edges;

/// Position of a node in plan order.
pub type NodeId = usize;

/// A compiled pipeline. Immutable; may be run several times, one after another.
pub struct CompiledPlan {
    /// `pipeline.name`.
    pub name: Arc<str>,
    /// BLAKE3 of the substituted document and of inlined schema files.
    pub pipeline_hash: [u8; 32],
    /// The base directory, absolute.
    pub base: PathBuf,
    /// Rows of a batch, at least 1.
    pub batch_size: usize,
    /// The memory budget.
    pub memory: MemoryPlan,
    /// `pipeline.concurrency.threads`, when given.
    pub threads: Option<usize>,
    /// `pipeline.vars`: name and value, in document order.
    pub vars: Vec<(String, Value)>,
    /// What a record failure does.
    pub failures: FailurePolicy,
    /// The nodes in plan order.
    pub nodes: Vec<Node>,
    /// The dead-letter files: the pipeline-wide one first, then those of single Sources in name order. Empty when rejected
    /// rows are not kept.
    pub dead_letters: Vec<DeadLetterPlan>,
    /// Where state goes that leaves memory.
    pub spill: SpillPlan,
}

impl CompiledPlan {
    /// Inputs whose rows are held: the reader, the position of the input, and what it reads; in plan order.
    pub fn held_edges(&self) -> impl Iterator<Item = (NodeId, usize, Input)> + '_ {
        self.nodes.iter().enumerate().flat_map(|(reader, node)| {
            let held = node.deliveries.iter().enumerate().filter(|(_, way)| **way != Delivery::Handoff);
            held.map(move |(at, _)| (reader, at, node.inputs[at]))
        })
    }

    /// Whether everything above an input feeds nothing but what lies behind this input.
    pub fn is_exclusive(&self, reader: NodeId, input: usize) -> bool {
        edges::is_exclusive(&self.nodes, reader, input)
    }

    /// Whether an input is held in name only: everything above it feeds nothing else, so that its chain begins when its
    /// turn has come.
    pub fn is_deferred(&self, reader: NodeId, input: usize) -> bool {
        edges::is_deferred(&self.nodes, reader, input)
    }
}

/// Where state goes that leaves memory, as the workspace says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpillPlan {
    /// The directory in which each run makes one of its own; the system's temporary one when none is named.
    pub dir: Option<PathBuf>,
    /// Bytes that may be on disk at one time.
    pub cap: Option<u64>,
    /// Whether files are compressed; none leaves it to the engine.
    pub compress: Option<bool>,
}

/// The memory budget.
#[derive(Clone, Debug)]
pub struct MemoryPlan {
    /// Hard limit in bytes: flag, then document, then default.
    pub limit: u64,
    /// `pause`, `spill` or `both`.
    pub backpressure: &'static str,
    /// Fraction of the limit below which a paused producer resumes.
    pub resume_threshold: f64,
}

/// The error strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The first record failure stops the run.
    FailFast,
    /// Record failures are dead-lettered.
    Continue,
}

/// A ceiling on dead letters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Dead-letter rows by source rows read; reaching it ends the run. In (0, 1].
    pub max: f64,
    /// Source rows that must have been read before it is looked at.
    pub min_records: u64,
}

/// `error_handling`.
#[derive(Clone, Debug)]
pub struct FailurePolicy {
    /// The strategy.
    pub strategy: Strategy,
    /// Whether a `dlq:` block is present: without one a declared-type failure stops even a `continue` run.
    pub has_dlq_block: bool,
    /// Declared-type failures by decoded source rows; passing it ends the run.
    pub type_error_threshold: Option<f64>,
    /// `dlq.max_rate`.
    pub max_rate: Option<Rate>,
    /// `dlq.per_source.<source>.max_rate`, by position of the Source.
    pub source_rates: Vec<Option<Rate>>,
}

/// A dead-letter file.
#[derive(Clone, Debug)]
pub struct DeadLetterPlan {
    /// Its path as authored (relative to the base, or absolute).
    pub path: String,
    /// Whether it is the pipeline-wide file, which takes every row that has no file of its own.
    pub fallback: bool,
    /// Node names of the Sources whose rows go to it, in plan order.
    pub sources: Vec<Arc<str>>,
    /// Whether category and detail are written.
    pub include_reason: bool,
    /// Whether record columns are written.
    pub include_source_row: bool,
    /// The record columns after the metadata columns, `_cxl_dlq_source_record` included.
    pub record_columns: Vec<Arc<str>>,
}

/// The columns of dead-letter files that are not the record's own.
pub mod dead_letter_columns {
    /// The columns in front of the record's own, in order.
    pub const METADATA: [&str; 13] = [
        "_cxl_dlq_id",
        "_cxl_dlq_trigger_id",
        "_cxl_dlq_timestamp",
        "_cxl_dlq_source_file",
        "_cxl_dlq_source_name",
        "_cxl_dlq_source_row",
        "_cxl_dlq_triggering_field",
        "_cxl_dlq_triggering_value",
        ERROR_CATEGORY,
        ERROR_DETAIL,
        "_cxl_dlq_stage",
        "_cxl_dlq_route",
        "_cxl_dlq_trigger",
    ];
    /// The category of the failure, written with `include_reason`.
    pub const ERROR_CATEGORY: &str = "_cxl_dlq_error_category";
    /// The text of the failure, written with `include_reason`.
    pub const ERROR_DETAIL: &str = "_cxl_dlq_error_detail";
    /// The record column that holds what a Source rejected and has no column of its own.
    pub const SOURCE_RECORD: &str = "_cxl_dlq_source_record";
}

impl DeadLetterPlan {
    /// Its columns, in order: the metadata columns that are written, then the record's.
    pub fn header(&self) -> impl Iterator<Item = &str> {
        use dead_letter_columns::{ERROR_CATEGORY, ERROR_DETAIL, METADATA};
        let reason = |name: &&str| self.include_reason || ![ERROR_CATEGORY, ERROR_DETAIL].contains(name);
        METADATA.into_iter().filter(reason).chain(self.record_columns.iter().map(|name| &**name))
    }
}

/// One output of a node.
#[derive(Clone, Debug)]
pub struct Port {
    /// Its name; none for the only output of a node.
    pub name: Option<Arc<str>>,
    /// The nodes that read it, in declaration order.
    pub consumers: Vec<NodeId>,
}

/// An output that a node reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// The node above.
    pub node: NodeId,
    /// Position among its ports.
    pub port: usize,
}

/// How the rows of an output get to one of its readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Batch by batch, as they come.
    Handoff,
    /// They are held, in memory or on disk, until the reader can take them.
    Held(HeldBecause),
}

/// Why rows are held in front of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBecause {
    /// The inputs of a `concat` before this one come first.
    LaterInput,
    /// A seeded `interleave` must know how many rows each input has.
    Seeded,
    /// Inputs that take turns would wait for each other.
    CircularWait,
}

/// A node with its place in the graph.
pub struct Node {
    /// Its authored name.
    pub name: Arc<str>,
    /// The stage label of its dead letters.
    pub stage: Arc<str>,
    /// What it does.
    pub operator: Operator,
    /// What it reads, in authored order: nothing for a Source, several outputs for a Merge.
    pub inputs: Vec<Input>,
    /// How the rows of each of its inputs get here.
    pub deliveries: Vec<Delivery>,
    /// Its outputs: none for a Sink, one for each branch (the default last) for a Route, else one.
    pub ports: Vec<Port>,
    /// The branch of the nearest Route above through which it is reached; empty when there is none, or several.
    pub route: Arc<str>,
    /// Its output columns; for a Sink its input columns.
    pub schema: SchemaRef,
    /// For each output column whether `include_unmapped: false` keeps it (emitted by the feeding Transform).
    pub emitted: Vec<bool>,
    /// Whether records may carry undeclared fields here.
    pub widened: bool,
}

impl Node {
    /// The node it reads, for nodes that read one.
    pub fn input(&self) -> Option<NodeId> {
        self.inputs.first().map(|input| input.node)
    }

    /// Whether its output is held for at least one reader.
    pub fn is_materialized(&self, plan: &CompiledPlan, own: NodeId) -> bool {
        plan.held_edges().any(|(_, _, input)| input.node == own) && !self.ports.is_empty()
    }

    /// The nodes that read any of its outputs.
    pub fn consumers(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.ports.iter().flat_map(|port| port.consumers.iter().copied())
    }
}

/// What a node does.
pub enum Operator {
    /// Reads records.
    Source(SourcePlan),
    /// Runs a program and checks on each record.
    Transform(TransformPlan),
    /// Sends records to branches.
    Route(RoutePlan),
    /// Unions streams of one shape.
    Merge(MergePlan),
    /// Writes records.
    Sink(SinkPlan),
}

/// What happens to input fields that the schema does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnUnmapped {
    /// They travel with the record and a Sink may write them.
    AutoWiden,
    /// They are not read.
    Drop,
    /// The first one ends the run (E430).
    Reject,
}

/// A declared column and where it is read from.
pub struct SourceColumn {
    /// The input field (`source_name`).
    pub input_name: Arc<str>,
    /// How its cells are admitted; the rule's name is the exposed name.
    pub rule: AdmitRule,
}

/// The order that the records of each file of a Source are said to be in.
pub struct SourceOrder {
    /// Its keys; all of them are columns of the Source.
    pub keys: Vec<SortKey>,
    /// A file in another order ends the run, instead of being put in order.
    pub refuses: bool,
}

/// A Source.
pub struct SourcePlan {
    /// Position among the Sources of the plan: `OriginRun::source`.
    pub index: u16,
    /// `config.name`.
    pub label: Arc<str>,
    /// Which files.
    pub files: FileSelection,
    /// How they are compressed.
    pub compression: Compression,
    /// The format's name.
    pub format: &'static str,
    /// The bound format.
    pub reader: Arc<dyn ReadFactory>,
    /// The declared columns in order.
    pub columns: Vec<SourceColumn>,
    /// The levels of its documents with their sections.
    pub documents: DocumentPlan,
    /// Undeclared fields.
    pub on_unmapped: OnUnmapped,
    /// The order that the records of each file are in.
    pub order: Option<SourceOrder>,
    /// Whether a record may become several rows, or none.
    pub expands: bool,
    /// The most rows that a record may become.
    pub max_rows: Option<u64>,
}

/// Where an output column of a Transform comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputSource {
    /// A column of the input.
    Input(usize),
    /// A field of the program's result.
    Emit(usize),
}

/// A Transform.
pub struct TransformPlan {
    /// The program.
    pub program: Program,
    /// How its output columns are made, one a column of the node's schema.
    pub outputs: Vec<OutputSource>,
    /// Checks on its output records, in order.
    pub validations: Vec<Validation>,
    /// Rows of the batches it hands on, when fewer than the pipeline's.
    pub batch_size: Option<usize>,
    /// Events that it reports, in authored order.
    pub log: Vec<LogPlan>,
}

/// When a log event is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogWhen {
    /// Once, before the first record.
    BeforeTransform,
    /// Once, after the last record.
    AfterTransform,
    /// For input records, before the program runs.
    PerRecord,
    /// For input records that fail.
    OnError,
}

/// A log event of a Transform. It never changes a result.
pub struct LogPlan {
    /// The name of the event.
    pub name: Arc<str>,
    /// How important it is.
    pub level: Level,
    /// When it is reported.
    pub when: LogWhen,
    /// Its text.
    pub message: Arc<str>,
    /// `per_record` considers only each record whose number is a multiple; 1 otherwise.
    pub every: u64,
    /// The input columns whose values go with it.
    pub fields: Vec<usize>,
    /// Of the records considered only those for which this is true. One whose condition fails has no event.
    pub condition: Option<Expression>,
}

/// A Route. Its ports are the branches in order, then the default.
pub struct RoutePlan {
    /// A record goes to every branch whose condition is true, not only to the first one.
    pub inclusive: bool,
    /// Name and condition of each branch.
    pub branches: Vec<(Arc<str>, Expression)>,
}

/// The order in which a Merge takes its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeMode {
    /// All of the first, then all of the second, and so on.
    Concat,
    /// Turns of this many rows, in declared order.
    Interleave {
        /// Rows of one turn.
        turn: usize,
    },
    /// One row after the other from any input, by a schedule that depends on the seed and the numbers of rows.
    Seeded {
        /// The seed.
        seed: u64,
    },
}

/// A Merge.
pub struct MergePlan {
    /// The order.
    pub mode: MergeMode,
    /// For each input, for each output column, the input's column. Where the kinds differ the values are converted to
    /// the kind of the output column.
    pub columns: Vec<Vec<usize>>,
}

/// What a validation tests.
pub enum Check {
    /// The column is not null, not empty text, not an empty array.
    NotEmpty,
    /// The expression is true.
    Expression(Expression),
}

/// One check on the output records of a Transform.
pub struct Validation {
    /// The reported rule name.
    pub name: Arc<str>,
    /// The field under test: its name and its output column.
    pub field: Option<(Arc<str>, usize)>,
    /// The test.
    pub check: Check,
    /// `severity: warn`: a failed check is logged and counted only.
    pub warn: bool,
    /// Text of the dead letter's detail.
    pub message: Arc<str>,
}

/// A Sink's collision policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfExists {
    /// The final is replaced.
    Overwrite,
    /// An existing final is refused.
    Error,
    /// The first free name is taken; the number is zero-padded to this width.
    UniqueSuffix {
        /// Zero padding.
        width: usize,
    },
}

/// A Sink.
pub struct SinkPlan {
    /// Position among the Sinks of the plan.
    pub index: usize,
    /// `config.name`.
    pub label: Arc<str>,
    /// The format's name.
    pub format: &'static str,
    /// The bound format.
    pub writer: Arc<dyn WriteFactory>,
    /// Where it writes.
    pub path: PathTemplate,
    /// `none`, `gzip` or `zstd`.
    pub compression: Compression,
    /// The columns it writes.
    pub projection: Projection,
    /// Collision policy.
    pub if_exists: IfExists,
    /// Whether it can refuse single rows, so that dead letters hold its input.
    pub refuses_rows: bool,
    /// Division into several files.
    pub split: Option<SplitPlan>,
    /// Whether each final file gets a sidecar.
    pub write_meta: bool,
    /// The order of its records; empty when they are written as they arrive.
    pub sort: Vec<SortKey>,
}

/// A field that records are ordered by.
#[derive(Clone, Debug)]
pub struct SortKey {
    /// Its name.
    pub name: Arc<str>,
    /// Where its values are.
    pub from: SortKeyFrom,
    /// Direction and place of nulls.
    pub key: KeyField,
    /// Records without a value are not written.
    pub drops_null: bool,
}

/// Where the values of a sort key are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortKeyFrom {
    /// In that incoming column.
    Column(usize),
    /// In the undeclared field of that name, where a record has it.
    Widened(Arc<str>),
}

/// What happens to a group that is larger than the threshold of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OversizeGroup {
    /// One warning for each file.
    Warn,
    /// The run ends.
    Error,
    /// Nothing.
    Allow,
}

/// How an output is divided into several files.
#[derive(Clone, Debug)]
pub struct SplitPlan {
    /// A file takes no more records once it has this many.
    pub max_records: Option<u64>,
    /// A file takes no more records once it has this many bytes.
    pub max_bytes: Option<u64>,
    /// The column of the Sink's input at whose change a new file may start.
    pub group_key: Option<usize>,
    /// File names: `{stem}`, `{ext}` and one `{seq:W}`.
    pub naming: Arc<str>,
    /// Whether each file repeats the names of the columns.
    pub repeat_header: bool,
    /// Groups larger than the threshold.
    pub oversize_group: OversizeGroup,
}

/// Where a written column is taken from.
#[derive(Clone, Debug, PartialEq)]
pub enum ProjectedFrom {
    /// A column of the Sink's input.
    Column(usize),
    /// An undeclared field, by its input name; null when the record lacks it.
    Widened(Arc<str>),
}

/// A written column.
#[derive(Clone, Debug)]
pub struct ProjectedColumn {
    /// The name it is written under.
    pub name: Arc<str>,
    /// Where it is taken from.
    pub from: ProjectedFrom,
    /// Decimals are rounded half to even to this many digits.
    pub round: Option<u8>,
}

/// Undeclared fields at a Sink.
#[derive(Clone, Debug, PartialEq)]
pub enum WidenedColumns {
    /// None are written: the column set is known when the plan is made.
    None,
    /// They follow the listed columns, in first-seen order, except those excluded or already taken by name.
    Append {
        /// Names that are not written.
        except: Vec<Arc<str>>,
    },
}

/// The columns a Sink writes.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Known columns in output order.
    pub columns: Vec<ProjectedColumn>,
    /// What follows them.
    pub widened: WidenedColumns,
}
