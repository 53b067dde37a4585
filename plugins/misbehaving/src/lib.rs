//! A plugin that breaks the contract in the way that its option `how` names.

mod reading;
mod writing;

use std::sync::Arc;

use clinker_plugin_sdk::{
    CorpusFile, Format, OptionFault, OptionKind, OptionSpec, ReadCapabilities, ReadFactory, ReadRequest, Registration,
    WriteCapabilities, WriteFactory, WriteRequest,
};

/// Ways that `how` can name, for readers and writers.
const WAYS: &[&str] = &[
    "panic_bind",
    "panic_open",
    "panic_cut",
    "panic_decode",
    "panic_row_text",
    "unequal_columns",
    "wrong_rows",
    "rejected_beyond",
    "unknown_code",
    "bytes_not_given",
    "block_not_given",
    "crossing_marks",
    "unknown_level",
    "open_level",
    "never",
    "abort",
    "panic_writer",
    "panic_columns",
    "panic_rows",
    "panic_encode",
    "panic_records",
    "panic_finish",
    "wrong_ends",
    "refused_beyond",
    "none",
];

/// The format, under a name.
struct Misbehaving(&'static str);

fn how() -> OptionSpec {
    let words = WAYS.iter().map(|way| (*way).to_owned()).collect();
    OptionSpec::new("how", OptionKind::Word(words), "none", "The way to break the contract.")
}

impl Format for Misbehaving {
    fn registration(&self) -> Registration {
        if cfg!(feature = "panicking_load") {
            panic!("as asked");
        }
        if cfg!(feature = "aborting_load") {
            std::process::abort();
        }
        // Files that take the process with them, and one that does not.
        let way = if self.0 == "steady" { "none" } else { "abort" };
        let file = CorpusFile {
            name: "two lines".into(),
            options: vec![("how".into(), way.into())],
            bytes: "one\ntwo\n".into(),
            rows: 2,
            ..CorpusFile::default()
        };
        let corpus = if cfg!(feature = "crashing") { vec![file] } else { Vec::new() };
        let read = ReadCapabilities {
            options: vec![how()],
            split_values: true,
            split_escapes: true,
            ..ReadCapabilities::default()
        };
        let write = WriteCapabilities { options: vec![how()], ..WriteCapabilities::default() };
        let directions = !cfg!(feature = "no_direction");
        Registration {
            name: if cfg!(feature = "bad_name") { "Misbehaving" } else { self.0 }.into(),
            summary: "Breaks the contract.".into(),
            read: directions.then_some(read),
            write: directions.then_some(write),
            corpus,
            ..Registration::default()
        }
    }

    fn bind_reader(&self, request: &ReadRequest) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>> {
        let how = request.options.text("how").unwrap_or("none").to_owned();
        assert!(how != "panic_bind", "as asked");
        Ok(Arc::new(reading::Reader { how: how.into() }))
    }

    fn bind_writer(&self, request: &WriteRequest) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>> {
        let how = request.options.text("how").unwrap_or("none").to_owned();
        Ok(Arc::new(writing::Output { how: how.into() }))
    }
}

#[cfg(not(any(
    feature = "wrong_major",
    feature = "unknown_requirement",
    feature = "wrong_layout",
    feature = "crashing"
)))]
clinker_plugin_sdk::export_formats!(Misbehaving("misbehaving"));

#[cfg(feature = "crashing")]
clinker_plugin_sdk::export_formats!(Misbehaving("misbehaving"), Misbehaving("steady"));

#[cfg(any(feature = "wrong_major", feature = "unknown_requirement", feature = "wrong_layout"))]
mod table {
    use clinker_plugin_sdk::abi::{Str, Strs, Table};
    use clinker_plugin_sdk::{Format, Formats, Kit};

    struct Only;

    impl Formats for Only {
        fn formats() -> &'static [&'static dyn Format] {
            &[&super::Misbehaving("misbehaving")]
        }
    }

    struct Names([Str; 1]);

    // SAFETY: it points to constants.
    unsafe impl Sync for Names {}

    const NAME: &str = "time_travel";
    static NAMES: Names = Names([Str { data: NAME.as_ptr(), len: NAME.len() }]);

    #[unsafe(no_mangle)]
    #[allow(non_upper_case_globals)]
    pub static clinker_plugin: Table = {
        let mut table = clinker_plugin_sdk::abi::guest::table::<Kit<Only>>("9.9.9");
        if cfg!(feature = "wrong_major") {
            table.major = 9;
        }
        if cfg!(feature = "unknown_requirement") {
            table.requires = Strs { items: NAMES.0.as_ptr(), count: 1 };
        }
        if cfg!(feature = "wrong_layout") {
            table.layout_kit = Str { data: NAME.as_ptr(), len: NAME.len() };
        }
        table
    };
}
