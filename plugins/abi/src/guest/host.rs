//! What a plugin may ask of the engine during a call.

use std::ffi::c_void;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_buffer::Buffer;

use crate::Malformed;
use crate::types::{Bytes, Call, STATUS_END, STATUS_OK, Window};

/// The engine failed to do what it was asked; it knows why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostFailed;

impl fmt::Display for HostFailed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the engine failed to do what it was asked")
    }
}

impl std::error::Error for HostFailed {}

impl From<HostFailed> for io::Error {
    fn from(failed: HostFailed) -> Self {
        io::Error::other(failed)
    }
}

/// The functions of the call that is running.
#[derive(Clone, Copy)]
struct Functions(Call);

// SAFETY: the context is used by one thread at a time (the functions are behind a mutex), and only while the call runs.
unsafe impl Send for Functions {}

/// Asks the engine, as long as the call runs that it was made for; afterwards everything fails.
#[derive(Clone)]
pub struct Asker(Arc<Mutex<Option<Functions>>>);

/// Ends an [`Asker`] with its call.
pub(super) struct Session(Asker);

impl Drop for Session {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
}

impl Asker {
    /// # Safety
    /// `call` is null or valid until the session is dropped.
    pub(super) unsafe fn of(call: *const Call) -> (Self, Session) {
        // SAFETY: by the caller's promise.
        let functions = unsafe { call.as_ref() }.filter(|call| call.complete()).map(|call| Functions(*call));
        let asker = Self(Arc::new(Mutex::new(functions)));
        (asker.clone(), Session(asker))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Functions>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask<T>(&self, ask: impl FnOnce(&Call, *mut c_void) -> Result<T, HostFailed>) -> Result<T, HostFailed> {
        let held = self.lock();
        let Some(Functions(call)) = &*held else { return Err(HostFailed) };
        ask(call, call.context)
    }

    /// At most `limit` further bytes: the whole window of the call, from its first byte on, with whether the file ends
    /// there. `None` when there was nothing more.
    ///
    /// # Errors
    /// Reading failed.
    pub fn more(&self, limit: usize) -> Result<Option<(Buffer, bool)>, HostFailed> {
        self.ask(|call, context| {
            let more = call.more.ok_or(HostFailed)?;
            let mut window = Window { bytes: Bytes::EMPTY, offset: 0, ended: 0, reserved: 0 };
            // SAFETY: the call is running; the window is ours.
            match unsafe { more(context, limit, &raw mut window) } {
                // SAFETY: the engine's bytes are what they say.
                STATUS_OK => match unsafe { window.bytes.to_buffer() } {
                    Ok(buffer) => Ok(Some((buffer, window.ended != 0))),
                    Err(Malformed(_)) => Err(HostFailed),
                },
                STATUS_END => Ok(None),
                _ => Err(HostFailed),
            }
        })
    }

    /// Whether the run was cancelled.
    pub fn cancelled(&self) -> bool {
        self.ask(|call, context| {
            let cancelled = call.cancelled.ok_or(HostFailed)?;
            // SAFETY: the call is running.
            Ok(unsafe { cancelled(context) } != 0)
        })
        .unwrap_or(true)
    }
}

impl io::Read for Asker {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.ask(|call, context| {
            let function = call.read.ok_or(HostFailed)?;
            let mut read = 0;
            // SAFETY: the call is running; the place is as long as it says.
            match unsafe { function(context, into.as_mut_ptr(), into.len(), &raw mut read) } {
                STATUS_OK => Ok(read),
                _ => Err(HostFailed),
            }
        });
        Ok(read?.min(into.len()))
    }
}

/// Takes the bytes of an output.
pub struct Sink(Asker);

impl Sink {
    /// The output of a call.
    pub fn new(asker: Asker) -> Self {
        Self(asker)
    }
}

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.ask(|call, context| {
            let write = call.write.ok_or(HostFailed)?;
            // SAFETY: the call is running; the bytes are as many as they say.
            match unsafe { write(context, bytes.as_ptr(), bytes.len()) } {
                STATUS_OK => Ok(()),
                _ => Err(HostFailed),
            }
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes of a file, seen through a window: look at [`Input::window`], ask for more with [`Input::grow`], take whole
/// records off the front with [`Input::take`].
pub struct Input {
    data: Buffer,
    /// Where the window begins in `data`.
    start: usize,
    /// Offset in the file of the first byte of `data`.
    base: u64,
    ended: bool,
    asker: Asker,
}

impl Input {
    /// # Safety
    /// `window` is null or valid.
    pub(super) unsafe fn of(window: *const Window, asker: Asker) -> Result<Self, Malformed> {
        // SAFETY: by the caller's promise.
        let Some(window) = (unsafe { window.as_ref() }) else { return Err(Malformed("no window".into())) };
        // SAFETY: the engine's bytes are what they say.
        let data = unsafe { window.bytes.to_buffer() }?;
        Ok(Self { data, start: 0, base: window.offset, ended: window.ended != 0, asker })
    }

    /// The bytes at hand.
    pub fn window(&self) -> &[u8] {
        self.data.get(self.start..).unwrap_or_default()
    }

    /// The bytes at hand, to be kept.
    pub fn buffer(&self) -> Buffer {
        self.data.slice(self.start.min(self.data.len()))
    }

    /// Offset in the file of the window's first byte.
    pub fn offset(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Whether the file ends behind the window.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Reads more behind the window; `false` when the file has ended.
    ///
    /// # Errors
    /// Reading failed.
    pub fn grow(&mut self) -> Result<bool, HostFailed> {
        self.grow_at_most(usize::MAX)
    }

    /// Reads at most `limit` bytes (at least one) behind the window; `false` when the file has ended.
    ///
    /// # Errors
    /// Reading failed.
    pub fn grow_at_most(&mut self, limit: usize) -> Result<bool, HostFailed> {
        if self.ended {
            return Ok(false);
        }
        let Some((data, ended)) = self.asker.more(limit)? else {
            self.ended = true;
            return Ok(false);
        };
        let grown = data.len() > self.data.len();
        (self.data, self.ended) = (data, ended);
        Ok(grown)
    }

    /// Takes bytes off the front; the place in the file of the first of them.
    ///
    /// # Panics
    /// When the window holds fewer bytes.
    pub fn take(&mut self, len: usize) -> u64 {
        assert!(len <= self.window().len(), "no more is taken than is there");
        let offset = self.offset();
        self.start += len;
        offset
    }

    /// What asks for more, for another kind of input that is made of this one. Bytes that it uses up are to be taken here
    /// as well.
    pub fn asker(&self) -> Asker {
        self.asker.clone()
    }

    /// Takes everything in front of an offset in the file, which another kind of input has used up; the last thing that is
    /// done with this one.
    ///
    /// # Errors
    /// The bytes are not at hand.
    pub fn take_to(&mut self, offset: u64) -> Result<(), HostFailed> {
        let wanted = usize::try_from(offset.checked_sub(self.base).ok_or(HostFailed)?).map_err(|_| HostFailed)?;
        self.start = wanted;
        Ok(())
    }

    /// Whether the run was cancelled.
    pub fn cancelled(&self) -> bool {
        self.asker.cancelled()
    }

    /// Bytes of the call's window that are done with, and where the window began.
    pub(super) fn done(&self) -> (u64, u64) {
        (self.start as u64, self.base)
    }
}
