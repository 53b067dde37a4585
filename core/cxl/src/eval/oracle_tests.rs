//! Random programs over random batches: the kernels must say what the plain interpreter says, for every way of
//! cutting the rows into batches.

use std::sync::Arc;

use clinker_events::Level;
use clinker_record::{Batch, Column, Decimal, Kind, LevelRun, Schema, Type, Value};

use super::document_tests::level;
use super::oracle::{Row, RowOutcome, batch, run, show};
use super::{Budget, run_program};
use crate::check::check_program;
use crate::check::types::{Base, Ty};
use crate::functions::{Function, Kinds};
use crate::{RunContext, Scope, ScopeColumn};

/// A small seeded generator of numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

const KINDS: [(&str, Kind); 14] = [
    ("i", Kind::Int),
    ("j", Kind::Int),
    ("f", Kind::Float),
    ("g", Kind::Float),
    ("d", Kind::Decimal),
    ("s", Kind::String),
    ("t", Kind::String),
    ("b", Kind::Bool),
    ("day", Kind::Date),
    ("at", Kind::DateTime),
    ("raw", Kind::Any),
    ("xs", Kind::Array),
    ("ys", Kind::Array),
    ("m", Kind::Map),
];

fn value(random: &mut Random, kind: Kind) -> Value {
    if random.below(5) == 0 {
        return Value::Null;
    }
    match kind {
        Kind::Int => Value::Int(*random.pick(&[0, 1, -1, 2, 7, 100, i64::MAX, i64::MIN, 1 << 53, (1 << 53) + 1])),
        Kind::Float => {
            let floats = [0.0, -0.0, 1.5, -2.25, 1e300, f64::NAN, f64::INFINITY, 9_007_199_254_740_992.0, 0.1];
            Value::Float(*random.pick(&floats))
        }
        Kind::Decimal => {
            let (coefficient, scale) =
                *random.pick(&[(0, 2), (150, 2), (-7, 0), (Decimal::MAX_COEFFICIENT, 0), (1, 28)]);
            Value::Decimal(Decimal::new(coefficient, scale).unwrap())
        }
        Kind::String => {
            let texts = ["", "a", "12", "-3.5", "Straße", "  padded text of some length  ", "2031-08-09", "yes", "zz"];
            Value::String((*random.pick(&texts)).into())
        }
        Kind::Bool => Value::Bool(random.below(2) == 0),
        Kind::Date => Value::Date(*random.pick(&[0, 22_500, -719_162, 2_932_896])),
        Kind::DateTime => Value::DateTime(*random.pick(&[0, 1_943_942_704_500_000_000, -62_135_596_800_000_000_000])),
        Kind::Array => {
            let items = random.below(4);
            Value::Array((0..items).map(|_| value(random, Kind::Any)).collect())
        }
        Kind::Map => {
            let keys = ["a", "k", "\\@id", "b.c", "a"];
            let (start, len) = (random.below(2), random.below(4));
            Value::Map(keys[start..start + len].iter().map(|key| ((*key).into(), value(random, Kind::Any))).collect())
        }
        _ if random.below(6) == 0 => {
            let kind = *random.pick(&[Kind::Array, Kind::Map]);
            value(random, kind)
        }
        _ => {
            let kind = *random.pick(&[Kind::Int, Kind::Float, Kind::Decimal, Kind::String, Kind::Bool, Kind::Date]);
            value(random, kind)
        }
    }
}

/// An expression of a kind, as text.
fn expression(random: &mut Random, kind: Kind, depth: usize) -> String {
    if depth == 0 || random.below(6) == 0 {
        return leaf(random, kind);
    }
    let sub = |random: &mut Random, kind| expression(random, kind, depth - 1);
    match random.below(6) {
        0 => {
            let (condition, then, other) = (sub(random, Kind::Bool), sub(random, kind), sub(random, kind));
            format!("(if {condition} then {then} else {other})")
        }
        1 => format!("({} ?? {})", sub(random, kind), sub(random, kind)),
        2 => {
            let (subject, pattern) = (sub(random, Kind::Int), sub(random, Kind::Int));
            let (hit, second, other) = (sub(random, kind), sub(random, kind), sub(random, kind));
            format!("(match {subject} {{ {pattern} => {hit}, 7 => {second}, _ => {other} }})")
        }
        3 if matches!(kind, Kind::Array | Kind::Map | Kind::Any | Kind::Bool) => container(random, kind, depth),
        _ if matches!(kind, Kind::Array | Kind::Map) => container(random, kind, depth),
        _ => operation(random, kind, depth),
    }
}

