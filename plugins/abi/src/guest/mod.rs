//! The plugin's side of the boundary, made safe: a type that implements [`Guest`] becomes a [`Table`].
//!
//! Every function of the table catches panics, reads what it is given, and gives what the safe function returned in the
//! form of the boundary.

mod host;
mod reading;
mod text;
mod writing;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::StructArray;
use arrow_buffer::Buffer;

pub use host::{Asker, HostFailed, Input, Sink};
pub use text::TextColumn;

use crate::types::{Reply, STATUS_ERROR, STATUS_FAULT, STATUS_HOST, STATUS_OK, STATUS_PANIC, Str, Strs, Table};
use crate::{Exported, Item, MAGIC, MAJOR, MINOR, layout};

/// Why a call gives no result.
#[derive(Debug)]
pub enum Stop {
    /// Data or options are at fault.
    Fault(Item),
    /// The engine failed to do what it was asked.
    Host,
    /// Anything else.
    Error(String),
}

impl From<HostFailed> for Stop {
    fn from(_: HostFailed) -> Self {
        Stop::Host
    }
}

/// A file that was opened.
pub struct Opening<G: Guest + ?Sized> {
    /// Cuts it.
    pub cutter: G::Cutter,
    /// Decodes its blocks.
    pub decoder: G::Decoder,
    /// What is known of it.
    pub reply: Item,
}

/// What a cutter gives.
pub enum Next<C> {
    /// A block.
    Block {
        /// Offset in the file of its first byte.
        offset: u64,
        /// Its bytes.
        len: usize,
        /// Its rows.
        rows: u64,
        /// 1-based physical line on which it begins.
        first_line: u64,
        /// What the decoder must know.
        context: Option<Box<C>>,
        /// Its marks.
        reply: Item,
    },
    /// The end, with notes.
    End(Item),
}

/// A block that is to be decoded.
pub struct Given<'a, C> {
    /// Its bytes.
    pub data: Buffer,
    /// Its rows.
    pub rows: u64,
    /// 1-based number in the file of its first row.
    pub first_row: u64,
    /// 1-based physical line on which it begins.
    pub first_line: u64,
    /// Offset in the file of its first byte.
    pub offset: u64,
    /// What the cutter gave with it.
    pub context: Option<&'a C>,
}

/// Columns that a decoder gives.
#[derive(Default)]
pub struct Columns {
    /// Names and columns, the wanted ones first.
    pub columns: Vec<(Arc<str>, TextColumn)>,
    /// Number of rows.
    pub rows: usize,
    /// The rejected rows.
    pub rejected: Option<StructArray>,
    /// Fault and shapes.
    pub reply: Item,
}

/// Rows that are to be written.
pub struct Written {
    /// Names and columns.
    pub rows: StructArray,
    /// The levels around them.
    pub levels: Item,
}

/// Records as bytes.
#[derive(Default)]
pub struct Records {
    /// The records one after another.
    pub bytes: Vec<u8>,
    /// The end of each record.
    pub ends: Vec<u32>,
    /// The rows that were not written.
    pub reply: Item,
}

