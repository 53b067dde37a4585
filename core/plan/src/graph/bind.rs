//! Schemas along the edges: each node is bound to the columns of the node it reads.

use std::sync::Arc;

use clinker_cxl::{DocumentNames, ScopeColumn};
use clinker_diagnostics::Span;
use clinker_record::{Kind, Schema, SchemaRef, Type};

use crate::context::Context;
use crate::faults::{Fault, Faults};
use crate::graph::merge::{self, MergeInput};
use crate::graph::{Edge, Wiring, documents, projection, routes};
use crate::model::{
    Input, MergeMode, MergePlan, NodeId, Operator, OutputSource, Port, SinkPlan, SourcePlan, TransformPlan,
    WidenedColumns,
};
use crate::nodes::cxl::Visible;
use crate::nodes::order;
use crate::nodes::{self, Draft, MergeDraft, RouteDraft, SinkDraft, SourceDraft, TransformDraft};
use crate::{Node, PathTemplate};

/// Rows of a turn at a Merge whose inputs are Sources that feed nothing else.
const LIVE_TURN: usize = 2048;

/// The columns on an edge.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Names with their types as declared; a `multiple` column has the type of one value.
    pub columns: Vec<ScopeColumn>,
    /// For each column whether the feeding Transform emitted it.
    pub emitted: Vec<bool>,
    /// Whether records may carry undeclared fields.
    pub widened: bool,
    /// Whether one of those may hold an array.
    pub undeclared_arrays: bool,
    /// What `$doc` names, for each Source above.
    pub documents: Vec<Arc<DocumentNames>>,
}

impl Shape {
    /// What texts over these rows may name.
    fn visible<'s>(&'s self, context: &'s Context<'_>) -> Visible<'s> {
        Visible { columns: &self.columns, documents: &self.documents, vars: context.vars }
    }

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
        let name = &draft.name;
        let input = wiring.edges(*at).next().and_then(|edge| bound[edge.node].shape.clone());
        bound[*at] = match draft.kind {
            nodes::Kind::Source(source) => {
                sources += 1;
                bind_source(*source, sources - 1)
            }
            nodes::Kind::Transform(transform) => match input {
                Some(input) => bind_transform(name, &transform, &input, context, faults),
                None => {
                    transform.syntax(name, context, faults);
                    Bound::default()
                }
            },
            nodes::Kind::Route(route) => match input {
                Some(input) => bind_route(name, &route, input, context, faults),
                None => {
                    route.syntax(name, context, faults);
                    Bound::default()
                }
            },
            nodes::Kind::Merge(merge) => bind_merge(*at, &draft.name, &draft.inputs, &merge, wiring, &bound, faults),
            nodes::Kind::Sink(sink) => {
                sinks += 1;
                let path = templates[*at].take();
                input.map_or_else(Bound::default, |input| bind_sink(name, *sink, input, path, sinks - 1, faults))
            }
            nodes::Kind::Broken => Bound::default(),
        };
    }
    documents::note_reads(wiring, &mut bound);
    bound
}

