//! Named values as a Rust program holds them.

use std::ffi::c_void;
use std::fmt;

use crate::types::{
    KIND_BOOL, KIND_BYTES, KIND_FLOAT, KIND_INTEGER, KIND_LIST, KIND_MAP, KIND_NULL, KIND_NUMBER, KIND_TEXT, Reply,
    Str, Value,
};

/// How deep values may be nested.
const DEPTH: usize = 16;

/// A value of the boundary.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Item {
    /// No value.
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// An unsigned number.
    Number(u64),
    /// A signed number.
    Integer(i64),
    /// A binary64.
    Float(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Values in order.
    List(Vec<Item>),
    /// Values by name, in order.
    Map(Vec<(String, Item)>),
}

/// Why a value of the other side cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl fmt::Display for Malformed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

fn malformed<T>(reason: impl Into<String>) -> Result<T, Malformed> {
    Err(Malformed(reason.into()))
}

impl Item {
    /// A map of entries that have a value.
    pub fn map<const N: usize>(entries: [(&str, Item); N]) -> Self {
        Item::Map(
            entries.into_iter().filter(|(_, item)| *item != Item::Null).map(|(key, item)| (key.into(), item)).collect(),
        )
    }

    /// A list of texts.
    pub fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Item::List(texts.into_iter().map(|text| Item::Text(text.as_ref().to_owned())).collect())
    }

    /// The entry of that name; null when there is none.
    pub fn get(&self, name: &str) -> &Item {
        static NULL: Item = Item::Null;
        match self {
            Item::Map(entries) => entries.iter().find(|(key, _)| key == name).map_or(&NULL, |(_, item)| item),
            _ => &NULL,
        }
    }

    /// The text, when it is one.
    pub fn text(&self) -> Option<&str> {
        if let Item::Text(text) = self { Some(text) } else { None }
    }

    /// The truth value, when it is one.
    pub fn bool(&self) -> Option<bool> {
        if let Item::Bool(value) = self { Some(*value) } else { None }
    }

    /// The number, when it is one and not negative.
    pub fn number(&self) -> Option<u64> {
        match self {
            Item::Number(value) => Some(*value),
            Item::Integer(value) => u64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The bytes, when it is bytes or text.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Item::Bytes(bytes) => Some(bytes),
            Item::Text(text) => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// The elements of a list; none of anything else.
    pub fn items(&self) -> &[Item] {
        if let Item::List(items) = self { items } else { &[] }
    }

    /// The entries of a map; none of anything else.
    pub fn entries(&self) -> &[(String, Item)] {
        if let Item::Map(entries) = self { entries } else { &[] }
    }
}

impl From<&str> for Item {
    fn from(text: &str) -> Self {
        Item::Text(text.to_owned())
    }
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Item::Text(text)
    }
}

impl From<bool> for Item {
    fn from(value: bool) -> Self {
        Item::Bool(value)
    }
}

impl From<u64> for Item {
    fn from(value: u64) -> Self {
        Item::Number(value)
    }
}

impl<T: Into<Item>> From<Option<T>> for Item {
    fn from(value: Option<T>) -> Self {
        value.map_or(Item::Null, Into::into)
    }
}

impl Str {
    /// Borrowed text.
    pub const fn of(text: &str) -> Self {
        Self { data: text.as_ptr(), len: text.len() }
    }

    /// The bytes.
    ///
    /// # Errors
    /// A null pointer with a length.
    ///
    /// # Safety
    /// A pointer that is not null points to `len` bytes that outlive `'a`.
    pub unsafe fn bytes<'a>(self) -> Result<&'a [u8], Malformed> {
        if self.len == 0 {
            return Ok(&[]);
        }
        if self.data.is_null() || isize::try_from(self.len).is_err() {
            return malformed("bytes without a place");
        }
        // SAFETY: by the caller's promise; the length was checked.
        Ok(unsafe { std::slice::from_raw_parts(self.data, self.len) })
    }