/// What a plugin does, in safe Rust. Values are maps as `docs` of the interface describe them.
pub trait Guest: 'static {
    /// Bound reader options.
    type Reader: Send + Sync;
    /// One open file.
    type Cutter: Send;
    /// What decodes blocks of one file.
    type Decoder: Send + Sync;
    /// What goes with a block from the cutter to the decoder.
    type Context: Send + Sync;
    /// Bound writer options.
    type Output: Send + Sync;
    /// One file that is written.
    type Writer: Send;

    /// The registrations.
    ///
    /// # Errors
    /// Why the plugin cannot be used.
    fn load() -> Result<Item, String>;
    /// Binds reader options.
    ///
    /// # Errors
    /// Faults of the options.
    fn bind_reader(format: usize, request: &Item) -> Result<(Self::Reader, Item), Stop>;
    /// Opens a file.
    ///
    /// # Errors
    /// Corruption in front of the body.
    fn open(reader: &Self::Reader, file: &Item, input: &mut Input) -> Result<Opening<Self>, Stop>;
    /// The next block.
    ///
    /// # Errors
    /// Corruption.
    fn cut(cutter: &mut Self::Cutter, input: &mut Input, rows: u64, bytes: u64) -> Result<Next<Self::Context>, Stop>;
    /// Decodes a block.
    ///
    /// # Errors
    /// Only failures of the plugin itself.
    fn decode(decoder: &Self::Decoder, block: &Given<'_, Self::Context>, wanted: &[usize]) -> Result<Columns, Stop>;
    /// Place and text of a row.
    ///
    /// # Errors
    /// Only failures of the plugin itself.
    fn row_text(decoder: &Self::Decoder, block: &Given<'_, Self::Context>, row: u64) -> Result<Item, Stop>;
    /// Binds writer options.
    ///
    /// # Errors
    /// Faults of the options.
    fn bind_writer(format: usize, request: &Item) -> Result<(Self::Output, Item), Stop>;
    /// Makes the bytes of rows.
    ///
    /// # Errors
    /// Only failures of the plugin itself.
    fn encode(output: &Self::Output, rows: &Written) -> Result<Records, Stop>;
    /// Copies an output with further columns.
    ///
    /// # Errors
    /// Those of the streams.
    fn complete(output: &Self::Output, request: &Item, host: &Asker) -> Result<(), Stop>;
    /// A writer of one file.
    ///
    /// # Errors
    /// Only failures of the plugin itself.
    fn writer_open(output: &Self::Output, request: &Item) -> Result<Self::Writer, Stop>;
    /// The column set.
    ///
    /// # Errors
    /// Faults of the content, or those of the output.
    fn writer_columns(writer: &mut Self::Writer, names: &[Arc<str>], sink: &mut Sink) -> Result<(), Stop>;
    /// Makes the bytes of rows in order.
    ///
    /// # Errors
    /// Only failures of the plugin itself.
    fn writer_rows(writer: &mut Self::Writer, rows: &Written) -> Result<Records, Stop>;
    /// Writes records.
    ///
    /// # Errors
    /// Faults of the content, or those of the output.
    fn writer_records(writer: &mut Self::Writer, bytes: &[u8], ends: &[u32], sink: &mut Sink) -> Result<(), Stop>;
    /// Closes what is open.
    ///
    /// # Errors
    /// Faults of the content, or those of the output.
    fn writer_finish(writer: &mut Self::Writer, sink: &mut Sink) -> Result<(), Stop>;
}

/// The capabilities that plugins of this kit require of the engine.
static REQUIRES: [Str; 1] = [Str::of("blocks")];
/// Those that they offer.
static OFFERS: &[Str] = &[
    Str::of("levels"),
    Str::of("undeclared_fields"),
    Str::of("encoder"),
    Str::of("native_columns"),
    Str::of("column_union"),
    #[cfg(feature = "future")]
    Str::of("future"),
];

/// The table of a plugin of that version.
pub const fn table<G: Guest>(version: &'static str) -> Table {
    Table {
        magic: MAGIC,
        major: MAJOR,
        minor: MINOR,
        size: size_of::<Table>(),
        version: Str::of(version),
        requires: Strs::of(&REQUIRES),
        offers: Strs::of(OFFERS),
        layout_kit: Str::of(layout::KIT),
        layout: layout::stated(),
        load: Some(reading::load::<G>),
        bind_reader: Some(reading::bind_reader::<G>),
        reader_free: Some(free::<G::Reader>),
        open: Some(reading::open::<G>),
        cut: Some(reading::cut::<G>),
        cutter_free: Some(free::<G::Cutter>),
        decode: Some(reading::decode::<G>),
        row_text: Some(reading::row_text::<G>),
        context_free: Some(free::<G::Context>),
        decoder_free: Some(free::<G::Decoder>),
        bind_writer: Some(writing::bind_writer::<G>),
        output_free: Some(free::<G::Output>),
        encode: Some(writing::encode::<G>),
        complete: Some(writing::complete::<G>),
        writer_open: Some(writing::writer_open::<G>),
        writer_columns: Some(writing::writer_columns::<G>),
        writer_rows: Some(writing::writer_rows::<G>),
        writer_records: Some(writing::writer_records::<G>),
        writer_finish: Some(writing::writer_finish::<G>),
        writer_free: Some(free::<G::Writer>),
        #[cfg(feature = "future")]
        future: Some(future),
    }
}

/// The function of a later minor.
#[cfg(feature = "future")]
unsafe extern "C-unwind" fn future() -> u32 {
    crate::types::STATUS_END
}

/// A handle for the engine.
fn handle<T>(value: T) -> *mut std::ffi::c_void {
    Box::into_raw(Box::new(value)).cast()
}

/// Releases a handle. A panic while it is dropped is swallowed: there is nobody to tell.
///
/// # Safety
/// The handle is null or was made by [`handle`] of the same type, and is not used again.
unsafe extern "C-unwind" fn free<T>(raw: *mut std::ffi::c_void) {
    if raw.is_null() {
        return;
    }
    // SAFETY: by the caller's promise.
    let value = unsafe { Box::from_raw(raw.cast::<T>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
}

/// Runs a call, catches its panic, and gives its status with the reply of a failure.
fn guarded(call: impl FnOnce() -> Result<(), Stop>) -> (u32, Reply) {
    let reply = |item: Item| Exported::new(item).into_reply();
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => (STATUS_OK, Reply::EMPTY),
        Ok(Err(Stop::Fault(fault))) => (STATUS_FAULT, reply(fault)),
        Ok(Err(Stop::Host)) => (STATUS_HOST, Reply::EMPTY),
        Ok(Err(Stop::Error(text))) => (STATUS_ERROR, reply(text.into())),
        Err(panic) => (STATUS_PANIC, reply(text_of(&*panic).into())),
    }
}

/// What a panic says.
fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a text".to_owned())
}
