//! Everything that runs whole commands, in one binary.

mod cases;
mod codes;
mod held;
mod kills;
mod outputs;
mod random;
mod storage;
mod tools;
mod tutorial;
