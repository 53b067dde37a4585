//! The separators in use, and where a written header says which they are.

use crate::dialect::{Condition, Dialect, Role, Source, SourcePlace, Test, Unless};

const ROLES: [Role; 7] =
    [Role::Element, Role::Terminator, Role::Component, Role::Subcomponent, Role::Repetition, Role::Release, Role::Tag];

/// One byte a role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Separators {
    bytes: [Option<u8>; ROLES.len()],
}

/// A header, as the places of separators see it: its tag, its elements (decoded) and its bytes.
pub struct Declaring<'a> {
    pub tag: &'a str,
    pub elements: &'a [String],
    pub bytes: &'a [u8],
}

impl Separators {
    /// What the dialect writes without an echo: its writer's defaults, then literals of its framing.
    pub fn defaults(dialect: &Dialect) -> Self {
        let mut separators = Self::default();
        for (role, sources) in &dialect.framing.delimiters {
            let literal = sources.iter().find_map(|source| match source.from {
                SourcePlace::Literal(byte) if source.when.is_empty() => Some(byte),
                _ => None,
            });
            separators.set(*role, literal);
        }
        for (role, byte) in dialect.writer.iter().flat_map(|rules| &rules.defaults) {
            separators.set(*role, Some(*byte));
        }
        separators
    }

    /// The separators of an engine key `$delims`: one byte for each role of the framing, in its order, 0 for none.
    pub fn of_key(dialect: &Dialect, key: &[u8]) -> Option<Self> {
        if key.len() != dialect.framing.delimiters.len() {
            return None;
        }
        let mut separators = Self::default();
        for ((role, _), byte) in dialect.framing.delimiters.iter().zip(key) {
            separators.set(*role, (*byte != 0).then_some(*byte));
        }
        (separators.element().is_some() && separators.terminator().is_some()).then_some(separators)
    }

    /// What a reader takes from a header written with these separators, no service segment being in front of it.
    pub fn declared_by(&self, dialect: &Dialect, header: &Declaring<'_>) -> Self {
        let mut declared = *self;
        for (role, sources) in &dialect.framing.delimiters {
            for source in sources {
                if let Some(found) = self.source(source, header) {
                    declared.set(*role, found);
                    break;
                }
            }
        }
        declared
    }

    /// What a source gives: none when it does not apply.
    fn source(&self, source: &Source, header: &Declaring<'_>) -> Option<Option<u8>> {
        if !source.when.iter().all(|condition| self.holds(condition, header)) {
            return None;
        }
        let byte = match source.from {
            SourcePlace::None => return Some(None),
            SourcePlace::ServiceByte(_) => return None,
            SourcePlace::Literal(byte) => byte,
            SourcePlace::Byte(at) => *header.bytes.get(at)?,
            SourcePlace::Element(number) => match element(header, number)?.as_bytes() {
                [byte] => *byte,
                _ => return None,
            },
        };
        let excluded = match source.unless {
            Some(Unless::Alnum) => byte.is_ascii_alphanumeric(),
            Some(Unless::Space) => byte == b' ',
            None => false,
        };
        (!excluded).then_some(Some(byte))
    }

    fn holds(&self, condition: &Condition, header: &Declaring<'_>) -> bool {
        if *condition.header != *header.tag {
            return false;
        }
        let whole = element(header, condition.element).unwrap_or_default();
        let value = match (condition.component, self.get(Role::Component)) {
            (Some(number), Some(separator)) => component(whole, number, separator),
            _ => whole,
        };
        match &condition.test {
            Test::Equals(text) => *value == **text,
            Test::AtLeast(text) => *value >= **text,
            Test::Matches(pattern) => pattern.is_match(value),
            Test::Empty => value.is_empty(),
        }
    }

    /// The byte of a role.
    pub fn get(&self, role: Role) -> Option<u8> {
        self.bytes[role as usize]
    }

    /// Gives a role a byte, or none.
    pub fn set(&mut self, role: Role, byte: Option<u8>) {
        self.bytes[role as usize] = byte;
    }

    pub fn element(&self) -> Option<u8> {
        self.get(Role::Element)
    }

    pub fn terminator(&self) -> Option<u8> {
        self.get(Role::Terminator)
    }

    pub fn release(&self) -> Option<u8> {
        self.get(Role::Release)
    }

    /// The role of a byte, among those that divide or end segments.
    pub fn role_of(&self, byte: u8) -> Option<Role> {
        ROLES.into_iter().filter(|role| *role != Role::Tag).find(|role| self.get(*role) == Some(byte))
    }

    /// What is wrong with the set: a letter, a digit or a blank in it, or one byte with two roles.
    pub fn fault(&self) -> Option<String> {
        for (at, role) in ROLES.into_iter().enumerate() {
            let Some(byte) = self.get(role) else { continue };
            let shown = byte.escape_ascii();
            if byte.is_ascii_alphanumeric() || byte == b' ' {
                let kind = if byte == b' ' { "a blank" } else { "a letter or digit" };
                return Some(format!("the {} is `{shown}`, {kind}", name(role)));
            }
            if role == Role::Tag {
                continue;
            }
            if let Some(other) = ROLES[..at].iter().find(|other| self.get(**other) == Some(byte)) {
                return Some(format!("the {} and the {} are both `{shown}`", name(*other), name(role)));
            }
        }
        None
    }
}

/// Element `number` of a header, from 1.
fn element<'a>(header: &'a Declaring<'_>, number: u32) -> Option<&'a str> {
    header.elements.get((number as usize).checked_sub(1)?).map(String::as_str)
}

/// Component `number` of an element, from 1; empty when it is not there.
pub fn component(text: &str, number: u32, separator: u8) -> &str {
    text.split(char::from(separator)).nth((number as usize).saturating_sub(1)).unwrap_or_default()
}

/// What a role is called in messages.
pub fn name(role: Role) -> &'static str {
    match role {
        Role::Element => "element separator",
        Role::Terminator => "segment terminator",
        Role::Component => "component separator",
        Role::Subcomponent => "subcomponent separator",
        Role::Repetition => "repetition separator",
        Role::Release => "release character",
        Role::Tag => "tag separator",
    }
}
