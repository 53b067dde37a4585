//! Tests of whole documents, over a format of their own.

mod branches;
mod document;
mod documents;
mod errors;
mod explain;
mod failures;
mod formats;
mod graph;
mod log;
mod mutations;
mod node;
mod schema;
mod sink;
mod toy;
mod toy_levels;

use std::path::Path;

use clinker_diagnostics::{Diagnostic, codes};

use crate::{CompileRequest, Compiled, CompiledPlan, Operator, SinkPlan, SourcePlan, TransformPlan};

/// A Source, a Transform and a Sink; tests replace parts of it.
const FEED: &str = "\
pipeline: { name: feed }
nodes:
  - type: source
    name: orders
    config:
      name: orders
      type: toy
      path: in/orders.toy
      schema:
        - { name: id, type: int }
        - { name: qty, type: int }
        - { name: note, type: string }
  - type: transform
    name: price
    input: orders
    config: { cxl: \"emit total = qty * 2\" }
  - type: sink
    name: out
    input: price
    config: { name: out, type: toy, path: out.toy }
";

fn request(text: &str, base: &Path) -> CompileRequest {
    CompileRequest {
        shown: "p.yaml".to_string(),
        path: base.join("p.yaml"),
        bytes: text.as_bytes().to_vec(),
        base_dir: None,
        allow_absolute_paths: false,
        env: Box::new(|name| match name {
            "REGION" => Some("coast".to_string()),
            "SECRET" => Some("hush".to_string()),
            "LINES" => Some("a\nb".to_string()),
            _ => None,
        }),
        memory_limit: None,
        registry: clinker_format::Registry::built_in(),
        loader: Box::new(toy::ToyLoader),
        now: 0,
    }
}

fn compile(text: &str) -> Compiled {
    crate::compile(request(text, Path::new("/no/such/base")))
}

/// The plan of a document without any fault.
fn plan(text: &str) -> CompiledPlan {
    let compiled = compile(text);
    assert!(compiled.diagnostics.is_empty(), "{:#?}", compiled.diagnostics);
    compiled.plan.expect("a plan")
}

fn source(plan: &CompiledPlan) -> &SourcePlan {
    plan.nodes
        .iter()
        .find_map(|node| if let Operator::Source(source) = &node.operator { Some(source) } else { None })
        .expect("a source")
}

fn transform(plan: &CompiledPlan) -> &TransformPlan {
    plan.nodes
        .iter()
        .find_map(|node| if let Operator::Transform(transform) = &node.operator { Some(transform) } else { None })
        .expect("a transform")
}

fn sink(plan: &CompiledPlan) -> &SinkPlan {
    plan.nodes
        .iter()
        .find_map(|node| if let Operator::Sink(sink) = &node.operator { Some(sink) } else { None })
        .expect("a sink")
}

fn columns(sink: &SinkPlan) -> Vec<&str> {
    sink.projection.columns.iter().map(|column| &*column.name).collect()
}

/// `FEED` with one part replaced.
fn feed(part: &str, by: &str) -> String {
    assert!(FEED.contains(part), "{part:?} is no part of the feed");
    FEED.replacen(part, by, 1)
}

fn place(diagnostic: &Diagnostic) -> Option<(usize, usize)> {
    diagnostic.labels.first().map(|label| label.source.position(label.span.start))
}

/// Compiles a text in which `‹` stands before each place that is to be reported, in order. Each report has the code
/// and its message or help the fragment; there is no other report, and a plan only without errors.
fn expect(marked: &str, wanted: &[(&str, &str)]) {
    let mut text = String::new();
    let mut places = Vec::new();
    for (at, piece) in marked.split('‹').enumerate() {
        if at > 0 {
            let line = text.matches('\n').count() + 1;
            let column = text.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
            places.push((line, column));
        }
        text.push_str(piece);
    }
    let compiled = compile(&text);
    let shown = || {
        let reports =
            compiled.diagnostics.iter().map(|d| format!("{:?} {:?} {} / {:?}", d.code, place(d), d.message, d.help));
        format!("{text}\n{:#?}", reports.collect::<Vec<_>>())
    };
    assert_eq!(compiled.diagnostics.len(), wanted.len(), "{}", shown());
    assert_eq!(places.len(), wanted.len(), "one mark for each report");
    for ((diagnostic, (code, fragment)), position) in compiled.diagnostics.iter().zip(wanted).zip(places) {
        assert_eq!(diagnostic.code, Some(*code).filter(|code| !code.is_empty()), "{}", shown());
        assert_eq!(place(diagnostic), Some(position), "{}", shown());
        let said = format!("{} {}", diagnostic.message, diagnostic.help.as_deref().unwrap_or_default());
        assert!(said.contains(fragment), "{fragment:?} is not in {said:?}");
        assert!(
            diagnostic.code.is_none_or(|code| codes::lookup(code).is_some()),
            "unregistered: {:?}",
            diagnostic.code
        );
    }
    let failed = compiled.diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(compiled.plan.is_none(), failed, "{}", shown());
}
