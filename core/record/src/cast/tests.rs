use arrow_buffer::Buffer;

use super::oracle;
use super::*;
use crate::testing::Random;
use crate::{CellRef, Decimal, Kind, json};

/// Text cells, every other one from the block, `None` absent.
fn cells(texts: &[Option<&str>]) -> TextCells {
    let (mut block, mut extra) = (String::from("header\n"), String::new());
    let mut places = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let Some(text) = text else {
            places.push(None);
            continue;
        };
        let buffer = if at % 2 == 0 { &mut block } else { &mut extra };
        places.push(Some((at % 2, buffer.len(), text.len())));
        buffer.push_str(text);
    }
    let refs = places.iter().map(|place| match place {
        None => CellRef::ABSENT,
        Some((0, from, len)) => CellRef { offset: *from as u32, len: *len as u32 },
        Some((_, from, len)) => CellRef { offset: (block.len() + from) as u32, len: *len as u32 },
    });
    let refs = refs.collect();
    TextCells { refs, block: Buffer::from_vec(block.into_bytes()), extra: Buffer::from_vec(extra.into_bytes()) }
}

fn rule(kind: Kind) -> AdmitRule {
    AdmitRule::new("field", Type::plain(kind))
}

fn nullable(kind: Kind) -> AdmitRule {
    AdmitRule::new("field", Type::nullable(kind))
}

/// Admits one column; a row is its value or its failure.
fn column(rule: &AdmitRule, texts: &[Option<&str>]) -> Vec<Result<Value, CellFailure>> {
    let admitted = admit(std::slice::from_ref(rule), &[Cells::Text(cells(texts))], texts.len());
    let mut failures = admitted.failures.into_iter().peekable();
    let row = |row: usize| match failures.next_if(|failure| failure.row as usize == row) {
        Some(failure) => Err(failure),
        None => Ok(admitted.columns[0].value(row)),
    };
    (0..texts.len()).map(row).collect()
}

fn one(rule: &AdmitRule, text: &str) -> Result<Value, String> {
    column(rule, &[Some(text)]).remove(0).map_err(|failure| failure.reason)
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => left.to_bits() == right.to_bits(),
        _ => left == right,
    }
}

const TROUBLES: [&str; 76] = [
    "",
    "0",
    "-0",
    "+1",
    "1",
    "-1",
    "1e3",
    "1E-3",
    " 1",
    "1 ",
    "١",
    "１",
    "1_000",
    "1,5",
    "0x10",
    "NaN",
    "nan",
    "inf",
    "-Infinity",
    ".5",
    "5.",
    ".",
    "-",
    "+",
    "--1",
    "+-1",
    "1.5",
    "-1.50",
    "1.5.2",
    "1e",
    "1e+",
    "e5",
    "1e400",
    "-1e400",
    "1e-400",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "0.1234567890123456789012345678",
    "0.12345678901234567890123456789",
    "79228162514264337593543950335",
    "79228162514264337593543950336",
    "000000000000000000000000000000000007",
    "123456789012345678",
    "1234567890123456789",
    "0.000000000000000000000001",
    "12345678901234567.25",
    "true",
    "TRUE",
    "Yes",
    "no",
    "oN",
    "off",
    "y",
    "n",
    "t",
    "null",
    "NULL",
    "N/A",
    "2024-02-29",
    "2023-02-29",
    "1900-02-29",
    "02/29/2024",
    "2024/2/9",
    "13-01-2024",
    "1-2-24",
    "2024-02-29T23:59:59.5Z",
    "2024-02-29t00:00:00+05:30",
    "2024-02-29 06:05:04",
    "2/9/2024 6:05",
    "2024-02-29T24:00:00",
    "ein längerer Text, der nicht passt",
    "a\u{0}b",
    "2024-1-1T1:1:1",
];

