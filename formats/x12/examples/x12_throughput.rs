//! Megabytes a second of the cutter and the decoder on one file, one thread. Seconds are those that the thread ran, where
//! the system tells them.
//!
//! `cargo run --release -p clinker-x12 --example x12_throughput -- <file.x12>`

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::io::Cursor;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use clinker_format::input::BlockInput;
use clinker_format::{Block, BlockBound, Decoder, FileIdentity, Format, OpenFile, Options, ReadFactory, ReadRequest};
use clinker_x12::X12;

const BOUND: BlockBound = BlockBound { rows: 8192, bytes: 1 << 20 };
const ROUNDS: usize = 5;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let path = std::env::args().nth(1).ok_or("the path of an x12 file is missing")?;
    let bytes = fs::read(&path)?;
    let size = bytes.len() as f64 / 1e6;
    let options = Options::default();
    let factory = X12
        .bind_reader(&ReadRequest {
            options: &options,
            fields: &[],
            undeclared: true,
            refuse_undeclared: false,
            expand: &[],
            max_rows: None,
        })
        .map_err(|_| "options")?;
    for _ in 0..ROUNDS {
        let (file, blocks, read, own) = cut(&*factory, &bytes)?;
        let (rows, decoding) = decode(&*file.decoder, &wanted(&file), &blocks);
        println!(
            "read and cut {:6.0}   cutter {:6.0}   decoder {:6.0}   all {:6.0}   MB/s, {rows} rows",
            size / read,
            size / own,
            size / decoding,
            size / (read + decoding)
        );
    }
    Ok(())
}

/// Seconds of this thread.
fn now() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let ran = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = ran.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    nanos.map_or_else(|| START.elapsed().as_secs_f64(), |nanos| nanos as f64 / 1e9)
}

/// The tag, the set and all elements.
fn wanted(file: &OpenFile) -> Vec<usize> {
    (0..file.columns.len()).filter(|at| *file.columns[*at] != *"set_type").collect()
}

fn opened(factory: &dyn ReadFactory, bytes: &[u8]) -> Result<(OpenFile, BlockInput), Failure> {
    let identity = FileIdentity { source: Arc::from("in"), shown: Arc::from("in") };
    let mut input = BlockInput::new(Box::new(Cursor::new(bytes.to_vec())));
    let file = factory.open(&identity, &mut input).map_err(|fault| format!("{fault:?}"))?;
    Ok((file, input))
}

/// The file, its blocks, seconds of reading and cutting, and those without the copy into the window.
fn cut(factory: &dyn ReadFactory, bytes: &[u8]) -> Result<(OpenFile, Vec<Block>, f64, f64), Failure> {
    let failed = |fault| format!("{fault:?}");
    let (mut file, mut input) = opened(factory, bytes)?;
    let start = now();
    // Blocks are dropped at once, so that their memory is used again.
    while file.cutter.cut(&mut input, BOUND).map_err(failed)?.is_some() {}
    let whole = now() - start;
    let mut input = BlockInput::new(Box::new(Cursor::new(bytes.to_vec())));
    let start = now();
    while input.grow()? {
        input.take(input.window().len());
    }
    let own = whole - (now() - start);
    let (mut file, mut input) = opened(factory, bytes)?;
    let mut blocks = Vec::new();
    while let Some(block) = file.cutter.cut(&mut input, BOUND).map_err(failed)? {
        blocks.push(block);
    }
    Ok((file, blocks, whole, own))
}

fn decode(decoder: &dyn Decoder, wanted: &[usize], blocks: &[Block]) -> (usize, f64) {
    let start = now();
    let rows = blocks.iter().map(|block| decoder.decode(block, wanted).rows).sum();
    (rows, now() - start)
}
