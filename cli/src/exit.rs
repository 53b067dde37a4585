//! Exit codes.

/// Completed; nothing dead-lettered.
pub const SUCCESS: u8 = 0;
/// Usage, configuration, plan or internal error.
pub const CONFIGURATION: u8 = 1;
/// Completed with dead letters.
pub const DEAD_LETTERS: u8 = 2;
/// Files, formats, publication.
pub const INFRASTRUCTURE: u8 = 4;
/// Cancelled before publication.
pub const CANCELLED: u8 = 130;
