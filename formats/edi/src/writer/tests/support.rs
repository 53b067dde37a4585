//! Dialects, documents and rows for the tests of the writer.

use std::sync::Arc;

use clinker_format::{Encoded, OptionFault, OptionValue, Options, OutputRows, RefusedRow, WriteRequest};
use clinker_record::{Column, Frame, Kind, Level, LevelRun, Origin, OriginRun, Section, Value};
use regex::Regex;

use crate::dialect::{
    Anonymous, CharsetRule, Columns, Condition, CountRule, Counted, Dialect, EscapeStyle, Framing, HeaderRule,
    KeyColumn, LevelRule, OpenFrom, Presence, ReferenceRule, Role, Service, Source, SourcePlace, Test, Trailing,
    Unless, WriterRules,
};
use crate::writer::bind_writer;

fn source(from: SourcePlace) -> Source {
    Source { from, when: vec![], unless: None }
}

fn literal(role: Role, byte: u8) -> (Role, Vec<Source>) {
    (role, vec![source(SourcePlace::Literal(byte))])
}

fn key(name: &str, element: u32) -> KeyColumn {
    KeyColumn { name: name.into(), element, option: None }
}

fn level(name: &str, open: &str, close: Option<&str>) -> LevelRule {
    LevelRule {
        name: name.into(),
        section_option: None,
        open: open.into(),
        close: close.map(Into::into),
        file: false,
        optional: Presence::Required,
        close_optional: false,
        frame: Frame::Inherit,
        emit_open: false,
        columns: vec![],
        fields: None,
    }
}

fn count(at: &str, element: u32, of: Counted) -> CountRule {
    CountRule { at: at.into(), element, of, within: None, inclusive: true, optional: false, corruption: false }
}

fn reference(at: &str, element: u32, of: &str, of_element: u32) -> ReferenceRule {
    ReferenceRule {
        at: at.into(),
        element,
        of: of.into(),
        candidates: vec![(vec![of_element], vec![])],
        ignore_spaces: false,
        ignore_leading_zeros: false,
        optional: false,
    }
}

fn header(level: u16, literal: &str, echo: &str) -> HeaderRule {
    HeaderRule {
        level,
        literal: Some(literal.into()),
        echo: Some(echo.into()),
        required: true,
        widths: vec![],
        zero_padded: vec![],
        set: vec![],
        count: None,
    }
}

/// Interchanges as ANSI ASC X12 frames them.
pub fn x12() -> Dialect {
    let version = Condition { header: "ISA".into(), element: 12, component: None, test: Test::AtLeast("00402".into()) };
    let repetition = Source { from: SourcePlace::Element(11), when: vec![version], unless: Some(Unless::Alnum) };
    let mut set = level("transaction_set", "ST", Some("SE"));
    set.emit_open = true;
    set.columns = vec![key("set_ref", 2), key("set_type", 1)];
    let mut group = level("functional_group", "GS", Some("GE"));
    group.columns = vec![KeyColumn { option: Some("emit_group_ref".into()), ..key("group_ref", 6) }];
    let mut interchange = level("interchange", "ISA", Some("IEA"));
    interchange.file = true;
    let mut isa = header(0, "interchange", "interchange_from_doc");
    isa.widths = vec![2, 10, 2, 10, 2, 15, 2, 15, 6, 4, 1, 5, 9, 1, 1, 1];
    isa.zero_padded = vec![9, 10, 13];
    isa.count = Some(16);
    let mut gs = header(1, "group_header", "group_header_from_doc");
    gs.set = vec![(6, OpenFrom::Key)];
    gs.count = Some(8);
    Dialect {
        name: "x12".into(),
        framing: Framing {
            start: vec!["ISA".into()],
            header_bytes: Some(106),
            delimiters: vec![
                (Role::Element, vec![source(SourcePlace::Byte(3))]),
                (Role::Component, vec![source(SourcePlace::Byte(104))]),
                (Role::Terminator, vec![source(SourcePlace::Byte(105))]),
                (Role::Repetition, vec![repetition, source(SourcePlace::None)]),
            ],
            ..Framing::default()
        },
        charset: CharsetRule::Option("utf-8".into()),
        columns: columns("[A-Z][A-Z0-9]{1,2}"),
        levels: vec![interchange, group, set],
        counts: vec![
            count("SE", 1, Counted::Segments),
            count("GE", 1, Counted::Levels(vec![2])),
            count("IEA", 1, Counted::Levels(vec![1])),
        ],
        references: vec![reference("SE", 2, "ST", 2), reference("GE", 2, "GS", 6), reference("IEA", 2, "ISA", 13)],
        allow_outside: vec![("TA1".into(), 0)],
        forbid: vec![("ISX".into(), "ISX is not used".into())],
        binary: vec![crate::dialect::BinaryRule { tag: "BIN".into(), length_element: 1, data_element: 2 }],
        split_option: Some("split_elements".into()),
        sortable: false,
        writer: Some(WriterRules {
            headers: vec![isa, gs],
            open: vec![(1, OpenFrom::Type), (2, OpenFrom::Key), (3, OpenFrom::Record)],
            anonymous: vec![
                Anonymous { level: 1, start: 1, width: 1, per: 0 },
                Anonymous { level: 2, start: 1, width: 4, per: 1 },
            ],
            defaults: vec![
                (Role::Element, b'*'),
                (Role::Repetition, b'^'),
                (Role::Component, b':'),
                (Role::Terminator, b'~'),
            ],
            escape: vec![Role::Element, Role::Terminator],
            adopt_delimiters: true,
            service: Service::Never,
            newline: true,
            type_option: Some("set_type".into()),
        }),
        segment_bytes: 65_536,
        trailing: Trailing::Strict,
    }
}

