//! Running the format as an engine would, in small pieces.

use std::io::{self, Cursor, Read};
use std::sync::Arc;

use clinker_format::input::BlockInput;
use clinker_format::{
    Block, BlockBound, Encoded, Fault, FileIdentity, Format, InputField, JoinRule, OpenFile, OptionFault, OptionValue,
    Options, OutputRows, ReadFactory, ReadRequest, RejectedRow, WriteFactory, WriteRequest,
};
use clinker_record::{Column, Kind, Origin, Type};

use crate::Csv;

/// How a file is handed over and cut.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// Bytes read at once.
    pub chunk: usize,
    /// Rows of a block.
    pub rows: usize,
    /// Bytes of a block.
    pub bytes: usize,
    /// Whether the last block is decoded first.
    pub backwards: bool,
}

pub const FAIR: Weather = Weather { chunk: 1 << 20, rows: 1024, bytes: 1 << 20, backwards: false };

/// What a file gives.
#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    pub columns: Vec<String>,
    /// 1-based row in the file and cells.
    pub rows: Vec<(u64, Vec<String>)>,
    pub rejected: Vec<Rejected>,
    /// Code, line, offset.
    pub fault: Option<(&'static str, u64, u64)>,
    pub reason: String,
}

#[derive(Debug, PartialEq)]
pub struct Rejected {
    pub row: u64,
    pub code: &'static str,
    pub line: u64,
    pub offset: u64,
    pub reason: String,
    pub raw: String,
}

pub fn options(given: &[(&'static str, OptionValue)]) -> Options {
    let mut options = Options::default();
    for (key, value) in given {
        options.set(key, value.clone());
    }
    options
}

pub fn text(value: &str) -> OptionValue {
    OptionValue::Text(value.into())
}

pub fn field(name: &str) -> InputField {
    InputField { input_name: name.into(), exposed_name: name.into(), ty: Type::plain(Kind::String), multiple: false }
}

pub fn reader(
    given: &[(&'static str, OptionValue)],
    fields: &[&str],
) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>> {
    let fields: Vec<InputField> = fields.iter().map(|name| field(name)).collect();
    Csv.bind_reader(&ReadRequest {
        options: &options(given),
        fields: &fields,
        undeclared: true,
        refuse_undeclared: false,
        expand: &[],
        max_rows: None,
    })
}

pub fn open(factory: &dyn ReadFactory, data: &[u8], chunk: usize) -> (Result<OpenFile, Fault>, BlockInput) {
    open_reader(factory, Box::new(Cursor::new(data.to_vec())), chunk)
}

pub fn open_reader(
    factory: &dyn ReadFactory,
    reader: Box<dyn Read + Send>,
    chunk: usize,
) -> (Result<OpenFile, Fault>, BlockInput) {
    let mut input = BlockInput::new(reader).with_chunk(chunk);
    let file = FileIdentity { source: "in".into(), shown: "in.csv".into() };
    let opened = factory.open(&file, &mut input);
    (opened, input)
}

/// Reads a whole file.
pub fn read_with(factory: &dyn ReadFactory, data: &[u8], weather: Weather) -> Outcome {
    read_stream(factory, Box::new(Cursor::new(data.to_vec())), weather)
}

/// Reads a whole stream.
pub fn read_stream(factory: &dyn ReadFactory, reader: Box<dyn Read + Send>, weather: Weather) -> Outcome {
    let mut outcome = Outcome::default();
    let (opened, mut input) = open_reader(factory, reader, weather.chunk);
    let mut file = match opened {
        Ok(file) => file,
        Err(fault) => {
            outcome.fail(fault);
            return outcome;
        }
    };
    outcome.columns = file.columns.iter().map(|name| name.to_string()).collect();
    let bound = BlockBound { rows: weather.rows, bytes: weather.bytes };
    let mut blocks = Vec::new();
    loop {
        match file.cutter.cut(&mut input, bound) {
            Ok(Some(block)) => {
                assert!(block.rows > 0 && block.rows as usize <= weather.rows);
                blocks.push(block);
            }
            Ok(None) => break,
            Err(fault) => {
                outcome.fail(fault);
                break;
            }
        }
    }
    if weather.backwards {
        blocks.reverse();
    }
    for block in &blocks {
        outcome.decode(&file, block);
    }
    outcome.rows.sort_by_key(|(row, _)| *row);
    outcome.rejected.sort_by_key(|rejected| rejected.row);
    outcome
}

impl Outcome {
    fn fail(&mut self, fault: Fault) {
        match fault {
            Fault::Corruption { code, line, offset, reason, help } => {
                self.fault = Some((code, line, offset));
                self.reason = format!("{reason} {}", help.unwrap_or_default());
            }
            fault => panic!("{fault:?}"),
        }
    }

    fn decode(&mut self, file: &OpenFile, block: &Block) {
        let wanted: Vec<usize> = (0..file.columns.len()).collect();
        let decoded = file.decoder.decode(block, &wanted);
        assert_eq!(decoded.rows + decoded.rejected.len(), block.rows as usize);
        assert_eq!(decoded.accepted.is_none(), decoded.rejected.is_empty());
        for place in 0..decoded.rows {
            let at = decoded.accepted.as_ref().map_or(place as u32, |accepted| accepted[place]);
            let cells = decoded.cells.iter().map(|column| column.text(place).unwrap().to_owned()).collect();
            self.rows.push((block.first_row + u64::from(at), cells));
        }
        for RejectedRow { row, code, line, offset, reason, raw } in decoded.rejected {
            let row = block.first_row + u64::from(row);
            self.rejected.push(Rejected { row, code, line, offset, reason, raw });
        }
        // A decoder gives the same cells whichever columns are wanted.
        for (place, column) in wanted.iter().enumerate().skip(1) {
            let alone = file.decoder.decode(block, &[*column]);
            assert_eq!(alone.rows, decoded.rows);
            for row in 0..alone.rows {
                assert_eq!(alone.cells[0].bytes(row), decoded.cells[place].bytes(row));
            }
        }
    }

    pub fn cells(&self) -> Vec<Vec<&str>> {
        self.rows.iter().map(|(_, cells)| cells.iter().map(String::as_str).collect()).collect()
    }
}

pub fn read(given: &[(&'static str, OptionValue)], data: &[u8]) -> Outcome {
    let factory = reader(given, &["a", "b"]).unwrap();
    read_with(&*factory, data, FAIR)
}

pub fn writer(
    given: &[(&'static str, OptionValue)],
    header: bool,
    joins: &[JoinRule],
) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>> {
    Csv.bind_writer(&WriteRequest { options: &options(given), header, preserve_nulls: false, joins })
}

/// Writes columns as one file: the bytes, and the refused rows.
pub fn write(factory: &dyn WriteFactory, names: &[&str], columns: &[Column]) -> io::Result<(Vec<u8>, Encoded)> {
    let names: Vec<Arc<str>> = names.iter().map(|name| (*name).into()).collect();
    let mut encoded = Encoded::default();
    let rows = columns.first().map_or(0, Column::len);
    factory
        .encoder()
        .expect("an encoder")
        .encode(&OutputRows { names: &names, columns, rows, origin: &Origin::none() }, &mut encoded);
    assert_eq!(encoded.ends.last().copied().unwrap_or(0) as usize, encoded.bytes.len());
    let mut out = Vec::new();
    let mut writer = factory.writer();
    writer.columns(&names, &mut out)?;
    writer.records(&encoded, &mut out)?;
    writer.finish(&mut out)?;
    Ok((out, encoded))
}
