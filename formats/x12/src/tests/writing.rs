//! The built-in format writes by its own rules. The rules themselves are tested where they are applied.

use std::sync::Arc;

use clinker_format::{Encoded, Format, OptionValue, OutputRows, WriteRequest};
use clinker_record::{Column, Kind, Origin, Value};

use super::support::options;
use crate::X12;

#[test]
fn formats_8_5_literal_headers_and_computed_trailers() {
    let texts = |list: &str| OptionValue::Texts(list.split(',').map(str::to_owned).collect());
    let options = options(&[
        ("interchange", texts("00,,00,,ZZ,NORTHWIND,ZZ,LAKESIDE,260115,930,^,00501,417,0,T,>")),
        ("group_header", texts("SH,NORTHWIND,LAKESIDE,20260115,0930,0,X,005010")),
    ]);
    let request = WriteRequest { options: &options, header: true, preserve_nulls: false, joins: &[] };
    let factory = X12.bind_writer(&request).unwrap();
    let cells = [
        ("seg_id", ["ST", "BSN", "HL"]),
        ("group_ref", ["88", "88", ""]),
        ("set_ref", ["0001", "0001", "0001"]),
        ("set_type", ["856", "856", "856"]),
        ("e01", ["856", "00", "1"]),
        ("e03", ["", "20260115", "S"]),
    ];
    let names: Vec<Arc<str>> = cells.iter().map(|(name, _)| (*name).into()).collect();
    let column = |texts: &[&str; 3]| Column::from_values(Kind::String, &texts.map(|text| Value::String(text.into())));
    let columns: Vec<Column> = cells.iter().map(|(_, texts)| column(texts)).collect();
    let (mut encoded, mut out) = (Encoded::default(), Vec::new());
    let mut writer = factory.writer();
    writer.columns(&names, &mut out).unwrap();
    let origin = Origin::none();
    writer.rows(&OutputRows { names: &names, columns: &columns, rows: 3, origin: &origin }, &mut encoded);
    assert_eq!(encoded.refused, []);
    writer.records(&encoded, &mut out).unwrap();
    writer.finish(&mut out).unwrap();
    let expected = "\
ISA*00*          *00*          *ZZ*NORTHWIND      *ZZ*LAKESIDE       *260115*0930*^*00501*000000417*0*T*>~
GS*SH*NORTHWIND*LAKESIDE*20260115*0930*88*X*005010~
ST*856*0001~
BSN*00**20260115~
HL*1**S~
SE*4*0001~
GE*1*88~
IEA*1*000000417~
";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}
