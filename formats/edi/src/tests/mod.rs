mod edifact;
mod hl7;
mod odd;
#[allow(dead_code, reason = "each crate uses a part")]
mod support;
