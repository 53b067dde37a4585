//! The functions of a table that read.

use std::ffi::c_void;
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Fields};

use super::host::{Asker, Input};
use super::{Columns, Given, Guest, Next, Stop, TextColumn, guarded, handle};
use crate::types::{
    ArrowArray, ArrowSchema, Block, Bound, Call, Cut, Decoded, Opened, Reply, STATUS_END, STATUS_OK, Value, Window,
};
use crate::{Exported, Item, Malformed};

impl From<Malformed> for Stop {
    fn from(malformed: Malformed) -> Self {
        Stop::Error(format!("the engine gave {malformed}"))
    }
}

/// # Safety
/// As the table says: pointers are valid for the call, and `out` may be written.
unsafe fn put<T>(out: *mut T, value: T) {
    // SAFETY: by the caller's promise. What was there is not released: it holds nothing.
    unsafe { out.write(value) };
}

pub(super) fn export(item: Item) -> Reply {
    Exported::new(item).into_reply()
}

/// # Safety
/// As the table says.
pub(super) unsafe fn request(value: *const Value) -> Result<Item, Stop> {
    // SAFETY: by the caller's promise.
    match unsafe { value.as_ref() } {
        // SAFETY: by the caller's promise.
        Some(value) => Ok(unsafe { value.to_item() }?),
        None => Ok(Item::Null),
    }
}

/// The object behind a handle.
///
/// # Safety
/// The handle was made for this type and is not released during `'a`.
pub(super) unsafe fn object<'a, T>(raw: *mut c_void) -> Result<&'a T, Stop> {
    // SAFETY: by the caller's promise.
    unsafe { raw.cast::<T>().as_ref() }.ok_or_else(|| Stop::Error("the engine gave no handle".into()))
}

/// The object behind a handle that one thread uses.
///
/// # Safety
/// As [`object`], and nobody else uses it.
pub(super) unsafe fn object_mut<'a, T>(raw: *mut c_void) -> Result<&'a mut T, Stop> {
    // SAFETY: by the caller's promise.
    unsafe { raw.cast::<T>().as_mut() }.ok_or_else(|| Stop::Error("the engine gave no handle".into()))
}

/// # Safety
/// As the table says.
pub(super) unsafe extern "C-unwind" fn load<G: Guest>(reply: *mut Reply) -> u32 {
    let mut loaded = Reply::EMPTY;
    let (status, failure) = guarded(|| {
        loaded = export(G::load().map_err(Stop::Error)?);
        Ok(())
    });
    // SAFETY: as the table says.
    unsafe { put(reply, if status == STATUS_OK { loaded } else { failure }) };
    status
}

/// # Safety
/// As the table says.
pub(super) unsafe extern "C-unwind" fn bind_reader<G: Guest>(
    format: u32,
    asked: *const Value,
    reader: *mut *mut c_void,
    reply: *mut Reply,
) -> u32 {
    let mut bound = None;
    let (status, failure) = guarded(|| {
        // SAFETY: as the table says.
        let asked = unsafe { request(asked) }?;
        let (reader, reply) = G::bind_reader(format as usize, &asked)?;
        bound = Some((handle(reader), export(reply)));
        Ok(())
    });
    let (raw, said) = bound.unwrap_or((std::ptr::null_mut(), failure));
    // SAFETY: as the table says.
    unsafe {
        put(reader, raw);
        put(reply, said);
    }
    status
}

/// # Safety
/// As the table says.
pub(super) unsafe extern "C-unwind" fn open<G: Guest>(
    reader: *mut c_void,
    call: *const Call,
    file: *const Value,
    window: *const Window,
    opened: *mut Opened,
) -> u32 {
    let null = std::ptr::null_mut();
    let mut result = Opened { cutter: null, decoder: null, consumed: 0, reply: Reply::EMPTY };
    let (status, failure) = guarded(|| {
        // SAFETY: the call is valid until this function returns, which drops the session.
        let (asker, _session) = unsafe { Asker::of(call) };
        // SAFETY: as the table says.
        let (reader, file) = unsafe { (object::<G::Reader>(reader)?, request(file)?) };
        // SAFETY: as the table says.
        let mut input = unsafe { Input::of(window, asker) }?;
        let opening = G::open(reader, &file, &mut input);
        result.consumed = input.done().0;
        let opening = opening?;
        result.cutter = handle(opening.cutter);
        result.decoder = handle(opening.decoder);
        result.reply = export(opening.reply);
        Ok(())
    });
    if status != STATUS_OK {
        result.reply = failure;
    }
    // SAFETY: as the table says.
    unsafe { put(opened, result) };
    status
}