fn operation(random: &mut Random, kind: Kind, depth: usize) -> String {
    let mut sub = |kind| expression(random, kind, depth - 1);
    let (int, float, text) = (sub(Kind::Int), sub(Kind::Float), sub(Kind::String));
    let (same, other, raw, decimal) = (sub(kind), sub(kind), sub(Kind::Any), sub(Kind::Decimal));
    let op = *random.pick(&["+", "-", "*", "/", "%"]);
    let comparison = *random.pick(&["==", "!=", "<", "<=", ">", ">="]);
    let pick = random.below(6);
    match (kind, pick) {
        (Kind::Int, 0) => format!("(-{same})"),
        (Kind::Int, 1) => format!("{text}.length()"),
        (Kind::Int, 2) => format!("{text}.to_int()"),
        (Kind::Float, 0) => format!("({int} {op} {float})"),
        (Kind::Float, 1) => format!("{same}.min({int})"),
        (Kind::Float, 2) => format!("{int}.round({int})"),
        (Kind::Decimal, 0) => format!("({int} {op} {same})"),
        (Kind::Decimal, 1) => format!("{text}.try_decimal()"),
        (Kind::Int | Kind::Float | Kind::Decimal, _) => format!("({same} {op} {other})"),
        (Kind::String, 0) => format!("({same} + {other})"),
        (Kind::String, 1) => format!("{same}.substring({int}, {int})"),
        (Kind::String, 2) => format!("{raw}.to_string()"),
        (Kind::String, 3) => format!("{same}.trim().upper()"),
        (Kind::String, 4) => format!("{same}.concat({raw}, {other})"),
        (Kind::String, _) => format!("{same}.replace({other}, {text})"),
        (Kind::Bool, 0) => format!("({same} and {other})"),
        (Kind::Bool, 1) => format!("({same} or {other} or {raw})"),
        (Kind::Bool, 2) => format!("(not {same})"),
        (Kind::Bool, 3) => format!("({int} {comparison} {float})"),
        (Kind::Bool, 4) => format!("({text} {comparison} {raw})"),
        (Kind::Bool, _) => format!("({decimal} {comparison} {int})"),
        (Kind::Date, 0) => format!("{text}.to_date()"),
        (Kind::DateTime, 0) => format!("{text}.try_datetime()"),
        (Kind::Date | Kind::DateTime, _) => format!("{same}.add_months({int})"),
        (_, 0) => format!("(-{same})"),
        (_, 1) => format!("{same}.abs()"),
        (_, 2) => format!("({same} {comparison} {other})"),
        (_, 3) => format!("{same}.left({raw})"),
        _ => format!("({same} {op} {other})"),
    }
}

