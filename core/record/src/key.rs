//! The one key encoder: rows of some columns as bytes whose order is the order of the values.
//!
//! Two keys compare with `memcmp` as their rows do: numbers by value whatever their type (`1`, `1.0` and a decimal `1.00`
//! are one key, `-0.0` is `0.0`, not-a-number stands behind every number), text by code point, false before true, dates
//! and date-times by time. Equality, grouping, joining and sorting all use these bytes. Each key is self-delimiting, so
//! that a key of several columns is the keys of the columns one after the other.

use std::cmp::Ordering;

use crate::column::decimal_at;
use crate::{Column, Decimal, Kind, Value, json};

/// Where nulls stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullOrder {
    /// In front of every value.
    First,
    /// Behind every value.
    Last,
}

/// How one column takes part in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// Whether larger values come first.
    pub descending: bool,
    /// Where nulls stand, whatever the direction.
    pub nulls: NullOrder,
}

/// The keys of rows, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Keys {
    /// Number of keys.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The key of a row.
    #[inline]
    pub fn key(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.bytes[start..self.ends[row] as usize]
    }

    /// Appends the keys of other rows.
    pub fn append(&mut self, other: &Keys) {
        let before = self.bytes.len() as u32;
        self.bytes.extend_from_slice(&other.bytes);
        self.ends.extend(other.ends.iter().map(|end| before + end));
    }

    /// Eight bytes of a key from `depth` on as a number; what is missing is filled up with zeros. Keys that agree before
    /// `depth` and differ in this number are in its order.
    #[inline]
    pub fn prefix(&self, row: usize, depth: usize) -> u64 {
        let key = self.key(row).get(depth..).unwrap_or_default();
        match key.first_chunk::<8>() {
            Some(bytes) => u64::from_be_bytes(*bytes),
            None => {
                let mut bytes = [0; 8];
                bytes[..key.len()].copy_from_slice(key);
                u64::from_be_bytes(bytes)
            }
        }
    }

    /// Bytes that the keys hold.
    pub fn memory_size(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 4
    }
}

/// A value that has no place in an order: an array or a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unordered {
    /// The row.
    pub row: usize,
    /// Position of the column among those of the key.
    pub field: usize,
}