/// # Safety
/// As the table says.
pub(super) unsafe extern "C-unwind" fn cut<G: Guest>(
    cutter: *mut c_void,
    call: *const Call,
    window: *const Window,
    bound: Bound,
    out: *mut Cut,
) -> u32 {
    let mut result = Cut {
        start: 0,
        len: 0,
        consumed: 0,
        rows: 0,
        first_line: 0,
        context: std::ptr::null_mut(),
        reply: Reply::EMPTY,
    };
    let mut ended = false;
    let (status, failure) = guarded(|| {
        // SAFETY: the call is valid until this function returns, which drops the session.
        let (asker, _session) = unsafe { Asker::of(call) };
        // SAFETY: as the table says; one thread cuts.
        let cutter = unsafe { object_mut::<G::Cutter>(cutter) }?;
        // SAFETY: as the table says.
        let mut input = unsafe { Input::of(window, asker) }?;
        let next = G::cut(cutter, &mut input, bound.rows, bound.bytes);
        let (consumed, base) = input.done();
        result.consumed = consumed;
        match next? {
            Next::Block { offset, len, rows, first_line, context, reply } => {
                result.start = offset.wrapping_sub(base);
                result.len = len as u64;
                (result.rows, result.first_line) = (rows, first_line);
                result.context = context.map_or(std::ptr::null_mut(), |context| Box::into_raw(context).cast());
                result.reply = export(reply);
            }
            Next::End(notes) => {
                ended = true;
                result.reply = export(notes);
            }
        }
        Ok(())
    });
    if status != STATUS_OK {
        result.reply = failure;
    }
    // SAFETY: as the table says.
    unsafe { put(out, result) };
    if status == STATUS_OK && ended { STATUS_END } else { status }
}

/// # Safety
/// As the table says; the context came from this plugin.
unsafe fn given<'a, C>(block: *const Block) -> Result<Given<'a, C>, Stop> {
    // SAFETY: by the caller's promise.
    let block = unsafe { block.as_ref() }.ok_or_else(|| Stop::Error("the engine gave no block".into()))?;
    Ok(Given {
        // SAFETY: by the caller's promise.
        data: unsafe { block.data.to_buffer() }?,
        rows: block.rows,
        first_row: block.first_row,
        first_line: block.first_line,
        offset: block.offset,
        // SAFETY: by the caller's promise.
        context: unsafe { block.context.cast::<C>().as_ref() },
    })
}

/// # Safety
/// As the table says.
pub(super) unsafe extern "C-unwind" fn decode<G: Guest>(
    decoder: *mut c_void,
    _call: *const Call,
    block: *const Block,
    wanted: *const u64,
    count: usize,
    out: *mut Decoded,
) -> u32 {
    let mut result = Decoded {
        schema: ArrowSchema::empty(),
        array: ArrowArray::empty(),
        rejected_schema: ArrowSchema::empty(),
        rejected: ArrowArray::empty(),
        reply: Reply::EMPTY,
    };
    let (status, failure) = guarded(|| {
        // SAFETY: as the table says.
        let (decoder, block) = unsafe { (object::<G::Decoder>(decoder)?, given::<G::Context>(block)?) };
        let wanted: Vec<usize> = if count == 0 {
            Vec::new()
        } else {
            // SAFETY: as the table says.
            unsafe { std::slice::from_raw_parts(wanted, count) }.iter().map(|at| *at as usize).collect()
        };
        let Columns { columns, rows, rejected, reply } = G::decode(decoder, &block, &wanted)?;
        let (fields, data) = struct_of(columns, rows);
        (result.schema, result.array) = export_rows(fields, &data)?;
        if let Some(rejected) = rejected {
            (result.rejected_schema, result.rejected) = export_rows(rejected.fields().clone(), &rejected.to_data())?;
        }
        result.reply = export(reply);
        Ok(())
    });
    if status != STATUS_OK {
        result.reply = failure;
    }
    // SAFETY: as the table says.
    unsafe { put(out, result) };
    status
}

/// # Safety
/// As the table says.
pub(super) unsafe extern "C-unwind" fn row_text<G: Guest>(
    decoder: *mut c_void,
    block: *const Block,
    row: u64,
    reply: *mut Reply,
) -> u32 {
    let mut said = Reply::EMPTY;
    let (status, failure) = guarded(|| {
        // SAFETY: as the table says.
        let (decoder, block) = unsafe { (object::<G::Decoder>(decoder)?, given::<G::Context>(block)?) };
        said = export(G::row_text(decoder, &block, row)?);
        Ok(())
    });
    // SAFETY: as the table says.
    unsafe { put(reply, if status == STATUS_OK { said } else { failure }) };
    status
}

/// Columns as one array of structs. They cross unchecked: the engine looks at lengths and text itself.
fn struct_of(columns: Vec<(Arc<str>, TextColumn)>, rows: usize) -> (Fields, ArrayData) {
    let (fields, children): (Vec<Field>, Vec<ArrayData>) =
        columns.into_iter().map(|(name, column)| (column.field(&name), column.into_data())).unzip();
    let fields = Fields::from(fields);
    let builder = ArrayData::builder(DataType::Struct(fields.clone())).len(rows).child_data(children);
    // SAFETY: the data is only exported.
    (fields, unsafe { builder.build_unchecked() })
}

fn export_rows(fields: Fields, data: &ArrayData) -> Result<(ArrowSchema, ArrowArray), Stop> {
    let schema = FFI_ArrowSchema::try_from(DataType::Struct(fields)).map_err(|error| Stop::Error(error.to_string()))?;
    Ok((schema.into(), FFI_ArrowArray::new(data).into()))
}
