//! What the other half reads is written back byte for byte (formats.md 7.8).

use std::io::Cursor;
use std::sync::Arc;

use clinker_format::input::BlockInput;
use clinker_format::{BlockBound, FileIdentity, Format, LevelEvent, LevelOpen, OptionValue, ReadRequest};
use clinker_record::{Frame, Level, Section, Value};

use super::escapes::Random;
use super::support::{Given, Row, harbour, options, released, text, write, x12};
use crate::DialectFormat;
use crate::dialect::Dialect;

/// The rows of a file with the levels around them. The section of the file level is called `head`.
fn read(dialect: &Dialect, given: Given<'_>, data: &str) -> Vec<Row> {
    let format = DialectFormat::new(dialect.clone(), "A dialect.");
    let options = options(given);
    let request = ReadRequest {
        options: &options,
        fields: &[],
        undeclared: true,
        refuse_undeclared: false,
        expand: &[],
        max_rows: None,
    };
    let factory = format.bind_reader(&request).unwrap();
    let mut input = BlockInput::new(Box::new(Cursor::new(data.as_bytes().to_vec())));
    let mut file = factory.open(&FileIdentity { source: "in".into(), shown: "in".into() }, &mut input).unwrap();
    let wanted: Vec<usize> = (0..file.columns.len()).collect();
    let mut rows = Vec::new();
    let mut level: Option<Arc<Level>> = None;
    while let Some(block) = file.cutter.cut(&mut input, BlockBound { rows: 1024, bytes: 1 << 20 }).unwrap() {
        let decoded = file.decoder.decode(&block, &wanted);
        assert!(decoded.fault.is_none());
        let mut marks = block.marks.iter().peekable();
        for row in 0..=decoded.rows {
            while let Some(mark) = marks.next_if(|mark| mark.row as usize == row) {
                level = match &mark.event {
                    LevelEvent::Open(open) => Some(opened(dialect, open, level)),
                    LevelEvent::Close => level.and_then(|level| level.parent.clone()),
                };
            }
            if row < decoded.rows {
                let cell = |(name, cells): (&Arc<str>, &clinker_record::cast::Cells)| {
                    Some((name.to_string(), Value::String(cells.text(row)?.into())))
                };
                let cells = file.columns.iter().zip(&decoded.cells).filter_map(cell).collect();
                rows.push(Row { cells, level: level.clone(), file: Some(0) });
            }
        }
    }
    rows
}

fn opened(dialect: &Dialect, open: &LevelOpen, parent: Option<Arc<Level>>) -> Arc<Level> {
    let name: Arc<str> =
        if open.level == 0 { "head".into() } else { Arc::clone(&dialect.levels[usize::from(open.level)].name) };
    let fields = open.fields.iter().map(|(name, text)| (Arc::clone(name), Value::String(Arc::clone(text)))).collect();
    let section = Section { name, fields, keys: open.keys.clone() };
    Arc::new(Level { kind: open.level, ordinal: 1, frame: Frame::Inherit, parent, sections: vec![section] })
}

/// A file being made.
struct Maker {
    random: Random,
    element: char,
    terminator: char,
    line_break: &'static str,
    letters: Vec<String>,
    out: String,
    /// Segments since the innermost level opened.
    segments: usize,
}

impl Maker {
    fn segment(&mut self, elements: &[&str]) {
        self.segments += 1;
        let last = elements.iter().rposition(|element| !element.is_empty()).unwrap_or(0);
        self.out.push_str(&elements[..=last].join(&self.element.to_string()));
        self.out.push(self.terminator);
        self.out.push_str(self.line_break);
    }

    fn text(&mut self) -> String {
        let letters: Vec<&str> = self.letters.iter().map(String::as_str).collect();
        self.random.text(&letters, 5)
    }

    /// A segment of random elements, the last of them not empty.
    fn body(&mut self, tags: &[&str]) {
        let tag = tags[self.random.below(tags.len() as u64) as usize];
        let mut elements: Vec<String> = (0..self.random.below(6)).map(|_| self.text()).collect();
        while elements.last().is_some_and(String::is_empty) {
            elements.pop();
        }
        let elements: Vec<&str> = [tag].into_iter().chain(elements.iter().map(String::as_str)).collect();
        self.segment(&elements);
    }
}

