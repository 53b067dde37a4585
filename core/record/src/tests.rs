//! Columns, batches, cells and origins.

use std::sync::Arc;

use arrow_buffer::Buffer;

use crate::testing::Random;
use crate::{
    Batch, CellRef, Column, Decimal, Kind, Origin, OriginRun, Schema, TextCells, Type, Undeclared, Value, Widened,
};

const KINDS: [Kind; 11] = [
    Kind::Null,
    Kind::Bool,
    Kind::Int,
    Kind::Float,
    Kind::Decimal,
    Kind::String,
    Kind::Date,
    Kind::DateTime,
    Kind::Array,
    Kind::Map,
    Kind::Any,
];

fn value(kind: Kind, random: &mut Random) -> Value {
    if random.below(4) == 0 {
        return Value::Null;
    }
    match kind {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(random.below(2) == 0),
        Kind::Int => Value::Int(random.next() as i64),
        Kind::Float => Value::Float(random.below(1000) as f64 / 8.0),
        Kind::Decimal => Value::Decimal(Decimal::new(random.next().into(), random.below(29) as u8).unwrap()),
        Kind::String => Value::String("text ".repeat(random.below(6) as usize).into()),
        Kind::Date => Value::Date(random.below(40_000) as i32),
        Kind::DateTime => Value::DateTime(i128::from(random.next()) * 3),
        Kind::Array => Value::Array(vec![value(Kind::Date, random), value(Kind::Decimal, random)]),
        Kind::Map => Value::Map(vec![("$k".into(), value(Kind::Int, random))]),
        Kind::Any => value(*random.pick(&[Kind::Int, Kind::String, Kind::Decimal, Kind::Map]), random),
    }
}

#[test]
fn cxl_4_1_columns_give_back_the_values_they_are_made_of() {
    let mut random = Random::new(51);
    for kind in KINDS {
        for len in [0, 1, 70] {
            let values: Vec<Value> = (0..len).map(|_| value(kind, &mut random)).collect();
            let column = Column::from_values(kind, &values);
            let all = |column: &Column| (0..column.len()).map(|row| column.value(row)).collect::<Vec<_>>();
            assert_eq!(all(&column), values);
            assert_eq!((column.kind(), column.len()), (kind, len));
            assert_eq!(column.null_count(), values.iter().filter(|value| value.is_null()).count());
            let rows: Vec<u32> = (0..len as u32).rev().filter(|row| row % 3 != 1).collect();
            let taken: Vec<Value> = rows.iter().map(|row| values[*row as usize].clone()).collect();
            assert_eq!(all(&column.take(&rows)), taken);
            assert_eq!(column.take(&rows).kind(), kind);
            let (from, to) = (len / 3, len - len / 4);
            assert_eq!(all(&column.slice(from, to - from)), values[from..to]);
        }
    }
}

#[test]
fn formats_1_3_type_words() {
    for kind in KINDS {
        assert_eq!(Kind::from_word(kind.word()), Some(kind));
    }
    assert_eq!(Kind::from_word("numeric"), None);
    assert_eq!(Type::nullable(Kind::DateTime).to_string(), "nullable(date_time)");
    assert_eq!(Type::plain(Kind::Int).to_string(), "int");
}

#[test]
fn formats_1_4_row_numbers_survive_filters_and_run_ends() {
    let run = |start, file, row, ordinal| OriginRun { start, source: 1, file, row, ordinal };
    let runs: Arc<[OriginRun]> = Arc::from([run(0, 0, 101, 101), run(5, 1, 1, 106), run(6, 2, 1, 107)]);
    let origin = Origin::block(runs);
    let place = |origin: &Origin, row| {
        let (run, distance) = origin.locate(row);
        (run.file, run.row + distance, run.ordinal + distance)
    };
    let expected = [
        (0, 101, 101),
        (0, 102, 102),
        (0, 103, 103),
        (0, 104, 104),
        (0, 105, 105),
        (1, 1, 106),
        (2, 1, 107),
        (2, 2, 108),
    ];
    for (row, expected) in expected.into_iter().enumerate() {
        assert_eq!(place(&origin, row), expected);
    }
    let once = origin.take(&[7, 5, 4, 0]);
    let twice = once.take(&[0, 2]);
    assert_eq!([place(&twice, 0), place(&twice, 1)], [expected[7], expected[4]]);
    assert_eq!((twice.row_in_file(1), twice.block_row(1)), (105, 4));
}

#[test]
fn formats_1_5_widened_columns_travel_with_their_rows() {
    let column = Column::from_values(Kind::Int, &[Value::Int(1), Value::Int(2), Value::Int(3)]);
    let text = Column::from_values(Kind::String, &[Value::String("a".into()), Value::Null, Value::String("c".into())]);
    let schema = Arc::new(Schema { columns: vec![("n".into(), Type::plain(Kind::Int))] });
    let run = OriginRun { start: 0, source: 0, file: 0, row: 1, ordinal: 1 };
    let widened = Undeclared::in_every_row(vec![Widened { name: "extra".into(), column: text }]);
    let batch = Batch { schema, columns: vec![column], rows: 3, origin: Origin::block(Arc::from([run])), widened };
    let taken = batch.take(&[2, 1]);
    assert_eq!(taken.rows, 2);
    assert_eq!(taken.columns[0].value(0), Value::Int(3));
    assert_eq!(taken.widened.fields()[0].column.value(0), Value::String("c".into()));
    assert_eq!((taken.origin.row_in_file(0), taken.origin.row_in_file(1)), (3, 2));
    assert_eq!((batch.schema.position("n"), batch.schema.position("m")), (Some(0), None));
}

#[test]
fn formats_2_2_cells_stand_in_the_block_or_in_the_extra_text() {
    let cell = |offset, len| CellRef { offset, len };
    let cells = TextCells {
        block: Buffer::from_slice_ref("abc,"),
        extra: Buffer::from_slice_ref("xyz"),
        refs: vec![cell(0, 3), cell(4, 2), cell(6, 1), CellRef::ABSENT, cell(4, 0), cell(1, 0)],
    };
    let found: Vec<Option<&str>> = (0..cells.len()).map(|row| cells.text(row)).collect();
    assert_eq!(found, [Some("abc"), Some("xy"), Some("z"), None, Some(""), Some("")]);
    let empty = TextCells { block: Buffer::from_slice_ref(""), extra: Buffer::from_slice_ref("x"), ..cells };
    let empty = TextCells { refs: vec![cell(0, 1), cell(0, 0)], ..empty };
    assert_eq!((empty.text(0), empty.text(1)), (Some("x"), Some("")));
}

#[test]
fn eng_133_rows_are_gathered_from_columns_of_any_kinds() {
    let (ints, nulls) = (Column::from_values(Kind::Int, &[Value::Int(1), Value::Null]), Column::Null(3));
    let texts = Column::from_values(Kind::String, &[Value::String("x".into())]);
    let rows = [(0, 1), (1, 2), (0, 0)];
    let same = Column::gather(&[&ints, &nulls], &rows);
    assert_eq!((same.kind(), same.value(2), same.null_count()), (Kind::Int, Value::Int(1), 2));
    let mixed = Column::gather(&[&ints, &nulls, &texts], &[(2, 0), (0, 0), (1, 0)]);
    assert_eq!(mixed.kind(), Kind::Any);
    assert_eq!(
        [mixed.value(0), mixed.value(1), mixed.value(2)],
        [Value::String("x".into()), Value::Int(1), Value::Null]
    );
    assert_eq!(Column::gather(&[&nulls], &[(0, 0)]).kind(), Kind::Null);
}
