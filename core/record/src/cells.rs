//! Text and JSON cells as a decoder delivers them: references into a block of input.

use arrow_buffer::Buffer;

/// A reference to the text of one cell. 8 bytes; a column of a batch is a vector of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellRef {
    /// Offset in the block, or, from the block's length on, in the extra text.
    pub offset: u32,
    /// Length in bytes; [`CellRef::ABSENT`] has `u32::MAX`.
    pub len: u32,
}

impl CellRef {
    /// The row does not have this cell.
    pub const ABSENT: CellRef = CellRef { offset: 0, len: u32::MAX };

    /// Whether the row does not have this cell.
    pub fn is_absent(self) -> bool {
        self.len == u32::MAX
    }
}

/// One column of text cells. Every present cell is valid UTF-8: the decoder has checked it.
#[derive(Clone, Debug)]
pub struct TextCells {
    /// The block of input.
    pub block: Buffer,
    /// Text that does not stand in the block as it is: unescaped quotes, decoded character sets.
    pub extra: Buffer,
    /// One reference a row.
    pub refs: Vec<CellRef>,
}

impl TextCells {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.refs.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.refs.is_empty()
    }

    /// The bytes of a present cell, `None` for an absent one.
    #[inline]
    pub fn bytes(&self, row: usize) -> Option<&[u8]> {
        let cell = self.refs[row];
        if cell.is_absent() {
            return None;
        }
        let (offset, len) = (cell.offset as usize, cell.len as usize);
        Some(if offset + len <= self.block.len() && offset < self.block.len().max(1) {
            &self.block[offset..offset + len]
        } else {
            let start = offset - self.block.len();
            &self.extra[start..start + len]
        })
    }

    /// The text of a present cell, `None` for an absent one.
    pub fn text(&self, row: usize) -> Option<&str> {
        self.bytes(row).map(|bytes| std::str::from_utf8(bytes).expect("a decoder delivers checked text"))
    }
}

/// What kind of JSON value a cell holds. Each is a bit of its own, so that those of a column can be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum JsonKind {
    /// The row does not have this cell.
    Absent = 1,
    /// `null`.
    Null = 2,
    /// `true`, `false`.
    Bool = 4,
    /// A number without fraction and exponent.
    Integer = 8,
    /// Any other number.
    Number = 16,
    /// A string.
    String = 32,
    /// An array.
    Array = 64,
}

/// One column of JSON cells. The text of a string is decoded; that of any other value stands as in the input, and is
/// valid JSON. Null cells have no text.
#[derive(Clone, Debug)]
pub struct JsonCells {
    /// The text of each cell.
    pub text: TextCells,
    /// The kind of each cell.
    pub kinds: Vec<JsonKind>,
}

impl JsonCells {
    /// The kinds that occur, as bits.
    pub fn mask(&self) -> u8 {
        self.kinds.iter().fold(0, |mask, kind| mask | *kind as u8)
    }

    /// Kind and text of a cell; absent and null cells have an empty one.
    pub fn cell(&self, row: usize) -> (JsonKind, &str) {
        (self.kinds[row], self.text.text(row).unwrap_or_default())
    }
}
