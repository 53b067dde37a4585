//! Columns of text that a plugin gave become cells: references into the block and into the plugin's own memory. Each is
//! looked at once; long text is not copied.

use std::cell::OnceCell;

use arrow_buffer::{Buffer, bit_util};
use clinker_record::{CellRef, TextCells};

use crate::strings::Child;

/// The longest text that stands in a view itself.
const INLINE: u32 = 12;
/// Bytes of a view.
const VIEW: usize = 16;

/// What is known of the text of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    /// Every byte is a character.
    Ascii,
    /// The whole is UTF-8.
    Utf8,
    /// Parts of it may be.
    Unknown,
}

/// The block that cells may point into.
pub(crate) struct Given<'a> {
    pub block: &'a Buffer,
    text: OnceCell<Text>,
}

impl<'a> Given<'a> {
    pub(crate) fn new(block: &'a Buffer) -> Self {
        Self { block, text: OnceCell::new() }
    }

    fn text(&self) -> Text {
        *self.text.get_or_init(|| {
            if self.block.is_ascii() {
                Text::Ascii
            } else if simdutf8::basic::from_utf8(self.block).is_ok() {
                Text::Utf8
            } else {
                Text::Unknown
            }
        })
    }

    /// Where a place of the plugin lies in the block.
    fn offset_of(&self, place: *const u8) -> Option<usize> {
        let (start, place) = (self.block.as_ptr().addr(), place.addr());
        let inside = !self.block.is_empty() && (start..start + self.block.len()).contains(&place);
        inside.then(|| place - start)
    }

    /// The cells of a column.
    ///
    /// # Errors
    /// What is wrong with the column.
    pub(crate) fn cells(&self, column: &Child<'_>) -> Result<TextCells, String> {
        match column.format {
            "vu" => self.views(column),
            "u" => self.plain::<4>(column),
            "U" => self.plain::<8>(column),
            other => Err(format!("column `{}` is of type {other:?}, not text", column.name)),
        }
    }

    /// The offset in a cell reference of a place behind the block.
    fn behind(&self, at: usize) -> Result<u32, String> {
        self.block
            .len()
            .checked_add(at)
            .and_then(|at| u32::try_from(at).ok())
            .ok_or_else(|| "too much text for a block".into())
    }

    fn views(&self, column: &Child<'_>) -> Result<TextCells, String> {
        let sources = self.sources(column)?;
        let start = column.offset.checked_mul(VIEW).ok_or("a column is too long")?;
        let views = column.bytes(1, start, column.rows.checked_mul(VIEW).ok_or("a column is too long")?)?;
        self.behind(views.len())?;
        let present = column.present()?;
        let mut walk = Walk {
            given: self,
            column,
            sources: &sources,
            own: self.block.len() as u32 + 4,
            refs: Vec::with_capacity(column.rows),
            high: 0,
            foreign: Vec::new(),
        };
        walk.all(views.as_chunks::<VIEW>().0, present.as_ref())?;
        let Walk { refs, high, foreign, .. } = walk;
        let behind = self.block.len() + views.len();
        let (extra, refs) =
            if foreign.is_empty() { (views, refs) } else { copied(&views, &sources, refs, &foreign, self.block.len()) };
        let cells = TextCells { block: self.block.clone(), extra, refs };
        if high & HIGH != 0 {
            check_each(&cells, column, 0)?;
        } else if !foreign.is_empty() {
            // Short cells are ASCII, and those in the block were looked at: the copied ones are left.
            check_each(&cells, column, behind)?;
        }
        Ok(cells)
    }

    /// The buffers that views may point into.
    fn sources(&self, column: &Child<'_>) -> Result<Vec<Source>, String> {
        let buffers = column.buffers();
        let Some(count) = buffers.checked_sub(3) else {
            return Err(format!("column `{}` of views has {buffers} buffers", column.name));
        };
        let lengths = column.bytes(buffers - 1, 0, count * 8)?;
        let lengths = lengths.as_chunks::<8>().0;
        let source = |(at, len): (usize, &[u8; 8])| {
            let len = usize::try_from(i64::from_ne_bytes(*len))
                .map_err(|_| format!("a buffer of column `{}` has a negative length", column.name))?;
            match self.offset_of(column.place(at + 2)) {
                Some(offset) if len <= self.block.len() - offset => Ok(Source::Block { offset, len }),
                Some(_) => Err(format!("column `{}` points behind the block that was given", column.name)),
                None => Ok(Source::Foreign(column.bytes(at + 2, 0, len)?)),
            }
        };
        lengths.iter().enumerate().map(source).collect()
    }

