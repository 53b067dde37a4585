//! The x12 format: an ANSI ASC X12 interchange, as a dialect of segment formats.
