//! What the file of a function needs.

pub(super) use clinker_record::datetime::{add_days, add_months, civil, clock, diff_months};

pub(super) use super::function::{Answer, Function, Kinds, Param, Prepare, ResultType};
pub(super) use super::shared::{
    char_offset, day_of, file_name, int_of, joined, less, map_case, map_part, moved, padding, parent, round,
    split_name, text_form, to_bool, to_date, to_datetime, to_decimal, to_float, to_int,
};
pub(super) use clinker_record::Value;

pub(super) use crate::check::types::Base;
pub(super) use crate::eval::{Cell, check_built, check_text, faults};
pub(super) use crate::ir::ClosureMethod;
