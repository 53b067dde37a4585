//! The `clinker` binary.
fn main() {}
