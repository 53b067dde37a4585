//! Interchanges of X12.

use std::sync::Arc;

use clinker_format::{OptionValue, ReadFactory};

use super::support::{Outcome, bind};
use crate::X12;

pub fn reader(given: &[(&'static str, OptionValue)]) -> Arc<dyn ReadFactory> {
    bind(&X12, given, &[]).unwrap()
}

/// The example of 8.6.
pub const EXAMPLE: &str = "\
ISA*00*          *00*          *ZZ*NORTHWIND      *ZZ*LAKESIDE       *260115*0930*^*00501*000000417*0*T*>~
GS*SH*NORTHWIND*LAKESIDE*20260115*0930*88*X*005010~
ST*856*0001~
BSN*00*SHP771*20260115*0930~
HL*1**S~
SE*4*0001~
GE*1*88~
IEA*1*000000417~
";

/// An ISA with these separators, version 00501; the terminator stands behind it.
pub fn isa(element: char, repetition: &str, version: &str, component: char, terminator: &str) -> String {
    let elements = [
        "ISA",
        "00",
        "          ",
        "00",
        "          ",
        "ZZ",
        "SENDERCO       ",
        "ZZ",
        "RECVRCO        ",
        "250314",
        "0915",
        repetition,
        version,
        "000000905",
        "0",
        "P",
    ];
    format!("{}{element}{component}{terminator}", elements.join(&element.to_string()))
}

/// An interchange of one group with one set that holds these segments, one a line.
pub fn interchange(body: &[&str]) -> String {
    let mut text = isa('*', "^", "00501", ':', "~\n");
    text.push_str("GS*PO*SENDERCO*RECVRCO*20250314*0915*51*X*005010~\nST*850*0001~\n");
    body.iter().for_each(|segment| text.push_str(&format!("{segment}~\n")));
    text.push_str(&format!("SE*{}*0001~\nGE*1*51~\nIEA*1*000000905~\n", body.len() + 2));
    text
}

/// The order of most cases.
pub const ORDER: [&str; 3] = ["BEG*00*NE*PO-7001**20250314", "PO1*1*10*EA*9.25**VP*WIDGET-A", "CTT*1"];

/// The records of a set without ST, as arrays, empty elements as empty texts.
pub fn body(outcome: &Outcome) -> Vec<Vec<String>> {
    let element = |cell: &Option<&str>| cell.unwrap_or_default().to_owned();
    let row = |row: Vec<Option<&str>>| {
        let tag = std::iter::once(element(&row[0]));
        tag.chain(row.iter().skip(3).map(element)).collect::<Vec<String>>()
    };
    outcome.rows().into_iter().filter(|row| row[0] != Some("ST")).map(row).collect()
}
