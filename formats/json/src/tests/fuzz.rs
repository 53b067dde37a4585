//! Mutated and random inputs: the fast reader against the oracle, in all weathers.

use clinker_format::ReadFactory;

use super::oracle::{self, Expected};
use super::support::{FAIR, Outcome, Random, Weather, lines, read_in, reader, text};

const INPUTS: usize = 24_000;
const FIELDS: [&str; 4] = ["id", "site.city", "*tags", "*b.n"];
const MULTIPLE: [&str; 2] = ["tags", "b.n"];

const SEEDS: [&str; 6] = [
    "{\"id\": 1, \"site\": {\"city\": \"Oslo\"}, \"tags\": [\"x\", 2]}\n{\"id\":2,\"late\":\"a\\u00e9\\n\"}\n\n{\"id\":-3.5e2}\n",
    "{\"tags\":\"x\",\"b\":{\"n\":1},\"tags\":null}\r\n{\"b\":{\"n\":[1]},\"b\":{\"n\":2}}\r\n{\"id\":true}",
    "\x1e{\"a.b\":1,\"a\":{\"c\":{}}}\n\x1e{\"a\":{\"b\":[{\"k\":1,\"l\":[]}]}}\n",
    "{\"id\":12345678901234567890,\"\\ud83d\\ude00\":\"\u{1F600}\u{2028}\"}\n{\"x\":\"\",\"y\":[[[]]],\"z\":{}}\n",
    "{ \"id\" : 0 , \"note\" : \"quiet, \\\"fast\\\" \\\\ size\" , \"ok\" : false }\n{\"id\":1e5,\"id2\":0.25}\n",
    "{\"a\":1}\n{\"b\":2,\"a\":3}\n{\"c\":{\"d\":{\"e\":1}},\"a\":\"\u{7f}\"}\n{}\n{\"a\":null}\n",
];

const PIECES: [&[u8]; 27] = [
    b"{", b"}", b"[", b"]", b",", b":", b"\"", b"\\", b"\n", b"\r", b" ", b"\t", b"0", b"-", b".", b"e", b"null",
    b"tru", b"\"id\":", b"\"a\"", b"\\u00", b"\\ud800", b"\xFF", b"\xC3", b"\x1e", b"\x01", b"9",
];

fn mutated(random: &mut Random, seed: &[u8]) -> Vec<u8> {
    let mut data = seed.to_vec();
    for _ in 0..random.below(5) {
        let at = random.below(data.len() + 1);
        let to = (at + random.below(6)).min(data.len());
        match random.below(4) {
            0 => {
                data.drain(at..to);
            }
            1 => {
                let piece = data[at..to].to_vec();
                let into = random.below(data.len() + 1);
                data.splice(into..into, piece);
            }
            _ => {
                let end = if random.below(2) == 0 { at } else { to };
                data.splice(at..end, PIECES[random.below(PIECES.len())].iter().copied());
            }
        }
    }
    if random.below(8) == 0 {
        data.truncate(random.below(data.len() + 1));
    }
    data
}

fn weather(random: &mut Random) -> Weather {
    Weather {
        chunk: [1, 2, 7, 33, 4096][random.below(5)],
        rows: [1, 2, 1024][random.below(3)],
        bytes: [1, 16, 64, 1 << 20][random.below(4)],
        backwards: random.below(2) == 0,
    }
}

/// The same file as the records of an array, with blank space between.
fn as_array(random: &mut Random, data: &[u8]) -> Vec<u8> {
    let mut array = b"[".to_vec();
    let records: Vec<&[u8]> = data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    for (at, line) in records.iter().enumerate() {
        array.extend_from_slice(if at == 0 { b"" } else { b"," });
        array.extend_from_slice([b"" as &[u8], b" ", b"\n"][random.below(3)]);
        array.extend_from_slice(line.strip_prefix(b"\x1e").unwrap_or(line));
    }
    array.extend_from_slice(b" ]\n");
    array
}

fn check(factory: &dyn ReadFactory, data: &[u8], expected: &Expected, other: Weather) {
    let shown = String::from_utf8_lossy(data);
    let outcome = read_in(factory, data, FAIR);
    if !expected.unknown {
        let agrees = sorted(&outcome) == sorted_rows(&expected.rows)
            && outcome.codes() == expected.rejected
            && outcome.fault.is_some() == expected.corrupt;
        assert!(agrees, "{shown:?}\nexpected {expected:?}\nfound {outcome:?}");
    }
    assert_eq!(read_in(factory, data, other), outcome, "{other:?} of {shown:?}");
}

type Rows = Vec<(u64, Vec<String>)>;

/// Rows with their fields by name: declared ones stand in front of the others.
fn sorted(outcome: &Outcome) -> Rows {
    sorted_rows(&outcome.rows)
}

