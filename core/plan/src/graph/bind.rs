//! Schemas along the edges: each node is bound to the columns of the node it reads.

use std::sync::Arc;

use clinker_cxl::ScopeColumn;
use clinker_record::{Kind, Schema, SchemaRef, Type};

use crate::context::Context;
use crate::faults::{Fault, Faults};
use crate::graph::{Wiring, projection};
use crate::model::{Input, NodeId, Operator, OutputSource, Port, SinkPlan, SourcePlan, TransformPlan};
use crate::nodes::{self, Draft, SinkDraft, SourceDraft, TransformDraft};
use crate::{Node, PathTemplate};

/// The columns on an edge.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Names with their types as declared; a `multiple` column has the type of one value.
    pub columns: Vec<ScopeColumn>,
    /// For each column whether the feeding Transform emitted it.
    pub emitted: Vec<bool>,
    /// Whether records may carry undeclared fields.
    pub widened: bool,
}

impl Shape {
    /// The columns as batches have them: a `multiple` column is an array.
    pub fn schema(&self) -> SchemaRef {
        let column = |(name, ty, multiple): &ScopeColumn| match multiple {
            true => (Arc::clone(name), Type { kind: Kind::Array, nullable: ty.nullable }),
            false => (Arc::clone(name), *ty),
        };
        Arc::new(Schema { columns: self.columns.iter().map(column).collect() })
    }
}

/// A node bound to its input.
#[derive(Default)]
pub(crate) struct Bound {
    /// Its output columns; for a Sink its input columns. None when that is not known, which was reported.
    pub shape: Option<Shape>,
    /// What it does, when nothing is wrong.
    pub operator: Option<Operator>,
    /// Whether it is a Sink that can refuse a row.
    pub refusing: bool,
}

/// Binds the nodes in plan order; the result is indexed by declaration.
pub(crate) fn bind(
    drafts: Vec<Draft<'_>>,
    wiring: &Wiring,
    templates: Vec<Option<PathTemplate>>,
    context: &Context<'_>,
    faults: &mut Faults,
) -> Vec<Bound> {
    let mut bound: Vec<Bound> = Vec::new();
    bound.resize_with(drafts.len(), Bound::default);
    let mut drafts: Vec<Option<Draft<'_>>> = drafts.into_iter().map(Some).collect();
    let mut templates = templates;
    let (mut sources, mut sinks) = (0, 0);
    for at in &wiring.order {
        let Some(draft) = drafts[*at].take() else { continue };
        let input = wiring.inputs[*at].and_then(|input| bound[input].shape.clone());
        bound[*at] = match draft.kind {
            nodes::Kind::Source(source) => {
                sources += 1;
                bind_source(*source, sources - 1)
            }
            nodes::Kind::Transform(transform) => match input {
                Some(input) => bind_transform(&draft.name, &transform, &input, context, faults),
                None => {
                    transform.syntax(&draft.name, context, faults);
                    Bound::default()
                }
            },
            nodes::Kind::Sink(sink) => {
                sinks += 1;
                let path = templates[*at].take();
                input.map_or_else(Bound::default, |input| bind_sink(&draft.name, *sink, input, path, sinks - 1, faults))
            }
            nodes::Kind::Broken => Bound::default(),
        };
    }
    bound
}

fn bind_source(source: SourceDraft, index: u16) -> Bound {
    let shape = source.columns.map(|columns| Shape {
        emitted: vec![true; columns.len()],
        columns: columns.into_iter().map(|column| (column.name, column.ty, column.multiple)).collect(),
        widened: source.widened,
    });
    let operator = source.parts.map(|parts| {
        Operator::Source(SourcePlan {
            index,
            label: parts.label,
            files: parts.files,
            compression: parts.compression,
            format: parts.format,
            reader: parts.reader,
            columns: parts.columns,
            on_unmapped: parts.on_unmapped,
        })
    });
    Bound { shape, operator, refusing: false }
}

fn bind_transform(
    name: &str,
    transform: &TransformDraft<'_>,
    input: &Shape,
    context: &Context<'_>,
    faults: &mut Faults,
) -> Bound {
    let Some(program) = transform.program(name, &input.columns, context, faults) else { return Bound::default() };
    let (columns, outputs): (Vec<ScopeColumn>, Vec<_>) =
        nodes::transform::outputs(&input.columns, &program).into_iter().unzip();
    let validations = transform.checks(name, &columns, context, faults);
    let shape = Shape {
        emitted: outputs.iter().map(|output| matches!(output, OutputSource::Emit(_))).collect(),
        columns,
        widened: input.widened,
    };
    let operator = Operator::Transform(TransformPlan { program, outputs, validations, batch_size: transform.batch_size });
    Bound { shape: Some(shape), operator: Some(operator), refusing: false }
}

