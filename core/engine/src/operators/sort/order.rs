//! The order of rows that are in memory.
//!
//! Rows are sorted by eight bytes of their keys at a time: first by the first eight, then each group of rows that agree
//! in these by the next eight, and so on. So a comparison looks at two numbers that stand beside each other, and a key is
//! fetched once for every eight bytes that it shares with another one. Large groups are divided into those below, at and
//! above one of their numbers, which are ordered by any thread.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::Keyed;

/// A row by a part of its key, its batch and its row there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    prefix: u64,
    pub batch: u32,
    pub row: u32,
}

/// A group of more rows is divided.
const LARGE: usize = 32 << 10;

/// The order of rows: by key, then by arrival.
pub(super) fn order(held: &[Keyed], threads: usize) -> Vec<Place> {
    let mut order = Vec::with_capacity(held.iter().map(|keyed| keyed.batch.rows).sum());
    for (batch, keyed) in held.iter().enumerate() {
        let place = |row: usize| Place { prefix: keyed.keys.prefix(row, 0), batch: batch as u32, row: row as u32 };
        order.extend((0..keyed.batch.rows).map(place));
    }
    let threads = if order.len() > LARGE { threads.max(1) } else { 1 };
    let groups = Groups::new(&mut order);
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, || groups.work(held)).ok())
            .collect();
        groups.work(held);
        for other in others {
            if let Err(panic) = other.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    order
}

/// Rows that agree in their keys up to a depth, where their current eight bytes begin.
type Group<'a> = (&'a mut [Place], usize);

/// Groups that are still to be ordered.
struct Groups<'a> {
    state: Mutex<State<'a>>,
    changed: Condvar,
}

struct State<'a> {
    waiting: Vec<Group<'a>>,
    /// Groups that a thread works on.
    busy: usize,
}

impl<'a> Groups<'a> {
    fn new(all: &'a mut [Place]) -> Self {
        Self { state: Mutex::new(State { waiting: vec![(all, 0)], busy: 0 }), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Orders groups until none is left.
    fn work(&self, held: &[Keyed]) {
        while let Some((places, depth)) = self.take() {
            if places.len() > LARGE {
                let parts = divide(places);
                let mut more = Vec::new();
                for (at, part) in parts.into_iter().enumerate() {
                    match at {
                        1 if refine(held, part, depth + 8) => more.push((part, depth + 8)),
                        1 => part.sort_unstable_by_key(|place| (place.batch, place.row)),
                        _ => more.push((part, depth)),
                    }
                }
                self.done(more);
            } else {
                order_group(held, places, depth);
                self.done(Vec::new());
            }
        }
    }

    fn take(&self) -> Option<Group<'a>> {
        let mut state = self.lock();
        loop {
            if let Some(group) = state.waiting.pop() {
                state.busy += 1;
                return Some(group);
            }
            if state.busy == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn done(&self, more: Vec<Group<'a>>) {
        let mut state = self.lock();
        state.waiting.extend(more);
        state.busy -= 1;
        self.changed.notify_all();
    }
}

/// Divides places into those whose number is smaller than, equal to and larger than that of one of them.
fn divide(places: &mut [Place]) -> [&mut [Place]; 3] {
    let pivot = pivot(places);
    let (mut below, mut at, mut above) = (0, 0, places.len());
    while at < above {
        match places[at].prefix.cmp(&pivot) {
            std::cmp::Ordering::Less => {
                places.swap(below, at);
                below += 1;
                at += 1;
            }
            std::cmp::Ordering::Equal => at += 1,
            std::cmp::Ordering::Greater => {
                above -= 1;
                places.swap(at, above);
            }
        }
    }
    let (rest, high) = places.split_at_mut(above);
    let (low, middle) = rest.split_at_mut(below);
    [low, middle, high]
}

/// The median of numbers that are spread over the places.
fn pivot(places: &[Place]) -> u64 {
    const SAMPLES: usize = 63;
    let mut sample: Vec<u64> = (0..SAMPLES).map(|at| places[at * places.len() / SAMPLES].prefix).collect();
    sample.sort_unstable();
    sample[SAMPLES / 2]
}

/// Orders a group on one thread.
fn order_group(held: &[Keyed], places: &mut [Place], depth: usize) {
    // Groups that are still to be sorted by their current eight bytes, which begin at that depth.
    let mut groups = vec![(0..places.len(), depth)];
    while let Some((group, depth)) = groups.pop() {
        places[group.clone()].sort_unstable();
        let mut start = group.start;
        while start < group.end {
            let end = start + run(&places[start..group.end]);
            if end - start > 1 && refine(held, &mut places[start..end], depth + 8) {
                groups.push((start..end, depth + 8));
            }
            start = end;
        }
    }
}

/// How many places from the first one on have the same bytes.
fn run(places: &[Place]) -> usize {
    places.iter().take_while(|place| place.prefix == places[0].prefix).count()
}

/// Fetches the next bytes of keys that agree so far; `false` when they end here, and are equal.
fn refine(held: &[Keyed], places: &mut [Place], depth: usize) -> bool {
    // No key is a beginning of another one: where one ends, all end.
    let Some(first) = places.first() else { return false };
    if held[first.batch as usize].keys.key(first.row as usize).len() <= depth {
        return false;
    }
    for place in places {
        place.prefix = held[place.batch as usize].keys.prefix(place.row as usize, depth);
    }
    true
}

#[cfg(test)]
mod tests {
    use clinker_record::key::{KeyField, NullOrder};
    use clinker_record::{Batch, Column, Kind, Origin, Schema, Type, Undeclared, Value};

    use super::*;

    #[test]
    fn eng_84_many_rows_with_long_common_beginnings_are_in_stable_order_on_any_number_of_threads() {
        let mut state = 5u64;
        let mut below = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        let schema = std::sync::Arc::new(Schema { columns: vec![("text".into(), Type::nullable(Kind::String))] });
        let field = KeyField { descending: false, nulls: NullOrder::Last };
        let mut batch = |rows: usize| {
            let text = |_| match below(3) {
                0 => Value::String(format!("a common beginning {}", below(50)).into()),
                1 => Value::String("a common".into()),
                _ => Value::String(format!("{:x}", below(1 << 30)).into()),
            };
            let values: Vec<Value> = (0..rows).map(text).collect();
            let columns = vec![Column::from_values(Kind::String, &values)];
            let origin = Origin::none();
            let batch = Batch {
                schema: schema.clone(),
                columns: columns.clone(),
                rows,
                origin,
                widened: Undeclared::default(),
            };
            Keyed::new(batch, &[field], &columns).expect("text has an order")
        };
        let held: Vec<Keyed> = (0..5).map(|_| batch(30_000)).collect();
        let mut expected: Vec<(u32, u32)> = (0..5).flat_map(|batch| (0..30_000).map(move |row| (batch, row))).collect();
        expected.sort_by(|one, other| {
            let key = |at: &(u32, u32)| held[at.0 as usize].keys.key(at.1 as usize).to_vec();
            key(one).cmp(&key(other))
        });
        for threads in [1, 2, 5] {
            let got: Vec<(u32, u32)> = order(&held, threads).iter().map(|place| (place.batch, place.row)).collect();
            assert!(got == expected, "on {threads} threads");
        }
    }
}
