//! A plugin in C that lies with pointers, lengths and answers, where the kit for Rust could not.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use clinker_format::input::BlockInput;
use clinker_format::{
    BlockBound, Encoded, Fault, FileIdentity, Format, OptionValue, Options, ReadFactory, ReadRequest, WriteRequest,
};
use clinker_harness::{Outcome, clinker};
use clinker_plugin_tests::build_c_with;

/// The plugin with a number of the macro `LOAD`.
fn built(load: usize) -> PathBuf {
    let define = format!("-DLOAD={load}");
    build_c_with("plugins/misbehaving/lies.c", &format!("lies_{load}"), &["-fexceptions", &define])
}

fn lies() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built(0))
}

const LINES: &str = "one\ntwo\n";
const CSV: &str = "a\none\ntwo\n";

/// A folder with the plugin, an input and a pipeline.
fn folder(plugin: &Path, input: &str, source: &str, sink: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(plugin, folder.path().join("plugin.so")).expect("a link");
    fs::write(folder.path().join("in.txt"), input).expect("the input");
    let pipeline = format!(
        "pipeline: {{ name: lies }}\nformats: {{ plugins: [plugin.so] }}\nnodes:\n  - type: source\n    name: rows\n    \
         config: {{ name: rows, path: in.txt, {source} }}\n  - type: sink\n    name: out\n    input: rows\n    \
         config: {{ name: out, path: out.txt, {sink} }}\nerror_handling: {{ strategy: continue, dlq: {{ path: \
         rejected.csv }} }}\n"
    );
    fs::write(folder.path().join("pipeline.yaml"), pipeline).expect("the pipeline");
    folder
}

fn reading(how: &str) -> String {
    format!("type: lies, options: {{ how: {how} }}, schema: [ {{ name: a, type: string }} ]")
}

const READING: &str = "type: csv, schema: [ { name: a, type: string } ]";

/// Runs the pipeline of a folder, in which nothing may be left behind when it fails.
fn run(how: &str, folder: &tempfile::TempDir) -> (Outcome, String) {
    let outcome = clinker(folder.path(), &["run", "pipeline.yaml"]);
    let said = outcome.stderr.replace("\n  │ ", " ");
    if outcome.exit == 1 {
        let left: Vec<_> =
            fs::read_dir(folder.path()).expect("the folder").flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left.len(), 3, "{how}: {left:?}");
    }
    (outcome, said)
}

/// The run ends with a breach that names plugin and call, and says `what`.
fn broken(how: &str, call: &str, what: &str, folder: &tempfile::TempDir) {
    let (outcome, said) = run(how, folder);
    assert_eq!(outcome.exit, 1, "{how}: {}", outcome.stderr);
    let named = said.contains("E468") && said.contains("plugin.so") && said.contains(&format!("in `{call}`"));
    assert!(named && said.contains(what), "{how}: {}", outcome.stderr);
}

#[test]
fn formats_15_2_the_plugin_of_these_tests_works_when_it_does_not_lie() {
    let read = folder(lies(), LINES, &reading("none"), "type: csv");
    let (outcome, said) = run("none", &read);
    assert_eq!(outcome.exit, 0, "{said}");
    assert_eq!(fs::read_to_string(read.path().join("out.txt")).expect("it is published"), "a\nx\nx\n");
    let written = folder(lies(), CSV, READING, "type: lies");
    let (outcome, said) = run("none", &written);
    assert_eq!(outcome.exit, 0, "{said}");
    assert_eq!(fs::read_to_string(written.path().join("out.txt")).expect("it is published"), "x\nx\n");
}

#[test]
fn e468_lies_of_openers_and_cutters() {
    for (how, call, what) in [
        ("bind_end", "bind_reader", "answered End"),
        ("unknown_frame", "bind_reader", "neither `inherit` nor `new`"),
        ("columns_text", "open", "not a list"),
        ("open_nothing", "open", "no cutter or no decoder"),
        ("open_beyond", "open", "claims 1 bytes of the 0"),
        ("open_end", "open", "answered End"),
        ("null_window", "cut", "no place for the window"),
        ("host_invented", "cut", "which it did not"),
        ("idle", "cut", "the file does not end"),
        ("early_end", "cut", "at byte 4, 4 bytes or more before its end"),
        ("notes_twice", "cut", "noted twice"),
        ("unknown_note", "cut", "W999"),
        ("consume_beyond", "cut", "9 consumed ones"),
        ("block_beyond", "cut", "does not lie in"),
        ("many_rows", "cut", "rows, "),
        ("rows_of_nothing", "cut", "no bytes has 2 rows"),
        ("close_unopened", "cut", "none is open"),
        ("never_closed", "cut", "open at the end"),
        ("mark_beyond", "cut", "out of place"),
        ("reply_kind", "cut", "kind 99"),
        ("reply_nowhere", "cut", "without a place"),
        ("reply_misaligned", "cut", "without a place"),
        ("reply_text", "cut", "not UTF-8"),
        ("status", "cut", "unknown status 77"),
    ] {
        broken(how, call, what, &folder(lies(), LINES, &reading(how), "type: csv"));
    }
}