fn bind_sink(
    name: &str,
    sink: SinkDraft<'_>,
    input: Shape,
    path: Option<PathTemplate>,
    index: usize,
    faults: &mut Faults,
) -> Bound {
    let projection = projection::project(name, &sink.choice, &input, faults);
    if let Some(projection) = &projection {
        arrays(name, &sink, &input, projection, faults);
    }
    let refusing = projection.as_ref().is_some_and(|projection| refuses(&sink, &input, projection));
    let operator = sink.parts.zip(projection).zip(path).map(|((parts, projection), path)| {
        Operator::Sink(SinkPlan {
            index,
            label: parts.label,
            format: parts.format,
            writer: parts.writer,
            path,
            compression: parts.compression,
            projection,
            if_exists: parts.if_exists,
            refuses_rows: refusing,
        })
    });
    Bound { shape: Some(input), operator, refusing }
}

/// Whether a Sink can refuse a row: because a joined value holds the delimiter, or its character set lacks a character.
fn refuses(sink: &SinkDraft<'_>, input: &Shape, projection: &crate::Projection) -> bool {
    let schema = input.schema();
    let joined = projection.columns.iter().any(|column| match column.from {
        crate::ProjectedFrom::Column(at) => sink.may_collide(&column.name, schema.columns[at].1.kind),
        crate::ProjectedFrom::Widened(_) => false,
    });
    joined || sink.parts.as_ref().is_some_and(|parts| parts.writer.may_lack_characters())
}

/// A column of several values needs a format that can write them.
fn arrays(name: &str, sink: &SinkDraft<'_>, input: &Shape, projection: &crate::Projection, faults: &mut Faults) {
    let Some(writes) = sink.writes else { return };
    if writes.join_values || writes.native_arrays {
        return;
    }
    for column in sink.choice.layout.iter().filter(|column| column.multiple) {
        let message = format!("sink `{name}`: column `{}` is `multiple`, which its format cannot write", column.name);
        faults.push(Fault::new("E359", column.span, message).help("leave `multiple` out"));
    }
    let schema = input.schema();
    for column in &projection.columns {
        let crate::ProjectedFrom::Column(at) = column.from else { continue };
        if schema.columns[at].1.kind == Kind::Array {
            let span = sink.choice.mapping_node.map_or(sink.span, |node| node.span);
            let message =
                format!("sink `{name}`: column `{}` holds several values, which its format cannot write", column.name);
            faults.push(Fault::new("E359", span, message).help(format!("add `exclude: [ {} ]`", column.name)));
        }
    }
}

/// The nodes of the plan: bound nodes in plan order, with their places as ids. None when one of them is incomplete.
pub(crate) fn assemble(names: &[Arc<str>], wiring: &Wiring, bound: Vec<Bound>) -> Option<Vec<Node>> {
    let mut id_of: Vec<NodeId> = vec![0; names.len()];
    for (id, at) in wiring.order.iter().enumerate() {
        id_of[*at] = id;
    }
    let mut bound: Vec<Option<Bound>> = bound.into_iter().map(Some).collect();
    wiring
        .order
        .iter()
        .map(|at| {
            let Bound { shape, operator, .. } = bound[*at].take()?;
            let (shape, operator) = (shape?, operator?);
            let name = &names[*at];
            let stage: Arc<str> = match &operator {
                Operator::Source(_) => Arc::from("source"),
                Operator::Transform(_) => Arc::from(format!("transform:{name}")),
                Operator::Sink(_) => Arc::from(format!("output:{name}")),
                Operator::Route(_) => Arc::from("route_eval"),
                Operator::Merge(_) => Arc::from(format!("merge:{name}")),
            };
            let is_sink = matches!(operator, Operator::Sink(_));
            let consumers = wiring.consumers[*at].iter().map(|consumer| id_of[*consumer]).collect();
            Some(Node {
                name: Arc::clone(name),
                stage,
                operator,
                inputs: wiring.inputs[*at].iter().map(|input| Input { node: id_of[*input], port: 0 }).collect(),
                ports: if is_sink { Vec::new() } else { vec![Port { name: None, consumers }] },
                route: Arc::from(""),
                schema: shape.schema(),
                emitted: shape.emitted,
                widened: shape.widened,
            })
        })
        .collect()
}
