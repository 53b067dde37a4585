//! Character sets.
