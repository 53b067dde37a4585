//! tutorial
