//! Everything that runs whole commands, in one binary.

mod cases;
mod kills;
mod outputs;
mod storage;
mod tutorial;
