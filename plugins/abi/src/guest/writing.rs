//! The functions of a table that write.

use std::ffi::c_void;
use std::sync::Arc;

use arrow_array::StructArray;
use arrow_array::ffi::from_ffi;

use super::host::{Asker, Sink};
use super::reading::{export, object, object_mut, request};
use super::{Guest, Records, Stop, Written, guarded, handle};
use crate::types::{Call, Encoded, Reply, Rows, STATUS_OK, Str, Strs, Value};

/// # Safety
/// As the table says.
pub(super) unsafe extern "C-unwind" fn bind_writer<G: Guest>(
    format: u32,
    asked: *const Value,
    output: *mut *mut c_void,
    reply: *mut Reply,
) -> u32 {
    let mut bound = None;
    let (status, failure) = guarded(|| {
        // SAFETY: as the table says.
        let asked = unsafe { request(asked) }?;
        let (output, reply) = G::bind_writer(format as usize, &asked)?;
        bound = Some((handle(output), export(reply)));
        Ok(())
    });
    let (raw, said) = bound.unwrap_or((std::ptr::null_mut(), failure));
    // SAFETY: as the table says: both places may be written.
    unsafe {
        output.write(raw);
        reply.write(said);
    }
    status
}

/// # Safety
/// As the table says.
unsafe fn taken(rows: *const Rows) -> Result<Written, Stop> {
    let missing = || Stop::Error("the engine gave no rows".into());
    // SAFETY: by the caller's promise.
    let given = unsafe { rows.as_ref() }.ok_or_else(missing)?;
    // SAFETY: by the caller's promise both may be moved out.
    let (schema, array) = unsafe { (given.schema.as_mut(), given.array.as_mut()) };
    let (schema, array) = (schema.ok_or_else(missing)?, array.ok_or_else(missing)?);
    // SAFETY: the engine's arrays are valid by the Arrow C data interface.
    let data = unsafe { from_ffi(array.take(), &schema.take()) }.map_err(|error| Stop::Error(error.to_string()))?;
    // SAFETY: as the table says.
    Ok(Written { rows: StructArray::from(data), levels: unsafe { request(given.levels) }? })
}

/// Records for the engine, which releases them.
fn encoded(records: Records) -> Encoded {
    unsafe extern "C" fn release(owner: *mut c_void) {
        // SAFETY: the owner is the box made below, released once.
        drop(unsafe { Box::from_raw(owner.cast::<(Vec<u8>, Vec<u32>)>()) });
    }
    let Records { bytes, ends, reply } = records;
    let held = Box::new((bytes, ends));
    Encoded {
        bytes: Str { data: held.0.as_ptr(), len: held.0.len() },
        ends: held.1.as_ptr(),
        count: held.1.len(),
        reply: export(reply),
        owner: Box::into_raw(held).cast(),
        release: Some(release),
    }
}

/// Runs a call that gives records.
///
/// # Safety
/// `out` may be written.
unsafe fn give(out: *mut Encoded, make: impl FnOnce() -> Result<Records, Stop>) -> u32 {
    let mut result = Encoded::EMPTY;
    let (status, failure) = guarded(|| {
        result = encoded(make()?);
        Ok(())
    });
    if status != STATUS_OK {
        result.reply = failure;
    }
    // SAFETY: by the caller's promise.
    unsafe { out.write(result) };
    status
}

/// # Safety
/// As the table says.
pub(super) unsafe extern "C-unwind" fn encode<G: Guest>(
    output: *mut c_void,
    _call: *const Call,
    rows: *const Rows,
    out: *mut Encoded,
) -> u32 {
    // SAFETY: as the table says.
    unsafe { give(out, || G::encode(object::<G::Output>(output)?, &taken(rows)?)) }
}

/// # Safety
/// As the table says.
pub(super) unsafe extern "C-unwind" fn writer_rows<G: Guest>(
    writer: *mut c_void,
    _call: *const Call,
    rows: *const Rows,
    out: *mut Encoded,
) -> u32 {
    // SAFETY: as the table says.
    unsafe { give(out, || G::writer_rows(object_mut::<G::Writer>(writer)?, &taken(rows)?)) }
}

/// Runs a call that gives nothing.
///
/// # Safety
/// `reply` may be written.
unsafe fn run(reply: *mut Reply, call: impl FnOnce() -> Result<(), Stop>) -> u32 {
    let (status, failure) = guarded(call);
    // SAFETY: by the caller's promise.
    unsafe { reply.write(failure) };
    status
}

/// # Safety
/// As the table says.
pub(super) unsafe extern "C-unwind" fn complete<G: Guest>(
    output: *mut c_void,
    call: *const Call,
    asked: *const Value,
    reply: *mut Reply,
) -> u32 {
    // SAFETY: as the table says; the call is valid until this function returns, which drops the session.
    unsafe {
        run(reply, || {
            let (asker, _session) = Asker::of(call);
            G::complete(object::<G::Output>(output)?, &request(asked)?, &asker)
        })
    }
}

/// # Safety
/// As the table says.
pub(super) unsafe extern "C-unwind" fn writer_open<G: Guest>(
    output: *mut c_void,
    asked: *const Value,
    writer: *mut *mut c_void,
    reply: *mut Reply,
) -> u32 {
    let mut opened = std::ptr::null_mut();
    // SAFETY: as the table says.
    unsafe {
        let status = run(reply, || {
            opened = handle(G::writer_open(object::<G::Output>(output)?, &request(asked)?)?);
            Ok(())
        });
        writer.write(opened);
        status
    }
}

/// # Safety
/// As the table says.
pub(super) unsafe extern "C-unwind" fn writer_columns<G: Guest>(
    writer: *mut c_void,
    call: *const Call,
    names: Strs,
    reply: *mut Reply,
) -> u32 {
    // SAFETY: as the table says; the call is valid until this function returns, which drops the session.
    unsafe {
        run(reply, || {
            let (asker, _session) = Asker::of(call);
            let names: Vec<Arc<str>> = names.texts()?.into_iter().map(Arc::from).collect();
            G::writer_columns(object_mut::<G::Writer>(writer)?, &names, &mut Sink::new(asker))
        })
    }
}

/// # Safety
/// As the table says.
pub(super) unsafe extern "C-unwind" fn writer_records<G: Guest>(
    writer: *mut c_void,
    call: *const Call,
    records: *const Encoded,
    reply: *mut Reply,
) -> u32 {
    // SAFETY: as the table says; the call is valid until this function returns, which drops the session.
    unsafe {
        run(reply, || {
            let (asker, _session) = Asker::of(call);
            let records = records.as_ref().ok_or_else(|| Stop::Error("the engine gave no records".into()))?;
            let (bytes, ends) = records.parts()?;
            G::writer_records(object_mut::<G::Writer>(writer)?, bytes, ends, &mut Sink::new(asker))
        })
    }
}

/// # Safety
/// As the table says.
pub(super) unsafe extern "C-unwind" fn writer_finish<G: Guest>(
    writer: *mut c_void,
    call: *const Call,
    reply: *mut Reply,
) -> u32 {
    // SAFETY: as the table says; the call is valid until this function returns, which drops the session.
    unsafe {
        run(reply, || {
            let (asker, _session) = Asker::of(call);
            G::writer_finish(object_mut::<G::Writer>(writer)?, &mut Sink::new(asker))
        })
    }
}
