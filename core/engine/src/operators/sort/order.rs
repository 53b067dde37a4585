//! The order of rows that are in memory.
//!
//! Rows are sorted by eight bytes of their keys at a time: first by the first eight, then each group of rows that agree
//! in these by the next eight, and so on. So a comparison looks at two numbers that stand beside each other, and a key is
//! fetched once for every eight bytes that it shares with another one.

use super::Keyed;

/// A row by a part of its key, its batch and its row there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    prefix: u64,
    pub batch: u32,
    pub row: u32,
}

/// The order of rows: by key, then by arrival.
pub(super) fn order(held: &[Keyed]) -> Vec<Place> {
    let mut order = Vec::with_capacity(held.iter().map(|keyed| keyed.batch.rows).sum());
    for (batch, keyed) in held.iter().enumerate() {
        let place = |row: usize| Place { prefix: keyed.keys.prefix(row, 0), batch: batch as u32, row: row as u32 };
        order.extend((0..keyed.batch.rows).map(place));
    }
    // Groups that are still to be sorted by their current eight bytes, which begin at that depth.
    let mut groups = vec![(0..order.len(), 0)];
    while let Some((group, depth)) = groups.pop() {
        order[group.clone()].sort_unstable();
        let mut start = group.start;
        while start < group.end {
            let end = start + run(&order[start..group.end]);
            if end - start > 1 && refine(held, &mut order[start..end], depth + 8) {
                groups.push((start..end, depth + 8));
            }
            start = end;
        }
    }
    order
}

/// How many places from the first one on have the same bytes.
fn run(places: &[Place]) -> usize {
    places.iter().take_while(|place| place.prefix == places[0].prefix).count()
}

/// Fetches the next bytes of keys that agree so far; `false` when they end here, and are equal.
fn refine(held: &[Keyed], places: &mut [Place], depth: usize) -> bool {
    // No key is a beginning of another one: where one ends, all end.
    let first = places[0];
    if held[first.batch as usize].keys.key(first.row as usize).len() <= depth {
        return false;
    }
    for place in places {
        place.prefix = held[place.batch as usize].keys.prefix(place.row as usize, depth);
    }
    true
}
