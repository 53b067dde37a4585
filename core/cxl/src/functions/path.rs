//! Paths of `set` and `unset`: `name { "." name | "[" digits "]" }`.

use std::sync::Arc;

use clinker_record::Value;

/// Steps a path may have.
const MAX_STEPS: usize = 64;

/// One step from a value to one inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'p> {
    Key(&'p str),
    Index(usize),
}

/// The steps of a path; nothing when it is malformed or too long.
pub(super) fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let (name, mut rest) = name(path);
    let mut steps = vec![Step::Key(name)];
    while let Some(next) = rest.chars().next() {
        let step = match next {
            '.' => {
                let (key, after) = name_after(rest);
                rest = after;
                Step::Key(key)
            }
            '[' => {
                let (digits, after) = rest[1..].split_once(']')?;
                rest = after;
                Step::Index(index(digits)?)
            }
            _ => return None,
        };
        if steps.len() == MAX_STEPS {
            return None;
        }
        steps.push(step);
    }
    Some(steps)
}

/// The name that a text begins with, and what follows.
fn name(text: &str) -> (&str, &str) {
    text.split_at(text.find(['.', '[']).unwrap_or(text.len()))
}

fn name_after(dot: &str) -> (&str, &str) {
    name(&dot[1..])
}

/// A position; one that is beyond every array is the largest.
fn index(digits: &str) -> Option<usize> {
    let valid = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    valid.then(|| digits.parse().unwrap_or(usize::MAX))
}

/// Puts a value at a path. Whether the path leads anywhere; if not, what is left of the value is meaningless.
pub(super) fn set(value: &mut Value, steps: &[Step<'_>], new: impl FnOnce() -> Value) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        *value = new();
        return true;
    };
    match (step, value) {
        (Step::Key(key), Value::Map(entries)) => match entries.iter_mut().find(|(own, _)| &**own == *key) {
            Some((_, inner)) => set(inner, rest, new),
            None => match made(rest, new) {
                Some(made) => {
                    entries.push((Arc::from(*key), made));
                    true
                }
                None => false,
            },
        },
        (Step::Index(index), Value::Array(items)) => match items.get_mut(*index) {
            Some(inner) => set(inner, rest, new),
            None => false,
        },
        _ => false,
    }
}

/// Missing maps around a value. An array that is missing has no position.
fn made(steps: &[Step<'_>], new: impl FnOnce() -> Value) -> Option<Value> {
    let keys = steps.iter().map(|step| if let Step::Key(key) = step { Some(*key) } else { None });
    let keys: Vec<&str> = keys.collect::<Option<_>>()?;
    Some(keys.iter().rev().fold(new(), |inner, key| Value::Map(vec![(Arc::from(*key), inner)])))
}

/// Removes what is at a path, if anything is.
pub(super) fn unset(value: &mut Value, steps: &[Step<'_>]) {
    let Some((step, rest)) = steps.split_first() else { return };
    match (step, value) {
        (Step::Key(key), Value::Map(entries)) => {
            if let Some(at) = entries.iter().position(|(own, _)| &**own == *key) {
                if rest.is_empty() {
                    entries.remove(at);
                } else {
                    unset(&mut entries[at].1, rest);
                }
            }
        }
        (Step::Index(index), Value::Array(items)) if *index < items.len() => {
            if rest.is_empty() {
                items.remove(*index);
            } else {
                unset(&mut items[*index], rest);
            }
        }
        _ => {}
    }
}
