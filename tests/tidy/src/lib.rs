//! Keeps the house in order: what the code base promises about itself, checked on every test run.
//!
//! | Module | Promise |
//! |---|---|
//! | [`layers`] | a crate depends only on crates above it |
//! | [`lengths`] | files and functions stay readable |
//! | [`boundaries`] | core names no format, only the command line prints, only publication renames |
//! | [`codes`] | every diagnostic code that is raised is registered, explained and proven by a test |
//! | [`pages`] | complete examples of detail pages raise the code they explain |
//! | [`prose`] | documents name no machine, and the commands they show are the ones that are run |
//!
//! Each exception is listed beside its check with the reason, and a list fails when an entry is no longer needed.

#![cfg(test)]

mod boundaries;
mod codes;
mod layers;
mod lengths;
mod pages;
mod prose;
mod source;