/// The private dialect of the specification's example.
pub fn harbour() -> Dialect {
    let mut batch = level("batch", "HDR", Some("TRL"));
    batch.file = true;
    let mut shipment = level("shipment", "SHP", None);
    shipment.frame = Frame::New;
    shipment.emit_open = true;
    shipment.columns = vec![key("ship_no", 1)];
    let mut shipments = count("TRL", 1, Counted::Levels(vec![1]));
    shipments.within = Some(0);
    let mut weight = count("TRL", 2, Counted::Sum { segment: "WGT".into(), element: 1 });
    weight.within = Some(0);
    let mut dialect = x12();
    dialect.name = "harbour".into();
    dialect.framing = Framing {
        start: vec!["HDR".into()],
        delimiters: vec![
            literal(Role::Element, b'|'),
            literal(Role::Tag, b'='),
            literal(Role::Terminator, b'\n'),
            literal(Role::Release, b'\\'),
        ],
        escape: EscapeStyle::Release,
        ..Framing::default()
    };
    dialect.columns = columns("[A-Z]{3}");
    dialect.levels = vec![batch, shipment];
    dialect.counts = vec![shipments, weight];
    dialect.references = vec![reference("TRL", 3, "HDR", 1)];
    dialect.allow_outside = vec![];
    dialect.forbid = vec![];
    dialect.binary = vec![];
    dialect.writer = Some(WriterRules {
        headers: vec![header(0, "batch_header", "batch_header_from_doc")],
        open: vec![(1, OpenFrom::Key), (2, OpenFrom::Record)],
        anonymous: vec![Anonymous { level: 1, start: 1, width: 1, per: 0 }],
        defaults: vec![],
        escape: vec![Role::Element, Role::Terminator, Role::Release],
        adopt_delimiters: true,
        service: Service::Never,
        newline: false,
        type_option: None,
    });
    dialect
}

