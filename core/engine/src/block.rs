//! What a worker makes of one block, waiting for its turn.

use std::sync::Arc;

use clinker_events::Level;
use clinker_format::Encoded;
use clinker_memory::Reservation;
use clinker_plan::{Node, NodeId};
use clinker_record::Category;

use crate::{Books, RunError};

/// A failure of one row, rendered, in front of its place in the order.
pub(crate) struct PendingFailure {
    /// Position of the row in the block: the first part of its place.
    pub row: u32,
    /// The failing node: the second part.
    pub node: NodeId,
    /// Position of the Source of the row.
    pub source: u16,
    /// A value that its declared type does not admit.
    pub typed: bool,
    /// Category.
    pub category: Category,
    /// The dead letter without id and time, in [`BlockResult::letters`]; empty when none is written.
    pub letter: std::ops::Range<usize>,
    /// Set when the run ends here.
    pub stop: Option<RunError>,
}

/// A log event at its row.
pub(crate) struct PendingEvent {
    pub row: u32,
    pub node: NodeId,
    pub level: Level,
    pub text: String,
}

/// Bytes for one Sink.
pub(crate) struct SinkBytes {
    pub node: NodeId,
    pub encoded: Encoded,
    /// The column set, needed before the first record.
    pub names: Arc<[Arc<str>]>,
}

/// Everything one block causes, to be applied in input order.
pub(crate) struct BlockResult {
    /// Files that were opened before this block, in order.
    pub opened: Vec<u32>,
    pub failures: Vec<PendingFailure>,
    /// Text of dead letters.
    pub letters: Vec<u8>,
    pub events: Vec<PendingEvent>,
    pub outputs: Vec<SinkBytes>,
    pub books: Books,
    /// Source rows with at least one output row.
    pub ok_rows: u64,
    /// Ends the run behind everything above.
    pub fault: Option<RunError>,
    /// The memory of the block.
    pub memory: Option<Reservation>,
}

impl BlockResult {
    pub(crate) fn new(nodes: &[Node], opened: Vec<u32>) -> Self {
        Self {
            opened,
            failures: Vec::new(),
            letters: Vec::new(),
            events: Vec::new(),
            outputs: Vec::new(),
            books: Books::new(nodes),
            ok_rows: 0,
            fault: None,
            memory: None,
        }
    }
}