fn x12_file(seed: u64) -> (String, &'static str) {
    let mut random = Random(seed);
    let separators = [('*', '>', '^'), ('|', ':', '!'), ('+', '@', '%')];
    let (element, component, repetition) = separators[random.below(3) as usize];
    let breaks = [("none", ""), ("lf", "\n"), ("crlf", "\r\n")];
    let (terminator, (newline, line_break)) = match random.below(4) {
        0 => ('\n', ("lf", "")),
        1 => ('\r', [("none", ""), ("lf", "\n")][random.below(2) as usize]),
        _ => ('~', breaks[random.below(3) as usize]),
    };
    let mut letters: Vec<String> = ["a", "B", "7", " ", "Ø", "'", "\\", "\t"].map(str::to_owned).to_vec();
    letters.extend([component.to_string(), repetition.to_string()]);
    if terminator == '~' {
        letters.extend(["\n".to_owned(), "\r".to_owned()]);
    }
    let version = if random.below(3) == 0 { "00401" } else { "00501" };
    let control = format!("{:09}", random.below(1_000_000_000));
    let mut maker = Maker { random, element, terminator, line_break, letters, out: String::new(), segments: 0 };
    let isa = "ISA*00*          *00*          *ZZ*NORTHWIND      *ZZ*LAKESIDE       *260115*0930*";
    let isa = format!("{isa}{repetition}*{version}*{control}*0*T*").replace('*', &element.to_string());
    maker.out = format!("{isa}{component}{terminator}{line_break}");
    for _ in 0..maker.random.below(3) {
        maker.body(&["TA1", "TA3", "ISB"]);
    }
    let groups = 1 + maker.random.below(3);
    for _ in 0..groups {
        let reference = (1 + maker.random.below(3)).to_string();
        maker.segment(&["GS", "SH", "A", "", "20260115", "0930", &reference, "X", "005010"]);
        let sets = 1 + maker.random.below(3);
        for _ in 0..sets {
            let (number, kind) =
                (format!("{:04}", maker.random.below(3)), ["856", "810"][maker.random.below(2) as usize]);
            let more = ["", "005010X"][maker.random.below(2) as usize];
            maker.segments = 0;
            maker.segment(&["ST", kind, &number, more]);
            for _ in 0..maker.random.below(5) {
                if maker.random.below(8) == 0 {
                    let data = maker.text() + "~\n*|";
                    maker.segment(&["BIN", &data.len().to_string(), &data, "x"]);
                } else {
                    maker.body(&["BSN", "HL", "N1", "REF"]);
                }
            }
            let count = (maker.segments + 1).to_string();
            maker.segment(&["SE", &count, &number]);
        }
        maker.segment(&["GE", &sets.to_string(), &reference]);
    }
    maker.segment(&["IEA", &groups.to_string(), &control]);
    (maker.out, newline)
}

/// The built-in rules, as far as the tests of the writer do without them.
fn with_all_tags() -> Dialect {
    let mut dialect = x12();
    dialect.allow_outside = ["TA1", "TA3", "ISB"].map(|tag| (tag.into(), 0)).to_vec();
    dialect
}

#[test]
fn x12_round_trip_of_random_interchanges() {
    let dialect = with_all_tags();
    for seed in 0..600 {
        let (file, newline) = x12_file(seed);
        let mode = text(["decoded", "wire"][seed as usize % 2]);
        let grouped = OptionValue::Bool(seed % 3 == 0);
        let rows = read(&dialect, &[("element_text", mode.clone()), ("emit_group_ref", grouped)], &file);
        let given = [
            ("interchange_from_doc", text("head")),
            ("group_header_from_doc", text("functional_group")),
            ("segment_newline", text(newline)),
            ("element_text", mode),
        ];
        assert_eq!(write(&dialect, &given, &rows), file, "seed {seed}");
    }
}

fn released_file(seed: u64, wire: bool) -> (String, bool) {
    let mut random = Random(seed);
    let service = random.below(2) == 0;
    let (component, element, release, repetition, terminator) =
        if service && random.below(2) == 0 { (';', '*', '!', '^', '~') } else { (':', '+', '?', ' ', '\'') };
    let escaped = |byte: char| format!("{release}{byte}");
    let mut letters: Vec<String> = ["a", "B", " ", "\n", "Å"].map(str::to_owned).to_vec();
    letters.extend([component.to_string(), escaped(element), escaped(terminator), escaped(release)]);
    if wire {
        letters.extend([escaped(component), escaped('x')]);
    }
    let line_break = "\n";
    let mut maker = Maker { random, element, terminator, line_break, letters, out: String::new(), segments: 0 };
    if service {
        maker.out = format!("UNA{component}{element}.{release}{repetition}{terminator}\n");
    }
    let syntax = format!("UNOY{component}4");
    maker.segment(&["UNB", &syntax, "A", "B", "260115", "IC042"]);
    let groups = maker.random.below(3);
    let mut written = 0;
    for _ in 0..groups.max(1) {
        if groups > 0 {
            maker.segment(&["UNG", "DESADV", "A", "B", "", "G1", "UN"]);
        }
        let messages = 1 + maker.random.below(3);
        for _ in 0..messages {
            let number = format!("M{}", maker.random.below(3));
            maker.segments = 0;
            let kind = format!("DESADV{component}D{component}96A{component}UN");
            maker.segment(&["UNH", &number, &kind]);
            for _ in 0..maker.random.below(5) {
                maker.body(&["BGM", "NAD", "LIN"]);
            }
            let count = (maker.segments + 1).to_string();
            maker.segment(&["UNT", &count, &number]);
        }
        written += messages;
        if groups > 0 {
            maker.segment(&["UNE", &messages.to_string(), "G1"]);
        }
    }
    let total = if groups > 0 { groups } else { written };
    maker.segment(&["UNZ", &total.to_string(), "IC042"]);
    (maker.out, service)
}

