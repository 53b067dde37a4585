//! The boundary types. `include/clinker_plugin.h` is made from this file: keep to structs of named fields and constants
//! of type `u32`.
//!
//! Memory belongs to the side that made it. What a function is given is borrowed for the call, unless it says otherwise;
//! what a function gives is released by the other side with the `release` that comes with it, where there is one.
//! Functions never unwind: a panic is caught on its side and told with [`STATUS_PANIC`].

use std::ffi::c_void;

use abi_stable::StableAbi;

/// The call did what it was asked.
pub const STATUS_OK: u32 = 0;
/// There is nothing more: the end of the file, all of whose bytes were consumed.
pub const STATUS_END: u32 = 1;
/// What was asked cannot be done for a reason that lies in the data or in the options: the reply says which.
pub const STATUS_FAULT: u32 = 2;
/// A function of the engine failed, and this call can do nothing about it.
pub const STATUS_HOST: u32 = 3;
/// A panic was caught: the reply is its text.
pub const STATUS_PANIC: u32 = 4;
/// The call failed for a reason of the plugin's own: the reply is its text.
pub const STATUS_ERROR: u32 = 5;

/// No value.
pub const KIND_NULL: u32 = 0;
/// `number` is 0 or 1.
pub const KIND_BOOL: u32 = 1;
/// `number` is an unsigned number.
pub const KIND_NUMBER: u32 = 2;
/// `number` is a signed number in two's complement.
pub const KIND_INTEGER: u32 = 3;
/// `number` has the bits of a binary64.
pub const KIND_FLOAT: u32 = 4;
/// `text` is UTF-8.
pub const KIND_TEXT: u32 = 5;
/// `text` is any bytes.
pub const KIND_BYTES: u32 = 6;
/// `items` are the elements; their names are empty.
pub const KIND_LIST: u32 = 7;
/// `items` are the entries, each with its name.
pub const KIND_MAP: u32 = 8;

/// Bytes, without a terminating zero. `data` may be null when `len` is 0.
#[repr(C)]
#[derive(Clone, Copy, StableAbi)]
pub struct Str {
    /// The first byte.
    pub data: *const u8,
    /// Number of bytes.
    pub len: usize,
}

/// Several texts.
#[repr(C)]
#[derive(Clone, Copy, StableAbi)]
pub struct Strs {
    /// The first text.
    pub items: *const Str,
    /// Number of texts.
    pub count: usize,
}

/// A value with a name. Everything that may grow travels in maps of these: an entry that a side does not know is passed
/// over, one that is missing has its default.
#[repr(C)]
#[derive(Clone, Copy, StableAbi)]
pub struct Value {
    /// Its name in a map; empty in a list.
    pub name: Str,
    /// One of the `KIND_` constants.
    pub kind: u32,
    /// 0.
    pub reserved: u32,
    /// The value of numbers and truth values.
    pub number: u64,
    /// The value of texts and bytes.
    pub text: Str,
    /// The elements of a list or a map.
    pub items: *const Value,
    /// Number of elements.
    pub count: usize,
}

/// A value that a plugin gives, with what releases it.
#[repr(C)]
#[derive(StableAbi)]
pub struct Reply {
    /// The value.
    pub value: Value,
    /// Given to `release`.
    pub owner: *mut c_void,
    /// Called once by the engine, after it copied the value; null when there is nothing to release.
    pub release: Option<unsafe extern "C" fn(owner: *mut c_void)>,
}

/// Bytes that are shared. Who keeps them beyond the call they were given in calls `retain`, and later `release`.
#[repr(C)]
#[derive(Clone, Copy, StableAbi)]
pub struct Bytes {
    /// The first byte.
    pub data: *const u8,
    /// Number of bytes.
    pub len: usize,
    /// Given to the functions.
    pub owner: *mut c_void,
    /// Keeps the bytes until one more `release`. Callable on any thread.
    pub retain: Option<unsafe extern "C" fn(owner: *mut c_void)>,
    /// Gives up what `retain` kept. Callable on any thread.
    pub release: Option<unsafe extern "C" fn(owner: *mut c_void)>,
}

/// The bytes of a file that are at hand.
#[repr(C)]
#[derive(Clone, Copy, StableAbi)]
pub struct Window {
    /// The bytes, from the first one that was not consumed by an earlier call.
    pub bytes: Bytes,
    /// Offset in the file of the first byte.
    pub offset: u64,
    /// 1 when the file ends behind the last byte.
    pub ended: u32,
    /// 0.
    pub reserved: u32,
}

