//! Everything that runs whole commands, in one binary.

mod cases;
mod documents;
mod kills;
mod outputs;
mod storage;
mod tutorial;
