//! The conformance kit: numbered statements that every format must satisfy, checked over a corpus of its own inputs.
//!
//! | Statement | A format MUST … |
//! |---|---|
//! | C01 | give the same events whatever the size of the pieces it is handed |
//! | C02 | give the same rows whatever the bounds of its blocks |
//! | C03 | decode a block the same way again, in any order, for any choice of columns |
//! | C04 | place each row at its true bytes |
//! | C05 | consume every byte of a valid file, in order, and none twice |
//! | C06 | never take a cut file for a complete one with other rows |
//! | C07 | read what it wrote with equal cells, and write that again with equal bytes |
//! | C08 | place every fault inside of its input, with a code |
//! | C09 | survive any input: no panic, no endless loop, the same answer for any pieces |
//! | C10 | stop at its record limit, before it has read much more |
//! | C11 | write the same bytes whatever the batches |
//! | C12 | nest its levels, and close them all |
//! | C13 | keep the rows around a bad row as they are |
//! | C14 | notice a changed count (document-rejectable) and a changed reference (corruption) |
//!
//! A format brings a [`Corpus`]; [`check`] runs the statements and says what it saw.

mod corpus;
mod read;
mod statements;
mod write;

pub use corpus::{Bad, Corpus, Endless, Sample, Tamper};
pub use statements::{Check, Outcome, check, checks, mutate};