/// What a call may ask of the engine while it runs, on the thread it was called on. Every function is there; one that
/// makes no sense in a call fails.
#[repr(C)]
#[derive(Clone, Copy, StableAbi)]
pub struct Call {
    /// Size of this structure as the engine knows it; functions past it are absent.
    pub size: usize,
    /// Given to the functions.
    pub context: *mut c_void,
    /// Reads at most `limit` bytes behind the window and gives the longer window, whose first byte is the same.
    /// `STATUS_END` when there is no more; `STATUS_HOST` when reading failed.
    pub more: Option<unsafe extern "C" fn(context: *mut c_void, limit: usize, window: *mut Window) -> u32>,
    /// Fills `into` from the file that was written; `read` is the number of bytes, 0 at its end.
    pub read: Option<unsafe extern "C" fn(context: *mut c_void, into: *mut u8, len: usize, read: *mut usize) -> u32>,
    /// Writes to the output.
    pub write: Option<unsafe extern "C" fn(context: *mut c_void, data: *const u8, len: usize) -> u32>,
    /// 1 when the run was cancelled: the call should give up with `STATUS_HOST`.
    pub cancelled: Option<unsafe extern "C" fn(context: *mut c_void) -> u32>,
}

/// How large a block may become. It holds at least one record.
#[repr(C)]
#[derive(Clone, Copy, StableAbi)]
pub struct Bound {
    /// At most this many rows.
    pub rows: u64,
    /// No further record is added once the block has this many bytes.
    pub bytes: u64,
}

/// What a cutter gives. The engine counts rows and offsets itself.
#[repr(C)]
#[derive(StableAbi)]
pub struct Cut {
    /// Where the block begins in the window.
    pub start: u64,
    /// Bytes of the block.
    pub len: u64,
    /// Bytes of the window that are done with, those of the block included. They are not given again. Counts under every
    /// status but `STATUS_PANIC`.
    pub consumed: u64,
    /// Rows of the block.
    pub rows: u64,
    /// 1-based physical line on which the block begins.
    pub first_line: u64,
    /// What the decoder must know beside the bytes; released with `context_free`.
    pub context: *mut c_void,
    /// A map: `marks` with `STATUS_OK`, `notes` with `STATUS_END`, the fault with `STATUS_FAULT`.
    pub reply: Reply,
}

/// A block that is to be decoded.
#[repr(C)]
#[derive(Clone, Copy, StableAbi)]
pub struct Block {
    /// Its bytes.
    pub data: Bytes,
    /// Its rows.
    pub rows: u64,
    /// 1-based number in the file of its first row.
    pub first_row: u64,
    /// 1-based physical line on which it begins.
    pub first_line: u64,
    /// Offset in the file of its first byte.
    pub offset: u64,
    /// What the cutter gave with it.
    pub context: *mut c_void,
}

/// What a decoder gives: two batches by the Arrow C data interface, whose memory the engine releases.
#[repr(C)]
#[derive(StableAbi)]
pub struct Decoded {
    /// A struct with one field a wanted column, then one for each field beyond them, under its name. Its length is the
    /// number of accepted rows: the rows of the block in order, without the rejected ones.
    pub schema: ArrowSchema,
    /// Its columns: plain strings (`u`, `U`) or views (`vu`); null where a row lacks the cell. Data of views may lie in
    /// the block.
    pub array: ArrowArray,
    /// A struct of the rejected rows, in order; `release` is null when there are none. Fields: `row` (`I`, position in
    /// the block), `code`, `reason`, `raw` (strings), `line`, `offset` (`L`).
    pub rejected_schema: ArrowSchema,
    /// Its columns.
    pub rejected: ArrowArray,
    /// A map: `fault` behind these rows, `shapes` of the fields beyond the wanted columns.
    pub reply: Reply,
}

/// Rows to be written.
#[repr(C)]
#[derive(Clone, Copy, StableAbi)]
pub struct Rows {
    /// A struct with one field a column, under its output name. The callee may move it out; what it leaves is released
    /// by the engine behind the call.
    pub schema: *mut ArrowSchema,
    /// Its columns: plain strings (`u`), or typed columns where the format asked for them.
    pub array: *mut ArrowArray,
    /// Number of rows.
    pub rows: u64,
    /// The levels around the rows, a map; null where there are none.
    pub levels: *const Value,
}

