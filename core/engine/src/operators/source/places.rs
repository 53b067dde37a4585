//! Where the rows of a block stand in the order of its effects.
//!
//! A row that is the only one of its record stands where the record does. Records that became several rows, or none, give
//! each of their rows a place of its own, so that whatever happens to one of them has its place, too; row number and
//! ordinal stay those of the record.

use std::sync::Arc;

use clinker_format::Decoded;
use clinker_record::{Origin, OriginRun};

use super::reader::BlockWork;

/// The places of the rows of a block.
pub(crate) struct Places {
    /// For each accepted row the position of its record; `None` when all records are accepted as one row each.
    accepted: Option<Vec<u32>>,
    /// Positions of rejected records in order, where records are expanded.
    rejected: Option<Vec<u32>>,
}

/// A row in the order, and the position of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub place: u32,
    pub record: u32,
}

impl Places {
    /// The places of what was decoded, by a Source that expands records or by another.
    pub(crate) fn of(expands: bool, decoded: &Decoded) -> Self {
        let rejected = expands.then(|| {
            let overruns = decoded.overruns.iter().flat_map(|overruns| &overruns.places).map(|overrun| overrun.row);
            let mut rows: Vec<u32> = decoded.rejected.iter().map(|row| row.row).chain(overruns).collect();
            rows.sort_unstable();
            rows
        });
        Self { accepted: decoded.accepted.clone(), rejected }
    }

    /// Rows beyond the first one of their record.
    pub(crate) fn expanded(&self) -> u64 {
        let (Some(accepted), Some(_)) = (&self.accepted, &self.rejected) else { return 0 };
        accepted.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64
    }

    /// The place of a rejected record.
    pub(crate) fn of_rejected(&self, record: u32) -> Place {
        let (Some(accepted), Some(rejected)) = (&self.accepted, &self.rejected) else {
            return Place { place: record, record };
        };
        let before = |rows: &[u32]| rows.partition_point(|row| *row < record);
        Place { place: (before(accepted) + before(rejected)) as u32, record }
    }

    /// The origin of the accepted rows.
    pub(crate) fn origin(&self, source: u16, work: &BlockWork) -> Origin {
        let run = |start: u32, record: u32| OriginRun {
            start,
            source,
            file: work.file,
            row: work.block.first_row + u64::from(record),
            ordinal: work.first_ordinal + u64::from(record),
        };
        match (&self.accepted, &self.rejected) {
            (None, _) => Origin::block(Arc::from([run(0, 0)])),
            (Some(accepted), None) => Origin::block(Arc::from([run(0, 0)])).take(accepted),
            (Some(accepted), Some(rejected)) => {
                let mut rejected = rejected.iter().peekable();
                let mut passed = 0;
                let place = |(at, record): (usize, &u32)| {
                    while rejected.next_if(|row| *row < record).is_some() {
                        passed += 1;
                    }
                    at as u32 + passed
                };
                let places: Vec<u32> = accepted.iter().enumerate().map(place).collect();
                let runs = places.iter().zip(accepted).map(|(place, record)| run(*place, *record)).collect();
                Origin::block(runs).take(&places)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clinker_format::{Overrun, Overruns};

    use super::*;

    #[test]
    fn formats_1_4_each_row_of_a_record_has_a_place_and_shares_its_position() {
        let overrun = Overrun { row: 4, line: 1, offset: 0 };
        let overruns = Overruns { places: vec![overrun], records: Decoded::default() };
        // Records 0 and 3 are two rows each, 1 is none, 2 and 5 are one, 4 is too many.
        let decoded = Decoded {
            accepted: Some(vec![0, 0, 2, 3, 3, 5]),
            overruns: Some(Box::new(overruns)),
            dropped: 1,
            ..Decoded::default()
        };
        let places = Places::of(true, &decoded);
        assert_eq!(places.expanded(), 2);
        assert_eq!(places.of_rejected(4), Place { place: 5, record: 4 });
        let plain = Places::of(false, &Decoded { accepted: Some(vec![0, 2]), ..Decoded::default() });
        assert_eq!((plain.of_rejected(1), plain.expanded()), (Place { place: 1, record: 1 }, 0));
    }
}
