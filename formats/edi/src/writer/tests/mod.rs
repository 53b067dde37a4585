//! Tests of the writer: the examples of the specification, every code, every rule of grouping.

mod codes;
mod escapes;
mod examples;
mod grouping;
mod options;
mod round_trip;
mod support;
mod texts;
