//! Files of frames.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{SpillDirectory, SpillError};

/// The longest piece of a frame. A longer length in a file is a sign of damage, and is refused before anything is
/// allocated.
pub const MAX_FRAME: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };

/// What a file begins with: a name, a version, and whether frames are compressed (`l`) or not (`r`).
const MAGIC: [u8; 5] = *b"CLSP1";
const RAW: u8 = b'r';
const LZ4: u8 = b'l';
/// Set in the length of a piece that is not the last one of its frame.
const GOES_ON: u32 = 1 << 31;
/// Length and checksum in front of each frame.
const FRAME_HEAD: usize = 8;
/// Bytes between a reader or writer and its file.
const BUFFER: usize = 64 << 10;

/// A spill file that is written. Dropped without being finished, it disappears.
pub struct SpillWriter {
    /// None once the file was finished.
    file: Option<SpillFile>,
    /// Who spills.
    stage: Arc<str>,
    out: BufWriter<File>,
    compress: bool,
    packed: Vec<u8>,
}

impl SpillWriter {
    pub(super) fn create(
        directory: Arc<SpillDirectory>,
        stage: Arc<str>,
        path: PathBuf,
        compress: bool,
    ) -> Result<Self, SpillError> {
        let created = File::create_new(&path).map_err(|error| SpillError::of(&path, "create the spill file", error))?;
        let mut file = SpillFile { directory, path, bytes: 0, frames: 0 };
        let mut out = BufWriter::with_capacity(BUFFER, created);
        let head = [&MAGIC[..], &[if compress { LZ4 } else { RAW }]].concat();
        file.charge(head.len() as u64)?;
        out.write_all(&head).map_err(|error| SpillError::of(&file.path, "write", error))?;
        Ok(Self { file: Some(file), stage, out, compress, packed: Vec::new() })
    }

    /// Appends a frame. One that is longer than [`MAX_FRAME`], because a single record is, is stored in pieces.
    ///
    /// # Errors
    /// The quota (E320), a full volume (E321), or another failure to write.
    pub fn frame(&mut self, bytes: &[u8]) -> Result<(), SpillError> {
        let mut rest = bytes;
        while rest.len() > MAX_FRAME {
            let (piece, more) = rest.split_at(MAX_FRAME);
            self.piece(piece, true)?;
            rest = more;
        }
        self.piece(rest, false)
    }

    fn piece(&mut self, bytes: &[u8], goes_on: bool) -> Result<(), SpillError> {
        let Some(file) = &mut self.file else { unreachable!("a finished writer is gone") };
        let content = if self.compress {
            self.packed.clear();
            self.packed.extend((bytes.len() as u32).to_le_bytes());
            let start = self.packed.len();
            self.packed.resize(start + lz4_flex::block::get_maximum_output_size(bytes.len()), 0);
            let packed = lz4_flex::block::compress_into(bytes, &mut self.packed[start..]);
            let packed = packed.expect("the buffer has the maximum size");
            self.packed.truncate(start + packed);
            &self.packed
        } else {
            bytes
        };
        file.charge((FRAME_HEAD + content.len()) as u64)?;
        file.frames += 1;
        let mut head = [0; FRAME_HEAD];
        let len = content.len() as u32 | if goes_on { GOES_ON } else { 0 };
        head[..4].copy_from_slice(&len.to_le_bytes());
        head[4..].copy_from_slice(&crc32fast::hash(content).to_le_bytes());
        let written = self.out.write_all(&head).and_then(|()| self.out.write_all(content));
        written.map_err(|error| SpillError::of(&file.path, "write", error))
    }