    /// Text between offsets.
    fn plain<const N: usize>(&self, column: &Child<'_>) -> Result<TextCells, String> {
        if column.buffers() != 3 {
            return Err(format!("column `{}` of text has {} buffers", column.name, column.buffers()));
        }
        if column.rows == 0 {
            let empty = || Buffer::from_vec(Vec::<u8>::new());
            return Ok(TextCells { block: self.block.clone(), extra: empty(), refs: Vec::new() });
        }
        let start = column.offset.checked_mul(N).ok_or("a column is too long")?;
        let offsets = column.bytes(1, start, (column.rows + 1).checked_mul(N).ok_or("a column is too long")?)?;
        let wrong = || format!("the offsets of column `{}` do not ascend", column.name);
        let offset = |bytes: &[u8; N]| {
            let mut wide = [0; 8];
            wide[..N].copy_from_slice(bytes);
            usize::try_from(u64::from_le_bytes(wide)).map_err(|_| wrong())
        };
        let offsets: Vec<usize> = offsets.as_chunks::<N>().0.iter().map(offset).collect::<Result<_, _>>()?;
        let last = *offsets.last().ok_or_else(wrong)?;
        if !offsets.is_sorted() {
            return Err(wrong());
        }
        let (extra, base) = match self.offset_of(column.place(2)) {
            Some(at) if last <= self.block.len() - at => (Buffer::from_vec(Vec::<u8>::new()), at),
            Some(_) => return Err(format!("column `{}` points behind the block that was given", column.name)),
            None => (column.bytes(2, 0, last)?, self.block.len()),
        };
        self.behind(last)?;
        let present = column.present()?;
        let cell = |(row, bounds): (usize, &[usize])| {
            if is_absent(present.as_ref(), row) {
                return CellRef::ABSENT;
            }
            CellRef { offset: (base + bounds[0]) as u32, len: (bounds[1] - bounds[0]) as u32 }
        };
        let refs = offsets.windows(2).enumerate().map(cell).collect();
        let cells = TextCells { block: self.block.clone(), extra, refs };
        check_each(&cells, column, 0)?;
        Ok(cells)
    }
}

/// A bit of each byte of the text of a view that ASCII does not have.
const HIGH: u128 = 0x8080_8080_8080_8080_8080_8080 << 32;

/// Where the text of long views stands.
enum Source {
    Block { offset: usize, len: usize },
    Foreign(Buffer),
}

fn is_absent(present: Option<&(Buffer, usize)>, row: usize) -> bool {
    present.is_some_and(|(bits, offset)| !bit_util::get_bit(bits, offset + row))
}

/// The views of one column on their way to references.
struct Walk<'a> {
    given: &'a Given<'a>,
    column: &'a Child<'a>,
    sources: &'a [Source],
    /// Where the text of the first view stands, counted through the block.
    own: u32,
    refs: Vec<CellRef>,
    /// All short views, joined bit by bit.
    high: u128,
    /// Rows whose view points into memory of the plugin.
    foreign: Vec<u32>,
}

