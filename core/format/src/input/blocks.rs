//! Bytes for cutters: a window that grows by reading and shrinks by cutting, without copying what is cut.

use std::io::{self, Read};

use arrow_buffer::Buffer;

/// How much is read at once.
const CHUNK: usize = 1 << 20;

/// A byte stream seen through a window. A cutter looks at [`BlockInput::window`], asks for more with
/// [`BlockInput::grow`], and takes whole records off the front with [`BlockInput::take`].
pub struct BlockInput {
    source: Box<dyn Read + Send>,
    chunk: usize,
    data: Buffer,
    offset: u64,
    ended: bool,
}

impl BlockInput {
    /// A window over a stream.
    pub fn new(source: Box<dyn Read + Send>) -> Self {
        Self { source, chunk: CHUNK, data: Buffer::from_vec(Vec::<u8>::new()), offset: 0, ended: false }
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
        if self.ended {
            return Ok(false);
        }
        // Doubling keeps the copying of one very long record linear.
        let want = self.chunk.max(if self.data.len() >= CHUNK { self.data.len() } else { 0 });
        let mut bytes = Vec::with_capacity(self.data.len() + want);
        bytes.extend_from_slice(&self.data);
        let read = self.source.by_ref().take(want as u64).read_to_end(&mut bytes)?;
        self.ended = read == 0;
        self.data = Buffer::from_vec(bytes);
        Ok(read > 0)
    }

    /// Cuts `len` bytes off the front of the window; the result shares memory with the window.
    ///
    /// # Panics
    /// When the window holds fewer bytes.
    pub fn take(&mut self, len: usize) -> Buffer {
        let taken = self.data.slice_with_length(0, len);
        self.data = self.data.slice(len);
        self.offset += len as u64;
        taken
    }
}
