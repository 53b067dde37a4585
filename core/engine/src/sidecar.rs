//! The sidecar of a final file: what made it, as JSON beside it.

use std::io::Write;
use std::path::{Path, PathBuf};

use clinker_plan::{NodeId, Operator};
use clinker_publish::{ArtifactKind, CollisionPolicy};
use clinker_record::{json, text};

use crate::RunError;
use crate::apply::Applier;
use crate::outputs::write_failed;
use crate::runtime::Runtime;

/// A file that a Sink has completed.
pub(crate) struct FinalFile {
    pub node: NodeId,
    pub destination: PathBuf,
    pub records: u64,
    /// Bytes before compression.
    pub bytes: u64,
}

/// Writes the sidecars of all Sinks that ask for them, as artifacts of the same publication.
pub(crate) fn write_all(runtime: &Runtime<'_>, applier: &mut Applier<'_>) -> Result<(), RunError> {
    let finished = runtime.clock.now();
    for file in std::mem::take(&mut applier.outputs.finals) {
        let node = &runtime.plan.nodes[file.node];
        let Operator::Sink(sink) = &node.operator else { continue };
        if !sink.write_meta {
            continue;
        }
        let path = beside(&file.destination);
        let producer = format!("the sidecar of sink `{}`", node.name);
        let content = content(runtime, applier, &sink.label, &file, finished);
        let mut staged = applier.attempt.stage(ArtifactKind::Sidecar, &producer, &path, CollisionPolicy::Replace)?;
        staged.write_all(content.as_bytes()).map_err(|error| write_failed(&path, error))?;
        applier.outputs.complete.push((path, staged));
    }
    Ok(())
}

/// `<final>.meta.json`.
fn beside(path: &Path) -> PathBuf {
    let mut leaf = path.file_name().unwrap_or_default().to_owned();
    leaf.push(".meta.json");
    path.with_file_name(leaf)
}

fn content(runtime: &Runtime<'_>, applier: &Applier<'_>, label: &str, file: &FinalFile, finished: i128) -> String {
    let hash: String = runtime.plan.pipeline_hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let instant = |nanos: i128| {
        let mut text = Vec::new();
        text::append_rfc3339(nanos, 3, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    };
    let mut members = Members::default();
    members.text("pipeline_path", &runtime.pipeline_path);
    members.text("pipeline_hash", &hash);
    members.text("pipeline_hash_short", &hash[..8]);
    members.text("clinker_version", env!("CARGO_PKG_VERSION"));
    members.text("run_started_at", &instant(runtime.context.start_time));
    members.text("run_finished_at", &instant(finished));
    members.number("elapsed_total_ms", u64::try_from((finished - runtime.context.start_time) / 1_000_000).unwrap_or(0));
    members.text("execution_id", &runtime.context.execution_id);
    members.text("batch_id", &runtime.context.batch_id);
    members.text("output_name", label);
    members.text("resolved_path", &file.destination.to_string_lossy());
    members.number("record_count", file.records);
    members.number("bytes_written", file.bytes);
    let rejected = applier.worst.categories();
    if !rejected.is_empty() {
        members.counts("dlq_counts", &rejected);
    }
    members.finish()
}

/// The members of a pretty-printed JSON object.
#[derive(Default)]
struct Members {
    out: Vec<u8>,
}

impl Members {
    fn name(&mut self, name: &str) {
        self.out.extend_from_slice(if self.out.is_empty() { b"{\n  " } else { b",\n  " });
        json::push_string(name, &mut self.out);
        self.out.extend_from_slice(b": ");
    }

    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        json::push_string(value, &mut self.out);
    }

    fn number(&mut self, name: &str, value: u64) {
        self.name(name);
        self.out.extend_from_slice(value.to_string().as_bytes());
    }

    fn counts(&mut self, name: &str, counts: &[(&'static str, u64)]) {
        self.name(name);
        for (at, (word, count)) in counts.iter().enumerate() {
            self.out.extend_from_slice(if at == 0 { b"{\n    " } else { b",\n    " });
            json::push_string(word, &mut self.out);
            self.out.extend_from_slice(format!(": {count}").as_bytes());
        }
        self.out.extend_from_slice(b"\n  }");
    }

    fn finish(mut self) -> String {
        self.out.extend_from_slice(b"\n}\n");
        String::from_utf8(self.out).expect("names and values are text")
    }
}
