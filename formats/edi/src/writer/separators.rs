//! The separators in use, and where a written header says which they are.

use crate::delimiters::{Delimiters, discover};
use crate::dialect::{Dialect, Role, SourcePlace};

const ROLES: [Role; 7] =
    [Role::Element, Role::Terminator, Role::Component, Role::Subcomponent, Role::Repetition, Role::Release, Role::Tag];

/// In the engine key: there is no separator of the role.
const NO_SEPARATOR: u8 = 0;

/// One byte a role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Separators {
    bytes: [Option<u8>; ROLES.len()],
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
        separators.complete_tag();
        separators
    }

    /// Where nothing else is declared, elements begin as they go on.
    fn complete_tag(&mut self) {
        let tag = self.get(Role::Tag).or(self.element());
        self.set(Role::Tag, tag);
    }

    /// The separators of an engine key `$delims`: one byte for each role of the framing, in its order, 0 for none.
    pub fn of_key(dialect: &Dialect, key: &[u8]) -> Option<Self> {
        if key.len() != dialect.framing.delimiters.len() {
            return None;
        }
        let mut separators = Self::default();
        for ((role, _), byte) in dialect.framing.delimiters.iter().zip(key) {
            separators.set(*role, (*byte != NO_SEPARATOR).then_some(*byte));
        }
        separators.complete_tag();
        (separators.element().is_some() && separators.terminator().is_some()).then_some(separators)
    }

    /// What a reader finds in a header written with these separators, no service segment being in front of it. `header` is
    /// the segment with its terminator.
    ///
    /// # Errors
    /// The header would be refused.
    pub fn declared_by(dialect: &Dialect, header: &[u8]) -> Result<Self, String> {
        match discover(dialect, header, true) {
            Ok(Some(start)) => Ok(Self::of(&start.delimiters)),
            Ok(None) => Err("the header declares no separators".to_owned()),
            Err(fault) => Err(fault.reason),
        }
    }

    fn of(delimiters: &Delimiters) -> Self {
        let mut separators = Self::default();
        for role in ROLES {
            separators.set(role, delimiters.of(role));
        }
        separators
    }

    /// The same for a validator.
    pub fn delimiters(&self, dialect: &Dialect) -> Delimiters {
        let element = self.element().unwrap_or_default();
        let roles = dialect.framing.delimiters.iter();
        Delimiters {
            element,
            tag: self.get(Role::Tag).unwrap_or(element),
            terminator: self.terminator().unwrap_or_default(),
            component: self.get(Role::Component),
            subcomponent: self.get(Role::Subcomponent),
            repetition: self.get(Role::Repetition),
            release: self.release(),
            key: roles.map(|(role, _)| self.get(*role).unwrap_or(NO_SEPARATOR)).collect(),
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
}
