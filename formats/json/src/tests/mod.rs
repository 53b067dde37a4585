//! Tests: named cases, and a slow plain reader over serde_json beside the fast one.

mod expand;
mod fuzz;
mod oracle;
mod reading;
mod shapes;
mod support;
mod writing;
