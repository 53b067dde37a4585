//! Opening files: their encoding and their shape.

use std::sync::Arc;

use clinker_format::charset::OPENING_BYTES;
use clinker_format::input::BlockInput;
use clinker_format::{Cutter, Fault, FileIdentity, OpenFile, ReadFactory};
use memchr::memrchr;

use crate::decoder::{JsonDecoder, Layout, RECORD_SEPARATOR};
use crate::elements::{ElementCutter, Frame, shown};
use crate::keys::Keys;
use crate::lines::LineCutter;
use crate::spec::{InputShape, ReaderSpec};
use crate::walk::Balance;

/// The most bytes a block is filled to, whatever the caller asks: positions in a block take 31 bits.
pub const MAX_BLOCK_BYTES: usize = 256 << 20;

/// Opens json files.
pub struct JsonReader {
    /// The bound options.
    pub spec: ReaderSpec,
    /// Names.
    pub keys: Arc<Keys>,
}

impl ReadFactory for JsonReader {
    fn open(&self, _file: &FileIdentity, input: &mut BlockInput) -> Result<OpenFile, Fault> {
        while input.window().len() < 2 * OPENING_BYTES && grow(input) {}
        check_encoding(input.window())?;
        if input.window().starts_with(b"\xEF\xBB\xBF") {
            input.take(3);
        }
        let mut line = 1;
        let shape = match &self.spec.shape {
            InputShape::Detect => self.detect(input, &mut line)?,
            shape => shape.clone().into(),
        };
        let limit = self.spec.max_record_bytes;
        let (cutter, layout): (Box<dyn Cutter>, Layout) = match shape {
            Shape::Lines => (Box::new(LineCutter::new(limit, line)), Layout::Lines),
            Shape::Elements(frame) => {
                let layout = Layout::Elements(frame.depth());
                (Box::new(ElementCutter::new(frame, limit, line)), layout)
            }
        };
        let columns = self.keys.declared.iter().map(|declared| Arc::clone(&declared.name)).collect();
        let decoder = Arc::new(JsonDecoder { keys: Arc::clone(&self.keys), layout });
        Ok(OpenFile { columns, named_by_file: false, cutter, decoder })
    }
}

/// The shape of a file.
enum Shape {
    Lines,
    Elements(Frame),
}

impl From<InputShape> for Shape {
    fn from(shape: InputShape) -> Self {
        match shape {
            InputShape::Lines | InputShape::Detect => Shape::Lines,
            InputShape::Array => Shape::Elements(Frame::Array),
            InputShape::Path(path) => Shape::Elements(Frame::Path(path)),
        }
    }
}

impl JsonReader {
    /// The shape that the first bytes tell (formats.md 5.2). Passes over lines that hold nothing.
    fn detect(&self, input: &mut BlockInput, line: &mut u64) -> Result<Shape, Fault> {
        let first = loop {
            let window = input.window();
            if let Some(first) = window.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
                if first - memrchr(b'\n', &window[..first]).map_or(0, |at| at + 1) > self.spec.max_record_bytes {
                    return Ok(Shape::Lines);
                }
                break first;
            }
            let lines = memrchr(b'\n', window).map_or(0, |at| at + 1);
            *line += memchr::memchr_iter(b'\n', &input.take(lines)).count() as u64;
            if input.window().len() > self.spec.max_record_bytes || !grow(input) {
                return Ok(Shape::Lines);
            }
        };
        match input.window()[first] {
            b'[' => Ok(Shape::Elements(Frame::Array)),
            b'{' => Ok(self.detect_objects(input, first)),
            byte => {
                let found = shown(byte);
                *line += memchr::memchr_iter(b'\n', &input.window()[..first]).count() as u64;
                Err(Fault::Corruption {
                    code: "E422",
                    line: *line,
                    offset: input.offset() + first as u64,
                    reason: format!("JSON input begins with `[` or with an object, found {found}"),
                    help: (byte == RECORD_SEPARATOR)
                        .then(|| "set `format: ndjson` to read a JSON text sequence".into()),
                })
            }
        }
    }

    /// One object a line, unless the first line ends inside an object or holds more than one.
    fn detect_objects(&self, input: &mut BlockInput, first: usize) -> Shape {
        let sequence = || Shape::Elements(Frame::Sequence);
        let (mut balance, mut at, mut closed) = (Balance::default(), first, false);
        loop {
            let window = input.window();
            while let Some(byte) = window.get(at) {
                // Beyond the limit the line is too long, whatever it is.
                if at - first > self.spec.max_record_bytes {
                    return Shape::Lines;
                }
                at += 1;
                match byte {
                    b'\n' => return if closed { Shape::Lines } else { sequence() },
                    _ if !closed => closed = balance.step(*byte),
                    b' ' | b'\t' | b'\r' => {}
                    b'{' => return sequence(),
                    _ => return Shape::Lines,
                }
            }
            if !grow(input) {
                return if closed { Shape::Lines } else { sequence() };
            }
        }
    }
}

/// Reads more. A failure is reported behind the records in front of it.
fn grow(input: &mut BlockInput) -> bool {
    match input.grow() {
        Ok(more) => more,
        Err(error) => {
            input.defer(error);
            false
        }
    }
}

/// JSON is UTF-8: other encodings show in a mark or in zero bytes (formats.md 1.6).
fn check_encoding(window: &[u8]) -> Result<(), Fault> {
    let text = window.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(window);
    let text = &text[..text.len().min(OPENING_BYTES)];
    let (found, shown_by) = match text {
        [0xFF, 0xFE, 0, 0] => ("UTF-32LE", "its byte-order mark"),
        [0, 0, 0xFE, 0xFF] => ("UTF-32BE", "its byte-order mark"),
        [0xFF, 0xFE, ..] => ("UTF-16LE", "its byte-order mark"),
        [0xFE, 0xFF, ..] => ("UTF-16BE", "its byte-order mark"),
        [0, 0, ..] => ("UTF-32BE", "its zero bytes"),
        [_, 0, 0, ..] => ("UTF-32LE", "its zero bytes"),
        [0, ..] | [_, _, 0, ..] => ("UTF-16BE", "its zero bytes"),
        text if text.contains(&0) => ("UTF-16LE", "its zero bytes"),
        _ => return Ok(()),
    };
    Err(Fault::Corruption {
        code: "E402",
        line: 1,
        offset: 0,
        reason: format!("JSON must be UTF-8; by {shown_by} the file is {found}"),
        help: Some("convert the file to UTF-8".into()),
    })
}

/// The fault of a record above the limit.
pub fn too_long(what: &str, limit: usize, line: u64, offset: u64) -> Fault {
    Fault::Corruption {
        code: "E426",
        line,
        offset,
        reason: format!("the {what} that begins here is longer than {limit} bytes"),
        help: Some(
            "raise the option `max_record_bytes`, or look for a string or container that is never closed".into(),
        ),
    }
}
