//! Columns of text on their way to the engine.

use arrow_array::{Array, StringArray, StringViewArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};

/// The longest text that stands in a view itself.
const INLINE: usize = 12;

/// A column of text. It can only be handed to the engine, which checks the text.
pub struct TextColumn(ArrayData);

impl TextColumn {
    /// A column whose cells lie in two buffers: `offset` and `len` of each cell, counted through the first buffer and then
    /// through the second; a `len` of `u32::MAX` is an absent cell. Give the data of the block first: long cells then
    /// cross without a copy.
    ///
    /// # Panics
    /// A cell lies outside.
    pub fn of_references(first: &Buffer, second: &Buffer, cells: impl ExactSizeIterator<Item = (u32, u32)>) -> Self {
        let mut parts = Parts { first, second, absent: Vec::new() };
        let block = first.as_slice();
        let mut views: Vec<u128> = Vec::with_capacity(cells.len());
        let mut rows = 0;
        for ((offset, len), slot) in cells.zip(views.spare_capacity_mut()) {
            // Most cells are short and do not stand at the very end of the block.
            let chunk = if len as usize <= INLINE { block.get(offset as usize..) } else { None };
            slot.write(match chunk.and_then(|rest| rest.first_chunk()) {
                Some(chunk) => short(chunk, len),
                None => parts.view(rows, offset, len),
            });
            rows += 1;
        }
        // SAFETY: so many views were written, one behind the other.
        unsafe { views.set_len(rows) };
        let absent = parts.absent;
        let nulls = (!absent.is_empty()).then(|| {
            let mut present = vec![true; rows];
            for row in absent {
                present[row as usize] = false;
            }
            NullBuffer::new(BooleanBuffer::from(present))
        });
        let mut buffers = vec![Buffer::from_vec(views), first.clone()];
        if !second.is_empty() {
            buffers.push(second.clone());
        }
        let builder = ArrayData::builder(DataType::Utf8View).len(rows).buffers(buffers).nulls(nulls);
        // SAFETY: views point into the buffers. That they are text is checked by the engine, before which nobody reads them.
        Self(unsafe { builder.build_unchecked() })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn field(&self, name: &str) -> Field {
        Field::new(name, self.0.data_type().clone(), true)
    }

    pub(super) fn into_data(self) -> ArrayData {
        self.0
    }
}

impl From<StringViewArray> for TextColumn {
    fn from(array: StringViewArray) -> Self {
        Self(array.into_data())
    }
}

impl From<StringArray> for TextColumn {
    fn from(array: StringArray) -> Self {
        Self(array.into_data())
    }
}

/// What cells lie in, and which of them are absent.
struct Parts<'a> {
    first: &'a Buffer,
    second: &'a Buffer,
    absent: Vec<u32>,
}

impl Parts<'_> {
    /// The view of any cell.
    #[inline(never)]
    fn view(&mut self, row: usize, offset: u32, len: u32) -> u128 {
        if len == u32::MAX {
            self.absent.push(row as u32);
            return 0;
        }
        let (at, length) = (offset as usize, len as usize);
        let (buffer, data, at) = match at.checked_sub(self.first.len()) {
            // An empty cell stands behind the block when there is no other text.
            Some(behind) => (1, self.second.as_slice(), behind),
            None => (0, self.first.as_slice(), at),
        };
        let text = data.get(at..).and_then(|rest| rest.get(..length)).expect("cells lie in the buffers");
        if let Some(prefix) = text.first_chunk::<4>()
            && length > INLINE
        {
            let prefix = u32::from_le_bytes(*prefix);
            return u128::from(len) | u128::from(prefix) << 32 | buffer << 64 | (at as u128) << 96;
        }
        let mut chunk = [0; INLINE];
        chunk[..length].copy_from_slice(text);
        short(&chunk, len)
    }
}

/// The halves of a view that so many bytes of text take up.
static TAKEN: [[u64; 2]; INLINE + 1] = {
    let mut masks = [[0; 2]; INLINE + 1];
    let mut length = 0;
    while length <= INLINE {
        let mask = ((1_u128 << (8 * length)) - 1) << 32;
        masks[length] = [mask as u64, (mask >> 64) as u64];
        length += 1;
    }
    masks
};

/// The view of a short cell, the first bytes of `chunk`: what lies behind it is cleared.
#[inline]
fn short(chunk: &[u8; INLINE], len: u32) -> u128 {
    let [a, b, c, d, rest @ ..] = *chunk;
    let taken = &TAKEN[len as usize];
    let low = u64::from(u32::from_le_bytes([a, b, c, d])) << 32 & taken[0] | u64::from(len);
    u128::from(low) | u128::from(u64::from_le_bytes(rest) & taken[1]) << 64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_those_of_arrow() {
        let block = Buffer::from(b"short|a cell that is longer than twelve bytes|\xC3\xA4|end".to_vec());
        let extra = Buffer::from(b"made elsewhere, and long".to_vec());
        let at = block.len() as u32;
        let cells = [(0, 5), (6, 39), (46, 2), (49, 3), (at, 4), (at, 24), (0, u32::MAX), (at + 24, 0), (3, 0)];
        let column = TextColumn::of_references(&block, &extra, cells.into_iter());
        column.0.validate_full().unwrap();
        let array = StringViewArray::from(column.0);
        let texts: Vec<Option<&str>> = array.iter().collect();
        let long = Some("a cell that is longer than twelve bytes");
        let made = Some("made elsewhere, and long");
        assert_eq!(texts, [Some("short"), long, Some("ä"), Some("end"), Some("made"), made, None, Some(""), Some("")]);
    }
}
