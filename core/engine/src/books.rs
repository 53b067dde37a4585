//! The books: at every node and on every edge, what came in went somewhere.

use clinker_plan::CompiledPlan;
use clinker_record::Category;

/// The counts of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeBook {
    /// Rows in; for a Source the body rows read, rejected ones included.
    pub rows_in: u64,
    /// Rows out of its one port; for a Sink the rows its destination accepted.
    pub rows_out: u64,
    /// Rows dropped by `filter`.
    pub filtered: u64,
    /// Rows rejected, by category.
    pub rejected: Vec<(Category, u64)>,
}

impl NodeBook {
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

    /// Whether every row that came in went somewhere.
    pub fn balances(&self) -> bool {
        self.rows_in == self.rows_out + self.filtered + self.rejected_total()
    }

    fn add(&mut self, other: &NodeBook) {
        self.rows_in += other.rows_in;
        self.rows_out += other.rows_out;
        self.filtered += other.filtered;
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
    /// Empty books for a plan of `nodes` nodes.
    pub fn new(nodes: usize) -> Self {
        Self { nodes: vec![NodeBook::default(); nodes] }
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
                    "the books of node `{}` do not balance: {} in, {} out, {} filtered, {} rejected",
                    node.name,
                    book.rows_in,
                    book.rows_out,
                    book.filtered,
                    book.rejected_total()
                ));
            }
            if let Some(input) = node.input
                && self.nodes[input].rows_out != book.rows_in
            {
                return Err(format!(
                    "the books of edge `{}` -> `{}` do not balance: {} out, {} in",
                    plan.nodes[input].name, node.name, self.nodes[input].rows_out, book.rows_in
                ));
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
        let mut book = NodeBook { rows_in: 10, rows_out: 6, filtered: 3, rejected: Vec::new() };
        assert!(!book.balances());
        book.reject(Category::ValidationFailure, 1);
        assert!(book.balances());
    }

    #[test]
    fn eng_204_blocks_add_up_by_reason() {
        let mut books = Books::new(1);
        for _ in 0..2 {
            let mut block = Books::new(1);
            block.nodes[0].rows_in = 2;
            block.nodes[0].reject(Category::TypeCoercionFailure, 1);
            block.nodes[0].reject(Category::StructuralValidation, 1);
            books.add(&block);
        }
        let rejected = [(Category::TypeCoercionFailure, 2), (Category::StructuralValidation, 2)];
        assert_eq!(books.nodes[0], NodeBook { rows_in: 4, rows_out: 0, filtered: 0, rejected: rejected.to_vec() });
    }
}
