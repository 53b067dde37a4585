//! Running a dialect as an engine would, in small pieces. The tests of formats that are dialects use it, too.

use std::io::{Cursor, Read};
use std::sync::Arc;

use clinker_edi::DialectFormat;
use clinker_format::input::BlockInput;
use clinker_format::{
    Block, BlockBound, Decoder, Fault, FileIdentity, Format, InputField, LevelEvent, LevelOpen, OptionFault,
    OptionValue, Options, ReadFactory, ReadRequest,
};
use clinker_record::{Kind, Type};

/// How a file is handed over and cut.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// Bytes read at once.
    pub chunk: usize,
    /// Rows of a block.
    pub rows: usize,
    /// Bytes of a block.
    pub bytes: usize,
}

pub const FAIR: Weather = Weather { chunk: 1 << 20, rows: 1024, bytes: 1 << 20 };
pub const WEATHERS: [Weather; 5] = [
    FAIR,
    Weather { chunk: 1, rows: 1, bytes: 1 << 20 },
    Weather { chunk: 7, rows: 1024, bytes: 1 << 20 },
    Weather { chunk: 4096, rows: 1, bytes: 1 << 20 },
    Weather { chunk: 4096, rows: 3, bytes: 40 },
];

/// What a file gives, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Open {
        level: u16,
        fields: Vec<(String, String)>,
        keys: Vec<(&'static str, Vec<u8>)>,
        line: u64,
        offset: u64,
    },
    Close,
    /// 1-based row in the file and cells.
    Row(u64, Vec<Option<String>>),
    /// Code, line, offset, reason; whether reading went on behind it.
    Fault(&'static str, u64, u64, String, bool),
}