fn random_cell(random: &mut Random) -> String {
    let mut text: Vec<char> = random.pick(&TROUBLES).chars().collect();
    match random.below(6) {
        0 => {}
        1 => return (random.next() as i64).to_string(),
        2 => return f64::from_bits(random.next()).to_string(),
        3 => {
            let digits = random.below(400) as usize;
            let mut text: String = (0..digits).map(|_| char::from(b'0' + random.below(10) as u8)).collect();
            if random.below(2) == 0 {
                text.insert(random.below(digits as u64 + 1) as usize, '.');
            }
            return text;
        }
        4 => {
            let (year, month) = (random.below(10_001), random.below(14));
            let separator = random.pick(&["-", "/"]);
            let day = random.below(33);
            return match random.below(3) {
                0 => format!("{year:04}{separator}{month:02}{separator}{day:02}"),
                1 => format!("{month:02}{separator}{day:02}{separator}{year:04}"),
                _ => {
                    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", random.below(25), random.below(61), day)
                }
            };
        }
        _ => {
            for _ in 0..=random.below(2) {
                let at = random.below(text.len() as u64 + 1) as usize;
                let new = *random.pick(&['0', '9', '.', '-', '+', 'e', ':', '/', 'T', 'Z', ' ', 'x', '٣']);
                if random.below(2) == 0 && at < text.len() {
                    text[at] = new;
                } else {
                    text.insert(at, new);
                }
            }
        }
    }
    text.into_iter().collect()
}

#[test]
fn formats_1_4_table_agrees_with_the_oracle() {
    let mut random = Random::new(41);
    let mut texts: Vec<String> = TROUBLES.iter().map(|text| (*text).to_owned()).collect();
    texts.push("9".repeat(400));
    texts.extend((0..12_000).map(|_| random_cell(&mut random)));
    let texts: Vec<Option<&str>> = texts.iter().map(|text| Some(text.as_str())).collect();
    let kinds =
        [Kind::Int, Kind::Float, Kind::Decimal, Kind::Bool, Kind::Date, Kind::DateTime, Kind::String, Kind::Any];
    for kind in kinds.into_iter().chain([Kind::Null, Kind::Array, Kind::Map]) {
        for rule in [rule(kind), nullable(kind)] {
            let mut accepted = 0;
            for (text, found) in texts.iter().zip(column(&rule, &texts)) {
                let text = text.unwrap();
                let empty_is_null = text.is_empty() && rule.ty.nullable && !matches!(kind, Kind::String | Kind::Any);
                let expected = if empty_is_null { Some(Value::Null) } else { oracle::value(kind, text) };
                let single = admit_cell(&rule, Cell::Text(text));
                assert_eq!(single.is_ok(), expected.is_some(), "{} {text:?} {single:?}", rule.ty);
                match (found, expected) {
                    (Ok(found), Some(expected)) => {
                        assert!(same(&found, &expected), "{} {text:?} {found:?} {expected:?}", rule.ty);
                        assert!(same(&single.unwrap(), &expected), "{} {text:?}", rule.ty);
                        accepted += 1;
                    }
                    (Err(_), None) => {}
                    (found, expected) => panic!("{} {text:?}: {found:?}, expected {expected:?}", rule.ty),
                }
            }
            let admits_text = !matches!(kind, Kind::Null | Kind::Array | Kind::Map);
            assert!(!admits_text || accepted > 100, "{} {accepted}", rule.ty);
        }
    }
}

#[test]
fn formats_1_4_number_forms() {
    let int = |text| one(&rule(Kind::Int), text);
    assert_eq!(int("+1"), Ok(Value::Int(1)));
    assert_eq!(int("007401"), Ok(Value::Int(7401)));
    assert_eq!(int("-9223372036854775808"), Ok(Value::Int(i64::MIN)));
    assert_eq!(int("9223372036854775808").unwrap_err(), "the number is outside the signed 64-bit range");
    assert_eq!(int("١").unwrap_err(), "not an integer (an optional sign and digits)");
    assert_eq!(int("").unwrap_err(), "empty text is not a valid int");
    let float = |text| one(&rule(Kind::Float), text);
    assert_eq!(float(".5"), Ok(Value::Float(0.5)));
    assert_eq!(float("5."), Ok(Value::Float(5.0)));
    assert_eq!(float("1e3"), Ok(Value::Float(1000.0)));
    assert_eq!(float("1e-400"), Ok(Value::Float(0.0)));
    assert!(matches!(float("-0"), Ok(Value::Float(zero)) if zero == 0.0 && zero.is_sign_negative()));
    assert_eq!(float("1e400").unwrap_err(), "the number is too large for a float");
    assert_eq!(float("inf").unwrap_err(), "not a finite number in decimal or exponent form");
}