    /// The text.
    ///
    /// # Errors
    /// As [`Str::bytes`], and bytes that are not UTF-8.
    ///
    /// # Safety
    /// As [`Str::bytes`].
    pub unsafe fn text<'a>(self) -> Result<&'a str, Malformed> {
        // SAFETY: by the caller's promise.
        let bytes = unsafe { self.bytes() }?;
        std::str::from_utf8(bytes).or_else(|error| malformed(format!("text that is not UTF-8 ({error})")))
    }
}

impl Value {
    /// No value.
    pub const NULL: Value = Value {
        name: Str::of(""),
        kind: KIND_NULL,
        reserved: 0,
        number: 0,
        text: Str::of(""),
        items: std::ptr::null(),
        count: 0,
    };

    /// Copies the value.
    ///
    /// # Errors
    /// An unknown kind, text that is not UTF-8, a list without a place, nesting without end.
    ///
    /// # Safety
    /// Pointers that are not null point to what their counts say.
    pub unsafe fn to_item(&self) -> Result<Item, Malformed> {
        // SAFETY: by the caller's promise.
        unsafe { read(self, 0) }
    }
}

/// # Safety
/// As [`Value::to_item`].
unsafe fn read(value: &Value, depth: usize) -> Result<Item, Malformed> {
    let children = || {
        if depth == DEPTH {
            return malformed(format!("values nested deeper than {DEPTH}"));
        }
        if value.count == 0 {
            return Ok(&[][..]);
        }
        if value.items.is_null() || !value.items.is_aligned() || value.count > isize::MAX as usize / size_of::<Value>()
        {
            return malformed("a list without a place");
        }
        // SAFETY: by the caller's promise; pointer and count were checked.
        Ok(unsafe { std::slice::from_raw_parts(value.items, value.count) })
    };
    Ok(match value.kind {
        KIND_NULL => Item::Null,
        KIND_BOOL if value.number < 2 => Item::Bool(value.number == 1),
        KIND_NUMBER => Item::Number(value.number),
        KIND_INTEGER => Item::Integer(value.number.cast_signed()),
        KIND_FLOAT => Item::Float(f64::from_bits(value.number)),
        // SAFETY: by the caller's promise.
        KIND_TEXT => Item::Text(unsafe { value.text.text() }?.to_owned()),
        // SAFETY: by the caller's promise.
        KIND_BYTES => Item::Bytes(unsafe { value.text.bytes() }?.to_vec()),
        KIND_LIST => {
            // SAFETY: the children are as good as their parent.
            let items = children()?.iter().map(|child| unsafe { read(child, depth + 1) });
            Item::List(items.collect::<Result<_, _>>()?)
        }
        KIND_MAP => {
            let entry = |child: &Value| {
                // SAFETY: the children are as good as their parent.
                Ok(unsafe { (child.name.text()?.to_owned(), read(child, depth + 1)?) })
            };
            Item::Map(children()?.iter().map(entry).collect::<Result<_, _>>()?)
        }
        kind => return malformed(format!("a value of kind {kind} ({})", value.number)),
    })
}

/// An [`Item`] in the form of the boundary.
pub struct Exported {
    root: Value,
    // What the values point into. Boxed slices keep their place when this is moved.
    _levels: Vec<Box<[Value]>>,
    _item: Box<Item>,
}

impl Exported {
    /// Exports an item.
    pub fn new(item: Item) -> Self {
        let item = Box::new(item);
        let mut levels = Vec::new();
        let root = export("", &item, &mut levels);
        Self { root, _levels: levels, _item: item }
    }

    /// The value, valid as long as `self`.
    pub fn value(&self) -> &Value {
        &self.root
    }

    /// The value with what releases it.
    pub fn into_reply(self) -> Reply {
        unsafe extern "C" fn release(owner: *mut c_void) {
            // SAFETY: the owner is the box of the reply, released once.
            drop(unsafe { Box::from_raw(owner.cast::<Exported>()) });
        }
        let value = self.root;
        Reply { value, owner: Box::into_raw(Box::new(self)).cast(), release: Some(release) }
    }
}

