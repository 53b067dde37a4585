//! Compression below the format: recognising it, undoing it, and saying what is wrong with it.

use std::fmt;
use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

use crate::Fault;

const GZIP: &[u8] = b"\x1F\x8B";
const ZSTD: &[u8] = b"\x28\xB5\x2F\xFD";
/// Skippable zstd frames begin with one of sixteen values of which only the low half byte differs.
const ZSTD_SKIPPABLE: &[u8] = b"\x2A\x4D\x18";
/// The longest signature.
const SIGNATURE_BYTES: usize = 4;
const BUFFER: usize = 64 << 10;

/// The `compression` key of a Source or Sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// By the signature at the start of the file.
    Auto,
    /// Bytes as they are.
    None,
    /// gzip, one or more members.
    Gzip,
    /// zstd, one or more frames.
    Zstd,
}

impl Compression {
    /// The words of the key, in the order of [`Compression::from_word`].
    pub const WORDS: [&'static str; 4] = ["auto", "none", "gzip", "zstd"];

    /// The compression that a word names.
    pub fn from_word(word: &str) -> Option<Compression> {
        match word {
            "auto" => Some(Compression::Auto),
            "none" => Some(Compression::None),
            "gzip" => Some(Compression::Gzip),
            "zstd" => Some(Compression::Zstd),
            _ => None,
        }
    }
}

/// What is wrong with an input below its format. It travels inside an [`io::Error`].
#[derive(Clone, Debug, PartialEq)]
pub struct InputFault {
    /// The code.
    pub code: &'static str,
    /// Bytes (decompressed ones) in front of it.
    pub offset: u64,
    /// The construct and what is wrong with it.
    pub reason: String,
}

impl fmt::Display for InputFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "[{}] byte offset {}: {}", self.code, self.offset, self.reason)
    }
}

impl std::error::Error for InputFault {}

impl From<InputFault> for io::Error {
    fn from(fault: InputFault) -> Self {
        io::Error::new(io::ErrorKind::InvalidData, fault)
    }
}

/// Opens a file's bytes: looks at their signature and undoes the compression.
///
/// # Errors
/// E410 when a named codec's signature is missing, and failures of the reader.
pub fn open_stream(reader: Box<dyn Read + Send>, compression: Compression) -> Result<Box<dyn Read + Send>, Fault> {
    let mut source = Source::new(reader);
    let first = source.peek(SIGNATURE_BYTES)?;
    let found = match first {
        _ if first.starts_with(GZIP) => Compression::Gzip,
        _ if first.starts_with(ZSTD) || is_skippable(first) => Compression::Zstd,
        _ => Compression::None,
    };
    let codec = match (compression, found) {
        (Compression::None, _) | (Compression::Auto, Compression::None | Compression::Auto) => {
            return Ok(Box::new(source));
        }
        // A skippable frame is no signature that decides by itself.
        (Compression::Auto, Compression::Zstd) if !first.starts_with(ZSTD) => return Ok(Box::new(source)),
        (Compression::Auto | Compression::Gzip, Compression::Gzip) => Codec::Gzip,
        (Compression::Auto | Compression::Zstd, Compression::Zstd) => Codec::Zstd,
        (Compression::Gzip, _) => return Err(missing_signature(Codec::Gzip)),
        (Compression::Zstd, _) => return Err(missing_signature(Codec::Zstd)),
    };
    Ok(Box::new(Decompressed::new(codec, source)))
}

fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [0x50..=0x5F, rest @ ..] if rest.starts_with(ZSTD_SKIPPABLE))
}

fn missing_signature(codec: Codec) -> Fault {
    let name = codec.name();
    Fault::Corruption {
        code: "E410",
        line: 0,
        offset: 0,
        reason: format!("`compression: {name}` is set and the file does not begin with the signature of {name}"),
        help: Some("`compression: auto` reads compressed and plain files alike".into()),
    }
}