/// Encodes the keys of rows. `columns` has one column a field, each `rows` long.
///
/// # Errors
/// The first value that has no order.
pub fn encode(fields: &[KeyField], columns: &[&Column], rows: usize) -> Result<Keys, Unordered> {
    let mut keys = Keys { bytes: Vec::with_capacity(rows * 12 * fields.len()), ends: Vec::with_capacity(rows) };
    for row in 0..rows {
        for (at, (field, column)) in fields.iter().zip(columns).enumerate() {
            let start = keys.bytes.len();
            if !append(column, row, &mut keys.bytes) {
                return Err(Unordered { row, field: at });
            }
            let (marker, null) = (keys.bytes[start], keys.bytes[start] == NULL);
            if null {
                keys.bytes[start] = if field.nulls == NullOrder::First { 0 } else { 0xFF };
            } else if field.descending {
                keys.bytes[start] = DESCENDING - marker;
                keys.bytes[start + 1..].iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
        keys.ends.push(u32::try_from(keys.bytes.len()).unwrap_or(u32::MAX));
    }
    Ok(keys)
}

/// Markers in front of values: the order of types that meet in one column. None is 0 or 255, where nulls stand.
const NULL: u8 = 0;
const BOOL: u8 = 0x10;
const NUMBER: u8 = 0x20;
const DATE: u8 = 0x30;
const DATE_TIME: u8 = 0x40;
const TEXT: u8 = 0x50;
/// A marker and its place in the descending order add up to this.
const DESCENDING: u8 = 0x80;

/// Appends the ascending key of a value; `false` for a value without order.
#[inline]
fn append(column: &Column, row: usize, out: &mut Vec<u8>) -> bool {
    if column.is_null(row) {
        out.push(NULL);
        return true;
    }
    match column {
        Column::Null(_) => out.push(NULL),
        Column::Bool(array) => out.extend([BOOL, u8::from(array.value(row))]),
        Column::Int(array) => int(array.value(row), out),
        Column::Float(array) => exact(array.value(row), out),
        Column::Decimal(array) => decimal(decimal_at(array, row), out),
        Column::Text(array) => text(array.value(row), out),
        Column::Date(array) => date(array.value(row), out),
        Column::DateTime(array) => date_time(array.value(row), out),
        Column::Dynamic(Kind::Array | Kind::Map, _) => return false,
        Column::Dynamic(_, array) => return value(&json::from_tagged(array.value(row)), out),
    }
    true
}

fn value(value: &Value, out: &mut Vec<u8>) -> bool {
    match value {
        Value::Null => out.push(NULL),
        Value::Bool(value) => out.extend([BOOL, u8::from(*value)]),
        Value::Int(value) => int(*value, out),
        Value::Float(value) => exact(*value, out),
        Value::Decimal(value) => decimal(*value, out),
        Value::String(value) => text(value, out),
        Value::Date(value) => date(*value, out),
        Value::DateTime(value) => date_time(*value, out),
        Value::Array(_) | Value::Map(_) => return false,
    }
    true
}

fn date(days: i32, out: &mut Vec<u8>) {
    out.push(DATE);
    out.extend((days as u32 ^ 1 << 31).to_be_bytes());
}

fn date_time(nanos: i128, out: &mut Vec<u8>) {
    out.push(DATE_TIME);
    out.extend((nanos as u128 ^ 1 << 127).to_be_bytes());
}

/// Text ends with 0 0; a 0 inside is 0 255, so that no text is a beginning of another one's key.
fn text(value: &str, out: &mut Vec<u8>) {
    out.push(TEXT);
    let bytes = value.as_bytes();
    if bytes.contains(&0) {
        for byte in bytes {
            out.push(*byte);
            if *byte == 0 {
                out.push(0xFF);
            }
        }
    } else {
        out.extend_from_slice(bytes);
    }
    out.extend([0, 0]);
}

/// A number is the largest binary64 number that is not above it, then 0 if it is that number, or 1 and its exact digits.
fn int(value: i64, out: &mut Vec<u8>) {
    let near = value as f64;
    // 2^63 itself is no i64; what rounds up to it is not exact.
    if near < 9_223_372_036_854_775_808.0 && near as i64 == value {
        exact(near, out);
    } else {
        decimal(Decimal::from_i64(value), out);
    }
}

fn exact(value: f64, out: &mut Vec<u8>) {
    out.push(NUMBER);
    out.extend(ordered(value).to_be_bytes());
    out.push(0);
}

/// A binary64 number as an integer in the same order. Both zeros are one; every not-a-number is the largest.
fn ordered(value: f64) -> u64 {
    if value.is_nan() {
        return u64::MAX;
    }
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn decimal(value: Decimal, out: &mut Vec<u8>) {
    let near = value.to_f64();
    let floor = match value.cmp_f64(near) {
        Ordering::Equal => return exact(near, out),
        Ordering::Greater => near,
        Ordering::Less => near.next_down(),
    };
    out.push(NUMBER);
    out.extend(ordered(floor).to_be_bytes());
    out.push(1);
    digits(value, out);
}

/// The exact digits: exponent and significant digits, inverted below zero. Only compared between numbers with the same
/// sign.
fn digits(value: Decimal, out: &mut Vec<u8>) {
    let (coefficient, negative) = (value.coefficient().unsigned_abs(), value.coefficient() < 0);
    let text = coefficient.to_string();
    let significant = text.trim_end_matches('0');
    let exponent = text.len() as i32 - i32::from(value.scale());
    let start = out.len();
    out.push((exponent + 128) as u8);
    // Digits are 1 to 10, so that 0 ends them.
    out.extend(significant.bytes().map(|digit| digit - b'0' + 1));
    out.push(0);
    if negative {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASCENDING: KeyField = KeyField { descending: false, nulls: NullOrder::Last };

    fn key(value: &Value, field: KeyField) -> Vec<u8> {
        let kind = match value {
            Value::Int(_) => Kind::Int,
            Value::Float(_) => Kind::Float,
            Value::Decimal(_) => Kind::Decimal,
            Value::String(_) => Kind::String,
            _ => Kind::Any,
        };
        let column = Column::from_values(kind, std::slice::from_ref(value));
        encode(&[field], &[&column], 1).expect("it has an order").key(0).to_vec()
    }

    fn decimal_of(coefficient: i128, scale: u8) -> Value {
        Value::Decimal(Decimal::new(coefficient, scale).expect("in range"))
    }

    /// In ascending order; values of one line are equal.
    fn numbers() -> Vec<Vec<Value>> {
        let text = |text: &str| Value::Decimal(Decimal::parse_literal(text.as_bytes()).expect("a literal"));
        vec![
            vec![Value::Float(f64::NEG_INFINITY)],
            vec![Value::Float(-1e300)],
            vec![Value::Int(i64::MIN), Value::Float(-9_223_372_036_854_775_808.0)],
            vec![Value::Int(i64::MIN + 1)],
            vec![text("-2.50000000000000000001")],
            vec![Value::Float(-2.5), decimal_of(-250, 2)],
            vec![text("-2.49999999999999999999")],
            vec![text("-0.2")],
            vec![text("-0.1")],
            vec![Value::Float(0.0), Value::Float(-0.0), Value::Int(0), decimal_of(0, 5)],
            vec![text("0.0000000000000000000000000001")],
            vec![text("0.1")],
            // The binary64 number nearest to 0.1 is a little larger.
            vec![Value::Float(0.1)],
            vec![Value::Int(1), Value::Float(1.0), decimal_of(100, 2)],
            vec![text("9.99")],
            vec![text("10.01")],
            vec![Value::Int(9_007_199_254_740_992), Value::Float(9_007_199_254_740_992.0)],
            vec![Value::Int(9_007_199_254_740_993), text("9007199254740993.000")],
            vec![text("9007199254740993.5")],
            vec![Value::Int(i64::MAX - 1)],
            vec![Value::Int(i64::MAX)],
            vec![Value::Float(9_223_372_036_854_775_808.0), text("9223372036854775808")],
            vec![text("79228162514264337593543950334")],
            vec![text("79228162514264337593543950335")],
            vec![Value::Float(1e300)],
            vec![Value::Float(f64::INFINITY)],
            vec![Value::Float(f64::NAN), Value::Float(-f64::NAN)],
        ]
    }

    #[test]
    fn eng_86_numbers_compare_by_value_whatever_their_type() {
        let keys: Vec<Vec<Vec<u8>>> =
            numbers().iter().map(|same| same.iter().map(|value| key(value, ASCENDING)).collect()).collect();
        for (at, same) in keys.iter().enumerate() {
            assert!(same.iter().all(|key| *key == same[0]), "{:?}", numbers()[at]);
            if let Some(next) = keys.get(at + 1) {
                assert!(same[0] < next[0], "{:?} {:?}", numbers()[at], numbers()[at + 1]);
            }
        }
    }

    #[test]
    fn eng_86_text_compares_by_code_point_and_no_text_runs_into_the_next_column() {
        let texts = ["", "\0", "\0a", "a", "a\0", "a\0b", "a\u{1}", "ab", "b", "ä", "€", "𝄞"];
        let keys: Vec<Vec<u8>> = texts.iter().map(|text| key(&Value::String((*text).into()), ASCENDING)).collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(keys.iter().enumerate().all(|(at, one)| keys[at + 1..].iter().all(|other| !other.starts_with(one))));
    }

    #[test]
    fn eng_85_nulls_stand_where_they_are_asked_to_in_both_directions() {
        let null = Value::Null;
        for value in numbers().concat() {
            for descending in [false, true] {
                let first = KeyField { descending, nulls: NullOrder::First };
                let last = KeyField { descending, nulls: NullOrder::Last };
                assert!(key(&null, first) < key(&value, first));
                assert!(key(&null, last) > key(&value, last));
            }
        }
    }

    #[test]
    fn eng_84_descending_is_the_reverse_order_in_any_mixture() {
        let descending = KeyField { descending: true, nulls: NullOrder::Last };
        let mut values = numbers().concat();
        values.extend([Value::Bool(false), Value::Bool(true), Value::String("x".into()), Value::Date(-3)]);
        values.extend([Value::Date(4), Value::DateTime(-1), Value::DateTime(1 << 60)]);
        for one in &values {
            for other in &values {
                let ascending = key(one, ASCENDING).cmp(&key(other, ASCENDING));
                assert_eq!(key(one, descending).cmp(&key(other, descending)), ascending.reverse());
            }
        }
    }

    #[test]
    fn eng_86_arrays_and_maps_have_no_order() {
        let column = Column::from_values(Kind::Any, &[Value::Int(1), Value::Array(vec![])]);
        assert_eq!(encode(&[ASCENDING], &[&column], 2).map(|_| ()), Err(Unordered { row: 1, field: 0 }));
    }

    #[test]
    fn choices_the_prefix_of_a_key_orders_like_the_key() {
        let values: Vec<Value> = (0..200).map(|number: i64| Value::Int((number * 7919) % 211 - 100)).collect();
        let column = Column::from_values(Kind::Int, &values);
        let keys = encode(&[ASCENDING], &[&column], values.len()).expect("it has an order");
        for one in 0..keys.len() {
            for other in 0..keys.len() {
                if keys.prefix(one, 0) != keys.prefix(other, 0) {
                    assert_eq!(keys.prefix(one, 0).cmp(&keys.prefix(other, 0)), keys.key(one).cmp(keys.key(other)));
                }
            }
        }
    }
}
