//! The one table of diagnostic codes.
