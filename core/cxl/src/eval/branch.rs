//! `if`, `match` and `??`: a branch is evaluated for the rows that take it, and the pieces are put together.

use std::rc::Rc;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Decimal128Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, NullArray, new_null_array};
use arrow_buffer::BooleanBuffer;
use clinker_record::{Column, Kind, Value};

use super::cell::{self, Cell};
use super::compare::fixed;
use super::evaluate;
use super::faults::Faults;
use super::frame::Frame;
use super::logic::truth;
use super::vector::Vector;
use crate::check::types::Base;
use crate::ir::Node;
use crate::syntax::ast::CompareOp;

/// A frame of some rows, with faults of its own.
pub(super) struct Selected<'b> {
    pub(super) frame: Rc<Frame<'b>>,
    pub(super) faults: Faults,
    rows: Rc<[u32]>,
}

impl<'b> Selected<'b> {
    pub(super) fn new(frame: &Rc<Frame<'b>>, rows: &Rc<[u32]>) -> Self {
        Self { frame: frame.select(Rc::clone(rows)), faults: Faults::default(), rows: Rc::clone(rows) }
    }

    /// Reports the faults under the rows of the frame it was selected from.
    pub(super) fn report(self, faults: &mut Faults) {
        for (row, error) in self.faults.into_list() {
            faults.add(self.rows[row as usize], error);
        }
    }
}

/// Rows that are not decided yet; nothing for all rows.
type Open = Option<Rc<[u32]>>;

/// Values for some rows of a frame.
pub(super) struct Piece {
    pub(super) vector: Vector,
    /// The rows, and for each the position of its value in the vector.
    pub(super) rows: Vec<(u32, u32)>,
}

/// Evaluates a branch for some rows. A cheap one that cannot fail is evaluated for all.
fn piece(frame: &Rc<Frame<'_>>, branch: &Node, rows: &Open, faults: &mut Faults) -> Piece {
    match rows {
        Some(rows) if !branch.is_free() => {
            let mut selected = Selected::new(frame, rows);
            let vector = evaluate(&selected.frame, branch, &mut selected.faults);
            selected.report(faults);
            Piece { vector, rows: rows.iter().zip(0..).map(|(&row, at)| (row, at)).collect() }
        }
        Some(rows) => {
            let vector = evaluate(frame, branch, faults);
            Piece { vector, rows: rows.iter().map(|&row| (row, row)).collect() }
        }
        None => {
            let vector = evaluate(frame, branch, faults);
            Piece { vector, rows: (0..frame.rows as u32).map(|row| (row, row)).collect() }
        }
    }
}

/// Whether an undecided set is empty.
fn is_empty(frame: &Frame<'_>, open: &Open) -> bool {
    open.as_ref().map_or(frame.rows, |rows| rows.len()) == 0
}

/// `if`, and the condition form of `match`.
pub(super) fn if_else(
    frame: &Rc<Frame<'_>>,
    branches: &[(Node, Node)],
    otherwise: &Node,
    base: Base,
    faults: &mut Faults,
) -> Vector {
    let mut open: Open = None;
    let mut pieces = Vec::with_capacity(branches.len() + 1);
    for (condition, then) in branches {
        let yes = match &open {
            None => truth(frame, condition, faults).yes,
            Some(rows) => {
                let mut selected = Selected::new(frame, rows);
                let yes = truth(&selected.frame, condition, &mut selected.faults).yes;
                selected.report(faults);
                yes
            }
        };
        let hits = yes.count_set_bits();
        if hits == yes.len() {
            if open.is_none() {
                return evaluate(frame, then, faults);
            }
            pieces.push(piece(frame, then, &open, faults));
            open = Some(Rc::from([]));
            break;
        }
        if hits > 0 {
            let pick = |bits: &BooleanBuffer| -> Rc<[u32]> {
                match &open {
                    None => bits.set_indices_u32().collect(),
                    Some(rows) => bits.set_indices().map(|at| rows[at]).collect(),
                }
            };
            let taken = Some(pick(&yes));
            open = Some(pick(&!&yes));
            pieces.push(piece(frame, then, &taken, faults));
        }
    }
    finish(frame, pieces, otherwise, &open, base, faults)
}