#[test]
fn formats_1_4_decimal_scale_never_rounds_and_precision_counts_digits() {
    let scaled = AdmitRule { scale: Some(2), precision: Some(5), ..rule(Kind::Decimal) };
    let shown = |text: &str| match one(&scaled, text) {
        Ok(Value::Decimal(value)) => value.to_string(),
        Ok(other) => panic!("{other:?}"),
        Err(reason) => reason,
    };
    assert_eq!(shown("1.5"), "1.50");
    assert_eq!(shown("-1.500"), "-1.50");
    assert_eq!(shown("999.99"), "999.99");
    assert_eq!(shown("1000"), "the number has 6 digits, the column's precision is 5");
    assert_eq!(shown("1.005"), "the number does not fit scale 2 without rounding");
    assert_eq!(shown("1e3"), "not an exact base-10 literal (an optional sign, digits and an optional fraction)");
    assert_eq!(shown(&"9".repeat(40)), "the number has more digits than a decimal holds");
    assert_eq!(one(&rule(Kind::Decimal), "7.10"), Ok(Value::Decimal(Decimal::new(710, 2).unwrap())));
}

#[test]
fn formats_1_4_column_format_is_the_only_one_tried() {
    let formats = |kind, formats: &[&str]| AdmitRule {
        formats: formats.iter().map(|format| DateFormat::compile(format).unwrap()).collect(),
        ..rule(kind)
    };
    let german = formats(Kind::Date, &["%d.%m.%Y"]);
    assert_eq!(one(&german, "09.08.2031"), Ok(Value::Date(22_500)));
    assert_eq!(one(&german, "2031-08-09").unwrap_err(), "no existing day in the form %d.%m.%Y");
    let chain = formats(Kind::Date, &["%d.%m.%Y", "%Y%m%d"]);
    assert_eq!(one(&chain, "20310809"), Ok(Value::Date(22_500)));
    let iso = formats(Kind::Date, &["%Y-%m-%d"]);
    assert_eq!(one(&iso, "2031-08-09"), Ok(Value::Date(22_500)));
    assert_eq!(one(&iso, "2031- 8-9"), Ok(Value::Date(22_500)));
    assert!(one(&iso, "08/09/2031").is_err());
    let timed = formats(Kind::DateTime, &["%d.%m.%Y %H:%M"]);
    assert_eq!(one(&timed, "09.08.2031 06:05"), Ok(Value::DateTime((22_500 * 86_400 + 21_900) * 1_000_000_000)));
    assert!(one(&timed, "09.08.2031").is_err());
}

#[test]
fn formats_1_4_empty_absent_default_and_required() {
    let with_default = |rule: AdmitRule, default| AdmitRule { default: Some(default), ..rule };
    let required = |rule: AdmitRule| AdmitRule { required: true, ..rule };
    let category =
        |rule: &AdmitRule, text: Option<&str>| column(rule, &[text]).remove(0).map_err(|failure| failure.category);
    let (missing, conversion) = (Category::MissingRequiredField, Category::RequiredFieldConversionFailure);
    for (rule, text, expected) in [
        (nullable(Kind::Int), None, Ok(Value::Null)),
        (nullable(Kind::Int), Some(""), Ok(Value::Null)),
        (nullable(Kind::String), Some(""), Ok(Value::String("".into()))),
        (nullable(Kind::Any), Some(""), Ok(Value::String("".into()))),
        (rule(Kind::Any), None, Ok(Value::Null)),
        (rule(Kind::Null), None, Ok(Value::Null)),
        (rule(Kind::Null), Some(""), Err(Category::TypeCoercionFailure)),
        (rule(Kind::String), None, Err(Category::TypeCoercionFailure)),
        (rule(Kind::Int), None, Err(Category::TypeCoercionFailure)),
        (rule(Kind::Int), Some("x"), Err(Category::TypeCoercionFailure)),
        (required(rule(Kind::Int)), None, Err(missing)),
        (required(rule(Kind::Int)), Some("x"), Err(conversion)),
        (required(rule(Kind::Int)), Some(""), Err(conversion)),
        (required(nullable(Kind::Int)), None, Err(missing)),
        (required(nullable(Kind::Int)), Some(""), Err(missing)),
        (required(rule(Kind::String)), Some(""), Ok(Value::String("".into()))),
        (with_default(rule(Kind::Int), Value::Int(7)), None, Ok(Value::Int(7))),
        (with_default(required(rule(Kind::Int)), Value::Int(7)), None, Ok(Value::Int(7))),
        (with_default(rule(Kind::Int), Value::Int(7)), Some(""), Err(Category::TypeCoercionFailure)),
        (with_default(nullable(Kind::Int), Value::Int(7)), Some(""), Ok(Value::Null)),
        (with_default(rule(Kind::Bool), Value::Bool(true)), None, Ok(Value::Bool(true))),
        (with_default(rule(Kind::Date), Value::Date(5)), None, Ok(Value::Date(5))),
        (with_default(rule(Kind::DateTime), Value::DateTime(5)), None, Ok(Value::DateTime(5))),
        (with_default(rule(Kind::Float), Value::Float(0.5)), None, Ok(Value::Float(0.5))),
        (with_default(rule(Kind::String), Value::String("a".into())), None, Ok(Value::String("a".into()))),
        (
            with_default(rule(Kind::String), Value::String("longer than twelve".into())),
            None,
            Ok(Value::String("longer than twelve".into())),
        ),
        (
            with_default(AdmitRule { scale: Some(2), ..rule(Kind::Decimal) }, Value::Int(5)),
            None,
            Ok(Value::Decimal(Decimal::new(500, 2).unwrap())),
        ),
    ] {
        assert_eq!(category(&rule, text), expected, "{rule:?} {text:?}");
        // A column that the input lacks altogether is absent in each row.
        if text.is_none() {
            let admitted = admit(&[&rule], &[Cells::Absent(3)], 3);
            assert_eq!(admitted.columns[0].len(), 3);
            match expected {
                Ok(value) => assert!((0..3).all(|row| admitted.columns[0].value(row) == value)),
                Err(category) => {
                    let found = admitted.failures.iter().map(|failure| (failure.row, failure.category));
                    assert!(found.eq((0..3).map(|row| (row, category))));
                }
            }
        }
    }
}

