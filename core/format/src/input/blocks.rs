//! Bytes for cutters: a window that grows by reading and shrinks by cutting, without copying what is cut.

use std::io::{self, Read};

use arrow_buffer::Buffer;

/// How much is read at once.
const CHUNK: usize = 1 << 20;
/// How much more than the last block a window holds, beside a sixteenth of it.
const EXTRA: usize = 4 << 10;

/// Lends windows that somebody else reads: asked for at most so many further bytes, it gives the whole window, from the
/// first byte that was lent, with whether the stream ends there; `None` when there was nothing more.
pub type Lender = Box<dyn FnMut(usize) -> io::Result<Option<(Buffer, bool)>> + Send>;

/// Where the bytes come from.
enum Source {
    Stream(Box<dyn Read + Send>),
    /// Windows that begin at this offset.
    Lent(Lender, u64),
}

/// A byte stream seen through a window. A cutter looks at [`BlockInput::window`], asks for more with
/// [`BlockInput::grow`], and takes whole records off the front with [`BlockInput::take`].
///
/// A failure of the stream is reported behind all bytes that were read before it.
pub struct BlockInput {
    source: Source,
    chunk: usize,
    data: Buffer,
    offset: u64,
    /// Bytes that were taken last.
    taken: usize,
    ended: bool,
    failed: Option<io::Error>,
}

impl BlockInput {
    /// A window over a stream.
    pub fn new(source: Box<dyn Read + Send>) -> Self {
        Self {
            source: Source::Stream(source),
            chunk: CHUNK,
            data: Buffer::from_vec(Vec::<u8>::new()),
            offset: 0,
            taken: 0,
            ended: false,
            failed: None,
        }
    }

    /// A window that somebody else reads: it begins with the bytes `data`, which stand at `offset`.
    pub fn lent(data: Buffer, offset: u64, ended: bool, lender: Lender) -> Self {
        Self { source: Source::Lent(lender, offset), chunk: CHUNK, data, offset, taken: 0, ended, failed: None }
    }

    /// Reads at most this many bytes at once; for small budgets and for tests.
    #[must_use]
    pub fn with_chunk(mut self, bytes: usize) -> Self {
        self.chunk = bytes.max(1);
        self
    }

    /// The bytes at hand.
    pub fn window(&self) -> &[u8] {
        &self.data
    }

    /// The bytes at hand, to be kept.
    pub fn buffer(&self) -> Buffer {
        self.data.clone()
    }

    /// Offset in the stream of the window's first byte.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether the stream has ended: the window holds all that is left.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Reads more behind the window. `false` when the stream has ended.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn grow(&mut self) -> io::Result<bool> {
        self.grow_at_most(usize::MAX)
    }

    /// Reads at most `limit` bytes (at least one) behind the window: for a cutter that knows how long its record may
    /// become. `false` when the stream has ended.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn grow_at_most(&mut self, limit: usize) -> io::Result<bool> {
        if let Some(error) = self.failed.take() {
            self.ended = true;
            return Err(error);
        }
        if self.ended {
            return Ok(false);
        }
        let want = self.want().min(limit.max(1));
        let source = match &mut self.source {
            Source::Stream(source) => source,
            Source::Lent(lender, base) => {
                let Some((lent, ended)) = lender(limit.max(1))? else {
                    self.ended = true;
                    return Ok(false);
                };
                // What was taken stands in front of the window still.
                let before = usize::try_from(self.offset - *base).unwrap_or(usize::MAX).min(lent.len());
                let grown = lent.len() - before > self.data.len();
                (self.data, self.ended) = (lent.slice(before), ended);
                return Ok(grown);
            }
        };
        let mut bytes = Vec::with_capacity(self.data.len() + want);
        bytes.extend_from_slice(&self.data);
        let before = bytes.len();
        let result = source.by_ref().take(want as u64).read_to_end(&mut bytes);
        let read = bytes.len() - before;
        self.data = Buffer::from_vec(bytes);
        match result {
            Err(error) if read == 0 => {
                self.ended = true;
                Err(error)
            }
            Err(error) => {
                self.failed = Some(error);
                Ok(true)
            }
            Ok(_) => {
                self.ended = read == 0;
                Ok(read > 0)
            }
        }
    }

    /// Puts a failure back: the next growth reports it again. For a cutter that has complete records in front of it.
    pub fn defer(&mut self, failure: io::Error) {
        self.failed = Some(failure);
        self.ended = false;
    }

    /// Cuts `len` bytes off the front of the window; the result shares memory with the window.
    ///
    /// # Panics
    /// When the window holds fewer bytes.
    pub fn take(&mut self, len: usize) -> Buffer {
        let taken = self.data.slice_with_length(0, len);
        self.data = self.data.slice(len);
        self.offset += len as u64;
        self.taken = len;
        taken
    }

    /// How much to read. What is left of a window is copied in front of what is read behind it, so the window is made
    /// a little longer than what was taken last: then little is left. Doubling keeps the copying of one very long
    /// record linear.
    fn want(&self) -> usize {
        let held = self.data.len();
        let expected = self.taken + self.taken / 16 + EXTRA;
        if held >= CHUNK {
            held.max(self.chunk)
        } else if self.taken > EXTRA && expected > held {
            (expected - held).min(self.chunk)
        } else {
            self.chunk
        }
    }
}
