//! Estimates: a pure function of the plan and of the sizes of its inputs.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::{CompiledPlan, Operator};

/// Bytes that flow out of each node, by plan order; none when unknown. A Source contributes the sizes of its files,
/// which pass down unchanged: no operator of this plan accumulates.
pub(super) fn bytes(plan: &CompiledPlan) -> Vec<Option<u64>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128);
    let mut estimates: Vec<Option<u64>> = Vec::with_capacity(plan.nodes.len());
    for node in &plan.nodes {
        let estimate = match &node.operator {
            Operator::Source(source) => {
                let files = source.files.discover(&plan.base, now).ok();
                files.map(|files| files.iter().map(|file| file.size).sum())
            }
            _ => node.inputs.iter().map(|input| estimates[input.node]).sum(),
        };
        estimates.push(estimate);
    }
    estimates
}

/// Rows that files of this size are taken to hold.
pub(super) fn rows(bytes: u64) -> u64 {
    bytes.div_ceil(1024)
}
