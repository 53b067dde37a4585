//! Formats that workspace and document name.

use super::*;

/// A folder with files, and the compile of a document in it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Folder {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, content).expect("written");
        }
        Folder(folder)
    }

    fn compile(&self, text: &str) -> Compiled {
        crate::compile(request(text, self.0.path()))
    }

    /// Code, place and message of each report, with the file it stands in.
    fn reports(&self, text: &str) -> Vec<String> {
        let compiled = self.compile(text);
        let reports = compiled.diagnostics.iter().map(|found| {
            let place = found.labels.first().map_or(String::new(), |label| {
                let (line, column) = label.source.position(label.span.start);
                format!("{}:{line}:{column} ", label.source.name)
            });
            assert!(found.code.is_none_or(|code| codes::lookup(code).is_some()), "unregistered: {:?}", found.code);
            format!("{} {place}{}", found.code.unwrap_or("-"), found.message)
        });
        reports.collect()
    }
}

/// A feed from format `harbour` that names these formats.
fn harbour(formats: &str) -> String {
    format!(
        "{}formats: {{ {formats} }}\n",
        feed("type: toy\n      path: in/orders.toy", "type: harbour\n      path: in/o.txt")
    )
}

#[test]
fn pipeline_1_4_dialects_and_plugins_of_document_and_workspace() {
    let description = "dialect: harbour\nversion: 1\n";
    let folder = Folder::with(&[("d/h.yaml", description), ("lib/harbour.so", ""), ("lib/extra.so", "")]);
    for formats in
        ["dialects: [ d/h.yaml ]", "plugins: [ lib/harbour.so, lib/extra.so ]", "dialects: [ d/h.yaml, ./d/h.yaml ]"]
    {
        let compiled = folder.compile(&harbour(formats));
        assert!(compiled.diagnostics.is_empty(), "{formats}: {:?}", compiled.diagnostics);
        assert_eq!(source(&compiled.plan.expect("a plan")).format, "harbour");
    }
    // The workspace's come first, and a file that both name is loaded once.
    std::fs::write(folder.0.path().join("clinker.toml"), "[formats]\ndialects = [\"d/h.yaml\"]\n").expect("written");
    for formats in ["", "dialects: [ d/h.yaml ]"] {
        assert!(folder.reports(&harbour(formats)).is_empty());
    }
}

#[test]
fn e463_a_name_that_is_taken() {
    let folder = Folder::with(&[
        ("h.yaml", "dialect: harbour"),
        ("t.yaml", "dialect: toy"),
        ("harbour.so", ""),
        ("clinker.toml", "[formats]\nplugins = [\"harbour.so\"]"),
    ]);
    assert_eq!(
        folder.reports(&harbour("dialects: [ h.yaml, t.yaml ]")),
        [
            "E463 p.yaml:21:24 the format name `harbour` of dialect h.yaml is taken: it is registered by plugin harbour.so",
            "E463 p.yaml:21:32 the format name `toy` of dialect t.yaml is taken: it is built in",
        ]
    );
    std::fs::write(
        folder.0.path().join("clinker.toml"),
        "[formats]\nplugins = [\"harbour.so\"]\ndialects = [\"h.yaml\"]",
    )
    .expect("written");
    let reports = folder.reports(&harbour(""));
    assert!(matches!(&*reports, [only] if only.starts_with("E463 clinker.toml:3:13 ")), "{reports:?}");
}

