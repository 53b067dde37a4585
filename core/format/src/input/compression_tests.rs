use std::io::{self, Cursor, Read, Write};

use flate2::write::GzEncoder;

use super::compression::{Compression, WholeFile, open_stream};
use crate::Fault;

/// One byte a read: a pipe at its worst.
struct Drop(Cursor<Vec<u8>>);

impl Read for Drop {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let end = into.len().min(1);
        self.0.read(&mut into[..end])
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn body() -> Vec<u8> {
    (0..20_000_u32).flat_map(|at| format!("{},", at.wrapping_mul(2_654_435_761)).into_bytes()).collect()
}

/// What comes out, and the code of the fault that ends it.
fn read(bytes: &[u8], compression: Compression) -> (Vec<u8>, Option<(&'static str, u64)>) {
    let run = |reader: Box<dyn Read + Send>| {
        let mut out = Vec::new();
        let result = match open_stream(reader, compression) {
            Ok(mut stream) => stream.read_to_end(&mut out).map(|_| ()).map_err(Fault::from),
            Err(fault) => Err(fault),
        };
        let fault = match result {
            Ok(()) => None,
            Err(Fault::Corruption { code, offset, .. }) => Some((code, offset)),
            Err(fault) => panic!("{fault:?}"),
        };
        (out, fault)
    };
    let whole = run(Box::new(Cursor::new(bytes.to_vec())));
    if bytes.len() < 200_000 {
        let drops = run(Box::new(Drop(Cursor::new(bytes.to_vec()))));
        assert!(drops.0 == whole.0, "{} and {} bytes", drops.0.len(), whole.0.len());
        assert_eq!(drops.1.map(|(code, _)| code), whole.1.map(|(code, _)| code));
    }
    whole
}

#[test]
fn formats_1_6_auto_goes_by_the_signature() {
    let text = body();
    for bytes in [text.clone(), gzip(&text), zstd(&text)] {
        assert!(read(&bytes, Compression::Auto) == (text.clone(), None));
    }
    for bytes in [b"".as_slice(), b"\x1F", b"\x28\xB5\x2F", b"a"] {
        assert_eq!(read(bytes, Compression::Auto), (bytes.to_vec(), None));
    }
}

#[test]
fn formats_1_6_none_reads_bytes_as_they_are() {
    let bytes = gzip(b"x");
    assert_eq!(read(&bytes, Compression::None), (bytes.clone(), None));
}

#[test]
fn formats_1_6_a_named_codec_without_its_signature_is_e410() {
    for (bytes, compression) in [
        (b"plain".to_vec(), Compression::Gzip),
        (Vec::new(), Compression::Zstd),
        (zstd(b"x"), Compression::Gzip),
        (gzip(b"x"), Compression::Zstd),
    ] {
        assert_eq!(read(&bytes, compression), (Vec::new(), Some(("E410", 0))));
    }
    assert_eq!(read(&gzip(b"x"), Compression::Gzip), (b"x".to_vec(), None));
    assert_eq!(read(&zstd(b"x"), Compression::Zstd), (b"x".to_vec(), None));
}

#[test]
fn formats_1_6_members_and_frames_are_one_stream() {
    let text = body();
    let twice = [&text[..], b"tail"].concat();
    assert!(read(&[gzip(&text), gzip(b""), gzip(b"tail")].concat(), Compression::Auto) == (twice.clone(), None));
    let skippable = b"\x5A\x2A\x4D\x18\x03\0\0\0abc".to_vec();
    assert!(read(&[zstd(&text), skippable, zstd(b"tail")].concat(), Compression::Auto) == (twice, None));
}

#[test]
fn formats_1_6_a_truncated_member_is_e421() {
    for bytes in [gzip(&body()), zstd(&body()), [gzip(b"a"), gzip(b"b")].concat(), [zstd(b"a"), zstd(b"b")].concat()] {
        for cut in [1, 3, 5, 8, 12] {
            let (_, fault) = read(&bytes[..bytes.len() - cut], Compression::Auto);
            assert_eq!(fault.map(|(code, _)| code), Some("E421"), "{cut}");
        }
    }
}

#[test]
fn formats_1_6_every_cut_of_a_member_is_a_fault() {
    for bytes in [gzip(b"some text"), zstd(b"some text")] {
        for len in 4..bytes.len() {
            assert_eq!(read(&bytes[..len], Compression::Auto).1.map(|(code, _)| code), Some("E421"), "{len}");
        }
    }
}

#[test]
fn formats_1_6_a_wrong_checksum_is_e422() {
    let mut bytes = gzip(&body());
    let at = bytes.len() - 6;
    bytes[at] ^= 1;
    assert_eq!(read(&bytes, Compression::Auto).1.unwrap().0, "E422");
    let mut bytes = zstd(&body());
    let at = bytes.len() - 1;
    bytes[at] ^= 1;
    assert_eq!(read(&bytes, Compression::Auto).1.unwrap().0, "E422");
}

#[test]
fn formats_1_6_bytes_behind_the_last_member_are_e422() {
    for member in [gzip(b"text"), zstd(b"text")] {
        for rest in [b"\n".as_slice(), b"\0\0\0\0\0", b"more text", b"\x28\xB6"] {
            let (out, fault) = read(&[&member[..], rest].concat(), Compression::Auto);
            assert_eq!((out.as_slice(), fault), (b"text".as_slice(), Some(("E422", 4))), "{rest:?}");
        }
    }
}

#[test]
fn formats_1_6_a_file_shorter_than_its_size_at_open_is_e421() {
    for bytes in [b"plain".to_vec(), gzip(b"text")] {
        let size = bytes.len() as u64;
        for (size, faulty) in [(size, false), (size - 1, false), (size + 1, true)] {
            let reader = WholeFile::new(Cursor::new(bytes.clone()), size);
            let mut stream = open_stream(Box::new(reader), Compression::Auto).unwrap();
            let result = stream.read_to_end(&mut Vec::new()).map_err(Fault::from);
            assert_eq!(matches!(result, Err(Fault::Corruption { code: "E421", .. })), faulty);
        }
    }
}

#[test]
fn formats_1_9_a_failing_reader_is_never_reported_as_bad_data() {
    struct Broken(Cursor<Vec<u8>>);
    impl Read for Broken {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            match self.0.read(into)? {
                0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
                bytes => Ok(bytes),
            }
        }
    }
    for bytes in [gzip(&body()), zstd(&body()), b"plain text".to_vec()] {
        let half = bytes[..bytes.len() / 2].to_vec();
        let mut stream = open_stream(Box::new(Broken(Cursor::new(half))), Compression::Auto).unwrap();
        let fault = Fault::from(stream.read_to_end(&mut Vec::new()).unwrap_err());
        assert!(matches!(fault, Fault::Io(_)), "{fault:?}");
    }
}