/// A reader of a file whose size was taken when it was opened: ending sooner is E421.
pub struct WholeFile<R> {
    reader: R,
    size: u64,
    read: u64,
}

impl<R: Read> WholeFile<R> {
    /// A reader that must deliver at least `size` bytes.
    pub fn new(reader: R, size: u64) -> Self {
        Self { reader, size, read: 0 }
    }
}

impl<R: Read> Read for WholeFile<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.reader.read(into)?;
        self.read += bytes as u64;
        if bytes == 0 && !into.is_empty() && self.read < self.size {
            let reason = format!("the file had {} bytes when it was opened and ends after {}", self.size, self.read);
            return Err(InputFault { code: "E421", offset: self.read, reason }.into());
        }
        Ok(bytes)
    }
}

/// A reader with a buffer in which signatures are looked at.
struct Source {
    reader: Box<dyn Read + Send>,
    read: u64,
    buffer: Vec<u8>,
    start: usize,
    /// Whether a read failed: then a decoder's error is that failure.
    failed: bool,
}

impl Source {
    fn new(reader: Box<dyn Read + Send>) -> Self {
        Self { reader, read: 0, buffer: Vec::new(), start: 0, failed: false }
    }

    fn read_counted(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.reader.read(into) {
                Ok(bytes) => {
                    self.read += bytes as u64;
                    return Ok(bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = true;
                    return Err(error);
                }
            }
        }
    }

    /// The next `want` bytes without consuming them; fewer only at the end.
    fn peek(&mut self, want: usize) -> io::Result<&[u8]> {
        while self.buffer.len() - self.start < want {
            let mut more = [0; SIGNATURE_BYTES];
            let missing = want - (self.buffer.len() - self.start);
            let bytes = self.read_counted(&mut more[..missing])?;
            if bytes == 0 {
                break;
            }
            self.buffer.extend_from_slice(&more[..bytes]);
        }
        Ok(&self.buffer[self.start..])
    }
}

impl Read for Source {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.start == self.buffer.len() {
            // Large plain reads go past the buffer.
            return self.read_counted(into);
        }
        let bytes = into.len().min(self.buffer.len() - self.start);
        into[..bytes].copy_from_slice(&self.buffer[self.start..self.start + bytes]);
        self.start += bytes;
        Ok(bytes)
    }
}

impl BufRead for Source {
    /// Fills the whole buffer however small the pieces are, so that decoders see the same bytes at once every time.
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.buffer.len() {
            self.start = 0;
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.resize(BUFFER, 0);
            let mut filled = 0;
            let mut result = Ok(());
            while filled < BUFFER {
                match self.read_counted(&mut buffer[filled..]) {
                    Ok(0) => break,
                    Ok(bytes) => filled += bytes,
                    Err(error) => {
                        result = Err(error);
                        break;
                    }
                }
            }
            buffer.truncate(filled);
            self.buffer = buffer;
            result?;
        }
        Ok(&self.buffer[self.start..])
    }

    fn consume(&mut self, bytes: usize) {
        self.start += bytes;
    }
}

#[derive(Clone, Copy)]
enum Codec {
    Gzip,
    Zstd,
}

impl Codec {
    fn name(self) -> &'static str {
        match self {
            Codec::Gzip => "gzip",
            Codec::Zstd => "zstd",
        }
    }

    fn begins(self, bytes: &[u8]) -> bool {
        match self {
            Codec::Gzip => bytes.starts_with(GZIP),
            Codec::Zstd => bytes.starts_with(ZSTD) || is_skippable(bytes),
        }
    }

    /// Whether these last bytes are a part of a signature.
    fn is_cut_off(self, bytes: &[u8]) -> bool {
        match self {
            Codec::Gzip => bytes.len() < GZIP.len() && GZIP.starts_with(bytes),
            Codec::Zstd => {
                bytes.len() < ZSTD.len()
                    && (ZSTD.starts_with(bytes)
                        || matches!(bytes, [0x50..=0x5F, rest @ ..] if ZSTD_SKIPPABLE.starts_with(rest)))
            }
        }
    }
}

