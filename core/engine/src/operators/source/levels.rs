//! The levels that are open around the rows of a file, from the marks that its cutter sets.

use std::sync::Arc;

use clinker_format::{Block, LevelEvent, LevelOpen, LevelSpec};
use clinker_record::{Frame, Level, LevelRun, Section};

use crate::RunError;

/// The levels that are open at a point of a file.
pub(crate) struct OpenLevels {
    specs: Vec<LevelSpec>,
    innermost: Option<Arc<Level>>,
    /// For the file and for each open level, how many levels of each kind were opened directly inside.
    inside: Vec<Vec<u64>>,
}

impl OpenLevels {
    /// Nothing is open yet of a file whose format has these levels.
    pub(crate) fn new(specs: &[LevelSpec]) -> Self {
        Self { specs: specs.to_vec(), innermost: None, inside: vec![vec![0; specs.len()]] }
    }

    /// Follows the marks of the next block: the levels around its rows, or nothing where the format has none.
    /// `sections` says what a level that opens tells about its rows.
    pub(crate) fn follow(
        &mut self,
        block: &Block,
        sections: impl Fn(&LevelOpen) -> Result<Vec<Section>, RunError>,
    ) -> Result<Option<Arc<[LevelRun]>>, RunError> {
        if self.specs.is_empty() && block.marks.is_empty() {
            return Ok(None);
        }
        let mut runs = vec![LevelRun { start: 0, level: self.innermost.clone() }];
        for mark in &block.marks {
            if runs.last().is_some_and(|run| run.start > mark.row) || mark.row > block.rows {
                return Err(RunError::contract("levels open or close at rows that the block does not have"));
            }
            match &mark.event {
                LevelEvent::Open(open) => self.open(open, &sections)?,
                LevelEvent::Close => self.close()?,
            }
            let level = self.innermost.clone();
            match runs.last_mut() {
                Some(last) if last.start == mark.row => last.level = level,
                _ => runs.push(LevelRun { start: mark.row, level }),
            }
        }
        Ok(Some(runs.into()))
    }

    /// Whether every level was closed.
    pub(crate) fn all_closed(&self) -> bool {
        self.innermost.is_none()
    }

    fn open(
        &mut self,
        open: &LevelOpen,
        sections: impl Fn(&LevelOpen) -> Result<Vec<Section>, RunError>,
    ) -> Result<(), RunError> {
        let kind = usize::from(open.level);
        let (Some(spec), Some(counts)) = (self.specs.get(kind), self.inside.last_mut()) else {
            return Err(RunError::contract("a level was opened that the format has not declared"));
        };
        counts[kind] += 1;
        let level = Level {
            kind: open.level,
            ordinal: counts[kind],
            frame: if spec.frame == Frame::New { Frame::New } else { Frame::Inherit },
            parent: self.innermost.take(),
            sections: sections(open)?,
        };
        self.innermost = Some(Arc::new(level));
        self.inside.push(vec![0; self.specs.len()]);
        Ok(())
    }

    fn close(&mut self) -> Result<(), RunError> {
        let Some(level) = self.innermost.take() else {
            return Err(RunError::contract("a level was closed although none is open"));
        };
        self.innermost = level.parent.clone();
        self.inside.pop();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clinker_format::Mark;

    use super::*;

    fn specs() -> Vec<LevelSpec> {
        let spec = |name: &str| LevelSpec {
            name: name.into(),
            section: name.into(),
            fields: None,
            frame: Frame::Inherit,
            file: false,
        };
        vec![spec("file"), spec("group")]
    }

    fn open(row: u32, level: u16) -> Mark {
        let open = LevelOpen { level, fields: Vec::new(), keys: Vec::new(), line: 1, offset: 0 };
        Mark { row, event: LevelEvent::Open(open) }
    }

    fn close(row: u32) -> Mark {
        Mark { row, event: LevelEvent::Close }
    }

    fn follow(levels: &mut OpenLevels, rows: u32, marks: Vec<Mark>) -> Result<Vec<(u32, String)>, RunError> {
        let block = Block { rows, marks, ..Block::default() };
        let runs = levels.follow(&block, |_| Ok(Vec::new()))?.expect("the format has levels");
        let shown = |run: &LevelRun| {
            let chain = run.level.iter().flat_map(|level| level.chain());
            let chain: Vec<String> = chain.map(|level| format!("{}.{}", level.kind, level.ordinal)).collect();
            (run.start, chain.join(" "))
        };
        Ok(runs.iter().map(shown).collect())
    }

    #[test]
    fn formats_1_8_levels_go_on_from_block_to_block_and_are_numbered_inside_their_parent() {
        let mut levels = OpenLevels::new(&specs());
        let first = follow(&mut levels, 3, vec![open(0, 0), open(1, 1), close(3), open(3, 1)]).expect("it nests");
        assert_eq!(first, [(0, "0.1".to_owned()), (1, "1.1 0.1".to_owned()), (3, "1.2 0.1".to_owned())]);
        let second = follow(&mut levels, 2, vec![close(1), close(1), open(1, 0), open(1, 1)]).expect("it nests");
        assert_eq!(second, [(0, "1.2 0.1".to_owned()), (1, "1.1 0.2".to_owned())]);
        assert!(!levels.all_closed());
        follow(&mut levels, 0, vec![close(0), close(0)]).expect("it nests");
        assert!(levels.all_closed());
    }

    #[test]
    fn e468_marks_that_do_not_nest_break_the_contract() {
        for marks in [vec![close(0)], vec![open(0, 7)], vec![open(3, 0)], vec![open(1, 0), open(0, 1)]] {
            let broken = follow(&mut OpenLevels::new(&specs()), 2, marks);
            assert!(matches!(broken, Err(RunError::Failed { exit: 1, .. })));
        }
    }
}
