//! Host-owned output: compression below the format.

use std::io::{self, Write};

use flate2::write::GzEncoder;

use crate::input::Compression;

/// Bytes on their way to a destination, compressed if the Sink says so. One gzip member or zstd frame a file.
pub enum OutputStream<W: Write> {
    /// As they are.
    Plain(W),
    /// gzip.
    Gzip(GzEncoder<W>),
    /// zstd.
    Zstd(zstd::stream::write::Encoder<'static, W>),
}

impl<W: Write> OutputStream<W> {
    /// A stream into `out`. `Auto` has no meaning for outputs and compresses nothing.
    ///
    /// # Errors
    /// The codec cannot be set up.
    pub fn new(out: W, compression: Compression) -> io::Result<Self> {
        Ok(match compression {
            Compression::Auto | Compression::None => OutputStream::Plain(out),
            Compression::Gzip => OutputStream::Gzip(GzEncoder::new(out, flate2::Compression::default())),
            Compression::Zstd => OutputStream::Zstd(zstd::stream::write::Encoder::new(out, 0)?),
        })
    }

    /// Closes the member and gives the destination back.
    ///
    /// # Errors
    /// Those of the destination.
    pub fn finish(self) -> io::Result<W> {
        match self {
            OutputStream::Plain(out) => Ok(out),
            OutputStream::Gzip(encoder) => encoder.finish(),
            OutputStream::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for OutputStream<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            OutputStream::Plain(out) => out.write(bytes),
            OutputStream::Gzip(encoder) => encoder.write(bytes),
            OutputStream::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            OutputStream::Plain(out) => out.flush(),
            OutputStream::Gzip(encoder) => encoder.flush(),
            OutputStream::Zstd(encoder) => encoder.flush(),
        }
    }
}
