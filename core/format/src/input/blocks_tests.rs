use std::io::{self, Cursor, Read};

use super::BlockInput;
use super::compression::InputFault;
use crate::Fault;

/// Gives its bytes in pieces and then fails.
struct Failing {
    data: Vec<u8>,
    at: usize,
}

impl Read for Failing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.data.len() {
            return Err(InputFault { code: "E421", offset: self.at as u64, reason: "cut".into() }.into());
        }
        let bytes = into.len().min(3).min(self.data.len() - self.at);
        into[..bytes].copy_from_slice(&self.data[self.at..self.at + bytes]);
        self.at += bytes;
        Ok(bytes)
    }
}

#[test]
fn formats_15_3_the_window_does_not_depend_on_the_chunks() {
    let data: Vec<u8> = (0..50_000_u32).map(|at| (at * 7) as u8).collect();
    for chunk in [1, 7, 4096, 1 << 20] {
        let mut input = BlockInput::new(Box::new(Cursor::new(data.clone()))).with_chunk(chunk);
        let (mut seen, mut take) = (Vec::new(), 1);
        while input.window().len() >= take || input.grow().unwrap() {
            if input.window().len() < take {
                continue;
            }
            assert_eq!(input.offset(), seen.len() as u64);
            seen.extend_from_slice(&input.take(take));
            take = take % 97 + 1;
        }
        assert!(input.ended());
        seen.extend_from_slice(input.window());
        assert_eq!(seen, data, "{chunk}");
    }
}

#[test]
fn formats_1_7_growth_keeps_to_its_limit() {
    let mut input = BlockInput::new(Box::new(io::repeat(b'x')));
    for limit in [1, 10, 100_000, 1] {
        let before = input.window().len();
        assert!(input.grow_at_most(limit).unwrap());
        assert_eq!(input.window().len() - before, limit);
    }
}

#[test]
fn formats_15_3_bytes_in_front_of_a_failure_are_delivered_first() {
    let mut input = BlockInput::new(Box::new(Failing { data: b"0123456789".to_vec(), at: 0 }));
    assert!(input.grow().unwrap());
    assert_eq!(input.window(), b"0123456789");
    let failure = input.grow().unwrap_err();
    input.defer(failure);
    assert!(!input.ended());
    match Fault::from(input.grow().unwrap_err()) {
        Fault::Corruption { code, offset, .. } => assert_eq!((code, offset), ("E421", 10)),
        fault => panic!("{fault:?}"),
    }
    assert!(!input.grow().unwrap());
}

#[test]
fn formats_1_9_other_failures_stay_failures_to_read() {
    let error = io::Error::from(io::ErrorKind::PermissionDenied);
    assert!(matches!(Fault::from(error), Fault::Io(inner) if inner.kind() == io::ErrorKind::PermissionDenied));
}
