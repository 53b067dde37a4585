//! Inputs of a format, with what is known of them.

use clinker_format::{OptionValue, Options};

/// What a format is tried with.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    /// Valid files.
    pub valid: Vec<Sample>,
    /// Files with one fault each.
    pub invalid: Vec<Bad>,
    /// Input without an end, of which one record grows above the limit.
    pub endless: Option<Endless>,
    /// Bytes of valid files that a format must not see changed.
    pub tampers: Vec<Tamper>,
    /// Writer options for what was read from the valid files; none for a format that is only read.
    pub write: Option<Vec<(&'static str, OptionValue)>>,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Its name, for messages.
    pub name: String,
    /// Reader options.
    pub options: Vec<(&'static str, OptionValue)>,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Rows it has.
    pub rows: u64,
    /// Whether what is written is equal to these bytes.
    pub round_trip: bool,
    /// Whether it holds several documents one after the other, so that a beginning of it can be a whole file.
    pub several: bool,
}

/// A file with a fault.
#[derive(Clone, Debug)]
pub struct Bad {
    /// The file; `rows` are those in front of and behind a bounded bad row, or in front of what ends the reading.
    pub sample: Sample,
    /// The code of the fault.
    pub code: &'static str,
    /// Whether only one row is rejected.
    pub bounded: bool,
}

/// Input without an end.
#[derive(Clone, Debug)]
pub struct Endless {
    /// Reader options.
    pub options: Vec<(&'static str, OptionValue)>,
    /// How it begins.
    pub head: Vec<u8>,
    /// What comes again and again.
    pub body: Vec<u8>,
    /// The limit of one record, in bytes.
    pub limit: usize,
}

/// A byte of a valid file that must not be changed.
#[derive(Clone, Debug)]
pub struct Tamper {
    /// Position of the sample in [`Corpus::valid`].
    pub sample: usize,
    /// Offset of the byte.
    pub at: usize,
    /// What it becomes.
    pub byte: u8,
    /// The code of the fault that this is.
    pub code: &'static str,
}

pub(crate) fn options(given: &[(&'static str, OptionValue)]) -> Options {
    let mut options = Options::default();
    for (key, value) in given {
        options.set(key, value.clone());
    }
    options
}
