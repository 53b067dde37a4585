//! What makes a segment format X12.

use std::sync::Arc;

use clinker_edi::Dialect;
use clinker_edi::dialect::{
    Anonymous, BinaryRule, CharsetRule, Columns, Condition, CountRule, Counted, EscapeStyle, Framing, HeaderRule,
    KeyColumn, LevelRule, OpenFrom, Presence, ReferenceRule, Role, Service, Source, SourcePlace, Test, Trailing,
    Unless, WriterRules,
};
use clinker_record::Frame;
use regex::Regex;

/// Bytes of the interchange header, its terminator included (X12.5, ISA).
const ISA_BYTES: usize = 106;
/// Bytes of ISA01 to ISA16 (X12.5, ISA).
const ISA_WIDTHS: [usize; 16] = [2, 10, 2, 10, 2, 15, 2, 15, 6, 4, 1, 5, 9, 1, 1, 1];
/// Elements of GS (X12.22, segment GS).
const GS_ELEMENTS: usize = 8;
/// Largest segment in bytes.
const SEGMENT_BYTES: usize = 65_536;

const INTERCHANGE: u16 = 0;
const GROUP: u16 = 1;
const SET: u16 = 2;

/// The dialect.
pub fn x12() -> Dialect {
    Dialect {
        name: "x12".into(),
        framing: framing(),
        charset: CharsetRule::Option("utf-8".into()),
        columns: Columns {
            prefix: "e".into(),
            max: 32,
            max_option: "max_elements".into(),
            tag_column: "seg_id".into(),
            tag_pattern: pattern("[A-Za-z][A-Za-z0-9]{1,2}"),
        },
        levels: levels(),
        counts: counts(),
        references: vec![reference("SE", 2, "ST", 2), reference("GE", 2, "GS", 6), reference("IEA", 2, "ISA", 13)],
        allow_outside: ["TA1", "TA3", "ISB", "ISE"].map(|tag| (Arc::from(tag), INTERCHANGE)).to_vec(),
        forbid: Vec::new(),
        binary: vec![binary("BIN", 1, 2), binary("BDS", 2, 3)],
        split_option: Some("split_elements".into()),
        sortable: false,
        writer: Some(writer()),
        segment_bytes: SEGMENT_BYTES,
        trailing: Trailing::Strict,
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of this file")
}

/// X12.5: the header has a fixed length, and its separators stand at fixed places in it.
fn framing() -> Framing {
    let at = |byte| Source { from: SourcePlace::Byte(byte), when: Vec::new(), unless: None };
    // Before version 00402 ISA11 is the standards identifier.
    let version = Condition { header: "ISA".into(), element: 12, component: None, test: Test::AtLeast("00402".into()) };
    let repetition = Source { from: SourcePlace::Element(11), when: vec![version], unless: Some(Unless::Alnum) };
    Framing {
        start: vec!["ISA".into()],
        header_bytes: Some(ISA_BYTES),
        delimiters: vec![
            (Role::Element, vec![at(3)]),
            (Role::Component, vec![at(ISA_BYTES - 2)]),
            (Role::Terminator, vec![at(ISA_BYTES - 1)]),
            (Role::Repetition, vec![repetition]),
        ],
        escape: EscapeStyle::None,
        ..Framing::default()
    }
}

fn levels() -> Vec<LevelRule> {
    let level = |name: &str, section: Option<&str>, open: &str, close: &str| LevelRule {
        name: name.into(),
        section_option: section.map(Arc::from),
        open: open.into(),
        close: Some(close.into()),
        file: false,
        optional: Presence::Required,
        close_optional: false,
        frame: Frame::Inherit,
        emit_open: false,
        columns: Vec::new(),
        fields: None,
    };
    let key = |name: &str, element, option: Option<&str>| KeyColumn {
        name: name.into(),
        element,
        option: option.map(Arc::from),
    };
    vec![
        LevelRule { file: true, ..level("interchange", None, "ISA", "IEA") },
        LevelRule {
            columns: vec![key("group_ref", 6, Some("emit_group_ref"))],
            ..level("functional_group", Some("group_section"), "GS", "GE")
        },
        LevelRule {
            emit_open: true,
            columns: vec![key("set_ref", 2, None), key("set_type", 1, None)],
            ..level("transaction_set", Some("set_section"), "ST", "SE")
        },
    ]
}

fn counts() -> Vec<CountRule> {
    let count = |at: &str, of| CountRule {
        at: at.into(),
        element: 1,
        of,
        within: None,
        inclusive: true,
        optional: false,
        corruption: false,
    };
    vec![
        count("SE", Counted::Segments),
        count("GE", Counted::Levels(vec![SET])),
        count("IEA", Counted::Levels(vec![GROUP])),
    ]
}

fn reference(at: &str, element: u32, of: &str, of_element: u32) -> ReferenceRule {
    ReferenceRule {
        at: at.into(),
        element,
        of: of.into(),
        candidates: vec![(vec![of_element], Vec::new())],
        ignore_spaces: false,
        ignore_leading_zeros: false,
        optional: false,
    }
}

fn binary(tag: &str, length_element: u32, data_element: u32) -> BinaryRule {
    BinaryRule { tag: tag.into(), length_element, data_element }
}

/// Formats.md 8.5.
fn writer() -> WriterRules {
    let header = |level, literal: &str, echo: &str| HeaderRule {
        level,
        literal: Some(literal.into()),
        echo: Some(echo.into()),
        required: true,
        widths: Vec::new(),
        zero_padded: Vec::new(),
        set: Vec::new(),
        count: None,
    };
    WriterRules {
        headers: vec![
            HeaderRule {
                widths: ISA_WIDTHS.to_vec(),
                zero_padded: vec![9, 10, 13],
                count: Some(ISA_WIDTHS.len()),
                ..header(INTERCHANGE, "interchange", "interchange_from_doc")
            },
            HeaderRule {
                set: vec![(6, OpenFrom::Key)],
                count: Some(GS_ELEMENTS),
                ..header(GROUP, "group_header", "group_header_from_doc")
            },
        ],
        open: vec![(1, OpenFrom::Type), (2, OpenFrom::Key), (3, OpenFrom::Record)],
        anonymous: vec![
            Anonymous { level: GROUP, start: 1, width: 1, per: INTERCHANGE },
            Anonymous { level: SET, start: 1, width: 4, per: GROUP },
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
    }
}