#[test]
fn e468_lies_of_decoders() {
    for (how, what) in [
        ("no_columns", "no columns"),
        ("decode_end", "answered End"),
        ("few_columns", "0 columns of the 1"),
        ("too_many_rows", "3 rows and 0 rejected ones are more than the 2"),
        ("endless_rows", "more than the 2"),
        ("endless_rejected", "more than the 2"),
        ("negative_rows", "-1"),
        ("unequal", "3 rows, the batch has 2"),
        ("rejected_order", "out of place"),
        ("rejected_code", "E999"),
        ("rejected_fault", "behind the fault"),
        ("unasked_columns", "do not add up"),
        ("same_columns", "two further columns"),
        ("no_schema", "without a schema"),
        ("no_struct", "not of structs"),
        ("null_structs", "null themselves"),
        ("missing_column", "column 0 is missing"),
        ("released_column", "released"),
        ("dictionary", "dictionary"),
        ("other_type", "not text"),
        ("negative_offset", "-1"),
        ("far_offset", "too long"),
        ("few_buffers", "1 buffers"),
        ("no_buffers", "without a place"),
        ("no_offsets", "buffer 1"),
        ("no_text", "buffer 2"),
        ("descending", "do not ascend"),
        ("below_zero", "do not ascend"),
        ("nulls_nowhere", "does not say where"),
        ("no_utf8", "not valid UTF-8"),
        ("half_character", "not valid UTF-8"),
        ("behind_block", "points behind the block"),
        ("view_nowhere", "outside of what was given"),
        ("view_beyond", "outside of what was given"),
        ("view_negative", "negative length"),
        ("name", "not UTF-8"),
    ] {
        broken(how, "decode", what, &folder(lies(), LINES, &reading(how), "type: csv"));
    }
}

#[test]
fn e468_lies_about_the_text_of_a_row_of_wrong_form() {
    // The cell `x` is no JSON array: the row is rejected with its text.
    let source = |how: &str| {
        reading(how).replace("type: string", "type: string, multiple: true")
            + ", split_values: [ { field: a, json: true } ]"
    };
    let sink = "type: csv, join_values: [ a ]";
    let fine = folder(lies(), LINES, &source("none"), sink);
    let (outcome, said) = run("none", &fine);
    assert_eq!(outcome.exit, 2, "{said}");
    for (how, what) in [("row_elsewhere", "outside of its block"), ("row_nowhere", "no line, offset and text")] {
        broken(how, "row_text", what, &folder(lies(), LINES, &source(how), sink));
    }
}

#[test]
fn e468_lies_of_writers() {
    for (how, call, what) in [
        ("unknown_cells", "bind_writer", "voxels"),
        ("no_writer", "writer_open", "no writer"),
        ("columns_end", "writer_columns", "answered End"),
        ("columns_code", "writer_columns", "E421"),
        ("ends_nowhere", "writer_rows", "without a place"),
        ("ends_misaligned", "writer_rows", "without a place"),
        ("ends_descend", "writer_rows", "do not match"),
        ("ends_short", "writer_rows", "do not match"),
        ("few_records", "writer_rows", "do not make the 2"),
        ("bytes_nowhere", "writer_rows", "without a place"),
        ("refusal_category", "writer_rows", "unknown category"),
        ("refused_twice", "writer_rows", "behind one that ends the run"),
        ("rows_end", "writer_rows", "answered End"),
        ("write_nowhere", "writer_records", "bytes without a place"),
        ("host_invented_again", "writer_finish", "answered Host"),
    ] {
        let sink = format!("type: lies, options: {{ how: {how} }}");
        broken(how, call, what, &folder(lies(), CSV, READING, &sink));
    }
}

#[test]
fn e461_to_e466_lies_while_loading() {
    // The numbers are those of the plugin's `LOAD`.
    for (load, code, what) in [
        (1, "E461", "no symbol `clinker_plugin`"),
        (2, "E461", "does not begin"),
        (3, "E461", "table of 24 bytes"),
        (4, "E462", "interface 9.1, this engine has interface 0.1"),
        (5, "E465", "failed while loading: it failed: there is no licence"),
        (6, "E465", "unknown status 77"),
        (7, "E466", "registers no format"),
        (8, "E466", "lacks `decode`"),
        (9, "E466", "`how`: the unknown type \"colour\""),
        (10, "E466", "`how`: required, and yet a default"),
        (11, "E466", "`options` is not a list"),
        (12, "E466", "`no_split`"),
        (13, "E463", "`csv`"),
        (14, "E463", "`lies` twice"),
        (16, "E465", "without a place"),
    ] {
        let (outcome, said) = run(code, &folder(&built(load), LINES, &reading("none"), "type: csv"));
        assert_eq!(outcome.exit, 1, "{load}: {said}");
        assert!(said.contains(code) && said.contains("plugin.so"), "{load}: {said}");
        assert!(said.contains(what) && said.contains("help:"), "{load}: {said}");
    }
}

