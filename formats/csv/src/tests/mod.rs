//! Tests of the whole format, through its contract.

mod fuzz;
mod oracle;
mod reading;
mod support;
mod writing;
