//! The books: at every node and on every edge, what came in went somewhere.

use clinker_plan::{CompiledPlan, Node};
use clinker_record::Category;

/// The counts of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeBook {
    /// Rows in, by input; for a Source the body rows read, rejected ones included.
    pub rows_in: Vec<u64>,
    /// Rows out, by port; for a Sink the rows its destination accepted.
    pub rows_out: Vec<u64>,
    /// Rows added as `copied`: branches that a record takes beyond its first.
    pub copied: u64,
    /// Rows added as `expanded`: rows of one record beyond its first.
    pub expanded: u64,
    /// Rows dropped as `empty`: records that are no row.
    pub empty: u64,
    /// Rows dropped by `filter`.
    pub filtered: u64,
    /// Rows excluded by `null_order: drop`.
    pub null_dropped: u64,
    /// Rows rejected, by category.
    pub rejected: Vec<(Category, u64)>,
}

impl NodeBook {
    /// An empty book of a node.
    pub fn of(node: &Node) -> Self {
        Self {
            rows_in: vec![0; node.inputs.len().max(1)],
            rows_out: vec![0; node.ports.len().max(1)],
            ..Self::default()
        }
    }

    /// Rows in from all inputs.
    pub fn total_in(&self) -> u64 {
        self.rows_in.iter().sum()
    }

    /// Rows out of all ports.
    pub fn total_out(&self) -> u64 {
        self.rows_out.iter().sum()
    }

    /// Counts rejected rows.
    pub fn reject(&mut self, category: Category, rows: u64) {
        match self.rejected.iter_mut().find(|(known, _)| *known == category) {
            Some((_, count)) => *count += rows,
            None => self.rejected.push((category, rows)),
        }
    }

    /// Rejected rows of all categories.
    pub fn rejected_total(&self) -> u64 {
        self.rejected.iter().map(|(_, rows)| rows).sum()
    }

    /// Whether every row that came in, or was added, went somewhere.
    pub fn balances(&self) -> bool {
        self.total_in() + self.added()
            == self.total_out() + self.filtered + self.null_dropped + self.rejected_total() + self.empty
    }

    /// Rows added, for whatever reason.
    pub fn added(&self) -> u64 {
        self.copied + self.expanded
    }

    fn add(&mut self, other: &NodeBook) {
        let add =
            |counts: &mut [u64], more: &[u64]| counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        add(&mut self.rows_in, &other.rows_in);
        add(&mut self.rows_out, &other.rows_out);
        self.copied += other.copied;
        self.expanded += other.expanded;
        self.empty += other.empty;
        self.filtered += other.filtered;
        self.null_dropped += other.null_dropped;
        for (category, rows) in &other.rejected {
            self.reject(*category, *rows);
        }
    }
}

/// The counts of a run or of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Books {
    /// One book a node, in plan order.
    pub nodes: Vec<NodeBook>,
}

impl Books {
    /// Empty books for the nodes of a plan.
    pub fn new(nodes: &[Node]) -> Self {
        Self { nodes: nodes.iter().map(NodeBook::of).collect() }
    }

    /// Adds the counts of a block.
    pub fn add(&mut self, block: &Books) {
        for (node, counts) in self.nodes.iter_mut().zip(&block.nodes) {
            node.add(counts);
        }
    }

    /// Closes the books.
    ///
    /// # Errors
    /// The first node or edge that does not balance, with all of its counts.
    pub fn close(&self, plan: &CompiledPlan) -> Result<(), String> {
        for (node, book) in plan.nodes.iter().zip(&self.nodes) {
            if !book.balances() {
                return Err(format!(
                    "the books of node `{}` do not balance: {} in, {} copied, {} expanded, {} out, {} filtered, \
                     {} null dropped, {} rejected, {} empty",
                    node.name,
                    book.total_in(),
                    book.copied,
                    book.expanded,
                    book.total_out(),
                    book.filtered,
                    book.null_dropped,
                    book.rejected_total(),
                    book.empty
                ));
            }
            for (input, rows_in) in node.inputs.iter().zip(&book.rows_in) {
                let rows_out = self.nodes[input.node].rows_out[input.port];
                if rows_out != *rows_in {
                    return Err(format!(
                        "the books of edge `{}` -> `{}` do not balance: {rows_out} out, {rows_in} in",
                        plan.nodes[input.node].name, node.name
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eng_204_a_node_balances_with_filtered_and_rejected_rows() {
        let mut book = NodeBook {
            rows_in: vec![8, 1],
            rows_out: vec![4, 5],
            copied: 1,
            expanded: 4,
            empty: 1,
            filtered: 3,
            ..NodeBook::default()
        };
        assert!(!book.balances());
        book.reject(Category::ValidationFailure, 1);
        assert!(book.balances());
    }

    #[test]
    fn eng_204_blocks_add_up_by_reason() {
        let empty = || Books { nodes: vec![NodeBook { rows_in: vec![0], rows_out: vec![0], ..NodeBook::default() }] };
        let mut books = empty();
        for _ in 0..2 {
            let mut block = empty();
            block.nodes[0].rows_in[0] = 2;
            block.nodes[0].reject(Category::TypeCoercionFailure, 1);
            block.nodes[0].reject(Category::StructuralValidation, 1);
            books.add(&block);
        }
        let rejected = [(Category::TypeCoercionFailure, 2), (Category::StructuralValidation, 2)];
        assert_eq!((&books.nodes[0].rows_in[..], &books.nodes[0].rejected[..]), (&[4][..], &rejected[..]));
    }
}
