//! The csv format.
