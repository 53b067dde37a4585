//! Cutting a file of one object a line.

use clinker_format::input::BlockInput;
use clinker_format::{Block, BlockBound, Cutter, Fault};
use memchr::memchr;

use crate::decoder::is_blank;
use crate::reader::{MAX_BLOCK_BYTES, too_long};

/// Cuts behind line feeds. A line that holds nothing but blank space is no row.
pub struct LineCutter {
    limit: usize,
    next_row: u64,
    next_line: u64,
}

/// The front of the window, as far as it was searched.
#[derive(Default)]
struct Found {
    /// Behind the last line feed.
    len: usize,
    rows: usize,
    lines: u64,
    /// No line feed stands between `len` and here.
    searched: usize,
}

impl LineCutter {
    /// A cutter of lines up to `limit` bytes, the next of which is `next_line`.
    pub fn new(limit: usize, next_line: u64) -> Self {
        Self { limit, next_row: 1, next_line }
    }

    /// Searches the window; `true` when the bound is reached.
    fn search(&self, found: &mut Found, window: &[u8], bound: BlockBound) -> Result<bool, usize> {
        while let Some(len) = memchr(b'\n', &window[found.searched..]) {
            let end = found.searched + len;
            let line = &window[found.len..end];
            if line.strip_suffix(b"\r").unwrap_or(line).len() > self.limit {
                return Err(found.len);
            }
            let counts = line.first() == Some(&b'{') || !is_blank(line);
            found.len = end + 1;
            found.searched = found.len;
            found.lines += 1;
            found.rows += usize::from(counts);
            if found.rows >= bound.rows.max(1) || found.len >= bound.bytes {
                return Ok(true);
            }
        }
        found.searched = window.len();
        // A CR may belong to the line end that is not seen yet.
        if window.len() - found.len > self.limit + 1 { Err(found.len) } else { Ok(false) }
    }

    fn take(&mut self, input: &mut BlockInput, found: &Found) -> Option<Block> {
        let (offset, data) = (input.offset(), input.take(found.len));
        let block = Block {
            data,
            rows: found.rows as u32,
            first_row: self.next_row,
            first_line: self.next_line,
            offset,
            ..Block::default()
        };
        self.next_row += found.rows as u64;
        self.next_line += found.lines;
        (found.rows > 0).then_some(block)
    }
}

impl Cutter for LineCutter {
    fn cut(&mut self, input: &mut BlockInput, bound: BlockBound) -> Result<Option<Block>, Fault> {
        let bound = BlockBound { rows: bound.rows, bytes: bound.bytes.clamp(1, MAX_BLOCK_BYTES) };
        let mut found = Found::default();
        loop {
            match self.search(&mut found, input.window(), bound) {
                Ok(false) => {}
                Ok(true) => match self.take(input, &found) {
                    Some(block) => return Ok(Some(block)),
                    // Nothing but blank lines.
                    None => {
                        found = Found::default();
                        continue;
                    }
                },
                Err(_) if found.rows > 0 => return Ok(self.take(input, &found)),
                Err(start) => {
                    let line = self.next_line + found.lines;
                    return Err(too_long("line", self.limit, line, input.offset() + start as u64));
                }
            }
            if input.ended() {
                let rest = &input.window()[found.len..];
                if rest.len() > self.limit && found.rows == 0 {
                    let line = self.next_line + found.lines;
                    return Err(too_long("line", self.limit, line, input.offset() + found.len as u64));
                }
                if rest.len() <= self.limit {
                    found.rows += usize::from(!is_blank(rest));
                    found.len = input.window().len();
                }
                return Ok(self.take(input, &found));
            }
            let room = (self.limit + 2).saturating_sub(input.window().len() - found.len);
            if let Err(error) = input.grow_at_most(room) {
                if found.rows == 0 {
                    return Err(error.into());
                }
                input.defer(error);
                return Ok(self.take(input, &found));
            }
        }
    }
}
