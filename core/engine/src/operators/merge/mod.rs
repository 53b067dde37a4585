//! The Merge: columns of each input brought into the order and the types of the output. Pure; which input comes next is
//! decided above.

use std::sync::Arc;

use clinker_plan::{MergePlan, NodeId};
use clinker_record::{Batch, Column, Decimal, Kind, Value};

use crate::runtime::Runtime;

/// A batch of one input as the Merge hands it on.
pub(crate) fn merge(runtime: &Runtime<'_>, node: NodeId, plan: &MergePlan, input: usize, batch: Batch) -> Batch {
    let schema = Arc::clone(&runtime.plan.nodes[node].schema);
    let columns = plan.columns[input]
        .iter()
        .zip(&schema.columns)
        .map(|(from, (_, ty))| converted(&batch.columns[*from], ty.kind))
        .collect();
    Batch { schema, columns, ..batch }
}

/// A column in the kind of the output; inputs may have a narrower one.
fn converted(column: &Column, kind: Kind) -> Column {
    match (column, kind) {
        (Column::Null(_), _) => column.clone(),
        _ if column.kind() == kind => column.clone(),
        (Column::Int(integers), Kind::Float) => Column::Float(integers.unary(|value| value as f64)),
        _ => {
            let values: Vec<Value> = (0..column.len()).map(|row| widened(column.value(row), kind)).collect();
            Column::from_values(kind, &values)
        }
    }
}

fn widened(value: Value, kind: Kind) -> Value {
    match (value, kind) {
        (Value::Int(value), Kind::Float) => Value::Float(value as f64),
        (Value::Int(value), Kind::Decimal) => Value::Decimal(Decimal::from_i64(value)),
        (value, _) => value,
    }
}