fn bind_source(source: SourceDraft, index: u16) -> Bound {
    let shape = source.columns.map(|columns| Shape {
        emitted: vec![true; columns.len()],
        columns: columns.into_iter().map(|column| (column.name, column.ty, column.multiple)).collect(),
        widened: source.widened,
        undeclared_arrays: source.undeclared_arrays,
        documents: vec![Arc::new(source.names)],
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
            documents: parts.documents,
            on_unmapped: parts.on_unmapped,
            order: parts.order,
            expands: parts.expands,
            max_rows: parts.max_rows,
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
    let visible = input.visible(context);
    let log = transform.events(name, &visible, faults);
    let Some(program) = transform.program(name, &visible, faults) else { return Bound::default() };
    let (columns, outputs): (Vec<ScopeColumn>, Vec<_>) =
        nodes::transform::outputs(&input.columns, &program).into_iter().unzip();
    let validations = transform.checks(name, &Visible { columns: &columns, ..visible }, faults);
    let shape = Shape {
        emitted: outputs.iter().map(|output| matches!(output, OutputSource::Emit(_))).collect(),
        columns,
        widened: input.widened,
        undeclared_arrays: input.undeclared_arrays,
        documents: input.documents.clone(),
    };
    let operator =
        Operator::Transform(TransformPlan { program, outputs, validations, batch_size: transform.batch_size, log });
    Bound { shape: Some(shape), operator: Some(operator), refusing: false }
}

fn bind_route(name: &str, route: &RouteDraft<'_>, input: Shape, context: &Context<'_>, faults: &mut Faults) -> Bound {
    let operator = route.compile(name, &input.visible(context), faults).map(Operator::Route);
    // Every branch has the columns of the input, whatever is wrong with a condition.
    Bound { shape: Some(input), operator, refusing: false }
}

fn bind_merge(
    at: usize,
    name: &str,
    references: &[(Arc<str>, Span)],
    merge: &MergeDraft,
    wiring: &Wiring,
    bound: &[Bound],
    faults: &mut Faults,
) -> Bound {
    let read = wiring.inputs[at].iter().zip(references);
    let inputs: Option<Vec<MergeInput<'_>>> = read
        .map(|(edge, (name, span))| Some(MergeInput { name, span: *span, shape: bound[(*edge)?.node].shape.as_ref()? }))
        .collect();
    let Some(united) = inputs.and_then(|inputs| merge::unite(name, &inputs, faults)) else { return Bound::default() };
    let alone = |edge: Edge| {
        let consumers: usize = wiring.ports[edge.node].iter().map(|port| port.consumers.len()).sum();
        matches!(bound[edge.node].operator, Some(Operator::Source(_))) && consumers == 1
    };
    let mode = match (merge.interleave, merge.seed) {
        (false, _) => MergeMode::Concat,
        (true, Some(seed)) => MergeMode::Seeded { seed },
        (true, None) => MergeMode::Interleave { turn: if wiring.edges(at).all(alone) { LIVE_TURN } else { 1 } },
    };
    let operator = Operator::Merge(MergePlan { mode, columns: united.columns });
    Bound { shape: Some(united.shape), operator: Some(operator), refusing: false }
}

fn bind_sink(
    name: &str,
    sink: SinkDraft<'_>,
    input: Shape,
    path: Option<PathTemplate>,
    index: usize,
    faults: &mut Faults,
) -> Bound {
    let projection = projection::project(name, &sink.choice, sink.span, &input, faults);
    if let Some(projection) = &projection {
        arrays(name, &sink, &input, projection, faults);
    }
    let refusing = projection.as_ref().is_some_and(|projection| refuses(&sink, &input, projection));
    // None when it is there and wrong.
    let split = match sink.parts.as_ref().and_then(|parts| parts.split.as_ref()) {
        Some(split) => split.bind(name, &input.columns, faults).map(Some),
        None => Some(None),
    };
    let sort = match &sink.parts {
        Some(parts) => order::bind(order::Owner::sink(name), &parts.order, &input.columns, input.widened, faults),
        None => None,
    };
    let complete = sink.parts.zip(projection).zip(path).zip(split).zip(sort);
    let operator = complete.map(|((((parts, projection), path), split), sort)| {
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
            split,
            write_meta: parts.write_meta,
            sort,
        })
    });
    Bound { shape: Some(input), operator, refusing }
}

/// Whether a Sink can refuse a row: because a joined value holds the delimiter, or its character set lacks a character.
fn refuses(sink: &SinkDraft<'_>, input: &Shape, projection: &crate::Projection) -> bool {
    let schema = input.schema();
    let joined = projection.columns.iter().any(|column| match column.from {
        crate::ProjectedFrom::Column(at) => sink.may_collide(&column.name, schema.columns[at].1.kind),
        crate::ProjectedFrom::Widened(_) => input.undeclared_arrays && sink.may_collide(&column.name, Kind::Array),
    });
    // A field without a name yet has no entry of its own in `join_values`.
    let appended =
        input.undeclared_arrays && projection.widened != WidenedColumns::None && sink.may_collide("", Kind::Array);
    joined || appended || sink.parts.as_ref().is_some_and(|parts| parts.writer.may_lack_characters())
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
    let routes = routes::labels(wiring);
    let node = |at: &usize| {
        let Bound { shape, operator, .. } = bound[*at].take()?;
        let (shape, operator) = (shape?, operator?);
        let inputs: Option<Vec<Input>> = wiring.inputs[*at]
            .iter()
            .map(|edge| edge.map(|edge| Input { node: id_of[edge.node], port: edge.port }))
            .collect();
        let ports = wiring.ports[*at].iter().map(|port| Port {
            name: port.name.clone(),
            consumers: port.consumers.iter().map(|consumer| id_of[*consumer]).collect(),
        });
        Some(Node {
            name: Arc::clone(&names[*at]),
            stage: stage(&names[*at], &operator),
            operator,
            inputs: inputs?,
            deliveries: Vec::new(),
            ports: ports.collect(),
            route: Arc::clone(&routes[*at]),
            schema: shape.schema(),
            emitted: shape.emitted,
            widened: shape.widened,
        })
    };
    wiring.order.iter().map(node).collect()
}

/// The stage label of a node's dead letters.
fn stage(name: &str, operator: &Operator) -> Arc<str> {
    match operator {
        Operator::Source(_) => Arc::from("source"),
        Operator::Transform(_) => Arc::from(format!("transform:{name}")),
        Operator::Sink(_) => Arc::from(format!("output:{name}")),
        Operator::Route(_) => Arc::from("route_eval"),
        Operator::Merge(_) => Arc::from(format!("merge:{name}")),
    }
}
