//! The built-in methods, one file each.
//!
//! A file holds a function's signature, its text for readers, its examples (a test runs them all) and its row form:
//! borrowed values in, one answer out. The evaluator drives the row form over whole columns without allocating for a
//! row, so that one definition is both the meaning and the fast path.

mod function;
mod path;
mod prelude;
mod shared;

#[cfg(test)]
pub(crate) mod tests;

mod abs;
mod add_days;
mod add_months;
mod add_years;
mod any;
mod capture;
mod catch;
mod ceil;
mod clamp;
mod concat;
mod contains;
mod day;
mod debug;
mod diff_days;
mod diff_months;
mod diff_years;
mod ends_with;
mod extension;
mod file_name;
mod file_stem;
mod filter;
mod find;
mod flat_map;
mod floor;
mod format;
mod format_date;
mod hour;
mod is_empty;
mod is_null;
mod join;
mod keys;
mod left;
mod length;
mod lower;
mod map;
mod matches;
mod max;
mod merge;
mod min;
mod minute;
mod month;
mod pad_left;
mod pad_right;
mod parent;
mod parent_name;
mod remove;
mod remove_field;
mod repeat;
mod replace;
mod reverse;
mod right;
mod round;
mod round_to;
mod second;
mod set;
mod split;
mod starts_with;
mod substring;
mod to_bool;
mod to_date;
mod to_datetime;
mod to_decimal;
mod to_float;
mod to_int;
mod to_string;
mod trim;
mod trim_end;
mod trim_start;
mod try_bool;
mod try_date;
mod try_datetime;
mod try_decimal;
mod try_float;
mod try_int;
mod type_of;
mod unset;
mod upper;
mod values;
mod year;

pub(crate) use function::{Answer, Call, Function, Kinds, Prepared, ResultType};
pub(crate) use shared::int_of;

/// All functions, sorted by name.
pub(crate) static ALL: &[&Function] = &[
    &abs::FUNCTION,
    &add_days::FUNCTION,
    &add_months::FUNCTION,
    &add_years::FUNCTION,
    &any::FUNCTION,
    &capture::FUNCTION,
    &catch::FUNCTION,
    &ceil::FUNCTION,
    &clamp::FUNCTION,
    &concat::FUNCTION,
    &contains::FUNCTION,
    &day::FUNCTION,
    &debug::FUNCTION,
    &diff_days::FUNCTION,
    &diff_months::FUNCTION,
    &diff_years::FUNCTION,
    &ends_with::FUNCTION,
    &extension::FUNCTION,
    &file_name::FUNCTION,
    &file_stem::FUNCTION,
    &filter::FUNCTION,
    &find::FUNCTION,
    &flat_map::FUNCTION,
    &floor::FUNCTION,
    &format::FUNCTION,
    &format_date::FUNCTION,
    &hour::FUNCTION,
    &is_empty::FUNCTION,
    &is_null::FUNCTION,
    &join::FUNCTION,
    &keys::FUNCTION,
    &left::FUNCTION,
    &length::FUNCTION,
    &lower::FUNCTION,
    &map::FUNCTION,
    &matches::FUNCTION,
    &max::FUNCTION,
    &merge::FUNCTION,
    &min::FUNCTION,
    &minute::FUNCTION,
    &month::FUNCTION,
    &pad_left::FUNCTION,
    &pad_right::FUNCTION,
    &parent::FUNCTION,
    &parent_name::FUNCTION,
    &remove::FUNCTION,
    &remove_field::FUNCTION,
    &repeat::FUNCTION,
    &replace::FUNCTION,
    &reverse::FUNCTION,
    &right::FUNCTION,
    &round::FUNCTION,
    &round_to::FUNCTION,
    &second::FUNCTION,
    &set::FUNCTION,
    &split::FUNCTION,
    &starts_with::FUNCTION,
    &substring::FUNCTION,
    &to_bool::FUNCTION,
    &to_date::FUNCTION,
    &to_datetime::FUNCTION,
    &to_decimal::FUNCTION,
    &to_float::FUNCTION,
    &to_int::FUNCTION,
    &to_string::FUNCTION,
    &trim::FUNCTION,
    &trim_end::FUNCTION,
    &trim_start::FUNCTION,
    &try_bool::FUNCTION,
    &try_date::FUNCTION,
    &try_datetime::FUNCTION,
    &try_decimal::FUNCTION,
    &try_float::FUNCTION,
    &try_int::FUNCTION,
    &type_of::FUNCTION,
    &unset::FUNCTION,
    &upper::FUNCTION,
    &values::FUNCTION,
    &year::FUNCTION,
];

/// The function of that name.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    ALL.binary_search_by_key(&name, |function| function.name).ok().map(|found| ALL[found])
}

/// A function as documentation shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionDoc {
    /// Its name.
    pub name: &'static str,
    /// The types it is called on.
    pub receiver: String,
    /// Name and parameters.
    pub signature: String,
    /// One paragraph.
    pub text: &'static str,
    /// Expressions with the values they yield.
    pub examples: &'static [(&'static str, &'static str)],
}

/// All functions, sorted by name.
pub fn function_docs() -> Vec<FunctionDoc> {
    let doc = |function: &&Function| FunctionDoc {
        name: function.name,
        receiver: function.receiver(),
        signature: function.signature(),
        text: function.doc,
        examples: function.examples,
    };
    ALL.iter().map(doc).collect()
}