/// An expression that makes or opens an array or a map. A closure or a comprehension binds `it` and `x`.
fn container(random: &mut Random, kind: Kind, depth: usize) -> String {
    let mut sub = |kind| expression(random, kind, depth - 1);
    let (xs, ys, map, raw, int) = (sub(Kind::Array), sub(Kind::Array), sub(Kind::Map), sub(Kind::Any), sub(Kind::Int));
    let (condition, text, inner) = (sub(Kind::Bool), sub(Kind::String), sub(Kind::Array));
    let about = *random.pick(&["it", "it > 1", "it == raw", "not it", "it.is_null()", "1 / it > 0 ?? true"]);
    let made = *random.pick(&["it * 2", "it", "it.to_string()", "1 / it", "[it]", "{k: it}.k", "it.a", "xs[it]"]);
    let pick = random.below(8);
    match (kind, pick) {
        (Kind::Array, 0) => format!("[{raw}, {int}, {text}]"),
        (Kind::Array, 1) => {
            format!("[{made} for it2 in {xs} if {condition}]").replace("it ", "it2 ").replace("it]", "it2]")
        }
        (Kind::Array, 2) => format!("{xs}.filter(it => {about})"),
        (Kind::Array, 3) => format!("{xs}.map(it => {made})"),
        (Kind::Array, 4) => format!("{xs}.flat_map(it => if {about} then {made} else {inner})"),
        (Kind::Array, 5) => format!("{text}.split({text})"),
        (Kind::Array, 6) => format!("{xs}.remove({int})"),
        (Kind::Array, _) => format!("{xs}.map(it => {ys}.filter(it => it == {raw}))"),
        (Kind::Map, 0) => format!("{{a: {raw}, [{text}]: {int}, \"k\": {xs}}}"),
        (Kind::Map, 1) => format!("{map}.merge({map})"),
        (Kind::Map, 2) => format!("{map}.set(\"a.b\", {raw})"),
        (Kind::Map, 3) => format!("{map}.set({text}, {raw})"),
        (Kind::Map, 4) => format!("{map}.unset(\"a[0]\")"),
        (Kind::Map, _) => format!("{map}.remove_field({text})"),
        (Kind::Bool, 0) => format!("{xs}.any(it => {about})"),
        (Kind::Bool, 1) => format!("({xs} == {ys})"),
        (Kind::Bool, 2) => format!("({map} != {map})"),
        (Kind::Bool, _) => format!("{xs}.is_empty()"),
        (_, 0) => format!("{xs}.find(it => {about})"),
        (_, 1) => format!("{raw}[{int}]"),
        (_, 2) => format!("{xs}[{int}]"),
        (_, 3) => format!("{map}[{text}]"),
        (_, 4) => format!("{raw}.k"),
        (_, 5) => format!("{map}.a"),
        (_, _) => format!("(match {raw} {{ {xs} => {int}, {map} => 1, _ => {raw} }})"),
    }
}

fn leaf(random: &mut Random, kind: Kind) -> String {
    let names: Vec<&str> = KINDS.iter().filter(|(_, own)| *own == kind).map(|(name, _)| *name).collect();
    let literals: &[&str] = match kind {
        Kind::Int => &["0", "3", "9223372036854775807", "$source.row"],
        Kind::Float => &["0.0", "2.5", "1.0"],
        Kind::Decimal => &["\"0.50\".to_decimal()", "\"3\".to_decimal()"],
        Kind::String => &["\"x\"", "\"\"", "\"a text that is longer than a view\""],
        Kind::Bool => &["true", "false", "null"],
        Kind::Date => &["#2031-08-09#"],
        Kind::DateTime => &["now", "$source.ingestion_timestamp"],
        Kind::Array => &["[]", "[1, null, \"a\"]"],
        Kind::Map => &["{}", "{a: {b: 1}}"],
        _ => &["null", "raw", "$doc.head.run", "$doc.set.ref"],
    };
    if random.below(3) == 0 { (*random.pick(literals)).to_owned() } else { (*random.pick(&names)).to_owned() }
}

#[test]
fn cxl_10_9_debug_logs_what_is_evaluated_and_changes_nothing() {
    let columns = scope_columns();
    let scope = Scope { columns: &columns, ..Scope::default() };
    let mut random = Random(109);
    let mut logged = 0;
    for _ in 0..600 {
        let kind = *random.pick(&[Kind::Int, Kind::Any, Kind::String, Kind::Array]);
        let (inner, other) = (expression(&mut random, kind, 2), expression(&mut random, kind, 2));
        let condition = expression(&mut random, Kind::Bool, 1);
        let text = format!(
            "emit a = (if {condition} then ({inner}).debug(s) else {other}.debug()) ?? {inner}.debug(\"last\")\n\
             filter ({condition}).debug() ?? true\nlet v = a.debug(\"a\")"
        );
        let Some(body) = check_program(&text, &scope).0 else { continue };
        let rows = 1 + random.below(20);
        let batch = random_batch(&mut random, rows);
        let quiet = run_program(&body, &batch, &run(), &Budget::new(usize::MAX)).expect("the budget is infinite");
        assert!(quiet.events.is_empty());
        let wanted = RunContext { log_level: Some(Level::Trace), ..run() };
        let loud = run_program(&body, &batch, &wanted, &Budget::new(usize::MAX)).expect("the budget is infinite");
        assert_eq!(fast(&body, &batch), slow(&body, &batch), "{text}");
        assert_eq!((&loud.kept, &loud.failures), (&quiet.kept, &quiet.failures), "{text}");
        let values = |columns: &[Column]| {
            let shown = |column: &Column| (0..column.len()).map(|row| show(&column.value(row))).collect::<Vec<_>>();
            columns.iter().map(shown).collect::<Vec<_>>()
        };
        assert_eq!(values(&loud.columns), values(&quiet.columns), "{text}");
        let expected: Vec<(u32, String)> = (0..rows)
            .flat_map(|row| {
                let mut plain = Row::new(&batch, &wanted, row);
                plain.run(&body);
                let lines = plain.logged.take();
                lines.into_iter().map(move |line| (row as u32, line))
            })
            .collect();
        let events: Vec<(u32, String)> = loud.events.into_iter().map(|event| (event.row, event.text)).collect();
        assert_eq!(events, expected, "{text}");
        logged += events.len();
    }
    assert!(logged > 5_000, "{logged} events");
}

