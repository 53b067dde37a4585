//! A reader that is a direct transcription of formats.md 2.2: one byte after the other, everything in memory.
//!
//! It knows ASCII-compatible one-byte framing only and shares no code with the format.

/// A record as the rules of splitting see it.
#[derive(Debug, PartialEq, Eq, Clone)]
pub struct Record {
    /// Undecoded cells without their quotes.
    pub cells: Vec<Vec<u8>>,
    /// First byte.
    pub start: usize,
    /// One past the last byte before the terminator.
    pub end: usize,
    /// 1-based physical line of its first byte.
    pub line: u64,
}

/// What is read from a file, and how reading ends.
#[derive(Debug, PartialEq, Eq)]
pub struct Parsed {
    /// All records that are complete.
    pub records: Vec<Record>,
    /// Offset and line of the quote that is never closed.
    pub open_quote: Option<(usize, u64)>,
}

/// Splits `data` into records.
pub fn parse(data: &[u8], delimiter: u8, quote: u8) -> Parsed {
    let mut parsed = Parsed { records: Vec::new(), open_quote: None };
    let mut at = 0;
    let mut line = 1;
    while at < data.len() {
        if is_line_end(data[at]) {
            at += line_end(data, at);
            line += 1;
            continue;
        }
        let mut record = Record { cells: Vec::new(), start: at, end: at, line };
        loop {
            let mut cell = Vec::new();
            if at < data.len() && data[at] == quote {
                let opened = (at, line);
                at += 1;
                loop {
                    if at == data.len() {
                        parsed.open_quote = Some(opened);
                        return parsed;
                    }
                    if data[at] == quote {
                        if data.get(at + 1) == Some(&quote) {
                            cell.push(quote);
                            at += 2;
                            continue;
                        }
                        at += 1;
                        break;
                    }
                    if is_line_end(data[at]) {
                        let len = line_end(data, at);
                        cell.extend_from_slice(&data[at..at + len]);
                        at += len;
                        line += 1;
                        continue;
                    }
                    cell.push(data[at]);
                    at += 1;
                }
            }
            while at < data.len() && data[at] != delimiter && !is_line_end(data[at]) {
                cell.push(data[at]);
                at += 1;
            }
            record.cells.push(cell);
            if at < data.len() && data[at] == delimiter {
                at += 1;
                continue;
            }
            break;
        }
        record.end = at;
        if at < data.len() {
            at += line_end(data, at);
            line += 1;
        }
        parsed.records.push(record);
    }
    parsed
}

fn is_line_end(byte: u8) -> bool {
    byte == b'\r' || byte == b'\n'
}

/// Length of the line end at `at`: CRLF is one.
fn line_end(data: &[u8], at: usize) -> usize {
    if data[at] == b'\r' && data.get(at + 1) == Some(&b'\n') { 2 } else { 1 }
}
