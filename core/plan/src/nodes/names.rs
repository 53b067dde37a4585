//! Names that references are made of: of nodes and of branches.

use std::sync::Arc;

use clinker_diagnostics::Span;

use crate::faults::{Fault, Faults};

/// Prefixes of names that the planner keeps for itself.
const RESERVED: [&str; 4] = ["__sort_for_", "__correlation_sort_", "__correlation_commit_", "__combine_"];

/// Checks one name of a `what`. Whether it is a name at all.
pub(crate) fn check(what: &str, name: &str, span: Span, faults: &mut Faults) -> bool {
    if name.is_empty() || name.chars().any(char::is_control) {
        faults.error("E000", span, format!("{what} name {name:?} is empty or has a control character"));
        return false;
    }
    if name.contains('.') {
        let fault = Fault::new("E010", span, format!("{what} name `{name}` contains a dot"));
        faults.push(fault.help(format!("name it `{}`", name.replace('.', "_"))));
    }
    if let Some(prefix) = RESERVED.iter().find(|prefix| name.starts_with(**prefix)) {
        let message = format!("{what} name `{name}` begins with the reserved prefix `{prefix}`");
        faults.push(Fault::new("E394", span, message).help("choose another name"));
    }
    true
}

/// Warns of two names, the second one declared later, that differ in case only.
pub(crate) fn differ_in_case(what: &str, first: (&Arc<str>, Span), second: (&Arc<str>, Span), faults: &mut Faults) {
    if first.0 != second.0 {
        let message = format!("the {what} names `{}` and `{}` differ in case only", first.0, second.0);
        faults.push(Fault::warning(Some("W002"), second.1, message).related(first.1));
    }
}
