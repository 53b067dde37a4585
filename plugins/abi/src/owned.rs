//! Bytes and Arrow structures of the boundary as owned Rust values.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_buffer::Buffer;

use crate::Malformed;
use crate::types::{ArrowArray, ArrowSchema, Bytes, Call, Encoded, Reply, Str, Strs};

/// A buffer that is lent to the other side, which may keep it.
#[derive(Clone, Debug)]
pub struct Lent(Arc<Buffer>);

impl Lent {
    /// Lends a buffer.
    pub fn new(buffer: Buffer) -> Self {
        Self(Arc::new(buffer))
    }

    /// The buffer.
    pub fn buffer(&self) -> &Buffer {
        &self.0
    }

    /// The bytes, valid as long as `self` or until what was kept is released.
    pub fn bytes(&self) -> Bytes {
        unsafe extern "C" fn retain(owner: *mut c_void) {
            // SAFETY: the owner came from an `Arc` that is alive, as the caller holds the bytes.
            unsafe { Arc::increment_strong_count(owner.cast_const().cast::<Buffer>()) };
        }
        unsafe extern "C" fn release(owner: *mut c_void) {
            // SAFETY: the count was raised by `retain`.
            unsafe { Arc::decrement_strong_count(owner.cast_const().cast::<Buffer>()) };
        }
        Bytes {
            data: self.0.as_ptr(),
            len: self.0.len(),
            owner: Arc::as_ptr(&self.0).cast_mut().cast(),
            retain: Some(retain),
            release: Some(release),
        }
    }
}

/// Bytes of the other side that are kept.
struct Kept {
    owner: *mut c_void,
    release: unsafe extern "C" fn(owner: *mut c_void),
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: they were retained once when this was made.
        unsafe { (self.release)(self.owner) };
    }
}

// SAFETY: `retain` and `release` are callable on any thread, and the bytes do not change.
unsafe impl Send for Kept {}
// SAFETY: the same.
unsafe impl Sync for Kept {}
impl std::panic::RefUnwindSafe for Kept {}

impl Bytes {
    /// No bytes.
    pub const EMPTY: Bytes =
        Bytes { data: std::ptr::null(), len: 0, owner: std::ptr::null_mut(), retain: None, release: None };

    /// The bytes as a buffer that keeps them alive. Those that cannot be kept are copied.
    ///
    /// # Errors
    /// A null pointer with a length.
    ///
    /// # Safety
    /// A pointer that is not null points to `len` bytes, which stay until what was retained is released.
    pub unsafe fn to_buffer(&self) -> Result<Buffer, Malformed> {
        // SAFETY: by the caller's promise.
        let bytes = unsafe { Str { data: self.data, len: self.len }.bytes() }?;
        let (Some(retain), Some(release), Some(place)) =
            (self.retain, self.release, NonNull::new(self.data.cast_mut()))
        else {
            return Ok(Buffer::from(bytes));
        };
        // SAFETY: the bytes are held by the caller now.
        unsafe { retain(self.owner) };
        let kept = Arc::new(Kept { owner: self.owner, release });
        // SAFETY: the bytes stay until `kept` is dropped, and nobody changes them.
        Ok(unsafe { Buffer::from_custom_allocation(place, self.len, kept) })
    }
}

impl Call {
    /// The function at this place of the structure, when the engine's structure reaches that far.
    fn reaches(&self, end: usize) -> bool {
        self.size >= end
    }

    /// Whether the functions of this version are there.
    pub fn complete(&self) -> bool {
        self.reaches(size_of::<Call>())
    }
}

const _: () = assert!(size_of::<ArrowArray>() == size_of::<FFI_ArrowArray>());
const _: () = assert!(align_of::<ArrowArray>() == align_of::<FFI_ArrowArray>());
const _: () = assert!(size_of::<ArrowSchema>() == size_of::<FFI_ArrowSchema>());
const _: () = assert!(align_of::<ArrowSchema>() == align_of::<FFI_ArrowSchema>());

impl ArrowArray {
    /// Released.
    pub fn empty() -> Self {
        Self::from(FFI_ArrowArray::empty())
    }