fn sorted_rows(rows: &[super::support::Row]) -> Rows {
    let mut sorted: Rows = rows
        .iter()
        .map(|(row, fields)| (*row, fields.iter().map(|(name, value)| format!("{name}={value}")).collect()))
        .collect();
    sorted.iter_mut().for_each(|(_, fields)| fields.sort());
    sorted
}

#[test]
fn formats_5_2_mutated_lines_agree_with_serde_json_in_every_weather() {
    let factory = reader(&lines(), &FIELDS);
    let mut random = Random(0x5EED);
    for at in 0..INPUTS {
        let data = mutated(&mut random, SEEDS[at % SEEDS.len()].as_bytes());
        let other = weather(&mut random);
        if bytes_show_another_encoding(&data) {
            continue;
        }
        check(&*factory, &data, &oracle::lines(&data, &MULTIPLE), other);
    }
}

#[test]
fn formats_5_2_mutated_arrays_agree_with_serde_json_in_every_weather() {
    let factory = reader(&[("format", text("array"))], &FIELDS);
    let mut random = Random(0xA44A1);
    for at in 0..INPUTS {
        let array = as_array(&mut random, SEEDS[at % SEEDS.len()].as_bytes());
        let data = mutated(&mut random, &array);
        let other = weather(&mut random);
        if bytes_show_another_encoding(&data) {
            continue;
        }
        check(&*factory, &data, &oracle::elements(&data, true, &MULTIPLE), other);
    }
}

#[test]
fn formats_5_2_mutated_sequences_agree_with_serde_json_in_every_weather() {
    let factory = reader(&[], &FIELDS);
    let mut random = Random(0x5E9);
    for at in 0..INPUTS {
        let seed = SEEDS[at % SEEDS.len()].trim_start_matches('\x1e').replace('\x1e', " ");
        // The first line ends inside an object: that makes it a sequence.
        let data = [b"{\n}" as &[u8], &mutated(&mut random, seed.as_bytes())].concat();
        let other = weather(&mut random);
        check(&*factory, &data, &oracle::elements(&data, false, &MULTIPLE), other);
    }
}

/// Marks of other encodings are the business of a test of their own.
fn bytes_show_another_encoding(data: &[u8]) -> bool {
    data.starts_with(b"\xFF\xFE") || data.starts_with(b"\xFE\xFF")
}

#[test]
fn formats_15_10_random_bytes_never_panic_and_weathers_agree() {
    let mut random = Random(0xB17E5);
    let factories = [
        reader(&[], &FIELDS),
        reader(&lines(), &FIELDS),
        reader(&[("format", text("array"))], &FIELDS),
        reader(&[("record_path", text("a.b"))], &FIELDS),
        reader(&[("max_record_bytes", clinker_format::OptionValue::Number(12))], &FIELDS),
    ];
    for at in 0..6000 {
        let mut data = Vec::new();
        for _ in 0..random.below(40) {
            if random.below(6) == 0 {
                data.push(random.next() as u8);
            } else {
                data.extend_from_slice(PIECES[random.below(PIECES.len())]);
            }
        }
        let factory = &factories[at % factories.len()];
        let other = weather(&mut random);
        let fair = read_in(&**factory, &data, FAIR);
        assert_eq!(read_in(&**factory, &data, other), fair, "{other:?} of {:?}", String::from_utf8_lossy(&data));
    }
}

#[test]
fn formats_15_10_mutated_wrappers_agree_in_every_weather() {
    let mut random = Random(0x77A9);
    let factory = reader(&[("record_path", text("a.b"))], &FIELDS);
    for at in 0..6000 {
        let array = as_array(&mut random, SEEDS[at % SEEDS.len()].as_bytes());
        let array = String::from_utf8_lossy(&array).into_owned();
        let whole = format!(
            "{{\"z\":[1,{{\"a\":\"\\u00e9\u{e9}\"}}],\"\\u0061\":{{\"c\":-1.5e3,\"b\":{array},\"d\":null}},\"e\":true}}"
        );
        let data = mutated(&mut random, whole.as_bytes());
        let other = weather(&mut random);
        let fair = read_in(&*factory, &data, FAIR);
        assert_eq!(read_in(&*factory, &data, other), fair, "{other:?} of {:?}", String::from_utf8_lossy(&data));
        // What serde_json refuses as a whole is corrupt here, too, or has a rejected record.
        let valid = serde_json::from_slice::<oracle::Tree>(&data).is_ok();
        let clean = fair.fault.is_none() && !data.is_empty() && !data.trim_ascii().is_empty();
        assert!(valid || !clean || has_odd_number(&data), "{:?}", String::from_utf8_lossy(&data));
    }
}

/// serde_json refuses numbers beyond binary64.
fn has_odd_number(data: &[u8]) -> bool {
    serde_json::from_slice::<oracle::Tree>(data).is_err_and(|error| error.to_string().contains("out of range"))
}
