//! The layout of the boundary types, as a Rust plugin states it.
//!
//! abi_stable describes size, alignment and fields of each type. Nothing else of that crate is used: no type of it
//! crosses the boundary but the description itself, which is read only when both sides were made by the same version.

use std::ffi::c_void;

use abi_stable::StableAbi;
use abi_stable::abi_stability::abi_checking::check_layout_compatibility;
use abi_stable::type_layout::TypeLayout;

use crate::types::{Block, Bound, Call, Cut, Decoded, Encoded, Opened, Rows, Strs};

/// What describes the boundary types, with its version.
pub const KIT: &str = "abi_stable 0.11.3";

/// Every boundary type but the table itself, which may grow and says its size.
#[repr(C)]
#[derive(StableAbi)]
pub struct Boundary {
    names: Strs,
    call: Call,
    bound: Bound,
    opened: Opened,
    cut: Cut,
    block: Block,
    decoded: Decoded,
    rows: Rows,
    encoded: Encoded,
}

/// The description of the boundary types of this build, for [`crate::Table::layout`].
pub const fn stated() -> *const c_void {
    of::<Boundary>()
}

/// The description of any type.
pub const fn of<T: StableAbi>() -> *const c_void {
    std::ptr::from_ref::<TypeLayout>(T::LAYOUT).cast()
}

/// The longest message, in characters: the complete one lists every type.
const MESSAGE: usize = 300;

/// Compares the boundary types of a plugin with those of this build.
///
/// # Errors
/// The first difference, on one line.
///
/// # Safety
/// `layout` is null, or what [`stated`] gives in a build with the same [`KIT`].
pub unsafe fn compare(layout: *const c_void) -> Result<(), String> {
    // SAFETY: by the caller's promise it points to a description, which is constant.
    let Some(theirs) = (unsafe { layout.cast::<TypeLayout>().as_ref() }) else { return Ok(()) };
    check_layout_compatibility(Boundary::LAYOUT, theirs).map_err(|errors| one_line(&errors.to_string()))
}

/// The lines of a long message that say something, as one short line.
fn one_line(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).collect();
    let line = words.join(" ");
    match line.char_indices().nth(MESSAGE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