impl Walk<'_> {
    fn all(&mut self, views: &[[u8; VIEW]], present: Option<&(Buffer, usize)>) -> Result<(), String> {
        // As if all views were short, without a branch: they are by far the most.
        let (mut place, mut low, mut high, mut longest) = (self.own, 0, 0, 0);
        let mut refs = std::mem::take(&mut self.refs);
        refs.clear();
        refs.reserve(views.len());
        for (view, slot) in views.iter().zip(refs.spare_capacity_mut()) {
            let bits = u128::from_le_bytes(*view);
            let len = bits as u32;
            slot.write(CellRef { offset: place, len });
            // Views lie one behind the other, and the place of the last one fits, which the caller has checked.
            place = place.wrapping_add(VIEW as u32);
            let short = if len <= INLINE { u64::MAX } else { 0 };
            low |= bits as u64 & short;
            high |= (bits >> 64) as u64 & short;
            longest = longest.max(len);
        }
        // SAFETY: there was room for all views, and each was written.
        unsafe { refs.set_len(views.len()) };
        if present.is_some() {
            let absent = refs.iter_mut().enumerate().filter(|(row, _)| is_absent(present, *row));
            absent.for_each(|(_, cell)| *cell = CellRef::ABSENT);
        }
        let mut wrong = None;
        if longest > INLINE {
            for (row, cell) in refs.iter_mut().enumerate().filter(|(_, cell)| cell.len > INLINE) {
                if present.is_none() || !is_absent(present, row) {
                    *cell = self.long(row, u128::from_le_bytes(views[row]), &mut wrong);
                }
            }
        }
        self.high = u128::from(low) | u128::from(high) << 64;
        self.refs = refs;
        wrong.map_or(Ok(()), Err)
    }

    /// The reference of a long view. What is wrong with it, if nothing was wrong before, goes to `wrong`.
    #[inline]
    fn long(&mut self, row: usize, bits: u128, wrong: &mut Option<String>) -> CellRef {
        let (len, buffer, offset) = (bits as u32, (bits >> 64) as u32, (bits >> 96) as u32);
        let end = offset as usize + len as usize;
        let what = match self.sources.get(buffer as usize) {
            Some(Source::Block { offset: base, len: held }) if end <= *held => {
                let start = base + offset as usize;
                if self.is_text(start, len as usize) {
                    return CellRef { offset: start as u32, len };
                }
                not_text(row, self.column)
            }
            Some(Source::Foreign(held)) if end <= held.len() => {
                self.foreign.push(row as u32);
                // Resolved by `copied`.
                return CellRef { offset: u32::MAX, len };
            }
            _ => format!("row {row} of column `{}` points outside of what was given", self.column.name),
        };
        wrong.get_or_insert(what);
        CellRef::ABSENT
    }

    /// Whether bytes of the block are text.
    #[inline]
    fn is_text(&self, start: usize, len: usize) -> bool {
        let block = self.given.block.as_slice();
        match self.given.text() {
            Text::Ascii => true,
            Text::Utf8 => {
                let boundary = |at: usize| block.get(at).is_none_or(|byte| byte & 0xC0 != 0x80);
                boundary(start) && boundary(start + len)
            }
            Text::Unknown => std::str::from_utf8(&block[start..start + len]).is_ok(),
        }
    }
}

fn not_text(row: usize, column: &Child<'_>) -> String {
    format!("row {row} of column `{}` is not valid UTF-8", column.name)
}

/// Text of the plugin's own memory, behind the views of the column.
fn copied(
    views: &Buffer,
    sources: &[Source],
    mut refs: Vec<CellRef>,
    rows: &[u32],
    block: usize,
) -> (Buffer, Vec<CellRef>) {
    let mut extra = views.to_vec();
    for row in rows {
        let (cell, view) = (&mut refs[*row as usize], views.as_chunks::<VIEW>().0[*row as usize]);
        let bits = u128::from_le_bytes(view);
        let (buffer, offset) = ((bits >> 64) as u32 as usize, (bits >> 96) as usize);
        match (&sources[buffer], u32::try_from(block + extra.len())) {
            (Source::Foreign(held), Ok(place)) => {
                extra.extend_from_slice(&held[offset..offset + cell.len as usize]);
                cell.offset = place;
            }
            // More than 4 GiB of text in a column of one block: the cell is not text, and refused as such.
            _ => *cell = CellRef { offset: u32::MAX, len: 0 },
        }
    }
    (Buffer::from_vec(extra), refs)
}

