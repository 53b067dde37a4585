//! `merge`.

use std::collections::HashMap;

use super::prelude::*;

pub(super) static FUNCTION: Function = Function {
    name: "merge",
    receiver: Kinds::MAP,
    params: &[Param::new("other", Kinds::MAP)],
    result: ResultType::Fixed(Base::Map),
    doc: "The entries of the map, then the new ones of `other`. The value of `other` replaces that of an equal key.",
    examples: &[(r#"{a: 1, b: 2}.merge({b: 9, c: 3})"#, r#"{a: 1, b: 9, c: 3}"#)],
    call: |call, cells, _| {
        let (Cell::Map(own), Cell::Map(other)) = (cells[0], cells[1]) else { return Ok(Answer::Null) };
        let mut entries = own.to_vec();
        let known: HashMap<&str, usize> = own.iter().enumerate().map(|(at, (key, _))| (&**key, at)).collect();
        for (key, value) in other {
            match known.get(&**key) {
                Some(&at) => entries[at].1 = value.clone(),
                None => entries.push((key.clone(), value.clone())),
            }
        }
        Ok(call.build(Value::Map(entries)))
    },
    ..Function::BASE
};
