//! Every example of every function runs.

use crate::eval::oracle::{one_row, show};
use crate::{Scope, Want, compile_expression};

#[test]
fn cxl_10_every_example_of_every_function() {
    for function in super::ALL {
        assert!(!function.doc.is_empty(), "{} has no text", function.name);
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

/// The value of an expression without columns, as the specification writes it.
pub(crate) fn evaluate(text: &str) -> String {
    let (expression, diagnostics) = compile_expression(text, &Scope::default(), Want::Any);
    let Some(expression) = expression else {
        let first = diagnostics.first().expect("a refusal has a reason");
        return format!("{}: {}", first.code.unwrap_or("no code"), first.message);
    };
    let (batch, run) = one_row();
    let (column, errors) = expression.evaluate(&batch, &run);
    match errors.first() {
        Some((_, error)) => format!("✗ {}", error.kind.id().trim_start_matches("cxl::eval::")),
        None => show(&column.value(0)),
    }
}
