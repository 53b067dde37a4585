//! What somebody may have meant who called a function that does not exist.

use clinker_diagnostics::suggestion;

use crate::functions;

/// Names that functions have in languages people come from, with ours.
const ELSEWHERE: [(&str, &str); 22] = [
    ("decimal", "to_decimal"),
    ("float", "to_float"),
    ("int", "to_int"),
    ("lcase", "lower"),
    ("len", "length"),
    ("like", "matches"),
    ("lowercase", "lower"),
    ("lpad", "pad_left"),
    ("lstrip", "trim_start"),
    ("ltrim", "trim_start"),
    ("parse_date", "to_date"),
    ("regex", "matches"),
    ("rpad", "pad_right"),
    ("rstrip", "trim_end"),
    ("rtrim", "trim_end"),
    ("str", "to_string"),
    ("strftime", "format_date"),
    ("strip", "trim"),
    ("strptime", "to_date"),
    ("substr", "substring"),
    ("ucase", "upper"),
    ("uppercase", "upper"),
];

/// Help for an unknown method.
pub(super) fn method(word: &str) -> Option<String> {
    if is_coalesce(word) {
        return Some(COALESCE.to_owned());
    }
    match elsewhere(word) {
        Some(ours) => Some(format!("it is called `{ours}`")),
        None => suggestion(word, functions::ALL.iter().map(|function| function.name)),
    }
}

/// Help for a call without a receiver.
pub(super) fn free(word: &str) -> Option<String> {
    if is_coalesce(word) {
        return Some(COALESCE.to_owned());
    }
    let ours = elsewhere(word).or_else(|| functions::find(word).map(|function| function.name));
    match ours {
        Some(ours) => Some(format!("functions are methods: write `value.{ours}(…)`")),
        None => {
            let near = method(word).map(|near| format!("; {near}")).unwrap_or_default();
            Some(format!("functions are methods of their first value: `value.name(…)`{near}"))
        }
    }
}

const COALESCE: &str = "`a ?? b` gives `b` where `a` is null";

fn is_coalesce(word: &str) -> bool {
    ["coalesce", "ifnull", "nvl"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn elsewhere(word: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(theirs, _)| word.eq_ignore_ascii_case(theirs)).map(|(_, ours)| *ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_languages_lead_to_functions_that_exist() {
        for (theirs, ours) in ELSEWHERE {
            assert!(functions::find(ours).is_some(), "{ours}");
            assert!(functions::find(theirs).is_none(), "{theirs} needs no translation");
        }
        assert_eq!(method("LEN").as_deref(), Some("it is called `length`"));
        assert_eq!(method("uper").as_deref(), Some("did you mean `upper`?"));
        assert_eq!(method("nvl").as_deref(), Some(COALESCE));
        assert_eq!(free("len").as_deref(), Some("functions are methods: write `value.length(…)`"));
        assert_eq!(free("trim").as_deref(), Some("functions are methods: write `value.trim(…)`"));
        let help = free("uper").expect("a help");
        assert!(help.ends_with("did you mean `upper`?"), "{help}");
        assert!(!free("frobnicate").expect("a help").contains("frobnicate"), "no promise that it exists as a method");
    }
}
