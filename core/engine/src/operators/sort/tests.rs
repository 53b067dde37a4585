use std::cmp::Ordering;
use std::sync::Arc;

use clinker_memory::Budget;
use clinker_memory::spill::SpillDirectory;
use clinker_record::key::{KeyField, NullOrder};
use clinker_record::{Batch, Column, Kind, Origin, OriginRun, Schema, Type, Undeclared, Value};

use super::*;

/// Numbers that look random and are always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

fn schema() -> SchemaRef {
    let column = |name: &str, kind| (Arc::from(name), Type::nullable(kind));
    Arc::new(Schema { columns: vec![column("key", Kind::Int), column("text", Kind::String)] })
}

/// Rows with few different keys, some of them null; the ordinal tells when each arrived.
fn batches(random: &mut Random, count: usize) -> Vec<Batch> {
    let mut ordinal = 1;
    let mut batch = || {
        let rows = 1 + random.below(40) as usize;
        let key = |random: &mut Random| match random.below(12) {
            0 => Value::Null,
            key => Value::Int(key as i64 - 6),
        };
        let keys: Vec<Value> = (0..rows).map(|_| key(random)).collect();
        let texts: Vec<Value> =
            (0..rows).map(|_| Value::String("x".repeat(random.below(60) as usize).into())).collect();
        let columns = vec![Column::from_values(Kind::Int, &keys), Column::from_values(Kind::String, &texts)];
        let run = OriginRun { start: 0, source: 0, file: 0, row: ordinal, ordinal };
        ordinal += rows as u64;
        let origin = Origin::block(Arc::from([run]));
        Batch { schema: schema(), columns, rows, origin, widened: Undeclared::default() }
    };
    (0..count).map(|_| batch()).collect()
}

fn seen(batch: &Batch) -> Vec<(Value, Value, u64)> {
    let row = |row: usize| {
        let (run, distance) = batch.origin.locate(row);
        (batch.columns[0].value(row), batch.columns[1].value(row), run.ordinal + distance)
    };
    (0..batch.rows).map(row).collect()
}

/// The plain order: a stable sort of all rows.
fn expected(batches: &[Batch], field: KeyField) -> Vec<(Value, Value, u64)> {
    let mut rows: Vec<_> = batches.iter().flat_map(seen).collect();
    let number = |value: &Value| if let Value::Int(number) = value { Some(*number) } else { None };
    rows.sort_by(|one, other| match (number(&one.0), number(&other.0)) {
        (None, None) => Ordering::Equal,
        (None, _) if field.nulls == NullOrder::First => Ordering::Less,
        (_, None) if field.nulls == NullOrder::First => Ordering::Greater,
        (None, _) => Ordering::Greater,
        (_, None) => Ordering::Less,
        (Some(one), Some(other)) if field.descending => other.cmp(&one),
        (Some(one), Some(other)) => one.cmp(&other),
    });
    rows
}

struct Outcome {
    rows: Vec<(Value, Value, u64)>,
    spilled: u64,
}

fn sorted(batches: &[Batch], field: KeyField, limit: u64, rows: usize, bytes: usize) -> Result<Outcome, SpillError> {
    sorted_with(batches, field, limit, rows, bytes, None)
}

fn sorted_with(
    batches: &[Batch],
    field: KeyField,
    limit: u64,
    rows: usize,
    bytes: usize,
    cap: Option<u64>,
) -> Result<Outcome, SpillError> {
    let parent = tempfile::tempdir().expect("a directory");
    let spill = SpillDirectory::new(parent.path(), "sort", cap);
    let budget = Budget::new(limit);
    let sorting = Sorting {
        schema: schema(),
        fields: vec![field],
        columns: Arc::new(|batch: &Batch| vec![batch.columns[0].clone()]),
        budget: Arc::clone(&budget),
        spill: Arc::clone(&spill),
        stage: Arc::from("by_key"),
        rows,
        bytes,
        threads: 2,
        compress: rows.is_multiple_of(2),
    };
    let outcome = (|| {
        let mut sorter = Sorter::new(sorting, "sort", clinker_memory::priority::SORT);
        for batch in batches {
            let keyed =
                Keyed::new(batch.clone(), &[field], &[batch.columns[0].clone()]).expect("integers have an order");
            sorter.push(keyed)?;
        }
        let (mut sorted, mut out) = (sorter.finish()?, Vec::new());
        while let Some(part) = sorted.next()? {
            let batch = part.rows();
            assert!(batch.rows > 0 && batch.rows <= rows.max(1));
            out.extend(seen(&batch));
        }
        Ok(Outcome { rows: out, spilled: spill.written() })
    })();
    assert_eq!((spill.live(), budget.used()), (0, 0), "nothing stays behind");
    drop(spill);
    assert_eq!(std::fs::read_dir(parent.path()).expect("the directory").count(), 0);
    outcome
}

#[test]
fn eng_84_rows_are_in_stable_order_in_memory_and_spilled() {
    let mut random = Random(7);
    for round in 0..12 {
        let count = 1 + random.below(40) as usize;
        let rows = batches(&mut random, count);
        let nulls = if round % 2 == 0 { NullOrder::First } else { NullOrder::Last };
        let field = KeyField { descending: round % 3 == 0, nulls };
        let want = expected(&rows, field);
        let in_memory = sorted(&rows, field, u64::MAX, 2048, 1 << 20).expect("it sorts");
        assert!(in_memory.rows == want && in_memory.spilled == 0, "round {round}");
        for (limit, out) in [(20_000, 7), (4_000, 64), (1, 1)] {
            let spilled = sorted(&rows, field, limit, out, 512).expect("it sorts");
            assert!(spilled.rows == want, "round {round}, limit {limit}");
        }
    }
}

#[test]
fn eng_9_2_more_runs_than_the_fan_in_are_merged_in_passes() {
    let rows = batches(&mut Random(11), 300);
    let field = KeyField { descending: false, nulls: NullOrder::Last };
    let outcome = sorted(&rows, field, 1, 16, 1 << 10).expect("it sorts");
    assert!(outcome.rows == expected(&rows, field));
    let once: u64 = sorted(&rows[..2], field, 1, 16, 1 << 10).expect("it sorts").spilled;
    assert!(outcome.spilled > once * 150, "runs were written more than once: {} bytes", outcome.spilled);
}

#[test]
fn e320_a_merge_that_crosses_the_cap_leaves_nothing() {
    let rows = batches(&mut Random(13), 200);
    let field = KeyField { descending: false, nulls: NullOrder::Last };
    let refused = sorted_with(&rows, field, 1, 16, 1 << 10, Some(50_000)).map(|outcome| outcome.rows.len());
    assert!(matches!(refused, Err(SpillError::Quota { .. })));
}

#[test]
fn eng_85_an_empty_sort_gives_nothing() {
    let field = KeyField { descending: false, nulls: NullOrder::Last };
    assert!(sorted(&[], field, 1, 16, 16).expect("it sorts").rows.is_empty());
}