/// Looks at every cell that stands at `from` or behind it, counted through block and extra text.
fn check_each(cells: &TextCells, column: &Child<'_>, from: usize) -> Result<(), String> {
    let end = cells.block.len() + cells.extra.len();
    for (row, cell) in cells.refs.iter().enumerate() {
        if cell.is_absent() || (cell.offset as usize) < from {
            continue;
        }
        let inside = (cell.offset as usize).checked_add(cell.len as usize).is_some_and(|last| last <= end);
        let text = if inside { cells.bytes(row).map(|bytes| std::str::from_utf8(bytes).is_ok()) } else { None };
        if text != Some(true) {
            return Err(not_text(row, column));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
    use arrow_array::{Array, ArrayRef, StringArray, StringViewArray, StructArray};
    use arrow_buffer::{NullBuffer, ScalarBuffer};
    use arrow_schema::{DataType, Field, Fields};
    use std::sync::Arc;

    use super::*;
    use crate::strings::Given as Batch;

    /// What a plugin's column becomes.
    fn cells(block: &Buffer, array: ArrayRef) -> Result<TextCells, String> {
        let fields = Fields::from(vec![Field::new("a", array.data_type().clone(), true)]);
        let rows = StructArray::new(fields.clone(), vec![array], None);
        let mut schema = FFI_ArrowSchema::try_from(DataType::Struct(fields)).unwrap().into();
        let mut array = FFI_ArrowArray::new(&rows.to_data()).into();
        let batch = Batch::take(&mut schema, &mut array).unwrap().unwrap();
        Given::new(block).cells(&batch.child(0)?)
    }

    fn view(text: &[u8], buffer: u32, offset: u32) -> u128 {
        let mut bytes = [0; VIEW];
        bytes[..4].copy_from_slice(&(text.len() as u32).to_le_bytes());
        if text.len() <= INLINE as usize {
            bytes[4..4 + text.len()].copy_from_slice(text);
        } else {
            bytes[4..8].copy_from_slice(&text[..4]);
            bytes[8..12].copy_from_slice(&buffer.to_le_bytes());
            bytes[12..].copy_from_slice(&offset.to_le_bytes());
        }
        u128::from_le_bytes(bytes)
    }

    /// Views into the block (0) and into memory of the plugin (1).
    fn column(block: &Buffer, own: &Buffer, rows: &[Option<(u32, usize, usize)>]) -> StringViewArray {
        let of = |row: &Option<(u32, usize, usize)>| {
            let (buffer, offset, len) = row.unwrap_or((0, 0, 0));
            let held = if buffer == 0 { block } else { own };
            view(&held[offset..offset + len], buffer, offset as u32)
        };
        let views: ScalarBuffer<u128> = rows.iter().map(of).collect();
        let nulls = rows.contains(&None).then(|| NullBuffer::from_iter(rows.iter().map(Option::is_some)));
        // SAFETY: views lie in the buffers; whether they are text is what the tests are about.
        unsafe { StringViewArray::new_unchecked(views, [block.clone(), own.clone()].into(), nulls) }
    }

    fn texts(cells: &TextCells) -> Vec<Option<&str>> {
        (0..cells.len()).map(|row| cells.text(row)).collect()
    }

    #[test]
    fn formats_15_3_cells_are_those_of_the_column() {
        let plain = "one long line of letters that a view cannot hold|short|another long one for the block";
        let foreign = Buffer::from("made by the plugin, in its own memory, ä included".as_bytes().to_vec());
        let mut seed = 7_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for text in [plain.to_owned(), plain.replace('l', "ä")] {
            let block = Buffer::from(text.clone().into_bytes());
            for round in 0..200 {
                let mut rows = Vec::new();
                for _ in 0..random(40) {
                    let buffer = if round % 3 == 0 { 0 } else { random(2) as u32 };
                    let held = std::str::from_utf8(if buffer == 0 { &block } else { &foreign }).unwrap();
                    let (start, end) = (random(held.len()), random(held.len() + 1));
                    let whole = start <= end && held.is_char_boundary(start) && held.is_char_boundary(end);
                    let absent = round % 2 == 0 && random(4) == 0;
                    rows.push(if absent || !whole { None } else { Some((buffer, start, end - start)) });
                }
                if round % 2 == 1 {
                    rows.retain(Option::is_some);
                }
                let array = column(&block, &foreign, &rows);
                let skipped = random(rows.len() + 1);
                let array = array.slice(skipped, rows.len() - skipped);
                let found = cells(&block, Arc::new(array.clone())).unwrap();
                assert_eq!(texts(&found), array.iter().collect::<Vec<_>>());
                let found = cells(&block, Arc::new(StringArray::from_iter(array.iter()))).unwrap();
                assert_eq!(texts(&found), array.iter().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn formats_15_2_cells_that_are_no_text_or_lie_outside_are_refused() {
        let block = Buffer::from("a long line with ä in the middle of it".as_bytes().to_vec());
        let own = Buffer::from(vec![0xFF_u8; 40]);
        let umlaut = block.iter().position(|byte| *byte == 0xC3).unwrap();
        for (row, why) in [
            ((0, 0, umlaut + 1), "half of a character at the end"),
            ((0, umlaut + 1, 15), "half of a character at the beginning"),
            ((0, umlaut, 1), "half of a character in a view"),
            ((1, 0, 30), "bytes of the plugin"),
            ((1, 0, 3), "bytes in a view"),
        ] {
            let array = column(&block, &own, &[Some((0, 0, 5)), Some(row), None]);
            let what = cells(&block, Arc::new(array)).unwrap_err();
            assert!(what.contains("row 1 of column `a` is not valid UTF-8"), "{why}: {what}");
        }
        for outside in [view(&[b'x'; 30], 0, 20), view(&[b'x'; 30], 1, 20), view(&[b'x'; 30], 9, 0)] {
            let views = ScalarBuffer::from(vec![outside]);
            // SAFETY: nobody follows the view but the function that is to refuse it.
            let array = unsafe { StringViewArray::new_unchecked(views, [block.clone(), own.clone()].into(), None) };
            let what = cells(&block, Arc::new(array)).unwrap_err();
            assert!(what.contains("outside"), "{what}");
        }
    }
}
