//! The table keeps its own promises.

use super::*;

#[test]
fn dia_11_codes_are_unique_and_sorted() {
    let codes = all();
    assert!(codes.windows(2).all(|pair| pair[0].id < pair[1].id));
    for code in codes {
        assert_eq!(lookup(code.id).map(|found| found.id), Some(code.id));
    }
    assert!(lookup("E999").is_none() && lookup("e126").is_none());
}

#[test]
fn dia_11_numbers_that_are_not_assigned_are_absent() {
    let unassigned = ["E005", "E100", "E105", "E151", "E170", "E369", "E398", "E399", "E999", "W400", "W406"];
    for id in unassigned.iter().copied().chain((379..=389).map(|n| &*Box::leak(format!("E{n}").into_boxed_str()))) {
        assert!(lookup(id).is_none(), "{id} is not assigned");
    }
}

#[test]
fn dia_14_descriptor_has_seven_lines_in_order() {
    let names = ["Code", "Severity", "Status", "Category", "Retryability", "Meaning", "Correction"];
    for code in all() {
        let text = descriptor(code.id).unwrap();
        let heads: Vec<&str> = text.lines().map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(heads, names, "{}", code.id);
    }
}

#[test]
fn dia_14_retryability_follows_the_machine_code() {
    let cases = [
        ("E000", Advice::DoNotRetry),
        ("W307", Advice::DoNotRetry),
        ("E310", Advice::PolicyRequired),
        ("E312", Advice::DoNotRetry),
        ("E320", Advice::PolicyRequired),
        ("E321", Advice::RetryWithBackoff),
        ("E371", Advice::PolicyRequired),
        ("E372", Advice::RetryWithBackoff),
        ("E432", Advice::RetryWithBackoff),
        ("E468", Advice::PolicyRequired),
        ("E126", Advice::DoNotRetry),
    ];
    for (id, advice) in cases {
        assert_eq!(lookup(id).unwrap().advice(), advice, "{id}");
    }
    for code in all() {
        assert!(code.machine.iter().all(|id| machine::lookup(id).is_some()), "{}: unregistered machine code", code.id);
        if code.phases == [Phase::Compile] {
            assert_eq!(code.advice(), Advice::DoNotRetry, "{}", code.id);
        }
    }
}

#[test]
fn dia_19_machine_codes_are_unique_and_sorted() {
    assert!(machine::FAILURES.windows(2).all(|pair| pair[0].id < pair[1].id));
}

#[test]
fn dia_20_exits_agree_with_the_machine_code() {
    for code in all() {
        for exit in code.exits {
            assert!(
                code.machine.iter().any(|id| machine::lookup(id).unwrap().exits.contains(exit)),
                "{} ends with {exit}, none of its machine codes does",
                code.id
            );
        }
    }
}

#[test]
fn dia_12_warnings_have_no_exit() {
    for code in all() {
        assert_eq!(code.id.starts_with('W'), code.severity == crate::Severity::Warning, "{}", code.id);
        assert!(!code.id.starts_with('W') || code.exits.is_empty(), "{}", code.id);
    }
}

#[test]
fn dia_16_category_follows_from_the_code() {
    let cases = [
        ("W002", Category::Advisory),
        ("E-SEC-001", Category::Security),
        ("E376", Category::TerminalAuthoring),
        ("E000", Category::Configuration),
        ("E377", Category::Configuration),
        ("E460", Category::Configuration),
        ("E468", Category::ExecutionAndFormat),
        ("E126", Category::Composition),
        ("E201", Category::SourceAndExpression),
        ("E395", Category::SourceAndExpression),
        ("E394", Category::ExecutionAndFormat),
        ("E420", Category::ExecutionAndFormat),
    ];
    for (id, category) in cases {
        assert_eq!(lookup(id).unwrap().category(), category, "{id}");
    }
}

#[test]
fn dia_15_filters_choose_and_refuse() {
    let retired = list(Some("retired-reserved"), None).unwrap();
    let codes: Vec<&str> = retired.lines().filter_map(|line| line.strip_prefix("Code: ")).collect();
    assert_eq!(codes, ["E110", "E150", "E302", "E307", "E376", "W100"]);
    assert_eq!(list(None, None).unwrap().matches("\n\nCode: ").count(), all().len() - 1);
    assert_eq!(list(None, Some("security")).unwrap().matches("Code: ").count(), 1);
    assert!(list(Some(""), None).unwrap_err().contains("active, retired-reserved"));
    assert!(list(None, Some("securty")).unwrap_err().contains("did you mean `security`?"));
    assert!(list(Some("retired-reserved"), Some("security")).is_err());
    assert!(explain("E999").unwrap_err().contains("E-SEC-001, E000, E001"));
}

#[test]
fn dia_12_explain_ends_with_the_page_or_says_that_there_is_none() {
    assert!(explain("E110").unwrap().ends_with("\nDetail page: none; the descriptor above is authoritative.\n"));
    for id in pages::PAGES {
        let text = explain(id).unwrap();
        assert!(text.contains("\nDetail page:\n\n# "), "{id}");
    }
}

#[test]
fn dia_17_pages_have_five_parts() {
    for id in pages::PAGES {
        assert!(lookup(id).is_some(), "{id} has a page and no entry");
        let page = page(id).unwrap();
        assert!(page.starts_with(&format!("# {id}: ")), "{id}: heading");
        let parts: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(parts, ["Meaning", "Example", "Fix", "Technical context", "Related"], "{id}");
    }
}