/// What a file gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub columns: Vec<String>,
    pub events: Vec<Event>,
    pub notes: Vec<(&'static str, u64)>,
    /// Bytes that were taken, when the file was read to its end.
    pub taken: Option<u64>,
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

pub fn bind(
    format: &dyn Format,
    given: &[(&'static str, OptionValue)],
    fields: &[&str],
) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>> {
    let fields: Vec<InputField> = fields.iter().map(|name| field(name)).collect();
    format.bind_reader(&ReadRequest {
        options: &options(given),
        fields: &fields,
        undeclared: true,
        refuse_undeclared: false,
        expand: &[],
        max_rows: None,
    })
}

/// A reader of a dialect.
pub fn reader_of(dialect: clinker_edi::Dialect, given: &[(&'static str, OptionValue)]) -> Arc<dyn ReadFactory> {
    bind(&DialectFormat::new(dialect, "A dialect."), given, &[]).unwrap()
}

pub fn read_with(factory: &dyn ReadFactory, data: &[u8], weather: Weather) -> Outcome {
    read_stream(factory, Box::new(Cursor::new(data.to_vec())), weather)
}

/// Reads a whole stream.
pub fn read_stream(factory: &dyn ReadFactory, stream: Box<dyn Read + Send>, weather: Weather) -> Outcome {
    let mut outcome = Outcome::default();
    let mut input = BlockInput::new(stream).with_chunk(weather.chunk);
    let file = FileIdentity { source: "in".into(), shown: "in.edi".into() };
    let mut file = match factory.open(&file, &mut input) {
        Ok(file) => file,
        Err(fault) => {
            outcome.fail(fault);
            return outcome;
        }
    };
    outcome.columns = file.columns.iter().map(|name| name.to_string()).collect();
    let bound = BlockBound { rows: weather.rows, bytes: weather.bytes };
    let mut next_offset = input.offset();
    loop {
        match file.cutter.cut(&mut input, bound) {
            Ok(Some(block)) => {
                assert!(block.rows > 0 || !block.marks.is_empty());
                assert!(block.rows as usize <= weather.rows);
                assert!(block.offset >= next_offset);
                next_offset = block.offset + block.data.len() as u64;
                if !outcome.decode(&*file.decoder, &block, file.columns.len()) {
                    return outcome;
                }
            }
            Ok(None) => {
                outcome.taken = Some(input.offset());
                assert!(input.window().is_empty());
                assert!(matches!(file.cutter.cut(&mut input, bound), Ok(None)));
                break;
            }
            Err(fault) => {
                if !outcome.fail(fault) {
                    assert!(matches!(file.cutter.cut(&mut input, bound), Err(Fault::Contract { .. })));
                    return outcome;
                }
            }
        }
    }
    outcome.notes = file.cutter.notes().into_iter().map(|note| (note.code, note.count)).collect();
    outcome
}

impl Outcome {
    /// Whether reading may go on.
    fn fail(&mut self, fault: Fault) -> bool {
        let (event, goes_on) = match fault {
            Fault::Corruption { code, line, offset, reason, .. } => {
                (Event::Fault(code, line, offset, reason, false), false)
            }
            Fault::Violation { code, line, offset, reason } => (Event::Fault(code, line, offset, reason, true), true),
            Fault::Io(error) => (Event::Fault("io", 0, 0, error.to_string(), false), false),
            Fault::Contract { reason } => panic!("{reason}"),
        };
        self.events.push(event);
        goes_on
    }

    /// Whether reading may go on.
    fn decode(&mut self, decoder: &dyn Decoder, block: &Block, columns: usize) -> bool {
        let wanted: Vec<usize> = (0..columns).collect();
        let decoded = decoder.decode(block, &wanted);
        assert_eq!(decoded.accepted.is_none(), decoded.fault.is_none());
        if decoded.fault.is_none() {
            assert_eq!(decoded.rows, block.rows as usize, "{:?}", String::from_utf8_lossy(&block.data));
        }
        let mut marks = block.marks.iter().peekable();
        for row in 0..=decoded.rows {
            while let Some(mark) = marks.next_if(|mark| mark.row as usize == row) {
                // What lies behind a row that cannot be read is not told.
                if decoded.fault.is_none() || row < decoded.rows {
                    self.events.push(match &mark.event {
                        LevelEvent::Open(open) => opened(open),
                        LevelEvent::Close => Event::Close,
                    });
                }
            }
            if row < decoded.rows {
                let cells = decoded.cells.iter().map(|column| column.text(row).map(str::to_owned)).collect();
                self.events.push(Event::Row(block.first_row + row as u64, cells));
            }
        }
        // A decoder gives the same cells whichever columns are wanted.
        for (place, column) in wanted.iter().enumerate() {
            let alone = decoder.decode(block, &[*column]);
            assert_eq!(alone.rows, decoded.rows);
            for row in 0..alone.rows {
                assert_eq!(alone.cells[0].bytes(row), decoded.cells[place].bytes(row));
            }
        }
        for row in 0..block.rows {
            let text = decoder.row_text(block, row);
            assert!(text.line >= block.first_line && text.offset >= block.offset);
        }
        decoded.fault.is_none_or(|fault| self.fail(fault))
    }

    /// The rows: cells up to the last one that is not null.
    pub fn rows(&self) -> Vec<Vec<Option<&str>>> {
        let mut rows = Vec::new();
        for event in &self.events {
            let Event::Row(_, cells) = event else { continue };
            let mut cells: Vec<Option<&str>> = cells.iter().map(Option::as_deref).collect();
            while cells.last() == Some(&None) {
                cells.pop();
            }
            rows.push(cells);
        }
        rows
    }

    /// The faults: code, line, offset.
    pub fn faults(&self) -> Vec<(&'static str, u64, u64)> {
        let fault = |event: &Event| match event {
            Event::Fault(code, line, offset, ..) => Some((*code, *line, *offset)),
            _ => None,
        };
        self.events.iter().filter_map(fault).collect()
    }

    /// The reason of the first fault.
    pub fn reason(&self) -> &str {
        let reason = |event: &Event| matches!(event, Event::Fault(..));
        match self.events.iter().find(|event| reason(event)) {
            Some(Event::Fault(.., reason, _)) => reason,
            _ => "",
        }
    }
}

fn opened(open: &LevelOpen) -> Event {
    Event::Open {
        level: open.level,
        fields: open.fields.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect(),
        keys: open.keys.iter().map(|(name, bytes)| (*name, bytes.to_vec())).collect(),
        line: open.line,
        offset: open.offset,
    }
}

/// Reads a file in every weather; the outcome is always the same.
pub fn read(factory: &dyn ReadFactory, data: &[u8]) -> Outcome {
    let fair = read_with(factory, data, FAIR);
    for weather in &WEATHERS[1..] {
        assert_eq!(read_with(factory, data, *weather), fair, "{weather:?} {:?}", String::from_utf8_lossy(data));
    }
    fair
}