fn export(name: &str, item: &Item, levels: &mut Vec<Box<[Value]>>) -> Value {
    let value = |kind, number| Value { name: Str::of(name), kind, number, ..Value::NULL };
    let text = |kind, bytes: &[u8]| Value { text: Str { data: bytes.as_ptr(), len: bytes.len() }, ..value(kind, 0) };
    match item {
        Item::Null => value(KIND_NULL, 0),
        Item::Bool(inner) => value(KIND_BOOL, u64::from(*inner)),
        Item::Number(inner) => value(KIND_NUMBER, *inner),
        Item::Integer(inner) => value(KIND_INTEGER, inner.cast_unsigned()),
        Item::Float(inner) => value(KIND_FLOAT, inner.to_bits()),
        Item::Text(inner) => text(KIND_TEXT, inner.as_bytes()),
        Item::Bytes(inner) => text(KIND_BYTES, inner),
        Item::List(items) => {
            let children = items.iter().map(|item| export("", item, levels)).collect();
            nested_in(levels, value(KIND_LIST, 0), children)
        }
        Item::Map(entries) => {
            let children = entries.iter().map(|(key, item)| export(key, item, levels)).collect();
            nested_in(levels, value(KIND_MAP, 0), children)
        }
    }
}

fn nested_in(levels: &mut Vec<Box<[Value]>>, value: Value, children: Vec<Value>) -> Value {
    let children = children.into_boxed_slice();
    let nested = Value { items: children.as_ptr(), count: children.len(), ..value };
    levels.push(children);
    nested
}

impl Reply {
    /// Nothing.
    pub const EMPTY: Reply = Reply { value: Value::NULL, owner: std::ptr::null_mut(), release: None };

    /// Copies the value and releases it.
    ///
    /// # Errors
    /// As [`Value::to_item`].
    ///
    /// # Safety
    /// As [`Value::to_item`]; the reply was not taken before.
    pub unsafe fn take(&mut self) -> Result<Item, Malformed> {
        // SAFETY: by the caller's promise.
        let item = unsafe { self.value.to_item() };
        self.value = Value::NULL;
        if let Some(release) = self.release.take() {
            // SAFETY: called once, behind the last look at the value.
            unsafe { release(self.owner) };
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Item {
        let inner = Item::map([("key", "value".into()), ("on", true.into()), ("bytes", Item::Bytes(vec![0, 255]))]);
        Item::map([
            ("list", Item::List(vec![Item::Integer(-3), Item::Float(0.5), Item::Null, inner])),
            ("count", u64::MAX.into()),
        ])
    }

    #[test]
    fn items_cross_the_boundary_unchanged() {
        let exported = Exported::new(sample());
        // SAFETY: the value was exported here.
        assert_eq!(unsafe { exported.value().to_item() }, Ok(sample()));
        let mut reply = exported.into_reply();
        // SAFETY: the same.
        assert_eq!(unsafe { reply.take() }, Ok(sample()));
    }

    #[test]
    fn malformed_values_are_refused() {
        let text = b"\xFF";
        let bad = Value { kind: KIND_TEXT, text: Str { data: text.as_ptr(), len: 1 }, ..Value::NULL };
        // SAFETY: the text is one byte.
        assert!(unsafe { bad.to_item() }.unwrap_err().0.contains("UTF-8"));
        let bad = Value { kind: 77, ..Value::NULL };
        // SAFETY: it has no pointers.
        assert!(unsafe { bad.to_item() }.unwrap_err().0.contains("77"));
        let bad = Value { kind: KIND_LIST, count: 3, ..Value::NULL };
        // SAFETY: its pointer is null.
        assert!(unsafe { bad.to_item() }.is_err());
        let mut deep = Item::Null;
        for _ in 0..DEPTH + 1 {
            deep = Item::List(vec![deep]);
        }
        // SAFETY: it was exported here.
        assert!(unsafe { Exported::new(deep).value().to_item() }.unwrap_err().0.contains("nested"));
    }
}
