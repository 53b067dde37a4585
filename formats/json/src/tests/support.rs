//! Running the format as an engine would, in small pieces.

use std::io::{self, Cursor, Read};
use std::sync::Arc;

use clinker_format::input::BlockInput;
use clinker_format::{
    Block, BlockBound, Decoded, Encoded, ExpandRule, Fault, FileIdentity, Format, InputField, OptionFault, OptionValue,
    Options, OutputRows, ReadFactory, ReadRequest, RejectedRow, WriteFactory, WriteRequest,
};
use clinker_record::cast::Cells;
use clinker_record::{Column, JsonKind, Kind, Origin, Type};

use super::oracle::{Tree, tree};
use crate::Json;

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

/// All that the contract names.
pub fn weathers() -> Vec<Weather> {
    let mut weathers = Vec::new();
    for chunk in [1, 7, 4096] {
        for (rows, bytes) in [(1, 1 << 20), (3, 1 << 20), (1024, 1), (1024, 40), (1024, 1 << 20)] {
            weathers.push(Weather { chunk, rows, bytes, backwards: chunk == 7 });
        }
    }
    weathers
}

/// A row: its number in the file, and its fields in the order of declared and then undeclared columns.
pub type Row = (u64, Vec<(String, Tree)>);

/// What a file gives.
#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    pub rows: Vec<Row>,
    pub rejected: Vec<Rejected>,
    /// Records that would be too many rows, as they were read, and their lines and offsets.
    pub overruns: Vec<Row>,
    pub overrun_places: Vec<(u64, u64)>,
    /// Records that are no row.
    pub dropped: u64,
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

pub fn lines() -> Vec<(&'static str, OptionValue)> {
    vec![("format", text("ndjson"))]
}

/// A declared field; a name behind `*` holds several values.
pub fn field(name: &str) -> InputField {
    let plain = name.trim_start_matches('*');
    InputField {
        input_name: plain.into(),
        exposed_name: plain.into(),
        ty: Type::plain(Kind::Any),
        multiple: plain != name,
    }
}