/// A dialect with release characters, composites and a service segment, as EDIFACT has them.
pub fn released() -> Dialect {
    let mut message = level("message", "UNH", Some("UNT"));
    message.emit_open = true;
    message.columns = vec![key("msg_ref", 1), key("msg_type", 2)];
    let mut group = level("functional_group", "UNG", Some("UNE"));
    group.columns = vec![key("group_ref", 5)];
    group.optional = Presence::AllOrNone;
    let mut interchange = level("interchange", "UNB", Some("UNZ"));
    interchange.file = true;
    let at = |role, byte, usual: SourcePlace| (role, vec![source(SourcePlace::ServiceByte(byte)), source(usual)]);
    let mut groups = header(1, "", "group_header_from_doc");
    groups.literal = None;
    groups.required = false;
    groups.set = vec![(5, OpenFrom::Key)];
    let mut dialect = x12();
    dialect.name = "released".into();
    let blank = Some(Unless::Space);
    dialect.framing = Framing {
        start: vec!["UNB".into()],
        service: Some(("UNA".into(), 9)),
        delimiters: vec![
            at(Role::Component, 3, SourcePlace::Literal(b':')),
            at(Role::Element, 4, SourcePlace::Literal(b'+')),
            at(Role::Release, 6, SourcePlace::Literal(b'?')),
            (
                Role::Repetition,
                vec![
                    Source { from: SourcePlace::ServiceByte(7), when: vec![], unless: blank },
                    source(SourcePlace::None),
                ],
            ),
            at(Role::Terminator, 8, SourcePlace::Literal(b'\'')),
        ],
        escape: EscapeStyle::Release,
        ..Framing::default()
    };
    dialect.charset = CharsetRule::Element {
        header: "UNB".into(),
        element: 1,
        component: Some(1),
        map: vec![("UNOA".into(), "us-ascii".into()), ("UNOC".into(), "iso-8859-1".into())],
    };
    dialect.columns = columns("[A-Z]{3}");
    dialect.levels = vec![interchange, group, message];
    dialect.counts = vec![
        count("UNT", 1, Counted::Segments),
        count("UNE", 1, Counted::Levels(vec![2])),
        count("UNZ", 1, Counted::Levels(vec![1, 2])),
    ];
    dialect.references =
        vec![reference("UNT", 2, "UNH", 1), reference("UNE", 2, "UNG", 5), reference("UNZ", 2, "UNB", 5)];
    dialect.allow_outside = vec![];
    dialect.binary = vec![];
    let rules = dialect.writer.as_mut().unwrap();
    rules.headers = vec![header(0, "interchange", "interchange_from_doc"), groups];
    rules.open = vec![(1, OpenFrom::Key), (2, OpenFrom::Type), (3, OpenFrom::Record)];
    rules.anonymous = vec![Anonymous { level: 2, start: 1, width: 1, per: 0 }];
    rules.defaults = vec![];
    rules.escape = vec![Role::Element, Role::Terminator, Role::Release];
    rules.service = Service::Option;
    rules.type_option = Some("message_type".into());
    dialect
}

fn columns(pattern: &str) -> Columns {
    Columns {
        prefix: "e".into(),
        max: 32,
        max_option: "max_elements".into(),
        tag_column: "seg_id".into(),
        tag_pattern: Regex::new(pattern).unwrap(),
    }
}

/// A level of an input with one section: its header as it stands there, read with these separators (blank: none).
pub fn open(kind: u16, parent: Option<&Arc<Level>>, name: &str, raw: &str, delims: &str, newline: &str) -> Arc<Level> {
    let keys: Vec<(&'static str, Arc<[u8]>)> = vec![
        ("$raw", raw.as_bytes().into()),
        ("$delims", delims.replace(' ', "\0").as_bytes().into()),
        ("$newline", newline.as_bytes().into()),
    ];
    let section = Section { name: name.into(), fields: vec![], keys };
    level_of(kind, parent, vec![section])
}

pub fn level_of(kind: u16, parent: Option<&Arc<Level>>, sections: Vec<Section>) -> Arc<Level> {
    Arc::new(Level { kind, ordinal: 1, frame: Frame::Inherit, parent: parent.cloned(), sections })
}

/// A level whose section has fields and no bytes.
pub fn fields(kind: u16, parent: Option<&Arc<Level>>, name: &str, fields: &[(&str, Value)]) -> Arc<Level> {
    let fields = fields.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    level_of(kind, parent, vec![Section { name: name.into(), fields, keys: vec![] }])
}

/// A row to be written.
#[derive(Clone, Default)]
pub struct Row {
    pub cells: Vec<(String, Value)>,
    pub level: Option<Arc<Level>>,
    /// Position of its file; none for a row that comes from none.
    pub file: Option<u32>,
}

/// A row inside a level: `seg_id=BSN e01=00`, with `_` for a blank.
pub fn row(level: Option<&Arc<Level>>, cells: &str) -> Row {
    let cell = |cell: &str| {
        let (name, text) = cell.split_once('=').unwrap();
        (name.to_owned(), Value::String(text.replace('_', " ").into()))
    };
    let cells = cells.split(' ').filter(|cell| !cell.is_empty()).map(cell).collect();
    Row { cells, level: level.cloned(), file: Some(0) }
}

impl Row {
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.cells.push((name.to_owned(), value));
        self
    }

    pub fn text(self, name: &str, text: &str) -> Self {
        self.with(name, Value::String(text.into()))
    }

    pub fn in_file(mut self, file: u32) -> Self {
        self.file = Some(file);
        self
    }

    pub fn without_a_file(mut self) -> Self {
        self.file = None;
        self
    }
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