    /// The structure as arrow's own, which releases it. What is left here is released.
    ///
    /// # Safety
    /// It is released, or valid by the Arrow C data interface.
    pub unsafe fn take(&mut self) -> FFI_ArrowArray {
        let taken = std::mem::replace(self, Self::empty());
        // SAFETY: both are `struct ArrowArray`.
        unsafe { std::mem::transmute(taken) }
    }
}

impl From<FFI_ArrowArray> for ArrowArray {
    fn from(array: FFI_ArrowArray) -> Self {
        // SAFETY: both are `struct ArrowArray`.
        unsafe { std::mem::transmute(array) }
    }
}

impl ArrowSchema {
    /// Released.
    pub fn empty() -> Self {
        Self::from(FFI_ArrowSchema::empty())
    }

    /// The structure as arrow's own, which releases it. What is left here is released.
    ///
    /// # Safety
    /// It is released, or valid by the Arrow C data interface.
    pub unsafe fn take(&mut self) -> FFI_ArrowSchema {
        let taken = std::mem::replace(self, Self::empty());
        // SAFETY: both are `struct ArrowSchema`.
        unsafe { std::mem::transmute(taken) }
    }
}

impl From<FFI_ArrowSchema> for ArrowSchema {
    fn from(schema: FFI_ArrowSchema) -> Self {
        // SAFETY: both are `struct ArrowSchema`.
        unsafe { std::mem::transmute(schema) }
    }
}

impl Strs {
    /// The texts.
    ///
    /// # Errors
    /// As [`Str::text`], and a null pointer with a count.
    ///
    /// # Safety
    /// Pointers that are not null point to what their counts say.
    pub unsafe fn texts<'a>(self) -> Result<Vec<&'a str>, Malformed> {
        if self.count == 0 {
            return Ok(Vec::new());
        }
        if self.items.is_null() || !self.items.is_aligned() || self.count > isize::MAX as usize / size_of::<Str>() {
            return Err(Malformed("a list without a place".into()));
        }
        // SAFETY: by the caller's promise; pointer and count were checked.
        let texts = unsafe { std::slice::from_raw_parts(self.items, self.count) };
        // SAFETY: by the caller's promise.
        texts.iter().map(|text| unsafe { text.text() }).collect()
    }

    /// Texts that live as long as the program.
    pub const fn of(texts: &'static [Str]) -> Self {
        Self { items: texts.as_ptr(), count: texts.len() }
    }
}

impl Encoded {
    /// No record.
    pub const EMPTY: Encoded = Encoded {
        bytes: Str::of(""),
        ends: std::ptr::null(),
        count: 0,
        reply: Reply::EMPTY,
        owner: std::ptr::null_mut(),
        release: None,
    };

    /// Records that are lent for a call.
    pub fn lend(bytes: &[u8], ends: &[u32]) -> Self {
        let bytes = Str { data: bytes.as_ptr(), len: bytes.len() };
        Self { bytes, ends: ends.as_ptr(), count: ends.len(), ..Self::EMPTY }
    }

    /// The bytes and the ends of the records.
    ///
    /// # Errors
    /// A null pointer with a count.
    ///
    /// # Safety
    /// Pointers that are not null point to what their counts say, for as long as `self` is not released.
    pub unsafe fn parts(&self) -> Result<(&[u8], &[u32]), Malformed> {
        // SAFETY: by the caller's promise.
        let bytes = unsafe { self.bytes.bytes() }?;
        if self.count == 0 {
            return Ok((bytes, &[]));
        }
        if self.ends.is_null() || !self.ends.is_aligned() || self.count > isize::MAX as usize / 4 {
            return Err(Malformed("record ends without a place".into()));
        }
        // SAFETY: by the caller's promise; pointer and count were checked.
        Ok((bytes, unsafe { std::slice::from_raw_parts(self.ends, self.count) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lent_bytes_live_as_long_as_somebody_keeps_them() {
        let lent = Lent::new(Buffer::from(b"some bytes".to_vec()));
        // SAFETY: the bytes are lent here.
        let kept = unsafe { lent.bytes().to_buffer() }.unwrap();
        let part = kept.slice(5);
        drop(kept);
        let weak = Arc::downgrade(&lent.0);
        drop(lent);
        assert_eq!(part.as_slice(), b"bytes");
        assert_eq!(weak.strong_count(), 1);
        drop(part);
        assert_eq!(weak.strong_count(), 0);
    }
}
