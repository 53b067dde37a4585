//! Calls into a plugin: what they may ask, what their status means, and what becomes of a panic.

use std::ffi::c_void;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use clinker_format::input::BlockInput;
use clinker_plugin_abi::owned::Lent;
use clinker_plugin_abi::types::{
    Call, Reply, STATUS_END, STATUS_ERROR, STATUS_FAULT, STATUS_HOST, STATUS_OK, STATUS_PANIC, Window,
};
use clinker_plugin_abi::{Item, Table};

use crate::watch::{Foreign, Guard, surroundings};

/// A loaded library. It lives as long as the process.
pub(crate) struct Plugin {
    /// As the user named it.
    pub path: String,
    /// Entries that the plugin lacks are none.
    pub table: Table,
}

// SAFETY: a table is constant data; the library is never unloaded.
unsafe impl Send for Plugin {}
// SAFETY: the same.
unsafe impl Sync for Plugin {}

/// What is said of an exception that is no panic of this program.
const FOREIGN: &str = "the call ended by an exception that it did not catch";

/// What a plugin answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It did what it was asked.
    Done,
    /// There is nothing more.
    End,
    /// Data or options are at fault.
    Fault,
    /// A function of ours failed.
    Host,
}

impl Plugin {
    /// What is said when it breaks the contract.
    pub(crate) fn breach(&self, call: &str, what: &str) -> String {
        format!("plugin {} broke the contract in `{call}`: {}", self.path, one_line(what))
    }

    /// Runs a call under watch. A function that the plugin lacks, or that unwinds, breaks the contract.
    pub(crate) fn run<F: Copy>(
        &self,
        name: &str,
        function: Option<F>,
        call: impl FnOnce(F, &Guard) -> u32,
    ) -> Result<u32, String> {
        let function = function.ok_or_else(|| self.breach(name, "the plugin lacks this function"))?;
        let guard = Guard::new(format!("plugin {}: its call `{name}`", self.path));
        let reason = || match name {
            "load" => format!("plugin {} failed while loading: {FOREIGN}", self.path),
            name => self.breach(name, FOREIGN),
        };
        let code = if name == "load" { "E465" } else { "E468" };
        let called = || {
            let foreign = Foreign { code, reason: &reason };
            let status = call(function, &guard);
            std::mem::forget(foreign);
            status
        };
        catch_unwind(AssertUnwindSafe(called)).map_err(|_| self.breach(name, "the call ended by unwinding"))
    }

    /// Releases a handle of the plugin's.
    pub(crate) fn free(
        &self,
        name: &str,
        function: Option<unsafe extern "C-unwind" fn(*mut c_void)>,
        raw: *mut c_void,
    ) {
        if function.is_some() && !raw.is_null() {
            // Nothing can be told of a failure here, and nothing depends on it.
            let _ = self.run(name, function, |free, _| {
                // SAFETY: the handle came from this plugin and is released once.
                unsafe { free(raw) };
                STATUS_OK
            });
        }
    }

    /// What a status and a reply say. The reply is released.
    pub(crate) fn answer(&self, name: &str, status: u32, reply: &mut Reply) -> Result<(Answer, Item), String> {
        // SAFETY: the plugin just wrote it; its pointers are as good as the plugin.
        let item = unsafe { reply.take() }.map_err(|malformed| self.breach(name, &format!("it gave {malformed}")))?;
        let text = || item.text().unwrap_or("without a reason").to_owned();
        let answer = match status {
            STATUS_OK => Answer::Done,
            STATUS_END => Answer::End,
            STATUS_FAULT => Answer::Fault,
            STATUS_HOST => Answer::Host,
            STATUS_PANIC => return Err(self.breach(name, &format!("it panicked: {}", text()))),
            STATUS_ERROR => return Err(self.breach(name, &format!("it failed: {}", text()))),
            other => return Err(self.breach(name, &format!("it gave the unknown status {other}"))),
        };
        Ok((answer, item))
    }
}

/// Text of a plugin in a message of ours.
pub(crate) fn one_line(text: &str) -> String {
    const LONGEST: usize = 400;
    let line: String = text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    line.trim().to_owned()
}

/// A handle of a plugin's with what releases it.
pub(crate) struct Handle {
    pub plugin: &'static Plugin,
    pub raw: *mut c_void,
    free: (&'static str, Option<unsafe extern "C-unwind" fn(*mut c_void)>),
}

impl Handle {
    pub(crate) fn new(
        plugin: &'static Plugin,
        raw: *mut c_void,
        name: &'static str,
        free: Option<unsafe extern "C-unwind" fn(*mut c_void)>,
    ) -> Self {
        Self { plugin, raw, free: (name, free) }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.plugin.free(self.free.0, self.free.1, self.raw);
    }
}

// SAFETY: the interface says which handles are used on several threads; who holds one keeps to it.
unsafe impl Send for Handle {}
// SAFETY: the same.
unsafe impl Sync for Handle {}

/// What a call may ask of us.
pub(crate) struct Session<'a> {
    guard: &'a Guard,
    pub input: Option<&'a mut BlockInput>,
    pub read: Option<&'a mut dyn Read>,
    pub write: Option<&'a mut dyn Write>,
    /// The window that was given last.
    lent: Option<Lent>,
    failed: Option<io::Error>,
    misused: Option<String>,
}

