//! datetime
