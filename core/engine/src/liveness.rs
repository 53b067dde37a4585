//! Which columns of a node's output anybody reads: the others are not carried along.

use clinker_plan::{Check, CompiledPlan, NodeId, Operator, OutputSource, ProjectedFrom, SortKeyFrom, TransformPlan};

/// For each node, for each of its output columns, whether a node below reads it.
pub(crate) fn live_columns(plan: &CompiledPlan, letters_are_written: bool) -> Vec<Vec<bool>> {
    let mut live: Vec<Vec<bool>> = plan.nodes.iter().map(|node| vec![false; node.schema.columns.len()]).collect();
    // Consumers stand behind their producers in plan order: one pass from the end settles everything.
    for (id, node) in plan.nodes.iter().enumerate().rev() {
        for (position, input) in node.inputs.iter().enumerate() {
            for column in reads(plan, id, position, &live[id], letters_are_written) {
                live[input.node][column] = true;
            }
        }
    }
    live
}

/// The columns that a node reads of one of its inputs.
fn reads(plan: &CompiledPlan, id: NodeId, position: usize, live: &[bool], letters_are_written: bool) -> Vec<usize> {
    let node = &plan.nodes[id];
    let input = node.inputs[position].node;
    match &node.operator {
        Operator::Source(_) => Vec::new(),
        // A dead letter carries the whole record that came in.
        Operator::Transform(_) | Operator::Route(_) if letters_are_written => all(plan, input),
        Operator::Transform(transform) => transform_reads(transform, live),
        Operator::Route(route) => {
            let conditions = route.branches.iter().flat_map(|(_, condition)| condition.columns_read());
            conditions.chain(live.iter().enumerate().filter(|(_, live)| **live).map(|(column, _)| column)).collect()
        }
        Operator::Merge(merge) => {
            let columns = merge.columns[position].iter().zip(live);
            columns.filter(|(_, live)| **live).map(|(column, _)| *column).collect()
        }
        Operator::Sink(sink) if letters_are_written && sink.refuses_rows => all(plan, input),
        Operator::Sink(sink) => {
            let columns = sink.projection.columns.iter();
            let from = columns.filter_map(|column| match &column.from {
                ProjectedFrom::Column(at) => Some(*at),
                ProjectedFrom::Widened(_) => None,
            });
            let sorted = sink.sort.iter().filter_map(|key| match key.from {
                SortKeyFrom::Column(at) => Some(at),
                SortKeyFrom::Widened(_) => None,
            });
            from.chain(sink.split.iter().filter_map(|split| split.group_key)).chain(sorted).collect()
        }
    }
}

fn all(plan: &CompiledPlan, node: usize) -> Vec<usize> {
    (0..plan.nodes[node].schema.columns.len()).collect()
}

/// Input columns a Transform needs for its program and for the output columns that are live.
fn transform_reads(transform: &TransformPlan, live_outputs: &[bool]) -> Vec<usize> {
    let mut outputs = live_outputs.to_vec();
    for column in validation_reads(transform) {
        outputs[column] = true;
    }
    let carried = transform.outputs.iter().zip(&outputs).filter_map(|(from, live)| match from {
        OutputSource::Input(at) if *live => Some(*at),
        _ => None,
    });
    transform.program.columns_read().chain(carried).collect()
}

/// Output columns that the checks of a Transform look at.
pub(crate) fn validation_reads(transform: &TransformPlan) -> Vec<usize> {
    let mut columns = Vec::new();
    for validation in &transform.validations {
        if let Check::Expression(expression) = &validation.check {
            columns.extend(expression.columns_read());
        }
        columns.extend(validation.field.iter().map(|(_, at)| *at));
    }
    columns
}
