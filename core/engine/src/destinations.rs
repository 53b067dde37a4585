//! Where Sinks write: rendered paths, checked against each other and against the inputs, staged under their policy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clinker_cxl::{SourceContext, SourceFile};
use clinker_plan::template::RenderContext;
use clinker_plan::{CompiledPlan, IfExists, NodeId, Operator, SinkPlan};
use clinker_publish::{ArtifactKind, Attempt, CollisionPolicy, PublishError, StagedFile};

use crate::RunError;
use crate::apply::LetterFile;
use crate::apply::OpenOutput;
use crate::error::exit;
use crate::outputs::{Output, Target};
use crate::runtime::{InputPaths, sources_above};
use crate::split::{Split, file_name};

/// `unique_suffix` gives up after this many names.
const MOST_NAMES: u64 = 100_000;

/// A file of a Source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceFileAt {
    pub source: NodeId,
    pub file: u32,
}

/// Renders and opens the destinations of one run.
pub(crate) struct Destinations<'p> {
    pub plan: &'p CompiledPlan,
    pub sources: Arc<[SourceContext]>,
    pub inputs: InputPaths,
    pub execution_id: Arc<str>,
    pub batch_id: Arc<str>,
    pub start_time: i128,
    pub force: bool,
    pub preview: bool,
}