fn program(random: &mut Random) -> String {
    let kinds = [
        Kind::Int,
        Kind::Float,
        Kind::Decimal,
        Kind::String,
        Kind::Bool,
        Kind::Date,
        Kind::DateTime,
        Kind::Any,
        Kind::Array,
        Kind::Map,
    ];
    let mut lines = Vec::new();
    for number in 0..1 + random.below(4) {
        let kind = *random.pick(&kinds);
        let text = expression(random, kind, 3);
        lines.push(match random.below(5) {
            0 => format!("filter {}", expression(random, Kind::Bool, 2)),
            1 => format!("let v{number} = {text}\nemit e{number} = v{number}"),
            _ => format!("emit e{number} = {text}"),
        });
    }
    lines.join("\n")
}

fn scope_columns() -> Vec<ScopeColumn> {
    KINDS.iter().map(|(name, kind)| (Arc::from(*name), Type::plain(*kind), false)).collect()
}

fn random_batch(random: &mut Random, rows: usize) -> Batch {
    let columns: Vec<Column> = KINDS
        .iter()
        .map(|(_, kind)| {
            if random.below(12) == 0 {
                return Column::Null(rows);
            }
            let values: Vec<Value> = (0..rows).map(|_| value(random, *kind)).collect();
            Column::from_values(*kind, &values)
        })
        .collect();
    let columns_of = KINDS.iter().map(|(name, kind)| (Arc::from(*name), Type::plain(*kind))).collect();
    let mut batch = batch(Arc::new(Schema { columns: columns_of }), columns, rows);
    batch.origin = batch.origin.inside(random_levels(random, rows));
    batch
}

/// Levels that begin at random rows.
fn random_levels(random: &mut Random, rows: usize) -> Arc<[LevelRun]> {
    let file = level(None, &[("head", "run", value(random, Kind::Int))]);
    let mut runs: Vec<LevelRun> = Vec::new();
    for start in 0..rows as u32 {
        if random.below(4) > 0 {
            continue;
        }
        let kind = *random.pick(&[Kind::String, Kind::Date, Kind::Int]);
        let set = level(Some(&file), &[("set", "ref", value(random, kind))]);
        runs.push(LevelRun { start, level: random.pick(&[None, Some(Arc::clone(&file)), Some(set)]).clone() });
    }
    runs.into()
}

/// What the kernels make of each row.
fn fast(body: &crate::ir::Body, batch: &Batch) -> Vec<String> {
    let result = run_program(body, batch, &run(), &Budget::new(usize::MAX)).expect("the budget is infinite");
    let mut rows = vec!["filtered".to_owned(); batch.rows];
    let kept = result.kept.unwrap_or_else(|| (0..batch.rows as u32).collect());
    for (at, row) in kept.iter().enumerate() {
        let values: Vec<String> = result.columns.iter().map(|column| show(&column.value(at))).collect();
        rows[*row as usize] = values.join(" | ");
    }
    for failure in &result.failures {
        rows[failure.row as usize] = format!("{:?} {}", failure.category, failure.detail);
    }
    let filtered = rows.iter().filter(|row| *row == "filtered").count() as u64;
    assert_eq!(filtered, result.filtered);
    rows
}