pub fn try_reader(
    given: &[(&'static str, OptionValue)],
    fields: &[&str],
) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>> {
    let fields: Vec<InputField> = fields.iter().map(|name| field(name)).collect();
    Json.bind_reader(&ReadRequest {
        options: &options(given),
        fields: &fields,
        undeclared: true,
        refuse_undeclared: false,
        expand: &[],
        max_rows: None,
    })
}

/// A reader of lines that expands records.
pub fn expander(rules: &[ExpandRule], max_rows: Option<u64>, fields: &[&str]) -> Arc<dyn ReadFactory> {
    let given = options(&lines());
    expander_of(&given, false, (rules, max_rows), &fields.iter().map(|name| field(name)).collect::<Vec<_>>())
}

/// A reader that expands records, and may refuse undeclared fields.
pub fn expander_of(
    given: &Options,
    refuse: bool,
    (expand, max_rows): (&[ExpandRule], Option<u64>),
    fields: &[InputField],
) -> Arc<dyn ReadFactory> {
    let request = ReadRequest { options: given, fields, undeclared: true, refuse_undeclared: refuse, expand, max_rows };
    Json.bind_reader(&request).expect("options")
}

pub fn reader(given: &[(&'static str, OptionValue)], fields: &[&str]) -> Arc<dyn ReadFactory> {
    try_reader(given, fields).expect("options")
}

/// Reads a whole file in one weather.
pub fn read_in(factory: &dyn ReadFactory, data: &[u8], weather: Weather) -> Outcome {
    read_stream(factory, Box::new(Cursor::new(data.to_vec())), weather)
}

/// Reads a whole file in all weathers, which must agree.
pub fn read(factory: &dyn ReadFactory, data: &[u8]) -> Outcome {
    let fair = read_in(factory, data, FAIR);
    for weather in weathers() {
        assert_eq!(read_in(factory, data, weather), fair, "{weather:?} of {:?}", String::from_utf8_lossy(data));
    }
    fair
}

/// Reads a whole stream.
pub fn read_stream(factory: &dyn ReadFactory, reader: Box<dyn Read + Send>, weather: Weather) -> Outcome {
    let mut outcome = Outcome::default();
    let mut input = BlockInput::new(reader).with_chunk(weather.chunk);
    let file = FileIdentity { source: "in".into(), shown: "in.json".into() };
    let mut file = match factory.open(&file, &mut input) {
        Ok(file) => file,
        Err(fault) => {
            outcome.fail(fault);
            return outcome;
        }
    };
    let bound = BlockBound { rows: weather.rows, bytes: weather.bytes };
    let (mut blocks, mut last) = (Vec::new(), None);
    loop {
        match file.cutter.cut(&mut input, bound) {
            Ok(Some(block)) => {
                assert!(block.rows > 0 && block.rows as usize <= weather.rows);
                blocks.push(block);
            }
            Ok(None) => break,
            Err(fault) => {
                last = Some(fault);
                break;
            }
        }
    }
    let all: Vec<usize> = (0..file.columns.len()).collect();
    let mut decoded: Vec<(&Block, Decoded)> = Vec::new();
    let mut order: Vec<&Block> = blocks.iter().collect();
    if weather.backwards {
        order.reverse();
    }
    for block in order {
        let result = file.decoder.decode(block, &all);
        for rejected in &result.rejected {
            let place = file.decoder.row_text(block, rejected.row);
            assert_eq!(place.raw, rejected.raw);
            assert!(place.offset <= rejected.offset && place.line <= rejected.line);
        }
        decoded.push((block, result));
    }
    decoded.sort_by_key(|(block, _)| block.offset);
    for (block, result) in decoded {
        if outcome.add(block, result, &file.columns) {
            return outcome;
        }
    }
    if let Some(fault) = last {
        outcome.fail(fault);
    }
    outcome
}

impl Outcome {
    fn fail(&mut self, fault: Fault) {
        match fault {
            Fault::Corruption { code, line, offset, reason, .. } => {
                self.fault = Some((code, line, offset));
                self.reason = reason;
            }
            Fault::Io(error) => {
                self.fault = Some(("io", 0, 0));
                self.reason = error.to_string();
            }
            fault => panic!("{fault:?}"),
        }
    }

    /// Adds a block; `true` when nothing behind it is read.
    fn add(&mut self, block: &Block, decoded: Decoded, names: &[Arc<str>]) -> bool {
        let Decoded { cells, undeclared, shapes, rows, accepted, rejected, overruns, dropped, fault } = decoded;
        self.dropped += dropped;
        if let Some(overruns) = overruns {
            let mut originals = Outcome::default();
            let accepted = Some(overruns.places.iter().map(|overrun| overrun.row).collect());
            originals.add(block, Decoded { accepted, ..overruns.records }, names);
            self.overruns.extend(originals.rows);
            self.overrun_places.extend(overruns.places.iter().map(|overrun| (overrun.line, overrun.offset)));
        }
        let named: Vec<(Arc<str>, Cells)> = names.iter().cloned().zip(cells).collect();
        let mut order = shapes.iter().flat_map(|run| std::iter::repeat_n(&run.fields, run.rows));
        for row in 0..rows {
            let at = accepted.as_ref().map_or(row as u32, |accepted| accepted[row]);
            let own = order.next().into_iter().flatten().map(|place| &undeclared[*place as usize]);
            let fields = named.iter().chain(own);
            let fields = fields.filter_map(|(name, cells)| Some((name.to_string(), cell(cells, row)?)));
            self.rows.push((block.first_row + u64::from(at), fields.collect()));
        }
        for RejectedRow { row, code, line, offset, reason, raw } in rejected {
            self.rejected.push(Rejected { row: block.first_row + u64::from(row), code, line, offset, reason, raw });
        }
        let failed = fault.is_some();
        if let Some(fault) = fault {
            self.fail(fault);
        }
        failed
    }

    /// Row numbers and codes of the rejected rows.
    pub fn codes(&self) -> Vec<(u64, &'static str)> {
        self.rejected.iter().map(|rejected| (rejected.row, rejected.code)).collect()
    }

    /// The rows as compact JSON of their fields.
    pub fn shown(&self) -> Vec<String> {
        let member = |(name, value): &(String, Tree)| format!("{name}={value}");
        self.rows.iter().map(|(_, fields)| fields.iter().map(member).collect::<Vec<_>>().join(" ")).collect()
    }
}

/// A present cell.
fn cell(cells: &Cells, row: usize) -> Option<Tree> {
    match cells {
        Cells::Absent(_) => None,
        Cells::Native(_) => panic!("json delivers no typed cells"),
        Cells::Text(cells) => cells.text(row).map(|text| Tree::String(text.to_owned())),
        Cells::Json(cells) => match cells.cell(row) {
            (JsonKind::Absent, _) => None,
            (JsonKind::Null, _) => Some(Tree::Null),
            (JsonKind::String, text) => Some(Tree::String(text.to_owned())),
            // serde_json refuses numbers beyond binary64.
            (_, text) => Some(tree(text).unwrap_or_else(|_| Tree::String(format!("literal {text}")))),
        },
    }
}

/// A stream that hands over its data and then fails.
pub struct Failing(pub Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("the disk is gone")),
            read => Ok(read),
        }
    }
}

pub fn writer(given: &[(&'static str, OptionValue)], preserve_nulls: bool) -> Arc<dyn WriteFactory> {
    let options = options(given);
    Json.bind_writer(&WriteRequest { options: &options, header: true, preserve_nulls, joins: &[] }).expect("options")
}

/// Writes columns in batches of so many rows.
pub fn write(factory: &dyn WriteFactory, columns: &[(&str, Column)], batch: usize) -> Result<String, Encoded> {
    let names: Vec<Arc<str>> = columns.iter().map(|(name, _)| Arc::from(*name)).collect();
    let rows = columns.first().map_or(0, |(_, column)| column.len());
    let (encoder, mut writer, mut out) = (factory.encoder().expect("an encoder"), factory.writer(), Vec::new());
    writer.columns(&names, &mut out).expect("columns");
    for from in (0..rows).step_by(batch) {
        let len = batch.min(rows - from);
        let columns: Vec<Column> = columns.iter().map(|(_, column)| column.slice(from, len)).collect();
        let mut encoded = Encoded::default();
        encoder
            .encode(&OutputRows { names: &names, columns: &columns, rows: len, origin: &Origin::none() }, &mut encoded);
        writer.records(&encoded, &mut out).expect("records");
        if !encoded.refused.is_empty() {
            return Err(encoded);
        }
    }
    writer.finish(&mut out).expect("finish");
    Ok(String::from_utf8(out).expect("UTF-8"))
}

/// A seeded generator: xorshift.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
