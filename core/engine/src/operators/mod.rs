//! One folder an operator. A Source turns blocks into batches, a Transform batches into batches, a Sink batches into
//! bytes; all of them are pure and report failures beside their result.

pub(crate) mod failing;
pub(crate) mod merge;
pub(crate) mod route;
pub(crate) mod sink;
pub(crate) mod sort;
pub(crate) mod source;
pub(crate) mod transform;