/// Adds the last branch for the rows left and puts the pieces together.
fn finish(
    frame: &Rc<Frame<'_>>,
    mut pieces: Vec<Piece>,
    otherwise: &Node,
    open: &Open,
    base: Base,
    faults: &mut Faults,
) -> Vector {
    if open.is_none() && pieces.is_empty() {
        return evaluate(frame, otherwise, faults);
    }
    if !is_empty(frame, open) {
        pieces.push(piece(frame, otherwise, open, faults));
    }
    assemble(pieces, base, frame)
}

/// The value form of `match`: the subject once, patterns until the first equal one.
pub(super) fn match_value(
    frame: &Rc<Frame<'_>>,
    subject: &Node,
    (arms, otherwise): (&[(Node, Node)], &Node),
    base: Base,
    faults: &mut Faults,
) -> Vector {
    let subject = evaluate(frame, subject, faults);
    let mut open: Open = None;
    let mut pieces = Vec::with_capacity(arms.len() + 1);
    for (pattern, body) in arms {
        if is_empty(frame, &open) {
            break;
        }
        let patterns = piece(frame, pattern, &open, faults);
        let (mut taken, mut rest) = (Vec::new(), Vec::new());
        let known = constant_hits(&subject, &patterns.vector, frame.rows);
        for &(row, at) in &patterns.rows {
            let equal = match &known {
                Some(hits) => Ok(hits.value(row as usize)),
                None => cell::pattern_equal(subject.cell(row as usize), patterns.vector.cell(at as usize)),
            };
            match equal {
                Ok(true) if !faults.has(row) => taken.push(row),
                // A row that failed takes no arm; with the rest it costs nothing, and its first reason stays.
                Ok(_) => rest.push(row),
                Err(error) => {
                    faults.at(row as usize, pattern.span, error);
                    rest.push(row);
                }
            }
        }
        if !taken.is_empty() {
            pieces.push(piece(frame, body, &Some(taken.into()), faults));
            open = Some(rest.into());
        }
    }
    finish(frame, pieces, otherwise, &open, base, faults)
}

/// The rows of a typed subject that equal a constant pattern.
fn constant_hits(subject: &Vector, pattern: &Vector, rows: usize) -> Option<BooleanBuffer> {
    if !matches!((subject, pattern), (Vector::Column(_), Vector::Scalar(_))) {
        return None;
    }
    let equal = fixed(CompareOp::Equal, subject, pattern, rows)?;
    Some(subject.validity(rows).map_or_else(|| equal.clone(), |nulls| &equal & nulls.inner()))
}

/// `a ?? b ?? c`: the first that is not null. Failed arithmetic counts as null in all but the last.
pub(super) fn coalesce(frame: &Rc<Frame<'_>>, operands: &[Node], base: Base, faults: &mut Faults) -> Vector {
    let (last, before) = operands.split_last().expect("a chain has operands");
    let mut open: Open = None;
    let mut pieces = Vec::with_capacity(operands.len());
    for operand in before {
        let mut own = Faults::default();
        let Piece { vector, rows } = piece(frame, operand, &open, &mut own);
        let mut forgiven = Faults::default();
        for (row, error) in own.into_list() {
            if error.kind.is_arithmetic() {
                forgiven.add(row, error);
            } else {
                faults.add(row, error);
            }
        }
        if open.is_none() && forgiven.is_empty() && vector.validity(frame.rows).is_none() {
            return vector;
        }
        let is_open = |&(row, at): &(u32, u32)| forgiven.has(row) || matches!(vector.cell(at as usize), Cell::Null);
        let (left, kept): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_open);
        open = Some(left.iter().map(|(row, _)| *row).collect());
        if !kept.is_empty() {
            pieces.push(Piece { vector, rows: kept });
        }
        if left.is_empty() {
            return assemble(pieces, base, frame);
        }
    }
    finish(frame, pieces, last, &open, base, faults)
}