/// Records as bytes: what an encoder gives, and what a writer is given.
#[repr(C)]
#[derive(StableAbi)]
pub struct Encoded {
    /// The records one after another.
    pub bytes: Str,
    /// The end of each record in `bytes`.
    pub ends: *const u32,
    /// Number of records.
    pub count: usize,
    /// A map: `refused`, the rows that were not written.
    pub reply: Reply,
    /// Given to `release`.
    pub owner: *mut c_void,
    /// Releases bytes and ends; null when there is nothing to release.
    pub release: Option<unsafe extern "C" fn(owner: *mut c_void)>,
}

/// `struct ArrowSchema` of the Arrow C data interface.
#[repr(C)]
#[derive(StableAbi)]
pub struct ArrowSchema {
    /// Type, as a format string.
    pub format: *const std::ffi::c_char,
    /// Name of the field.
    pub name: *const std::ffi::c_char,
    /// Metadata.
    pub metadata: *const std::ffi::c_char,
    /// Flags.
    pub flags: i64,
    /// Number of children.
    pub n_children: i64,
    /// The children.
    pub children: *mut *mut ArrowSchema,
    /// Dictionary.
    pub dictionary: *mut ArrowSchema,
    /// Releases it.
    pub release: Option<unsafe extern "C" fn(schema: *mut ArrowSchema)>,
    /// For the producer.
    pub private_data: *mut c_void,
}

/// `struct ArrowArray` of the Arrow C data interface.
#[repr(C)]
#[derive(StableAbi)]
pub struct ArrowArray {
    /// Number of rows.
    pub length: i64,
    /// Number of nulls, -1 when it was not counted.
    pub null_count: i64,
    /// Rows in front of the first one.
    pub offset: i64,
    /// Number of buffers.
    pub n_buffers: i64,
    /// Number of children.
    pub n_children: i64,
    /// The buffers.
    pub buffers: *mut *const c_void,
    /// The children.
    pub children: *mut *mut ArrowArray,
    /// Dictionary.
    pub dictionary: *mut ArrowArray,
    /// Releases it.
    pub release: Option<unsafe extern "C" fn(array: *mut ArrowArray)>,
    /// For the producer.
    pub private_data: *mut c_void,
}