/// What the plain interpreter makes of each row.
fn slow(body: &crate::ir::Body, batch: &Batch) -> Vec<String> {
    let run = run();
    let outcome = |row| match Row::new(batch, &run, row).run(body) {
        RowOutcome::Kept(values) => values.iter().map(show).collect::<Vec<_>>().join(" | "),
        RowOutcome::Filtered => "filtered".to_owned(),
        RowOutcome::Failed(field, (kind, message)) => {
            let nan = kind == crate::ErrorKind::NanInOutput;
            let category = if nan { "NanInOutputField" } else { "TypeCoercionFailure" };
            let field = field.map(|field| format!("field '{field}': ")).unwrap_or_default();
            format!("{category} row {}: {field}{message}", batch.origin.row_in_file(row))
        }
    };
    (0..batch.rows).map(outcome).collect()
}

#[test]
fn cxl_20_kernels_agree_with_the_row_interpreter() {
    let columns = scope_columns();
    let scope = Scope { columns: &columns, ..Scope::default() };
    let mut random = Random(20_310_809);
    let (mut checked, mut failed_rows) = (0, 0);
    for _ in 0..3_000 {
        let text = program(&mut random);
        let (body, _) = check_program(&text, &scope);
        let rows = 1 + random.below(40);
        let batch = random_batch(&mut random, rows);
        // A branch may have no join: such a program is refused, and another one is drawn.
        let Some(body) = body else { continue };
        checked += 1;
        let expected = slow(&body, &batch);
        failed_rows += expected.iter().filter(|row| row.contains("row ")).count();
        assert_eq!(fast(&body, &batch), expected, "{text}");
        for size in [1, 3] {
            let mut pieces = Vec::new();
            for start in (0..rows).step_by(size) {
                let taken: Vec<u32> = (start..rows.min(start + size)).map(|row| row as u32).collect();
                pieces.extend(fast(&body, &batch.take(&taken)));
            }
            assert_eq!(pieces, expected, "{text} in batches of {size}");
        }
    }
    assert!(checked > 2_000, "{checked} programs were accepted");
    assert!(failed_rows > 5_000, "{failed_rows} rows failed");
}

/// A call of a function with a receiver and arguments that it accepts, now and then of another type.
fn call_of(random: &mut Random, function: &Function) -> String {
    let accepted = |random: &mut Random, kinds: Kinds| {
        let fitting: Vec<Kind> =
            KINDS.iter().map(|(_, kind)| *kind).filter(|kind| kinds.accepts(base_of(*kind))).collect();
        let kind = *random.pick(&fitting);
        expression(random, kind, 1)
    };
    let receiver = accepted(random, function.receiver);
    let extra = if function.variadic { 2 } else { 0 };
    if function.closure_only() {
        let body = expression(random, Kind::Bool, 1);
        return format!("({receiver}).{}(it => it == raw or {body})", function.name);
    }
    let given = function.required() + random.below(function.params.len() - function.required() + 1 + extra);
    let args: Vec<String> = (0..given).map(|index| accepted(random, function.param(index).accepts)).collect();
    format!("({receiver}).{}({})", function.name, args.join(", "))
}

fn base_of(kind: Kind) -> Base {
    Ty::declared(Type::plain(kind), false).base
}

#[test]
fn cxl_10_every_function_agrees_over_columns_and_rows() {
    let columns = scope_columns();
    let scope = Scope { columns: &columns, ..Scope::default() };
    let mut random = Random(10);
    for function in crate::functions::ALL {
        let mut accepted = 0;
        for _ in 0..120 {
            let text = format!("emit e = {}", call_of(&mut random, function));
            let Some(body) = check_program(&text, &scope).0 else { continue };
            accepted += 1;
            let rows = 1 + random.below(30);
            let batch = random_batch(&mut random, rows);
            assert_eq!(fast(&body, &batch), slow(&body, &batch), "{text}");
        }
        assert!(accepted > 20, "{}: {accepted} calls were accepted", function.name);
    }
}

#[test]
fn cxl_20_a_batch_of_2048_rows_agrees() {
    let columns = scope_columns();
    let scope = Scope { columns: &columns, ..Scope::default() };
    let mut random = Random(7);
    let batch = random_batch(&mut random, 2048);
    for _ in 0..40 {
        let text = program(&mut random);
        if let (Some(body), _) = check_program(&text, &scope) {
            assert_eq!(fast(&body, &batch), slow(&body, &batch), "{text}");
        }
    }
}
