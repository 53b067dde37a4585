//! Reports, byte for byte.

use super::*;
use crate::Span;

const YAML: &str = "pipeline: { name: orders }\nnodes:\n  - type: source\n    name: orders\n    confg: {}\n";

fn at(source: &Arc<SourceText>, word: &str) -> Span {
    let start = source.text.find(word).unwrap();
    Span::new(start, start + word.len())
}

fn plain(diagnostic: &Diagnostic) -> String {
    render(diagnostic, Style { color: false, width: 80 })
}

#[test]
fn dia_3_the_authored_line_is_quoted_and_underlined() {
    let source = SourceText::new("pipeline.yaml", YAML);
    let report = Diagnostic::error("E110", "node 'orders': unknown key `confg`")
        .label(&source, at(&source, "confg"), "declared here")
        .help("did you mean `config`?");
    assert_eq!(
        plain(&report),
        "E110

  × node 'orders': unknown key `confg`
   ╭─[pipeline.yaml:5:5]
 4 │     name: orders
 5 │     confg: {}
   ·     ──┬──
   ·       ╰── declared here
   ╰────
  help: did you mean `config`?
"
    );
}

#[test]
fn dia_3_a_second_place_is_a_related_location() {
    let source = SourceText::new("p.yaml", "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\na: 7\n");
    let second = source.text.rfind('a').unwrap();
    let report = Diagnostic::error("E150", "duplicate key `a`")
        .label(&source, Span::new(second, second + 1), "declared here")
        .label(&source, Span::new(0, 1), "related location");
    assert_eq!(
        plain(&report),
        "E150

  × duplicate key `a`
   ╭─[p.yaml:1:1]
 1 │ a: 1
   · ┬
   · ╰── related location
 2 │ b: 2
   ╰────
   ╭─[p.yaml:7:1]
 6 │ f: 6
 7 │ a: 7
   · ┬
   · ╰── declared here
   ╰────
"
    );
}

#[test]
fn dia_3_a_place_in_another_document_is_a_block_of_its_own() {
    let pipeline = SourceText::new("p.yaml", "schema: orders.yaml\n");
    let schema = SourceText::new("orders.yaml", "- name: qty\n  type: imt\n");
    let report = Diagnostic::error("E150", "unknown type `imt`")
        .label(&pipeline, at(&pipeline, "orders.yaml"), "declared here")
        .label(&schema, at(&schema, "imt"), "related location")
        .help("did you mean `int`?");
    assert_eq!(
        plain(&report),
        "E150

  × unknown type `imt`
   ╭─[p.yaml:1:9]
 1 │ schema: orders.yaml
   ·         ─────┬─────
   ·              ╰── declared here
   ╰────

  ☞ related location
   ╭─[orders.yaml:2:9]
 1 │ - name: qty
 2 │   type: imt
   ·         ─┬─
   ·          ╰── related location
   ╰────
  help: did you mean `int`?
"
    );
}

#[test]
fn dia_1_a_report_without_labels_is_code_message_help() {
    let report = Diagnostic::warning("W002", "node names 'Orders' and 'orders' differ only in case").help("rename one");
    assert_eq!(
        plain(&report).lines().take(4).collect::<Vec<_>>(),
        ["W002", "", "  ⚠ node names 'Orders' and 'orders' differ only in case", "  help: rename one"]
    );
    assert_eq!(plain(&Diagnostic::uncoded("no terminal")), "  × no terminal\n");
}

#[test]
fn dia_3_columns_count_characters() {
    let source = SourceText::new("p.yaml", "naïve: größe x\n");
    let report = Diagnostic::error("E150", "m").label(&source, at(&source, "x"), "declared here");
    assert!(plain(&report).contains("[p.yaml:1:14]"), "{}", plain(&report));
}