pub fn texts(values: &[&str]) -> OptionValue {
    OptionValue::Texts(values.iter().map(|value| (*value).to_owned()).collect())
}

pub type Given<'a> = &'a [(&'static str, OptionValue)];

/// What is wrong with options.
pub fn faults(dialect: Dialect, given: Given<'_>) -> Vec<OptionFault> {
    let options = options(given);
    let request = WriteRequest { options: &options, header: true, preserve_nulls: false, joins: &[] };
    bind_writer(&Arc::new(dialect), &request).err().unwrap_or_default()
}

/// The bytes of an output whose rows come in batches of this size, and what was refused.
pub fn write_in(dialect: &Dialect, given: Given<'_>, rows: &[Row], batch: usize) -> (Vec<u8>, Option<RefusedRow>) {
    let options = options(given);
    let request = WriteRequest { options: &options, header: true, preserve_nulls: false, joins: &[] };
    let factory = bind_writer(&Arc::new(dialect.clone()), &request).unwrap();
    assert!(factory.encoder().is_none());
    let mut writer = factory.writer();
    let mut names: Vec<Arc<str>> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.cells) {
        if !names.iter().any(|known| **known == **name) {
            names.push(name.as_str().into());
        }
    }
    let mut out = Vec::new();
    writer.columns(&names, &mut out).unwrap();
    for rows in rows.chunks(batch) {
        let mut encoded = Encoded::default();
        with_rows(&names, rows, |rows| writer.rows(rows, &mut encoded));
        assert_eq!(encoded.ends.last().copied().unwrap_or(0) as usize, encoded.bytes.len());
        writer.records(&encoded, &mut out).unwrap();
        if let Some(refused) = encoded.refused.into_iter().next() {
            assert_eq!(refused.category, None, "all refusals of a message format are fatal");
            return (out, Some(refused));
        }
    }
    writer.finish(&mut out).unwrap();
    (out, None)
}

fn with_rows(names: &[Arc<str>], rows: &[Row], each: impl FnOnce(&OutputRows<'_>)) {
    let column = |name: &Arc<str>| {
        let value = |row: &Row| row.cells.iter().find(|(known, _)| **known == **name).map(|(_, value)| value.clone());
        let values: Vec<Value> = rows.iter().map(|row| value(row).unwrap_or(Value::Null)).collect();
        let texts = values.iter().all(|value| matches!(value, Value::Null | Value::String(_)));
        Column::from_values(if texts { Kind::String } else { Kind::Any }, &values)
    };
    let columns: Vec<Column> = names.iter().map(column).collect();
    let place = |at: usize| u32::try_from(at).unwrap();
    let runs = rows.iter().enumerate().filter_map(|(at, row)| {
        let file = row.file?;
        Some(OriginRun { start: place(at), source: 0, file, row: 1, ordinal: 1 })
    });
    let levels: Vec<LevelRun> =
        rows.iter().enumerate().map(|(at, row)| LevelRun { start: place(at), level: row.level.clone() }).collect();
    let origin = Origin::block(runs.collect()).inside(levels.into());
    each(&OutputRows { names, columns: &columns, rows: rows.len(), origin: &origin });
}

/// The text of an output. Batches of any size must give the same.
pub fn write(dialect: &Dialect, given: Given<'_>, rows: &[Row]) -> String {
    let (whole, refused) = write_in(dialect, given, rows, usize::MAX);
    assert_eq!(refused, None);
    for batch in [1, 2, 3] {
        assert_eq!(write_in(dialect, given, rows, batch).0, whole, "batches of {batch}");
    }
    String::from_utf8(whole).unwrap()
}

/// The refusal that ends an output; every batch size must leave the same bytes.
pub fn refusal(dialect: &Dialect, given: Given<'_>, rows: &[Row]) -> (String, RefusedRow) {
    let (whole, refused) = write_in(dialect, given, rows, usize::MAX);
    let (single, alone) = write_in(dialect, given, rows, 1);
    assert_eq!(single, whole);
    let (refused, alone) = (refused.expect("a refused row"), alone.expect("a refused row"));
    assert_eq!((refused.code, &refused.column, &refused.reason), (alone.code, &alone.column, &alone.reason));
    (String::from_utf8_lossy(&whole).into_owned(), refused)
}
