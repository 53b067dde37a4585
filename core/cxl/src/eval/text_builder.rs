//! Text results: views into one growing buffer, or into the buffers of the text they are a part of.

use arrow_array::builder::make_view;
use arrow_array::{Array, StringViewArray};
use arrow_buffer::{Buffer, NullBufferBuilder};

/// Longest text that a view holds itself.
const INLINE: usize = 12;
/// Where a buffer is closed and a new one begun: offsets have 32 bits.
const BUFFER: usize = 1 << 30;

/// Builds a text column.
pub(crate) struct TextBuilder {
    views: Vec<u128>,
    nulls: NullBufferBuilder,
    buffers: Vec<Buffer>,
    open: Vec<u8>,
}

impl TextBuilder {
    /// A builder for so many rows.
    pub(crate) fn new(rows: usize) -> Self {
        Self {
            views: Vec::with_capacity(rows),
            nulls: NullBufferBuilder::new(rows),
            buffers: Vec::new(),
            open: Vec::new(),
        }
    }

    /// A builder whose texts may be parts of the texts of a column.
    pub(crate) fn sharing(column: &StringViewArray) -> Self {
        Self { buffers: column.data_buffers().to_vec(), ..Self::new(column.len()) }
    }

    /// Appends a null.
    #[inline]
    pub(crate) fn push_null(&mut self) {
        self.views.push(0);
        self.nulls.append_null();
    }

    /// Appends a copy of a text.
    #[inline]
    pub(crate) fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        if bytes.len() <= INLINE {
            return self.push_view(make_view(bytes, 0, 0));
        }
        self.reserve(bytes.len());
        let offset = self.open.len() as u32;
        self.open.extend_from_slice(bytes);
        self.push_view(make_view(bytes, self.buffers.len() as u32, offset));
    }

    /// Appends two texts as one.
    #[inline]
    pub(crate) fn push_joined(&mut self, first: &str, second: &str) {
        let (split, len) = (first.len(), first.len() + second.len());
        if len <= INLINE {
            let mut bytes = [0; INLINE];
            bytes[..split].copy_from_slice(first.as_bytes());
            bytes[split..len].copy_from_slice(second.as_bytes());
            return self.push_view(make_view(&bytes[..len], 0, 0));
        }
        self.reserve(len);
        let offset = self.open.len();
        self.open.extend_from_slice(first.as_bytes());
        self.open.extend_from_slice(second.as_bytes());
        self.push_view(make_view(&self.open[offset..], self.buffers.len() as u32, offset as u32));
    }

    /// Appends a view as it stands in the shared column, or one that holds its text.
    #[inline]
    pub(crate) fn push_view(&mut self, view: u128) {
        self.views.push(view);
        self.nulls.append_non_null();
    }

    /// Appends a part of the text of a view of the shared column.
    #[inline]
    pub(crate) fn push_part(&mut self, view: u128, text: &str, start: usize, end: usize) {
        let part = &text.as_bytes()[start..end];
        if part.len() == text.len() {
            return self.push_view(view);
        }
        if part.len() <= INLINE {
            return self.push_view(make_view(part, 0, 0));
        }
        // A view of a longer text ends with the number of its buffer and the offset there.
        let (buffer, offset) = ((view >> 64) as u32, (view >> 96) as u32);
        self.push_view(make_view(part, buffer, offset + start as u32));
    }

    /// Appends the ASCII text of a view with every byte mapped; the map keeps bytes that are no letters.
    #[inline]
    pub(crate) fn push_ascii(&mut self, view: u128, text: &str, map: impl Fn(&mut [u8])) {
        if text.len() <= INLINE {
            // A length of at most 12 and the padding are no letters.
            let mut bytes = view.to_le_bytes();
            map(&mut bytes);
            return self.push_view(u128::from_le_bytes(bytes));
        }
        self.reserve(text.len());
        let offset = self.open.len();
        self.open.extend_from_slice(text.as_bytes());
        map(&mut self.open[offset..]);
        self.push_view(make_view(&self.open[offset..], self.buffers.len() as u32, offset as u32));
    }

    fn reserve(&mut self, bytes: usize) {
        if self.open.len() + bytes > BUFFER {
            self.buffers.push(Buffer::from_vec(std::mem::take(&mut self.open)));
        }
    }

    /// The column.
    pub(crate) fn finish(mut self) -> StringViewArray {
        if !self.open.is_empty() {
            self.buffers.push(Buffer::from_vec(self.open));
        }
        StringViewArray::try_new(self.views.into(), self.buffers, self.nulls.build())
            .expect("every view was made from a text in its buffer")
    }
}