#[test]
fn dia_4_pasteable_lines_are_not_wrapped() {
    let report = Diagnostic::error("E150", "a message that is long enough to need a second line at such a small width")
        .help("write for instance the following lines:\n  error_handling: { strategy: continue, dlq: { path: \"out/rejects.csv\" } }");
    assert_eq!(
        render(&report, Style { color: false, width: 40 }),
        "E150

  × a message that is long enough to
  │ need a second line at such a small
  │ width
  help: write for instance the following
        lines:
          error_handling: { strategy: continue, dlq: { path: \"out/rejects.csv\" } }
"
    );
}

#[test]
fn dia_10_control_characters_never_reach_the_terminal() {
    let source = SourceText::new("p\u{1b}.yaml", "key: \u{1b}[31m\u{202e}\u{85}value\r\nnext: 1\r\n");
    let report = Diagnostic::error("E150", "bad \u{7} value \u{9b}1m")
        .label(&source, at(&source, "value"), "declared \u{8}here")
        .help("no \u{1b}]8;; here");
    let drawn = plain(&report);
    assert!(!drawn.chars().any(|c| c != '\n' && acts_on_terminal(c)), "{drawn:?}");
    assert!(drawn.contains("key: ?[31m\u{fffd}·value"), "{drawn}");
}

#[test]
fn ranges_outside_of_the_text_are_brought_inside() {
    let source = SourceText::new("p.yaml", "é");
    for span in [Span::new(1, 2), Span::new(5, 9), Span::new(2, 0), Span::new(2, 2)] {
        let report = Diagnostic::error("E150", "m").label(&source, span, "here");
        assert!(plain(&report).contains("p.yaml:1:"), "{span:?}: {}", plain(&report));
    }
    let empty = SourceText::new("empty.yaml", "");
    let report = Diagnostic::error("E150", "the document is empty").label(&empty, Span::new(0, 0), "here");
    assert!(plain(&report).contains("empty.yaml:1:1"), "{}", plain(&report));
}

#[test]
fn color_is_asked_for() {
    let report = Diagnostic::error("E150", "m");
    assert!(render(&report, Style { color: true, width: 80 }).contains('\u{1b}'));
    assert!(!plain(&report).contains('\u{1b}'));
}

#[test]
fn dia_5_the_command_is_named_once_and_only_for_codes_with_a_page() {
    let with_page = |text: &str| help(&Diagnostic::error("E126", "m").help(text)).unwrap();
    assert_eq!(with_page("fix it"), "fix it\nSee: clinker explain --code E126");
    assert_eq!(with_page("run `clinker explain --code E126`"), "run `clinker explain --code E126`");
    assert_eq!(help(&Diagnostic::error("E110", "m").help("fix it")).unwrap(), "fix it");
}

#[test]
fn dia_4_a_report_without_a_help_of_its_own_gives_the_registered_correction() {
    let correction = codes::lookup("E421").unwrap().correction;
    for report in [Diagnostic::error("E421", "m"), Diagnostic::error("E421", "m").help(" ")] {
        assert_eq!(help(&report).unwrap(), format!("{correction}\nSee: clinker explain --code E421"));
    }
    assert_eq!(help(&Diagnostic::uncoded("m")), None);
}

#[test]
fn dia_4_a_correction_that_refers_to_a_list_does_not_stand_for_one() {
    let mut skipped = 0;
    for code in codes::all().iter().filter(|code| code.status == codes::Status::Active) {
        let text = help(&Diagnostic::error(code.id, "m"));
        let words = text.iter().flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric()));
        assert!(!words.into_iter().any(|word| word == "listed"), "{}: {text:?}", code.id);
        skipped += usize::from(code.corrects_by_list());
    }
    assert!(skipped > 5, "the table has such corrections");
    let own = Diagnostic::error("E400", "m").help("the formats are csv and json");
    assert!(help(&own).unwrap().starts_with("the formats are"));
    assert_eq!(help(&Diagnostic::error("E400", "m")).unwrap(), "See: clinker explain --code E400");
}
