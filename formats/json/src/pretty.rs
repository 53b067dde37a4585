//! Compact JSON with each member on a line of its own.

/// Appends a compact JSON text, indented by two spaces a level. Empty containers stay as they are.
pub fn append(compact: &[u8], out: &mut Vec<u8>) {
    let mut depth = 0;
    let mut at = 0;
    while let Some(byte) = compact.get(at) {
        match byte {
            b'"' => {
                let end = string_end(compact, at);
                out.extend_from_slice(&compact[at..end]);
                at = end;
                continue;
            }
            b'{' | b'[' if matches!(compact.get(at + 1), Some(b'}' | b']')) => {
                out.extend_from_slice(&compact[at..at + 2]);
                at += 2;
                continue;
            }
            b'{' | b'[' => {
                depth += 1;
                out.push(*byte);
                line(depth, out);
            }
            b'}' | b']' => {
                depth -= 1;
                line(depth, out);
                out.push(*byte);
            }
            b',' => {
                out.push(b',');
                line(depth, out);
            }
            b':' => out.extend_from_slice(b": "),
            byte => out.push(*byte),
        }
        at += 1;
    }
}

fn line(depth: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    out.resize(out.len() + 2 * depth, b' ');
}

/// Behind the closing quote of the string that begins at `at`.
fn string_end(compact: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    loop {
        match compact.get(end) {
            Some(b'"') => return end + 1,
            Some(b'\\') => end += 2,
            Some(_) => end += 1,
            // Only a record that is refused ends inside a string.
            None => return compact.len(),
        }
    }
}