#[test]
fn formats_1_3_enum_and_coerce() {
    let colours = AdmitRule { enumeration: Some(vec!["red".into(), "".into()]), ..rule(Kind::String) };
    assert_eq!(one(&colours, "red"), Ok(Value::String("red".into())));
    assert_eq!(one(&colours, ""), Ok(Value::String("".into())));
    assert_eq!(one(&colours, "Red").unwrap_err(), "the text is not in the column's `enum`: `red`, ``");
    let strict = AdmitRule { coerce: false, ..rule(Kind::Int) };
    assert_eq!(one(&strict, "5").unwrap_err(), "`coerce: false` admits native int values only, not text");
    assert_eq!(one(&AdmitRule { coerce: false, ..rule(Kind::String) }, "5"), Ok(Value::String("5".into())));
    let native = |rule: &AdmitRule, value: &Value| admit_cell(rule, Cell::Native(value)).is_ok();
    assert!(native(&strict, &Value::Int(5)));
    assert!(!native(&strict, &Value::Float(5.0)));
}

#[test]
fn formats_1_4_native_values() {
    let native = |kind, value: &Value| admit_cell(&rule(kind), Cell::Native(value)).ok();
    assert_eq!(native(Kind::Int, &Value::Float(5.0)), Some(Value::Int(5)));
    assert_eq!(native(Kind::Int, &Value::Float(5.5)), None);
    assert_eq!(native(Kind::Int, &Value::Float(9_223_372_036_854_775_808.0)), None);
    assert_eq!(native(Kind::Int, &Value::Float(-9_223_372_036_854_775_808.0)), Some(Value::Int(i64::MIN)));
    assert_eq!(native(Kind::Int, &Value::Bool(true)), Some(Value::Int(1)));
    assert_eq!(native(Kind::Float, &Value::Int(1 << 53)), Some(Value::Float(9_007_199_254_740_992.0)));
    assert_eq!(native(Kind::Float, &Value::Int((1 << 53) + 1)), None);
    assert_eq!(native(Kind::Float, &Value::Float(f64::NAN)), None);
    assert_eq!(native(Kind::Decimal, &Value::Int(5)), Some(Value::Decimal(Decimal::from_i64(5))));
    assert_eq!(native(Kind::Decimal, &Value::Float(5.0)), None);
    assert_eq!(native(Kind::Bool, &Value::Int(2)), Some(Value::Bool(true)));
    assert_eq!(native(Kind::Date, &Value::DateTime(-1)), Some(Value::Date(-1)));
    assert_eq!(native(Kind::DateTime, &Value::Date(1)), Some(Value::DateTime(86_400_000_000_000)));
    assert_eq!(native(Kind::String, &Value::Int(5)), None);
    assert_eq!(native(Kind::Map, &Value::Array(vec![])), None);
    assert_eq!(native(Kind::Any, &Value::Int(5)), Some(Value::Int(5)));
    assert_eq!(native(Kind::Int, &Value::Null), None);

    let column = Column::from_values(Kind::Float, &[Value::Float(1.0), Value::Null, Value::Float(1.5)]);
    let admitted = admit(&[nullable(Kind::Int)], &[Cells::Native(column.clone())], 3);
    assert_eq!(admitted.columns[0].value(0), Value::Int(1));
    assert_eq!(admitted.failures.iter().map(|failure| failure.row).collect::<Vec<_>>(), [2]);
    let admitted = admit(&[nullable(Kind::Float)], &[Cells::Native(column)], 3);
    assert!(admitted.failures.is_empty() && admitted.columns[0].is_null(1));
}