impl<'p> Destinations<'p> {
    fn sink(&self, node: NodeId) -> &'p SinkPlan {
        match &self.plan.nodes[node].operator {
            Operator::Sink(sink) => sink,
            _ => unreachable!("only Sinks have destinations"),
        }
    }

    /// The files of a Source.
    fn files(&self, source: NodeId) -> &[SourceFile] {
        match &self.plan.nodes[source].operator {
            Operator::Source(plan) => &self.sources[usize::from(plan.index)].files,
            _ => unreachable!("only Sources have files"),
        }
    }

    fn sinks(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.plan
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| matches!(node.operator, Operator::Sink(_)))
            .map(|(id, _)| id)
    }

    /// Sinks with one output for the whole run.
    pub(crate) fn sinks_per_run(&self) -> Vec<NodeId> {
        self.sinks().filter(|id| self.preview || !self.sink(*id).path.per_source_file()).collect()
    }

    /// Sinks of that Source's unit that write one output for each of its files.
    pub(crate) fn sinks_per_file(&self, source: NodeId) -> Vec<NodeId> {
        let per_file = |id: &NodeId| !self.preview && self.sink(*id).path.per_source_file();
        self.sinks().filter(|id| per_file(id) && sources_above(self.plan, *id).contains(&source)).collect()
    }

    /// Refuses outputs for single source files below a Merge that mixes them.
    pub(crate) fn check_mixed(&self, merge: NodeId) -> Result<(), RunError> {
        let mut below = vec![false; self.plan.nodes.len()];
        below[merge] = true;
        for id in merge + 1..self.plan.nodes.len() {
            below[id] = self.plan.nodes[id].inputs.iter().any(|input| below[input.node]);
        }
        let mut per_file = self.sinks().filter(|id| !self.preview && self.sink(*id).path.per_source_file());
        match per_file.find(|id| below[*id]) {
            None => Ok(()),
            Some(id) => {
                let (sink, merge) = (&self.plan.nodes[id].name, &self.plan.nodes[merge].name);
                let message = format!(
                    "sink `{sink}` writes one output for each source file below `{merge}`, which mixes them in turns: this \
                     is not available in this version"
                );
                Err(RunError::coded(exit::CONFIGURATION, "E000", message).help("use `mode: concat`, or one output"))
            }
        }
    }

    /// The path of a Sink's output, for one file of its Source if it writes one for each.
    fn render(&self, node: NodeId, file: Option<SourceFileAt>, number: Option<u64>) -> Result<PathBuf, RunError> {
        let sink = self.sink(node);
        let width = match sink.if_exists {
            IfExists::UniqueSuffix { width } => width,
            _ => 0,
        };
        let source_path = file.map(|at| &*self.files(at.source)[at.file as usize].shown);
        let context = RenderContext {
            channel: None,
            pipeline_hash: &self.plan.pipeline_hash,
            start_time: self.start_time,
            execution_id: &self.execution_id,
            batch_id: &self.batch_id,
            n: number.filter(|number| *number > 0),
            width,
            source_path,
        };
        let rendered = sink.path.render(&context).map_err(|reason| {
            RunError::coded(
                exit::CONFIGURATION,
                "E-SEC-001",
                format!("sink `{}`: {reason}", self.plan.nodes[node].name),
            )
        })?;
        let path = self.plan.base.join(rendered);
        Ok(match number {
            Some(number) if number > 0 && !sink.path.has_counter() => numbered(&path, number, width),
            _ => path,
        })
    }

    fn file_path(
        &self,
        node: NodeId,
        file: Option<SourceFileAt>,
        sequence: Option<u64>,
        number: Option<u64>,
    ) -> Result<PathBuf, RunError> {
        let path = self.render(node, file, number)?;
        Ok(match (&self.sink(node).split, sequence) {
            (Some(split), Some(sequence)) => file_name(&path, &split.naming, sequence),
            _ => path,
        })
    }

    /// Checks the destinations of the whole run before anything is created: no two alike, none that is an input.
    pub(crate) fn check(&self, dead_letters: &[LetterFile]) -> Result<(), RunError> {
        let mut claimed: Vec<(PathBuf, String)> = Vec::new();
        let mut claim = |path: PathBuf, owner: String| -> Result<(), RunError> {
            let real = real_path(&path);
            if let Some((_, first)) = claimed.iter().find(|(known, _)| *known == real) {
                let message = format!("{}: both {first} and {owner} would write this file", path.display());
                return Err(
                    RunError::coded(exit::CONFIGURATION, "E322", message).help("give each output a path of its own")
                );
            }
            if let Some((source, shown)) = self.input_at(&real) {
                let message = format!("{owner} would replace {shown}, which source `{source}` reads");
                return Err(RunError::coded(exit::CONFIGURATION, "E322", message)
                    .help("write to another path: an output must not be an input of the same run"));
            }
            claimed.push((real, owner));
            Ok(())
        };
        for file in dead_letters {
            claim(file.destination.clone(), format!("the dead-letter file {}", file.authored))?;
        }
        for id in self.sinks() {
            let name = &self.plan.nodes[id].name;
            if !self.sink(id).path.per_source_file() {
                claim(self.render(id, None, None)?, format!("sink `{name}`"))?;
                continue;
            }
            for source in sources_above(self.plan, id) {
                for (file, found) in (0..).zip(self.files(source)) {
                    let at = SourceFileAt { source, file };
                    claim(self.render(id, Some(at), None)?, format!("sink `{name}` for {}", found.shown))?;
                }
            }
        }
        Ok(())
    }

    fn input_at(&self, real: &Path) -> Option<(&str, &str)> {
        let files =
            self.sources.iter().zip(self.inputs.iter()).flat_map(|(source, paths)| {
                source.files.iter().zip(paths).map(move |(file, path)| (source, file, path))
            });
        let mut found = files.filter(|(_, _, path)| real_path(path) == real);
        found.next().map(|(source, file, _)| (&*source.name, &*file.shown))
    }

    /// Starts a Sink's output.
    pub(crate) fn begin(
        &self,
        node: NodeId,
        file: Option<SourceFileAt>,
        attempt: &mut Attempt,
    ) -> Result<OpenOutput<'p>, RunError> {
        match &self.sink(node).split {
            Some(split) if !self.preview => {
                Ok(OpenOutput::Split(Box::new(Split::begin(self, node, split, file, attempt)?)))
            }
            _ => Ok(OpenOutput::One(Box::new(self.begin_file(node, file, None, attempt)?))),
        }
    }

    /// Starts one file of a Sink's output; `sequence` numbers the files of one that is split.
    pub(crate) fn begin_file(
        &self,
        node: NodeId,
        file: Option<SourceFileAt>,
        sequence: Option<u64>,
        attempt: &mut Attempt,
    ) -> Result<Output, RunError> {
        let sink = self.sink(node);
        if self.preview {
            return Output::begin(sink, PathBuf::from("preview"), Target::Memory(Vec::new()), true);
        }
        let (destination, staged) = self.stage(node, file, sequence, attempt)?;
        let repeats = sink.split.as_ref().is_none_or(|split| split.repeat_header);
        let header = repeats || sequence.is_none_or(|sequence| sequence == 1);
        Output::begin(sink, destination, Target::Staged(staged), header)
    }

    fn stage(
        &self,
        node: NodeId,
        file: Option<SourceFileAt>,
        sequence: Option<u64>,
        attempt: &mut Attempt,
    ) -> Result<(PathBuf, StagedFile), RunError> {
        let producer = format!("sink `{}`", self.plan.nodes[node].name);
        let policy = match self.sink(node).if_exists {
            IfExists::Overwrite => CollisionPolicy::Replace,
            IfExists::Error if self.force => CollisionPolicy::Replace,
            IfExists::Error => CollisionPolicy::Refuse,
            IfExists::UniqueSuffix { .. } => return self.stage_unique(node, (file, sequence), &producer, attempt),
        };
        let destination = self.file_path(node, file, sequence, None)?;
        let staged = attempt.stage(ArtifactKind::Output, &producer, &destination, policy)?;
        Ok((destination, staged))
    }

    fn stage_unique(
        &self,
        node: NodeId,
        (file, sequence): (Option<SourceFileAt>, Option<u64>),
        producer: &str,
        attempt: &mut Attempt,
    ) -> Result<(PathBuf, StagedFile), RunError> {
        for number in 0..MOST_NAMES {
            let destination = self.file_path(node, file, sequence, Some(number))?;
            match attempt.stage(ArtifactKind::Output, producer, &destination, CollisionPolicy::NextName) {
                Ok(staged) => return Ok((destination, staged)),
                Err(PublishError::Exists { .. } | PublishError::Reserved { .. } | PublishError::Collision { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let authored = self.sink(node).path.text();
        Err(RunError::internal(format!("{producer}: none of {MOST_NAMES} names for `{authored}` is free")))
    }
}

/// `<stem>-<number>.<ext>`.
fn numbered(path: &Path, number: u64, width: usize) -> PathBuf {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let leaf = match path.extension() {
        Some(extension) => format!("{stem}-{number:0width$}.{}", extension.to_string_lossy()),
        None => format!("{stem}-{number:0width$}"),
    };
    path.with_file_name(leaf)
}

/// The path with the links of its folder resolved; the file itself need not exist.
fn real_path(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(parent)), Some(leaf)) => parent.join(leaf),
        _ => path.to_owned(),
    }
}