/// What a plugin exports under the name `clinker_plugin`. Handles (`reader`, `cutter`, …) are the plugin's own pointers.
/// The functions of one direction may all be null when no format has it.
#[repr(C)]
pub struct Table {
    /// `CLINKER_MAGIC`.
    pub magic: u64,
    /// `CLINKER_MAJOR`.
    pub major: u32,
    /// `CLINKER_MINOR`.
    pub minor: u32,
    /// Size of this structure as the plugin knows it.
    pub size: usize,
    /// The plugin's own version.
    pub version: Str,
    /// Capabilities that the engine must know.
    pub requires: Strs,
    /// Capabilities that the engine may use.
    pub offers: Strs,
    /// Version of the kit that described the boundary types; empty in C.
    pub layout_kit: Str,
    /// The description of the boundary types; null in C.
    pub layout: *const c_void,
    /// Called once, first. The reply is a list of registrations, one map a format; with `STATUS_ERROR` a text.
    pub load: Option<unsafe extern "C-unwind" fn(reply: *mut Reply) -> u32>,
    /// Binds reader options of the format at a position in that list. The reply is a map (levels, generated columns);
    /// with `STATUS_FAULT` a list of faults.
    pub bind_reader: Option<
        unsafe extern "C-unwind" fn(
            format: u32,
            request: *const Value,
            reader: *mut *mut c_void,
            reply: *mut Reply,
        ) -> u32,
    >,
    /// Releases a reader. No file of it is open.
    pub reader_free: Option<unsafe extern "C-unwind" fn(reader: *mut c_void)>,
    /// Opens a file. The reply is a map (columns); with `STATUS_FAULT` the fault. Called on several threads.
    pub open: Option<
        unsafe extern "C-unwind" fn(
            reader: *mut c_void,
            call: *const Call,
            file: *const Value,
            window: *const Window,
            opened: *mut Opened,
        ) -> u32,
    >,
    /// The next block of a file. Called by one thread at a time.
    pub cut: Option<
        unsafe extern "C-unwind" fn(
            cutter: *mut c_void,
            call: *const Call,
            window: *const Window,
            bound: Bound,
            out: *mut Cut,
        ) -> u32,
    >,
    /// Closes a file, at its end or earlier.
    pub cutter_free: Option<unsafe extern "C-unwind" fn(cutter: *mut c_void)>,
    /// Decodes the columns at the positions `wanted`. Called on several threads, in any order.
    pub decode: Option<
        unsafe extern "C-unwind" fn(
            decoder: *mut c_void,
            call: *const Call,
            block: *const Block,
            wanted: *const u64,
            count: usize,
            out: *mut Decoded,
        ) -> u32,
    >,
    /// Place and text of a row of a block: a map (`line`, `offset`, `raw`).
    pub row_text: Option<
        unsafe extern "C-unwind" fn(decoder: *mut c_void, block: *const Block, row: u64, reply: *mut Reply) -> u32,
    >,
    /// Releases what a cutter gave with a block.
    pub context_free: Option<unsafe extern "C-unwind" fn(context: *mut c_void)>,
    /// Releases a decoder, behind its last call.
    pub decoder_free: Option<unsafe extern "C-unwind" fn(decoder: *mut c_void)>,
    /// Binds writer options. The reply is a map; with `STATUS_FAULT` a list of faults.
    pub bind_writer: Option<
        unsafe extern "C-unwind" fn(
            format: u32,
            request: *const Value,
            output: *mut *mut c_void,
            reply: *mut Reply,
        ) -> u32,
    >,
    /// Releases an output, behind its last writer.
    pub output_free: Option<unsafe extern "C-unwind" fn(output: *mut c_void)>,
    /// Makes the bytes of rows. Called on several threads, in any order. Null when no format has an encoder.
    pub encode: Option<
        unsafe extern "C-unwind" fn(
            output: *mut c_void,
            call: *const Call,
            rows: *const Rows,
            out: *mut Encoded,
        ) -> u32,
    >,
    /// Copies an output that was written (`read`) with further columns (`write`). Null when no format has a union of
    /// columns. `request` is a map (`names`, `runs`, `header`).
    pub complete: Option<
        unsafe extern "C-unwind" fn(
            output: *mut c_void,
            call: *const Call,
            request: *const Value,
            reply: *mut Reply,
        ) -> u32,
    >,
    /// A writer of one file. `request` is a map (`header`).
    pub writer_open: Option<
        unsafe extern "C-unwind" fn(
            output: *mut c_void,
            request: *const Value,
            writer: *mut *mut c_void,
            reply: *mut Reply,
        ) -> u32,
    >,
    /// The column set, once, before any record.
    pub writer_columns: Option<
        unsafe extern "C-unwind" fn(writer: *mut c_void, call: *const Call, names: Strs, reply: *mut Reply) -> u32,
    >,
    /// Makes the bytes of rows in order; they come back with `writer_records`. Only without an encoder.
    pub writer_rows: Option<
        unsafe extern "C-unwind" fn(
            writer: *mut c_void,
            call: *const Call,
            rows: *const Rows,
            out: *mut Encoded,
        ) -> u32,
    >,
    /// Writes records.
    pub writer_records: Option<
        unsafe extern "C-unwind" fn(
            writer: *mut c_void,
            call: *const Call,
            records: *const Encoded,
            reply: *mut Reply,
        ) -> u32,
    >,
    /// Closes what is open, once, last.
    pub writer_finish:
        Option<unsafe extern "C-unwind" fn(writer: *mut c_void, call: *const Call, reply: *mut Reply) -> u32>,
    /// Releases a writer; without `writer_finish` before it, the output is abandoned.
    pub writer_free: Option<unsafe extern "C-unwind" fn(writer: *mut c_void)>,
    /// A function of a later minor, for the tests of growth.
    #[cfg(feature = "future")]
    pub future: Option<unsafe extern "C-unwind" fn() -> u32>,
}

/// A file that was opened.
#[repr(C)]
#[derive(StableAbi)]
pub struct Opened {
    /// Cuts it.
    pub cutter: *mut c_void,
    /// Decodes its blocks, on several threads.
    pub decoder: *mut c_void,
    /// Bytes of the window that are done with.
    pub consumed: u64,
    /// A map: `columns`, `named_by_file`, `header_line`, `header_offset`; with `STATUS_FAULT` the fault.
    pub reply: Reply,
}

// SAFETY: a table is constant data; its functions state themselves on which threads they are called.
unsafe impl Sync for Table {}

// SAFETY: a text is an address and a length; reading what it points to is unsafe and has its own conditions.
unsafe impl Sync for Str {}
// SAFETY: the same.
unsafe impl Send for Str {}
