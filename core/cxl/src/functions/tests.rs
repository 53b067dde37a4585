//! Every example of every function runs.

use crate::Scope;
use crate::check::check_program;
use crate::eval::oracle::{one_row, show};
use crate::eval::{Budget, run_expression};

#[test]
fn cxl_10_every_example_of_every_function() {
    for function in super::ALL {
        assert!(!function.doc.is_empty(), "{} has no text", function.name);
        assert!(!function.examples.is_empty(), "{} has no example", function.name);
        for (text, expected) in function.examples {
            assert_eq!(evaluate(text), *expected, "{text}");
        }
    }
}

#[test]
fn cxl_10_functions_are_sorted_and_documented() {
    let names: Vec<&str> = super::function_docs().iter().map(|doc| doc.name).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
    let substring = super::find("substring").expect("it is in the table");
    assert_eq!(substring.signature(), "substring(start: Int [, len: Int])");
    assert_eq!(
        super::find("pad_left").expect("it is in the table").signature(),
        "pad_left(width: Int [, pad: String])"
    );
    assert_eq!(super::find("to_date").expect("it is in the table").signature(), "to_date([fmt: String])");
    assert_eq!(super::find("concat").expect("it is in the table").signature(), "concat(s: String, …)");
}

/// The reference page, written from the table.
fn page() -> String {
    let docs = super::function_docs();
    let mut page = "# Functions\n\nThis page is written from the functions themselves; every example on it is run by a test. See \
                    [Expressions](expressions.md) for the language around them.\n\nA function that is called on null is \
                    null, and so is one with a null argument or a value of an unsuitable type, unless its text says \
                    otherwise.\n\n| Called on | Functions |\n|---|---|\n"
        .to_owned();
    let mut receivers: Vec<&str> = docs.iter().map(|doc| doc.receiver.as_str()).collect();
    receivers.sort_unstable();
    receivers.dedup();
    for receiver in receivers {
        let link = |doc: &crate::FunctionDoc| format!("[`{0}`](#{0})", doc.name);
        let names: Vec<String> = docs.iter().filter(|doc| doc.receiver == receiver).map(link).collect();
        page.push_str(&format!("| {receiver} | {} |\n", names.join(" ")));
    }
    for doc in &docs {
        page.push_str(&format!("\n## {}\n\n`{}` on {}\n\n{}\n\n", doc.name, doc.signature, doc.receiver, doc.text));
        for (expression, value) in doc.examples {
            page.push_str(&format!("- `{expression}` is `{value}`\n"));
        }
    }
    page
}

#[test]
fn the_reference_page_shows_the_functions_as_they_are() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/functions.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, page()).expect("the page can be written");
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page(), "docs/src/reference/functions.md is not up to date: run this test with UPDATE=1");
}

/// The value of an expression without columns, as the specification writes it.
pub(crate) fn evaluate(text: &str) -> String {
    let (body, diagnostics) = check_program(&format!("emit value = {text}"), &Scope::default());
    let Some(body) = body else {
        let first = diagnostics.first().expect("a refusal has a reason");
        return format!("{}: {}", first.code.unwrap_or("no code"), first.message);
    };
    let (batch, run) = one_row();
    let (column, errors) =
        run_expression(body.steps[0].node(), &batch, &run, &Budget::new(usize::MAX)).expect("the budget is infinite");
    match errors.first() {
        Some((_, error)) => format!("✗ {}", error.kind.id().trim_start_matches("cxl::eval::")),
        None => show(&column.value(0)),
    }
}