#[test]
fn formats_1_10_split_values() {
    let many = |kind, delimiter: &str, escape, json| AdmitRule {
        multiple: true,
        split: Some(SplitRule { delimiter: delimiter.to_owned(), escape, json }),
        ..rule(kind)
    };
    let shown = |rule: &AdmitRule, text: &str| match one(rule, text) {
        Ok(value) => json::to_compact(&value),
        Err(reason) => reason,
    };
    let plain = many(Kind::String, ";", None, false);
    assert_eq!(shown(&plain, ""), "[]");
    assert_eq!(shown(&plain, "a"), r#"["a"]"#);
    assert_eq!(shown(&plain, ";a;;"), r#"["","a","",""]"#);
    assert_eq!(shown(&many(Kind::String, "||", None, false), "a||b|c"), r#"["a","b|c"]"#);
    let escaped = many(Kind::String, ";", Some('\\'), false);
    assert_eq!(shown(&escaped, r"a\;b;c\\;\x"), r#"["a;b","c\\","x"]"#);
    assert_eq!(shown(&escaped, r"a\"), r#"["a\\"]"#);
    assert_eq!(shown(&many(Kind::String, "é", Some('ü'), false), "aüébéc"), r#"["aéb","c"]"#);
    let ints = many(Kind::Int, ";", None, false);
    assert_eq!(shown(&ints, "1;2"), "[1,2]");
    assert_eq!(shown(&ints, "1;x"), "element 2: not an integer (an optional sign and digits)");
    assert_eq!(shown(&ints, "1;"), "element 2: empty text is not a valid int");
    let optional = AdmitRule { ty: Type::nullable(Kind::Int), ..ints.clone() };
    assert_eq!(shown(&optional, "1;"), "[1,null]");
    assert_eq!(column(&ints, &[None]), [Ok(Value::Null)]);

    let json = many(Kind::Int, ";", None, true);
    assert_eq!(shown(&json, "[1, 2.0, true]"), "[1,2,1]");
    assert_eq!(shown(&json, ""), "[]");
    assert_eq!(shown(&json, "[1,null]"), "element 2: int does not admit null");
    assert_eq!(
        shown(&json, r#"[1,{"a":9223372036854775808}]"#),
        "the JSON array holds the integer 9223372036854775808, which is beyond the signed 64-bit range"
    );
    assert_eq!(shown(&json, r#"{"a":1}"#), "the cell is JSON, but not an array");
    let decimals = many(Kind::Decimal, ";", None, true);
    assert_eq!(shown(&decimals, "[1.10, 1e2, 15e-1]"), r#"["1.10","100","1.5"]"#);
    assert_eq!(shown(&many(Kind::Any, ";", None, true), r#"[{"b":1,"a":[1.5]}]"#), r#"[{"b":1,"a":[1.5]}]"#);

    let failure = column(&json, &[Some("[1"), Some("[\"x\"]")]);
    let structural: Vec<_> = failure.iter().map(|row| row.as_ref().unwrap_err().structural).collect();
    assert_eq!(structural, [true, false]);
    assert_eq!(failure[0].as_ref().unwrap_err().category, Category::StructuralValidation);

    let original = |rule: &AdmitRule, text| {
        let cells = Cells::Text(cells(&[Some(text)]));
        original_text(rule, &cells, 0).unwrap().into_owned()
    };
    assert_eq!(original(&escaped, r"a\;b;"), r#"["a;b",""]"#);
    assert_eq!(original(&json, r#"[1.10, "x"]"#), r#"[1.10,"x"]"#);
    assert_eq!(original(&json, "[1"), "[1");
    assert_eq!(original(&ints, ""), "[]");
    assert_eq!(original(&rule(Kind::Int), "x"), "x");
    assert_eq!(original_text(&ints, &Cells::Absent(1), 0), None);
}

#[test]
fn formats_1_4_row_fails_once_for_its_first_column() {
    let rules = [
        rule(Kind::Int),
        AdmitRule { required: true, ..rule(Kind::Date) },
        AdmitRule {
            multiple: true,
            split: Some(SplitRule { delimiter: ";".into(), escape: None, json: true }),
            ..rule(Kind::Int)
        },
    ];
    let columns = [
        cells(&[Some("1"), Some("x"), Some("x"), Some("x"), Some("1")]),
        cells(&[Some("2024-01-01"), Some("x"), Some("2024-01-01"), Some("x"), None]),
        cells(&[Some("[1]"), Some("[1]"), Some("[1]"), Some("["), Some("[1]")]),
    ];
    let admitted = admit(&rules, &columns.map(Cells::Text), 5);
    let found: Vec<_> =
        admitted.failures.iter().map(|failure| (failure.row, failure.column, failure.category)).collect();
    assert_eq!(
        found,
        [
            (1, 0, Category::TypeCoercionFailure),
            (2, 0, Category::TypeCoercionFailure),
            // A cell whose form is broken was never read, whatever the other cells hold.
            (3, 2, Category::StructuralValidation),
            (4, 1, Category::MissingRequiredField),
        ]
    );
    assert_eq!(admitted.columns[0].value(0), Value::Int(1));
}

#[test]
fn formats_2_3_text_columns_share_the_block() {
    let texts = [Some("short"), Some("from the extra buffer"), None, Some(""), Some("longer than twelve bytes")];
    let cells = cells(&texts);
    let column = text_column(&cells);
    for (row, text) in texts.iter().enumerate() {
        assert_eq!(column.value(row), text.map_or(Value::Null, |text| Value::String(text.into())));
    }
    let Column::Text(array) = &column else { panic!("text") };
    assert_eq!(array.data_buffers()[0].as_ptr(), cells.block.as_ptr());
    let short = TextCells { refs: cells.refs[..1].to_vec(), ..cells };
    let Column::Text(array) = text_column(&short) else { panic!("text") };
    assert!(array.data_buffers().is_empty(), "short texts keep no block alive");
}

#[test]
fn dlq_8_3_e126_line() {
    fn line(lines: &E126Lines<impl Fn(&str, &mut Vec<u8>)>, row: u64, value: Option<&str>, reason: &str) -> String {
        let mut out = Vec::new();
        lines.append(row, value, reason, &mut out);
        String::from_utf8(out).expect("text")
    }
    let plain = |text: &str, out: &mut Vec<u8>| out.extend_from_slice(text.as_bytes());
    let amounts = E126Lines::new("orders", "in/a.csv", 3, "amount", Type::nullable(Kind::Int), plain);
    let line_of = |value| line(&amounts, 12, value, "not an integer");
    assert_eq!(
        line_of(Some("1=\n2")),
        r#"[E126] source="orders" file="in/a.csv" row=12 column=3 field="amount" declared_type=nullable(int) preview="1\u{003D}\n2" original_bytes=4: not an integer"#
    );
    assert!(line_of(None).contains(r#"preview="null" original_bytes=0: "#));
    let long = line_of(Some(&"é".repeat(300)));
    assert!(long.contains("…\" original_bytes=600: "));
    let odd = E126Lines::new("a\"b", "x\ny", 1, "f", Type::plain(Kind::Date), plain);
    let odd = line(&odd, 1, Some("q"), "two\nlines");
    assert!(!odd.contains('\n') && odd.contains(r#"source="a\"b""#), "{odd}");

    let doubled = |text: &str, out: &mut Vec<u8>| out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    for (value, reason) in [(Some("a \"b\""), "the text \"b\""), (None, "two\nlines"), (Some("é"), "é")] {
        let lines = E126Lines::new("a\"b", "c\\d", 2, "f", Type::plain(Kind::Int), doubled);
        let all = E126Lines::new("a\"b", "c\\d", 2, "f", Type::plain(Kind::Int), plain);
        assert_eq!(line(&lines, 7, value, reason), line(&all, 7, value, reason).replace('"', "\"\""));
    }
}