    /// The error for rows that cannot be stored here.
    pub fn corrupt(&self, reason: &str) -> SpillError {
        corrupt(self.file.as_ref().map_or(Path::new(""), |file| &file.path), reason)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// As [`SpillWriter::frame`].
    pub fn finish(mut self) -> Result<SpillFile, SpillError> {
        let Some(file) = self.file.take() else { unreachable!("a finished writer is gone") };
        self.out.flush().map_err(|error| SpillError::of(&file.path, "write", error))?;
        file.directory.count(&self.stage, file.bytes);
        Ok(file)
    }
}

/// A complete spill file. It can be read any number of times, and disappears when it is dropped.
#[derive(Debug)]
pub struct SpillFile {
    directory: Arc<SpillDirectory>,
    path: PathBuf,
    bytes: u64,
    frames: u64,
}

impl SpillFile {
    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads it from the beginning.
    ///
    /// # Errors
    /// It is gone, or is none of ours.
    pub fn open(&self) -> Result<SpillReader, SpillError> {
        let file = File::open(&self.path).map_err(|error| SpillError::of(&self.path, "open", error))?;
        let mut reader = SpillReader {
            input: BufReader::with_capacity(BUFFER, file),
            path: self.path.clone(),
            left: self.frames,
            compressed: false,
            packed: Vec::new(),
        };
        let mut head = [0; MAGIC.len() + 1];
        reader.fill(&mut head)?;
        let (magic, codec) = head.split_at(MAGIC.len());
        reader.compressed = match codec[0] {
            LZ4 if magic == MAGIC => true,
            RAW if magic == MAGIC => false,
            _ => return Err(reader.corrupt("it does not begin as a spill file")),
        };
        Ok(reader)
    }

    fn charge(&mut self, bytes: u64) -> Result<(), SpillError> {
        self.directory.charge(bytes)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        // The directory goes with the run in any case.
        let _ = fs::remove_file(&self.path);
        self.directory.release(self.bytes);
    }
}

/// Reads a spill file frame by frame.
pub struct SpillReader {
    input: BufReader<File>,
    path: PathBuf,
    /// Frames that are still to come.
    left: u64,
    compressed: bool,
    packed: Vec<u8>,
}

impl SpillReader {
    /// The next frame, into `out`; `false` behind the last one.
    ///
    /// # Errors
    /// Damage: a wrong length or checksum, or an early end.
    pub fn frame(&mut self, out: &mut Vec<u8>) -> Result<bool, SpillError> {
        out.clear();
        if self.left == 0 {
            return Ok(false);
        }
        while self.piece(out)? {}
        Ok(true)
    }

    /// Appends the next piece to `out`; `true` when its frame goes on.
    fn piece(&mut self, out: &mut Vec<u8>) -> Result<bool, SpillError> {
        self.left = self.left.checked_sub(1).ok_or_else(|| self.corrupt("it ends inside a frame"))?;
        let mut head = [0; FRAME_HEAD];
        self.fill(&mut head)?;
        let (len, checksum) = head.split_at(4);
        let len = u32::from_le_bytes(len.try_into().expect("four bytes"));
        let (len, goes_on) = ((len & !GOES_ON) as usize, len & GOES_ON != 0);
        // Compression may make a piece a little longer.
        if len > lz4_flex::block::get_maximum_output_size(MAX_FRAME) + 4 {
            return Err(self.corrupt("a frame is longer than frames may be"));
        }
        let start = out.len();
        let mut packed = std::mem::take(&mut self.packed);
        let content = if self.compressed {
            packed.resize(len, 0);
            &mut packed[..]
        } else {
            out.resize(start + len, 0);
            &mut out[start..]
        };
        self.fill(content)?;
        if crc32fast::hash(content).to_le_bytes() != checksum {
            return Err(self.corrupt("a checksum is wrong"));
        }
        if self.compressed {
            self.unpack(&packed, out)?;
        }
        self.packed = packed;
        Ok(goes_on)
    }

    fn unpack(&self, content: &[u8], out: &mut Vec<u8>) -> Result<(), SpillError> {
        let Some((len, packed)) = content.split_first_chunk::<4>() else {
            return Err(self.corrupt("a frame is too short"));
        };
        let len = u32::from_le_bytes(*len) as usize;
        if len > MAX_FRAME {
            return Err(self.corrupt("a frame is longer than frames may be"));
        }
        let start = out.len();
        out.resize(start + len, 0);
        match lz4_flex::block::decompress_into(packed, &mut out[start..]) {
            Ok(written) if written == len => Ok(()),
            _ => Err(self.corrupt("a frame cannot be decompressed")),
        }
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), SpillError> {
        self.input.read_exact(buffer).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => self.corrupt("it ends too early"),
            _ => SpillError::of(&self.path, "read", error),
        })
    }

    /// The error for frames that hold something else than was stored.
    pub fn corrupt(&self, reason: &str) -> SpillError {
        corrupt(&self.path, reason)
    }
}

fn corrupt(path: &Path, reason: &str) -> SpillError {
    SpillError::Corrupt { path: path.to_owned(), reason: reason.to_owned() }
}