/// Puts pieces together; rows in no piece are null.
pub(super) fn assemble(pieces: Vec<Piece>, base: Base, frame: &Frame<'_>) -> Vector {
    let rows = frame.rows;
    let pieces: Vec<Piece> = pieces.into_iter().filter(|piece| !piece.vector.is_all_null()).collect();
    if pieces.is_empty() {
        return Vector::NULL;
    }
    if base.holds_any() || pieces.iter().any(|piece| matches!(piece.vector, Vector::Values(_) | Vector::Dynamic(_))) {
        let mut values = vec![Value::Null; rows];
        for piece in &pieces {
            for &(row, at) in &piece.rows {
                let cell = piece.vector.cell(at as usize);
                if !frame.budget.charge(cell.bytes()) {
                    return Vector::NULL;
                }
                values[row as usize] = cell.to_value();
            }
        }
        return Vector::Values(values.into());
    }
    let kind = base.kind();
    if pieces.iter().all(|piece| matches!(piece.vector, Vector::Scalar(_))) {
        return Vector::Column(constants(&pieces, kind, rows));
    }
    let mut arrays: Vec<ArrayRef> = pieces.iter().map(|piece| piece_array(piece, kind)).collect();
    arrays.push(new_null_array(arrays[0].data_type(), 1));
    let mut index = vec![(arrays.len() - 1, 0); rows];
    for (number, piece) in pieces.iter().enumerate() {
        let scalar = matches!(piece.vector, Vector::Scalar(_));
        for &(row, at) in &piece.rows {
            index[row as usize] = (number, if scalar { 0 } else { at as usize });
        }
    }
    let arrays: Vec<&dyn Array> = arrays.iter().map(|array| &**array).collect();
    let joined = arrow_select::interleave::interleave(&arrays, &index).expect("the pieces have one type");
    Vector::Column(column_of(kind, &joined))
}

/// Pieces of one value each: rows pick among them.
fn constants(pieces: &[Piece], kind: Kind, rows: usize) -> Column {
    let mut values: Vec<Value> = pieces.iter().map(|piece| piece.vector.cell(0).to_value()).collect();
    values.push(Value::Null);
    let mut index = vec![pieces.len() as u32; rows];
    for (number, piece) in pieces.iter().enumerate() {
        for (row, _) in &piece.rows {
            index[*row as usize] = number as u32;
        }
    }
    Column::from_values(kind, &values).take(&index)
}

/// The values of a piece as an array; one value for a scalar.
fn piece_array(piece: &Piece, kind: Kind) -> ArrayRef {
    match piece.vector.clone().into_column(kind, 1) {
        Column::Null(rows) => Arc::new(NullArray::new(rows)),
        Column::Bool(array) => Arc::new(array),
        Column::Int(array) => Arc::new(array),
        Column::Float(array) => Arc::new(array),
        Column::Decimal(array) => Arc::new(array),
        Column::Text(array) | Column::Dynamic(_, array) => Arc::new(array),
        Column::Date(array) => Arc::new(array),
        Column::DateTime(array) => Arc::new(array),
    }
}

/// An array of the Arrow type of a kind, as a column.
fn column_of(kind: Kind, array: &dyn Array) -> Column {
    match kind {
        Kind::Null => Column::Null(array.len()),
        Kind::Bool => Column::Bool(array.as_boolean().clone()),
        Kind::Int => Column::Int(array.as_primitive::<Int64Type>().clone()),
        Kind::Float => Column::Float(array.as_primitive::<Float64Type>().clone()),
        Kind::Decimal => Column::Decimal(array.as_fixed_size_binary().clone()),
        Kind::String => Column::Text(array.as_string_view().clone()),
        Kind::Date => Column::Date(array.as_primitive::<Date32Type>().clone()),
        Kind::DateTime => Column::DateTime(array.as_primitive::<Decimal128Type>().clone()),
        Kind::Array | Kind::Map | Kind::Any => Column::Dynamic(kind, array.as_string_view().clone()),
    }
}
