//! The one table of diagnostic codes.
//!
//! Every code a report may carry is declared once, in the file of its area below; parsing of reports, `explain`, the
//! documentation and the checks that keep the code base honest all read this table. Codes are permanent: a code never
//! changes its meaning and a retired code is never given to another condition.

mod aggregate;
mod composition;
mod document;
mod entry;
mod envelope;
mod failure;
mod format;
pub mod machine;
mod pages;
mod query;
mod sink;
mod source;
mod storage;
mod warning;
mod window;

use std::sync::OnceLock;

pub use entry::{Category, Code, Phase, Status};
pub use machine::Advice;
pub use pages::page;
pub use query::{descriptor, explain, list};

/// The areas of the table, in no particular order.
const AREAS: &[&[Code]] = &[
    document::CODES,
    composition::CODES,
    window::CODES,
    source::CODES,
    aggregate::CODES,
    failure::CODES,
    storage::CODES,
    sink::CODES,
    envelope::CODES,
    format::CODES,
    warning::CODES,
];

/// Every registered code, sorted by its text.
pub fn all() -> &'static [&'static Code] {
    static SORTED: OnceLock<Vec<&'static Code>> = OnceLock::new();
    SORTED.get_or_init(|| {
        let mut codes: Vec<&'static Code> = AREAS.iter().flat_map(|area| area.iter()).collect();
        codes.sort_by_key(|code| code.id);
        codes
    })
}

/// The entry of a code, spelled exactly as it is printed.
pub fn lookup(id: &str) -> Option<&'static Code> {
    let codes = all();
    codes.binary_search_by_key(&id, |code| code.id).ok().map(|at| codes[at])
}

#[cfg(test)]
mod tests;