#[test]
fn e460_files_that_are_not_there() {
    let folder = Folder::with(&[("d/h.yaml", "dialect: harbour")]);
    let reports = folder.reports(&harbour("dialects: [ d, no.yaml ], plugins: [ no.so ]"));
    // All of them, and no follow-up about the format that may be in one of them.
    assert_eq!(reports.len(), 3, "{reports:?}");
    assert_eq!(reports[0], "E460 p.yaml:21:24 the dialect `d` is no regular file");
    assert!(reports[1].starts_with("E460 p.yaml:21:27 the dialect `no.yaml` cannot be read: "), "{}", reports[1]);
    assert!(reports[2].starts_with("E460 p.yaml:21:49 the plugin `no.so` cannot be read: "), "{}", reports[2]);
    let reports = folder.reports(&harbour("dialects: [ ../h.yaml, /h.yaml ]"));
    assert!(reports.iter().all(|report| report.starts_with("E-SEC-001 ")) && reports.len() == 2, "{reports:?}");
    std::fs::write(folder.0.path().join("clinker.toml"), "[formats]\nplugins = [\"no.so\"]").expect("written");
    let reports = folder.reports(&harbour("dialects: [ d/h.yaml ]"));
    assert!(matches!(&*reports, [only] if only.starts_with("E460 clinker.toml:2:12 ")), "{reports:?}");
}

#[test]
fn e411_faults_of_a_description_stand_in_its_file() {
    let bad =
        "dialect: harbour\nlevels:\n  - { name: a, open: ABC }\n  - { name: b, open: TOO LONG }\n  - { name: c }\n";
    let folder = Folder::with(&[
        ("h.yaml", bad),
        ("twice.yaml", "dialect: a\ndialect: b\n"),
        ("broken.yaml", "dialect: [\n"),
        ("number.yaml", "dialect: harbour\nx: .inf\n"),
        ("empty.yaml", ""),
    ]);
    let said = |file: &str| folder.reports(&harbour(&format!("dialects: [ {file} ]")));
    assert_eq!(
        said("h.yaml"),
        [
            "E411 h.yaml:4:22 the dialect description `h.yaml`: `levels[1].open`: a tag has three letters",
            "E411 h.yaml:5:5 the dialect description `h.yaml`: `levels[2].open`: a tag has three letters",
        ]
    );
    let only = |file: &str, start: &str| {
        let reports = said(file);
        assert!(matches!(&*reports, [only] if only.starts_with(start)), "{reports:?}");
    };
    only("twice.yaml", "E411 twice.yaml:2:1 ");
    only("broken.yaml", "E411 broken.yaml:");
    only("number.yaml", "E411 number.yaml:2:4 `.inf` is no number of a description");
    only("empty.yaml", "E411 ");
}

#[test]
fn formats_15_2_a_plugin_that_does_not_load() {
    let folder = Folder::with(&[("bad.so", ""), ("harbour.so", "")]);
    assert_eq!(
        folder.reports(&harbour("plugins: [ bad.so, harbour.so ]")),
        ["E461 p.yaml:21:23 plugin `bad.so`: it is no library of this platform"]
    );
}

#[test]
fn pipeline_1_4_the_document_key_is_strict() {
    expect(&format!("{FEED}formats: {{ ‹plugin: [] }}\n"), &[("E000", "did you mean `plugins`?")]);
    expect(&format!("{FEED}formats: {{ plugins: ‹a.so }}\n"), &[("E000", "a list of texts")]);
    plan(&format!("{FEED}formats: {{ plugins: [], dialects: [] }}\n"));
}

#[test]
fn operations_2_10_formats_without_a_compile() {
    let folder = Folder::with(&[
        ("h.yaml", "dialect: harbour"),
        ("clinker.toml", "[formats]\nplugins = [\"extra.so\", \"no.so\"]"),
        ("extra.so", ""),
    ]);
    let names = |document: bool| {
        // Whatever else is wrong with the document is not looked at.
        let request = request("formats: { dialects: [ h.yaml ] }\nnodes: 7\n", folder.0.path());
        let (registry, found) = crate::formats(&request, document);
        let added: Vec<String> = registry
            .iter()
            .map(|(format, origin)| format!("{} {origin}", format.descriptor().name))
            .filter(|text| !text.ends_with("built in"))
            .collect();
        (added, found.iter().map(|found| found.code).collect::<Vec<_>>())
    };
    assert_eq!(names(false), (vec!["extra plugin extra.so".to_string()], vec![Some("E460")]));
    let both = vec!["extra plugin extra.so".to_string(), "harbour dialect h.yaml".to_string()];
    assert_eq!(names(true), (both, vec![Some("E460")]));
}
