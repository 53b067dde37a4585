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
        let rows = cells.len();
        let mut views: Vec<u128> = Vec::with_capacity(rows);
        let mut absent: Vec<u32> = Vec::new();
        let (a, b) = (first.as_slice(), second.as_slice());
        for (offset, len) in cells {
            let (at, length) = (offset as usize, len as usize);
            if at < a.len() && at.checked_add(length).is_some_and(|end| end <= a.len()) {
                views.push(view(a, at, len, 0, offset));
            } else if len == u32::MAX {
                absent.push(views.len() as u32);
                views.push(0);
            } else {
                let at = at.checked_sub(a.len()).filter(|at| at + length <= b.len()).expect("cells lie in the buffers");
                views.push(view(b, at, len, 1, at as u32));
            }
        }
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

/// The view of a cell at `at` in `data`, which is data buffer `buffer`.
#[inline]
fn view(data: &[u8], at: usize, len: u32, buffer: u32, offset: u32) -> u128 {
    let length = len as usize;
    if length > INLINE {
        let prefix = u32::from_le_bytes(data[at..at + 4].try_into().expect("four bytes"));
        return u128::from(len) | u128::from(prefix) << 32 | u128::from(buffer) << 64 | u128::from(offset) << 96;
    }
    // Sixteen bytes at once where they are there; what lies behind the cell is cleared.
    let bytes = match data[at..].first_chunk::<16>() {
        Some(chunk) => u128::from_le_bytes(*chunk) & ((1 << (8 * length)) - 1),
        None => {
            let mut chunk = [0; 16];
            chunk[..length].copy_from_slice(&data[at..at + length]);
            u128::from_le_bytes(chunk)
        }
    };
    u128::from(len) | bytes << 32
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
