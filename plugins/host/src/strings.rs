//! Arrow structures of a plugin, read by hand: nothing of them is believed before it was looked at.

use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_buffer::Buffer;
use clinker_plugin_abi::types::{ArrowArray, ArrowSchema};

/// An array of structs that a plugin gave. It is released when the last buffer of it is dropped.
pub(crate) struct Given {
    owner: Arc<Owned>,
    schema: ArrowSchema,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub width: usize,
}

/// Keeps the arrays of a plugin.
struct Owned(ArrowArray);

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the array is the plugin's and is released once.
        drop(unsafe { self.0.take() });
    }
}

// SAFETY: arrays of the Arrow C data interface are constant and are released on any thread.
unsafe impl Send for Owned {}
// SAFETY: the same.
unsafe impl Sync for Owned {}
impl std::panic::RefUnwindSafe for Owned {}
impl std::panic::UnwindSafe for Owned {}

impl Drop for Given {
    fn drop(&mut self) {
        // SAFETY: the schema is the plugin's and is released once.
        drop(unsafe { self.schema.take() });
    }
}

/// A column of a plugin's array.
pub(crate) struct Child<'a> {
    owner: &'a Arc<Owned>,
    array: &'a ArrowArray,
    /// The format string.
    pub format: &'a str,
    /// The name.
    pub name: &'a str,
    /// Number of rows.
    pub rows: usize,
    /// Rows in front of the first one.
    pub offset: usize,
}

/// # Safety
/// `text` is null or ends with a zero.
unsafe fn c_text<'a>(text: *const std::ffi::c_char) -> Result<&'a str, String> {
    if text.is_null() {
        return Ok("");
    }
    // SAFETY: by the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| "a name or a type that is not UTF-8".to_owned())
}

fn size(value: i64, what: &str) -> Result<usize, String> {
    usize::try_from(value).map_err(|_| format!("{what} is {value}"))
}

impl Given {
    /// Takes an array of structs; `None` when there is none.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn take(schema: &mut ArrowSchema, array: &mut ArrowArray) -> Result<Option<Self>, String> {
        // SAFETY: both were written by the plugin, or are as we made them: released or valid.
        let (schema, array): (FFI_ArrowSchema, FFI_ArrowArray) = unsafe { (schema.take(), array.take()) };
        let (schema, array) = (ArrowSchema::from(schema), Owned(ArrowArray::from(array)));
        let absent = array.0.release.is_none();
        let mut given = Self { owner: Arc::new(array), schema, rows: 0, width: 0 };
        if absent {
            return Ok(None);
        }
        if given.schema.release.is_none() {
            return Err("an array without a schema".into());
        }
        let array = &given.owner.0;
        given.rows = size(array.length, "the length of an array")?;
        // SAFETY: the schema is valid by the Arrow C data interface.
        let format = unsafe { c_text(given.schema.format) }?;
        if format != "+s" {
            return Err(format!("a batch of type {format:?}, not of structs"));
        }
        if array.offset != 0 {
            return Err("a batch with an offset".into());
        }
        let nulls = array.n_buffers == 1 && !array.buffers.is_null() && {
            // SAFETY: the array says that there is one buffer.
            !unsafe { array.buffers.read() }.is_null()
        };
        if nulls {
            return Err("a batch with rows that are null themselves".into());
        }
        let width = size(array.n_children, "the number of columns")?;
        if given.schema.n_children != array.n_children {
            return Err(format!("{width} columns and {} in the schema", given.schema.n_children));
        }
        if width > 0 && (array.children.is_null() || given.schema.children.is_null()) {
            return Err("columns without a place".into());
        }
        given.width = width;
        Ok(Some(given))
    }

    /// A column.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn child(&self, at: usize) -> Result<Child<'_>, String> {
        assert!(at < self.width);
        // SAFETY: there are `width` children of both.
        let (array, schema) =
            unsafe { ((*self.owner.0.children.add(at)).as_ref(), (*self.schema.children.add(at)).as_ref()) };
        let (Some(array), Some(schema)) = (array, schema) else { return Err(format!("column {at} is missing")) };
        if array.release.is_none() {
            return Err(format!("column {at} is released"));
        }
        // SAFETY: the schema is valid by the Arrow C data interface.
        let (format, name) = unsafe { (c_text(schema.format)?, c_text(schema.name)?) };
        let rows = size(array.length, "the length of a column")?;
        if rows != self.rows {
            return Err(format!("column {at} has {rows} rows, the batch has {}", self.rows));
        }
        let offset = size(array.offset, "the offset of a column")?;
        if array.n_buffers > 0 && array.buffers.is_null() {
            return Err(format!("column {at} has buffers without a place"));
        }
        if !schema.dictionary.is_null() {
            return Err(format!("column {at} is a dictionary"));
        }
        Ok(Child { owner: &self.owner, array, format, name, rows, offset })
    }
}

impl Child<'_> {
    /// Number of buffers.
    pub(crate) fn buffers(&self) -> usize {
        usize::try_from(self.array.n_buffers).unwrap_or(0)
    }

    /// The address of a buffer.
    pub(crate) fn place(&self, at: usize) -> *const u8 {
        assert!(at < self.buffers());
        // SAFETY: there are so many buffers.
        unsafe { self.array.buffers.add(at).read() }.cast()
    }

    /// So many bytes of a buffer, from an offset on. They are kept as long as the result.
    ///
    /// # Errors
    /// The buffer is missing.
    pub(crate) fn bytes(&self, at: usize, offset: usize, len: usize) -> Result<Buffer, String> {
        if len == 0 {
            return Ok(Buffer::from_vec(Vec::<u8>::new()));
        }
        let place = self.place(at);
        if offset.checked_add(len).is_none_or(|end| isize::try_from(end).is_err()) {
            return Err(format!("buffer {at} of column `{}` is too long", self.name));
        }
        let place = NonNull::new(place.cast_mut())
            .ok_or_else(|| format!("buffer {at} of column `{}` is missing", self.name))?;
        // SAFETY: by the Arrow C data interface the buffer holds so many bytes as its type and length say, until the
        // array is released, which `owner` does.
        Ok(unsafe { Buffer::from_custom_allocation(place.add(offset), len, Arc::clone(self.owner) as _) })
    }

    /// Which rows are there; `None` when all are.
    ///
    /// # Errors
    /// The bitmap is missing.
    pub(crate) fn present(&self) -> Result<Option<(Buffer, usize)>, String> {
        if self.array.null_count == 0 || self.buffers() == 0 || self.place(0).is_null() {
            if self.array.null_count > 0 {
                return Err(format!("column `{}` has nulls and does not say where", self.name));
            }
            return Ok(None);
        }
        let bits = self.offset.checked_add(self.rows).ok_or("a column is too long")?;
        Ok(Some((self.bytes(0, 0, bits.div_ceil(8))?, self.offset)))
    }

    /// Numbers of `N` bytes.
    ///
    /// # Errors
    /// The type is another one, or the buffer is missing.
    pub(crate) fn numbers<const N: usize>(&self, format: &str) -> Result<Vec<[u8; N]>, String> {
        if self.format != format || self.buffers() != 2 {
            return Err(format!("column `{}` is of type {:?}, not {format:?}", self.name, self.format));
        }
        let start = self.offset.checked_mul(N).ok_or("a column is too long")?;
        let bytes = self.bytes(1, start, self.rows.checked_mul(N).ok_or("a column is too long")?)?;
        Ok(bytes.as_chunks::<N>().0.to_vec())
    }
}
