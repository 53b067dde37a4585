//! What a name may mean.

use std::collections::HashMap;
use std::sync::Arc;

use clinker_record::{Type, Value};

use super::types::Ty;
use crate::document::DocumentNames;
use crate::ir::SystemValue;
use crate::scope::Scope;
use crate::syntax::ast::{Expr, ExprKind};

/// The columns of a scope by the segments of their names, and everything else it offers.
pub(crate) struct Names<'a> {
    scope: &'a Scope<'a>,
    columns: HashMap<Vec<String>, usize>,
    longest: usize,
}

/// The outcome of looking a dotted name up among columns: the column, and how many segments named it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ColumnHit {
    pub(crate) index: usize,
    pub(crate) segments: usize,
}

/// Built-in members of `$pipeline` and `$source`, with `None` for those that need what is not built.
pub(crate) const PIPELINE: [(&str, Option<SystemValue>); 9] = [
    ("name", Some(SystemValue::PipelineName)),
    ("execution_id", Some(SystemValue::ExecutionId)),
    ("batch_id", Some(SystemValue::BatchId)),
    ("start_time", Some(SystemValue::StartTime)),
    ("total_count", None),
    ("ok_count", None),
    ("dlq_count", None),
    ("filtered_count", None),
    ("distinct_count", None),
];
pub(crate) const SOURCE: [(&str, Option<SystemValue>); 8] = [
    ("name", Some(SystemValue::SourceName)),
    ("file", Some(SystemValue::SourceFile)),
    ("path", Some(SystemValue::SourcePath)),
    ("row", Some(SystemValue::SourceRow)),
    ("batch", Some(SystemValue::SourceBatch)),
    ("ingestion_timestamp", Some(SystemValue::IngestionTimestamp)),
    ("count", None),
    ("event_time", None),
];

impl<'a> Names<'a> {
    /// The names of a scope.
    pub(crate) fn new(scope: &'a Scope<'a>) -> Self {
        let mut columns = HashMap::new();
        for (index, (name, _, _)) in scope.columns.iter().enumerate() {
            if let Some(path) = decode_path(name) {
                columns.entry(path).or_insert(index);
            }
        }
        let longest = columns.keys().map(Vec::len).max().unwrap_or(0);
        Self { scope, columns, longest }
    }

    /// The column that the longest prefix of a dotted name denotes.
    pub(crate) fn column(&self, path: &[&str]) -> Option<ColumnHit> {
        let longest = path.len().min(self.longest);
        (1..=longest).rev().find_map(|segments| {
            let key: Vec<String> = path[..segments].iter().map(|&segment| segment.to_owned()).collect();
            self.columns.get(&key).map(|&index| ColumnHit { index, segments })
        })
    }

    /// The static type of a column.
    pub(crate) fn column_type(&self, index: usize) -> Ty {
        let (_, ty, multiple) = &self.scope.columns[index];
        Ty::declared(*ty, *multiple)
    }

    /// The constant of that name.
    pub(crate) fn constant(&self, name: &str) -> Option<&'a Value> {
        self.scope.constants.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// The static variable of that name.
    pub(crate) fn variable(&self, name: &str) -> Option<(Type, &'a Value)> {
        self.scope.vars.iter().find(|(own, _, _)| own == name).map(|(_, ty, value)| (*ty, value))
    }

    /// What `$doc` names, for each Source.
    pub(crate) fn documents(&self) -> &'a [Arc<DocumentNames>] {
        self.scope.documents
    }

    /// The names of the static variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &'a str> {
        self.scope.vars.iter().map(|(name, _, _)| name.as_str())
    }

    /// Columns and constants, for suggestions.
    pub(crate) fn visible(&self) -> impl Iterator<Item = &'a str> {
        let columns = self.scope.columns.iter().map(|(name, _, _)| &**name);
        columns.chain(self.scope.constants.iter().map(|(name, _)| name.as_str()))
    }
}

/// The segments of a column name: `.` ends one, `\.`, `\\` and `\[` are literal. Nothing for a malformed name.
fn decode_path(name: &str) -> Option<Vec<String>> {
    let mut segments = vec![String::new()];
    let mut chars = name.chars();
    while let Some(next) = chars.next() {
        let segment = segments.last_mut().expect("there is always a last segment");
        match next {
            '.' => segments.push(String::new()),
            '\\' => match chars.next()? {
                escaped @ ('.' | '\\' | '[') => segment.push(escaped),
                _ => return None,
            },
            other => segment.push(other),
        }
    }
    Some(segments)
}

/// The segments of `a.b.c`, outermost first, when the expression is such a name.
pub(crate) fn dotted(expr: &Expr) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut at = expr;
    loop {
        match &at.kind {
            ExprKind::Member { base, name } => {
                names.push(name.text.as_str());
                at = base;
            }
            ExprKind::Name(root) => {
                names.push(root);
                names.reverse();
                return Some(names);
            }
            _ => return None,
        }
    }
}
