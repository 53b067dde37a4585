mod columns;
mod description;
mod faults;
mod properties;
mod reading;
mod samples;
#[path = "../../../edi/src/tests/support.rs"]
#[allow(dead_code, reason = "each crate uses a part")]
mod support;
mod writing;
