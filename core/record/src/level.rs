//! Levels of documents: what stands around the rows of a file, from the file itself down to the innermost envelope.

use std::sync::Arc;

use crate::Value;

/// How the sections of a level meet those of the levels around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// They are added; the rows go on in the logical document of the level around it.
    Inherit,
    /// The level begins a logical document of its own.
    New,
}

/// A level that is open around a row. A row holds its innermost level, which holds the others.
#[derive(Debug)]
pub struct Level {
    /// Position among the levels that the format declares, outermost first.
    pub kind: u16,
    /// 1-based position among the levels of that kind inside the level around it.
    pub ordinal: u64,
    /// Whether it begins a logical document.
    pub frame: Frame,
    /// The level around it; none for the outermost one of a file.
    pub parent: Option<Arc<Level>>,
    /// What it says about the rows inside, by name.
    pub sections: Vec<Section>,
}

/// Named fields of a level, as programs read them with `$doc.<section>.<field>`.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its name.
    pub name: Arc<str>,
    /// Its fields in their order. A field that is empty or missing in the input is not among them.
    pub fields: Vec<(Arc<str>, Value)>,
    /// Engine keys (`$raw`, `$delims`, `$newline`): bytes that only writers see.
    pub keys: Vec<(&'static str, Arc<[u8]>)>,
}

impl Section {
    /// The value of a field, null when the section lacks it.
    pub fn field(&self, name: &str) -> Value {
        self.fields.iter().find(|(field, _)| &**field == name).map_or(Value::Null, |(_, value)| value.clone())
    }

    /// The bytes of an engine key.
    pub fn key(&self, name: &str) -> Option<&[u8]> {
        self.keys.iter().find(|(key, _)| *key == name).map(|(_, bytes)| &**bytes)
    }
}

impl Level {
    /// This level and those around it, innermost first.
    pub fn chain(self: &Arc<Self>) -> impl Iterator<Item = &Arc<Level>> {
        std::iter::successors(Some(self), |level| level.parent.as_ref())
    }

    /// The section of that name that a row here sees: the innermost one wins.
    pub fn section<'a>(self: &'a Arc<Self>, name: &str) -> Option<&'a Section> {
        self.chain().find_map(|level| level.sections.iter().find(|section| &*section.name == name))
    }

    /// The level of that kind around a row here.
    pub fn of_kind(self: &Arc<Self>, kind: u16) -> Option<&Arc<Level>> {
        self.chain().find(|level| level.kind == kind)
    }

    /// The outermost level: the file, or one of several interchanges in it.
    pub fn root(self: &Arc<Self>) -> &Arc<Level> {
        self.chain().last().unwrap_or(self)
    }
}

/// Rows of a block that share their innermost level.
#[derive(Clone, Debug)]
pub struct LevelRun {
    /// Position in the block of the first of them.
    pub start: u32,
    /// Their level; none for rows outside of every level.
    pub level: Option<Arc<Level>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(kind: u16, parent: Option<&Arc<Level>>, name: &str, field: &str) -> Arc<Level> {
        let fields = vec![(Arc::from("f"), Value::String(field.into()))];
        let sections = vec![Section { name: name.into(), fields, keys: Vec::new() }];
        Arc::new(Level { kind, ordinal: 1, frame: Frame::Inherit, parent: parent.cloned(), sections })
    }

    #[test]
    fn formats_1_8_the_innermost_section_of_a_name_wins() {
        let file = level(0, None, "head", "outer");
        let group = level(1, Some(&file), "group", "g");
        let set = level(2, Some(&group), "head", "inner");
        let read = |level: &Arc<Level>, name: &str| level.section(name).map(|section| section.field("f"));
        assert_eq!(read(&set, "head"), Some(Value::String("inner".into())));
        assert_eq!(read(&group, "head"), Some(Value::String("outer".into())));
        assert_eq!(read(&set, "group"), Some(Value::String("g".into())));
        assert_eq!(read(&file, "group"), None);
        assert!(Arc::ptr_eq(set.root(), &file));
    }
}
