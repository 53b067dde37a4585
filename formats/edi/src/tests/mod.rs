mod edifact;
mod hl7;
#[allow(dead_code, reason = "each crate uses a part")]
mod support;
