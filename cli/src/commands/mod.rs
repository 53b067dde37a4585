//! One file a command.

pub mod explain;
pub mod formats;
pub mod generate;
pub mod plugin;
pub mod run;
