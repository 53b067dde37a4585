//! Megabytes a second of the cutter, the decoder and the encoder on one file, one thread. Seconds are those that the
//! thread ran, where the system tells them.
//!
//! `cargo run --release -p clinker-csv --example csv_throughput -- <file.csv>`

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::io::Cursor;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use arrow_array::StringViewArray;
use clinker_csv::Csv;
use clinker_format::input::BlockInput;
use clinker_format::{
    Block, BlockBound, Decoder, Encoded, Encoder, FileIdentity, Format, OpenFile, Options, OutputRows, ReadFactory,
    ReadRequest, WriteRequest,
};
use clinker_record::cast::Cells;
use clinker_record::{Column, Origin};

const BOUND: BlockBound = BlockBound { rows: 8192, bytes: 1 << 20 };
const ROUNDS: usize = 5;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let path = std::env::args().nth(1).ok_or("the path of a csv file is missing")?;
    let bytes = fs::read(&path)?;
    let options = Options::default();
    let factory = Csv
        .bind_reader(&ReadRequest {
            options: &options,
            fields: &[],
            undeclared: true,
            refuse_undeclared: false,
            expand: &[],
            max_rows: None,
        })
        .map_err(|_| "options")?;
    let output = Csv
        .bind_writer(&WriteRequest { options: &options, header: true, preserve_nulls: false, joins: &[] })
        .map_err(|_| "options")?;
    for _ in 0..ROUNDS {
        let (file, blocks, seconds) = cut(&*factory, &bytes)?;
        let size = bytes.len() as f64 / 1e6;
        print!("cutter {:6.0}", size / seconds);
        let all: Vec<usize> = (0..file.columns.len()).collect();
        let start = now();
        let decoded: usize = blocks.iter().map(|block| file.decoder.decode(block, &all).rows).sum();
        print!("   decoder {:6.0}", size / (now() - start));
        let (written, seconds) =
            encode(&*file.decoder, &*output.encoder().expect("an encoder"), &file.columns, &blocks);
        println!("   encoder {:6.0}   MB/s, {decoded} rows", written as f64 / 1e6 / seconds);
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

fn cut(factory: &dyn ReadFactory, bytes: &[u8]) -> Result<(OpenFile, Vec<Block>, f64), Failure> {
    let identity = FileIdentity { source: Arc::from("in"), shown: Arc::from("in") };
    let failed = |fault| format!("{fault:?}");
    let mut input = BlockInput::new(Box::new(Cursor::new(bytes.to_vec())));
    let mut file = factory.open(&identity, &mut input).map_err(failed)?;
    let start = now();
    // Blocks are dropped at once, so that their memory is used again.
    while file.cutter.cut(&mut input, BOUND).map_err(failed)?.is_some() {}
    let whole = now() - start;
    let mut input = BlockInput::new(Box::new(Cursor::new(bytes.to_vec())));
    let start = now();
    while input.grow()? {
        input.take(input.window().len());
    }
    // What remains without the copy into the window is the cutter's own time.
    let seconds = whole - (now() - start);
    print!("read and cut {:6.0}   ", bytes.len() as f64 / 1e6 / whole);
    let mut input = BlockInput::new(Box::new(Cursor::new(bytes.to_vec())));
    let mut file = factory.open(&identity, &mut input).map_err(failed)?;
    let mut blocks = Vec::new();
    while let Some(block) = file.cutter.cut(&mut input, BOUND).map_err(failed)? {
        blocks.push(block);
    }
    Ok((file, blocks, seconds))
}

fn encode(decoder: &dyn Decoder, encoder: &dyn Encoder, names: &[Arc<str>], blocks: &[Block]) -> (usize, f64) {
    let all: Vec<usize> = (0..names.len()).collect();
    let (mut written, mut seconds) = (0, 0.0);
    for block in blocks {
        let decoded = decoder.decode(block, &all);
        let columns: Vec<Column> = decoded.cells.iter().map(column).collect();
        let mut encoded = Encoded::default();
        let start = now();
        encoder.encode(
            &OutputRows { names, columns: &columns, rows: decoded.rows, origin: &Origin::none() },
            &mut encoded,
        );
        seconds += now() - start;
        written += encoded.bytes.len();
    }
    (written, seconds)
}

/// Integers where all cells are some, else text: what admission would make of the cells.
fn column(cells: &Cells) -> Column {
    let integers: Option<Vec<i64>> =
        (0..cells.len()).map(|row| cells.text(row).and_then(|text| text.parse().ok())).collect();
    match integers {
        Some(integers) => Column::Int(integers.into()),
        None => Column::Text(StringViewArray::from_iter((0..cells.len()).map(|row| cells.text(row)))),
    }
}
