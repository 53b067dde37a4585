//! Sections of documents, `$doc`, generated columns, one envelope a file.

use clinker_record::Type;

use super::*;

/// A Source of segments, a Transform and a Sink; tests fill the gaps.
fn segments(config: &str, cxl: &str) -> String {
    format!(
        "\
pipeline: {{ name: feed }}
nodes:
  - type: source
    name: sets
    config:
      name: sets
      type: segments
      path: in/sets.seg
      schema: [ {{ name: e01, type: string }} ]
      {config}
  - type: transform
    name: tag
    input: sets
    config: {{ cxl: \"{cxl}\" }}
  - type: sink
    name: out
    input: tag
    config: {{ name: out, type: toy, path: out.toy }}
"
    )
}

const HEAD: &str =
    "envelope: { sections: { head: { extract: { segment: HDR }, fields: { e13: int, note: string } } } }";

/// The Source of segments with another `envelope`.
fn enveloped(sections: &str) -> String {
    segments(&format!("envelope: {{ sections: {{ {sections} }} }}"), "emit a = 1")
}

/// The same with another format, which reads no options.
fn of_format(format: &str, envelope: &str, cxl: &str) -> String {
    segments(envelope, cxl).replace("type: segments", &format!("type: {format}"))
}

fn kinds(plan: &CompiledPlan) -> Vec<(String, bool, Vec<String>)> {
    let documents = &source(plan).documents;
    let section = |section: &crate::SectionPlan| match &section.fields {
        None => format!("{}: any", section.name),
        Some(fields) => {
            let fields = fields.iter().map(|field| {
                format!("{} {}{}", field.rule.name, field.rule.ty.kind.word(), if field.read { "" } else { " unread" })
            });
            format!("{}: {}", section.name, fields.collect::<Vec<_>>().join(", "))
        }
    };
    let levels = documents.levels.iter();
    levels.map(|level| (level.name.to_string(), level.file, level.sections.iter().map(section).collect())).collect()
}

#[test]
fn pipeline_12_2_sections_of_file_and_levels() {
    let group = "options: { group_section: { name: gs, fields: { e06: int } } }\n      ";
    let plan = plan(&segments(&format!("{group}{HEAD}"), "emit a = $doc.head.e13 + $doc.gs.e06"));
    let text = |texts: &[&str]| texts.iter().map(|text| (*text).to_string()).collect::<Vec<_>>();
    assert_eq!(
        kinds(&plan),
        [
            ("interchange".to_string(), true, text(&["head: e13 int, note string unread"])),
            ("group".to_string(), false, text(&["gs: e06 int"])),
            ("set".to_string(), false, text(&["set: any"])),
        ]
    );
    assert_eq!(source(&plan).documents.levels[0].sections[0].extract.as_deref(), Some("HDR"));
    // A value of a document is known at run time only.
    assert_eq!(transform(&plan).program.emits()[0].1.kind, clinker_record::Kind::Any);
}

#[test]
fn pipeline_12_2_every_text_of_a_node_counts_as_reading() {
    let checks = "cxl: \"emit a = 1\", validations: [ { check: \"$doc.head.note != 'x'\" } ], \
                  log: [ { name: n, level: info, when: per_record, every: 1, message: m, condition: \"$doc.head.e13 > 1\" } ]";
    let text = segments(HEAD, "emit a = 1").replace("cxl: \"emit a = 1\"", checks);
    assert_eq!(kinds(&plan(&text))[0].2, ["head: e13 int, note string"]);
    let route = "type: route\n    name: tag\n    input: sets\n    config: { conditions: { big: \"$doc.head.e13 > 7\" }, default: rest }";
    let text = segments(HEAD, "emit a = 1")
        .replace("type: transform\n    name: tag\n    input: sets\n    config: { cxl: \"emit a = 1\" }", route)
        .replace("input: tag", "input: tag.big");
    assert_eq!(kinds(&plan(&text))[0].2, ["head: e13 int, note string unread"]);
}

#[test]
fn e357_the_locator_of_a_section_of_segments() {
    expect(&enveloped("h: { extract: { segment: ‹HDX } }"), &[("E357", "did you mean `HDR`?")]);
    expect(&enveloped("h: { extract: { segment: ‹GRP } }"), &[("E357", "the header of the file is HDR")]);
    expect(&enveloped("h: { extract: { xml_path: ‹/a } }"), &[("E357", "write `segment`")]);
    expect(&enveloped("h: { extract: ‹{} }"), &[("E000", "exactly one of")]);
    expect(&enveloped("h: { extract: ‹{ segment: HDR, xml_path: a } }"), &[("E000", "exactly one of")]);
    expect(&enveloped("h: { extract: { ‹tag: HDR } }"), &[("E000", "unknown key `tag`")]);
    expect(&enveloped("h: { extract: { segment: HDR }, fields: { a: ‹decimal } }"), &[("E000", "type of field `a`")]);
    expect(&enveloped("‹a-b: { extract: { segment: HDR } }"), &[("E000", "`a-b` is no identifier")]);
    expect(&enveloped("h: ‹{ fields: { a: int } }"), &[("E000", "lacks the key `extract`")]);
}

/// A Source of `tree` with a section at this place.
fn tree(pointer: &str) -> String {
    of_format("tree", &format!("envelope: {{ sections: {{ h: {{ extract: {{ {pointer} }} }} }} }}"), "emit a = 1")
}

#[test]
fn e222_a_pointer_that_is_none() {
    expect(&tree("json_pointer: ‹manifest"), &[("E222", "no JSON pointer")]);
    expect(&tree("json_pointer: ‹/a~2b"), &[("E222", "no JSON pointer")]);
    plan(&tree("json_pointer: ''"));
    plan(&tree("json_pointer: /a~0b/~1"));
}

#[test]
fn e413_a_locator_of_another_format() {
    expect(&tree("segment: ‹HDR"), &[("E413", "write `json_pointer`")]);
}

#[test]
fn e356_a_flat_file_is_no_document() {
    let block = "‹envelope: { sections: { h: { extract: { record_type: H } } } }";
    expect(&of_format("flat", block, "emit a = 1"), &[("E356", "format `flat`")]);
    expect(
        &of_format("toy", block, "emit a = 1"),
        &[("E000", "`envelope` of a source of format `toy` is not available")],
    );
}

#[test]
fn e406_two_sections_of_one_name() {
    let head = |name: &str| format!("envelope: {{ sections: {{ {name}: {{ extract: {{ segment: HDR }} }} }} }}");
    expect(&segments(&head("‹group"), "emit a = 1"), &[("E406", "level `group`")]);
    let options = |text: &str| segments(&format!("options: {text}"), "emit a = 1");
    expect(&options("‹{ group_section: { name: set } }"), &[("E406", "level `set`")]);
    // Names that the user gave twice are meant to be so.
    let text = segments(&format!("options: {{ set_section: {{ name: head }} }}\n      {}", head("head")), "emit a = 1");
    let compiled = compile(&text);
    let reports: Vec<_> = compiled.diagnostics.iter().map(|found| (found.severity, &*found.message)).collect();
    assert!(compiled.plan.is_some(), "{reports:?}");
    assert!(
        matches!(&*reports, [(clinker_diagnostics::Severity::Note, said)] if said.contains("which it hides inside")),
        "{reports:?}"
    );
}

#[test]
fn e348_doc_paths_of_positional_formats() {
    let with = |path: &str| segments(HEAD, &format!("emit a = ‹$doc.{path}"));
    let fine = |path: &str| plan(&segments(HEAD, &format!("emit a = $doc.{path}")));
    expect(&with("hed.e13"), &[("E348", "did you mean `head`?")]);
    expect(&with("nothing.e13"), &[("E348", "its sections are `head`, `group`, `set`")]);
    expect(&with("head.e7"), &[("E348", "elements are `e01` to `e32`")]);
    expect(&with("group.e33"), &[("E348", "elements are `e01` to `e32`")]);
    expect(&with("group.note"), &[("E348", "section `group` of source `sets` has no `note`")]);
    for path in ["head.note", "head.e32", "group.e06", "set.e01"] {
        fine(path);
    }
    expect(&segments("options: { max_elements: 2 }", "emit a = ‹$doc.set.e03"), &[("E348", "`e01` to `e02`")]);
}

#[test]
fn e341_doc_paths_of_closed_and_open_formats() {
    let block = "envelope: { sections: { h: { extract: { json_pointer: /h }, fields: { run: int } } } }";
    expect(&of_format("tree", block, "emit a = ‹$doc.h.rum"), &[("E341", "did you mean `run`?")]);
    expect(&of_format("tree", block, "emit a = ‹$doc.other.run"), &[("E341", "its sections are `h`")]);
    plan(&of_format("tree", block, "emit a = $doc.h.run"));
    // A format that has no sections yet, and whose names are closed.
    expect(&of_format("toy", "", "emit a = ‹$doc.h.run"), &[("E341", "source `sets` has no section `h`")]);
    plan(&of_format("flat", "", "emit a = $doc.anything.at_all"));
}

#[test]
fn e340_an_index_must_be_a_literal() {
    let with = |index: &str| segments(HEAD, &format!("let i = 0\\nemit a = $doc.head.note{index}"));
    expect(&with("[‹i]"), &[("E340", "must be a literal")]);
    expect(&with("[0]['x'].y[‹1 + 1]"), &[("E340", "bind the value first")]);
    plan(&with("[0]['x'].y[-1]"));
}

#[test]
fn pipeline_12_3_each_source_above_must_have_the_path() {
    let text = |cxl: &str| {
        segments(HEAD, cxl).replace("    input: sets\n", "    input: both\n")
            + "  - type: source
    name: trees
    config:
      name: trees
      type: tree
      path: in/t.tree
      schema: [ { name: e01, type: string } ]
      envelope: { sections: { head: { extract: { json_pointer: /head }, fields: { e13: int } } } }
  - type: merge
    name: both
    inputs: [ sets, trees ]
"
    };
    let whole = plan(&text("emit a = $doc.head.e13"));
    let read = whole.nodes.iter().filter_map(|node| match &node.operator {
        Operator::Source(source) => source.documents.levels[0].sections[0].fields.as_ref().map(|fields| fields[0].read),
        _ => None,
    });
    assert_eq!(read.collect::<Vec<_>>(), [true, true]);
    expect(&text("emit a = ‹$doc.group.e01"), &[("E341", "source `trees` has no section `group`")]);
}

#[test]
fn formats_1_3_generated_columns() {
    let generated =
        |schema: &str, rest: &str| segments(rest, "emit a = 1").replace("[ { name: e01, type: string } ]", schema);
    let text = generated("{ generated: {} }", "options: { max_elements: 2 }");
    let plan = plan(&text);
    let columns = &plan.nodes[0].schema.columns;
    let text = Type::nullable(clinker_record::Kind::String);
    assert_eq!(columns.as_slice(), ["seg_id", "e01", "e02"].map(|name| (name.into(), text)));
    assert_eq!(source(&plan).columns.len(), 3);
    assert!(!plan.nodes[0].widened, "every field is declared");
    expect(&generated("{ generated: ‹[] }", ""), &[("E000", "`generated` of `schema` must be a map")]);
    expect(&generated("{ generated: { ‹a: 1 } }", ""), &[("E000", "unknown key `a`")]);
    expect(&generated("{ generated: {}, ‹x: 1 }", ""), &[("E000", "unknown key `x`")]);
    let sink = segments("", "emit a = 1").replace("path: out.toy", "path: out.toy, schema: ‹{ generated: {} }");
    expect(&sink, &[("E159", "list the columns")]);
}

#[test]
fn e407_a_column_that_the_format_cannot_make() {
    let listed = |columns: &str| segments("", "emit a = 1").replace("[ { name: e01, type: string } ]", columns);
    expect(&listed("[ ‹{ name: amount, type: int } ]"), &[("E407", "its fields are `seg_id` to `e32`")]);
    expect(
        &listed("[ { name: id, source_name: seg_id, type: string }, ‹{ name: e9, type: int } ]"),
        &[("E407", "did you mean")],
    );
    plan(&listed("[ { name: amount, source_name: e04, type: int } ]"));
}

#[test]
fn e355_documents_that_would_merge() {
    let sink = |text: &str| {
        text.replace(
            "name: out\n    input: tag\n    config: { name: out, type: toy",
            "name: out\n    input: tag\n    config: { name: out, type: segments",
        )
        .replace("    name: out\n    input", "    name: ‹out\n    input")
    };
    let clean = |text: &str| text.replace('‹', "");
    let one = sink(&segments("", "emit a = 1"));
    plan(&clean(&one));
    let listed = |paths: &str| one.replace("path: in/sets.seg", paths);
    expect(&listed("paths: [ a.seg, b.seg ]"), &[("E355", "source `sets` feeds it from 2 files")]);
    plan(&clean(&listed("paths: [ a.seg ]")));
    // What a pattern finds is known at run time only.
    plan(&clean(&listed("glob: 'in/*.seg'")));
    plan(&clean(&listed("paths: [ a.seg, b.seg ]").replace("path: out.toy", "path: 'out/{source_file}.seg'")));
    let merged = one.replace("    input: sets\n", "    input: both\n")
        + "  - type: source\n    name: more\n    config:\n      name: more\n      type: segments\n      path: in/more.seg\n      \
           schema: [ { name: e01, type: string } ]\n  - type: merge\n    name: both\n    inputs: [ sets, more ]\n";
    expect(&merged, &[("E355", "merge `both` feeds it from 2 inputs")]);
}

#[test]
fn explain_shows_levels_and_their_sections() {
    let plan = plan(&segments(HEAD, "emit a = $doc.head.e13"));
    let settings = crate::ExplainSettings { threads: 1 };
    let text = crate::explain_text(&plan, &settings);
    let wanted = "\n[source] sets\n  level interchange: head from HDR (e13 int, note string)\n  level group: group (every field)\n";
    assert!(text.contains(wanted), "{text}");
    let json: serde_json::Value = serde_json::from_str(&crate::explain_json(&plan, &settings)).expect("JSON");
    let head = &json["nodes"][0]["levels"][0]["sections"][0];
    assert_eq!(head["fields"][0], serde_json::json!({ "name": "e13", "type": "int", "read": true }));
    assert_eq!((&head["fields"][1]["read"], &head["extract"]), (&false.into(), &"HDR".into()));
}