enum State {
    /// In front of a member or frame, or at the end.
    Between(Source),
    Gzip(GzDecoder<Source>),
    Zstd(ZstdDecoder<'static, Source>),
    Done,
}

/// All members or frames of a file as one stream.
///
/// It is decoded in pieces of one size whatever the caller asks for: what a decoder made in the call that meets a
/// fault is lost, and how much that is must not depend on the caller.
struct Decompressed {
    codec: Codec,
    state: State,
    delivered: u64,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Decompressed {
    fn new(codec: Codec, source: Source) -> Self {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Self { codec, state: State::Between(source), delivered: 0, buffer, start: 0, end: 0 }
    }

    /// Opens the next member, or finds the end.
    fn next_member(&mut self, mut source: Source) -> io::Result<State> {
        let codec = self.codec;
        let first = source.peek(SIGNATURE_BYTES)?;
        if first.is_empty() {
            return Ok(State::Done);
        }
        if codec.is_cut_off(first) {
            let reason = format!("the {} stream ends inside a signature", codec.name());
            return Err(InputFault { code: "E421", offset: self.delivered, reason }.into());
        }
        if !codec.begins(first) {
            let at = source.read - (source.buffer.len() - source.start) as u64;
            let name = codec.name();
            let reason = format!("compressed byte {at} follows the last {name} member and begins no further one");
            return Err(InputFault { code: "E422", offset: self.delivered, reason }.into());
        }
        Ok(match codec {
            Codec::Gzip => State::Gzip(GzDecoder::new(source)),
            Codec::Zstd => State::Zstd(ZstdDecoder::with_buffer(source)?.single_frame()),
        })
    }

    /// A decoder's error as a fault of the input, unless reading itself failed.
    fn fault(&self, error: io::Error, source: &Source) -> io::Error {
        if source.failed {
            return error;
        }
        let name = self.codec.name();
        let (code, what) = if error.kind() == io::ErrorKind::UnexpectedEof {
            ("E421", "ends too early".to_owned())
        } else {
            ("E422", format!("is damaged: {error}"))
        };
        let reason = format!("the {name} stream {what}, near compressed byte {}", source.read);
        InputFault { code, offset: self.delivered, reason }.into()
    }

    /// Decodes the next piece; 0 at the end.
    fn decode(&mut self) -> io::Result<usize> {
        loop {
            // An error leaves `Done` behind: nothing is delivered after it.
            let (result, state) = match std::mem::replace(&mut self.state, State::Done) {
                State::Done => return Ok(0),
                State::Between(source) => {
                    self.state = self.next_member(source)?;
                    continue;
                }
                State::Gzip(mut decoder) => match decoder.read(&mut self.buffer) {
                    Ok(0) => (Ok(0), State::Between(decoder.into_inner())),
                    Ok(bytes) => (Ok(bytes), State::Gzip(decoder)),
                    Err(error) => (Err(self.fault(error, decoder.get_ref())), State::Done),
                },
                State::Zstd(mut decoder) => match decoder.read(&mut self.buffer) {
                    Ok(0) => (Ok(0), State::Between(decoder.finish())),
                    Ok(bytes) => (Ok(bytes), State::Zstd(decoder)),
                    Err(error) => (Err(self.fault(error, decoder.get_ref())), State::Done),
                },
            };
            self.state = state;
            let bytes = result?;
            if bytes > 0 {
                self.delivered += bytes as u64;
                return Ok(bytes);
            }
        }
    }
}

impl Read for Decompressed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.start == self.end && !into.is_empty() {
            self.start = 0;
            self.end = 0;
            self.end = self.decode()?;
        }
        let bytes = into.len().min(self.end - self.start);
        into[..bytes].copy_from_slice(&self.buffer[self.start..self.start + bytes]);
        self.start += bytes;
        Ok(bytes)
    }
}
