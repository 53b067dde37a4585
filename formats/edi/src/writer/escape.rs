//! Text of cells to the bytes of elements, and back.

use clinker_format::charset::Charset;

use super::separators::Separators;
use crate::delimiters::name;
use crate::dialect::{EscapeStyle, Role, WriterRules};

/// The separators between the parts of an element.
const PARTS: [Role; 3] = [Role::Component, Role::Subcomponent, Role::Repetition];

/// Writes texts as elements under one set of separators.
#[derive(Clone, Debug)]
pub struct Escape {
    style: EscapeStyle,
    /// Roles that are escaped, or refused where there is no escape, in decoded text.
    roles: Vec<Role>,
    /// Cells hold wire text.
    wire: bool,
    pub charset: Charset,
    pub separators: Separators,
    /// Bytes that need a look: those of `roles`, and the release character.
    special: [bool; 256],
    /// The same for a part of an element, in which the separators of parts are data.
    special_in_part: [bool; 256],
}

impl Escape {
    pub fn new(style: &EscapeStyle, rules: &WriterRules, wire: bool, charset: Charset, separators: Separators) -> Self {
        let mut escape = Self {
            style: style.clone(),
            roles: rules.escape.clone(),
            // Without an escape wire text and decoded text are the same.
            wire: wire || *style == EscapeStyle::None,
            charset,
            separators,
            special: [false; 256],
            special_in_part: [false; 256],
        };
        if escape.wire {
            escape.roles = vec![Role::Element, Role::Terminator, Role::Release];
        }
        for role in &escape.roles {
            if let Some(byte) = separators.get(*role) {
                escape.special[usize::from(byte)] = true;
            }
        }
        escape.special_in_part = escape.special;
        for byte in PARTS.iter().filter_map(|role| separators.get(*role)) {
            escape.special_in_part[usize::from(byte)] = true;
        }
        escape
    }

    /// Appends a text as an element, or as a part of one. `from` are the separators that the text was read with, where
    /// they are known.
    ///
    /// # Errors
    /// What the output cannot represent (E443). What was appended is then incomplete.
    pub fn append(&self, text: &str, from: Option<&Separators>, part: bool, out: &mut Vec<u8>) -> Result<(), String> {
        let start = out.len();
        self.encode(text, out)?;
        let from = from.filter(|from| self.wire && **from != self.separators);
        let special = if part { &self.special_in_part } else { &self.special };
        if from.is_none() && !out[start..].iter().any(|byte| special[usize::from(*byte)]) {
            return Ok(());
        }
        let encoded = out.split_off(start);
        match from {
            Some(from) => self.translate(&encoded, from, part, out),
            None if self.wire => {
                self.check_wire(&encoded, special)?;
                out.extend_from_slice(&encoded);
                Ok(())
            }
            None => self.escape(&encoded, special, out),
        }
    }

    /// Appends a text of the engine's own (a key, a count, a literal) as decoded text, also where cells hold wire text.
    ///
    /// # Errors
    /// As [`Escape::append`].
    pub fn append_decoded(&self, text: &str, rules: &WriterRules, out: &mut Vec<u8>) -> Result<(), String> {
        let start = out.len();
        self.encode(text, out)?;
        let mut special = [false; 256];
        for byte in rules.escape.iter().filter_map(|role| self.separators.get(*role)) {
            special[usize::from(byte)] = true;
        }
        if !out[start..].iter().any(|byte| special[usize::from(*byte)]) {
            return Ok(());
        }
        let encoded = out.split_off(start);
        self.escape(&encoded, &special, out)
    }

    /// Appends a text in the output's character set as it is.
    ///
    /// # Errors
    /// A character that the set lacks.
    pub fn encode(&self, text: &str, out: &mut Vec<u8>) -> Result<(), String> {
        self.charset
            .encode(text, out)
            .map_err(|lacking| format!("{} has no character U+{:04X}", self.charset.name(), u32::from(lacking)))
    }