#[test]
fn formats_7_8_round_trip_of_random_released_interchanges() {
    let mut dialect = released();
    if let crate::dialect::CharsetRule::Element { map, .. } = &mut dialect.charset {
        map.push(("UNOY".into(), "utf-8".into()));
    }
    for seed in 0..600 {
        let wire = seed % 2 == 1;
        let (file, service) = released_file(seed, wire);
        let mode = text(if wire { "wire" } else { "decoded" });
        let rows = read(&dialect, &[("element_text", mode.clone())], &file);
        let given = [
            ("interchange_from_doc", text("head")),
            ("group_header_from_doc", text("functional_group")),
            ("write_una", OptionValue::Bool(service)),
            ("element_text", mode),
        ];
        assert_eq!(write(&dialect, &given, &rows), file, "seed {seed}");
    }
}

#[test]
fn formats_15_7_the_example_is_read_and_written_back() {
    let file = "HDR=B9|OSLO\nSHP=S1|north\\|east\nWGT=12.5\nSHP=S2\nWGT=7.25\nTRL=2|19.75|B9\n";
    let rows = read(&harbour(), &[], file);
    let given = [("batch_header_from_doc", text("head"))];
    assert_eq!(write(&harbour(), &given, &rows), file);
    let kept: Vec<Row> =
        rows.into_iter().filter(|row| row.cells.contains(&("ship_no".into(), Value::String("S1".into())))).collect();
    let expected = "HDR=B9|OSLO\nSHP=S1|north\\|east\nWGT=12.5\nTRL=1|12.5|B9\n";
    assert_eq!(write(&harbour(), &given, &kept), expected);
}

#[test]
fn formats_15_5_what_is_written_reads_back_with_equal_cells() {
    let cells = ["a", "", "x\r", "\r", "\n", " ", "|", "\\", "=", "\\|", "Ø", "a\r\nb", "\r\n"];
    let batch = super::support::open(0, None, "head", "HDR=B9", "|=\n\\", "");
    for first in cells {
        for second in cells {
            let row = super::support::row(Some(&batch), "seg_id=REF ship_no=S1").text("e01", first).text("e03", second);
            let output = write(&harbour(), &[("batch_header_from_doc", text("head"))], std::slice::from_ref(&row));
            let back = read(&harbour(), &[], &output);
            let text =
                |name: &str| back[1].cells.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
            let expected = |text: &str| (!text.is_empty()).then(|| Value::String(text.into()));
            assert_eq!((text("e01"), text("e03")), (expected(first), expected(second)), "{output:?}");
        }
    }
}

#[test]
fn formats_7_4_separators_of_the_output_are_those_of_its_own_header() {
    let dialect = with_all_tags();
    for seed in 0..200 {
        let (file, _) = x12_file(seed);
        let rows = read(&dialect, &[], &file);
        let header: Vec<&str> = "00,,00,,ZZ,A,ZZ,B,260115,0930,=,00501,1,0,T,/".split(',').collect();
        let given =
            [("interchange", super::support::texts(&header)), ("group_header_from_doc", text("functional_group"))];
        let (output, refused) = super::support::write_in(&dialect, &given, &rows, 2);
        // Only what has no form under the other separators is refused.
        if let Some(refused) = refused {
            assert_eq!(refused.code, "E443", "seed {seed}: {}", refused.reason);
            continue;
        }
        let again = read(&dialect, &[], std::str::from_utf8(&output).unwrap());
        let pairs = rows.iter().zip(&again);
        assert_eq!(rows.len(), again.len());
        for (row, other) in pairs {
            let names = |row: &Row| row.cells.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
            assert_eq!(names(row), names(other), "seed {seed}");
        }
    }
}
