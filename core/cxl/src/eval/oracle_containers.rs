//! The plain interpreter: arrays, maps and closures.

use clinker_record::Value;

use super::oracle::{Evaluated, Failed, Row, mismatch, truth};
use crate::ir::{ClosureMethod, Key, Node, NodeKind};
use crate::outcome::ErrorKind;

impl Row<'_> {
    /// Evaluates what makes or opens an array or a map.
    pub(super) fn container(&self, node: &Node) -> Evaluated {
        match &node.kind {
            NodeKind::Debug { inner, label } => {
                let inner = self.eval(inner)?;
                let label = match label.as_ref().map(|label| self.eval(label)).transpose()? {
                    None => String::new(),
                    Some(Value::String(label)) => format!("{label}: "),
                    Some(_) => return Ok(Value::Null),
                };
                self.logged.borrow_mut().push(format!("{label}{}", clinker_record::text::text_form(&inner)));
                Ok(inner)
            }
            NodeKind::Bound(level) => Ok(self.bound.borrow()[*level].clone()),
            NodeKind::Array(items) => {
                items.iter().map(|item| self.eval(item)).collect::<Result<_, _>>().map(Value::Array)
            }
            NodeKind::Map(entries) => self.entries(entries),
            NodeKind::Index { base, index } => match self.eval(base)? {
                Value::Null => Ok(Value::Null),
                base => Ok(match (base, self.eval(index)?) {
                    (Value::Array(items), Value::Int(at)) if at >= 0 => {
                        items.into_iter().nth(at as usize).unwrap_or(Value::Null)
                    }
                    (Value::Map(entries), Value::String(key)) => entry(entries, &key),
                    _ => Value::Null,
                }),
            },
            NodeKind::Member { base, name } => Ok(match self.eval(base)? {
                Value::Map(entries) => entry(entries, name),
                _ => Value::Null,
            }),
            NodeKind::Comprehension { source, level, predicate, item } => {
                let source = match self.eval(source)? {
                    Value::Array(items) => items,
                    other => return Err(mismatch("Array", &other)),
                };
                let mut made = Vec::new();
                for element in source {
                    made.extend(self.within(*level, element, || {
                        match predicate.as_ref().map(|predicate| self.eval(predicate)).transpose()? {
                            None | Some(Value::Bool(true)) => self.eval(item).map(Some),
                            Some(Value::Bool(false)) => Ok(None),
                            Some(other) => Err(mismatch("Bool", &other)),
                        }
                    })?);
                }
                Ok(Value::Array(made))
            }
            NodeKind::Closure { method, receiver, level, body } => {
                let Value::Array(items) = self.eval(receiver)? else { return Ok(Value::Null) };
                self.closure(*method, items, |element| self.within(*level, element, || self.eval(body)))
            }
            other => unreachable!("{other:?} is no container"),
        }
    }

    fn within<T>(&self, level: usize, element: Value, inside: impl FnOnce() -> T) -> T {
        assert_eq!(self.bound.borrow().len(), level);
        self.bound.borrow_mut().push(element);
        let result = inside();
        self.bound.borrow_mut().pop();
        result
    }

    fn entries(&self, entries: &[(Key, Node)]) -> Evaluated {
        let mut made = Vec::new();
        for (key, value) in entries {
            let key = match key {
                Key::Static(key) => key.to_string(),
                Key::Computed(node) => match self.eval(node)? {
                    Value::String(text) => text.to_string(),
                    other => return Err(mismatch("String", &other)),
                },
            };
            let logical = |key: &str| key.strip_prefix('\\').unwrap_or(key).to_owned();
            let bare = logical(&key);
            if key.starts_with('\\') && !(bare.starts_with('@') || bare.starts_with('\\') || bare == "#text") {
                return Err((ErrorKind::InvalidNestedKey, format!("invalid map key '{key}'")));
            }
            if made.iter().any(|(own, _): &(std::sync::Arc<str>, Value)| logical(own) == bare) {
                return Err((ErrorKind::DuplicateMapKey, format!("duplicate map key '{bare}'")));
            }
            made.push((key.into(), self.eval(value)?));
        }
        Ok(Value::Map(made))
    }

    fn closure(
        &self,
        method: ClosureMethod,
        items: Vec<Value>,
        body: impl Fn(Value) -> Evaluated,
    ) -> Result<Value, Failed> {
        let mut made = Vec::new();
        for item in items {
            let result = body(item.clone())?;
            match method {
                ClosureMethod::Map => made.push(result),
                ClosureMethod::FlatMap => match result {
                    Value::Null => {}
                    Value::Array(inner) => made.extend(inner),
                    other => made.push(other),
                },
                _ if truth(&result)? != Some(true) => {}
                ClosureMethod::Filter => made.push(item),
                ClosureMethod::Find => return Ok(item),
                ClosureMethod::Any => return Ok(Value::Bool(true)),
            }
        }
        Ok(match method {
            ClosureMethod::Find => Value::Null,
            ClosureMethod::Any => Value::Bool(false),
            _ => Value::Array(made),
        })
    }
}

fn entry(entries: Vec<(std::sync::Arc<str>, Value)>, key: &str) -> Value {
    entries.into_iter().find(|(own, _)| &**own == key).map_or(Value::Null, |(_, value)| value)
}