/// What became of what a call asked for.
#[derive(Default)]
pub(crate) struct Asked {
    /// Why a function of ours failed.
    pub failed: Option<io::Error>,
    /// What was wrong with what a function of ours was given.
    pub misused: Option<String>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(guard: &'a Guard) -> Self {
        Self { guard, input: None, read: None, write: None, lent: None, failed: None, misused: None }
    }

    /// The functions, which use this session until the call returns.
    pub(crate) fn call(&mut self) -> Call {
        Call {
            size: size_of::<Call>(),
            context: std::ptr::from_mut(self).cast(),
            more: Some(more),
            read: Some(read),
            write: Some(write),
            cancelled: Some(cancelled),
        }
    }

    /// The window as it is.
    pub(crate) fn window(&mut self) -> Window {
        let empty = || Lent::new(arrow_buffer::Buffer::from_vec(Vec::<u8>::new()));
        let (lent, offset, ended) = match &self.input {
            Some(input) => (Lent::new(input.buffer()), input.offset(), input.ended()),
            None => (empty(), 0, true),
        };
        let bytes = lent.bytes();
        self.lent = Some(lent);
        Window { bytes, offset, ended: u32::from(ended), reserved: 0 }
    }

    /// A function was given what it cannot use.
    fn misuse(&mut self, what: &str) -> u32 {
        self.misused.get_or_insert_with(|| what.to_owned());
        STATUS_HOST
    }

    /// What became of what the call asked for.
    pub(crate) fn asked(&mut self) -> Asked {
        Asked { failed: self.failed.take(), misused: self.misused.take() }
    }

    fn note(&mut self, result: io::Result<()>) -> u32 {
        match result {
            Ok(()) => STATUS_OK,
            Err(error) => {
                self.failed = Some(error);
                STATUS_HOST
            }
        }
    }
}

/// Runs a function that the plugin asked for. A panic of ours must not cross the boundary either.
///
/// # Safety
/// `context` is that of a [`Session::call`] whose call is running.
unsafe fn asked(context: *mut c_void, function: impl FnOnce(&mut Session<'_>) -> u32) -> u32 {
    // SAFETY: by the caller's promise; nobody else uses the session while the call runs.
    let Some(session) = (unsafe { context.cast::<Session<'_>>().as_mut() }) else { return STATUS_HOST };
    let guard = session.guard;
    guard.serve(|| catch_unwind(AssertUnwindSafe(|| function(session))).unwrap_or(STATUS_HOST))
}

unsafe extern "C" fn more(context: *mut c_void, limit: usize, window: *mut Window) -> u32 {
    let function = |session: &mut Session<'_>| {
        if window.is_null() || !window.is_aligned() {
            return session.misuse("it gave `more` no place for the window");
        }
        let Some(input) = &mut session.input else { return session.misuse("`more` makes no sense there") };
        match input.grow_at_most(limit) {
            Ok(true) => {
                let grown = session.window();
                // SAFETY: the plugin gave a place for a window.
                unsafe { window.write(grown) };
                STATUS_OK
            }
            Ok(false) => STATUS_END,
            Err(error) => session.note(Err(error)),
        }
    };
    // SAFETY: the plugin gave our context back.
    unsafe { asked(context, function) }
}

unsafe extern "C" fn read(context: *mut c_void, into: *mut u8, len: usize, count: *mut usize) -> u32 {
    let function = |session: &mut Session<'_>| {
        if into.is_null() || count.is_null() || !count.is_aligned() {
            return session.misuse("it gave `read` no place for the bytes");
        }
        let Some(source) = &mut session.read else { return session.misuse("`read` makes no sense there") };
        // Through a buffer of ours: the place need not hold anything yet.
        let mut bytes = vec![0; len.min(64 << 10)];
        let result = source.read(&mut bytes);
        let result = result.map(|read| {
            // SAFETY: the plugin gave places for the count and for so many bytes.
            unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), into, read);
                count.write(read);
            }
        });
        session.note(result)
    };
    // SAFETY: the plugin gave our context back.
    unsafe { asked(context, function) }
}

unsafe extern "C" fn write(context: *mut c_void, data: *const u8, len: usize) -> u32 {
    let function = |session: &mut Session<'_>| {
        // SAFETY: the plugin says that these are its bytes.
        let Ok(bytes) = (unsafe { clinker_plugin_abi::Str { data, len }.bytes() }) else {
            return session.misuse("it gave `write` bytes without a place");
        };
        let Some(sink) = &mut session.write else { return session.misuse("`write` makes no sense there") };
        let result = sink.write_all(bytes);
        session.note(result)
    };
    // SAFETY: the plugin gave our context back.
    unsafe { asked(context, function) }
}

unsafe extern "C" fn cancelled(context: *mut c_void) -> u32 {
    // SAFETY: the plugin gave our context back.
    unsafe { asked(context, |_| u32::from((surroundings().cancelled)())) }
}
