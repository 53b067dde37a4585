//! The pipeline document, compiled once into the plan that runs.
//!
//! [`compile`] reads the YAML text, checks all of it, binds schemas, compiles the expressions, asks the formats to bind
//! their options, and yields a [`CompiledPlan`] or every fault it found. The engine runs exactly that object;
//! `--explain`, dead-letter headers and the pipeline hash are views of it.
//!
//! Data flows in one direction: `yaml` gives a tree with exact places; `decode` holds it against declared keys;
//! `nodes` reads each node by itself; `graph` wires them, orders them and binds schemas along the edges. Every step
//! goes on as far as it can with what is right, so that one compile reports all independent faults.

mod compile;
mod context;
mod decode;
mod document;
pub mod documents;
mod explain;
mod failures;
mod faults;
mod formats;
mod graph;
pub mod model;
mod nodes;
mod paths;
pub mod schema;
pub mod template;
#[cfg(test)]
mod tests;
mod workspace;
mod yaml;

pub use compile::{CompileRequest, Compiled, Lookup, compile};
pub use documents::{DocumentPlan, FieldPlan, LevelPlan, SectionFault, SectionPlan};
pub use explain::{ExplainSettings, explain_dot, explain_json, explain_text, resolved_outputs};
pub use formats::formats;
pub use model::{
    Check, CompiledPlan, DeadLetterPlan, Delivery, FailurePolicy, HeldBecause, IfExists, Input, LogPlan, LogWhen,
    MemoryPlan, MergeMode, MergePlan, Node, NodeId, OnUnmapped, Operator, OutputSource, OversizeGroup, Port,
    ProjectedColumn, ProjectedFrom, Projection, Rate, RoutePlan, SinkPlan, SortKey, SortKeyFrom, SourceColumn,
    SourceOrder, SourcePlan, SpillPlan, SplitPlan, Strategy, TransformPlan, Validation, WidenedColumns,
};
pub use template::PathTemplate;