    /// Decoded text: what must not be structure is escaped.
    fn escape(&self, text: &[u8], special: &[bool; 256], out: &mut Vec<u8>) -> Result<(), String> {
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            if !special[usize::from(byte)] {
                out.push(byte);
            } else if let Some(end) = self.kept_sequence(text, at, special) {
                out.extend_from_slice(&text[at..end]);
                at = end;
                continue;
            } else {
                self.literal(byte, out)?;
            }
            at += 1;
        }
        Ok(())
    }

    /// The end of a closed sequence that means nothing and is passed on as it is.
    fn kept_sequence(&self, text: &[u8], at: usize, special: &[bool; 256]) -> Option<usize> {
        let EscapeStyle::Sequence { .. } = &self.style else { return None };
        let release = self.separators.release().filter(|release| text[at] == *release)?;
        let len = memchr::memchr(release, &text[at + 1..])?;
        let name = &text[at + 1..at + 1 + len];
        let plain = !name.is_empty() && !name.iter().any(|byte| special[usize::from(*byte)]);
        (plain && self.meaning(name).is_none()).then_some(at + len + 2)
    }

    /// The bytes that a sequence stands for.
    fn meaning(&self, name: &[u8]) -> Option<Vec<u8>> {
        let EscapeStyle::Sequence { names, hex } = &self.style else { return None };
        if let Some((_, role)) = names.iter().find(|(known, _)| known.as_bytes() == name) {
            return self.separators.get(*role).map(|byte| vec![byte]);
        }
        let digits = name.strip_prefix(hex.as_ref()?.as_bytes())?;
        if digits.is_empty() || !digits.len().is_multiple_of(2) {
            return None;
        }
        digits.chunks(2).map(|pair| Some(hex_digit(pair[0])? << 4 | hex_digit(pair[1])?)).collect()
    }

    /// What is wrong with wire text that holds a separator as it is.
    fn bare(&self, role: Role, byte: u8) -> String {
        let why = if self.style == EscapeStyle::None { ", and the format has no escape" } else { " unescaped" };
        format!("it holds the {} `{}`{why}", name(role), byte.escape_ascii())
    }

    /// Appends a byte that is data, escaped if it could be taken for structure.
    fn literal(&self, byte: u8, out: &mut Vec<u8>) -> Result<(), String> {
        let Some(role) = self.separators.role_of(byte) else {
            out.push(byte);
            return Ok(());
        };
        let shown = byte.escape_ascii();
        match (&self.style, self.separators.release()) {
            (EscapeStyle::None, _) => {
                Err(format!("it holds the {} `{shown}`, and the format has no escape", name(role)))
            }
            (_, None) => Err(format!(
                "it holds the {} `{shown}`, and the separators in use have no release character",
                name(role)
            )),
            (EscapeStyle::Release, Some(release)) => {
                out.extend_from_slice(&[release, byte]);
                Ok(())
            }
            (EscapeStyle::Sequence { names, hex }, Some(release)) => {
                let named = names.iter().find(|(_, named)| *named == role).map(|(name, _)| name.to_string());
                let Some(name) = named.or_else(|| hex.as_ref().map(|hex| format!("{hex}{byte:02X}"))) else {
                    return Err(format!("it holds the {} `{shown}`, which no escape sequence names", name(role)));
                };
                out.push(release);
                out.extend_from_slice(name.as_bytes());
                out.push(release);
                Ok(())
            }
        }
    }

    /// Wire text read with the separators in use: it passes as it is unless it would end its element.
    fn check_wire(&self, text: &[u8], special: &[bool; 256]) -> Result<(), String> {
        let release = self.separators.release().filter(|_| self.style != EscapeStyle::None);
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            if Some(byte) == release {
                at = self.sequence_end(text, at, byte)?;
                continue;
            }
            if special[usize::from(byte)]
                && let Some(role) = self.separators.role_of(byte)
                && (role != Role::Release)
            {
                return Err(self.bare(role, byte));
            }
            at += 1;
        }
        Ok(())
    }

    /// Where the escape sequence that begins here ends.
    fn sequence_end(&self, text: &[u8], at: usize, release: u8) -> Result<usize, String> {
        let incomplete = || format!("it ends inside an escape sequence (`{}`)", release.escape_ascii());
        match &self.style {
            EscapeStyle::Sequence { .. } => {
                // A sequence is closed inside its element.
                let len = memchr::memchr(release, &text[at + 1..]).ok_or_else(incomplete)?;
                let ends = [self.separators.element(), self.separators.terminator()];
                let structure = |byte: &u8| ends.contains(&Some(*byte));
                let name = &text[at + 1..at + 1 + len];
                if name.iter().any(structure) { Err(incomplete()) } else { Ok(at + len + 2) }
            }
            _ if at + 1 < text.len() => Ok(at + 2),
            _ => Err(incomplete()),
        }
    }

    /// Wire text read with other separators: structure gets the output's own, data is escaped where it must be.
    fn translate(&self, text: &[u8], from: &Separators, part: bool, out: &mut Vec<u8>) -> Result<(), String> {
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            if self.style != EscapeStyle::None && Some(byte) == from.release() {
                let end = self.sequence_end(text, at, byte)?;
                if let EscapeStyle::Sequence { .. } = &self.style {
                    let Some(release) = self.separators.release() else { return Err(no_role(Role::Release)) };
                    out.push(release);
                    out.extend_from_slice(&text[at + 1..end - 1]);
                    out.push(release);
                } else {
                    self.literal(text[at + 1], out)?;
                }
                at = end;
                continue;
            }
            match PARTS.into_iter().find(|role| from.get(*role) == Some(byte)) {
                Some(role) if part => return Err(self.bare(role, byte)),
                Some(role) => out.push(self.separators.get(role).ok_or_else(|| no_role(role))?),
                None => self.literal(byte, out)?,
            }
            at += 1;
        }
        Ok(())
    }

    /// Translates an element of wire bytes from other separators.
    ///
    /// # Errors
    /// What the separators in use cannot express.
    pub fn rewrite(&self, wire: &[u8], from: &Separators, out: &mut Vec<u8>) -> Result<(), String> {
        self.translate(wire, from, false, out)
    }

    /// The text of an element, escapes undone.
    pub fn decoded(&self, element: &[u8]) -> String {
        let Some(release) = self.separators.release().filter(|_| self.style != EscapeStyle::None) else {
            return self.text(element);
        };
        let mut plain = Vec::with_capacity(element.len());
        let mut at = 0;
        while at < element.len() {
            if element[at] != release {
                plain.push(element[at]);
                at += 1;
                continue;
            }
            match self.sequence_end(element, at, release) {
                Err(_) => {
                    plain.extend_from_slice(&element[at..]);
                    at = element.len();
                }
                Ok(end) => {
                    match &self.style {
                        EscapeStyle::Sequence { .. } => match self.meaning(&element[at + 1..end - 1]) {
                            Some(bytes) => plain.extend_from_slice(&bytes),
                            None => plain.extend_from_slice(&element[at..end]),
                        },
                        _ => plain.push(element[at + 1]),
                    }
                    at = end;
                }
            }
        }
        self.text(&plain)
    }

    /// The text of an element as a key column holds it.
    pub fn cell(&self, element: &[u8]) -> String {
        if self.wire { self.text(element) } else { self.decoded(element) }
    }

    fn text(&self, bytes: &[u8]) -> String {
        let mut text = Vec::with_capacity(bytes.len());
        match self.charset.decode(bytes, &mut text) {
            Ok(()) => String::from_utf8_lossy(&text).into_owned(),
            Err(_) => String::from_utf8_lossy(bytes).into_owned(),
        }
    }

    /// The elements of wire bytes that follow a tag and its separator.
    pub fn split<'a>(&self, bytes: &'a [u8], separators: &Separators) -> Vec<&'a [u8]> {
        let release = separators.release().filter(|_| self.style == EscapeStyle::Release);
        let mut elements = Vec::new();
        let (mut start, mut at) = (0, 0);
        while at < bytes.len() {
            if Some(bytes[at]) == release {
                at += 2;
                continue;
            }
            if Some(bytes[at]) == separators.element() {
                elements.push(&bytes[start..at]);
                start = at + 1;
            }
            at += 1;
        }
        elements.push(&bytes[start..]);
        elements
    }
}

fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}

/// What is wrong when a separator is needed that is not among those in use.
pub fn no_role(role: Role) -> String {
    format!("it needs a {}, and the separators in use have none", name(role))
}