/// Run as a process of its own by the next test: an exception of another language ends it.
#[test]
fn child_with_a_foreign_exception() {
    let Some(folder) = std::env::var_os("CLINKER_TEST_FOREIGN") else { return };
    let folder = PathBuf::from(folder);
    let report = folder.join("report");
    clinker_plugin_host::surround(clinker_plugin_host::Surroundings {
        report: Arc::new(move |code, reason| fs::write(&report, format!("{code} {reason}")).expect("the report")),
        ..clinker_plugin_host::Surroundings::default()
    });
    clinker(&folder, &["run", "pipeline.yaml"]);
    panic!("the run came back");
}

#[test]
fn e465_e468_a_foreign_exception_ends_the_process_and_nothing_is_published() {
    for (load, how, code, call) in [(0, "foreign", "E468", "`cut`"), (15, "none", "E465", "loading")] {
        let folder = folder(&built(load), LINES, &reading(how), "type: csv");
        let child = std::process::Command::new(std::env::current_exe().expect("this test"))
            .args(["child_with_a_foreign_exception", "--exact"])
            .env("CLINKER_TEST_FOREIGN", folder.path())
            .output()
            .expect("the child runs");
        assert_eq!(child.status.code(), Some(1), "{how}: {}", String::from_utf8_lossy(&child.stderr));
        let report = fs::read_to_string(folder.path().join("report")).expect("it was reported");
        assert!(report.starts_with(code) && report.contains("plugin.so") && report.contains(call), "{report}");
        assert!(!folder.path().join("out.txt").exists());
    }
}

/// A reader of the plugin.
fn reader(how: &str) -> Arc<dyn ReadFactory> {
    static LOADED: Mutex<Option<&'static dyn Format>> = Mutex::new(None);
    let format = *LOADED
        .lock()
        .expect("no test panics while it loads")
        .get_or_insert_with(|| clinker_plugin_host::load(lies(), false).expect("it loads")[0]);
    let mut options = Options::default();
    options.set("how", OptionValue::Text(how.to_owned()));
    let request = ReadRequest {
        options: &options,
        fields: &[],
        undeclared: false,
        refuse_undeclared: false,
        expand: &[],
        max_rows: None,
    };
    format.bind_reader(&request).map_err(|_| "refused").expect("it is bound")
}

fn identity() -> FileIdentity {
    FileIdentity { source: "rows".into(), shown: "in.txt".into() }
}

const BOUND: BlockBound = BlockBound { rows: 100, bytes: 1 << 20 };

/// A stream that fails behind its first bytes.
struct Failing(&'static [u8]);

impl Read for Failing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            0 => Err(io::Error::other("the disk is gone")),
            read => Ok(read),
        }
    }
}

#[test]
fn formats_15_3_a_failure_to_read_is_neither_bad_data_nor_the_end_of_the_file() {
    for (how, bytes) in [("none", &b"one\n"[..]), ("none", b""), ("failure_as_fault", b"one\n")] {
        let mut input = BlockInput::new(Box::new(Failing(bytes)));
        let mut file = reader(how).open(&identity(), &mut input).expect("it opens");
        let failure = loop {
            match file.cutter.cut(&mut input, BOUND) {
                Ok(Some(_)) => {}
                Ok(None) => panic!("{how}: the file ended"),
                Err(fault) => break fault,
            }
        };
        let Fault::Io(error) = failure else { panic!("{how}: {failure:?}") };
        assert_eq!(error.to_string(), "the disk is gone");
    }
}

#[test]
fn formats_15_2_a_reader_outlives_what_it_opened() {
    let factory = reader("shares_reader");
    let mut input = BlockInput::new(Box::new(LINES.as_bytes()));
    let mut file = factory.open(&identity(), &mut input).expect("it opens");
    // Its decoder looks at the reader, which overwrites itself when it is released.
    drop(factory);
    let block = file.cutter.cut(&mut input, BOUND).expect("it cuts").expect("a block");
    drop(file.cutter);
    let decoded = file.decoder.decode(&block, &[0]);
    assert!(decoded.fault.is_none() && decoded.rows == 2, "{:?}", decoded.fault);
}

/// A stream that takes nothing.
struct Full;

impl io::Write for Full {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("the disk is full"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn formats_15_5_a_failure_to_write_is_never_bad_data_and_never_forgotten() {
    for how in ["none", "failure_as_fault", "failure_as_done"] {
        let mut options = Options::default();
        options.set("how", OptionValue::Text(how.to_owned()));
        let request = WriteRequest { options: &options, header: true, preserve_nulls: false, joins: &[] };
        let format = clinker_plugin_host::load(lies(), false).expect("it loads")[0];
        let mut writer = format.bind_writer(&request).map_err(|_| "refused").expect("it is bound").writer();
        writer.columns(&["a".into()], &mut Full).expect("it writes nothing");
        let mut records = Encoded::default();
        records.bytes.extend_from_slice(b"x\n");
        records.ends.push(2);
        let error = writer.records(&records, &mut Full).expect_err("the disk is full");
        assert_eq!(error.to_string(), "the disk is full", "{how}");
    }
}
